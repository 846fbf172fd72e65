// What outside services said of tokens and markets, and what became of it. A call is only added: an
// edit by the provider is a second call, and what it deletes stays.

import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import { LAUNCH_OUTCOMES } from './deployers.ts';
import { storedWord } from './stored-word.ts';

/** The name of this port in readings and contracts. */
export type ProviderCallsPort = 'provider_calls';

/**
 * `token_risk`: the launch of a token dies before its window ends. `market_call`: a price is higher
 * at the end of the horizon than at its beginning.
 */
export const CALL_KINDS = ['token_risk', 'market_call'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Our own signals as one more provider. */
export const OWN_PROVIDER = 'exhibit';
/** The providers that are asked here. */
export const RISK_PROVIDERS = ['goplus', 'rugcheck'] as const;
export type RiskProvider = (typeof RISK_PROVIDERS)[number];

/** A provider by its name. */
export const providerName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/);

const hex32 = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]);
const seconds = z.int().nonnegative();

/** The subject of a call: a token on its chain, or an asset with a horizon in hours. */
export const callSubject = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('token_risk'),
    chain: z.enum(['ethereum', 'solana']),
    token: z.string(),
  }),
  z.strictObject({
    kind: z.literal('market_call'),
    asset: z.string(),
    horizon_h: z.int().positive(),
  }),
]);
export type CallSubject = z.output<typeof callSubject>;

/** What a provider said, as it is hashed for the log. Times are Unix seconds. */
export const callStatement = z.strictObject({
  provider: providerName,
  subject: callSubject,
  /** Whether it said that the event of its kind happens. */
  says: z.boolean(),
  /** The probability that it gave the event, as a decimal; `null`: it gave none. */
  probability: z.string().nullable(),
  /** The name that the provider gives the call; `null`: none. */
  reference: z.string().nullable(),
  /** The facts of its answer from which `says` was read, each as text. */
  rests_on: z.record(z.string(), z.string()).readonly(),
  called_at: seconds,
  received_at: seconds,
  /** The rule in force then, by which it is scored. */
  rule_version: z.string(),
  /** The end of the window in which the event happens or does not. */
  window_end: seconds,
  /** Received before anything of its window, and soon after it was said. */
  prospective: z.boolean(),
});
export type CallStatement = z.output<typeof callStatement>;

/** Why a call has no hit and no miss. */
export const UNSCORABLE = ['never_listed', 'not_observed', 'unpriced'] as const;
export type Unscorable = (typeof UNSCORABLE)[number];

/** What became of a call. `pending`: its window is not over, or not read yet. */
export const callResult = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('pending') }),
  z.strictObject({
    state: z.literal('scored'),
    happened: z.boolean(),
    /** The observations that say so, as text. */
    rests_on: z.record(z.string(), z.string()).readonly(),
    scored_at: seconds,
  }),
  z.strictObject({
    state: z.literal('unscorable'),
    cause: storedWord(UNSCORABLE),
    scored_at: seconds,
  }),
]);
export type CallResult = z.output<typeof callResult>;

/** A call as it is kept: the Keccak of its canonical statement, and its leaf in the log. */
export const keptCall = callStatement.extend({
  call_id: z.string().regex(/^pc_[0-9a-f]{32}$/),
  hash: hex32,
  leaf: seconds,
  outcome: callResult,
});
export type KeptCall = z.output<typeof keptCall>;

/** An observation of a launch that was recorded here. `captured_at`: Unix seconds. */
export const launchSighting = z.strictObject({
  chain: z.enum(['ethereum', 'solana']),
  token: z.string(),
  outcome: z.enum(LAUNCH_OUTCOMES),
  captured_at: seconds,
});
export type LaunchSighting = z.output<typeof launchSighting>;

/** A rule by which outcomes are told, as it is hashed for the log before it scores anything. */
export const outcomeRule = z.strictObject({
  version: z.string(),
  kind: z.enum(CALL_KINDS),
  /** The rule in words. */
  text: z.string().min(1),
});
export type OutcomeRule = z.output<typeof outcomeRule>;
/** A rule with the Keccak of its canonical form, which its leaf holds. */
export type HashedRule = OutcomeRule & { readonly hash: string };
export type KeptRule = HashedRule & {
  readonly leaf: number;
  readonly in_force_from: UnixSeconds;
};

/** A call without its place: its statement, and the id and hash that follow from it. */
export type NewCall = {
  readonly call_id: string;
  readonly hash: `0x${string}`;
  /** The digest of what was said, without when it was received: said again, it is the same call. */
  readonly said_hash: string;
  readonly statement: CallStatement;
};

/** The leaderboard of a moment as JSON text. */
export const keptBoard = z.strictObject({ made_at: seconds, text: z.string().min(2) });
export type KeptBoard = z.output<typeof keptBoard>;

