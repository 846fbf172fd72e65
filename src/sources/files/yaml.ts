// Reads rows from a YAML or JSON document: a GraphSense TagPack, or a list of rows. A tag inherits
// missing fields from the head of its pack. The document is read as plain data: no types of its
// own, few aliases. A document that does not parse gives no table at all.

import { type Document, isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml';
import { textOrEmpty } from '../../evidence/measure.ts';
import type { BrokenRow, FileLayout, RawRow } from '../../ports/tables.ts';
import { FileFault, objectRow } from './text-lines.ts';

/** How often a document may repeat a part of itself by alias. */
const ALIASES_MAX = 100;
/** A document up to this length is parsed at once; that takes about a fifth of a second. */
const AT_ONCE_CHARS_MAX = 512 * 1024;
/** How many tags of a longer one are parsed at once. */
const TAGS_AT_ONCE = 200;
/** The fields that a tag inherits from the head of its pack. */
const INHERITED = [
  'abuse',
  'actor',
  'category',
  'concepts',
  'confidence',
  'currency',
  'label',
  'lastmod',
  'network',
  'source',
] as const;

type Rows = AsyncIterable<RawRow | BrokenRow>;
type Item = { readonly value: unknown; readonly line: number };
type Head = { readonly [name: string]: unknown };

export async function documentRows(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ layout: FileLayout; rows: Rows }> {
  const text = await decodeText(chunks);
  if (text.length > AT_ONCE_CHARS_MAX) return longPack(text);
  const { document, counter } = parsedYaml(text, 1);
  const { contents } = document;
  if (isSeq(contents)) {
    return { layout: 'rows', rows: objectRows(itemsOf(document, contents, counter, 1)) };
  }
  const tags = isMap(contents) ? contents.get('tags', true) : null;
  if (!isSeq(tags)) throw new FileFault('it holds no list of rows');
  const head = plainOf(document);
  if (!isHead(head)) throw new FileFault('it has no head');
  return { layout: 'tagpack', rows: tagRows(head, itemsOf(document, tags, counter, 1)) };
}

async function decodeText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8');
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/**
 * A long pack is cut at its tags, which stand at the margin below `tags:`; nothing inside of a tag
 * can stand there. An alias that reaches across a cut does not parse, so nothing is lost unseen.
 */
function longPack(text: string): { layout: FileLayout; rows: Rows } {
  const lines = text.split(/\r?\n/);
  const opening = lines.findIndex((line) => /^tags:\s*(#.*)?$/.test(line));
  if (opening < 0)
    throw new FileFault('it is too long for a document that is no TagPack; split it');
  const after = lines.findIndex((line, i) => i > opening && /^[^\s#-]/.test(line));
  const end = after < 0 ? lines.length : after;
  const headText = [...lines.slice(0, opening), ...lines.slice(end)].join('\n');
  const head = plainOf(parsedYaml(headText, 1).document);
  if (!isHead(head)) throw new FileFault('it has no head');
  return { layout: 'tagpack', rows: tagRows(head, pieces(lines, opening + 1, end)) };
}

function* pieces(lines: readonly string[], from: number, end: number): Generator<Item> {
  const margin = lines.slice(from, end).find((line) => /^\s*- /.test(line));
  if (margin === undefined) throw new FileFault('its tags do not stand at one margin');
  const mark = `${/^\s*/.exec(margin)?.[0]}- `;
  let start = from;
  let tags = 0;
  for (let i = from; i <= end; i++) {
    const isTag = i < end && lines[i]?.startsWith(mark) === true;
    if (i < end && !(isTag && tags === TAGS_AT_ONCE)) {
      if (isTag) tags += 1;
      continue;
    }
    const { document, counter } = parsedYaml(lines.slice(start, i).join('\n'), start + 1);
    const { contents } = document;
    if (!isSeq(contents)) throw new FileFault(`from line ${start + 1}: no list of tags`);
    yield* itemsOf(document, contents, counter, start + 1);
    start = i;
    tags = 1;
  }
}

function parsedYaml(
  text: string,
  firstLine: number,
): { document: Document.Parsed; counter: LineCounter } {
  const counter = new LineCounter();
  // In YAML every scalar is taken as text: an address that no quotes protect would be a number.
  const schema = text.trimStart().startsWith('[') ? 'core' : 'failsafe';
  const document = parseDocument(text, { lineCounter: counter, schema, logLevel: 'error' });
  const [fault] = document.errors;
  if (fault === undefined) return { document, counter };
  const place = fault.linePos?.[0];
  const line = place === undefined ? '' : `line ${place.line + firstLine - 1}: `;
  throw new FileFault(`${line}${fault.code}`);
}

function plainOf(document: Document.Parsed): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return value;
  } catch (fault) {
    if (!(fault instanceof ReferenceError)) throw fault;
    const tooOften = fault.message.startsWith('Excessive alias count');
    throw new FileFault(
      tooOften ? 'it repeats itself too often' : 'an alias names nothing in reach',
    );
  }
}

function itemsOf(
  document: Document.Parsed,
  list: { readonly items: readonly unknown[] },
  counter: LineCounter,
  firstLine: number,
): Item[] {
  const plain = plainOf(document);
  const values = isHead(plain) ? plain['tags'] : plain;
  if (!Array.isArray(values)) throw new FileFault('it holds no list of rows');
  return list.items.map((node, i) => {
    const start = isNode(node) ? node.range?.[0] : undefined;
    const line = start === undefined ? firstLine : counter.linePos(start).line + firstLine - 1;
    return { value: values[i], line };
  });
}

function isHead(value: unknown): value is Head {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function* objectRows(items: Iterable<Item>): AsyncGenerator<RawRow | BrokenRow> {
  for (const { value, line } of items) yield objectRow(value, line);
}

async function* tagRows(head: Head, items: Iterable<Item>): AsyncGenerator<RawRow | BrokenRow> {
  for (const { value, line } of items) yield tagRow(head, value, line);
}

/** A tag with what it inherits. One that says of itself what it is inherits no kind. */
function tagRow(head: Head, tag: unknown, line: number): RawRow | BrokenRow {
  if (!isHead(tag)) return { line, problem: 'the tag is no mapping' };
  const inherits = new Set<string>(INHERITED);
  if ('category' in tag || 'concepts' in tag) {
    inherits.delete('category');
    inherits.delete('concepts');
  }
  const fields = new Map<string, string>();
  for (const name of ['address', ...INHERITED]) {
    const text = textOf(name in tag || !inherits.has(name) ? tag[name] : head[name]);
    if (text === null) return { line, problem: `${name} is neither text nor a list of texts` };
    if (text !== '') fields.set(name, text);
  }
  return { line, fields };
}

/** A value as text, a list of words joined by spaces; `''` where there is none, null where odd. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return textOrEmpty(value);
  if (Array.isArray(value)) return value.every(isWord) ? value.join(' ') : null;
  return isWord(value) ? String(value) : null;
}

function isWord(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
