// Does `exhibit watch` show each flag once, take up where it was, and say when nobody looked?

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseConfig } from '../../config.ts';
import { ran } from '../../testing/recording-io.ts';
import { watchCommand } from './watch.command.ts';

type Connection = { readonly url: string; readonly token: string | undefined };

let cwd: string;
let server: Server;
let base: string;
let asked: Connection[];
/** The script of the stand-in service, one step for each connection. */
let script: ((response: ServerResponse, request: IncomingMessage) => void)[];
let stop: AbortController;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-watch-'));
  asked = [];
  script = [];
  stop = new AbortController();
  server = createServer((request, response) => {
    asked.push({ url: String(request.url), token: request.headers.authorization });
    const step = script[asked.length - 1];
    if (step === undefined) stop.abort();
    else step(response, request);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(cwd, { recursive: true, force: true });
});

type Body = { readonly type: string; readonly seq?: number; readonly [name: string]: unknown };

const event = (body: Body) =>
  `${body.seq === undefined ? '' : `id: ${body.seq}\n`}data: ${JSON.stringify(body)}\n\n`;
const WELCOME = {
  type: 'welcome',
  seq: 0,
  heartbeat_s: 15,
  replay: { from: null, to: null, oldest: null },
  gap: null,
  chains: ['solana'],
  unknown_chains: [],
};
const flag = (seq: number, more: object = {}) => ({
  type: 'flag',
  seq,
  chain: 'solana',
  address: 'So11111111111111111111111111111111111111112',
  token: 'Mint1',
  model_version: 'rug-1',
  simulated: false,
  score: 0.93,
  evidence: 'Of 14 earlier launches 13 died.',
  flagged_at: '2026-11-21T12:00:00.000Z',
  ...more,
});

/** Says these messages and then breaks the line. */
function says(...messages: readonly Body[]) {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(messages.map(event).join(''));
  };
}

function refuses(status: number, body: object) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

const watch = (line: string, env: { readonly [name: string]: string } = {}) =>
  ran(
    `watch ${line}`,
    [watchCommand],
    { started: parseConfig(env, { cwd }) },
    { cwd, signal: stop.signal },
  );

describe('says', () => {
  test('each flag on a line of its own, in columns, and what was taken back', async () => {
    const taken = {
      type: 'retraction',
      seq: 2,
      chain: 'ethereum',
      address: `0x${'1'.repeat(40)}`,
      token: '0x2',
      model_version: 'rug-1',
      simulated: true,
      retracts: 1,
      reason: 'The block of its creation left the chain.',
      retracted_at: '2026-11-21T12:01:00.000Z',
    };
    script = [says(WELCOME, flag(1), taken)];
    const { lines: out, errors: err, status } = await watch(`--base-url ${base} --token sct_x`);
    expect(out).toEqual([
      '     SEQ  AT                    CHAIN      ADDRESS                                        SCORE  EVIDENCE',
      '       1  2026-11-21T12:00:00Z  solana     So11111111111111111111111111111111111111112    0.930  Of 14 earlier launches 13 died. Token Mint1.',
      `       2  2026-11-21T12:01:00Z  ethereum   0x${'1'.repeat(40)}         –  Takes 1 back: The block of its creation left the chain. Token 0x2. (simulated)`,
    ]);
    expect(err).toEqual([
      `Watching ${base}.`,
      `${base} cannot be read: nobody is looking until it can.`,
    ]);
    expect(status).toBe(3);
  });

  test('that launches may go unseen, so that quiet says nothing, and when they are watched again', async () => {
    const unwatched = 'the venue is away';
    script = [says({ ...WELCOME, unwatched }, { type: 'window', unwatched: null }, flag(1))];
    const { errors: err } = await watch(`--base-url ${base}`);
    expect(err).toEqual([
      `Watching ${base}.`,
      'Launches may go unseen, so that quiet says nothing: the venue is away',
      'Launches are watched again.',
      `${base} cannot be read: nobody is looking until it can.`,
    ]);
  });

  test('where it was after a break, what it can no longer have, and that nobody looked', async () => {
    script = [
      says(WELCOME, flag(1), flag(2)),
      refuses(503, { error: 'The log of flags could not be read: it is gone.' }),
      says({ ...WELCOME, seq: 8, gap: { from: 3, to: 8 } }, flag(9)),
    ];
    const { lines: out, errors: err } = await watch(
      `--base-url ${base} --chain solana --chain base --since 0`,
    );
    expect(out.slice(1).map((line) => Number(line.slice(0, 8)))).toEqual([1, 2, 9]);
    expect(err).toEqual([
      `Watching ${base}.`,
      `${base} cannot be read: nobody is looking until it can.`,
      `Watching again ${base}.`,
      'Events 3 to 8 can no longer be had: what they told is not here.',
      `${base} cannot be read: nobody is looking until it can.`,
    ]);
    expect(asked.map(({ url }) => url)).toEqual([
      '/sse/flags?chains=solana%2Cbase&since=0',
      '/sse/flags?chains=solana%2Cbase&since=2',
      '/sse/flags?chains=solana%2Cbase&since=2',
      '/sse/flags?chains=solana%2Cbase&since=9',
    ]);
  });

  test('one message a line with --json, breaks and gaps too', async () => {
    const gap = { type: 'gap', from: 2, to: 4 };
    script = [says(WELCOME, flag(1), gap, flag(5))];
    const { lines: out } = await watch(`--base-url ${base} --json`);
    expect(out.map((line): unknown => JSON.parse(line))).toEqual([
      WELCOME,
      flag(1),
      gap,
      flag(5),
      { type: 'broken', refusal: null },
    ]);
  });

  test('no character that moves a cursor, whatever a flag holds', async () => {
    script = [says(WELCOME, flag(1, { evidence: 'a\u001b[2Jb' }))];
    const { lines: out } = await watch(`--base-url ${base}`);
    expect(out[1]).toContain('a�[2Jb');
  });
});

describe('sends', () => {
  test('the token of a file, and that of the setting to the configured service alone', async () => {
    writeFileSync(join(cwd, 't'), 'sct_of_a_file\n');
    script = [says(WELCOME)];
    await watch(`--base-url ${base} --token-file t`);
    expect(asked[0]?.token).toBe('Bearer sct_of_a_file');
    const setting = { EXHIBIT_INTELLIGENCE_TOKENS: 'pro:sct_of_the_setting' };
    stop = new AbortController();
    asked = [];
    await watch('', { ...setting, EXHIBIT_PUBLIC_URL: base });
    expect(asked[0]?.token).toBe('Bearer sct_of_the_setting');
    stop = new AbortController();
    asked = [];
    await watch(`--base-url ${base}`, setting);
    expect(asked[0]?.token).toBeUndefined();
  });
});

describe('refuses', () => {
  test('what the service refuses, once, with its words', async () => {
    script = [refuses(401, { error: 'unauthorized', reason: 'No token was sent.' })];
    const { errors: err, status } = await watch(`--base-url ${base}`);
    expect(err).toEqual([`${base} refused: HTTP 401: unauthorized.`]);
    expect([status, asked.length]).toEqual([3, 1]);
  });

  test.each([
    ['--chain dogecoin', '--chain takes one of: ethereum,'],
    ['--since x', '--since takes a whole number'],
    ['--token-file nowhere', '--token-file cannot be read.'],
    ['--base-url ftp://a', '--base-url takes'],
  ])('%s', async (line, words) => {
    const { errors: err, status } = await watch(line);
    expect(err.join()).toContain(words);
    expect(status).toBe(2);
  });
});
