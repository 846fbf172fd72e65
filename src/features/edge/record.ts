// The record of calls and the candles that price them, held in arrays, so that a question about all
// of it costs milliseconds. It is read anew by what changed since, and by the hours that came.

import { DAY_S, HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { both, map, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type CountedEmission,
  DETECTOR_KINDS,
  type DetectorKind,
  type EmittedCalls,
  type EmittedCallsPort,
  type KeptVersion,
  type RanSpan,
} from '../../ports/emitted-calls.ts';
import {
  CANDLE_MS,
  type Candle,
  type Kept,
  type SeriesPort,
  type SeriesStore,
} from '../../ports/series.ts';

/** A call as the record holds it, without what only one who looks at it alone needs. */
export type RecordedCall = Omit<CountedEmission, 'features'>;

/** An asset at the venue whose candles price its calls. */
export type Instrument = Pick<RecordedCall, 'venue' | 'asset'>;

export const OPEN = 0;
export const CLOSED = 1;
export const WITHOUT_PRICE = 2;

/**
 * The calls in columns, by emission. Hours count from 1970; those of a call that is not closed are
 * -1. Returns are fractions.
 */
export type CallColumns = {
  /** The place in `DETECTOR_KINDS`. */
  readonly kind: Uint8Array;
  /** The place in the instruments of the record. */
  readonly instrument: Uint16Array;
  /** 1 is long, -1 short. */
  readonly direction: Int8Array;
  readonly conviction: Float64Array;
  readonly horizon: Uint16Array;
  readonly emitted: Float64Array;
  readonly state: Uint8Array;
  readonly closedAt: Float64Array;
  readonly entryHour: Int32Array;
  readonly exitHour: Int32Array;
  readonly entry: Float64Array;
  readonly exit: Float64Array;
  readonly gross: Float64Array;
  readonly funding: Float64Array;
};

/**
 * The hourly opens of an instrument from the first hour of the record on; an hour that nobody read
 * carries the open before it. `moves` is the return of each hour, `unreadBefore` the number of
 * hours before each that nobody read.
 */
export type HourlyPrices = {
  readonly opens: Float64Array;
  readonly moves: Float64Array;
  readonly unreadBefore: Uint32Array;
};

export type RanSpans = { readonly [K in DetectorKind]: readonly RanSpan[] };

export type EdgeRecord = {
  readonly calls: readonly RecordedCall[];
  readonly columns: CallColumns;
  /** The places of the closed calls by the hour of their entry, then as they stand. */
  readonly byEntry: Uint32Array;
  readonly instruments: readonly Instrument[];
  readonly prices: readonly HourlyPrices[];
  readonly versions: readonly KeptVersion[];
  readonly ran: RanSpans;
  /** The last full hour that the record reaches, in Unix seconds; `null`: it has not begun. */
  readonly as_of: UnixSeconds | null;
  /** The hour with which prices begin. */
  readonly fromHour: number;
  readonly simulated: boolean;
  /** Answers that were made of this very record, by their questions. */
  readonly made: Map<string, unknown>;
};

/** The record as a question needs it: plain data, which another thread can be sent. */
export type RecordColumns = Omit<EdgeRecord, 'calls' | 'made' | 'simulated'>;

/** The opens of an instrument by hour since 1970, for those that were read. */
export type Opens = ReadonlyMap<number, number>;

export type RecordParts = {
  readonly calls: readonly RecordedCall[];
  readonly versions: readonly KeptVersion[];
  readonly ran: RanSpans;
  readonly opensOf: (instrument: Instrument) => Opens;
};

const HOUR_MS = HOUR_S * MS_PER_S;

/** The last full hour that some calls and runs reach; `null`: there is none. */
export function recordReach({
  calls,
  ran,
}: Pick<RecordParts, 'calls' | 'ran'>): UnixSeconds | null {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { emitted_at, outcome } of calls) {
    newest = Math.max(newest, emitted_at);
    if (outcome.state !== 'open') newest = Math.max(newest, outcome.closed_at);
  }
  for (const kind of DETECTOR_KINDS) {
    for (const { to } of ran[kind]) newest = Math.max(newest, to);
  }
  return Number.isFinite(newest) ? Math.floor(newest / HOUR_S) * HOUR_S : null;
}

/** The first hour that the record speaks of, since 1970. */
function firstHourOf({ calls, ran }: Pick<RecordParts, 'calls' | 'ran'>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { emitted_at } of calls) first = Math.min(first, emitted_at);
  for (const kind of DETECTOR_KINDS)
    for (const { from } of ran[kind]) first = Math.min(first, from);
  return Math.floor(first / HOUR_S);
}

