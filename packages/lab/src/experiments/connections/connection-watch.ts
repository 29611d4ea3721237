import type { RedisClient } from '@weir/patterns';
import { parseInfo } from '../../redis/info.js';

/** Often enough to see how many connections per request are open at once; each look costs Redis some 20 µs. */
const LOOK_EVERY_MS = 50;

/** Connections seen during the window, all clients of the server. */
export interface SeenConnections {
  readonly most: number;
  readonly fewest: number;
  /** Commands that looking has cost. */
  readonly looks: number;
}

/** Looks at the number of connections again and again until the returned function is called, at least once. */
export function watchConnections(redis: RedisClient): () => Promise<SeenConnections> {
  const seen: number[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  const look = async (): Promise<void> => {
    do {
      const info = parseInfo(String(await redis.send(['INFO', 'clients'])));
      seen.push(Number(info.get('connected_clients') ?? 0));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    } while (!isOver);
  };
  const looking = look();
  // Told by the returned function; until then nobody listens.
  looking.catch(() => undefined);
  return async () => {
    isOver = true;
    wake();
    await looking;
    return { most: Math.max(...seen), fewest: Math.min(...seen), looks: seen.length };
  };
}
