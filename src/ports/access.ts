import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Soon } from '../evidence/waiting.ts';

/** The name of this port in readings. */
export type AccessLogPort = 'access_log';

/** A Unix time in seconds; a fraction is kept. */
const seconds = z.number();

/** The actor of a change: an operator by a command, a member in the settings, or the service. */
const ACTORS = ['operator', 'member', 'service'] as const;
export type Actor = (typeof ACTORS)[number];

const CHANGE_WORDS = [
  'key_created',
  'key_replaced',
  'key_revoked',
  'key_leaked',
  'signed_in',
  'signed_out',
  'session_ended',
  'session_replayed',
  'integration_connected',
  'integration_removed',
] as const;

/**
 * One change. `subject` is a key's prefix, a session's browser, or a platform and the id of an
 * integration.
 */
export const accessChange = z.strictObject({
  id: z.number(),
  at: seconds,
  by_whom: z.enum(ACTORS),
  change: z.enum(CHANGE_WORDS),
  subject: z.string().nullable(),
});
export type AccessChange = z.output<typeof accessChange>;

/** The log of changes; what changes something writes it, in the same transaction. */
export type AccessLog = {
  /** The changes of a membership, newest first; a part where there are more than are shown. */
  readonly list: (membershipId: string) => Promise<Partly<readonly AccessChange[], AccessLogPort>>;
};

// The store of keys holds hashes and display prefixes only: no key can be had from it.

/** The name of this port in readings. */
export type KeysPort = 'keys';

/**
 * `sc`: a membership's key. `sc_pub`: one of it that stands in pages of the origins that it lists.
 * `scp`: a partner's, with a monthly budget of its own.
 */
export const KEY_KINDS = ['sc', 'sc_pub', 'scp'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** To whom a key belongs. */
export type KeyHolder =
  | { readonly kind: 'sc'; readonly membership_id: string }
  | {
      readonly kind: 'sc_pub';
      readonly membership_id: string;
      readonly origins: readonly string[];
    }
  | { readonly kind: 'scp'; readonly partner: string; readonly monthly_budget: number };

/** A key without its holder: never the key itself, nor its hash. */
export const shownKey = z.strictObject({
  id: z.string(),
  /** The first characters of the key, to tell keys apart. */
  prefix: z.string(),
  created_at: seconds,
  expires_at: seconds,
  /** Late by up to a minute; `null`: never used. */
  last_used_at: seconds.nullable(),
  revoked_at: seconds.nullable(),
  /** The owner's name for it. */
  name: z.string().nullable(),
  /** When another key took its place: it opens until it expires, and no longer counts. */
  replaced_at: seconds.nullable(),
  /** When it was ended because it had leaked. */
  leaked_at: seconds.nullable(),
  /** Where a signed report found it; `null`: nobody told. */
  leak_found: z.string().nullable(),
});

/** A key as it may be shown. */
export type ApiKey = z.output<typeof shownKey> & { readonly holder: KeyHolder };

/**
 * The stored form of a key: its hash under a pepper, and the fingerprint of the pepper's secret.
 */
const bytes = z.instanceof(Uint8Array);
const secretHash = z.strictObject({ hash: bytes, pepper: z.string() });
export type SecretHash = Readonly<z.output<typeof secretHash>>;

export type NewKey = {
  readonly id: string;
  readonly holder: KeyHolder;
  readonly secret: SecretHash;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  /** The owner's name for it, if it has one. */
  readonly name?: string | null;
};

/** A key that was found by its hash, with the membership behind it (`null` for a partner's). */
export type FoundKey = {
  readonly key: ApiKey;
  readonly membership: Membership | null;
  /** Which secret the stored hash was made under. */
  readonly pepper: string;
};

/** The result of storing a key. `limit`: its membership already has the most active keys. */
export type AddedKey =
  | { readonly outcome: 'added'; readonly key: ApiKey }
  | { readonly outcome: 'limit'; readonly active: number }
  | { readonly outcome: 'no_membership' };

/** The result of replacing a key. `replaced`: it was already replaced, revoked or expired. */
export type ReplacedKey =
  | { readonly outcome: 'added'; readonly key: ApiKey }
  | { readonly outcome: 'unknown' | 'replaced' };

/** The result of a revocation. A prefix that several keys share revokes none of them. */
export type Revoked<T> =
  | { readonly outcome: 'revoked'; readonly revoked: T }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'ambiguous'; readonly ids: readonly string[] };

