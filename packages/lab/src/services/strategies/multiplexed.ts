import type { ConnectionStrategy } from './strategy.js';

/**
 * One connection for all requests, as Lettuce has it: commands are written as they come, and Redis answers in their
 * order. The libraries of Node all work this way by default.
 *
 * Redis: the request's command and nothing else. Costs: a reply of megabytes and a command that blocks hold up everybody
 * behind them, so blocking commands and WATCH need connections of their own. Gives: one file descriptor, and
 * commands of many requests in one write where the library joins them (automatic pipelining).
 */
export const multiplexed = {
  name: 'multiplexed',
  summary: 'sends the commands of all requests over one connection',
  capabilities: {
    pooled: false,
    shared: true,
    connectionsPerUse: 0,
    idleConnections: () => 0,
    pingsPerUse: () => 0,
  },
  open: async (client) => ({
    use: (work) => work(client),
    close: async () => undefined,
  }),
} satisfies ConnectionStrategy;
