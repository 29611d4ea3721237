import { type Command, Option } from 'commander';
import { ExitCode, usageError, WeirError } from '../../core/errors.js';
import { parseInteger, parseShare } from '../../core/parse-option.js';
import { clientLibrary } from '../../redis/clients.js';
import { openRedisTarget } from '../../redis/connect.js';
import { openSharedRedis } from '../../redis/shared-redis.js';
import { checkExposure, isLoopback } from '../../services/authorization.js';
import { OFFSET_PLACES } from '../../services/pattern-run.js';
import {
  type RunningService,
  type ServiceOptions,
  startConsumerService,
  startPointService,
  startProducerService,
} from '../../services/start-service.js';
import { strategyNamed } from '../../services/strategies/load-strategies.js';
import { resolveStore } from '../../stores/load-stores.js';
import { printNote, printWarning } from '../errors.js';
import type { OptionTexts } from '../list-format.js';

const DEFAULT_PORTS = { producer: '8080', consumer: '8081', point: '8082' } as const;
const DEFAULT_STORE = 'sqlite:.weir/messages.db';
/** Where services that are only tried out find their Redis. */
const SHARED_REDIS = '.weir/serve-redis.json';
const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MOST_BODY_BYTES = 512 * 1024 * 1024;
/** Beyond loopback; on it nobody is limited. */
const DEFAULT_RATE_LIMIT = 1_000;
/** How long a service that was asked to end may take, and how much of it the consumers may. */
const SHUTDOWN_DEADLINE_MS = 10_000;
const CONSUMER_SHUTDOWN_MS = 8_000;
const DRAIN_DEADLINE_MS = 30_000;
const MOST_POOLED = 10_000;
const MOST_ENTRIES = 1_000_000_000;

/** `weir serve producer|consumer|point`: the services, until SIGTERM or Ctrl-C. */
export function configure(serve: Command): void {
  serve
    .usage('<service> [options]')
    .commandsGroup('Services:')
    .argument('[service]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((name: string | undefined) => {
      throw new WeirError('UNKNOWN_NAME', `there is no service ${JSON.stringify(name ?? '')}`, {
        remedy: `known services: ${Object.keys(DEFAULT_PORTS).join(', ')}`,
      });
    });
  const producer = serve.command('producer').description('POST /{pattern}/send puts a message into Redis');
  addCommonOptions(producer, DEFAULT_PORTS.producer);
  producer.action(() => run(producer.opts(), startProducerService));

  const consumer = serve
    .command('consumer')
    .description('consumes a pattern into a database from POST /{pattern}/start to POST /{pattern}/stop');
  addCommonOptions(consumer, DEFAULT_PORTS.consumer);
  consumer.addOption(
    new Option(
      '--store <address>',
      'where messages and results go: none, sqlite:FILE, mysql://…, postgres://…',
    )
      .env('WEIR_STORE')
      .default(DEFAULT_STORE),
  );
  consumer.addOption(
    new Option('--consumer-name <name>', 'stable, and unique among consumers that run at once').default(
      'consumer-1',
    ),
  );
  consumer.addOption(
    new Option(
      '--offset <where>',
      'where patterns with offsets keep them: memory (each start begins anew), redis, or store (with the messages)',
    )
      .choices(OFFSET_PLACES)
      .default('memory'),
  );
  consumer.action(() => serveConsumer(consumer.opts()));

  const point = serve
    .command('point')
    .description(
      'stores points (GET /save) and looks them up (GET /get), with a connection strategy to choose',
    );
  addCommonOptions(point, DEFAULT_PORTS.point);
  addPointOptions(point);
  point.action(() => servePoint(point.opts()));
}

function addPointOptions(command: Command): void {
  const options = [
    new Option('--strategy <name>', 'per-request, pool or multiplexed').default('multiplexed'),
    new Option('--pool <size>', 'connections of the pool').default('8'),
    new Option('--test-on-borrow', 'a PING before each use of a pooled connection'),
    new Option(
      '--auto-pipelining',
      'join commands of one turn of the event loop, where the client leaves the choice',
    ),
    new Option('--entries <count>', 'ids are drawn from 1 up to this').default('100000'),
    new Option('--hit-rate <share>', 'share of the lookups whose id is among them, 0 to 1').default('1'),
  ];
  for (const option of options) command.addOption(option);
}

async function servePoint(texts: OptionTexts): Promise<void> {
  const strategy = await strategyNamed(String(texts.strategy));
  const options = {
    strategy,
    poolSize: parseInteger('--pool', String(texts.pool), { min: 1, max: MOST_POOLED }),
    test: texts.testOnBorrow === true ? 'on-borrow' : 'never',
    autoPipelining: texts.autoPipelining === true,
    entries: parseInteger('--entries', String(texts.entries), { min: 1, max: MOST_ENTRIES }),
    hitRate: parseShare('--hit-rate', String(texts.hitRate)),
    random: Math.random,
  } as const;
  await run(texts, (common) => startPointService({ ...common, ...options }));
}