/** Which keys to list. */
export type KeysOf = { readonly membership_id: string } | { readonly partner: string } | 'everyone';

/** A use of a key to note; a hash under another pepper than the stored one takes its place. */
export type KeyUse = {
  readonly id: string;
  readonly secret: SecretHash;
  readonly at: UnixSeconds;
};

/** The keys of the hosted API. */
export type KeyStore = {
  /** Finds a key by its hash: under the secret in force first, then under those before it. */
  readonly find: (
    secrets: readonly [SecretHash, ...SecretHash[]],
  ) => Soon<Reading<FoundKey | null, KeysPort>>;
  /** Stores a key of a membership that has fewer than `activeMax` active ones at `created_at`. */
  readonly add: (
    key: NewKey,
    activeMax: number,
    by?: Actor,
  ) => Promise<Reading<AddedKey, KeysPort>>;
  /**
   * Stores a key in the place of one of the same membership, under its name. The old one opens
   * until `until`, or its own end, and no longer counts; one that is replaced is not again.
   */
  readonly replace: (
    id: string,
    key: NewKey,
    until: UnixSeconds,
  ) => Promise<Reading<ReplacedKey, KeysPort>>;
  /** Keys, newest first, the revoked and expired ones with them. */
  readonly list: (of: KeysOf) => Promise<Partly<readonly ApiKey[], KeysPort>>;
  /** Revokes by id or prefix, only among a membership's own keys where one is given. */
  readonly revoke: (
    idOrPrefix: string,
    at: UnixSeconds,
    membershipId: string | null,
    by?: Actor,
  ) => Promise<Reading<Revoked<ApiKey>, KeysPort>>;
  /** Notes a use, later and at most once a minute for each key. It never waits and never fails. */
  readonly noteUse: (use: KeyUse) => void;
  /** Whether a publishable key that opens lists this origin, as it was within two seconds. */
  readonly listsOrigin: (origin: string) => Promise<Reading<boolean, KeysPort>>;
  /** How many keys are stored under another secret than this one: doctor asks. */
  readonly underOtherSecrets: (pepper: string) => Promise<Reading<number, KeysPort>>;
};

/** The name of the token port in readings. */
export type TokensPort = 'tokens';

/** The tiers of the intelligence service, lowest first. */
export const TOKEN_TIERS = ['free', 'pro', 'desk'] as const;
export type TokenTier = (typeof TOKEN_TIERS)[number];

/** A token of the intelligence service as it may be shown. */
export const intelligenceToken = z.strictObject({
  id: z.string(),
  tier: z.enum(TOKEN_TIERS),
  prefix: z.string(),
  created_at: seconds,
  revoked_at: seconds.nullable(),
});
export type IntelligenceToken = z.output<typeof intelligenceToken>;

export type NewToken = Omit<IntelligenceToken, 'revoked_at'> & { readonly secret: SecretHash };

/** The tokens of the intelligence service that were minted here. */
export type TokenStore = {
  readonly find: (
    secrets: readonly [SecretHash, ...SecretHash[]],
  ) => Soon<Reading<IntelligenceToken | null, TokensPort>>;
  readonly add: (token: NewToken) => Promise<Reading<IntelligenceToken, TokensPort>>;
  /** Tokens, newest first, the revoked ones with them. */
  readonly list: () => Promise<Partly<readonly IntelligenceToken[], TokensPort>>;
  readonly revoke: (
    idOrPrefix: string,
    at: UnixSeconds,
  ) => Promise<Reading<Revoked<IntelligenceToken>, TokensPort>>;
};

// The store of memberships knows nothing of keys, quota or payment; a miss means that no such
// membership was recorded.

/** The name of this port in readings. */
type MembershipsPort = 'memberships';

