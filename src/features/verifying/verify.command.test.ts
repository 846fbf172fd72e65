// `exhibit verify` says what holds of a saved signal, and never takes what it could not check for
// checked.

import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { savedAnswerVector } from '../../testing/answer-vectors.ts';
import { ran } from '../../testing/recording-io.ts';
import { savedVector, VECTOR_FILES } from '../../testing/verification-vectors.ts';
import { verifyCommand } from './verify.command.ts';

const home = mkdtempSync(join(tmpdir(), 'exhibit-verify-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

for (const [name, text] of Object.entries(VECTOR_FILES)) writeFileSync(join(home, name), text);
const saved = (name: string, file: object) => {
  writeFileSync(join(home, name), JSON.stringify(file));
  return join(home, name);
};
const verify = (words: string) => ran(`verify ${words}`, [verifyCommand], undefined);
const SIGNAL = join(home, 'signal.json');
const KEYS = `--keys ${join(home, 'keys.json')}`;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A node that says one thing to each method, and its URL. */
async function nodeSaying(status: number, said: (method: string) => unknown): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const asked: unknown = JSON.parse(body);
    response
      .writeHead(status)
      .end(JSON.stringify(said(String(Reflect.get(Object(asked), 'method')))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`;
}

const ANCHORED = savedVector({
  shown: { anchor_tx: `0x${'ab'.repeat(32)}`, anchor_status: 'confirmed' },
});

describe('says', () => {
  test('each check that holds, and ends with 0', async () => {
    const {
      status,
      lines: out,
      errors: err,
    } = await verify(`${SIGNAL} ${KEYS} --checkpoint ${join(home, 'checkpoint.txt')}`);
    expect([status, err]).toEqual([0, []]);
    expect(out.map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
      'check outcome',
      'bundle holds',
      'citations holds',
      'call_hash holds',
      'derived holds',
      'log holds',
      'checkpoint holds',
      'pinned_checkpoint holds',
    ]);
  });

  test('what could not be checked, and ends with 3: without a key set, and without a node', async () => {
    const unpinned = await verify(`${SIGNAL} --json`);
    expect(unpinned.status).toBe(3);
    expect(JSON.parse(unpinned.lines.join('\n'))).toMatchObject({
      outcome: 'unchecked',
      checks: expect.arrayContaining([
        {
          check: 'checkpoint',
          outcome: 'unchecked',
          says: 'No pinned key set was given to check its signature with.',
        },
      ]),
    });
    const file = saved('anchored.json', ANCHORED.file);
    const { status, errors: err } = await verify(`${file} ${KEYS}`);
    expect([status, err]).toEqual([
      3,
      ['Not verified: no check fails, and not every one could be made.'],
    ]);
  });

  test('what fails, and ends with 1', async () => {
    const bundle = Buffer.from('{}\n').toString('base64');
    const file = saved('changed.json', { ...ANCHORED.file, bundle_base64: bundle });
    const { status, lines: out, errors: err } = await verify(`${file} ${KEYS} --json`);
    expect([status, err]).toEqual([1, ['Not verified: a check fails.']]);
    expect(JSON.parse(out.join('\n'))).toMatchObject({ outcome: 'refuted' });
  });
});

test('says so of a saved answer too, as long as the longest that is saved', async () => {
  const body = new Uint8Array(16 * 1024 * 1024).fill(0x61);
  const file = saved('answer-large.json', savedAnswerVector({ body }));
  const { status, lines } = await verify(`${file} ${KEYS} --json`);
  expect(status).toBe(0);
  expect(JSON.parse(lines.join(''))).toMatchObject({ outcome: 'verified' });
});

describe('asks the node that is named, and nobody else', () => {
  const file = saved('to-anchor.json', ANCHORED.file);

  test.each<readonly [string, number, unknown, string]>([
    ['refuses', 200, { error: { code: -32_000 } }, 'it refused'],
    ['answers without a result', 200, {}, 'its answer has no result'],
    ['fails', 500, { result: '0x2105' }, 'HTTP 500'],
    ['is of another chain', 200, { result: '0x1' }, 'The node is of chain 1'],
  ])('one that %s is silence', async (_, status, said, says) => {
    const url = await nodeSaying(status, () => said);
    const { status: exit, lines: out } = await verify(`${file} ${KEYS} --rpc ${url} --json`);
    expect(exit).toBe(3);
    expect(out.join('')).toContain(says);
    expect(out.join('')).not.toContain(url);
  });

  test('one that does not listen is silence too', async () => {
    const { status, lines: out } = await verify(`${file} ${KEYS} --rpc http://127.0.0.1:1 --json`);
    expect([status, out.join('')]).toEqual([3, expect.stringContaining('The chain was not read')]);
  });
});

describe('refuses', () => {
  test.each([
    ['', 'FILE is missing.'],
    [join(home, 'nowhere.json'), 'FILE cannot be read.'],
    [home, 'FILE cannot be read.'],
    [`${SIGNAL} --keys ${join(home, 'nowhere')}`, '--keys cannot be read.'],
    [`${SIGNAL} --rpc ftp://node.example`, '--rpc takes an http: or https: URL.'],
  ])('%s', async (words, says) => {
    const { status, errors: err } = await verify(words);
    expect([status, err.join('\n')]).toEqual([2, expect.stringContaining(says)]);
  });

  test('a file that is too large to be one', async () => {
    mkdirSync(join(home, 'large'), { recursive: true });
    const large = join(home, 'large/file.json');
    writeFileSync(large, '');
    truncateSync(large, 32 * 1024 * 1024 + 1);
    const { status, errors: err } = await verify(large);
    expect([status, err.join('\n')]).toEqual([
      2,
      expect.stringContaining('at most 33554432 bytes'),
    ]);
  });
});
