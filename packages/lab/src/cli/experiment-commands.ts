import type { Command } from 'commander';
import { unknownName, WeirError } from '../core/errors.js';
import type { Experiment } from '../experiments/experiment.js';

/**
 * Gives a command one subcommand per experiment, each with the options of its own: `weir run messaging`. Called
 * with a name that is none, the command says which there are.
 *
 * @param configure adds options and the action to the subcommand of one experiment
 */
export function addExperimentCommands(
  parent: Command,
  experiments: ReadonlyMap<string, Experiment>,
  configure: (command: Command, experiment: Experiment) => void,
): void {
  const names = [...experiments.keys()];
  parent
    .usage('<experiment> [options]')
    .commandsGroup('Experiments:')
    .argument('[experiment]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((name: string | undefined) => {
      if (name !== undefined && !name.startsWith('-')) throw unknownName('experiment', name, names);
      throw new WeirError('USAGE', 'which experiment? its name comes before the options', {
        remedy: `known experiments: ${names.join(', ')}; for example weir ${parent.name()} ${names[0] ?? ''}`,
      });
    });
  for (const experiment of experiments.values()) {
    configure(parent.command(experiment.name).description(experiment.summary), experiment);
  }
}
