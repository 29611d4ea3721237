import { styleText } from 'node:util';
import type { Command } from 'commander';
import { ExitCode } from '../../core/errors.js';
import { DOCTOR_PROBES, type ProbeReport } from '../doctor-probes.js';
import { addListFormat, type OptionTexts } from '../list-format.js';
import { wantsColor, writeToStdout } from '../output.js';

/** `weir doctor`: what this machine lacks, and the command that mends it. Ends with 69 when something is missing. */
export function configure(doctor: Command): void {
  addListFormat(doctor);
  doctor.action(async () => {
    const texts: OptionTexts = doctor.opts();
    const reports = await Promise.all(
      DOCTOR_PROBES.map(async ({ name, probe }) => ({ name, ...(await probe()) })),
    );
    await writeToStdout(
      texts.format === 'json' ? `${JSON.stringify(reports, null, 2)}\n` : doctorText(reports).join('\n'),
    );
    if (reports.some((report) => report.state === 'missing')) process.exitCode = ExitCode.unavailable;
  });
}

type NamedReport = ProbeReport & { readonly name: string };

const TONES = { ok: 'green', low: 'yellow', missing: 'red' } as const satisfies Record<
  ProbeReport['state'],
  string
>;

function doctorText(reports: readonly NamedReport[]): string[] {
  const widest = Math.max(...reports.map((report) => report.name.length));
  const missing = reports.filter((report) => report.state === 'missing').length;
  const lines = reports.flatMap((report) => {
    const state = report.state.padEnd(7);
    const painted = wantsColor(process.stdout)
      ? styleText(TONES[report.state], state, { validateStream: false })
      : state;
    const head = `${painted}  ${report.name.padEnd(widest)}  ${report.found}`;
    return report.state === 'ok' ? [head] : [head, `${' '.repeat(widest + 11)}-> ${report.mend}`];
  });
  const verdict =
    missing === 0 ? 'weir can run here.' : `${missing} of ${reports.length} missing: weir cannot run.`;
  return [...lines, '', verdict, ''];
}
