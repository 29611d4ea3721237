/**
 * What the bench borrows from the lab: one place that knows where the lab's compiled files lie. The lab does not
 * export these to the world, and the bench is no package that could depend on it.
 */
export { printError } from '../../packages/lab/dist/cli/errors.js';
export { type Interruption, listenForInterruption } from '../../packages/lab/dist/cli/interruption.js';
export { usageError } from '../../packages/lab/dist/core/errors.js';
export { parseInteger, parseList } from '../../packages/lab/dist/core/parse-option.js';
export { seededRandom, shuffle } from '../../packages/lab/dist/core/random.js';
export { NANOSECONDS_PER_SECOND, type Nanoseconds, significant } from '../../packages/lab/dist/core/units.js';
export { localFleet } from '../../packages/lab/dist/fleet/local-fleet.js';
export { type TypedWorker, typedWorker } from '../../packages/lab/dist/fleet/typed-worker.js';
export { monotonicNs } from '../../packages/lab/dist/measure/clock.js';
export { medianInterval } from '../../packages/lab/dist/measure/statistics.js';
export { SignedRank } from '../../packages/lab/dist/measure/wilcoxon.js';
export { startRedisServer } from '../../packages/lab/dist/redis/redis-server.js';
export { renderTable } from '../../packages/lab/dist/reporters/text/table.js';
export { resolveStore } from '../../packages/lab/dist/stores/load-stores.js';
export type { StoredMessage } from '../../packages/lab/dist/stores/message-store.js';
export {
  type DatabaseServer,
  locateProgram,
  postgresFolders,
} from '../../packages/lab/dist/stores/servers/database-server.js';
export { startMariadbServer } from '../../packages/lab/dist/stores/servers/mariadb-server.js';
export { startPostgresServer } from '../../packages/lab/dist/stores/servers/postgres-server.js';
export type {
  ProducerServiceApi,
  ProducerServiceSettings,
} from '../../packages/lab/dist/workers/http-api.js';
export { serveWorker, type WorkerApi } from '../../packages/lab/dist/workers/worker-channel.js';
