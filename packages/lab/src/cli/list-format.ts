import { type Command, Option } from 'commander';

/** Options as commander reads them, by camel-case name. Numbers are still texts: the commands check them. */
export type OptionTexts = Readonly<Record<string, string | boolean | undefined>>;

/** Text or JSON, for commands whose output is no report. */
export function addListFormat(command: Command): void {
  command.addOption(new Option('--format <name>', 'format').choices(['text', 'json']).default('text'));
}
