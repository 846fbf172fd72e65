// Through a real service and an explorer: an address beside a hub is not checked until the ring is
// whole, on every door; and a neighbour that only forged rows make busy is walked past.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { runPrinting, startProgram } from './testing/program.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const HEAD = 30_000;
const BLOCK_S = 12;
const BUSY = 5_003;
const TIMEOUT_MS = 240_000;
const POLL = { timeout: 120_000, interval: 500 };
const [BESIDE_HUB, HUB, BESIDE_FORGED, FORGED, LISTED, USDC] = [
  ...['beside a hub', 'hub', 'beside a forged hub', 'forged hub', 'listed', 'usdc'],
].map(evm) as [string, string, string, string, string, string];

const rows = new Map<string, ExplorerRow[]>();

function happened(n: number, from: string, to: string, over: Partial<ExplorerRow> = {}): void {
  const place = { tx: `0x${n.toString(16).padStart(64, '0')}`, block: 100 + n };
  const at = Math.floor(Date.now() / 1_000) - (HEAD - place.block) * BLOCK_S;
  const paid = { kind: 'native', value: 5n, token: null, success: true } as const;
  for (const one of [from, to]) {
    rows.set(one, [...(rows.get(one) ?? []), { ...paid, ...place, at, from, to, ...over }]);
  }
}

/** A row that moves nothing, by turns in the name of an address, towards it, and sent to it. */
function forge(n: number, victim: string, stranger: string): void {
  const token = { address: USDC, symbol: 'USDC', decimals: 6 };
  if (n % 3 === 0) happened(n, victim, stranger, { kind: 'token', value: 0n, token });
  else if (n % 3 === 1) happened(n, stranger, victim, { kind: 'token', value: 0n, token });
  else happened(n, stranger, victim, { value: 0n });
}

let explorer: StartedExplorer;
let live: LiveProgram;
let key: string;

beforeAll(async () => {
  happened(1, BESIDE_HUB, HUB);
  happened(2, HUB, LISTED);
  happened(3, BESIDE_FORGED, FORGED);
  happened(4, FORGED, LISTED);
  for (let n = 10; n < 10 + BUSY; n += 1) happened(n, evm(`payer ${n}`), HUB, { value: 1n });
  for (let n = 10_000; n < 10_000 + BUSY; n += 1) forge(n, FORGED, evm(`stranger ${n}`));
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => Math.floor(Date.now() / 1_000) - (HEAD - block) * BLOCK_S,
    rowsOf: (_, address) => rows.get(address) ?? [],
    rowsOfToken: () => [],
  });
  // The ring is read by the command alone, and not by itself after half a minute.
  const settings = { EXHIBIT_RING_CALLS: '0' };
  live = await startLive({ words: ['up'], listed: [LISTED], explorer, settings });
  const member = z.object({ membership_id: z.string() });
  const { membership_id } = await runPrinting(member, ['members', 'add', '--plan', 'desk'], live);
  const made = ['keys', 'create', '--membership', membership_id];
  ({ key } = await runPrinting(z.object({ key: z.string() }), made, live));
}, TIMEOUT_MS);
afterAll(async () => {
  await live.close();
  await explorer.close();
});

async function ask<S extends z.ZodType>(shape: S, path: string, body?: object) {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const said = await fetchPatiently(`${live.base()}${path}`, { ...sent, headers });
  return shape.parse(await said.json());
}

const WALKED = z.object({
  data: z.object({
    proximity_checked: z.boolean(),
    proximity: z.object({
      checked: z.boolean(),
      reason: z.string().nullable(),
      found: z.boolean().nullable(),
      path: z.array(z.string()).nullable(),
      hubs_not_expanded: z.array(z.object({ address: z.string() })).nullable(),
      hub_contacts: z
        .array(z.object({ address: z.string(), listed_address: z.string() }))
        .nullable(),
    }),
  }),
});
const HEALTH = z.object({
  ring: z.object({ chains: z.record(z.string(), z.object({ state: z.string() })) }).nullable(),
});
const PARTS = z.array(z.object({ part: z.string(), not_read: z.string().nullable() }));
const WATCHED = z.object({ watched: z.array(z.object({ parts: PARTS })) });
const BUSY_UNREAD = expect.stringContaining(`hub_unread: too busy to walk past: ${HUB}. `);

test('a neighbour that empty logs and transactions make busy is walked, before any ring is read', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { data } = await ask(WALKED, `/api/v1/wallet/${BESIDE_FORGED}/ofac`);
  expect(data.proximity).toMatchObject({
    checked: true,
    found: true,
    path: [BESIDE_FORGED, FORGED, LISTED],
  });
});

test('an address beside a hub is not checked on any door until the ring is whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const unlooked = { checked: false, reason: BUSY_UNREAD, found: null, hub_contacts: null };
  const { data } = await ask(WALKED, `/api/v1/wallet/${BESIDE_HUB}/ofac`);
  expect(data.proximity_checked).toBe(false);
  expect(data.proximity).toMatchObject({ ...unlooked, hubs_not_expanded: [{ address: HUB }] });
  await vi.waitFor(async () => {
    const { ring } = await ask(HEALTH, '/health');
    expect(ring?.chains).toMatchObject({ ethereum: { state: 'absent' } });
  }, POLL);

  const asked = ['look', BESIDE_HUB, '--part', 'ofac', '--base-url', live.base()];
  const look = await startProgram(asked, { ...live, env: { ...live.env, EXHIBIT_API_KEY: key } })
    .ended;
  expect([look.status, look.out]).toEqual([3, expect.stringContaining('"hub_unread: too busy')]);
  expect(look.out).toContain('"proximity_checked":false');

  const kept = await ask(z.object({ answer: z.string() }), '/api/v1/screens', {
    address: BESIDE_HUB,
  });
  const { data: recorded } = WALKED.parse(JSON.parse(kept.answer));
  expect(recorded.proximity).toMatchObject(unlooked);

  await ask(z.unknown(), '/api/v1/watchlist', { address: BESIDE_HUB });
  await vi.waitFor(async () => {
    const { watched } = await ask(WATCHED, '/api/v1/watchlist');
    const hops = watched[0]?.parts.find(({ part }) => part === 'hops');
    expect(hops?.not_read).toEqual(BUSY_UNREAD);
  }, POLL);

  // Many at once are held against tables alone: that denies nothing about transfers.
  const bulk = await ask(z.unknown(), '/api/v1/bulk/wallet-screen', { addresses: [BESIDE_HUB] });
  expect(JSON.stringify(bulk)).not.toMatch(/proximity|hub/);

  const reading = { EXHIBIT_RING_CALLS: '1000' };
  await live.restart(reading);
  const place = { ...live, env: { ...live.env, ...reading } };
  await runPrinting(z.unknown(), ['warehouse', 'ring', 'fill'], place);
  const chain = z.object({ chain: z.string(), state: z.string() });
  const status = z.object({ chains: z.array(chain) });
  const { chains } = await runPrinting(status, ['warehouse', 'ring', 'status'], live);
  expect(chains).toEqual([{ chain: 'ethereum', state: 'whole' }]);
  const after = await ask(WALKED, `/api/v1/wallet/${BESIDE_HUB}/ofac`);
  expect(after.data.proximity).toMatchObject({
    checked: true,
    found: false,
    hub_contacts: [{ address: HUB, listed_address: LISTED }],
  });
});

test('the start text tells by chain how far the ring is', () => {
  expect(live.out()).toMatch(/^ {2}(ethereum {2}absent: 0 of 1|not told yet: .+)$/m);
});
