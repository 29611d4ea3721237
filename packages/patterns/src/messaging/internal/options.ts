import { randomUUID } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import type { ConsumerOptions, OffsetSource, PatternOptions, ProducerOptions } from '../pattern.js';

/** Options with every default filled in and every value checked, so that nothing behind it has to ask again. */
export interface KeySettings {
  readonly key: string;
  readonly group: string;
}

export interface ProducerSettings extends KeySettings {
  readonly producerId: string;
  readonly maxInFlight: number;
  readonly maxLength: number | undefined;
  readonly keepHandled: number | undefined;
  readonly maxBodyBytes: number;
  readonly deadlineMs: number;
}

export interface ConsumerSettings extends KeySettings {
  readonly batch: number;
  readonly consumerName: string;
  readonly blockMs: number;
  readonly retryDelaysMs: readonly number[];
  readonly from: 'new' | 'beginning';
  readonly maxBuffered: number;
  readonly leaseMs: number;
  readonly offset: 'redis' | 'memory' | OffsetSource;
  readonly onError: (error: Error) => void;
}

/** Redis refuses longer strings (proto-max-bulk-len); the envelope needs a few bytes of it. */
const LARGEST_BODY_BYTES = 512 * 1024 * 1024 - 1024;
const LONGEST_BLOCK_MS = 600_000;
const DEFAULT_LEASE_MS = 30_000;

export function keySettings(options: PatternOptions | undefined, defaultKey: string): KeySettings {
  const key = options?.key ?? defaultKey;
  const group = options?.group ?? 'weir';
  check('key', key, isName(key), 'a text that is not empty');
  check('group', group, isName(group), 'a text that is not empty');
  return { key, group };
}

export function producerSettings(options: ProducerOptions | undefined, defaultKey: string): ProducerSettings {
  const producerId = options?.producerId ?? randomUUID().slice(0, 8);
  const maxInFlight = options?.maxInFlight ?? 10_000;
  const maxLength = options?.maxLength;
  const keepHandled = options?.keepHandled;
  const maxBodyBytes = options?.maxBodyBytes ?? 16 * 1024 * 1024;
  const deadlineMs = options?.deadlineMs ?? 5000;
  check(
    'producerId',
    producerId,
    typeof producerId === 'string' && /^[!-~]{1,32}$/.test(producerId) && !/[-:]/.test(producerId),
    '1 to 32 printable ASCII characters without "-", ":" or spaces',
  );
  check(
    'maxInFlight',
    maxInFlight,
    isWhole(maxInFlight, 1, 10_000_000),
    'a whole number from 1 to 10,000,000',
  );
  if (maxLength !== undefined) {
    check('maxLength', maxLength, isWhole(maxLength, 1, Number.MAX_SAFE_INTEGER), 'a whole number from 1 up');
  }
  if (keepHandled !== undefined) {
    check(
      'keepHandled',
      keepHandled,
      isWhole(keepHandled, 0, Number.MAX_SAFE_INTEGER),
      'a whole number from 0 up',
    );
  }
  check(
    'maxBodyBytes',
    maxBodyBytes,
    isWhole(maxBodyBytes, 1, LARGEST_BODY_BYTES),
    `a whole number of bytes from 1 to ${LARGEST_BODY_BYTES}`,
  );
  check('deadlineMs', deadlineMs, isMilliseconds(deadlineMs, 1), 'a number of milliseconds from 1 up');
  return {
    ...keySettings(options, defaultKey),
    producerId,
    maxInFlight,
    maxLength,
    keepHandled,
    maxBodyBytes,
    deadlineMs,
  };
}

export function consumerSettings(options: ConsumerOptions | undefined, defaultKey: string): ConsumerSettings {
  const batch = options?.batch ?? 100;
  const consumerName = options?.consumerName ?? 'consumer-1';
  const blockMs = options?.blockMs ?? 1000;
  const retryDelaysMs = options?.retryDelaysMs ?? [100, 200, 400];
  const from = options?.from ?? 'new';
  const maxBuffered = options?.maxBuffered ?? 100_000;
  const leaseMs = options?.leaseMs ?? Math.max(DEFAULT_LEASE_MS, 2 * blockMs);
  const offset = options?.offset ?? 'redis';
  const onError = options?.onError ?? (() => undefined);
  check('batch', batch, isWhole(batch, 1, 1000), 'a whole number from 1 to 1000');
  check('consumerName', consumerName, isName(consumerName), 'a text that is not empty');
  check(
    'blockMs',
    blockMs,
    isWhole(blockMs, 1, LONGEST_BLOCK_MS),
    `a whole number of milliseconds from 1 to ${LONGEST_BLOCK_MS}`,
  );
  check(
    'retryDelaysMs',
    retryDelaysMs,
    Array.isArray(retryDelaysMs) && retryDelaysMs.every((delay) => isMilliseconds(delay, 0)),
    'a list of milliseconds from 0 up, one for each retry',
  );
  check('from', from, from === 'new' || from === 'beginning', '"new" or "beginning"');
  check(
    'maxBuffered',
    maxBuffered,
    isWhole(maxBuffered, 1, 100_000_000),
    'a whole number from 1 to 100,000,000',
  );
  check(
    'leaseMs',
    leaseMs,
    isMilliseconds(leaseMs, blockMs + 1),
    `a number of milliseconds above blockMs (${blockMs}): a consumer that only waits is not dead`,
  );
  check('offset', offset, isOffset(offset), '"redis", "memory" or an object with a function load');
  check('onError', onError, typeof onError === 'function', 'a function');
  return {
    ...keySettings(options, defaultKey),
    ...{ batch, consumerName, blockMs, retryDelaysMs, from, maxBuffered, leaseMs, offset, onError },
  };
}

export function stopDeadline(deadlineMs: number | undefined): number {
  const value = deadlineMs ?? 30_000;
  check('deadlineMs', value, isMilliseconds(value, 0), 'a number of milliseconds from 0 up');
  return value;
}

/** @throws {InvalidOptionError} when `valid` is false. */
export function check(option: string, received: unknown, valid: boolean, expected: string): void {
  if (!valid) throw new InvalidOptionError(option, received, expected);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0;
}

function isOffset(value: unknown): boolean {
  if (value === 'redis' || value === 'memory') return true;
  return typeof value === 'object' && value !== null && 'load' in value && typeof value.load === 'function';
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

/** Timers of Node hold 31 bits; above that they fire at once. */
function isMilliseconds(value: unknown, least: number): boolean {
  return typeof value === 'number' && value >= least && value <= 0x7fffffff;
}
