// The keys with which a deployment signs what it says: answers, and the checkpoints of its log.

import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import { sealed } from './integrations.ts';

/** The name of this port in readings. */
export type SigningPort = 'signing_keys';

/** The id of a key of the simulated world begins with this. */
export const SIMULATED_KID = 'simulated:';

/**
 * A public key as it is published, for ever: a JWK (RFC 7517, 8037). `kid` is its thumbprint
 * (RFC 7638), behind `simulated:` where the deployment serves the simulated world. The key signs
 * from `nbf` until `exp`. From `compromised_since` on somebody else may have held it.
 */
export const signingJwk = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('Ed25519'),
  use: z.literal('sig'),
  kid: z.string().regex(/^(simulated:)?[A-Za-z0-9_-]{43}$/),
  /** The public key: 32 bytes in base64url. */
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  nbf: z.int(),
  exp: z.int(),
  compromised_since: z.int().nullable(),
});
export type SigningJwk = Readonly<z.output<typeof signingJwk>>;

/** A signature (64 bytes of Ed25519), with the key that it verifies under. */
export type Signature = {
  readonly kid: string;
  /** The public key as in the JWK. */
  readonly x: string;
  readonly signature: Uint8Array;
};

/** The key in force. `sign` costs some 50 µs of this thread. */
export type SigningKey = Pick<SigningJwk, 'kid' | 'x' | 'nbf' | 'exp'> & {
  readonly sign: (bytes: Uint8Array) => Uint8Array;
};

/**
 * Signs with the key in force. No key, one that the secret does not open, and one that nobody could
 * look after for five seconds are unread: a key that is not known to be good signs nothing.
 */
export type Signing = {
  readonly sign: (bytes: Uint8Array) => Promise<Reading<Signature, SigningPort>>;
  /** The key in force, for whoever must name it in what is signed. */
  readonly current: () => Promise<Reading<SigningKey, SigningPort>>;
  /** Every public key there ever was, the newest first. */
  readonly publicKeys: () => Promise<Reading<readonly SigningJwk[], SigningPort>>;
};

/** A key as it is kept. `sealed`: its private part, `null` once the key signs no more. */
export const keptKey = signingJwk
  .pick({ kid: true, x: true, nbf: true, exp: true, compromised_since: true })
  .extend({ sealed: sealed.nullable(), made_at: z.int() });
export type KeptKey = Readonly<z.output<typeof keptKey>>;

export type NewKeptKey = Omit<KeptKey, 'compromised_since' | 'sealed'> & {
  readonly sealed: NonNullable<KeptKey['sealed']>;
};

/** From when on somebody else may have held a key, and what is known of it. */
export type Compromise = {
  readonly since: UnixSeconds;
  readonly marked_at: UnixSeconds;
  readonly reason: string;
};

/** Says which key is added to those there are; `null`: none is. */
export type ChooseKey = (keys: readonly KeptKey[]) => NewKeptKey | null;

/** The kept keys of all processes. Who adds one waits for whoever does so at the same time. */
export type KeptKeys = {
  /** All of them, the newest first. */
  readonly all: () => Promise<Reading<readonly KeptKey[], SigningPort>>;
  /** Adds the chosen key, and gives all. */
  readonly add: (choose: ChooseKey) => Promise<Reading<readonly KeptKey[], SigningPort>>;
  /**
   * Marks a key and erases its private part; then adds the chosen key. `null`: there is no such
   * key. A time later than one that was marked before changes nothing.
   */
  readonly compromise: (
    kid: string,
    what: Compromise,
    choose: ChooseKey,
  ) => Promise<Reading<readonly KeptKey[] | null, SigningPort>>;
  /** Erases the private parts of keys whose time is over, and gives their number. */
  readonly erase: (now: UnixSeconds) => Promise<Reading<number, SigningPort>>;
  /** Keeps what was sealed anew, where it still is what it was before. */
  readonly reseal: (
    kid: string,
    before: NonNullable<KeptKey['sealed']>,
    now: NonNullable<KeptKey['sealed']>,
  ) => Promise<Reading<true, SigningPort>>;
};
