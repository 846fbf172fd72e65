// What flowed into exchanges and out of them in an hour, and the large transfers of it, from what a
// chain shows and from labels. Transfers between exchanges are in neither sum.

import { matchKey } from '../../chain/address.ts';
import { formatUnits, multiplyDecimals } from '../../chain/amount.ts';
import { CHAINS, type EvmChainName, homeChain } from '../../chain/chain.ts';
import { HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { listOrNone, slices } from '../../evidence/measure.ts';
import { map, Read, type Reading, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import type { ChainFlows, HourOfFlows } from '../../ports/chain-flows.ts';
import {
  CANDLE_MS,
  MARKET_VENUES,
  type NetFlow,
  type SeriesSpan,
  type SeriesStore,
  type WhaleTransfer,
} from '../../ports/series.ts';
import { spansWithout } from '../../ports/series-coverage.ts';
import type { ExchangeLabel, ExchangeLabels, LabelLookUp } from '../../ports/tables.ts';

/** US dollars from which on a transfer is a large one. */
export const WHALE_USD = '1000000';

/** The addresses of an hour, each once. */
export function partiesOf({ pairs, large }: HourOfFlows): readonly string[] {
  return [...new Set([...pairs, ...large].flatMap(({ from, to }) => [from, to]))];
}

/** The exchange of an address on a chain; `null`: no label of an exchange is held. */
export function exchangeAt(
  { found }: Pick<LabelLookUp, 'found'>,
  chain: EvmChainName,
  address: string,
): string | null {
  const labels = found.get(matchKey(address));
  const own = labels?.find((label) => label.chain === null || label.chain === chain);
  return own === undefined ? null : own.entity;
}

/** What an hour of a chain is read with. */
export type FlowsOf = {
  readonly chain: EvmChainName;
  /** The beginning of the hour, in Unix seconds. */
  readonly from: number;
  /** US dollars for one coin in that hour. */
  readonly price: string;
  readonly labels: Pick<LabelLookUp, 'found'>;
};

/** The sums of an hour. */
export function sumFlows({ pairs }: HourOfFlows, { chain, from, price, labels }: FlowsOf): NetFlow {
  let [into, out, transfers] = [0n, 0n, 0];
  for (const pair of pairs) {
    const isFrom = exchangeAt(labels, chain, pair.from) !== null;
    const isTo = exchangeAt(labels, chain, pair.to) !== null;
    if (isFrom === isTo) continue;
    if (isTo) into += pair.raw_amount;
    else out += pair.raw_amount;
    transfers += pair.transfers;
  }
  const [in_amount, out_amount] = [coins(chain, into), coins(chain, out)];
  return {
    at: from * MS_PER_S,
    interval_s: HOUR_S,
    in_amount,
    out_amount,
    in_usd: multiplyDecimals(in_amount, price),
    out_usd: multiplyDecimals(out_amount, price),
    transfers,
  };
}

/** The large transfers of an hour. */
export function listWhales(
  { large }: HourOfFlows,
  { chain, price, labels }: FlowsOf,
): readonly WhaleTransfer[] {
  return large.map(({ at, tx, index, from, to, raw_amount }) => {
    const amount = coins(chain, raw_amount);
    return {
      at: at * MS_PER_S,
      chain,
      tx,
      index,
      from,
      to,
      amount,
      usd: multiplyDecimals(amount, price),
      from_label: exchangeAt(labels, chain, from),
      to_label: exchangeAt(labels, chain, to),
    };
  });
}

function coins(chain: EvmChainName, raw: bigint): string {
  return formatUnits(raw, CHAINS[chain].native.decimals);
}

/** The least raw amount that is worth `WHALE_USD` at a price above zero, to a thousandth. */
export function whaleAmount(chain: EvmChainName, price: string): bigint {
  const unit = 10n ** BigInt(CHAINS[chain].native.decimals);
  const priced = BigInt(Math.max(1, Math.floor(Number(price) * SCALE)));
  return (BigInt(WHALE_USD) * BigInt(SCALE) * unit) / priced;
}

const SCALE = 1_000_000;

/** What the hours of chains are observed with. */
export type ChainObserving = {
  readonly flows: ChainFlows;
  readonly labels: ExchangeLabels;
  readonly store: SeriesStore;
  readonly assets: readonly string[];
  readonly origin: ImportOrigin;
  readonly now: () => UnixSeconds;
  /** The hour of an asset before which rounds go on; rounds change it. */
  readonly reached: Map<string, number>;
};

/** So far back hours are completed: past what a detector compares. */
const BACK_MS = 15 * 24 * CANDLE_MS;
/** A round tries the newest hours, and so many older ones from where the last round ended. */
const NEWEST_A_ROUND = 2;
const OLDER_A_ROUND = 10;
/** Addresses of one look-up. */
const LOOK_UP_MAX = 5_000;
const VENUE = 'chain' as const;

/** Keeps the flows of hours that are over and not kept; what cannot be read stays a hole. */
export async function observeChains(
  parts: ChainObserving,
  signal: AbortSignal,
): Promise<Why | null> {
  let fault: Why | null = null;
  for (const of of parts.assets) {
    const chain = homeChain(of);
    if (chain === null) continue;
    const open = await openHours(parts, of, signal);
    if ('reason' in open) return open;
    for (const from of hoursOfRound(parts.reached, of, open.hours)) {
      if (signal.aborted) return fault;
      const told = await keepHour(parts, { of, chain, from }, signal);
      if (told !== null) fault = told;
    }
  }
  return fault;
}

/** The hours that a round tries: many that cannot be read keep it from none that can. */
function hoursOfRound(
  reached: ChainObserving['reached'],
  of: string,
  open: readonly number[],
): readonly number[] {
  const older = open.slice(NEWEST_A_ROUND);
  const before = reached.get(of);
  const left = before === undefined ? older : older.filter((hour) => hour < before);
  const tried = (left.length === 0 ? older : left).slice(0, OLDER_A_ROUND);
  const last = tried.at(-1);
  if (last !== undefined) reached.set(of, last);
  return [...open.slice(0, NEWEST_A_ROUND), ...tried];
}

/** The hours that are not kept, the newest first, in Unix seconds. */
async function openHours(
  { store, now }: ChainObserving,
  of: string,
  signal: AbortSignal,
): Promise<{ readonly hours: readonly number[] } | Why> {
  const to = Math.floor((now() * MS_PER_S) / CANDLE_MS) * CANDLE_MS;
  const span: SeriesSpan = { from: to - BACK_MS, to };
  const held = await store.read({ venue: VENUE, series: 'net_flow', of }, span, { signal });
  if (held instanceof Unread && held.why.code !== 'series_not_held') return held.why;
  const rows = listOrNone(rowsSeen(map(held, (told) => told.rows)));
  const kept = rows.map(({ at }) => ({ from: at, to: at + CANDLE_MS }));
  const hours = spansWithout(span, kept).flatMap((hole) => {
    const count = (hole.to - hole.from) / CANDLE_MS;
    return Array.from({ length: count }, (_, n) => (hole.from + n * CANDLE_MS) / MS_PER_S);
  });
  return { hours: hours.reverse() };
}

type HourOf = { readonly of: string; readonly chain: EvmChainName; readonly from: number };

/** Keeps one hour; the reason why it was not. An hour without a price is not told in dollars. */
async function keepHour(
  parts: ChainObserving,
  { of, chain, from }: HourOf,
  signal: AbortSignal,
): Promise<Why | null> {
  const price = await priceOf(parts.store, of, from, signal);
  if (price === null) return null;
  const large = { raw_amount: whaleAmount(chain, price) };
  const hour = await parts.flows.hour(chain, from, large, signal);
  // Most chains are not held: that is a hole, and nothing to tell each round.
  if (hour instanceof Unread) return hour.why.code === 'flows_not_held' ? null : hour.why;
  const labels = await labelsOf(parts.labels, partiesOf(hour.value));
  if (labels instanceof Unread) return labels.why;
  const flows = { chain, from, price, labels: labels.value };
  const at = from * MS_PER_S;
  const observed = {
    covered: [{ from: at, to: at + CANDLE_MS }],
    received_at: parts.now() * MS_PER_S,
    source: 'warehouse:',
    origin: parts.origin,
  };
  const whales = listWhales(hour.value, flows);
  const names = { venue: VENUE, of };
  const keptLarge = await parts.store.add(
    { ...names, series: 'whale_transfers' },
    whales,
    observed,
  );
  if (keptLarge instanceof Unread) return keptLarge.why;
  const sum = sumFlows(hour.value, flows);
  const kept = await parts.store.add({ ...names, series: 'net_flow' }, [sum], observed);
  return kept instanceof Unread ? kept.why : null;
}

/** The open of the asset's candle of an hour at the first venue that has it. */
async function priceOf(
  store: SeriesStore,
  of: string,
  from: number,
  signal: AbortSignal,
): Promise<string | null> {
  const at = from * MS_PER_S;
  for (const venue of MARKET_VENUES) {
    const span = { from: at, to: at + CANDLE_MS };
    const told = await store.read({ venue, series: 'candles', of }, span, { signal });
    const [candle] = listOrNone(rowsSeen(map(told, ({ rows }) => rows)));
    if (candle !== undefined) return candle.open;
  }
  return null;
}

/** The labels of many addresses; all of them, or none. */
async function labelsOf(
  labels: ExchangeLabels,
  addresses: readonly string[],
): Promise<Reading<Pick<LabelLookUp, 'found'>, 'exchange_labels'>> {
  const found = new Map<string, readonly ExchangeLabel[]>();
  // An hour of nobody asks for nobody: the table has to be readable all the same.
  const first = await labels.lookUp(addresses.slice(0, LOOK_UP_MAX));
  if (!(first instanceof Read)) return first;
  for (const [address, told] of first.value.found) found.set(address, told);
  for (const some of slices(addresses.slice(LOOK_UP_MAX), LOOK_UP_MAX)) {
    const told = await labels.lookUp(some);
    if (!(told instanceof Read)) return told;
    for (const [address, own] of told.value.found) found.set(address, own);
  }
  return map(first, () => ({ found }));
}