/** What identifies an instrument in a map. */
export function instrumentName({ venue, asset }: Instrument): string {
  return `${venue} ${asset}`;
}

/** Puts a record into arrays. */
export function buildRecord(parts: RecordParts): EdgeRecord {
  const calls = [...parts.calls].sort((a, b) => a.emitted_at - b.emitted_at || a.leaf - b.leaf);
  const as_of = recordReach(parts);
  const places = new Map<string, number>();
  const instruments: Instrument[] = [];
  for (const { venue, asset } of calls) {
    const name = instrumentName({ venue, asset });
    if (places.has(name)) continue;
    places.set(name, instruments.length);
    instruments.push({ venue, asset });
  }
  const fromHour = as_of === null ? NO_HOUR : firstHourOf(parts);
  const hours = as_of === null ? 1 : Math.max(1, as_of / HOUR_S - fromHour);
  const columns = columnsOf(calls, places);
  return {
    calls,
    columns,
    byEntry: entriesOf(columns),
    instruments,
    prices: instruments.map((one) => pricesOf(parts.opensOf(one), fromHour, hours)),
    versions: parts.versions,
    ran: parts.ran,
    as_of,
    fromHour,
    simulated: calls.some(({ simulated }) => simulated),
    made: new Map(),
  };
}

const NO_HOUR = 0;