/** The plans, lowest first. What each holds is in `access/plan.ts`. */
export const PLAN_NAMES = ['analyst', 'desk', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const MEMBERSHIP_STATUSES = ['active', 'inactive'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

/** A membership. `updated_at` is the time of the newest event that is known about it. */
export const membership = z.strictObject({
  membership_id: z.string(),
  plan: z.enum(PLAN_NAMES),
  status: z.enum(MEMBERSHIP_STATUSES),
  created_at: seconds,
  updated_at: seconds,
});
export type Membership = z.output<typeof membership>;

/** The change of a membership by an event, at the event's own time `at`. */
export type MembershipEvent = Omit<Membership, 'created_at' | 'updated_at'> & {
  readonly at: UnixSeconds;
};

/** The membership after an event; `applied` is false where a newer event was known already. */
export type RecordedMembership = { readonly membership: Membership; readonly applied: boolean };

export type MembershipStore = {
  /** Whether what is stored survives a restart. */
  readonly durable: boolean;
  readonly find: (membershipId: string) => Promise<Reading<Membership | null, MembershipsPort>>;
  /** All memberships, oldest first. */
  readonly list: () => Promise<Partly<readonly Membership[], MembershipsPort>>;
  /** Records an event. Events may come in any order: the newest by its own time wins. */
  readonly record: (
    event: MembershipEvent,
  ) => Promise<Reading<RecordedMembership, MembershipsPort>>;
};

// Each delivery counts once. What it says of persons is not kept.

/** The name of this port in readings. */
export type PaymentsPort = 'payments';

/**
 * The result of a delivery. `older`: a newer event of the membership was known; `no_plan`: held,
 * because no setting names its product; `unknown`: of a type without effect here; `unreadable`: of
 * a type with an effect, but malformed.
 */
export const PAYMENT_OUTCOMES = ['applied', 'older', 'no_plan', 'unknown', 'unreadable'] as const;
export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

/** The change that an event requests of a membership, at its own time. */
export const membershipChange = z.strictObject({
  membership_id: z.string(),
  product_id: z.string().nullable(),
  plan_id: z.string().nullable(),
  status: z.enum(MEMBERSHIP_STATUSES),
  at: seconds,
});
export type MembershipChange = z.output<typeof membershipChange>;

/** A delivery whose signature was right. */
export type PaymentDelivery = {
  /** The platform's id of it, the same when it is sent again. */
  readonly delivery_id: string;
  readonly type: string;
  readonly received_at: UnixSeconds;
  readonly asks: MembershipChange | 'unknown' | 'unreadable';
  /** The sign-in code of the membership; `null`: the event holds none. */
  readonly code: SecretHash | null;
  /** Without what it says of persons. */
  readonly body: string;
};

/** A kept delivery. */
export const paymentEvent = z.strictObject({
  delivery_id: z.string(),
  type: z.string(),
  received_at: seconds,
  event_at: seconds.nullable(),
  membership_id: z.string().nullable(),
  product_id: z.string().nullable(),
  plan_id: z.string().nullable(),
  status: z.enum(MEMBERSHIP_STATUSES).nullable(),
  outcome: z.enum(PAYMENT_OUTCOMES),
});
export type PaymentEvent = z.output<typeof paymentEvent>;

/** The plan of a platform's plan or product; `null` where no setting names either. */
export type PlanOf = (sold: Pick<MembershipChange, 'plan_id' | 'product_id'>) => PlanName | null;

/** The events of the payment platform. */
export type PaymentStore = {
  /** Keeps a delivery and does what it asks, both or neither; one that was kept changes nothing. */
  readonly record: (
    delivery: PaymentDelivery,
    planOf: PlanOf,
  ) => Promise<Reading<PaymentOutcome | 'repeated', PaymentsPort>>;
  /** Does what held deliveries ask whose product has a plan by now, and says how many did. */
  readonly applyHeld: (planOf: PlanOf) => Promise<Reading<number, PaymentsPort>>;
  /** The deliveries, newest first; of one outcome, or of all (`null`). */
  readonly list: (
    outcome: PaymentOutcome | null,
  ) => Promise<Partly<readonly PaymentEvent[], PaymentsPort>>;
};

// The counters grant nothing past the limit, however many processes charge at once.

/** The name of this port in readings. */
export type QuotaPort = 'quota';

/** The subject of a charge, and its UTC day (`2026-11-21`) or month (`2026-11`). */
export type Allowance = {
  readonly subject: string;
  readonly period: string;
  readonly limit: number;
};

/**
 * The result of a charge. `used` is the use after it; a charge that was not granted added nothing.
 */
export type Charge = { readonly granted: boolean; readonly used: number; readonly limit: number };

/** The remaining allowance. `remaining` is never below zero. */
export type Remaining = {
  readonly used: number;
  readonly remaining: number;
  readonly limit: number;
};

/** What a charge was for: who asked (`BROWSER_USE`, or a key's id), which route, which UTC day. */
export type ChargedUse = {
  readonly used_by: string;
  readonly route: string;
  readonly day: string;
};

/** Who asked by a page that a member opened in a browser. */
export const BROWSER_USE = 'browser';

/** The requests of one key, or of pages, to one route on one UTC day. */
export const keyUsage = z.strictObject({
  /** What the allowance of that day was charged in all at that moment; `null`: a month's. */
  charged: z.int().nullable(),
  day: z.string(),
  /** The key's id; `null`: pages that the member opened. */
  key_id: z.string().nullable(),
  prefix: z.string().nullable(),
  name: z.string().nullable(),
  /** Whose allowance was charged: the membership's, or the key's own. */
  allowance: z.enum(['membership', 'key']),
  route: z.string(),
  requests: z.int().positive(),
});
export type KeyUsage = z.output<typeof keyUsage>;

/** Whose uses to list: of all that a membership has, or of one key. */
export type UsesOf = { readonly membership_id: string } | { readonly key_id: string };

/** The use of a daily allowance on a day. */
export const dayOfUse = z.strictObject({ day: z.string(), used: z.int() });
export type DayOfUse = z.output<typeof dayOfUse>;

export type QuotaStore = {
  /**
   * Charges one, stored before the promise resolves. What it was for is counted within a second; a
   * charge without a use is counted under no key.
   */
  readonly charge: (allowance: Allowance, use?: ChargedUse) => Promise<Reading<Charge, QuotaPort>>;
  /**
   * The remaining allowance, seen here within the last two seconds or read now. A spent one stays
   * spent.
   */
  readonly remaining: (allowance: Allowance) => Soon<Reading<Remaining, QuotaPort>>;
  /** The use, where it was seen here within two seconds or is spent; asks nobody. */
  readonly lastSeen: (allowance: Allowance) => number | null;
  /** The use of each day from one to another (`2026-11-21`) that has any, in their order. */
  readonly days: (
    subject: string,
    from: string,
    to: string,
  ) => Promise<Reading<readonly DayOfUse[], QuotaPort>>;
  /** The use that is stored now. */
  readonly usage: (subject: string, period: string) => Promise<Reading<number, QuotaPort>>;
  /**
   * The charged requests by day, key and route between two days, the newest day first: at least so
   * many, since other processes write theirs each second, and a killed one what it had written.
   */
  readonly uses: (
    of: UsesOf,
    from: string,
    to: string,
  ) => Promise<Partly<readonly KeyUsage[], QuotaPort>>;
  /** Since when charges are counted by key and route. */
  readonly usesSince: () => Promise<Reading<UnixSeconds, QuotaPort>>;
};

// Whoever holds a key may end it. What is stored of a report is the same for any text.

/** The name of this port in readings. */
export type LeaksPort = 'leak_reports';

/** A text that was reported, as a key of that text would be stored, and where it was found. */
export type LeakReport = {
  readonly hashes: readonly [SecretHash, ...SecretHash[]];
  readonly found: string | null;
};

/**
 * What became of reports. `kept`: they are stored, and what they name is ended within seconds.
 * `too_many`: their network reported as many as are taken, until `again_at`. `full`: as many wait
 * as are kept.
 */
export type KeptReports =
  | { readonly outcome: 'kept' | 'full' }
  | { readonly outcome: 'too_many'; readonly again_at: UnixSeconds };

/** What a report ended. */
export const endedByLeak = z.strictObject({
  what: z.enum(['key', 'token']),
  id: z.string(),
  prefix: z.string(),
  membership_id: z.string().nullable(),
});
export type EndedByLeak = z.output<typeof endedByLeak>;

/** The name of the port of the keys that partners sign reports with. */
export type PartnerKeysPort = 'partner_keys';

/** The public keys of a partner that signs its reports. */
export type PartnerKeys = {
  /** The key of a name as PEM; `null`: the partner names no such key. */
  readonly keyOf: (identifier: string) => Promise<Reading<string | null, PartnerKeysPort>>;
};

/** The reports of leaked keys. */
export type LeakStore = {
  /**
   * Keeps reports of one sender. It does the same work whatever the texts are: one statement, which
   * looks at no key. `bucket`: the sender's network; `null`: a sender that signed.
   */
  readonly report: (
    reports: readonly LeakReport[],
    at: UnixSeconds,
    bucket: number | null,
  ) => Promise<Reading<KeptReports, LeaksPort>>;
  /**
   * Ends the keys and tokens that waiting reports name, and tells their owners. A key for pages of
   * everybody is no secret: a report ends none.
   */
  readonly settle: () => Promise<
    Reading<{ readonly taken: number; readonly ended: readonly EndedByLeak[] }, LeaksPort>
  >;
};

// The store of sessions holds hashes only: no cookie can be had from it.

/** The name of this port in readings. */
export type SessionsPort = 'sessions';

/** The browser and the network that a session was last used from, in short. */
export type UsedFrom = { readonly browser: string; readonly network: string };

export const browserSession = z.strictObject({
  id: z.string(),
  membership_id: z.string(),
  created_at: seconds,
  /** Late by up to a minute, as what it was used from is. */
  seen_at: seconds,
  ended_at: seconds.nullable(),
  /** When it got the token in force, and when that was first used; `null`: not yet. */
  renewed_at: seconds,
  taken_up_at: seconds.nullable(),
  /** `null`: an earlier version did not keep it. */
  browser: z.string().nullable(),
  network: z.string().nullable(),
});
export type BrowserSession = z.output<typeof browserSession>;

/** A session as its token found it: by the one in force, or by one before it. */
export const foundSession = browserSession.extend({ by_replaced: z.boolean() });
export type FoundSession = z.output<typeof foundSession>;

export type NewSession = Pick<BrowserSession, 'id' | 'membership_id' | 'created_at'> & {
  readonly secret: SecretHash;
  readonly from: UsedFrom;
};

/** A use of a session. `takesUp`: by the token in force, whose first use it may be. */
export type SessionUsed = UsedFrom & { readonly at: UnixSeconds; readonly takesUp: boolean };

/** Which sessions end: one, of a membership where one is named; or a membership's, but for one. */
export type SessionsToEnd =
  | { readonly id: string; readonly membership_id: string | null }
  | { readonly membership_id: string; readonly except: string | null };

/** The signed-in browsers. */
export type SessionStore = {
  /** Finds a session by the hash of its token, or of one that it had before. */
  readonly find: (
    secrets: readonly [SecretHash, ...SecretHash[]],
  ) => Promise<Reading<FoundSession | null, SessionsPort>>;
  /** Stores a session; those that ended or are older than `dropBefore` go. */
  readonly add: (
    session: NewSession,
    dropBefore: UnixSeconds,
  ) => Promise<Reading<true, SessionsPort>>;
  /**
   * Gives a session another token at `at`, unless it got one after `renewedBefore`: then, and where
   * it has ended, `null`; else when it was created.
   */
  readonly renew: (
    id: string,
    secret: SecretHash,
    at: UnixSeconds,
    renewedBefore: UnixSeconds,
  ) => Promise<Reading<UnixSeconds | null, SessionsPort>>;
  readonly seen: (id: string, used: SessionUsed) => Promise<Reading<true, SessionsPort>>;
  /** The sessions of a membership that began and were used after these times, newest use first. */
  readonly list: (
    membershipId: string,
    since: { readonly created: UnixSeconds; readonly seen: UnixSeconds },
  ) => Promise<Partly<readonly BrowserSession[], SessionsPort>>;
  /** Ends sessions for good, and says how many: their cookies open nothing any more. */
  readonly end: (
    which: SessionsToEnd,
    at: UnixSeconds,
    by: Actor,
    as: 'signed_out' | 'session_ended' | 'session_replayed',
  ) => Promise<Reading<number, SessionsPort>>;
};

/** The name of this port in readings. */
export type SignInPort = 'sign_in';

/** A code, with the browser that it opens in; `null`: it opened in none yet. */
export const signInCode = secretHash.extend({ browser_hash: bytes.nullable() });

export type SignInStore = {
  /** Counts a try in two buckets, and says how many there were since the time of each began. */
  readonly countTries: (
    buckets: { readonly id: number; readonly network: number },
    at: UnixSeconds,
    windowS: number,
  ) => Promise<Reading<{ readonly ofId: number; readonly ofNetwork: number }, SignInPort>>;
  readonly forgetTries: (bucket: number) => Promise<Reading<true, SignInPort>>;
  /** The code of a membership; `null` where there is none, or no such membership. */
  readonly codeOf: (
    membershipId: string,
  ) => Promise<Reading<z.output<typeof signInCode> | null, SignInPort>>;
  /** Binds a code to a browser; `false` where it is bound already, or is another code by now. */
  readonly bindCode: (
    membershipId: string,
    code: Uint8Array,
    browser: Uint8Array,
  ) => Promise<Reading<boolean, SignInPort>>;
  /** Uses a link; `false` where it was used already, or its membership is not there. */
  readonly useLink: (link: {
    readonly id: string;
    readonly membership_id: string;
    readonly expires_at: UnixSeconds;
    readonly at: UnixSeconds;
  }) => Promise<Reading<boolean, SignInPort>>;
};
