import { ServiceError } from './service-error.js';

/** Items of one batch; more is more than one write is good for. */
const MOST_ITEMS = 10_000;

/**
 * The messages of a batch: a JSON array, or NDJSON with one JSON value a line. A string is a message with that text;
 * of any other value the message is its JSON.
 *
 * @param isNdjson whether the content type says so; otherwise a body that begins with `[` is an array
 * @throws {ServiceError} 400 naming the first item that is no JSON, counted from 0
 */
export function messagesOf(body: Buffer, isNdjson: boolean): string[] {
  const text = textOf(body);
  const items = !isNdjson && /^\s*\[/.test(text) ? arrayItems(text) : lineItems(text);
  if (items.length === 0) throw badRequest('the batch is empty; send a JSON array or one JSON value a line');
  if (items.length > MOST_ITEMS)
    throw badRequest(`the batch has ${items.length} items; at most ${MOST_ITEMS}`);
  return items;
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('the batch is not UTF-8; send binary messages one by one as application/octet-stream');
  }
}

function lineItems(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    const value = parsed(line, index);
    return typeof value === 'string' ? value : line.trim();
  });
}

function arrayItems(text: string): string[] {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (cause) {
    itemTexts(text).forEach(parsed);
    throw badRequest(`the batch is not a JSON array: ${reasonOf(cause)}`);
  }
  return Array.isArray(values)
    ? values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    : [];
}

function parsed(text: string, index: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`item ${index} is not JSON: ${reasonOf(cause)}`, { item: index });
  }
}

/**
 * The items of an array that is no JSON as a whole, cut at its outer commas, so that the wrong one can be named:
 * the parser's own message gives at best a position.
 */
function itemTexts(text: string): string[] {
  const items: string[] = [];
  const open = text.indexOf('[') + 1;
  let from = open;
  let depth = 0;
  let inString = false;
  for (let at = open; at < text.length; at++) {
    const character = text[at] ?? '';
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if ('[{'.includes(character)) depth++;
    else if (depth === 0 && ',]'.includes(character)) {
      items.push(text.slice(from, at));
      from = at + 1;
      if (character === ']') return items;
    } else if (']}'.includes(character)) depth--;
  }
  items.push(text.slice(from));
  return items;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function badRequest(message: string, details: Readonly<Record<string, unknown>> = {}): ServiceError {
  return new ServiceError(400, 'BAD_JSON', message, details);
}
