import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAYMENT_KINDS } from '../../../chain/transfer.ts';
import { map, Part, Read, rowsSeen, Unread } from '../../../evidence/reading.ts';
import type { HeldRange, TransferFact } from '../../../ports/indexing.ts';
import { evm } from '../../../testing/addresses.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import type { Warehouse } from '../engine/executor.ts';
import { transferStore } from '../transfers/store.ts';
import { warehousePaidTo } from './paid-to.ts';

const _MIGRATIONS = fileURLToPath(new URL('../../../../migrations/warehouse', import.meta.url));
const CALL = { timeoutMs: 10_000 };
const TABLES = [
  ...['transfers_written', 'transfers_counted', 'transfers', 'sides', 'coverage'],
  'address_coverage',
];

const NOW = 1_900_000_000;
const HOUR_S = 3_600;
/** A block comes every ten seconds, and the newest that is held now. */
const HEAD = 10_000;
const timeOf = (block: number) => NOW - (HEAD - block) * 10;
const TOKEN = evm('token');
const BOB = evm('bob');
const POOL = evm('pool');

let warehouse: Warehouse;

beforeAll(async () => {
  warehouse = await freshWarehouse();
});

afterAll(async () => {
  await warehouse.close();
});

type Changed = Pick<TransferFact, 'chain' | 'kind' | 'from' | 'to' | 'token' | 'raw_amount'>;
function paid(
  block: number,
  over: Partial<Changed & Pick<TransferFact, 'success'>> = {},
): TransferFact {
  return {
    chain: 'base',
    kind: 'token',
    tx_hash: `0x${block.toString(16).padStart(64, '0')}`,
    block,
    block_time: timeOf(block),
    block_hash: null,
    position: null,
    from: POOL,
    to: BOB,
    token: TOKEN,
    raw_amount: 70n,
    initiator: null,
    success: true,
    ...over,
  };
}

type Ranges = readonly Partial<HeldRange>[];
/** Every kind of the whole chain, each with what is changed. */
const WHOLE: Ranges = PAYMENT_KINDS.map((kind) => ({ kind }));

type World = {
  readonly transfers?: readonly TransferFact[];
  readonly ranges?: Ranges;
  readonly origin?: 'observed' | 'simulated';
};

async function hold({ transfers = [], ranges = WHOLE, origin = 'observed' }: World) {
  for (const table of TABLES) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  const store = transferStore(warehouse, () => NOW);
  const source = 'tests';
  const facts = { transfers, creations: [], blocks: [], transactions: [] };
  const written = await store.appendImported(facts, { source, origin, import_id: 'tests' });
  if (!(written instanceof Read)) throw new Error(written.why.reason);
  const whole = { chain: 'base', from_block: 0, to_block: HEAD, source, origin } as const;
  const held = ranges.map((over): HeldRange => {
    const range = { ...whole, kind: 'token' as const, ...over };
    return { ...range, to_time: timeOf(range.to_block) };
  });
  await store.recordCoverage(held);
}

async function told(world: World, since = timeOf(5_000), until = NOW + HOUR_S) {
  await hold(world);
  return asked(since, until);
}

function asked(since: number, until: number, signal = new AbortController().signal) {
  const limits = { now: () => NOW, tipMaxAgeS: HOUR_S, timeMs: 10_000 };
  const { paidTo } = warehousePaidTo(warehouse, limits);
  return paidTo({ chain: 'base', recipient: BOB, since, until }, signal);
}

describe('what an address was paid', () => {
  test('is every kind of payment between both moments, oldest first, and nothing else', async () => {
    const transfers = [
      paid(7_000, { kind: 'internal', token: null, raw_amount: 5n }),
      paid(6_000),
      paid(4_999),
      paid(9_001),
      paid(6_001, { from: BOB, to: POOL }),
      paid(6_002, { to: POOL, from: evm('other') }),
      paid(6_003, { success: false }),
      paid(6_004, { chain: 'ethereum' }),
      paid(6_005, { kind: 'nft', raw_amount: 1n }),
    ];
    const reading = await told({ transfers }, timeOf(5_000), timeOf(9_000));
    if (!(reading instanceof Read)) throw new Error(String(reading.why.reason));
    const [first, second] = [transfers[1], transfers[0]];
    expect(reading.value).toEqual({
      head_time: NOW,
      payments: [
        ...[{ tx: first?.tx_hash, block: 6_000, at: timeOf(6_000), from: POOL, token: TOKEN }],
        ...[{ tx: second?.tx_hash, block: 7_000, at: timeOf(7_000), from: POOL, token: null }],
      ].map((one, i) => ({ ...one, amount: i === 0 ? 70n : 5n })),
    });
  });

  test('is read whole of imports that begin before it and reach past its end', async () => {
    const late = PAYMENT_KINDS.map((kind) => ({ kind, from_block: 4_000, to_block: 9_500 }));
    const world = { transfers: [paid(4_500, { to: POOL, from: evm('other') })], ranges: late };
    const reading = await told(world, timeOf(5_000), timeOf(9_000));
    if (!(reading instanceof Read)) throw new Error(String(reading.why.reason));
    expect(reading.value).toEqual({ payments: [], head_time: timeOf(9_500) });
  });
});

describe('a part, that denies nothing, is what is told', () => {
  const of = (over: Partial<HeldRange>) => PAYMENT_KINDS.map((kind) => ({ kind, ...over }));
  const first = paid(4_500, { to: POOL, from: evm('other') });

  test.each<readonly [string, World, string]>([
    ['where nothing is held in full', { ranges: [] }, 'arrivals_not_held'],
    [
      'without what moves inside transactions',
      { ranges: [{ kind: 'native' }, { kind: 'token' }] },
      'arrivals_not_held',
    ],
    [
      'where the newest blocks are missing',
      { ranges: of({ to_block: 9_000 }) },
      'arrivals_not_held',
    ],
    [
      'where the first blocks are missing',
      { ranges: of({ from_block: 5_500 }), transfers: [paid(5_600)] },
      'arrivals_not_held',
    ],
    [
      'where blocks between are missing',
      { ranges: [...of({ to_block: 6_000 }), ...of({ from_block: 6_002 })], transfers: [first] },
      'arrivals_not_held',
    ],
    ['of another chain’s blocks', { ranges: of({ chain: 'bsc' }) }, 'arrivals_not_held'],
    ['where it is made up', { origin: 'simulated' }, 'simulated'],
  ])('%s', async (_, { transfers = [], ...world }, code) => {
    const reading = await told({ ...world, transfers: [...transfers, paid(6_500)] });
    expect(reading instanceof Part ? reading.why.code : reading).toBe(code);
    const shown = rowsSeen(map(reading, ({ payments }) => payments));
    expect(shown?.map(({ block }) => block)).toContain(6_500);
  });

  test('where there are more payments than are read', async () => {
    const transfers = Array.from({ length: 201 }, (_, n) => paid(6_000 + n));
    const reading = await told({ transfers });
    expect(reading instanceof Part ? reading.why.code : reading).toBe('payments_cut');
  });
});

test('it is unread where the warehouse does not answer, or nobody waits for it', async () => {
  const late = await asked(timeOf(5_000), NOW, AbortSignal.abort());
  expect(late instanceof Unread ? late.why.code : late).toBe('store_unreadable');
});
