// An hour of a chain is read whole or not at all: what moved its own coin, and did not fail.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PAYMENT_KINDS } from '../../../chain/transfer.ts';
import { Read } from '../../../evidence/reading.ts';
import type { HeldRange, TransferFact } from '../../../ports/indexing.ts';
import { evm } from '../../../testing/addresses.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import type { Warehouse } from '../engine/executor.ts';
import { transferStore } from '../transfers/store.ts';
import { warehouseFlows } from './chain-flows.ts';

const CALL = { timeoutMs: 10_000 };
const TABLES = ['transfers_written', 'transfers_counted', 'transfers', 'sides', 'coverage'];
const HOUR_S = 3_600;
/** The beginning of an hour; a block comes every ten seconds, the first of the hour is 1,000. */
const FROM = 500_000 * HOUR_S;
const timeOf = (block: number) => FROM + (block - 1_000) * 10;
const SIGNAL = new AbortController().signal;
const [BOB, HOT] = [evm('bob'), evm('hot')];

let warehouse: Warehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(() => warehouse.close());
beforeEach(async () => {
  for (const table of TABLES) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
});

type Changed = Pick<TransferFact, 'chain' | 'kind' | 'from' | 'to' | 'token' | 'raw_amount'>;
function sent(
  block: number,
  over: Partial<Changed & Pick<TransferFact, 'success'>> = {},
): TransferFact {
  return {
    chain: 'ethereum',
    kind: 'native',
    tx_hash: `0x${block.toString(16).padStart(64, '0')}`,
    block,
    block_time: timeOf(block),
    block_hash: null,
    position: null,
    from: BOB,
    to: HOT,
    token: null,
    raw_amount: 70n,
    initiator: null,
    success: true,
    ...over,
  };
}

const BEFORE = sent(999);
const AFTER = sent(1_360);

async function hour(
  transfers: readonly TransferFact[],
  over: Partial<HeldRange> = {},
  kinds: readonly HeldRange['kind'][] = PAYMENT_KINDS,
) {
  const store = transferStore(warehouse, () => FROM);
  const [origin, source] = ['observed', 'tests'] as const;
  const facts = { transfers, creations: [], blocks: [], transactions: [] };
  const written = await store.appendImported(facts, { source, origin, import_id: 'tests' });
  expect(written).toBeInstanceOf(Read);
  const range = { chain: 'ethereum', from_block: 0, to_block: 2_000, source, origin } as const;
  await store.recordCoverage(
    kinds.map((kind) => ({ ...range, kind, to_time: timeOf(over.to_block ?? 2_000), ...over })),
  );
  const flows = warehouseFlows(warehouse, { now: () => FROM, simulated: false });
  return flows.hour('ethereum', FROM, { raw_amount: 100n }, SIGNAL);
}

test('an hour that is held is every pair with its sum, and its large transfers', async () => {
  const told = await hour([
    BEFORE,
    sent(1_000),
    sent(1_001, { kind: 'internal', raw_amount: 5n }),
    sent(1_002, { from: HOT, to: BOB, raw_amount: 100n }),
    sent(1_003, { success: false }),
    sent(1_004, { kind: 'token', token: evm('token') }),
    sent(1_005, { from: BOB, to: BOB }),
    sent(1_006, { chain: 'bsc' }),
    sent(1_359, { success: null }),
    AFTER,
  ]);
  if (!(told instanceof Read)) throw new Error(told.why.reason);
  const pairs = [...told.value.pairs].sort((a, b) => Number(a.raw_amount - b.raw_amount));
  expect(pairs).toEqual([
    { from: HOT, to: BOB, raw_amount: 100n, transfers: 1 },
    { from: BOB, to: HOT, raw_amount: 145n, transfers: 3 },
  ]);
  expect(told.value.large).toEqual([
    {
      tx: `0x${(1_002).toString(16).padStart(64, '0')}`,
      index: 0,
      from: HOT,
      to: BOB,
      raw_amount: 100n,
      at: timeOf(1_002),
    },
  ]);
});

test('an hour in which nothing moved is read, and has no pairs', async () => {
  const told = await hour([BEFORE, AFTER]);
  expect(told).toBeInstanceOf(Read);
  expect(told).toMatchObject({ value: { pairs: [], large: [] } });
});

test.each<readonly [string, Parameters<typeof hour>]>([
  ['nothing is held', [[BEFORE, AFTER], {}, []]],
  ['a kind of transfer is not held', [[BEFORE, AFTER], {}, ['native', 'token']]],
  ['it is held from a later block on', [[sent(1_001), AFTER], { from_block: 1_001 }]],
  ['it is held up to its middle', [[BEFORE, sent(1_100)], { to_block: 1_200 }]],
  ['no later transfer is final', [[BEFORE, sent(1_100)]]],
])('an hour is unread where %s', async (_, asked) => {
  const told = await hour(...asked);
  expect(told).toMatchObject({ checked: false, why: { code: 'flows_not_held' } });
});

test('made-up transfers are no observation of a deployment that shows real ones', async () => {
  const told = await hour([BEFORE, sent(1_000), AFTER], { origin: 'simulated' });
  expect(told).toMatchObject({ checked: false, why: { code: 'flows_not_held' } });
});
