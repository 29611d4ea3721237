import type { Environment, Plan, Result, Trial, Validity } from '../measure/result.js';

/** What the runner says while it works. Progress display, results store and dashboard only listen. */
export interface RunnerEvents {
  /** The plan is fixed, nothing has run. */
  planned: [event: { readonly runId: string; readonly plan: Plan; readonly estimateMs: number }];
  started: [event: { readonly runId: string; readonly environment: Environment; readonly startedAt: string }];
  'trial-started': [
    event: {
      readonly round: number;
      readonly position: number;
      readonly index: number;
      readonly of: number;
      readonly variant: string;
    },
  ];
  /** Several times a second during a trial. */
  'trial-progress': [
    event: { readonly variant: string; readonly handled: number; readonly perSecond: number },
  ];
  'trial-finished': [event: { readonly trial: Trial; readonly index: number; readonly of: number }];
  warning: [event: { readonly message: string }];
  checked: [event: { readonly validity: readonly Validity[] }];
  finished: [event: { readonly result: Result }];
}
