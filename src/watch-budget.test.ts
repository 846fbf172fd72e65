// Watchlists take what paid requests leave of a provider, by turns of their memberships, and no
// list waits for their walks: the running service over an explorer that refuses a sixth call a
// second.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { runPrinting } from './testing/program.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const HEAD = 30_000;
/** What the explorer answers in a second: the plan of a Blockscout instance, and one for jitter. */
const CALLS_PER_S = 6;
const MANY = 20;
const LISTED = evm('listed');
const ASK = { timeout: 120_000, interval: 250 };
const MAX_MS = 400_000;

let explorer: StartedExplorer;
let live: LiveProgram;
let isHanging = false;

const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12;

/** Each address paid a friend of its own, and nobody else. */
function rowsOf(address: string): readonly ExplorerRow[] {
  const tx = `0x${address.slice(2).padStart(64, '0')}`;
  const paid = { from: address, to: evm(`friend of ${address}`), value: 10n ** 18n };
  const row = { kind: 'native', tx, block: 100, at: timeOf(100), ...paid } as const;
  return [{ ...row, token: null, success: true }];
}

beforeAll(async () => {
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => timeOf(block),
    rowsOf: (_, address) => rowsOf(address),
    rowsOfToken: () => [],
  });
  const lately: number[] = [];
  explorer.fault(() => {
    if (isHanging) return 'timeout';
    const now = performance.now();
    lately.push(now);
    return lately.filter((at) => at > now - 1_000).length > CALLS_PER_S ? 'rate-limited' : null;
  });
  live = await startLive({
    words: ['start', '--live'],
    listed: [LISTED],
    explorer,
    settings: { EXHIBIT_RING_CALLS: '0' },
  });
}, MAX_MS);
afterAll(async () => {
  await live.close();
  await explorer.close();
});

const watched = z.object({
  watched: z.array(
    z.object({ address: z.string(), parts: z.array(z.object({ part: z.string() })) }),
  ),
});
const changes = z.object({ changes: z.array(z.object({ part: z.string(), change: z.string() })) });

/** A member of its own: the client of its key. */
async function member() {
  const made = await runPrinting(z.object({ membership_id: z.string() }), ADD, live);
  const words = ['keys', 'create', '--membership', made.membership_id];
  const { key } = await runPrinting(z.object({ key: z.string() }), words, live);
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetchPatiently(`${live.base()}/api/v1${path}`, { headers, ...sent })).json();
  };
  return {
    ask,
    watch: async (addresses: readonly string[]) => {
      for (const address of addresses) await ask('/watchlist', { address });
    },
    /** Those of its addresses that were walked. */
    walked: async () => {
      const { watched: all } = watched.parse(await ask('/watchlist'));
      return all.filter(({ parts }) => parts.some(({ part }) => part === 'hops'));
    },
    changes: async () => changes.parse(await ask('/watchlist/changes?limit=500')).changes,
  };
}
const ADD = ['members', 'add', '--plan', 'desk'];

const screened = z.object({
  state: z.literal('ok'),
  data: z.object({ proximity_checked: z.boolean(), proximity: z.record(z.string(), z.unknown()) }),
});

test(
  'a paid screen under a flood of watches is answered as without, and memberships take turns',
  async () => {
    const [many, few, paid] = [await member(), await member(), await member()];
    const screen = async (name: string) =>
      screened.parse(await paid.ask(`/wallet/${evm(name)}/ofac`)).data;
    const alone = await screen('alone');
    expect(alone.proximity).toMatchObject({ checked: true, found: false, hops_examined: 2 });

    const ofMany = Array.from({ length: MANY }, (_, i) => evm(`of many ${i}`));
    const ofFew = ['one', 'two'].map((name) => evm(`of few ${name}`));
    await many.watch(ofMany);
    await few.watch(ofFew);
    await vi.waitFor(async () => expect(await many.walked()).not.toHaveLength(0), ASK);
    const from = explorer.calls.length;
    const flooded = await screen('flooded');
    expect(flooded).toEqual(alone);
    // Its own calls go first: what watches ask between its first and its last is what it leaves
    // while it waits for answers. The newest block is asked for all.
    const own = new Set([evm('flooded'), evm(`friend of ${evm('flooded')}`)]);
    const asked = explorer.calls.slice(from).flatMap(({ address }) => address ?? []);
    const isOwn = asked.map((address) => own.has(address));
    const during = isOwn.slice(isOwn.indexOf(true), isOwn.lastIndexOf(true) + 1);
    expect(during.filter((one) => !one).length).toBeLessThan(2 * during.filter(Boolean).length);

    await vi.waitFor(async () => expect(await few.walked()).toHaveLength(ofFew.length), ASK);
    expect((await many.walked()).length).toBeLessThan(MANY / 2);

    // A walk that hangs keeps no table waiting: all are told while others are not walked yet.
    isHanging = true;
    const labels = join(live.cwd, 'labels.csv');
    const rows = [...ofMany, ...ofFew].map((address) => `${address},Exemplar\n`);
    await writeFile(labels, ['address,entity\n', ...rows].join(''));
    await runPrinting(z.unknown(), ['labels', 'import', labels, '--source', 'tests'], live);
    const before = (await many.walked()).length;
    const entered = { part: 'exchange_labels', change: 'entered' };
    await vi.waitFor(async () => {
      expect(await many.changes()).toEqual(ofMany.map(() => entered));
      expect(await few.changes()).toEqual(ofFew.map(() => entered));
    }, ASK);
    expect((await many.walked()).length - before).toBeLessThan(2);
    isHanging = false;
  },
  MAX_MS,
);
