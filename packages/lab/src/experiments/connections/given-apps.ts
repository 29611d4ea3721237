import { usageError, WeirError } from '../../core/errors.js';
import { parseList } from '../../core/parse-option.js';
import { redact } from '../../core/redact.js';
import { httpClient } from '../../workers/http-client.js';
import type { RawOptions } from '../experiment.js';

/** A web app that the user runs: `mine=http://127.0.0.1:3000`. */
export interface GivenApp {
  /** A value of the factor `strategy`. */
  readonly name: string;
  readonly url: string;
}

/** What the user's apps decide themselves. */
const OF_THE_APPS = {
  strategy: '--strategy',
  pool: '--pool',
  testOnBorrow: '--test-on-borrow',
  autoPipelining: '--auto-pipelining',
  client: '--client',
  apps: '--apps',
  hitRate: '--hit-rate',
  asPublished: '--as-published',
} as const;

const EXPECTED = 'name=http://host:port, several with commas';

/** @throws {WeirError} USAGE */
export function parseApps(raw: RawOptions): GivenApp[] {
  const { app } = raw;
  if (typeof app !== 'string') return [];
  for (const [name, option] of Object.entries(OF_THE_APPS)) {
    if (raw[name] !== undefined) {
      throw usageError(option, raw[name], 'left out with --app: your apps decide it');
    }
  }
  const given = parseList('--app', app).map((text): GivenApp => {
    const [name = '', ...rest] = text.split('=');
    const url = rest.join('=').replace(/\/$/, '');
    const protocol = URL.canParse(url) ? new URL(url).protocol : '';
    if (name === '' || !/^https?:$/.test(protocol)) throw usageError('--app', text, EXPECTED);
    return { name, url };
  });
  const names = given.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageError('--app', app, `names that differ; ${twice} is there twice`);
  return given;
}

/**
 * Asks each app once, whatever it answers: one that is not there would be knocked at in a loop for whole trials.
 * @throws {WeirError} SERVICE_UNREACHABLE
 */
export async function reachApps({ givenApps }: { readonly givenApps: readonly GivenApp[] }): Promise<void> {
  for (const { name, url } of givenApps) {
    const client = httpClient(url, 1);
    try {
      await client.request('GET', '/');
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new WeirError(
        'SERVICE_UNREACHABLE',
        `the app ${name} at ${redact(url)} does not answer: ${reason}`,
        {
          cause,
          remedy: 'start it, or leave --app out and weir starts apps of its own: weir serve point',
        },
      );
    } finally {
      client.close();
    }
  }
}
