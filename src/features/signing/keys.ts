// Makes signing keys, chooses the one in force, and signs with it. A private part is in the clear
// only inside the key object of this process.

import { createHash, createPrivateKey, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { map, type Read, type Reading, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type ChooseKey,
  type KeptKey,
  type KeptKeys,
  type NewKeptKey,
  SIMULATED_KID,
  type Signing,
  type SigningJwk,
  type SigningKey,
  type SigningPort,
} from '../../ports/signing.ts';

const PORT: SigningPort = 'signing_keys';

/** A key signs for so long; then the next one takes over. */
export const SIGNS_FOR_S = 90 * DAY_S;
/** A key is valid for so long: what a process signs that has not heard of the next one still is. */
export const VALID_FOR_S = 180 * DAY_S;
/** A key is published so long before it signs, so that whoever keeps a key set has it by then. */
export const PUBLISHED_AHEAD_S = HOUR_S;

type Sealed = NewKeptKey['sealed'];

/** Seals private parts under the secret in force; `unseal` gives `null` of what no secret opens. */
export type KeySealing = {
  readonly seal: (seed: string, kid: string) => Sealed;
  readonly unseal: (sealed: Sealed, kid: string) => string | null;
  /** Names the secret in force. */
  readonly fingerprint: string;
};

/** Makes a key that signs from `nbf` on. */
export function makeKey(
  { seal }: Pick<KeySealing, 'seal'>,
  simulated: boolean,
  { nbf, made_at }: { readonly nbf: UnixSeconds; readonly made_at: UnixSeconds },
): NewKeptKey {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (d === undefined || x === undefined) throw new Error('a key without its two parts');
  const kid = kidOf(x, simulated);
  // A command line takes a word that begins with a dash for an option.
  if (kid.startsWith('-')) return makeKey({ seal }, simulated, { nbf, made_at });
  return { kid, x, sealed: seal(d, kid), nbf, exp: nbf + VALID_FOR_S, made_at };
}

/** The id of a public key: its thumbprint (RFC 7638), marked where the key is simulated. */
export function kidOf(x: string, simulated: boolean): string {
  const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
  return `${simulated ? SIMULATED_KID : ''}${thumbprint.digest('base64url')}`;
}

/** Whether a key may sign at all, now or later. */
function maySign({ sealed, compromised_since, exp }: KeptKey, now: UnixSeconds): boolean {
  return sealed !== null && compromised_since === null && now < exp;
}

/** The key that signs now: the newest of those whose time has come. */
export function keyInForce(keys: readonly KeptKey[], now: UnixSeconds): KeptKey | null {
  const found = keys.find((key) => maySign(key, now) && key.nbf <= now);
  return found === undefined ? null : found;
}

/** The key that takes over next, if it is made already. */
export function nextKey(keys: readonly KeptKey[], now: UnixSeconds): KeptKey | null {
  const found = keys.findLast((key) => maySign(key, now) && key.nbf > now);
  return found === undefined ? null : found;
}

/** Makes a key that signs from `nbf` on. */
export type Make = (nbf: UnixSeconds) => NewKeptKey;

/** Chooses a first key where there is none in force, and the next one when it is due. */
export function chooseDue(make: Make, now: UnixSeconds): ChooseKey {
  return (keys) => {
    const current = keyInForce(keys, now);
    if (current === null) return make(now);
    const takesOver = current.nbf + SIGNS_FOR_S;
    if (nextKey(keys, now) !== null || now < takesOver - PUBLISHED_AHEAD_S) return null;
    return make(Math.max(takesOver, now + PUBLISHED_AHEAD_S));
  };
}

/** Chooses a next key unless one waits already; at once: one that signs from now on. */
export function chooseNext(make: Make, now: UnixSeconds, atOnce: boolean): ChooseKey {
  return (keys) => {
    if (atOnce || keyInForce(keys, now) === null) return make(now);
    return nextKey(keys, now) === null ? make(now + PUBLISHED_AHEAD_S) : null;
  };
}

/** The public part of a key, as it is published. */
export function jwkOf({ kid, x, nbf, exp, compromised_since }: KeptKey): SigningJwk {
  const form = { kty: 'OKP', crv: 'Ed25519', alg: 'Ed25519', use: 'sig' } as const;
  return { ...form, kid, x, nbf, exp, compromised_since };
}

/** Opens a key; `null`: no secret opens it, or it is not the key of its public part. */
export function openKey({ unseal }: Pick<KeySealing, 'unseal'>, key: KeptKey): SigningKey | null {
  const { kid, x, nbf, exp, sealed } = key;
  const d = sealed === null ? null : unseal(sealed, kid);
  if (d === null) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', d, x };
  const opened = createPrivateKey({ key: jwk, format: 'jwk' });
  const isOwn = opened.export({ format: 'jwk' }).x === x && kid.endsWith(kidOf(x, false));
  if (!isOwn) return null;
  return { kid, x, nbf, exp, sign: (bytes) => signWith(null, bytes, opened) };
}

/** Keys that were read so long ago are asked for again behind an answer. */
const FRESH_MS = 2_000;
/** Nothing is signed with keys that were read longer ago: one of them may be marked by now. */
const HELD_MS_MAX = 5_000;

type KeysRead = Reading<readonly KeptKey[], SigningPort>;

type SigningParts = {
  readonly kept: Pick<KeptKeys, 'all'>;
  readonly sealing: Pick<KeySealing, 'unseal'>;
  /** Unix seconds. */
  readonly now: () => UnixSeconds;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number;
  /** Told of a fault of ours behind an answer. */
  readonly onFault: (fault: unknown) => void;
};

/** Signs with the key in force; after `forget` no keys are used that were asked for before it. */
export function createSigning(parts: SigningParts): Signing & { readonly forget: () => void } {
  const { kept, sealing, now, elapsedMs, onFault } = parts;
  let held: {
    readonly reading: Read<readonly KeptKey[], SigningPort>;
    readonly atMs: number;
  } | null = null;
  let pending: Promise<KeysRead> | null = null;
  let opened: { readonly sealed: Sealed; readonly key: SigningKey } | null = null;

  const refresh = (): Promise<KeysRead> => {
    if (pending !== null) return pending;
    const atMs = elapsedMs();
    const asked: Promise<KeysRead> = kept.all().then((reading) => {
      // Forgotten meanwhile: they are the keys from before a change.
      if (pending !== asked) return refresh();
      if (!(reading instanceof Unread)) held = { reading, atMs };
      return reading;
    });
    pending = asked;
    const end = () => {
      if (pending === asked) pending = null;
    };
    asked.then(end, end);
    return asked;
  };

  const keys = async (): Promise<KeysRead> => {
    const ageMs = held === null ? Number.POSITIVE_INFINITY : elapsedMs() - held.atMs;
    if (held === null || ageMs > HELD_MS_MAX) return refresh();
    if (ageMs > FRESH_MS && pending === null) refresh().catch(onFault);
    return held.reading;
  };

  const open = (key: KeptKey): SigningKey | null => {
    if (opened !== null && opened.key.kid === key.kid && opened.sealed === key.sealed) {
      return opened.key;
    }
    const own = openKey(sealing, key);
    opened = own === null || key.sealed === null ? null : { sealed: key.sealed, key: own };
    return own;
  };

  const current: Signing['current'] = async () => {
    const reading = await keys();
    if (reading instanceof Unread) return reading;
    const inForce = keyInForce(reading.value, now());
    if (inForce === null) return unread(PORT, why('signing_key_missing'));
    const own = open(inForce);
    if (own === null) return unread(PORT, why('signing_key_unopened', { kid: inForce.kid }));
    return map(reading, () => own);
  };

  return {
    current,
    sign: async (bytes) =>
      map(await current(), ({ kid, x, sign }) => ({ kid, x, signature: sign(bytes) })),
    publicKeys: async () => map(await keys(), (all) => all.map(jwkOf)),
    forget: () => {
      held = null;
      pending = null;
    },
  };
}

/** Seals anew what another secret sealed, so that the secret before may go. */
export async function sealKeysAnew(
  kept: Pick<KeptKeys, 'all' | 'reseal'>,
  { seal, unseal, fingerprint }: KeySealing,
): Promise<Reading<{ readonly resealed: number; readonly unopened: number }, SigningPort>> {
  const all = await kept.all();
  if (all instanceof Unread) return all;
  let [resealed, unopened] = [0, 0];
  for (const { kid, sealed } of all.value) {
    if (sealed === null || sealed.by === fingerprint) continue;
    const seed = unseal(sealed, kid);
    if (seed === null) {
      unopened += 1;
      continue;
    }
    const stored = await kept.reseal(kid, sealed, seal(seed, kid));
    if (stored instanceof Unread) return stored;
    resealed += 1;
  }
  return map(all, () => ({ resealed, unopened }));
}
