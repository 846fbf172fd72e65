// The value of a transfer is joined when an answer is made: a correction corrects every answer. The
// routes that show USD, over one embedded warehouse and a price source on the wire.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Answer } from './contract/answer.ts';
import { type Caller, NOBODY, type RequestContext } from './contract/route.ts';
import { unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { walletBridgesHandler } from './features/bridges/wallet-bridges.route.ts';
import { walletCexHandler } from './features/exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from './features/forensics/wallet-score.route.ts';
import { walletOfacHandler } from './features/sanctions/wallet-ofac.route.ts';
import type { TransferHistory } from './ports/history.ts';
import { given, KINDS, NONE, PROVENANCE, transferFact } from './ports/transfer-store.suite.ts';
import { providerGuard } from './sources/http/provider.ts';
import { defillamaPrices } from './sources/prices/defillama.ts';
import { valuedHistory, worthsBy } from './sources/prices/priced-history.ts';
import { coveredHistory } from './stores/history/covered.ts';
import { tablePrices } from './stores/history/table-prices.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { warehouseHistory } from './stores/warehouse/history/warehouse.ts';
import { warehousePrices } from './stores/warehouse/prices.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { evm } from './testing/addresses.ts';
import { TIP_MAX_AGE_S } from './testing/clock.ts';
import { LABEL } from './testing/entity-world.ts';
import { forensicPorts } from './testing/forensic-ports.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { BRIDGE, BRIDGE_ROWS } from './testing/twins/bridges.ts';
import { listedEntry } from './testing/walked-world.ts';
import { type StartedPriceApi, startPriceApi } from './world/price-api.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const now = () => NOW;
const COIN = 10n ** 18n;
const [SUBJECT, MIDDLE, LISTED, HOT] = ['subject', 'middle', 'listed', 'hot'].map(evm) as [
  ...[string, string, string, string],
];
const FACTS = [
  transferFact(1, { from: SUBJECT, to: MIDDLE, raw_amount: COIN }),
  transferFact(2, { from: SUBJECT, to: MIDDLE, raw_amount: 2n * COIN }),
  transferFact(3, { from: MIDDLE, to: LISTED, raw_amount: COIN, initiator: MIDDLE }),
  transferFact(4, { from: SUBJECT, to: HOT, raw_amount: 3n * COIN }),
  transferFact(5, { from: SUBJECT, to: BRIDGE, raw_amount: COIN / 2n }),
].map((fact) => ({ ...fact, initiator: fact.from }));

let warehouse: EmbeddedWarehouse;
let api: StartedPriceApi;

beforeAll(async () => {
  warehouse = await freshWarehouse();
  const store = transferStore(warehouse, now);
  const facts = { ...NONE, transfers: FACTS };
  given(await store.appendImported(facts, PROVENANCE));
  const range = { chain: 'ethereum', from_block: 0, to_block: 1_000, to_time: NOW - 60 } as const;
  const whole = { ...range, source: 'test', origin: 'observed' } as const;
  given(await store.recordCoverage(KINDS.map((kind) => ({ ...whole, kind }))));
  api = await startPriceApi({ now, priceOf: (_, at) => ({ price: 2_500, timestamp: at }) });
});
afterAll(async () => {
  for (const one of [api, warehouse]) await one.close();
});
beforeEach(() => warehouse.command('TRUNCATE TABLE prices', { timeoutMs: 10_000 }));

const table = () => warehousePrices(warehouse, now, false);

/** The history of a deployment with a price source, or without. */
function historyOf(hasSource: boolean): TransferHistory {
  const limits = { callsPerS: 1_000, retriesMax: 0, backoffMs: 1, failuresMax: 100, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const options = { url: api.url, guard, now, timeMs: 5_000, callsMax: 20, simulated: false };
  const prices = tablePrices({
    table: table(),
    source: hasSource ? defillamaPrices(options) : null,
    now,
    onUnkept: (reason) => {
      throw new Error(reason);
    },
  });
  const held = valuedHistory(warehouseHistory(warehouse, now), prices);
  return coveredHistory(held, { now, tipMaxAgeS: TIP_MAX_AGE_S }, worthsBy(prices));
}

const NO_RING = unread('counterparty_ring', why('ring_unbuilt', { cause: 'a test has none' }));

type Handle = {
  call(input: object, asked: RequestContext, caller: Caller): Promise<unknown>;
}['call'];

/** Every field of the answer that is an amount of USD, by its place. */
function dollarsIn(said: unknown, place = ''): [string, number | null][] {
  if (typeof said !== 'object' || said === null) {
    const isDollars = /(^|_)usd(_|$)/.test(place.split('.').at(-1) ?? '');
    return isDollars ? [[place, said === null ? null : Number(said)]] : [];
  }
  return Object.entries(said).flatMap(([name, one]) => dollarsIn(one, `${place}.${name}`));
}

/** The answer of every route that shows USD about the subject. */
async function toldBy(history: TransferHistory): Promise<Map<string, number | null>> {
  const ports = {
    ...forensicPorts({
      listed: [listedEntry(LISTED)],
      labels: [{ ...LABEL, address: HOT }],
      bridges: BRIDGE_ROWS,
    }),
    transferHistory: history,
    // The walk goes by the same history, address by address.
    counterpartyRing: { meet: async () => NO_RING },
  };
  const routes: readonly [string, Handle, object][] = [
    ['ofac', walletOfacHandler(ports) as Handle, {}],
    ['bridges', walletBridgesHandler(ports) as Handle, { chain: 'ethereum' }],
    ['cex', walletCexHandler(ports) as Handle, {}],
    ['score', walletScoreHandler(ports) as Handle, {}],
  ];
  const told = new Map<string, number | null>();
  for (const [name, handler, query] of routes) {
    const input = { params: { address: SUBJECT }, query, body: undefined };
    const asked = { now, signal: new AbortController().signal };
    const answer = await handler(input, asked, NOBODY);
    if (!(answer instanceof Answer)) throw new Error(`${name} refused`);
    for (const [place, usd] of dollarsIn(answer.envelope(NOW).data, name)) told.set(place, usd);
  }
  return told;
}

/** Corrects the price of the coin at the time of every transfer. */
async function correct(usd: string): Promise<void> {
  const asks = FACTS.map(({ block_time }) => ({ chain: 'ethereum', token: null, at: block_time }));
  const rows = asks.map((ask) => ({
    ask: { ...ask, chain: 'ethereum' as const },
    price: { usd, basis: 'corrected by hand' },
    read_at: NOW + 1,
  }));
  given(await table().keep(rows));
}

function scaled(told: ReadonlyMap<string, number | null>, by: number) {
  return new Map([...told].map(([place, usd]) => [place, usd === null ? null : usd * by]));
}

const priced = (told: ReadonlyMap<string, number | null>, route: string) =>
  [...told].filter(([place, usd]) => place.startsWith(route) && usd !== null && usd > 0);

test('a price that is corrected in the table corrects every route that shows USD', async () => {
  const history = historyOf(true);
  const before = await toldBy(history);
  for (const route of ['ofac', 'bridges', 'cex', 'score']) {
    expect(priced(before, route).length, route).toBeGreaterThan(0);
  }
  expect(before.get('ofac.proximity.hops_detail.0.usd')).toBe(5_000);
  await correct('5000');
  expect(await toldBy(history)).toEqual(scaled(before, 2));
  // The table is all there is where no source is configured, and it is the same.
  expect(await toldBy(historyOf(false))).toEqual(scaled(before, 2));
});

test('without a price every amount of USD is null, and the unpriced are counted beside', async () => {
  const told = await toldBy(historyOf(false));
  expect([...told].filter(([, usd]) => usd !== null && usd > 0)).toEqual([]);
  expect(told.get('ofac.proximity.hops_detail.0.usd')).toBeNull();
});

test('what an earlier version stored beside a transfer is not read', async () => {
  const stored = `INSERT INTO transfers (chain, block, tx_hash, kind, from_address, to_address,
      raw_amount, n, block_time, initiator, success, priced, finality, observed)
    SELECT chain, block, tx_hash, kind, from_address, to_address, raw_amount, n, block_time,
      initiator, success, 'an old basis\n777', finality, observed FROM transfers`;
  await warehouse.command(stored, { timeoutMs: 10_000 });
  const told = await toldBy(historyOf(false));
  expect([...told].filter(([, usd]) => usd !== null && usd > 0)).toEqual([]);
});

test('SQL joins the same prices: sums by pair are exact, and null where nothing is priced', async () => {
  const sql = `SELECT toString(usd_out) AS usd, toUInt32(unpriced) AS unpriced FROM edges
    WHERE chain = 'ethereum' AND addr = unhex({addr:String}) AND peer = unhex({peer:String})`;
  const params = { addr: SUBJECT.slice(2), peer: MIDDLE.slice(2) };
  const row = z.strictObject({ usd: z.string().nullable(), unpriced: z.number() });
  const query = { timeoutMs: 10_000, row, params };
  expect(await warehouse.query(sql, query)).toEqual([{ usd: null, unpriced: 2 }]);
  await correct('2500.01');
  expect(await warehouse.query(sql, query)).toEqual([{ usd: '7500.03', unpriced: 0 }]);
});
