import { significant } from '../core/units.js';
import { type Check, fail, pass, warn } from './check.js';

const MOST_STEAL = 0.02;
/** Cores that others may use; more would be missing from the trial. */
const MOST_OTHER_CPU = 0.25;

/** A figure belongs to one server, one configuration and one machine that does nothing else. */
export const environmentChanged = {
  name: 'environment-changed',
  summary: 'fails when server or configuration changed during the run; warns when others used the machine',
  trial: ({ observations: { serverRunId, configChanged, stealShare, otherCpu } }) => {
    const changed = [
      ...(serverRunId !== undefined && serverRunId[0] !== serverRunId[1] ? ['the server was restarted'] : []),
      ...(configChanged ?? []).map((name) => `CONFIG ${name} was changed`),
    ];
    if (changed.length > 0) {
      return fail(
        `${changed.join('; ')} during the trial`,
        'leave the server alone while it is measured, and run again',
      );
    }
    const others = [
      ...((stealShare ?? 0) > MOST_STEAL
        ? [`the hypervisor took ${significant((stealShare ?? 0) * 100)} % of the CPU time`]
        : []),
      ...((otherCpu ?? 0) > MOST_OTHER_CPU
        ? [`other processes used ${significant(otherCpu ?? 0)} cores`]
        : []),
    ];
    if (others.length > 0)
      return warn(others.join('; '), 'stop other work on this machine, or measure on one of your own');
    const known = [serverRunId, configChanged, stealShare, otherCpu].some((fact) => fact !== undefined);
    return known ? pass('same server, same configuration, nobody else at work') : undefined;
  },
  run: ({ environmentChanges }) => {
    if (environmentChanges.length === 0)
      return pass('the environment was the same at the end as at the start');
    return fail(
      environmentChanges.join('; '),
      'leave server and machine alone while they are measured, and run again',
    );
  },
} satisfies Check;
