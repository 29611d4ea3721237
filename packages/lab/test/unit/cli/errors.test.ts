import { CommanderError } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { printError, redactUrls } from '../../../src/cli/errors.js';
import { ExitCode, unknownName, WeirError } from '../../../src/core/errors.js';

function printed(error: unknown): { readonly code: number; readonly text: string } {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  const code = printError(error);
  return { code, text: written.join('') };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('errors', () => {
  it('name what went wrong and what to do', () => {
    expect(printed(unknownName('pattern', 'nope', ['queue', 'pubsub']))).toEqual({
      code: ExitCode.usage,
      text: 'weir: there is no pattern "nope"\n  known patterns: queue, pubsub\n',
    });
  });

  it('show the stack only to those who debug weir', () => {
    const error = new WeirError('REDIS_UNREACHABLE', 'no answer');
    expect(printed(error)).toEqual({ code: ExitCode.unavailable, text: 'weir: no answer\n' });
    vi.stubEnv('WEIR_DEBUG', '1');
    expect(printed(error).text).toContain('errors.test.ts');
  });

  it('call everything unexpected a defect', () => {
    const { code, text } = printed(new TypeError('x is not a function'));
    expect(code).toBe(ExitCode.software);
    expect(text).toContain('weir: unexpected error: x is not a function');
  });

  it('of commander end with 64, but help and version with 0, and are not printed twice', () => {
    expect(printed(new CommanderError(1, 'commander.unknownOption', 'x'))).toEqual({ code: 64, text: '' });
    expect(printed(new CommanderError(0, 'commander.version', '0.1.0'))).toEqual({ code: 0, text: '' });
  });

  it('never show a password', () => {
    const error = new WeirError('USAGE', 'cannot use redis://me:s3cr/et@host:6379/0 here');
    expect(printed(error).text).toBe('weir: cannot use redis://host:6379/0 here\n');
    expect(redactUrls('postgres://a:b@h/d and file:///x/@weir/y.js:1:2')).toBe(
      'postgres://h/d and file:///x/@weir/y.js:1:2',
    );
  });
});
