import { loadExperiments } from '../experiments/load-experiments.js';
import { loadReporters } from '../reporters/load-reporters.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addListCommand } from './commands/list.js';
import { addPlanCommand } from './commands/plan.js';
import { addReportCommand } from './commands/report.js';
import { addResultsCommand } from './commands/results.js';
import { addRunCommand } from './commands/run.js';
import { printError } from './errors.js';
import { surviveClosedPipes } from './output.js';
import { createProgram } from './program.js';

/** `weir`: the only place, with the commands it calls, that prints and sets the exit code. */
surviveClosedPipes();
try {
  const program = createProgram();
  const experiments = await loadExperiments();
  const reporters = await loadReporters();
  addRunCommand(program, experiments, reporters);
  addPlanCommand(program, experiments);
  addReportCommand(program, reporters);
  addResultsCommand(program);
  addListCommand(program);
  addDoctorCommand(program);
  await program.parseAsync();
} catch (error) {
  process.exitCode = printError(error);
}
