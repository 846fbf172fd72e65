// An attacker who makes a neighbour look busy hides no path: logs in its name and worthless tokens
// count for nothing, and a neighbour that thousands pay dust is shown beside the listed address.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { map, Read, rowsSeen } from './evidence/reading.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import type { HistoryTransfer } from './ports/history.ts';
import type { Warehouse } from './stores/warehouse/engine/executor.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { importTransfers, must, recordHeld, ringWorld } from './testing/ring-world.ts';
import { memoryTransfer } from './testing/twins/history.ts';

const FORGED = 5_001;
const TIMEOUT_MS = 120_000;
const [SUBJECT, FRIEND, OTHER, LISTED, FORGER, TOKEN] = [
  ...['me', 'friend', 'other friend', 'listed', 'forger', 'worthless'],
].map(evm) as [string, string, string, string, string, string];

let warehouse: Warehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
}, TIMEOUT_MS);
afterAll(() => warehouse.close());

/** One transfer of each of some thousand strangers, to whom or from whom one is made to deal. */
function forged(
  what: number,
  make: (stranger: string) => readonly [from: string, to: string],
  over: Partial<HistoryTransfer>,
): HistoryTransfer[] {
  return Array.from({ length: FORGED }, (_, n) => {
    const [from, to] = make(evm(`stranger ${what} ${n}`));
    return memoryTransfer(what * 10_000 + n, from, to, over);
  });
}

test('a neighbour that is made to look busy', { timeout: TIMEOUT_MS }, async () => {
  const { store, walk, list } = await ringWorld(warehouse);
  list([LISTED]);
  const real = [
    memoryTransfer(1, SUBJECT, FRIEND),
    memoryTransfer(2, FRIEND, LISTED),
    memoryTransfer(3, SUBJECT, OTHER),
  ];
  await importTransfers(store, real);
  await recordHeld(store, 'ethereum', null);
  const walked = async () => {
    const said = await walk({ subject: SUBJECT });
    const one = rowsSeen(map(said, (value) => [value]))?.[0];
    if (one === undefined) throw new Error('test: nothing was seen');
    const { found, hub_contacts_count, hubs_count, nodes_examined, ring } = one;
    const path = found === null ? null : stopsOf(found.way);
    const whole = ring instanceof Read;
    return { path, hub_contacts_count, hubs_count, nodes_examined, whole, one, said };
  };
  const told = ({ one: _, said: __, ...rest }: Awaited<ReturnType<typeof walked>>) => rest;
  const before = told(await walked());
  expect(before.path).toEqual([SUBJECT, FRIEND, LISTED]);

  const inItsName = { kind: 'token', token: TOKEN, raw_amount: 0n, initiator: FORGER } as const;
  await importTransfers(
    store,
    forged(1, (stranger) => [FRIEND, stranger], inItsName),
  );
  await importTransfers(
    store,
    forged(2, (stranger) => [OTHER, stranger], inItsName),
  );
  expect(told(await walked())).toEqual(before);

  const worthless = { token: TOKEN, has_market: false, symbol: null, decimals: null } as const;
  must(await store.recordTokens([{ ...worthless, chain: 'ethereum', read_at: STILL_NOW }]));
  await importTransfers(
    store,
    forged(3, (stranger) => [stranger, FRIEND], { ...inItsName, raw_amount: 5n }),
  );
  expect(told(await walked())).toEqual(before);

  // Dust of value is no forgery: who deals with thousands is no link, but is shown.
  await importTransfers(
    store,
    forged(4, (stranger) => [stranger, FRIEND], { raw_amount: 1n }),
  );
  const dusted = await walked();
  expect(told(dusted)).toEqual({ ...before, path: null, hub_contacts_count: 1, hubs_count: 1 });
  expect(dusted.one.hub_contacts).toMatchObject([
    { address: FRIEND, degree: FORGED + 2, listed_address: LISTED, transfer: { tx: real[1]?.tx } },
  ]);
});
