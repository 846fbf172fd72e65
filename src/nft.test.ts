// An NFT is a transfer of its own kind: told by an id, never an amount, and an edge only where a
// party of its own signed. Facts of a node's logs, over one embedded warehouse, up to a walk.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseAddress } from './chain/address.ts';
import { map, Read, rowsSeen } from './evidence/reading.ts';
import { proximity, WALK_LIMITS } from './features/sanctions/walk.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import {
  given,
  hashOf,
  KINDS,
  NONE,
  PROVENANCE,
  TOKEN,
  transferFact,
} from './ports/transfer-store.suite.ts';
import { coveredHistory } from './stores/history/covered.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { warehouseHistory } from './stores/warehouse/history/warehouse.ts';
import { readDegree } from './stores/warehouse/history/warehouse-rows.ts';
import { warehouseForgetting } from './stores/warehouse/transfers/forget.ts';
import { readHeld } from './stores/warehouse/transfers/held.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { evm } from './testing/addresses.ts';
import { TIP_MAX_AGE_S } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { listedEntry, walkedPorts } from './testing/walked-world.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const now = () => NOW;
const CALL = { timeoutMs: 10_000 };
const [SUBJECT, LISTED, STRANGER] = ['subject', 'listed', 'stranger'].map(evm) as [
  ...[string, string, string],
];
const ID = 2n ** 255n + 7n;
const SENT = { kind: 'nft', token: TOKEN, from: SUBJECT, to: LISTED, raw_amount: ID } as const;

let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(async () => {
  await warehouse.close();
});
beforeEach(async () => {
  for (const table of ['transfers', 'sides', 'transactions', 'coverage']) {
    await warehouse.command(`TRUNCATE TABLE ${table}`, { timeoutMs: 10_000 });
  }
});

const store = () => transferStore(warehouse, now);
const history = () =>
  coveredHistory(warehouseHistory(warehouse, now), { now, tipMaxAgeS: TIP_MAX_AGE_S });

async function rowsOf(address: string) {
  const limits = {
    ...WALK_LIMITS,
    transfersPerCounterpartyMax: 10,
    signal: new AbortController().signal,
  };
  const reading = (await history().neighbourhoods([address], limits)).get(address);
  if (reading === undefined) throw new Error('no reading');
  const known = rowsSeen(map(reading, (one) => [one]));
  return known?.[0].counterparties.flatMap(({ transfers }) => transfers) ?? [];
}

async function walk() {
  const world = { now: NOW, transfers: [], listed: [listedEntry(LISTED)], labels: [] };
  const ports = { ...walkedPorts(world), history: history() };
  const subject = parseAddress(SUBJECT);
  if (subject === null) throw new Error('no address');
  return proximity(ports, subject, WALK_LIMITS, { signal: new AbortController().signal });
}

async function cover(kinds: readonly ('native' | 'internal' | 'token' | 'nft')[]) {
  const range = { chain: 'ethereum', from_block: 0, to_block: 1_000, to_time: NOW - 60 } as const;
  const whole = { ...range, source: 'test', origin: 'observed' } as const;
  given(await store().recordCoverage(kinds.map((kind) => ({ ...whole, kind }))));
}

test.each([
  ['its sender', SUBJECT, 1],
  ['its receiver', LISTED, 1],
  ['a stranger', STRANGER, 0],
  ['nobody who is known', null, 0],
])('signed by %s: it stands under both of its addresses, or under none', async (...of) => {
  const [, initiator, times] = of;
  const facts = { ...NONE, transfers: [transferFact(1, { ...SENT, initiator })] };
  given(await store().appendImported(facts, PROVENANCE));
  for (const address of [SUBJECT, LISTED]) {
    const rows = await rowsOf(address);
    expect(rows.map(({ kind, token, token_id, raw_amount }) => [kind, token, token_id, raw_amount]))
      // The id is all that is told of what moved: it is no amount.
      .toEqual(Array.from({ length: times }, () => ['nft', TOKEN, ID, 0n]));
  }
});

