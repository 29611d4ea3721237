import type { Message } from '../pattern.js';
import { decodeHeader, type Header } from './envelope.js';

/**
 * A message over the bytes of the reply. The header is parsed when somebody asks for it: a handler that only
 * stores bodies, or counts, does not pay for what it does not read.
 */
export class ReceivedMessage implements Message {
  readonly attempt: number;
  readonly #raw: Buffer;
  readonly #place: string;
  #header: Header | undefined | 'unread' = 'unread';

  /**
   * @param raw header and body
   * @param place names where it was read: the entry id in a stream. It is the id of a foreign message.
   */
  constructor(raw: Buffer, place: string, attempt = 1) {
    this.#raw = raw;
    this.#place = place;
    this.attempt = attempt;
  }

  get body(): Buffer {
    const header = this.#read();
    return header === undefined ? this.#raw : this.#raw.subarray(header.bodyAt);
  }

  get id(): string {
    const header = this.#read();
    return header === undefined ? this.#place : `${header.producer}-${header.sequence}`;
  }

  get producer(): string {
    return this.#read()?.producer ?? '';
  }

  get sequence(): number {
    return this.#read()?.sequence ?? -1;
  }

  get foreign(): boolean {
    return this.#read() === undefined;
  }

  #read(): Header | undefined {
    if (this.#header === 'unread') this.#header = decodeHeader(this.#raw);
    return this.#header;
  }
}
