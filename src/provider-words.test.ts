// Whatever an explorer says, and whichever words it repeats, no route fails, no route denies what
// was not read, and nobody is shown the key. Each message has a service of its own, since a guard
// that rests after the first hides the rest.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { runPrinting } from './testing/program.ts';
import { startExplorer } from './world/explorer-api.ts';

vi.setConfig({ testTimeout: 240_000 });
const KEY = 'Q7#z';
const SUBJECT = evm('subject');
const WINDOW =
  'Result window is too large, PageNo x Offset size must be less than or equal to 10000';

/** The words of the provider's fault table, each as status, message and result. */
const SAID: readonly (readonly [status: string, message: string, result: unknown])[] = [
  ['0', WINDOW, null],
  ['0', 'NOTOK', `Invalid API Key (#err2)|${KEY}`],
  ['0', 'NOTOK', WINDOW],
  ['0', 'NOTOK', 'Max calls per sec rate limit reached (3/sec)'],
  ['0', 'NOTOK', 'Max rate limit reached, please use API Key for higher rate limit'],
  ['0', 'NOTOK', 'Max daily rate limit reached. 100000 (100%) of 100000 day/limit'],
  ['0', 'NOTOK', 'Invalid API Key'],
  ['0', 'NOTOK', 'Too many invalid api key attempts, please try again later'],
  ['0', 'NOTOK', 'Missing or unsupported chainid parameter (required for v2 api)'],
  ['0', 'NOTOK', 'Error! Missing Or invalid Action name'],
  ['0', 'NOTOK', 'Error! Invalid address format'],
  ['0', 'NOTOK', 'Query Timeout occured. Please select a smaller result dataset'],
  ['0', 'NOTOK', 'Free API access is not supported for this chain. Please upgrade your api plan'],
  ['1', `OK-${KEY}`, 'Unexpected'],
  ['2', 'Some internal transactions are not processed yet', []],
];
/** All of them, or those that were answered with a fault, or with the key, once. */
const TRIED = process.env['EXHIBIT_TEST_ALL'] === '1' ? SAID : SAID.slice(0, 2);

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startBeside(said: (typeof SAID)[number]): Promise<LiveProgram> {
  const [status, message, result] = said;
  const provider = createServer((_, response) => {
    response.end(JSON.stringify({ status, message, result }));
  });
  await new Promise<void>((ready) => provider.listen(0, '127.0.0.1', ready));
  const { port } = provider.address() as AddressInfo;
  const unused = await startExplorer({
    headOf: () => 1,
    timeOf: () => 0,
    rowsOf: () => [],
    rowsOfToken: () => [],
  });
  const live = await startLive({
    words: ['up'],
    listed: [evm('listed')],
    explorer: unused,
    settings: {
      EXHIBIT_BLOCKSCOUT_ETHEREUM: '',
      EXHIBIT_EXPLORER_URL: `http://127.0.0.1:${port}/v2/api`,
      EXHIBIT_EXPLORER_KEY: KEY,
      EXHIBIT_ALLOW_ANONYMOUS: 'true',
      EXHIBIT_SURFACES: 'hosted,integrations,intelligence,mcp,web',
    },
  });
  closing.push(live.close, unused.close, () => {
    provider.closeAllConnections();
    provider.close();
  });
  return live;
}

const screen = z.looseObject({
  data: z.looseObject({
    proximity_checked: z.boolean(),
    proximity: z.looseObject({ checked: z.boolean() }).optional(),
  }),
});
const envelope = z.looseObject({ state: z.string(), reason: z.string().optional() });

test.each(TRIED)('an explorer that says %s, %s: %j', async (...said) => {
  const live = await startBeside(said);
  await runPrinting(z.looseObject({}), ['members', 'add', '--plan', 'desk', '--id', 'mem_1'], live);
  const made = ['keys', 'create', '--membership', 'mem_1'];
  const { key } = await runPrinting(z.looseObject({ key: z.string() }), made, live);
  const ask = async (path: string) => {
    const answer = await fetch(live.base() + path, { headers: { authorization: `Bearer ${key}` } });
    const text = await answer.text();
    expect([path, answer.status < 500 || answer.status === 503]).toEqual([path, true]);
    for (const shown of [KEY, encodeURIComponent(KEY)]) expect(text).not.toContain(shown);
    return text;
  };
  const ofac = screen.parse(JSON.parse(await ask(`/api/v1/wallet/${SUBJECT}/ofac`)));
  expect(ofac.data.proximity_checked).toBe(false);
  const bridges = envelope.parse(JSON.parse(await ask(`/api/v1/wallet/${SUBJECT}/bridges`)));
  expect(bridges.state).toBe('not_deployed');
  for (const path of [
    `/api/v1/wallet/${SUBJECT}/score`,
    `/api/v1/wallet/${SUBJECT}/cex`,
    `/api/v1/evm/deployer/ethereum/${SUBJECT}`,
    `/api/v1/token/${SUBJECT}/creator?chain=ethereum`,
    `/api/wallet/${SUBJECT}/entity`,
    `/address/${SUBJECT}`,
    '/status',
    '/health',
  ]) {
    await ask(path);
  }
});
