import { formatBytes, formatNanoseconds } from '../../core/units.js';
import type { Environment, Result } from '../../measure/result.js';
import { plural } from './figures.js';
import { type Style, wrap } from './style.js';

/** What to type to run this again, and what to quote so that others can check it. */
export function reproduce(result: Result, style: Style): string[] {
  const { environment, plan } = result;
  const config = Object.entries(environment.server.config).map(
    ([name, value]) => `${name} ${value === '' ? '""' : value}`,
  );
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['run again', plan.command],
    ['seed', String(plan.seed)],
    ['plan', `sha256 ${plan.sha256}`],
    ['this report', `weir report ${result.id}`],
    ['machine', machine(environment)],
    [
      'clients',
      Object.entries(environment.clients)
        .map((pair) => pair.join(' '))
        .join(', '),
    ],
    ['server', config.join(', ')],
  ];
  return [
    style.heading('Reproduce'),
    ...facts.flatMap(([name, value]) => {
      if (value === '') return [];
      const first = `  ${name.padEnd(12)} `;
      // A command stays on one line however long it is, so that it can be copied.
      return value.startsWith('weir ') ? [first + value] : wrap(value, { width: style.width, first });
    }),
  ];
}

function machine({ cpu, memoryBytes, platform, kernel, pingNs }: Environment): string {
  const cores = `${plural(cpu.count, 'core')} of ${cpu.model}`;
  return `${cores}, ${formatBytes(memoryBytes)}, ${platform} ${kernel}, PING ${formatNanoseconds(pingNs.median)}`;
}
