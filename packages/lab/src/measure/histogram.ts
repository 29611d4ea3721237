import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram as HdrHistogram,
  initWebAssemblySync,
} from 'hdr-histogram-js';
import type { Nanoseconds } from '../core/units.js';
import type { Histogram } from './result.js';

/** A percentile is an order statistic; with fewer samples beyond it, chance moves it too far (METHOD, "Load"). */
export const SAMPLES_BEYOND_PERCENTILE = 100;

/** Every value is kept to three significant digits: within 0.1 %. */
const SIGNIFICANT_DIGITS = 3;
/** Where the range starts; it grows by itself, an hour costs 130 kB. */
const FIRST_RANGE_NS = 1_000_000_000;

/**
 * Records latencies in a worker, at any rate a trial reaches. An HDR histogram (Gil Tene, hdrhistogram.org) keeps all
 * samples to three digits from 1 ns up in a few kilobytes, so none has to be thrown away or averaged.
 *
 * The WebAssembly form takes 30 ns a sample here, against 150 ns for the plain one and 700 ns for the packed one.
 */
export class LatencyHistogram {
  readonly #histogram: HdrHistogram;
  #negative = 0;

  constructor() {
    initWebAssemblySync();
    this.#histogram = build({
      bitBucketSize: 64,
      autoResize: true,
      lowestDiscernibleValue: 1,
      highestTrackableValue: FIRST_RANGE_NS,
      numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
      useWebAssembly: true,
    });
  }

  /** A negative sample (clocks that disagree) is recorded as 0 and counted, never dropped. */
  record(latency: Nanoseconds): void {
    if (latency >= 0) {
      this.#histogram.recordValue(latency);
    } else {
      this.#negative++;
      this.#histogram.recordValue(0);
    }
  }

  encode(): Histogram {
    return encode(this.#histogram, this.#negative);
  }
}

/** A recorded histogram, read back. */
export interface DecodedHistogram {
  readonly count: number;
  /** Samples below zero; they are in `count` too, as 0. */
  readonly negative: number;
  /** Largest sample, to three digits; null without samples. */
  readonly maximum: Nanoseconds | null;
  readonly mean: Nanoseconds | null;
  /**
   * Nearest-rank percentile to three digits.
   * @param fraction 0.99 for p99, above 0 and below 1
   * @returns null with fewer than {@link SAMPLES_BEYOND_PERCENTILE} samples beyond it
   */
  percentile(fraction: number): Nanoseconds | null;
}

/** @throws Error when the text is not an encoded histogram: a damaged result. */
export function decodeHistogram(histogram: Histogram): DecodedHistogram {
  const decoded = decodeFromCompressedBase64(histogram.encoded, 64, false);
  const count = decoded.totalCount;
  return {
    count,
    negative: histogram.negative,
    maximum: count === 0 ? null : decoded.maxValue,
    mean: count === 0 ? null : decoded.mean,
    percentile: (fraction) =>
      hasPercentile(count, fraction) ? decoded.getValueAtPercentile(fraction * 100) : null,
  };
}

/** All samples of several histograms in one: percentiles are never averaged. No histogram gives an empty one. */
export function mergeHistograms(histograms: readonly Histogram[]): Histogram {
  const merged = build({
    bitBucketSize: 64,
    autoResize: true,
    lowestDiscernibleValue: 1,
    highestTrackableValue: FIRST_RANGE_NS,
    numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
  });
  for (const { encoded } of histograms) merged.add(decodeFromCompressedBase64(encoded, 64, false));
  return encode(
    merged,
    histograms.reduce((sum, { negative }) => sum + negative, 0),
  );
}

/** Are there enough samples to print this percentile? `fraction` is 0.99 for p99. */
export function hasPercentile(samples: number, fraction: number): boolean {
  return samples >= samplesNeeded(fraction);
}

/** Samples a percentile needs: 10,000 for p99. */
export function samplesNeeded(fraction: number): number {
  // 1 - 0.999 is a little more than 0.001 in binary: rounded before it is rounded up
  return Math.ceil(Number((SAMPLES_BEYOND_PERCENTILE / (1 - fraction)).toPrecision(12)));
}

function encode(histogram: HdrHistogram, negative: number): Histogram {
  return {
    unit: 'ns',
    encoded: encodeIntoCompressedBase64(histogram),
    count: histogram.totalCount,
    negative,
  };
}
