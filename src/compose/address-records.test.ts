// `exhibit screen` reads standard input and a pipe as it reads a file: each address gets its row.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../config.ts';
import { screenCommand } from '../features/screening/screen.command.ts';
import { evm } from '../testing/addresses.ts';
import { ran } from '../testing/recording-io.ts';
import { pipedRecords } from './address-records.ts';

const TEXT = `name,address\na,${evm('a')}\nb,${evm('b')}\n`;
const row = z.object({ line: z.number(), address: z.string() });

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-piped-test-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function* typedInput() {
  yield Buffer.from(TEXT.slice(0, 9));
  yield Buffer.from(TEXT.slice(9));
}

test.each([
  ['standard input', '-'],
  ['a named pipe', 'pipe'],
])('each address of %s has a row under its line', async (_, path) => {
  if (path === 'pipe') {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    void writeFile(join(cwd, 'pipe'), TEXT);
  }
  const services = { started: parseConfig({}, { cwd }), ...pipedRecords(typedInput) };
  // Nobody listens there: what cannot be asked is not checked, and stands in the output.
  const words = `screen ${path} --base-url http://127.0.0.1:9 --key sc_key --json`;
  const { status, lines, errors } = await ran(words, [screenCommand], services, { cwd });
  expect(status).toBe(3);
  expect(errors.join('\n')).toContain('2 addresses (address), 2 not checked.');
  expect(lines.map((line) => row.parse(JSON.parse(line)))).toEqual([
    { line: 2, address: evm('a') },
    { line: 3, address: evm('b') },
  ]);
});

test('a path that is not there is told, and nothing is screened', async () => {
  const services = { started: parseConfig({}, { cwd }), ...pipedRecords(typedInput) };
  const words = 'screen none.csv --base-url http://127.0.0.1:9 --key sc_key';
  const { status, errors } = await ran(words, [screenCommand], services, { cwd });
  expect([status, errors]).toEqual([1, ['The file cannot be read: ENOENT.']]);
});