test('whose signer is learned later stands under its addresses from then on', async () => {
  const transfers = [transferFact(1, { ...SENT, initiator: null })];
  given(await store().appendImported({ ...NONE, transfers }, PROVENANCE));
  expect(await rowsOf(SUBJECT)).toEqual([]);
  const signed = { chain: 'ethereum', tx_hash: hashOf('tx', 1), initiator: SUBJECT } as const;
  const transactions = [{ ...signed, block: 1, success: true }];
  given(await store().appendImported({ ...NONE, transactions }, PROVENANCE));
  expect((await rowsOf(SUBJECT)).map(({ initiator }) => initiator)).toEqual([SUBJECT]);
});

test('two ids of one transaction are two, and the same one told twice is one', async () => {
  const ids = [ID, 8n, ID];
  const position = 4;
  const transfers = ids.map((raw_amount) =>
    transferFact(1, { ...SENT, raw_amount, position, initiator: SUBJECT }),
  );
  for (let again = 0; again < 2; again += 1) {
    given(await store().appendImported({ ...NONE, transfers }, PROVENANCE));
  }
  const told = (await rowsOf(SUBJECT)).map(({ token_id }) => String(token_id));
  expect(told.sort()).toEqual(['8', String(ID)].sort());
});

test('that the subject sent to a listed address is a way there; a gift of theirs is none', async () => {
  await cover([...KINDS, 'nft']);
  const gift = { ...SENT, from: LISTED, to: SUBJECT, initiator: LISTED };
  given(await store().appendImported({ ...NONE, transfers: [transferFact(1, gift)] }, PROVENANCE));
  const none = await walk();
  if (!(none instanceof Read)) throw new Error(none.why.reason);
  expect(none.value.found).toBeNull();
  expect(none.value.nft_not_examined).not.toContain('ethereum');
  const sent = transferFact(2, { ...SENT, initiator: SUBJECT });
  given(await store().appendImported({ ...NONE, transfers: [sent] }, PROVENANCE));
  const found = rowsSeen(map(await walk(), ({ found: way }) => [way]))?.[0];
  expect(found == null ? null : stopsOf(found.way)).toEqual([SUBJECT, LISTED]);
});

test('a walk that did not read them says so, and comes to its end all the same', async () => {
  await cover(KINDS);
  const paid = transferFact(1, { from: SUBJECT, to: STRANGER, initiator: SUBJECT });
  given(await store().appendImported({ ...NONE, transfers: [paid] }, PROVENANCE));
  const reading = await walk();
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  expect(reading.value.found).toBeNull();
  expect(reading.value.nft_not_examined).toContain('ethereum');
});

test('with whom an address exchanged them makes it no hub but where it signed for them', async () => {
  const gifts = [1, 2, 3].map((n) => {
    const from = evm(`giver ${n}`);
    return transferFact(n, { ...SENT, from, to: SUBJECT, initiator: from });
  });
  const sent = transferFact(4, { ...SENT, initiator: SUBJECT });
  given(await store().appendImported({ ...NONE, transfers: [...gifts, sent] }, PROVENANCE));
  const held = await readHeld(warehouse, CALL);
  expect((await readDegree(warehouse, held, SUBJECT, CALL)).degree).toBe(1);
});

test('is forgotten with its block, and so is what is held of its kind', async () => {
  const transfers = [1, 2].map((n) => transferFact(n, { ...SENT, block: n, initiator: SUBJECT }));
  given(await store().appendImported({ ...NONE, transfers }, PROVENANCE));
  await cover(['nft']);
  const order = { chain: 'ethereum', from_block: 2, to_block: 2 } as const;
  const forgetting = warehouseForgetting(warehouse, now, async () => undefined);
  const done = given(await forgetting.forget(order, new AbortController().signal));
  expect(done).toMatchObject({ transfers: 1, withdrawn: [{ kind: 'nft', from_block: 2 }] });
  expect((await rowsOf(SUBJECT)).map(({ block }) => block)).toEqual([1]);
  const { ranges } = await readHeld(warehouse, CALL);
  expect(ranges.map(({ kind, from_block }) => [kind, from_block])).toEqual([
    ['nft', 0],
    ['nft', 3],
  ]);
});
