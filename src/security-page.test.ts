// docs/security.md says of each boundary what is checked there and which test shows it, and names
// every file that signs or authenticates with a key of this deployment.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { codeUnder, isTest } from './testing/tidy-source.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const page = readFileSync(`${ROOT}/docs/security.md`, 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| `src/'));
const SIGNS =
  /createHmac\(|Secp256k1\.sign\(|signTransaction\(|await sign\(|sign\(Buffer\.from\(|signWith\(/;
/** They make the functions that the places of the table call. */
const MAKERS = ['src/chain/signed-transaction.ts', 'src/features/signing/keys.ts'];

test('each test that the page names exists', () => {
  const named = [...page.matchAll(/`(src\/[\w./-]+\.test\.tsx?)`/g)].map(([, path]) =>
    String(path),
  );
  expect(named.length).toBeGreaterThan(9);
  expect(named.filter((path) => !existsSync(`${ROOT}/${path}`))).toEqual([]);
});

const BOUNDARIES = [
  'The public port',
  "The operator's port and socket",
  'Answers of providers, nodes and the publisher',
  'Text from chains',
  'The stores',
  'Webhooks',
  'Chats',
  'MCP',
  'Pages in a browser',
  'What leaves: answers, logs, metrics, traces',
  'Files that are imported',
  'Policies',
  'Backups and what a machine remembers',
  'What we are made of',
];

test('each boundary has what it checks, and ends with the tests that show it', () => {
  const [, ...sections] = page.split(/^## /m);
  const of = sections.map((text) => ({ title: String(text.split('\n')[0]), text }));
  expect(of.map(({ title }) => title)).toEqual([...BOUNDARIES, 'Where our keys sign']);
  for (const { title, text } of of.slice(0, -1)) {
    const [checks = '', shown = ''] = text.split(/^Shown by: /m);
    expect([title, checks.length > 120]).toEqual([title, true]);
    // Nothing stands there but tests, each once.
    const words = shown.trim().replace(/\.$/, '').split(/,\s+/);
    const tests = words.map((word) => /^`(src\/[\w./-]+\.test\.ts)`$/.exec(word)?.[1]);
    expect([title, tests.includes(undefined), tests.length > 1]).toEqual([title, false, true]);
    expect([title, new Set(tests).size]).toEqual([title, tests.length]);
  }
});

test('each place that signs is a row of the table, and each row is a place that signs', () => {
  const signing = codeUnder(ROOT, 'src')
    .filter((path) => !isTest(path) && !/^src\/(testing|client|world)\//.test(path))
    .filter((path) => SIGNS.test(readFileSync(`${ROOT}/${path}`, 'utf8')))
    .filter((path) => !MAKERS.includes(path));
  const told = rows.map((row) => String(/^\| `([^`]+)`/.exec(row)?.[1]));
  expect(told.toSorted()).toEqual(signing.toSorted());
});