/** The calls for whoever reads them. */
export type ProviderCalls = {
  /** The board as it was last made, `null`: none was; and whether any call was ever received. */
  readonly board: () => Promise<
    Reading<{ readonly kept: KeptBoard | null; readonly any_call: boolean }, ProviderCallsPort>
  >;
  readonly find: (call_id: string) => Promise<Reading<KeptCall | null, ProviderCallsPort>>;
  /** The calls whose outcome was another than they said, newest first by their leaves. */
  readonly misses: (asked: {
    /** Of calls before this leaf; `null`: of all. */
    readonly before: number | null;
    readonly limit: number;
  }) => Promise<Reading<readonly KeptCall[], ProviderCallsPort>>;
  readonly rules: () => Promise<Reading<readonly KeptRule[], ProviderCallsPort>>;
};

/** A question to a provider that is due. `ordinal`: the first at first sight, the second later. */
export const dueAsk = z.strictObject({
  provider: z.enum(RISK_PROVIDERS),
  chain: z.enum(['ethereum', 'solana']),
  token: z.string(),
  ordinal: z.int().min(1).max(2),
  launched_at: seconds,
});
export type DueAsk = z.output<typeof dueAsk>;

/** What became of a question. `unread`: it stays due until it expires. */
export type AskEnd =
  | { readonly state: 'called'; readonly call: NewCall }
  | { readonly state: 'nothing_said' }
  | { readonly state: 'unread'; readonly reason: string };

/** A call as the board counts it. */
export const countedCall = keptCall
  .pick({
    provider: true,
    says: true,
    prospective: true,
    received_at: true,
    rule_version: true,
    leaf: true,
  })
  .extend({
    kind: z.enum(CALL_KINDS),
    /** The token on its chain, or the asset. */
    subject: z.string(),
    probability: z.number().nullable(),
    state: z.enum(['pending', 'scored', 'unscorable']),
    /** `null` unless it is scored. */
    happened: z.boolean().nullable(),
  });
export type CountedCall = z.output<typeof countedCall>;

/** A stretch without a collector, or in which the provider did not answer. */
export const providerGap = z.strictObject({
  provider: providerName,
  from_at: seconds,
  to_at: seconds,
});
export type ProviderGap = z.output<typeof providerGap>;

/** The launches that a provider was to be asked about, and those on which it made a call. */
export const askCount = z.strictObject({
  provider: providerName,
  launches: z.int().nonnegative(),
  called: z.int().nonnegative(),
});
export type AskCount = z.output<typeof askCount>;

/** The calls for whoever collects and scores them. */
export type CallProduction = {
  /** Makes rules leaves, those that are none yet. */
  readonly publishRules: (rules: readonly HashedRule[], now: UnixSeconds) => Promise<Made<number>>;
  /** Takes in launches that were recorded since, for some providers: how many. */
  readonly noteLaunches: (
    providers: readonly Pick<DueAsk, 'provider' | 'chain'>[],
  ) => Promise<Made<number>>;
  readonly dueAsks: (provider: RiskProvider, limit: number) => Promise<Made<readonly DueAsk[]>>;
  readonly endAsk: (ask: DueAsk, end: AskEnd) => Promise<Made<boolean>>;
  /** Adds calls; those that were said before change nothing. How many were new. */
  readonly add: (calls: readonly NewCall[]) => Promise<Made<number>>;
  /** Signals about recorded tokens that are no calls yet, seen from the rule of that version. */
  readonly ownStatements: (
    rule_version: string,
    limit: number,
  ) => Promise<Made<readonly OwnStatement[]>>;
  /** Keeps what records and settlements say now of launches with calls that wait. */
  readonly noteSightings: () => Promise<Made<number>>;
  readonly sightingsOf: (
    subject: Pick<LaunchSighting, 'chain' | 'token'>,
  ) => Promise<Made<readonly LaunchSighting[]>>;
  /** Calls of a kind without an outcome whose window has ended, oldest first. */
  readonly undecided: (
    kind: CallKind,
    now: UnixSeconds,
    limit: number,
  ) => Promise<Made<readonly KeptCall[]>>;
  readonly decide: (call_id: string, outcome: CallResult) => Promise<Made<true>>;
  /** A round of collecting ended; `failed`: the provider did not answer in it. */
  readonly noteRound: (provider: string, failed: boolean) => Promise<Made<true>>;
  /** Calls behind a place, in the order of leaves. */
  readonly counted: (afterLeaf: number, limit: number) => Promise<Made<readonly CountedCall[]>>;
  readonly gaps: () => Promise<Made<readonly ProviderGap[]>>;
  /** Of launches that were first seen since then; what still waits for an answer is in no count. */
  readonly asks: (since: UnixSeconds) => Promise<Made<readonly AskCount[]>>;
  readonly keepBoard: (board: KeptBoard) => Promise<Made<true>>;
};
type Made<T> = Reading<T, 'provider_calls'>;

/** A signal of this service about a recorded launch. */
export const ownStatement = z.strictObject({
  signal_id: z.string(),
  chain: z.enum(['ethereum', 'solana']),
  token: z.string(),
  launched_at: seconds,
  generated_at_unix: seconds,
  /** Whether the rule stood in the log before it. */
  after_rule: z.boolean(),
});
export type OwnStatement = z.output<typeof ownStatement>;