function addCommonOptions(command: Command, port: string): void {
  const options = [
    new Option('--host <address>', 'address to listen on; beyond loopback only with --token').default(
      '127.0.0.1',
    ),
    new Option('--port <number>', 'port to listen on; 0 for any free one').default(port),
    new Option(
      '--redis <url>',
      'your Redis (default: one for trying out, shared by what is served from this folder)',
    ).env('WEIR_REDIS'),
    new Option('--client <library>', 'client library').default('node-redis'),
    new Option('--key-prefix <text>', 'put before the keys and channels of the patterns').default(''),
    new Option('--token <text>', 'what requests must bring as Authorization: Bearer').env('WEIR_TOKEN'),
    new Option('--body-limit <bytes>', 'largest body of a request').default(String(DEFAULT_BODY_LIMIT)),
    new Option(
      '--rate-limit <per-second>',
      `requests per second of one client address (default: ${DEFAULT_RATE_LIMIT} beyond loopback, none on it)`,
    ),
    new Option('--log-level <level>', 'structured logs on stderr')
      .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info'),
  ];
  for (const option of options) command.addOption(option);
}

async function serveConsumer(texts: OptionTexts): Promise<void> {
  const store = String(texts.store);
  const driver = await resolveStore(store);
  driver.validate(store);
  const offset = OFFSET_PLACES.find((place) => place === texts.offset) ?? 'memory';
  if (offset === 'store' && driver.keeps === false) {
    throw usageError('--offset', offset, `redis or memory with --store ${store}, which keeps nothing`);
  }
  await run(texts, (common) =>
    startConsumerService({
      ...common,
      store,
      consumerName: String(texts.consumerName),
      offset,
      drainDeadlineMs: DRAIN_DEADLINE_MS,
      shutdownDeadlineMs: CONSUMER_SHUTDOWN_MS,
    }),
  );
}

/** Starts a service, says where it is, and ends it in order when it is asked to. */
async function run(
  texts: OptionTexts,
  startService: (options: ServiceOptions) => Promise<RunningService>,
): Promise<void> {
  const options = parseServiceOptions(texts);
  // The signals are ours from the beginning: one that comes while the service starts must end it in order, too.
  const asked = askedToEnd();
  const redis = await openRedis(texts);
  try {
    const service = await startService({ ...options, redisUrl: redis.url });
    printNote(`listening on ${service.url}; /docs says what there is`);
    await asked;
    if (!(await service.close(SHUTDOWN_DEADLINE_MS))) {
      printWarning(`not everything was finished within ${SHUTDOWN_DEADLINE_MS / 1000} s`);
      process.exitCode = ExitCode.software;
    }
  } finally {
    await redis.close();
    // What did not end within the deadline must not keep the process alive.
    setTimeout(() => process.exit(), 1_000).unref();
  }
}

function parseServiceOptions(texts: OptionTexts): Omit<ServiceOptions, 'redisUrl'> {
  const text = (name: string): string | undefined => {
    const value = texts[name];
    return typeof value === 'string' ? value : undefined;
  };
  const host = text('host') ?? '';
  const token = text('token');
  checkExposure(host, token);
  const rate = text('rateLimit') ?? (isLoopback(host) ? undefined : String(DEFAULT_RATE_LIMIT));
  return {
    host,
    token,
    port: parseInteger('--port', text('port') ?? '', { min: 0, max: 65_535 }),
    client: clientLibrary(text('client') ?? ''),
    keyPrefix: text('keyPrefix') ?? '',
    bodyLimitBytes: parseInteger('--body-limit', text('bodyLimit') ?? '', { min: 1, max: MOST_BODY_BYTES }),
    requestsPerSecond:
      rate === undefined ? undefined : parseInteger('--rate-limit', rate, { min: 1, max: 1_000_000 }),
    log:
      text('logLevel') === 'silent'
        ? undefined
        : { level: text('logLevel') ?? 'info', stream: process.stderr },
  };
}

async function openRedis({ redis }: OptionTexts): Promise<{ readonly url: string; close(): Promise<void> }> {
  if (typeof redis === 'string') return openRedisTarget({ url: redis });
  const shared = await openSharedRedis(SHARED_REDIS);
  printWarning(
    `no --redis was given: using a Redis FOR TRYING OUT at ${shared.address}, ${
      shared.isOurs
        ? 'which ends with this process and keeps nothing'
        : 'which another weir serve started here'
    }`,
  );
  return shared;
}

/** Resolves at the first SIGTERM or Ctrl-C; the second one ends the process at once. */
function askedToEnd(): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (isAsked) process.exit(ExitCode.interrupted);
        isAsked = true;
        resolve();
      });
    }
  });
}