/** Memory that another thread sees, so that no question copies the record. */
function sharedBytes(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

function columnsOf(calls: readonly RecordedCall[], places: ReadonlyMap<string, number>) {
  const n = calls.length;
  const floats = (first: number) => new Float64Array(sharedBytes(n * 8)).fill(first);
  const columns: CallColumns = {
    kind: new Uint8Array(sharedBytes(n)),
    instrument: new Uint16Array(sharedBytes(n * 2)),
    direction: new Int8Array(sharedBytes(n)),
    conviction: floats(0),
    horizon: new Uint16Array(sharedBytes(n * 2)),
    emitted: floats(0),
    state: new Uint8Array(sharedBytes(n)),
    closedAt: floats(Number.NaN),
    entryHour: new Int32Array(sharedBytes(n * 4)).fill(-1),
    exitHour: new Int32Array(sharedBytes(n * 4)).fill(-1),
    entry: floats(Number.NaN),
    exit: floats(Number.NaN),
    gross: floats(Number.NaN),
    funding: floats(Number.NaN),
  };
  for (const [at, call] of calls.entries()) {
    const { outcome } = call;
    columns.kind[at] = DETECTOR_KINDS.indexOf(call.kind);
    columns.instrument[at] = Number(places.get(instrumentName(call)));
    columns.direction[at] = call.direction === 'long' ? 1 : -1;
    columns.conviction[at] = Number(call.conviction);
    columns.horizon[at] = call.horizon_h;
    columns.emitted[at] = call.emitted_at;
    if (outcome.state === 'open') continue;
    columns.closedAt[at] = outcome.closed_at;
    columns.state[at] = outcome.state === 'closed' ? CLOSED : WITHOUT_PRICE;
    if (outcome.state !== 'closed') continue;
    const entryHour = Math.floor(outcome.entry_at_ms / HOUR_MS);
    columns.entryHour[at] = entryHour;
    // The last price of a delisted asset may stand within an hour, which the call held to its end.
    columns.exitHour[at] = Math.max(entryHour + 1, Math.ceil(outcome.exit_at_ms / HOUR_MS));
    columns.entry[at] = Number(outcome.entry);
    columns.exit[at] = Number(outcome.exit);
    columns.gross[at] = Number(outcome.gross_return);
    columns.funding[at] = Number(outcome.funding_paid);
  }
  return columns;
}

/** Orders the closed calls by one number each, which sorts without a comparison of its own. */
function entriesOf({ state, entryHour }: CallColumns): Uint32Array {
  const keys = new Float64Array(state.length);
  let count = 0;
  for (let at = 0; at < state.length; at += 1) {
    if (state[at] !== CLOSED) continue;
    keys[count] = Number(entryHour[at]) * CALLS_MAX + at;
    count += 1;
  }
  const places = new Uint32Array(sharedBytes(count * 4));
  places.set(
    keys
      .subarray(0, count)
      .sort()
      .map((key) => key % CALLS_MAX),
  );
  return places;
}

function pricesOf(opens: Opens, fromHour: number, hours: number): HourlyPrices {
  const held = new Float64Array(sharedBytes(hours * 8));
  const unreadBefore = new Uint32Array(sharedBytes((hours + 1) * 4));
  let last = Number.NaN;
  for (let hour = 0; hour < hours; hour += 1) {
    const open = opens.get(fromHour + hour);
    unreadBefore[hour + 1] = Number(unreadBefore[hour]) + (open === undefined ? 1 : 0);
    if (open !== undefined) last = open;
    held[hour] = last;
  }
  const moves = new Float64Array(sharedBytes(hours * 8));
  for (let hour = 0; hour + 1 < hours; hour += 1) {
    const move = Number(held[hour + 1]) / Number(held[hour]) - 1;
    moves[hour] = Number.isNaN(move) ? 0 : move;
  }
  return { opens: held, moves, unreadBefore };
}

// The record is one for all questions of a process. Whoever asks while it is being read waits for
// that reading.

export type RecordPorts = {
  readonly emittedCalls: Pick<EmittedCalls, 'changedSince' | 'versions' | 'ran'>;
  readonly marketSeries: Pick<SeriesStore, 'read'>;
};
/** The record with the readings that it rests on, or why it could not be read. */
export type RecordRead =
  | {
      readonly record: Read<EdgeRecord, EmittedCallsPort>;
      /** The candles of each instrument, in the order of the record's. */
      readonly candles: readonly Partly<unknown, SeriesPort>[];
    }
  | { readonly silent: Why };
/** Without its candles a record tells what was said, and what each call came to. */
export type RecordForm = 'priced' | 'unpriced';
export type EdgeRecords = (form: RecordForm) => Promise<RecordRead>;

const PAGE = 5_000;
/** A reading is shared by whoever waits for it, so that it has a bound of its own. */
const READ_MAX_MS = 20_000;
/** Calls that a process holds: beyond it nothing is answered, rather than a part of the record. */
const CALLS_MAX = 1_000_000;

/** Keeps the record current: each reading reads what changed. */
export function keepRecord(
  { emittedCalls, marketSeries }: RecordPorts,
  elapsedMs: () => number,
): EdgeRecords {
  const calls = new Map<string, RecordedCall>();
  const readCandles = keepCandles(marketSeries, elapsedMs);
  let place = 0;
  const kept = new Map<RecordForm, { readonly key: string; readonly record: EdgeRecord }>();
  const underWay = new Map<RecordForm, Promise<RecordRead>>();
  let changing: Promise<Partly<number, EmittedCallsPort>> | null = null;

  const readChanges = async (): Promise<Partly<number, EmittedCallsPort>> => {
    for (;;) {
      const page = await emittedCalls.changedSince(place, PAGE);
      if (!(page instanceof Read)) return map(page, () => place);
      const { calls: rows, place: next } = page.value;
      for (const { features: _, ...call } of rows) calls.set(call.call_id, call);
      if (calls.size > CALLS_MAX) throw new RangeError('the record of calls is over its bound');
      place = next;
      if (rows.length === 0) return map(page, () => next);
    }
  };

  const readChangesOnce = (): Promise<Partly<number, EmittedCallsPort>> => {
    if (changing === null) {
      changing = readChanges().finally(() => {
        changing = null;
      });
    }
    return changing;
  };

  const readAll = async (form: RecordForm): Promise<RecordRead> => {
    const changes = await readChangesOnce();
    const [versions, ran] = [await emittedCalls.versions(), await emittedCalls.ran()];
    const read = both({ changes, versions, ran });
    if (!(read instanceof Read)) return { silent: read.why };
    const held = { calls: [...calls.values()], ran: read.value.ran };
    const priced =
      form === 'unpriced'
        ? UNPRICED_RECORD
        : await readCandles(held, AbortSignal.timeout(READ_MAX_MS));
    if ('silent' in priced) return priced;
    const key = JSON.stringify([place, read.value.versions.length, read.value.ran, priced.round]);
    const known = kept.get(form);
    const { opensOf } = priced;
    const record =
      known !== undefined && known.key === key
        ? known.record
        : buildRecord({ ...held, versions: read.value.versions, opensOf });
    kept.set(form, { key, record });
    return { record: map(read, () => record), candles: priced.readingsOf(record.instruments) };
  };

  return (form) => {
    const known = underWay.get(form);
    if (known !== undefined) return known;
    const reading = readAll(form).finally(() => underWay.delete(form));
    underWay.set(form, reading);
    return reading;
  };
}

/**
 * Candles of the last hours are read anew: a venue may give them late, and what it corrects is
 * asked for again until two weeks after the longest horizon (720 hours).
 */
const ANEW_H = 44 * 24;
/**
 * Candles with holes are read anew after a minute, and all of them after a day, whatever hour the
 * record reaches: processes that began to read at other times come to say the same.
 */
const HOLED_ANEW_MS = 60_000;
const ALL_ANEW_MS = DAY_S * MS_PER_S;

type HeldCandles = {
  readonly opens: Map<number, number>;
  readonly from: number;
  readonly to: number;
  /** When all of them are due to be read anew, on a clock of this process. */
  readonly anewAtMs: number;
  /** Of the whole span, as it was last read. */
  readonly whole: Partly<unknown, SeriesPort>;
};
type PricedRecord =
  | {
      readonly opensOf: (instrument: Instrument) => Opens;
      readonly readingsOf: (
        instruments: readonly Instrument[],
      ) => readonly Partly<unknown, SeriesPort>[];
      /** Another number: other candles. */
      readonly round: number;
    }
  | { readonly silent: Why };

const UNPRICED_RECORD: PricedRecord = {
  opensOf: () => new Map(),
  readingsOf: () => [],
  round: 0,
};

/** Holds the opens of every instrument that was called, from the first hour of the record on. */
function keepCandles(series: RecordPorts['marketSeries'], elapsedMs: () => number) {
  const held = new Map<string, HeldCandles>();
  let round = 0;

  const readInstrument = async (
    instrument: Instrument,
    span: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<Why | null> => {
    const name = instrumentName(instrument);
    const known = held.get(name);
    const now = elapsedMs();
    const isHeld = known !== undefined && known.from <= span.from && known.to >= span.to;
    if (isHeld && now < known.anewAtMs) return null;
    const isTail =
      known !== undefined &&
      known.from <= span.from &&
      known.whole instanceof Read &&
      now < known.anewAtMs;
    const from = isTail ? Math.max(span.from, known.to - ANEW_H) : span.from;
    const reading = await series.read(
      { venue: instrument.venue, series: 'candles', of: instrument.asset },
      { from: from * HOUR_MS, to: span.to * HOUR_MS },
      { signal },
    );
    // An asset without any candle is priced by nobody; a store that does not answer is silent.
    if (reading instanceof Unread && reading.why.code !== 'series_not_held') {
      if (!isHeld) return reading.why;
      // What was read stands until it can be read anew.
      held.set(name, { ...known, anewAtMs: now + HOLED_ANEW_MS });
      return null;
    }
    const opens = isTail ? known.opens : new Map<number, number>();
    for (const { at, open } of candlesSeen(reading)) {
      opens.set(Math.floor(at / CANDLE_MS), Number(open));
    }
    const anewAtMs = now + (reading instanceof Read ? ALL_ANEW_MS : HOLED_ANEW_MS);
    const isSooner = isTail && known.anewAtMs < anewAtMs;
    held.set(name, {
      opens,
      ...span,
      anewAtMs: isSooner ? known.anewAtMs : anewAtMs,
      whole: reading,
    });
    // Answers that were made of the same candles stand.
    if (!isHeld || !isSame(known.opens, opens)) round += 1;
    return null;
  };

  return async (
    record: Pick<RecordParts, 'calls' | 'ran'>,
    signal: AbortSignal,
  ): Promise<PricedRecord> => {
    const as_of = recordReach(record);
    if (as_of !== null) {
      const from = firstHourOf(record);
      const span = { from, to: Math.max(from + 1, as_of / HOUR_S) };
      const instruments = new Map(record.calls.map((one) => [instrumentName(one), one]));
      for (const one of instruments.values()) {
        const silent = await readInstrument(one, span, signal);
        if (silent !== null) return { silent };
      }
    }
    const candlesUnder = (instrument: Instrument): HeldCandles => {
      const found = held.get(instrumentName(instrument));
      if (found === undefined) throw new RangeError('an instrument whose candles nobody read');
      return found;
    };
    return {
      opensOf: (instrument) => candlesUnder(instrument).opens,
      readingsOf: (those) => those.map((one) => candlesUnder(one).whole),
      round,
    };
  };
}

function isSame(one: Opens, other: Opens): boolean {
  if (one.size !== other.size) return false;
  for (const [hour, open] of one) if (other.get(hour) !== open) return false;
  return true;
}

function candlesSeen(
  reading: Partly<{ readonly rows: readonly Kept<Candle>[] }, SeriesPort>,
): readonly Kept<Candle>[] {
  return listOrNone(rowsSeen(map(reading, ({ rows }) => rows)));
}
