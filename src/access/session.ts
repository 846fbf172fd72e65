// Sessions of browsers. The cookie holds a random token and nothing else; the store holds its hash.
// A form carries a token that follows from its session, so that another site cannot send one in its
// name.

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { DAY_S, HOUR_S, type UnixSeconds } from '../chain/time.ts';
import type { Caller } from '../contract/route.ts';
import { listOrNone } from '../evidence/measure.ts';
import { map, type Reading, Unread } from '../evidence/reading.ts';
import type {
  Actor,
  BrowserSession,
  FoundSession,
  SessionStore,
  SessionsPort,
  SessionsToEnd,
  SignInStore,
  UsedFrom,
} from '../ports/access.ts';
import { hashesOf, mintId, type Secrets } from './secret.ts';

/** A browser that was not used for so long is signed out: 12 hours. */
export const SESSION_IDLE_S = 12 * HOUR_S;
/** However much it is used, it signs in again after so long: 7 days. */
export const SESSION_LIFETIME_S = 7 * DAY_S;
/** A use is noted once in so long. */
const SEEN_EACH_S = 60;
/** A browser that is used gets another token after so long: an hour. */
export const SESSION_RENEWED_EACH_S = HOUR_S;
/**
 * A token before opens for so long after the one in force was first used, because requests with it
 * may be under way: a minute. Whoever sends it later copied it, and the session ends.
 */
export const SESSION_GRACE_S = 60;
/** A browser is known again for so long after it signed in by a code: a year. */
const BROWSER_S = 365 * DAY_S;
const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;

/**
 * The result of looking up a cookie. `unreachable`: the store did not answer, so it may be valid.
 * `cookie`: the Set-Cookie of another token, where the browser gets one.
 */
export type SessionOutcome =
  | {
      readonly outcome: 'opens';
      readonly caller: Extract<Caller, { kind: 'session' }>;
      readonly cookie: string | null;
    }
  | { readonly outcome: 'none' | 'unreachable'; readonly reason: string };

/**
 * The sender of a cookie: a request, or the opening of a stream, whose answer gives no other token.
 * An open stream is looked at again with the cookie of its opening: that is no use, and no replay.
 */
export type SessionUse = {
  readonly by: 'request' | 'opening' | 'open_stream';
  readonly network: () => string;
};

/** The User-Agent and the network of a use. */
export type SentFrom = { readonly agent: string | undefined; readonly network: string };

/** The signed-in browsers, as doors and sign-in pages use them. */
export type Sessions = {
  /** Tells from a Cookie header whose browser it is. */
  readonly authenticate: (
    cookies: string | undefined,
    agent: string | undefined,
    use: SessionUse,
  ) => Promise<SessionOutcome>;
  /** Signs a browser in, under a new token whatever it held before: the Set-Cookie to answer. */
  readonly begin: (membershipId: string, from: SentFrom) => Promise<Reading<string, SessionsPort>>;
  /** The mark of a browser for a year, held or given; it opens nothing by itself. */
  readonly browserOf: (cookies: string | undefined) => {
    readonly token: string;
    readonly cookie: string;
  };
  /** The sessions of a membership that open, the one that was used last first. */
  readonly list: (membershipId: string) => ReturnType<SessionStore['list']>;
  /** Ends sessions, and says how many. */
  readonly end: (
    which: SessionsToEnd,
    by: Exclude<Actor, 'service'>,
  ) => Promise<Reading<number, SessionsPort>>;
  /** Signs a browser out: the Set-Cookie to answer. */
  readonly signOut: (sessionId: string) => Promise<Reading<string, SessionsPort>>;
};

const SIGN_IN = 'No browser is signed in here with this cookie, or it was idle for too long.';
const REPLAYED =
  'This cookie was replaced before, and somebody sent it again: its session has ended. Sign in.';

/**
 * Makes the sessions. `secure`: browsers reach the service by https, so that the cookie is sent to
 * this host alone and never in the clear. `now` gives Unix seconds.
 */
