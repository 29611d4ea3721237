import { usageError } from '../../core/errors.js';
import { parseInteger, parseList } from '../../core/parse-option.js';
import { strategyNamed } from '../../services/strategies/load-strategies.js';
import type { ConnectionStrategy, StrategyOptions } from '../../services/strategies/strategy.js';
import type { RawOptions } from '../experiment.js';

/** One strategy with its settings: a value of the factor `strategy`. */
export interface StrategyChoice extends StrategyOptions {
  /** As in tables: `pool-8`, `pool-8-tested`, `multiplexed-auto`. */
  readonly label: string;
  readonly strategy: ConnectionStrategy;
  readonly autoPipelining: boolean;
}

const DEFAULT_STRATEGIES = 'per-request,pool,multiplexed';
const DEFAULT_POOLS = '8,128';
/** `maxclients` of Redis is 10,000 by default; the Redis of the run is asked before the first trial. */
const LARGEST_POOL = 10_000;

/**
 * The strategies that are compared. The size of a pool is part of its strategy and no factor of its own: a connection
 * per request has no size, and pools are compared with it as well as with each other.
 *
 * @throws {WeirError} USAGE or UNKNOWN_NAME
 */
export async function parseChoices(raw: RawOptions): Promise<StrategyChoice[]> {
  const names = parseList('--strategy', typeof raw.strategy === 'string' ? raw.strategy : DEFAULT_STRATEGIES);
  const strategies = await Promise.all(names.map(strategyNamed));
  const sizes = parseList('--pool', typeof raw.pool === 'string' ? raw.pool : DEFAULT_POOLS).map((size) =>
    parseInteger('--pool', size, { min: 1, max: LARGEST_POOL }),
  );
  refuseIdle(raw, strategies);
  return strategies.flatMap((strategy) =>
    strategy.capabilities.pooled
      ? sizes.flatMap((size) => pools(strategy, size, raw.testOnBorrow === true))
      : unpooled(strategy, raw.autoPipelining === true),
  );
}

function pools(strategy: ConnectionStrategy, poolSize: number, alsoTested: boolean): StrategyChoice[] {
  const plain: StrategyChoice = {
    label: `${strategy.name}-${poolSize}`,
    ...{ strategy, poolSize, test: 'never', autoPipelining: false },
  };
  return alsoTested ? [plain, { ...plain, label: `${plain.label}-tested`, test: 'on-borrow' }] : [plain];
}

function unpooled(strategy: ConnectionStrategy, alsoPipelined: boolean): StrategyChoice[] {
  const plain: StrategyChoice = {
    label: strategy.name,
    ...{ strategy, poolSize: 1, test: 'never', autoPipelining: false },
  };
  return alsoPipelined && strategy.capabilities.shared
    ? [plain, { ...plain, label: `${plain.label}-auto`, autoPipelining: true }]
    : [plain];
}

/** An option without any strategy that heeds it is a misunderstanding. */
function refuseIdle(raw: RawOptions, strategies: readonly ConnectionStrategy[]): void {
  const some = (capability: 'pooled' | 'shared'): boolean =>
    strategies.some(({ capabilities }) => capabilities[capability]);
  if (raw.pool !== undefined && !some('pooled')) {
    throw usageError('--pool', raw.pool, 'left out without a pool among --strategy');
  }
  if (raw.testOnBorrow === true && !some('pooled')) {
    throw usageError('--test-on-borrow', true, 'left out without a pool among --strategy');
  }
  if (raw.autoPipelining === true && !some('shared')) {
    throw usageError('--auto-pipelining', true, 'left out without multiplexed among --strategy');
  }
}
