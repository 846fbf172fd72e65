// Published signals, as they are kept. A row is only added: a signal that no longer holds has a
// status of its own, and both stay readable.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../chain/chain.ts';
import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import type { FlagDispatch } from './integrations.ts';
import { storedWord } from './stored-word.ts';

/** The name of this port in readings and contracts. */
export type SignalsPort = 'signals';

/** The shape of a signal, by name and version. */
export const SIGNAL_VERSION = 'exhibit-signal/1';

/** The verdicts of a signal. */
export const SIGNAL_VERDICTS = ['avoid', 'no_opinion'] as const;
/** Whether the confidence was measured on outcomes, or set by who reviewed the rule. */
export const SIGNAL_CONFIDENCE_BASES = ['assumed', 'measured'] as const;
/** `superseded`: a newer one of its target stands. `withdrawn`: its ground is gone. */
export const SIGNAL_STATES = ['current', 'superseded', 'withdrawn'] as const;
export type SignalState = (typeof SIGNAL_STATES)[number];

const hex32 = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]);
const seconds = z.int().nonnegative();

/** The id of a signal: the beginning of its call hash. */
export const signalId = z.string().regex(/^sig_[0-9a-f]{32}$/);

/** The end of a signal, as it is hashed for the log. `at` is ISO 8601. */
export const signalEnd = z.strictObject({
  signal_id: z.string(),
  state: storedWord(SIGNAL_STATES),
  at: z.string(),
  reason: z.string(),
  /** The newer signal by its id, or who withdrew it: `producer` or `operator`. */
  by: z.string(),
});
export type SignalEnd = z.output<typeof signalEnd>;

/** The same with its place in the log: the Keccak of its canonical form, and its leaf. */
export const keptEnd = signalEnd.omit({ signal_id: true }).extend({ hash: hex32, leaf: seconds });
export type KeptEnd = z.output<typeof keptEnd>;

/** One signal. What `call_hash` binds has the names of `Call`. */
export const keptSignal = z.strictObject({
  signal_id: z.string(),
  call_hash: hex32,
  version: z.string(),
  chain: storedWord(CHAIN_NAMES),
  address: z.string(),
  verdict: storedWord(SIGNAL_VERDICTS),
  confidence_millionths: z.int(),
  reasoning: z.string(),
  evidence_used: z.array(z.string()).readonly(),
  evidence_hash: hex32,
  prompt_version: z.string(),
  model: z.string(),
  run_id: z.string(),
  generated_at_unix: seconds,
  confidence_basis: storedWord(SIGNAL_CONFIDENCE_BASES),
  /** The number of outcomes of a measured confidence. */
  confidence_n: z.int().nullable(),
  cost_usd: z.number(),
  /** Whether the words of an earlier judgement of the same content were used again. */
  cached: z.boolean(),
  /** The sources that the bundle names. */
  source_count: seconds,
  simulated: z.boolean(),
  /** The index of its leaf in the log. */
  leaf: seconds,
  /** The newest of its statuses; `null` while it is current. */
  end: keptEnd.nullable(),
});
export type KeptSignal = z.output<typeof keptSignal>;

/** Where a page of the feed goes on: behind this signal. */
export type FeedPlace = { readonly generated_at_unix: number; readonly signal_id: string };

/** What the producer has done, by the clock of the store. */
export type ProducerRecord = {
  /** The end of its last completed round. */
  readonly last_round_at: UnixSeconds | null;
  /** When a signal was emitted by command last. */
  readonly last_emit_at: UnixSeconds | null;
};

/** Some current signals, newest first. */
export type FeedPage = ProducerRecord & {
  readonly signals: readonly KeptSignal[];
  /** Whether there are more behind them. */
  readonly more: boolean;
  /** Whether any signal is current, of whichever target. */
  readonly any_current: boolean;
  /** The time of the answer by the clock of the store, as its other times are. */
  readonly asked_at: UnixSeconds;
};

