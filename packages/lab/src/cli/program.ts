import { Command } from 'commander';
import { version } from '../core/version.js';
import { redactUrls } from './errors.js';

/** What a file of `commands/` exports: it gives a command its arguments, options and action. */
interface CommandModule {
  configure(command: Command): void | Promise<void>;
}

interface CommandEntry {
  readonly name: string;
  readonly description: string;
  /** A command is loaded when it is called: clients, databases and statistics take longer to load than to help. */
  load(): Promise<CommandModule>;
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    description: 'run an experiment and report what it found',
    load: () => import('./commands/run.js'),
  },
  {
    name: 'plan',
    description: 'show what would run, in which order and for how long',
    load: () => import('./commands/plan.js'),
  },
  {
    name: 'report',
    description: 'report a stored run, in any format',
    load: () => import('./commands/report.js'),
  },
  {
    name: 'results',
    description: 'list stored runs',
    load: () => import('./commands/results.js'),
  },
  {
    name: 'serve',
    description: 'run the producer, the consumer or the point app as an HTTP service',
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'dead-letters',
    description: 'list what a pattern gave up, send it again or remove it',
    load: () => import('./commands/dead-letters.js'),
  },
  {
    name: 'list',
    description:
      'list what can be chosen: experiments, patterns, clients, strategies, stores, checks, reporters',
    load: () => import('./commands/list.js'),
  },
  {
    name: 'doctor',
    description: 'show what is missing on this machine, and the command that mends it',
    load: () => import('./commands/doctor.js'),
  },
];

/**
 * `weir` with its commands, and how wrong usage is reported. Commander throws instead of exiting, so that one place
 * decides the exit code.
 */
export function createProgram(): Command {
  const program = new Command('weir')
    .description('Measures how your service should use Redis: throughput, latency and what gets lost.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError('  weir --help shows what there is')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => helpWidth(process.stdout),
      getErrHelpWidth: () => helpWidth(process.stderr),
      outputError: (text, write) => write(redactUrls(text.replace(/^error: /, 'weir: '))),
    });
  for (const { name, description } of COMMANDS) program.command(name).description(description);
  // Commander's own help command would show a command that has not been loaded.
  program
    .command('help')
    .description('print the help of a command: weir help run messaging')
    .argument('[command...]')
    .action(async (words: readonly string[]) => {
      await program.parseAsync([...words, '--help'], { from: 'user' });
    });
  return program.hook('preSubcommand', async (_, command) => {
    const module = await COMMANDS.find(({ name }) => name === command.name())?.load();
    await module?.configure(command);
  });
}

function helpWidth(stream: NodeJS.WriteStream): number {
  return stream.columns || 100;
}

const EXAMPLES = `
Examples:
  weir run messaging --quick                               which messaging pattern is faster here?
  weir run messaging --patterns queue,stream-group --batch 1,100
  weir run messaging --redis redis://127.0.0.1:6379        on your Redis instead of one weir starts
  weir plan messaging --thorough                           what would run, and for how long
  weir report latest --format json | jq .summary.findings  reports are made from stored results
  weir doctor                                              what is missing on this machine`;
