// What became of a call: entered at the open of the first candle after it, left at the open of the
// first one after its horizon, less the funding that it paid. The first outcome stays; what a later
// revision of the venue makes of it stands beside it.

import { addDecimals, divideDecimals, multiplyDecimals } from '../../chain/amount.ts';
import { DAY_S, HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  CallClosing,
  EmissionOutcome,
  EmissionStore,
  EmittedCall,
} from '../../ports/emitted-calls.ts';
import type {
  Candle,
  Kept,
  Listing,
  SeriesGathering,
  SeriesKind,
  SeriesSpan,
  SeriesStore,
} from '../../ports/series.ts';
import { settledHour } from '../../ports/series-coverage.ts';
import { type Cut, cutOf } from './observations.ts';

const HOUR_MS = HOUR_S * MS_PER_S;
/** A candle begins so soon after a time that it tells the price then. */
const CANDLE_LATE_MS = 2 * HOUR_MS;
/** Venues stamp a settlement so long after its hour. */
const STAMPED_LATE_MS = HOUR_MS / 2;
/** What is not whole so long after the horizon will not become so. */
const UNREAD_AFTER_S = 7 * DAY_S;
/** Revisions are looked for so long after a call was closed. */
const REVISED_WITHIN_S = 14 * DAY_S;
/** Due calls that are read at once, and pages of them; one that waits holds up none behind it. */
const PAGE_CALLS = 200;
const PAGES_MAX = 100;
/** Closed calls among which revised ones are looked for. */
const RECHECKED_MAX = 20_000;
const HOURS_A_DAY = 24;
const RETURN_DIGITS = 12;

/** What a call is closed by. */
export type ClosingEvidence = {
  readonly candles: Cut<'candles'>;
  readonly funding: Cut<'funding'>;
  readonly listings: Cut<'listings'>;
};

type Closable = Pick<EmittedCall, 'asset' | 'venue' | 'direction' | 'emitted_at' | 'horizon_h'>;
const OPEN: EmissionOutcome = { state: 'open' };

/** When a call was emitted, and when its horizon ends, in milliseconds. */
function endsOf({ emitted_at, horizon_h }: Closable) {
  const from = emitted_at * MS_PER_S;
  return { from, until: from + horizon_h * HOUR_MS };
}

/** The outcome of a call by what is known now; open where something may still come. */
export function closeCall(
  call: Closable,
  { candles, funding, listings }: ClosingEvidence,
  now: UnixSeconds,
): EmissionOutcome {
  const { from, until } = endsOf(call);
  if (now * MS_PER_S < until + CANDLE_LATE_MS) return OPEN;
  const isGivenUp = now >= until / MS_PER_S + UNREAD_AFTER_S;
  const unpricedIf = (isKnown: boolean, cause: 'no_entry_candle' | 'no_exit_candle') =>
    isKnown || isGivenUp ? outcomeWithout(cause, now) : OPEN;
  const entry = firstFrom(candles, from);
  if (entry === null) {
    return unpricedIf(isWholeIn(candles, { from, to: from + CANDLE_LATE_MS }), 'no_entry_candle');
  }
  // A candle of a hole before it could be an earlier one.
  if (!isWholeIn(candles, { from, to: entry.at })) return unpricedIf(false, 'no_entry_candle');
  const exit = exitOf({ candles, listings }, entry.at, until);
  if (exit === null) {
    const late = { from: until, to: until + CANDLE_LATE_MS };
    const isKnown = isWholeIn(candles, late) && isWholeIn(listings, late);
    return unpricedIf(isKnown, 'no_exit_candle');
  }
  if (!exit.delisted && !isWholeIn(candles, { from: until, to: exit.at })) {
    return unpricedIf(false, 'no_exit_candle');
  }
  const held = { from: entry.at, to: exit.delisted ? exit.at : exit.at + STAMPED_LATE_MS };
  if (!isWholeIn(funding, held)) return isGivenUp ? outcomeWithout('funding_unread', now) : OPEN;
  return {
    state: 'closed',
    entry_at_ms: entry.at,
    entry: entry.open,
    exit_at_ms: exit.at,
    exit: exit.price,
    gross_return: grossReturn(call.direction, entry.open, exit.price),
    funding_paid: fundingPaid(call.direction, funding, { from: entry.at, to: exit.at }),
    delisted: exit.delisted,
    closed_at: now,
    restated: null,
  };
}

