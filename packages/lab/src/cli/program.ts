import { Command } from 'commander';
import { version } from '../core/version.js';
import { redactUrls } from './errors.js';

/**
 * `weir` without its commands: how it presents itself, and how wrong usage is reported. Commander throws instead
 * of exiting, so that one place decides the exit code.
 */
export function createProgram(): Command {
  return new Command('weir')
    .description('Measures how your service should use Redis: throughput, latency and what gets lost.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('  weir --help shows what there is')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(redactUrls(text.replace(/^error: /, 'weir: '))),
    });
}

const EXAMPLES = `
Examples:
  weir run messaging --quick                               which messaging pattern is faster here?
  weir run messaging --patterns queue,stream-group --batch 1,100
  weir run messaging --redis redis://127.0.0.1:6379        on your Redis instead of one weir starts
  weir plan messaging --thorough                           what would run, and for how long
  weir report latest --format json | jq .summary.findings  reports are made from stored results
  weir doctor                                              what is missing on this machine`;
