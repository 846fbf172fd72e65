// A second question about an address costs no call within the time that live readings hold, and
// equal questions under way are one: the running service over an explorer that counts its calls.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { joinLive, type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const HEAD = 30_000;
const MAX_MS = 400_000;
/** More transfers than are read of one address: its lists are parts each time. */
const BUSY_ROWS = 5_200;
const ROUTES = ['ofac', 'score', 'cex', 'bridges'] as const;

let explorer: StartedExplorer;
let live: LiveProgram;
let cookie: string;
let key: string;

const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12;

function row(n: number, from: string, to: string): ExplorerRow {
  const tx = `0x${n.toString(16).padStart(24, '0')}${from.slice(2)}`;
  const paid = { from, to, value: 10n ** 18n, token: null, success: true };
  return { kind: 'native', tx, block: 100 + n, at: timeOf(100 + n), ...paid };
}

const FRIENDS = Array.from({ length: BUSY_ROWS }, (_, n) => evm(`friend ${n % 3}`));
const BUSY = FRIENDS.map((friend, n) => row(n, evm('busy'), friend));

/** Each address paid a friend of its own; one paid three friends all the time. */
function rowsOf(address: string): readonly ExplorerRow[] {
  if (address === evm('busy')) return BUSY;
  return [row(1, address, evm(`friend of ${address}`))];
}

beforeAll(async () => {
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => timeOf(block),
    rowsOf: (_, address) => rowsOf(address),
    rowsOfToken: () => [],
  });
  live = await startLive({
    words: ['start', '--live'],
    listed: [evm('listed')],
    explorer,
    settings: { EXHIBIT_RING_CALLS: '0', EXHIBIT_LIVE_HOLD: '600s' },
  });
  ({ key, cookie } = await joinLive(live, 'desk'));
}, MAX_MS);
afterAll(async () => {
  await live.close();
  await explorer.close();
});

const answered = z.object({ state: z.string(), data: z.unknown() });

/** An answer, without its id and its sources. */
async function ask(path: string): Promise<z.output<typeof answered>> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetchPatiently(`${live.base()}/api/v1/wallet/${path}`, { headers });
  return answered.parse(await answer.json());
}

/** One screen of an address: each route in turn, and its dossier. */
async function screen(address: string) {
  const answers = [];
  for (const route of ROUTES) answers.push(await ask(`${address}/${route}`));
  const page = await fetchPatiently(`${live.base()}/address/${address}`, { headers: { cookie } });
  expect(page.status).toBe(200);
  await page.text();
  return answers;
}

/** Answers without when the list was last found to be in force, which the publisher is asked. */
function withoutListCheck(answers: Awaited<ReturnType<typeof screen>>): string {
  return JSON.stringify(answers).replaceAll(/("sha256":"[0-9a-f]{64}","as_of":)\d+/g, '$10');
}

test.for(['calm', 'busy'])(
  'a second screen of a %s address asks the explorer for nothing, and says the same',
  { timeout: MAX_MS },
  async (name) => {
    const first = await screen(evm(name));
    expect(first.map(({ state }) => state)).toEqual([
      'ok',
      'ok',
      'insufficient_evidence',
      'not_deployed',
    ]);
    expect(explorer.calls.some(({ address }) => address === evm(name))).toBe(true);
    const calls = explorer.calls.length;
    const second = await screen(evm(name));
    expect(explorer.calls.slice(calls)).toEqual([]);
    // What came to its end is kept, and read there.
    const told = withoutListCheck(second).replaceAll('"warehouse"', '"onchain"');
    expect(told).toBe(withoutListCheck(first));
  },
);

/** The lists that were asked for since, whosever they are. */
function listsAsked(since: number): string[] {
  const lists = explorer.calls.slice(since).filter(({ address }) => address !== null);
  return lists.map(({ action, from }) => `${action} ${from}`).sort();
}

test('equal questions under way ask the explorer as often as one', {
  timeout: MAX_MS,
}, async () => {
  const before = explorer.calls.length;
  const alone = await ask(`${evm('alone')}/ofac`);
  const ofOne = listsAsked(before);
  const from = explorer.calls.length;
  const asking = Array.from({ length: 20 }, () => ask(`${evm('together')}/ofac`));
  const answers = await Promise.all(asking);
  expect(ofOne.length).toBeGreaterThan(0);
  expect(listsAsked(from)).toEqual(ofOne);
  expect(answers.map(({ state }) => state)).toEqual(answers.map(() => alone.state));
});
