/** One complete command or reply. */
export interface Frame {
  /** Where it ends in the bytes just scanned. */
  readonly end: number;
  /** A command's name in upper case; empty for a reply. */
  readonly name: string;
}

/** Types with so many children as their line says, or twice as many (pairs). */
const AGGREGATES: Readonly<Record<string, 1 | 2>> = { '*': 1, '~': 1, '>': 1, '%': 2, '|': 2 };
/** Types with so many bytes as their line says, and a line end. */
const BULKS = new Set(['$', '!', '=']);
/** Types that are a line and nothing more. */
const LINES = new Set(['+', '-', ':', '_', '#', ',', '(']);
/** Not the answer to a command: pushes come by themselves, attributes stand before the answer. */
const UNASKED = new Set(['>', '|']);

const LINE_FEED = 0x0a;
const LONGEST_NAME = 64;

/**
 * Finds where commands and replies end in a stream of bytes that comes in arbitrary pieces, without decoding their
 * contents. RESP2 and RESP3, https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md.
 * A stream that is not RESP is given up: no frame is found in it.
 */
export class RespScanner {
  readonly #kind: 'requests' | 'replies';
  /** Values still due at each level of nesting. */
  readonly #due: number[] = [];
  /** The beginning of a line whose end has not come yet. */
  #line = '';
  /** Bytes of a bulk string still to come, line end included. */
  #bulkLeft = 0;
  #name = '';
  #nameIsComplete = false;
  #isUnasked = false;
  #isForeign = false;

  constructor(kind: 'requests' | 'replies') {
    this.#kind = kind;
  }

  scan(bytes: Buffer): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    while (at < bytes.length && !this.#isForeign) {
      const end = this.#bulkLeft > 0 ? this.#takeBulk(bytes, at) : this.#takeLine(bytes, at);
      at = end.at;
      if (!end.completesValue || !this.#completeValue()) continue;
      if (!this.#isUnasked) frames.push({ end: at, name: this.#name.toUpperCase() });
      this.#name = '';
      this.#nameIsComplete = false;
      this.#isUnasked = false;
    }
    return frames;
  }

  #takeBulk(bytes: Buffer, at: number): Taken {
    const end = Math.min(bytes.length, at + this.#bulkLeft);
    if (this.#kind === 'requests' && !this.#nameIsComplete) {
      const text = bytes.toString('latin1', at, Math.max(at, Math.min(end, at + this.#bulkLeft - 2)));
      this.#name = (this.#name + text).slice(0, LONGEST_NAME);
    }
    this.#bulkLeft -= end - at;
    if (this.#bulkLeft === 0) this.#nameIsComplete = true;
    return { at: end, completesValue: this.#bulkLeft === 0 };
  }

  #takeLine(bytes: Buffer, at: number): Taken {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    this.#line += bytes.toString('latin1', at, end);
    if (lineFeed === -1) return { at: end, completesValue: false };
    const line = this.#line.trimEnd();
    this.#line = '';
    return { at: end, completesValue: this.#readLine(line) };
  }

  /** @returns whether the line is a value of its own */
  #readLine(line: string): boolean {
    const type = line.charAt(0);
    if (this.#due.length === 0) this.#isUnasked = UNASKED.has(type);
    const width = AGGREGATES[type];
    if (width !== undefined || BULKS.has(type)) {
      const size = Number(line.slice(1));
      if (!Number.isInteger(size)) this.#isForeign = true;
      // A null of RESP2 has the size -1.
      if (width === undefined) {
        this.#bulkLeft = size < 0 ? 0 : size + 2;
        return size < 0;
      }
      if (size > 0) this.#due.push(size * width);
      return size <= 0;
    }
    if (this.#kind === 'requests' && this.#due.length === 0) {
      // An inline command: https://redis.io/docs/latest/develop/reference/protocol-spec/#inline-commands
      this.#name = line.split(' ', 1)[0] ?? '';
      return true;
    }
    if (!LINES.has(type)) this.#isForeign = true;
    return true;
  }

  /** @returns whether the value just read completes the frame */
  #completeValue(): boolean {
    for (let level = this.#due.length - 1; level >= 0; level--) {
      const left = (this.#due[level] ?? 0) - 1;
      this.#due[level] = left;
      if (left > 0) return false;
      this.#due.pop();
    }
    return true;
  }
}

interface Taken {
  readonly at: number;
  readonly completesValue: boolean;
}
