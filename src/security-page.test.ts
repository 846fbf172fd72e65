// docs/security.md names every file that signs or authenticates with a key of this deployment, and
// each test that it names exists.

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

test('each place that signs is a row of the table, and each row is a place that signs', () => {
  const signing = codeUnder(ROOT, 'src')
    .filter((path) => !isTest(path) && !/^src\/(testing|client|world)\//.test(path))
    .filter((path) => SIGNS.test(readFileSync(`${ROOT}/${path}`, 'utf8')))
    .filter((path) => !MAKERS.includes(path));
  const told = rows.map((row) => String(/^\| `([^`]+)`/.exec(row)?.[1]));
  expect(told.toSorted()).toEqual(signing.toSorted());
});