function outcomeWithout(
  cause: Extract<EmissionOutcome, { readonly state: 'unpriced' }>['cause'],
  now: UnixSeconds,
): EmissionOutcome {
  return { state: 'unpriced', cause, closed_at: now };
}

function isWholeIn<S extends SeriesKind>({ holes }: Cut<S>, { from, to }: SeriesSpan): boolean {
  return !holes.some((hole) => hole.from < to && hole.to > from);
}

function firstFrom({ rows }: Cut<'candles'>, from: number): Kept<Candle> | null {
  const first = rows.find(({ at }) => at >= from && at <= from + CANDLE_LATE_MS);
  return first === undefined ? null : first;
}

type Exit = { readonly at: number; readonly price: string; readonly delisted: boolean };

/** Where a position is left: at the end of its horizon, or where its asset was taken off before. */
function exitOf(
  { candles, listings }: Pick<ClosingEvidence, 'candles' | 'listings'>,
  entryAt: number,
  until: number,
): Exit | null {
  const off = takenOff(listings, until);
  if (off !== null && off.at > entryAt) {
    const before = candles.rows.findLast(({ at }) => at < off.at);
    const price = off.price === null ? before?.close : off.price;
    return price === undefined ? null : { at: off.at, price, delisted: true };
  }
  const candle = firstFrom(candles, until);
  return candle === null ? null : { at: candle.at, price: candle.open, delisted: false };
}

/** Since when an asset did not trade any more at a time; `null`: it traded, or nobody knows. */
function takenOff({ rows }: Cut<'listings'>, until: number): Kept<Listing> | null {
  let off: Kept<Listing> | null = null;
  for (const row of rows.filter(({ at }) => at <= until)) {
    if (row.state === 'trading') off = null;
    else if (off === null) off = row;
  }
  return off;
}

function grossReturn(direction: Closable['direction'], entry: string, exit: string): string {
  const change = addDecimals(divideDecimals(exit, entry, RETURN_DIGITS), '-1');
  return direction === 'long' ? change : multiplyDecimals(change, '-1');
}

/** Settlements of the hours after the entry, up to that of the exit: long pays a positive rate. */
function fundingPaid(
  direction: Closable['direction'],
  { rows }: Cut<'funding'>,
  { from, to }: SeriesSpan,
): string {
  const paid = rows
    .filter(({ at }) => settledHour(at) > from && settledHour(at) <= to)
    .reduce((sum, { rate }) => addDecimals(sum, rate), '0');
  return direction === 'long' ? paid : multiplyDecimals(paid, '-1');
}

export type ClosingParts = {
  readonly store: EmissionStore;
  readonly series: Pick<SeriesStore, 'read'>;
  /** Completes candles and funding from their venue first. */
  readonly gather: SeriesGathering['gather'];
  readonly now: () => UnixSeconds;
};

/** How many calls came to an outcome, and how many outcomes were restated. */
export type SettleCounts = { readonly settled: number; readonly restated: number };

/**
 * Settles the calls that have come to their end, and looks for revisions of some that were closed
 * lately: once an hour, so that each of these is looked at once a day.
 */
export async function settleCalls(
  parts: ClosingParts,
  epoch: number,
  signal: AbortSignal,
): Promise<SettleCounts | Why> {
  const at = parts.now();
  let settled = 0;
  let after = FROM_THE_FIRST;
  for (let page = 0; page < PAGES_MAX && !signal.aborted; page += 1) {
    const due = await parts.store.undecided(at, after, PAGE_CALLS);
    if (!due.checked) return due.why;
    for (const call of due.value) {
      const done = await settleCall(parts, call, { at, epoch }, signal);
      if (typeof done !== 'boolean') return done;
      settled += Number(done);
    }
    const last = due.value.at(-1);
    if (last === undefined || due.value.length < PAGE_CALLS) break;
    after = { due: last.emitted_at + last.horizon_h * HOUR_S, leaf: last.leaf };
  }
  const restated = await restateClosed(parts, epoch, signal);
  return typeof restated === 'number' ? { settled, restated } : restated;
}

