import type { Filtered } from './delayed-pipe.js';
import { RespScanner } from './resp-scanner.js';

export interface ReplyToLose {
  /** The nth command from now on. Default 1. */
  readonly nth?: number;
  /** Only commands of this name count, whatever its case: `XADD`. Default: all. */
  readonly command?: string;
}

export interface LostReply {
  /** Name of the command that was carried out, in upper case. */
  readonly command: string;
}

/** Follows one connection. */
export interface ReplyWatch {
  toServer(bytes: Buffer): Buffer;
  toClient(bytes: Buffer): Filtered;
}

interface Order {
  readonly command: string | undefined;
  /** Commands still to come until the one whose reply is lost. */
  left: number;
  readonly resolve: (lost: LostReply) => void;
}

const NOTHING = Buffer.alloc(0);

/** Counts the commands of all connections and takes away the replies it was told to. */
export class ReplyThief {
  readonly #orders = new Set<Order>();
  #lost = 0;

  /** Replies lost so far. */
  get lost(): number {
    return this.#lost;
  }

  arm({ nth = 1, command }: ReplyToLose): Promise<LostReply> {
    return new Promise((resolve) => {
      this.#orders.add({ command: command?.toUpperCase(), left: nth, resolve });
    });
  }

  disarm(): void {
    this.#orders.clear();
  }

  /** Follows a new connection, from its first byte. */
  watch(): ReplyWatch {
    const requests = new RespScanner('requests');
    const replies = new RespScanner('replies');
    let requested = 0;
    let replied = 0;
    /** The command, by its number on this connection, whose reply is lost. */
    let target: { readonly number: number; readonly order: Order; readonly take: () => void } | undefined;

    return {
      toServer: (bytes) => {
        for (const { name } of requests.scan(bytes)) {
          requested++;
          const order = this.#next(name);
          if (order === undefined || target !== undefined) continue;
          target = { number: requested, order, take: () => this.#take(order, name) };
        }
        return bytes;
      },
      toClient: (bytes) => {
        if (target !== undefined && !this.#orders.has(target.order)) target = undefined;
        // Everything up to the reply before the one to lose is passed on; from there on nothing is, until that
        // reply is complete: only then has the command been carried out for certain.
        let passedTo = target !== undefined && replied >= target.number - 1 ? 0 : bytes.length;
        for (const { end } of replies.scan(bytes)) {
          replied++;
          if (target === undefined) continue;
          if (replied === target.number - 1) passedTo = end;
          if (replied >= target.number) {
            target.take();
            return { bytes: bytes.subarray(0, passedTo), broken: true };
          }
        }
        return { bytes: passedTo === 0 ? NOTHING : bytes.subarray(0, passedTo), broken: false };
      },
    };
  }

  #next(name: string): Order | undefined {
    let due: Order | undefined;
    for (const order of this.#orders) {
      if (order.command !== undefined && order.command !== name) continue;
      order.left--;
      if (order.left === 0) due ??= order;
    }
    return due;
  }

  #take(order: Order, command: string): void {
    this.#orders.delete(order);
    this.#lost++;
    order.resolve({ command });
  }
}
