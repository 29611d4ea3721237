import { printError } from './errors.js';
import { surviveClosedPipes } from './output.js';
import { createProgram } from './program.js';

/** `weir`: the commands print and set the exit code; what they throw is printed here. */
surviveClosedPipes();
try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = printError(error);
}