/** Whether a call came to an outcome. */
async function settleCall(
  parts: ClosingParts,
  call: EmittedCall,
  { at, epoch }: { readonly at: UnixSeconds; readonly epoch: number },
  signal: AbortSignal,
): Promise<boolean | Why> {
  const evidence = await closingEvidence(parts, call, signal);
  if ('reason' in evidence) return evidence;
  const outcome = closeCall(call, evidence, at);
  if (outcome.state === 'open') return false;
  const kept = await parts.store.settle(call.call_id, outcome, epoch);
  return kept.checked ? kept.value : kept.why;
}

const FROM_THE_FIRST = { due: 0, leaf: -1 };
const BEFORE_ALL = -1;

async function restateClosed(
  parts: ClosingParts,
  epoch: number,
  signal: AbortSignal,
): Promise<number | Why> {
  const { store, now } = parts;
  const at = now();
  const closed = await store.closed(at - REVISED_WITHIN_S, BEFORE_ALL, RECHECKED_MAX);
  if (!closed.checked) return closed.why;
  let restated = 0;
  const turn = Math.floor(at / HOUR_S) % HOURS_A_DAY;
  for (const call of closed.value.filter(({ leaf }) => leaf % HOURS_A_DAY === turn)) {
    if (signal.aborted) break;
    const gather: ClosingParts['gather'] = (name, span, until) =>
      parts.gather(name, span, until, 'all');
    const evidence = await closingEvidence({ ...parts, gather }, call, signal);
    if ('reason' in evidence) return evidence;
    const closing = revisedClosing(call, closeCall(call, evidence, at));
    if (closing === null) continue;
    const kept = await store.restate(call.call_id, { ...closing, restated_at: at }, epoch);
    if (!kept.checked) return kept.why;
    restated += Number(kept.value);
  }
  return restated;
}

const CLOSING_FIELDS = [
  ...(['entry_at_ms', 'entry', 'exit_at_ms', 'exit', 'gross_return', 'funding_paid'] as const),
  'delisted',
] as const;

/** What a closed call came to by newer words of the venue; `null`: the same as was last said. */
function revisedClosing({ outcome }: EmittedCall, again: EmissionOutcome): CallClosing | null {
  if (outcome.state !== 'closed' || again.state !== 'closed') return null;
  const last: CallClosing = outcome.restated === null ? outcome : outcome.restated;
  if (CLOSING_FIELDS.every((field) => last[field] === again[field])) return null;
  const { state: _, closed_at: __, restated: ___, ...closing } = again;
  return closing;
}

/** What a call is closed by, completed from its venue; a reason: a store could not be read. */
export async function closingEvidence(
  { series, gather }: Pick<ClosingParts, 'series' | 'gather'>,
  call: Closable,
  signal: AbortSignal,
): Promise<ClosingEvidence | Why> {
  const { from, until } = endsOf(call);
  const { venue, asset: of } = call;
  const hours = { from: Math.floor(from / HOUR_MS) * HOUR_MS, to: until + CANDLE_LATE_MS };
  const names = {
    candles: { venue, series: 'candles', of },
    funding: { venue, series: 'funding', of },
    listings: { venue, series: 'listings', of },
  } as const;
  const candles = (await gather(names.candles, hours, signal)).reading;
  const funding = (await gather(names.funding, hours, signal)).reading;
  const states = { from: 0, to: until + CANDLE_LATE_MS };
  const listings = await series.read(names.listings, states, { signal });
  const fault = [candles, funding, listings].find(
    (one) => one instanceof Unread && one.why.code !== 'series_not_held',
  );
  if (fault instanceof Unread) return fault.why;
  return {
    candles: cutOf(names.candles, candles, hours),
    funding: cutOf(names.funding, funding, hours),
    listings: cutOf(names.listings, listings, states),
  };
}