export type Signals = {
  readonly find: (id: string) => Promise<Reading<KeptSignal | null, SignalsPort>>;
  /** The bytes of the bundle as they were stored; `null`: there is no signal of this id. */
  readonly bundleOf: (id: string) => Promise<Reading<Uint8Array | null, SignalsPort>>;
  readonly feed: (asked: {
    /** By `matchKey`, on every chain; `null`: of any target. */
    readonly matchKey: string | null;
    readonly after: FeedPlace | null;
    readonly limit: number;
  }) => Promise<Reading<FeedPage, SignalsPort>>;
};

// The producer's side. What it is told of comes from public events alone.

/** The name of this port in readings. */
export type SignalProductionPort = 'signal_production';

/** A target that waits to be looked at. */
export type SignalTarget = { readonly chain: ChainName; readonly address: string };

/** A signal that is about to be published, with the bytes of its bundle. */
export type NewSignal = Omit<KeptSignal, 'leaf' | 'end'> & {
  readonly bundle: Uint8Array;
  /** The digest of what its bundle lets cite, without dates. */
  readonly content_hash: string;
  /** The rules that judged it. */
  readonly rules_version: string;
};

/** The newest signal of a target, withdrawn or not, and what a newer one is compared with. */
export type NewestSignal = {
  readonly signal: KeptSignal;
  readonly content_hash: string;
  readonly rules_version: string;
};

/** The publication of a signal, with what becomes of the one before. */
export type Emission = {
  readonly signal: NewSignal;
  /** The newest signal of the target when this one was made; another one since makes it void. */
  readonly newest: string | null;
  /** What becomes of that one, if it is current. */
  readonly end: { readonly end: SignalEnd; readonly hash: `0x${string}` } | null;
  readonly dispatches: readonly FlagDispatch[];
  /**
   * The lease under which it was made, and how its target is settled with it, as by `settle`;
   * `null`: a command.
   */
  readonly round: { readonly epoch: number; readonly againS: number | null } | null;
};

/** A status that ends a signal. */
export type Withdrawal = {
  readonly end: SignalEnd;
  readonly hash: `0x${string}`;
  readonly dispatches: readonly FlagDispatch[];
};

/** The lease under which signals are produced. */
export const SIGNAL_LEASE = 'signals';

export type SignalProduction = {
  /**
   * Queues the targets of public events since the last time: of the flag log, of the changes of the
   * sanctions list, of launches. Returns how many there were.
   */
  readonly queueEvents: (epoch: number) => Promise<Reading<number, SignalProductionPort>>;
  /**
   * Whether the last round ended at least `everyS` ago. The first targets of a store do not wait
   * for that.
   */
  readonly isRoundDue: (everyS: number) => Promise<Reading<boolean, SignalProductionPort>>;
  /**
   * Targets that are due: queued ones first, then those of current signals that are older than
   * `againS` or were judged by other rules.
   */
  readonly due: (
    limit: number,
    againS: number,
    rules_version: string,
  ) => Promise<Reading<readonly SignalTarget[], SignalProductionPort>>;
  readonly newestOf: (
    target: SignalTarget,
  ) => Promise<Reading<NewestSignal | null, SignalProductionPort>>;
  /** Publishes; `false`: the lease or the newest signal of the target is another by now. */
  readonly emit: (emission: Emission) => Promise<Reading<boolean, SignalProductionPort>>;
  /** Withdraws; `false`: there is no such signal, or it was withdrawn before. */
  readonly withdraw: (withdrawal: Withdrawal) => Promise<Reading<boolean, SignalProductionPort>>;
  /** Lets a target go, or has it wait for so many seconds. `false`: the lease is another's. */
  readonly settle: (
    target: SignalTarget,
    againS: number | null,
    epoch: number,
  ) => Promise<Reading<boolean, SignalProductionPort>>;
  /** Notes that a round has ended. `false`: the lease is another's by now. */
  readonly endRound: (epoch: number) => Promise<Reading<boolean, SignalProductionPort>>;
};
