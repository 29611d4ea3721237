import { unknownName } from '../core/errors.js';
import type { Result } from '../measure/result.js';
import type { Reporter } from '../reporters/reporter.js';
import type { OptionTexts } from './list-format.js';
import { wantsColor } from './output.js';

const WIDTH_WITHOUT_TERMINAL = 100;

/** @throws {WeirError} UNKNOWN_NAME */
export function chosenReporter(texts: OptionTexts, reporters: ReadonlyMap<string, Reporter>): Reporter {
  const name = String(texts.format);
  const reporter = reporters.get(name);
  if (reporter === undefined) throw unknownName('format', name, [...reporters.keys()]);
  return reporter;
}

/** As the place it goes to can show it: colour and width are the terminal's, and a file is none. */
export function renderFor(reporter: Reporter, result: Result, texts: OptionTexts): string {
  const toTerminal = texts.out === undefined && process.stdout.isTTY === true;
  return reporter.render(result, {
    color: toTerminal && wantsColor(process.stdout),
    width: (toTerminal && process.stdout.columns) || WIDTH_WITHOUT_TERMINAL,
  });
}
