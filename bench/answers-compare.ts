// Compares two folders of answers byte by byte, and shows where each differing pair parts.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SHOWN_A_FILE = 6;
const CHARS_BESIDE = 60;
const VALUE_CHARS_MAX = 140;

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

/** One difference: where in the file, and what stands on either side. */
type Difference = { readonly at: string; readonly before: string; readonly after: string };

function cut(value: unknown): string {
  const text = value === undefined ? '(nothing)' : (JSON.stringify(value) ?? String(value));
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
}

function differingPaths(before: unknown, after: unknown, at = ''): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const areObjects =
    typeof before === 'object' &&
    typeof after === 'object' &&
    before !== null &&
    after !== null &&
    Array.isArray(before) === Array.isArray(after);
  if (!areObjects) return [{ at, before: cut(before), after: cut(after) }];
  const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keys = new Set([...one.keys(), ...other.keys()]);
  const inner = [...keys].flatMap((key) =>
    differingPaths(one.get(key), other.get(key), `${at}.${key}`),
  );
  if (inner.length > 0) return inner;
  return [{ at: `${at} (order)`, before: cut([...one.keys()]), after: cut([...other.keys()]) }];
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function splitAnswer(text: string): readonly [head: string, body: string] {
  const at = text.indexOf('\n\n', text.indexOf('\n< '));
  return at === -1 ? ['', text] : [text.slice(0, at), text.slice(at + 2)];
}

function differingText(before: string, after: string): Difference {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const line = before.slice(0, at).split('\n').length;
  const around = (text: string) =>
    cut(text.slice(Math.max(0, at - CHARS_BESIDE), at + CHARS_BESIDE));
  return { at: `line ${line}`, before: around(before), after: around(after) };
}

function differences(before: string, after: string): Difference[] {
  const [headBefore, bodyBefore] = splitAnswer(before);
  const [headAfter, bodyAfter] = splitAnswer(after);
  const heads = headBefore === headAfter ? [] : [differingText(headBefore, headAfter)];
  if (bodyBefore === bodyAfter) return heads;
  const [one, other] = [jsonIn(bodyBefore), jsonIn(bodyAfter)];
  const isJson = one !== undefined && other !== undefined;
  const paths = isJson ? differingPaths(one, other) : [];
  return [...heads, ...(paths.length > 0 ? paths : [differingText(bodyBefore, bodyAfter)])];
}

/** Prints how two folders differ, and gives the number of files that do. */
export function compareFolders(before: string, after: string): number {
  const [one, other] = [filesIn(before), filesIn(after)];
  const lines: string[] = [];
  let differing = 0;
  for (const name of [...new Set([...one, ...other])].sort()) {
    const isIn = [one.includes(name), other.includes(name)] as const;
    if (!isIn[0] || !isIn[1]) {
      differing += 1;
      lines.push(`${name}: only ${isIn[0] ? 'before' : 'after'}`);
      continue;
    }
    const texts = [before, after].map((folder) => readFileSync(join(folder, name), 'utf8'));
    const [textBefore = '', textAfter = ''] = texts;
    if (textBefore === textAfter) continue;
    differing += 1;
    const found = differences(textBefore, textAfter);
    lines.push(`${name}: ${found.length} ${found.length === 1 ? 'place' : 'places'}`);
    for (const { at, before: was, after: is } of found.slice(0, SHOWN_A_FILE)) {
      lines.push(`  ${at}`, `    - ${was}`, `    + ${is}`);
    }
  }
  const all = new Set([...one, ...other]).size;
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`${differing} of ${all} files differ\n`);
  return differing;
}
