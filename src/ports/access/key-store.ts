// Answers one question: whose key or token is this, and does it still open anything.
// It holds hashes and display prefixes only: no key can be had from it.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { Soon } from '../../evidence/waiting.ts';
import type { Actor } from './access-log.ts';
import type { Membership } from './membership-store.ts';

/** The name of this port in readings. */
export type KeysPort = 'keys';

/** `sc`: a membership's key. `scp`: a partner's, with a monthly budget of its own. */
const KEY_KINDS = ['sc', 'scp'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** To whom a key belongs. */
export type KeyHolder =
  | { readonly kind: 'sc'; readonly membership_id: string }
  | { readonly kind: 'scp'; readonly partner: string; readonly monthly_budget: number };

/** A key as it may be shown: never the key itself, nor its hash. */
export type ApiKey = {
  readonly id: string;
  readonly holder: KeyHolder;
  /** The first characters of the key, to tell keys apart. */
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  /** Late by up to a minute; `null`: never used. */
  readonly last_used_at: UnixSeconds | null;
  readonly revoked_at: UnixSeconds | null;
  /** What its owner calls it. */
  readonly name: string | null;
  /** When another key took its place: it opens until it expires, and no longer counts. */
  readonly replaced_at: UnixSeconds | null;
};

/** How a key is recognised: the hash under a pepper, and the fingerprint of the pepper's secret. */
export type SecretHash = { readonly hash: Uint8Array; readonly pepper: string };

/** A key to store. */
export type NewKey = {
  readonly id: string;
  readonly holder: KeyHolder;
  readonly secret: SecretHash;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  /** What its owner calls it, where it has a name. */
  readonly name?: string | null;
};

/** A key that was found by its hash, with the membership behind it (`null` for a partner's). */
export type FoundKey = {
  readonly key: ApiKey;
  readonly membership: Membership | null;
  /** Which secret the stored hash was made under. */
  readonly pepper: string;
};

/** What became of a key to store. `limit`: its membership has as many active keys as it may. */
export type AddedKey =
  | { readonly outcome: 'added'; readonly key: ApiKey }
  | { readonly outcome: 'limit'; readonly active: number }
  | { readonly outcome: 'no_membership' };

/** What became of replacing a key. `replaced`: it was replaced, revoked or had expired before. */
export type ReplacedKey =
  | { readonly outcome: 'added'; readonly key: ApiKey }
  | { readonly outcome: 'unknown' | 'replaced' };

/** What became of a revocation. A prefix that several keys share revokes none of them. */
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
  /** How many keys are stored under another secret than this one: doctor asks. */
  readonly underOtherSecrets: (pepper: string) => Promise<Reading<number, KeysPort>>;
};

/** The name of the token port in readings. */
export type TokensPort = 'tokens';

/** The tiers of the intelligence service, lowest first. */
export const TOKEN_TIERS = ['free', 'pro', 'desk'] as const;
export type TokenTier = (typeof TOKEN_TIERS)[number];

/** A token of the intelligence service as it may be shown. */
export type IntelligenceToken = {
  readonly id: string;
  readonly tier: TokenTier;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly revoked_at: UnixSeconds | null;
};

/** A token to store. */
export type NewToken = {
  readonly id: string;
  readonly tier: TokenTier;
  readonly secret: SecretHash;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
};

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
