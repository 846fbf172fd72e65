// Answers one question: which browser was signed in, for which membership, and when was it seen?
// It holds hashes only: no cookie can be had from it.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { SecretHash } from './key-store.ts';

/** The name of this port in readings. */
export type SessionsPort = 'sessions';

/** A signed-in browser. */
export type Session = {
  readonly id: string;
  readonly membership_id: string;
  readonly created_at: UnixSeconds;
  /** Late by up to a minute. */
  readonly seen_at: UnixSeconds;
  readonly ended_at: UnixSeconds | null;
};

/** A session to store. */
export type NewSession = Omit<Session, 'seen_at' | 'ended_at'> & { readonly secret: SecretHash };

/** The signed-in browsers. */
export type SessionStore = {
  /**
   * Finds a session by its token's hash: under the secret in force first. The token before opens it
   * too, where it was renewed after `renewedSince`.
   */
  readonly find: (
    secrets: readonly [SecretHash, ...SecretHash[]],
    renewedSince: UnixSeconds,
  ) => Promise<Reading<Session | null, SessionsPort>>;
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
  readonly seen: (id: string, at: UnixSeconds) => Promise<Reading<true, SessionsPort>>;
  /** Ends a session for good: the cookie that opened it opens nothing any more. */
  readonly end: (id: string, at: UnixSeconds) => Promise<Reading<true, SessionsPort>>;
};
