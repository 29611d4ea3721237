/** Units of time and size, and how they are written for people. Inside, times are whole nanoseconds. */

export type Nanoseconds = number;
export type Milliseconds = number;
export type Bytes = number;

export const NANOSECONDS_PER_MILLISECOND = 1_000_000;
export const NANOSECONDS_PER_SECOND = 1_000_000_000;

/** Three significant digits without an exponent: `12345.6` -> `12,300`, `0.012345` -> `0.0123`. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  // Rounded first: 9.999 has the magnitude of 10.0.
  const rounded = Number(value.toPrecision(3));
  const magnitude = Math.floor(Math.log10(Math.abs(rounded)));
  const decimals = Math.min(100, Math.max(0, 2 - magnitude));
  return rounded.toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

const DURATION_UNITS = [
  { name: 's', size: NANOSECONDS_PER_SECOND },
  { name: 'ms', size: NANOSECONDS_PER_MILLISECOND },
  { name: 'µs', size: 1_000 },
  { name: 'ns', size: 1 },
] as const;

/** `1_234_567` -> `1.23 ms`. */
export function formatNanoseconds(value: Nanoseconds): string {
  const unit = DURATION_UNITS.find(({ size }) => Math.abs(value) >= size) ?? DURATION_UNITS[3];
  return `${significant(value / unit.size)} ${unit.name}`;
}

const SIZE_UNITS = [
  { name: 'GiB', size: 2 ** 30 },
  { name: 'MiB', size: 2 ** 20 },
  { name: 'KiB', size: 2 ** 10 },
  { name: 'B', size: 1 },
] as const;

/** `1_048_576` -> `1.00 MiB`. */
export function formatBytes(value: Bytes): string {
  const unit = SIZE_UNITS.find(({ size }) => Math.abs(value) >= size) ?? SIZE_UNITS[3];
  return `${significant(value / unit.size)} ${unit.name}`;
}
