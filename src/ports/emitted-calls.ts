// Calls of the detectors of this service: what was said of an asset, on which observations, and
// what became of it. A call is only added, and its first outcome stays.
//
// Prices, returns, rates and convictions are decimal text; times are Unix seconds unless a name
// ends in `_ms`.

import { z } from 'zod';
import type { Reading } from '../evidence/reading.ts';
import type { FlagDispatch } from './integrations.ts';
import { MARKET_VENUES } from './series.ts';
import { storedWord } from './stored-word.ts';

/** The name of this port in readings and contracts. */
export type EmittedCallsPort = 'emitted_calls';

/** The kinds of detector, in the contract's words. */
export const DETECTOR_KINDS = ['funding', 'liq', 'netflow', 'whale'] as const;
export type DetectorKind = (typeof DETECTOR_KINDS)[number];

export const DIRECTIONS = ['long', 'short'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** An asset as its venue writes it, in letters and digits: `BTC`, `kPEPE`. */
export const callAsset = z.string().regex(/^[A-Za-z0-9]{1,20}$/);

const seconds = z.int().nonnegative();
const ms = z.int();
/** Decimal text with an optional sign, without an exponent. */
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
/** A share from 0 to 1 as decimal text. */
const share = z.string().regex(/^(0(\.\d+)?|1(\.0+)?)$/);
const hex32 = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]);

/** A detector as it ran: its parameters never change under one version, which is a leaf first. */
export const detectorVersion = z.strictObject({
  /** `<kind>-<number>`: `funding-1`. */
  version: z.string().regex(/^(funding|liq|netflow|whale)-[0-9]{1,6}$/),
  kind: z.enum(DETECTOR_KINDS),
  /** The conviction from which on a call is emitted: the live bar. */
  bar: share,
  /** Of one asset and direction one call is emitted in each window of this length. */
  cooldown_h: z.int().positive(),
  horizon_h: z.int().min(1).max(720),
  /** Decimal text by the names that the detector gives them. */
  parameters: z.record(z.string(), z.string()).readonly(),
  /** The rule in words. */
  text: z.string().min(1),
});
export type DetectorVersion = z.output<typeof detectorVersion>;
/** A version with the Keccak of its canonical form, which its leaf holds. */
export type HashedVersion = DetectorVersion & { readonly hash: string };
export type KeptVersion = HashedVersion & {
  readonly leaf: number;
  readonly in_force_from: number;
};

/** An observation on which a call rests. It was received before the call was emitted. */
export const callInput = z.strictObject({
  venue: z.string(),
  series: z.string(),
  /** The asset, or the account or chain, of the series. */
  of: z.string(),
  at_ms: ms,
  received_at_ms: ms,
  revision: z.int().nonnegative(),
  value: z.string(),
});
export type CallInput = z.output<typeof callInput>;

/** What a call says, as it is hashed for the log. */
export const emissionStatement = z.strictObject({
  kind: z.enum(DETECTOR_KINDS),
  asset: callAsset,
  /** The venue whose candles price it. */
  venue: z.enum(MARKET_VENUES),
  direction: z.enum(DIRECTIONS),
  conviction: share,
  /** The last mark that was received by `emitted_at`. */
  price: decimal,
  emitted_at: seconds,
  horizon_h: z.int().min(1).max(720),
  detector_version: z.string(),
  bar: share,
  /** The number of the cooldown window: `floor(emitted_at / (cooldown_h * 3600))`. */
  window: seconds,
  inputs: z.array(callInput).min(1).max(500).readonly(),
  /** What the ranker may rest on; `null` is unmeasured. */
  features: z.record(z.string(), decimal.nullable()).readonly(),
  simulated: z.boolean(),
});
export type EmissionStatement = z.output<typeof emissionStatement>;

/** Why a call has no return. */
export const UNPRICED_CAUSES = ['no_entry_candle', 'no_exit_candle', 'funding_unread'] as const;

const closing = z.strictObject({
  /** Open of the first candle that begins at or after the emission, and its beginning. */
  entry_at_ms: ms,
  entry: decimal,
  /** The same at the end of the horizon, or the last price of a delisted asset. */
  exit_at_ms: ms,
  exit: decimal,
  /** direction × (exit ÷ entry − 1), before funding and cost. */
  gross_return: decimal,
  /** Funding that the position paid while it was held, a fraction; received is negative. */
  funding_paid: decimal,
  /** Settled at the last price, since the venue took the asset off while it was held. */
  delisted: z.boolean(),
});
export type CallClosing = z.output<typeof closing>;

/** What became of a call. */
export const emissionOutcome = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('open') }),
  z.strictObject({
    state: z.literal('closed'),
    ...closing.shape,
    closed_at: seconds,
    /** The same by a later revision of the venue; the first stays in force. `null`: none came. */
    restated: closing.extend({ restated_at: seconds }).nullable(),
  }),
  z.strictObject({
    state: z.literal('unpriced'),
    cause: storedWord(UNPRICED_CAUSES),
    closed_at: seconds,
  }),
]);
export type EmissionOutcome = z.output<typeof emissionOutcome>;

