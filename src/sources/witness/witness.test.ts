// What a witness answers is read only where it is whole: its signature lines, or the size that it
// knows. Whether a line holds is for whoever asked to check.

import { createServer } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { noteKey } from '../../chain/signed-note.ts';
import { Unread } from '../../evidence/reading.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { witnessAt } from './witness.ts';

const key = noteKey('witness.example/w', new Uint8Array(32).fill(7), 'cosignature');
const REQUEST = 'old 3\n\nlog.example/log/1\n4\n…\n';
const SIGNAL = new AbortController().signal;
type Answer = { readonly status: number; readonly text: string; readonly breaks?: true };

let answer: Answer = { status: 200, text: '' };
const seen: { path: string; method: string; body: string; authorization: string | null }[] = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { authorization } = request.headers;
  seen.push({
    path: String(request.url),
    method: String(request.method),
    body,
    authorization: authorization === undefined ? null : authorization,
  });
  const { status, text, breaks } = answer;
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  if (breaks !== true) response.end(text);
  else response.write(text.slice(0, text.length / 2), () => response.destroy());
});
const listening = new Promise<number>((settle) => {
  server.listen(0, '127.0.0.1', () => {
    const at = server.address();
    settle(typeof at === 'object' && at !== null ? at.port : 0);
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function submitTo(said: Answer, prefix = '/prefix/') {
  answer = said;
  const url = `http://user:M4RKER@127.0.0.1:${await listening}${prefix}`;
  return witnessAt({ url, key, now: () => STILL_NOW }).submit(REQUEST, SIGNAL);
}

describe('a witness', () => {
  test('is sent the request as it is, below its prefix and with its credentials', async () => {
    for (const prefix of ['', '/', '/prefix', '/prefix/']) {
      expect((await submitTo({ status: 200, text: '— w AAAA\n' }, prefix)).checked).toBe(true);
      expect(seen.at(-1)).toEqual({
        path: `${prefix.replace(/\/$/, '')}/add-checkpoint`,
        method: 'POST',
        body: REQUEST,
        authorization: `Basic ${Buffer.from('user:M4RKER').toString('base64')}`,
      });
    }
  });

  test('that signs is read with its lines', async () => {
    const told = await submitTo({ status: 200, text: '— w AAAA\n' });
    expect(told).toMatchObject({ checked: true, value: { kind: 'signed', lines: '— w AAAA\n' } });
  });

  test.each([0, 3, 999_999])('that knows of %d leaves is read with this size', async (size) => {
    const told = await submitTo({ status: 409, text: `${size}\n` });
    expect(told).toMatchObject({ checked: true, value: { kind: 'conflict', size } });
  });

  const conflict = (text: string): Answer => ({ status: 409, text });
  test.each<[string, Answer]>([
    ['409 with nothing', conflict('')],
    ['409 with a size without its newline', conflict('3')],
    ['409 with a size that is written otherwise', conflict('03\n')],
    ['409 with a size below zero', conflict('-3\n')],
    ['409 with a size that is no safe integer', conflict('9999999999999999\n')],
    ['409 with words', conflict('Conflict\n')],
    ['403', { status: 403, text: '' }],
    ['404', { status: 404, text: '' }],
    ['422', { status: 422, text: '' }],
    ['500', { status: 500, text: 'M4RKER' }],
    ['another success', { status: 202, text: '— w AAAA\n' }],
    ['a broken connection', { status: 200, text: '— w AAAA\n', breaks: true }],
    ['more than any answer has', { status: 200, text: 'x'.repeat(65 * 1024) }],
  ])('that answers %s is unread, by its host alone', async (_, said) => {
    const told = await submitTo(said);
    if (!(told instanceof Unread)) throw new Error(`it was read: ${JSON.stringify(told)}`);
    expect(told.why.code).toBe('provider_failed');
    expect(told.why.reason).toContain(`http://127.0.0.1:${await listening}`);
    expect(told.why.reason).not.toMatch(/M4RKER|prefix/);
  });

  test('that nobody waits for any more is unread', async () => {
    const url = `http://127.0.0.1:${await listening}/`;
    const witness = witnessAt({ url, key, now: () => STILL_NOW });
    expect(await witness.submit(REQUEST, AbortSignal.abort())).toBeInstanceOf(Unread);
  });
});
