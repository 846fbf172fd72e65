// Answers one question: may this browser be signed in for this membership?
// By a link that we signed and that opens once, or by the code that the payment platform shows to
// whoever bought it. Whether a membership exists is told to nobody: all tries do the same work.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { HOUR_S, type UnixSeconds } from '../chain/time.ts';
import { type Reading, Unread } from '../evidence/reading.ts';
import type { SessionsPort } from '../ports/access/session-store.ts';
import type { SignInStore } from '../ports/access/sign-in-store.ts';
import { hashesOf, type Secrets } from './secret.ts';
import type { Sessions } from './session.ts';

/** A link opens for so long: 24 hours. */
export const LINK_LIFETIME_S = 24 * HOUR_S;
/** So many codes may be tried for one membership within the window. */
export const TRIES_MAX = 10;
/** The window of tries, in seconds: 15 minutes. */
export const TRIES_WINDOW_S = 900;
/** Tries are counted in so many buckets, so that what is counted cannot grow. */
const BUCKETS = 4_096;
const NONCE_BYTES = 16;
const MAC_BYTES = 32;
const LINK = /^([A-Za-z0-9_-]{3,100})\.([0-9]{10,11})\.([\w-]{22})\.([\w-]{43})$/;

/** What came of trying to sign in. `cookie` is the Set-Cookie to answer. */
export type SignInOutcome =
  | { readonly outcome: 'signed_in'; readonly cookie: string }
  | { readonly outcome: 'refused' | 'too_often' | 'unreachable' };

/** How browsers are signed in. */
export type SignIn = {
  /** Makes a link's text for a membership: whoever has it signs in with it, once. */
  readonly mintLink: (membershipId: string) => string;
  /** The membership of a link that we signed and that is not too old; it uses nothing up. */
  readonly membershipOf: (link: string) => string | null;
  readonly byLink: (link: string) => Promise<SignInOutcome>;
  readonly byCode: (membershipId: string, code: string) => Promise<SignInOutcome>;
};

/** Makes the sign-in. `now` gives Unix seconds. */
export function createSignIn(
  store: SignInStore,
  sessions: Pick<Sessions, 'begin'>,
  secrets: Secrets,
  now: () => UnixSeconds,
): SignIn {
  const begin = async (membershipId: string): Promise<SignInOutcome> =>
    begun(await sessions.begin(membershipId));
  const parse = (link: string) => parsedLink(link, secrets, now());
  return {
    mintLink: (membershipId) => {
      const expires = Math.ceil(now()) + LINK_LIFETIME_S;
      const body = `${membershipId}.${expires}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
      return `${body}.${macOf(body, secrets[0]).toString('base64url')}`;
    },
    membershipOf: (link) => {
      const parsed = parse(link);
      return parsed === null ? null : parsed.membership_id;
    },
    byLink: async (link) => {
      const parsed = parse(link);
      if (parsed === null) return { outcome: 'refused' };
      const used = await store.useLink({ at: now(), ...parsed });
      if (used instanceof Unread) return { outcome: 'unreachable' };
      return used.value ? begin(parsed.membership_id) : { outcome: 'refused' };
    },
    byCode: async (membershipId, code) => {
      const bucket = bucketOf(membershipId, secrets[0]);
      const tries = await store.countTry(bucket, now(), TRIES_WINDOW_S);
      if (tries instanceof Unread) return { outcome: 'unreachable' };
      if (tries.value > TRIES_MAX) return { outcome: 'too_often' };
      const known = await store.codeOf(membershipId);
      const sent = hashesOf(code, secrets);
      if (known instanceof Unread) return { outcome: 'unreachable' };
      const { hash, pepper } = known.value === null ? NO_CODE : known.value;
      // All are compared, and a membership without a code is compared with what no code gives.
      const matches = sent.map((one) => {
        return timingSafeEqual(one.hash, hash) && one.pepper === pepper;
      });
      if (!matches.includes(true)) return { outcome: 'refused' };
      await store.forgetTries(bucket);
      return begin(membershipId);
    },
  };
}

/** The hash of no code: random, and under no pepper. */
const NO_CODE = { hash: randomBytes(MAC_BYTES), pepper: '' } as const;

function begun(cookie: Reading<string, SessionsPort>): SignInOutcome {
  if (cookie instanceof Unread) return { outcome: 'unreachable' };
  return { outcome: 'signed_in', cookie: cookie.value };
}

function parsedLink(link: string, secrets: Secrets, now: UnixSeconds) {
  const [, membership_id, expires, id, mac] = LINK.exec(link) ?? NO_MATCH;
  if (membership_id === undefined || expires === undefined) return null;
  if (id === undefined || mac === undefined) return null;
  const sent = Buffer.from(mac, 'base64url');
  const body = `${membership_id}.${expires}.${id}`;
  const signed = secrets.map((secret) => timingSafeEqual(sent, macOf(body, secret)));
  const expires_at = Number(expires);
  return signed.includes(true) && expires_at > now ? { membership_id, id, expires_at } : null;
}

const NO_MATCH: readonly undefined[] = [];

function macOf(body: string, { links }: Secrets[number]): Buffer {
  return createHmac('sha256', links).update(body).digest();
}

// Which ids share a bucket follows from the secret, so that nobody can choose whom to lock out.
function bucketOf(membershipId: string, { links }: Secrets[number]): number {
  const mac = createHmac('sha256', links).update(`tries ${membershipId}`).digest();
  return mac.readUInt32BE(0) % BUCKETS;
}
