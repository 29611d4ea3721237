import autocannon from 'autocannon';
import { NANOSECONDS_PER_MILLISECOND } from '../core/units.js';
import { AnswerWindow } from './answer-window.js';
import type { PointLoad, PointLoadReport, PointLoadSettings } from './point-api.js';

/** autocannon looks this often whether it is done, in milliseconds. */
const LOOK_EVERY_MS = 20;
/** A request without an answer for this long has failed. */
const TIMEOUT_SECONDS = 10;
/** The end is ours to decide; this is only far away. */
const NEVER_SECONDS = 86_400;
/** Where not every user gets an answer in this time (an app that is stuck), the window begins all the same. */
const LONGEST_START_MS = 5_000;

/**
 * Closed load by autocannon: each user asks again as soon as it is answered. autocannon itself would cut off the
 * requests under way at the end; here each connection ends after its last answer, so that every request has a fate and
 * the counts of Redis agree.
 *
 * @throws Error when autocannon's connections cannot be ended one by one: another version of it than the pinned one
 */
export async function closedPointLoad(
  { urls, path, users }: PointLoadSettings,
  { forMs }: PointLoad & { mode: 'closed' },
  tell: (answered: number) => void,
): Promise<PointLoadReport> {
  const window = new AnswerWindow(forMs, tell);
  const connections: Connection[] = [];
  const answeredOnce = new Set<autocannon.Client>();
  const end = (): void => {
    for (const connection of connections) connection.responseMax = Math.max(1, connection.reqsMade);
  };
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    if (window.isOpen) return;
    window.begin();
    clearTimeout(timer);
    timer = setTimeout(end, forMs);
  };
  timer = setTimeout(begin, LONGEST_START_MS);
  const runs = urls.map((url, index) =>
    autocannonRun(
      {
        url: url + path,
        connections: Math.floor(users / urls.length) + (index < users % urls.length ? 1 : 0),
        duration: NEVER_SECONDS,
        sampleInt: LOOK_EVERY_MS,
        timeout: TIMEOUT_SECONDS,
        setupClient: (client) => {
          if (!isConnection(client)) throw new Error('this version of autocannon is not the pinned one');
          connections.push(client);
        },
      },
      (client, status, milliseconds) => {
        window.answered(status, Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND));
        if (window.isOpen) return;
        answeredOnce.add(client);
        if (answeredOnce.size === users) begin();
      },
    ),
  );
  try {
    await Promise.all(runs);
  } finally {
    clearTimeout(timer);
  }
  return window.report(connections.reduce((sum, { reqsMade }) => sum + reqsMade, 0));
}

/** Runs until all its connections have ended. */
function autocannonRun(
  options: autocannon.Options,
  onResponse: (client: autocannon.Client, status: number, milliseconds: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const run = autocannon(options, (error: unknown) => {
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
    run.on('response', (client, status, _bytes, milliseconds) => onResponse(client, status, milliseconds));
  });
}

/** What autocannon 9.0.0 keeps of each connection (lib/httpClient.js): it closes once `responseMax` requests are made. */
interface Connection {
  reqsMade: number;
  responseMax: number | undefined;
}

function isConnection(client: object): client is Connection {
  return 'reqsMade' in client && typeof client.reqsMade === 'number' && 'responseMax' in client;
}
