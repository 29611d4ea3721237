import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { repeatingCommandLine } from '../../../src/cli/command-line.js';
import {
  addExperimentOptions,
  addPlanOptions,
  addRedisOptions,
  experimentTexts,
  parsePlanSettings,
} from '../../../src/cli/options.js';
import { experimentFixture } from '../../support/experiment-fixture.js';

describe('plan settings', () => {
  it.each([
    [{}, { rounds: 12, precision: 'default' }],
    [{ quick: true }, { rounds: 8, precision: 'quick' }],
    [{ thorough: true }, { rounds: 30, precision: 'thorough' }],
    [{ rounds: '3' }, { rounds: 3, precision: 'custom' }],
  ])('reads %j', (texts, expected) => {
    expect(parsePlanSettings({ margin: '3%', ...texts }, {})).toMatchObject({ ...expected, margin: 0.03 });
  });

  it.each([
    [{}, { rounds: 1, precision: 'default' }],
    [{ quick: true }, { rounds: 1, precision: 'quick' }],
    [
      { quick: true, rounds: '5' },
      { rounds: 5, precision: 'quick' },
    ],
    [{ thorough: true }, { rounds: 10, precision: 'thorough' }],
  ])('reads %j where a guarantee is judged: one round shows what is broken', (texts, expected) => {
    expect(parsePlanSettings(texts, { judgedBy: 'guarantee' })).toMatchObject(expected);
  });

  it.each(['0', '-1', '1e9x', '1.5', '', ' 3', '0x10', '1001'])('refuses --rounds %j', (rounds) => {
    expect(() => parsePlanSettings({ rounds }, {})).toThrow(
      `--rounds is ${JSON.stringify(rounds)}; it must be a whole number from 1 to 1000`,
    );
  });

  it.each(['3', '0.03', '-3%', '101%', '3%%', ''])('refuses --margin %j', (margin) => {
    expect(() => parsePlanSettings({ margin }, {})).toThrow(
      `--margin is ${JSON.stringify(margin)}; it must be`,
    );
  });

  it('keeps a given seed and draws another for each run without one', () => {
    expect(parsePlanSettings({ seed: '7' }, {}).seed).toBe(7);
    expect(parsePlanSettings({}, {}).seed).not.toBe(parsePlanSettings({}, {}).seed);
    expect(() => parsePlanSettings({ seed: '4294967296' }, {})).toThrow('--seed');
  });
});

function parse(words: readonly string[]): Command {
  const command = new Command('example').exitOverride().configureOutput({ writeErr: () => {} });
  addPlanOptions(command, {});
  addRedisOptions(command);
  addExperimentOptions(command, experimentFixture());
  return command.parse(words, { from: 'user' });
}

describe('options', () => {
  it.each([
    [['--quick', '--thorough']],
    [['--quick', '--rounds', '8']],
    [['--thorough', '--rounds', '8']],
    [['--redis', 'redis://127.0.0.1:1', '--redis-server', '/bin/true']],
  ])('cannot be used together: %j', (words) => {
    expect(() => parse(words)).toThrow('cannot be used with');
  });

  it('hands an experiment its own options only', () => {
    const command = parse(['--quick', '--messages', '5']);
    expect(experimentTexts(command, experimentFixture())).toEqual({ messages: '5', keyPrefix: undefined });
  });

  it('shows the options of the experiment with their defaults', () => {
    expect(parse([]).helpInformation()).toMatch(/--messages <count> +messages of one trial \(default: 100\)/);
  });
});

describe('the command line that repeats a run', () => {
  it('carries the seed that was drawn', () => {
    expect(repeatingCommandLine(parse(['--quick', '--messages', '5']), 'example', 42)).toBe(
      'weir run example --quick --messages 5 --seed 42',
    );
  });

  it('names the seed once, quotes for the shell and leaves passwords out', () => {
    const command = parse(['--seed', '7', '--redis', 'redis://me:s3cret@host:6379', '--key-prefix', "it's "]);
    expect(repeatingCommandLine(command, 'example', 7)).toBe(
      "weir run example --redis redis://host:6379 --key-prefix 'it'\\''s ' --seed 7",
    );
  });
});