/** A call as it is kept: the Keccak of its canonical statement, and its leaf in the log. */
export const emittedCall = emissionStatement.extend({
  call_id: z.string().regex(/^call_[0-9a-f]{32}$/),
  hash: hex32,
  leaf: seconds,
  outcome: emissionOutcome,
});
export type EmittedCall = z.output<typeof emittedCall>;

/** A call without what only one who looks at it alone needs. */
export type CountedEmission = Omit<EmittedCall, 'inputs' | 'hash'>;

/** From `from` on, up to `to` without it, in Unix seconds. */
export type RanSpan = { readonly from: number; readonly to: number };

/** The record of calls for whoever reads it. */
export type EmittedCalls = {
  /**
   * Calls that were added or changed (their outcome became another) behind a place, in the order of
   * places, of `limit` changes at most; a place is never given twice. Readers hold the record in
   * memory by it: they ask behind the place that they got, until it stays.
   */
  readonly changedSince: (
    place: number,
    limit: number,
  ) => Promise<
    Reading<
      { readonly calls: readonly CountedEmission[]; readonly place: number },
      EmittedCallsPort
    >
  >;
  readonly find: (call_id: string) => Promise<Reading<EmittedCall | null, EmittedCallsPort>>;
  /** The newest call of an asset; `null`: none was emitted. */
  readonly newestOf: (asset: string) => Promise<Reading<EmittedCall | null, EmittedCallsPort>>;
  /** Every version that was in force, oldest first. */
  readonly versions: () => Promise<Reading<readonly KeptVersion[], EmittedCallsPort>>;
  /** When the producer of a kind ran with its observations read whole, joined, oldest first. */
  readonly ran: () => Promise<
    Reading<{ readonly [K in DetectorKind]: readonly RanSpan[] }, EmittedCallsPort>
  >;
};

/** A call without its place in the log: what it says, and the id and hash that follow from it. */
export type NewEmission = {
  readonly call_id: string;
  readonly hash: `0x${string}`;
  readonly said: EmissionStatement;
};

/** A stretch in which a version was run at each of its ticks, under the same conditions. */
export const detectorRun = z.strictObject({
  kind: z.enum(DETECTOR_KINDS),
  detector_version: z.string(),
  from: seconds,
  to: seconds,
  /** Whether the observations of every asset were read whole. */
  whole: z.boolean(),
  /** The assets that were looked at, in their order. */
  assets: z.array(callAsset).readonly(),
});
export type DetectorRun = z.output<typeof detectorRun>;

/** A tick of one version: the hour that it stands for, and the calls that it makes. */
export type EmissionTick = {
  /** The lease under which it is made. */
  readonly epoch: number;
  readonly run: DetectorRun;
  readonly calls: readonly NewEmission[];
  /** The chats are told of the calls that are new, by the id of each. */
  readonly dispatches: ReadonlyMap<string, FlagDispatch>;
  /** When it is kept; the leaves bear this time. */
  readonly at: number;
};

/** The name under which one process at a time emits and settles. */
export const EMISSION_LEASE = 'emitted calls';

/** The record of calls for whoever adds to it. */
export type EmissionStore = {
  /** Makes versions leaves, those that are none yet: how many. */
  readonly publishVersions: (
    versions: readonly HashedVersion[],
    now: number,
  ) => Promise<Kept<number>>;
  /**
   * Keeps a tick in one transaction: its calls, their leaves and that it was made. A call of a
   * kind, asset, direction, version and window that has one is left out. The ids of the new calls;
   * `null`: another process holds the lease, or the tick was made before.
   */
  readonly emit: (tick: EmissionTick) => Promise<Kept<readonly string[] | null>>;
  /** The runs that touch a span, oldest first. */
  readonly runs: (span: RanSpan) => Promise<Kept<readonly DetectorRun[]>>;
  /** Calls that were emitted within a span, behind a leaf, in the order of leaves. */
  readonly emitted: (
    span: RanSpan,
    afterLeaf: number,
    limit: number,
  ) => Promise<Kept<readonly EmittedCall[]>>;
  /** Calls without an outcome whose horizon has passed, those first that it passed first. */
  readonly undecided: (
    now: number,
    after: { readonly due: number; readonly leaf: number },
    limit: number,
  ) => Promise<Kept<readonly EmittedCall[]>>;
  /** The first outcome of a call; `false`: it has one, or another process holds the lease. */
  readonly settle: (
    call_id: string,
    outcome: Exclude<EmissionOutcome, { readonly state: 'open' }>,
    epoch: number,
  ) => Promise<Kept<boolean>>;
  /** Calls that were closed since, behind a leaf, in the order of leaves. */
  readonly closed: (
    since: number,
    afterLeaf: number,
    limit: number,
  ) => Promise<Kept<readonly EmittedCall[]>>;
  /** What a later revision makes of a closed call, beside what was said first. */
  readonly restate: (
    call_id: string,
    closing: CallClosing & { readonly restated_at: number },
    epoch: number,
  ) => Promise<Kept<boolean>>;
};
type Kept<T> = Reading<T, EmittedCallsPort>;
