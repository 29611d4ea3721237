import { isUtf8 } from 'node:buffer';
import { type DeadLetter, type DeadLetters, type MessagingPattern, PatternError } from '@weir/patterns';
import { type Command, Option } from 'commander';
import { unknownName, usageError, WeirError } from '../../core/errors.js';
import { loadPatterns } from '../../core/load-patterns.js';
import { parseInteger } from '../../core/parse-option.js';
import { redact } from '../../core/redact.js';
import { connectClient } from '../../redis/clients.js';
import { openRedisTarget } from '../../redis/connect.js';
import { renderTable } from '../../reporters/text/table.js';
import { addListFormat, type OptionTexts } from '../list-format.js';
import { writeToStdout } from '../output.js';

const DEFAULT_REDIS = 'redis://127.0.0.1:6379';
const DEFAULT_COUNT = 100;
const LARGEST_COUNT = 10_000;
/** Letters in one look, where all are meant. */
const PAGE = 1000;
/** Of a body or a reason, in a table. */
const SHOWN_CHARACTERS = 40;

/** `weir dead-letters list|replay|remove`: what a pattern gave up, to look at and to send again. */
export function configure(deadLetters: Command): void {
  deadLetters
    .usage('<action> [options]')
    .commandsGroup('Actions:')
    .argument('[action]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((name: string | undefined) => {
      throw new WeirError('UNKNOWN_NAME', `there is no action ${JSON.stringify(name ?? '')}`, {
        remedy:
          'known actions: list, replay, remove; for example weir dead-letters list --pattern stream-group',
      });
    });

  const list = deadLetters.command('list').description('shows dead letters, oldest first');
  addPlaceOptions(list);
  list.addOption(new Option('--count <count>', 'most letters to show').default(String(DEFAULT_COUNT)));
  addListFormat(list);
  list.action(() => showLetters(list.opts()));

  const replay = deadLetters
    .command('replay')
    .description('sends dead letters again; id and body stay, attempts count anew');
  addPlaceOptions(replay);
  addChoiceOptions(replay);
  replay.action(() => moveLetters(replay.opts(), 'sent again', (letters, ids) => letters.replay(ids)));

  const remove = deadLetters.command('remove').description('removes dead letters for good');
  addPlaceOptions(remove);
  addChoiceOptions(remove);
  remove.action(() => moveLetters(remove.opts(), 'removed', (letters, ids) => letters.remove(ids)));
}

function addPlaceOptions(command: Command): void {
  command
    .addOption(new Option('--pattern <name>', 'whose dead letters').makeOptionMandatory())
    .addOption(new Option('--key <key>', 'key of the pattern (default: that of the pattern)'))
    .addOption(new Option('--redis <url>', 'your Redis').default(DEFAULT_REDIS));
}

function addChoiceOptions(command: Command): void {
  command
    .addOption(new Option('--id <ids...>', 'ids as `weir dead-letters list` shows them'))
    .addOption(new Option('--all', 'all that are there now').conflicts('id'));
}

type Texts = OptionTexts | { readonly [name: string]: readonly string[] | OptionTexts[string] };

async function showLetters(texts: Texts): Promise<void> {
  const count = parseInteger('--count', String(texts.count), { min: 1, max: LARGEST_COUNT });
  const { listed, place } = await withLetters(texts, async (letters, place) => ({
    listed: await letters.list({ count }),
    place,
  }));
  await writeToStdout(
    texts.format === 'json'
      ? `${JSON.stringify(listed.map(letterJson), null, 2)}\n`
      : listText(listed, place),
  );
}

async function moveLetters(
  texts: Texts,
  done: string,
  move: (letters: DeadLetters, ids: readonly string[]) => Promise<number>,
): Promise<void> {
  const chosen = chosenIds(texts);
  const { moved, wanted, place } = await withLetters(texts, async (letters, place) => {
    const ids = chosen ?? (await allIds(letters));
    return { moved: await move(letters, ids), wanted: ids.length, place };
  });
  const missing = wanted === moved ? '' : `, ${wanted - moved} not there any more`;
  await writeToStdout(`${moved} of ${wanted} dead letters of ${place} ${done}${missing}\n`);
}