export function createSessions(
  store: SessionStore,
  secrets: Secrets,
  secure: boolean,
  now: () => UnixSeconds,
): Sessions {
  const name = secure ? '__Host-exhibit' : 'exhibit';
  const cookie = (token: string, forS: number, of = name) =>
    `${of}=${token}; Path=/; Max-Age=${forS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  // A token that could not be replaced stays as good as it was.
  const renew = async (id: string, at: UnixSeconds, after: number): Promise<string | null> => {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const [secret] = hashesOf(token, secrets);
    const renewed = await store.renew(id, secret, at, at - after);
    if (renewed instanceof Unread || renewed.value === null) return null;
    return cookie(token, Math.max(1, Math.floor(renewed.value + SESSION_LIFETIME_S - at)));
  };
  // A browser that never used its new token did not get it, and is given another.
  const renewWhereDue = async (session: FoundSession, at: UnixSeconds): Promise<string | null> => {
    const { id, by_replaced, taken_up_at, renewed_at } = session;
    if (by_replaced && taken_up_at !== null) return null;
    const after = by_replaced ? SESSION_GRACE_S : SESSION_RENEWED_EACH_S;
    return at - renewed_at < after ? null : await renew(id, at, after);
  };
  return {
    authenticate: async (cookies, agent, { by, network }) => {
      const token = cookieOf(cookies, name);
      if (token === null) return { outcome: 'none', reason: SIGN_IN };
      const found = await store.find(hashesOf(token, secrets));
      if (found instanceof Unread) return UNREACHABLE;
      const session = found.value;
      const at = now();
      if (session === null || !isOpen(session, at)) return { outcome: 'none', reason: SIGN_IN };
      const { id: session_id, membership_id, by_replaced, taken_up_at } = session;
      const form_token = formTokenOf(session_id, secrets);
      const caller = { kind: 'session', session_id, membership_id, form_token } as const;
      if (by === 'open_stream') return { outcome: 'opens', caller, cookie: null };
      if (by_replaced && taken_up_at !== null && at - taken_up_at > SESSION_GRACE_S) {
        const only = { id: session_id, membership_id };
        const ended = await store.end(only, at, 'service', 'session_replayed');
        if (ended instanceof Unread) return UNREACHABLE;
        return { outcome: 'none', reason: REPLAYED };
      }
      // A use that could not be noted signs out early, and opens nothing that it should not.
      const takesUp = !by_replaced && taken_up_at === null;
      if (takesUp || at - session.seen_at >= SEEN_EACH_S) {
        await store.seen(session_id, { at, takesUp, ...clientText({ agent, network: network() }) });
      }
      const renewed = by === 'request' ? await renewWhereDue(session, at) : null;
      return { outcome: 'opens', caller, cookie: renewed };
    },
    begin: async (membership_id, sent) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const [secret] = hashesOf(token, secrets);
      const created_at = now();
      const session = {
        id: mintId('ses'),
        membership_id,
        secret,
        created_at,
        from: clientText(sent),
      };
      const added = await store.add(session, created_at - SESSION_LIFETIME_S);
      return map(added, () => cookie(token, SESSION_LIFETIME_S));
    },
    browserOf: (cookies) => {
      const held = cookieOf(cookies, `${name}-browser`);
      const token = held === null ? randomBytes(TOKEN_BYTES).toString('base64url') : held;
      return { token, cookie: cookie(token, BROWSER_S, `${name}-browser`) };
    },
    list: (membershipId) => {
      const [created, seen] = [now() - SESSION_LIFETIME_S, now() - SESSION_IDLE_S];
      return store.list(membershipId, { created, seen });
    },
    end: (which, by) => store.end(which, now(), by, 'session_ended'),
    signOut: async (id) => {
      const ended = await store.end({ id, membership_id: null }, now(), 'member', 'signed_out');
      return map(ended, () => cookie('', 0));
    },
  };
}

const UNREACHABLE = {
  outcome: 'unreachable',
  reason: 'Sessions cannot be checked at the moment.',
} as const;

function isOpen({ created_at, seen_at, ended_at }: BrowserSession, at: UnixSeconds): boolean {
  if (ended_at !== null) return false;
  return at - seen_at < SESSION_IDLE_S && at - created_at < SESSION_LIFETIME_S;
}

// Browsers name those that they imitate too: the first that matches is meant.
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/**
 * The browser and the network of a use, in our own words: nothing of a User-Agent is kept as it was
 * sent.
 */
function clientText({ agent, network }: SentFrom): UsedFrom {
  const nameIn = (names: typeof BROWSERS | typeof SYSTEMS) =>
    agent === undefined ? undefined : names.find(([form]) => form.test(agent))?.[1];
  const [browser = 'Another browser', system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return { browser: system === undefined ? browser : `${browser} on ${system}`, network };
}

function cookieOf(cookies: string | undefined, name: string): string | null {
  if (cookies === undefined) return null;
  const held = cookies.split(';').map((one) => one.trim());
  const [token] = held.flatMap((one) => {
    return one.startsWith(`${name}=`) ? [one.slice(name.length + 1)] : [];
  });
  return token !== undefined && TOKEN_FORM.test(token) ? token : null;
}

function formTokenOf(sessionId: string, [{ forms }]: Secrets): string {
  return createHmac('sha256', forms).update(sessionId).digest('base64url');
}

/** Whether a form was made for this session. Takes the same time whatever was sent. */
export function isFormOf({ form_token }: { readonly form_token: string }, sent: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(form_token), digest(sent));
}

// A browser is signed in by a link that we signed and that opens once, or by the code that the
// payment platform shows to whoever bought it. Whether a membership exists is told to nobody: all
// tries do the same work.

/** A link opens for so long: 24 hours. */
export const LINK_LIFETIME_S = 24 * HOUR_S;
/** After so many tries for one membership within the window the next ones are slow. */
export const TRIES_MAX = 10;
/** And after so many from one network, for whichever memberships. */
export const NETWORK_TRIES_MAX = 30;
/** How long a slow try waits before it is looked at. */
const SLOW_MS = 2_000;
/** The window of tries, in seconds: 15 minutes. */
export const TRIES_WINDOW_S = 900;
/** Tries are counted in so many buckets, so that what is counted cannot grow. */
const BUCKETS = 4_096;
const NETWORK_BUCKETS = 65_536;
const NONCE_BYTES = 16;
const MAC_BYTES = 32;
const LINK = /^([A-Za-z0-9_-]{3,100})\.([0-9]{10,11})\.([\w-]{22})\.([\w-]{43})$/;

/** The result of an attempt to sign in. `cookies` are the Set-Cookie to send. */
export type SignInOutcome =
  | { readonly outcome: 'signed_in'; readonly cookies: readonly string[] }
  | { readonly outcome: 'refused' | 'too_often' | 'unreachable' };

export type SignIn = {
  /** Makes a link's text for a membership: whoever has it signs in with it, once. */
  readonly mintLink: (membershipId: string) => string;
  /** The membership of a link that we signed and that is not too old; it uses nothing up. */
  readonly membershipOf: (link: string) => string | null;
  readonly byLink: (link: string, from: SentFrom) => Promise<SignInOutcome>;
  /**
   * A code opens in the browser that used it first, and in no other: it is shown for as long as the
   * membership lasts, and may be seen by others.
   */
  readonly byCode: (
    membershipId: string,
    code: string,
    from: SentFrom & { readonly cookies: string | undefined },
  ) => Promise<SignInOutcome>;
};

/** Tries that wait together, of all networks. */
const WAITING_MAX = 4_096;

/**
 * The slow lane: a try that comes too often is not refused, so that nobody can shut the rightful
 * member out; it waits. Of one network one waits at a time for each membership: a network may be
 * that of many, and all are of one behind a proxy that is not believed.
 */
function laneOf(wait: (ms: number) => Promise<void>) {
  const waiting = new Set<string>();
  return {
    pass: async (network: string, idBucket: number): Promise<boolean> => {
      const place = `${network} ${idBucket}`;
      if (waiting.has(place) || waiting.size >= WAITING_MAX) return false;
      waiting.add(place);
      try {
        await wait(SLOW_MS);
      } finally {
        waiting.delete(place);
      }
      return true;
    },
  };
}

/** Makes the sign-in. `now` gives Unix seconds; `wait` ends after so many milliseconds. */
export function createSignIn(
  store: SignInStore,
  sessions: Pick<Sessions, 'begin' | 'browserOf'>,
  secrets: Secrets,
  now: () => UnixSeconds,
  wait: (ms: number) => Promise<void>,
): SignIn {
  const begin = async (
    membershipId: string,
    from: SentFrom,
    others: readonly string[],
  ): Promise<SignInOutcome> => {
    const cookie = await sessions.begin(membershipId, from);
    if (cookie instanceof Unread) return { outcome: 'unreachable' };
    return { outcome: 'signed_in', cookies: [cookie.value, ...others] };
  };
  const slowLane = laneOf(wait);
  // Which of them share a bucket follows from the secret: nobody can choose whom to slow down.
  const bucketsOf = (membershipId: string, network: string) => {
    const [ofId, ofNetwork] = [`tries ${membershipId}`, `tries from ${network}`].map((text) => {
      return macOf(text, secrets[0]).readUInt32BE(0);
    });
    return {
      id: Number(ofId) % BUCKETS,
      network: BUCKETS + (Number(ofNetwork) % NETWORK_BUCKETS),
    };
  };
  const parse = (link: string) => {
    const [, membership_id, expires, id, mac] = listOrNone(LINK.exec(link));
    if (membership_id === undefined || expires === undefined) return null;
    if (id === undefined || mac === undefined) return null;
    const sent = Buffer.from(mac, 'base64url');
    const body = `${membership_id}.${expires}.${id}`;
    const signed = secrets.map((secret) => timingSafeEqual(sent, macOf(body, secret)));
    const expires_at = Number(expires);
    return signed.includes(true) && expires_at > now() ? { membership_id, id, expires_at } : null;
  };
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
    byLink: async (link, from) => {
      const parsed = parse(link);
      if (parsed === null) return { outcome: 'refused' };
      const used = await store.useLink({ at: now(), ...parsed });
      if (used instanceof Unread) return { outcome: 'unreachable' };
      return used.value ? begin(parsed.membership_id, from, []) : { outcome: 'refused' };
    },
    byCode: async (membershipId, code, from) => {
      const { network, cookies } = from;
      const { token, cookie } = sessions.browserOf(cookies);
      const buckets = bucketsOf(membershipId, network);
      const tries = await store.countTries(buckets, now(), TRIES_WINDOW_S);
      const known = await store.codeOf(membershipId);
      const sent = hashesOf(code, secrets);
      const browsers = hashesOf(token, secrets);
      if (tries instanceof Unread || known instanceof Unread) return { outcome: 'unreachable' };
      const { hash, pepper, browser_hash: bound } = known.value === null ? NO_CODE : known.value;
      // All are compared, and a membership without a code is compared with what no code gives.
      const isOwn = browsers
        .map((one) => timingSafeEqual(one.hash, bound === null ? NO_CODE.hash : bound))
        .includes(true);
      const isSlow = tries.value.ofId > TRIES_MAX || tries.value.ofNetwork > NETWORK_TRIES_MAX;
      if (isSlow && !isOwn && !(await slowLane.pass(network, buckets.id))) {
        return { outcome: 'too_often' };
      }
      const matches = sent.map((one) => {
        return timingSafeEqual(one.hash, hash) && one.pepper === pepper;
      });
      if (!matches.includes(true) || !(bound === null || isOwn)) return { outcome: 'refused' };
      const [browser] = browsers;
      const isBound = isOwn ? null : await store.bindCode(membershipId, hash, browser.hash);
      if (isBound instanceof Unread) return { outcome: 'unreachable' };
      // Of two browsers that come together the first has the code.
      if (isBound?.value === false) return { outcome: 'refused' };
      await store.forgetTries(buckets.id);
      return begin(membershipId, from, [cookie]);
    },
  };
}

/** The hash of no code: random, and under no pepper. */
const NO_CODE = { hash: randomBytes(MAC_BYTES), pepper: '', browser_hash: null } as const;

function macOf(body: string, { links }: Secrets[number]): Buffer {
  return createHmac('sha256', links).update(body).digest();
}