/** @returns undefined for all of them. @throws {WeirError} USAGE when none is meant */
function chosenIds({ id, all }: Texts): readonly string[] | undefined {
  if (all === true) return undefined;
  if (!Array.isArray(id)) {
    throw new WeirError('USAGE', 'which dead letters? name them with --id, or say --all', {
      remedy: 'weir dead-letters list shows their ids',
    });
  }
  for (const text of id)
    if (!/^\d{1,20}-\d{1,20}$/.test(text)) throw usageError('--id', text, 'an id: 1700000000000-0');
  return id;
}

/** Collected before any is moved: what fails again meanwhile is not sent round and round. */
async function allIds(letters: DeadLetters): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const after = ids.at(-1);
    const page = await letters.list(after === undefined ? { count: PAGE } : { after, count: PAGE });
    if (page.length === 0) return ids;
    ids.push(...page.map(({ id }) => id));
  }
}

/** Connects, and lets the work be done on the dead letters that the options name. */
async function withLetters<Result>(
  texts: Texts,
  work: (letters: DeadLetters, place: string) => Promise<Result>,
): Promise<Result> {
  const pattern = await patternNamed(String(texts.pattern));
  const key = typeof texts.key === 'string' ? texts.key : pattern.defaultKey;
  if (key === '') throw usageError('--key', key, 'a text that is not empty');
  const url = String(texts.redis);
  const target = await openRedisTarget({ url });
  const { client, close } = await connectClient('node-redis', target.url, { name: 'weir-dead-letters' });
  try {
    return await work(pattern.deadLetters(client, { key }), key);
  } catch (error) {
    throw error instanceof PatternError ? asWeirError(error, url) : error;
  } finally {
    await close();
    await target.close();
  }
}

type WithDeadLetters = MessagingPattern & Required<Pick<MessagingPattern, 'deadLetters'>>;

async function patternNamed(name: string): Promise<WithDeadLetters> {
  const patterns = await loadPatterns();
  const pattern = patterns.get(name);
  if (pattern === undefined) throw unknownName('pattern', name, [...patterns.keys()]);
  if (hasDeadLetters(pattern)) return pattern;
  const those = [...patterns.values()].filter(hasDeadLetters).map((candidate) => candidate.name);
  throw new WeirError('USAGE', `${name} has no dead letters`, {
    remedy: `those that have: ${those.join(', ')}`,
  });
}

function hasDeadLetters(pattern: MessagingPattern): pattern is WithDeadLetters {
  return pattern.deadLetters !== undefined;
}

function asWeirError(error: PatternError, url: string): WeirError {
  if (error.code === 'FOREIGN_KEY') return new WeirError('FOREIGN_KEY', error.message, { cause: error });
  if (error.code === 'REDIS_REPLY') {
    return new WeirError('REDIS_UNREACHABLE', `${redact(url)} refuses: ${error.message}`, {
      cause: error,
      remedy: 'what was moved before stays moved; the same command goes on with the rest',
    });
  }
  return new WeirError('REDIS_UNREACHABLE', `${redact(url)}: ${error.message}`, { cause: error });
}

/** Bytes that are no text are shown in base64, and `encoding` says so. */
function letterJson({ body, ...rest }: DeadLetter) {
  const encoding = isUtf8(body) ? 'utf8' : 'base64';
  return { ...rest, encoding, body: body.toString(encoding) };
}

function listText(letters: readonly DeadLetter[], place: string): string {
  if (letters.length === 0) return `No dead letters of ${place}.\n`;
  const lines = renderTable(
    [
      { head: 'id' },
      { head: 'message' },
      { head: 'given up (UTC)' },
      { head: 'attempts', align: 'right' },
      { head: 'reason' },
      { head: 'body' },
    ],
    letters.map((letter) => [
      letter.id,
      letter.messageId,
      new Date(letter.deadSinceMs).toISOString().slice(0, 19).replace('T', ' '),
      String(letter.attempts),
      shown(letter.reason),
      isUtf8(letter.body) ? shown(letter.body.toString('utf8')) : `${letter.body.length} bytes`,
    ]),
    0,
  );
  return `${lines.join('\n')}\n`;
}

/** On one line, and without what would steer the terminal. */
function shown(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
