// A session belongs to one membership, expires, and is stored only as a hash.

import { describe, expect, test } from 'vitest';
import { Read, Unread } from '../evidence/reading.ts';
import { accessIn, onEachEngine } from '../testing/control-store.ts';
import { rowsAs } from '../testing/rows-as.ts';
import { deriveSecrets } from './secret.ts';
import {
  createSessions,
  isFormOf,
  SESSION_GRACE_S,
  SESSION_IDLE_S,
  SESSION_LIFETIME_S,
  SESSION_RENEWED_EACH_S,
} from './session.ts';

const START = 1_790_000_000;
const ROOT = 'a root secret of the tests';
const SECRETS = deriveSecrets(ROOT, null);
const UA = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0';
const FROM = { agent: UA, network: '192.0.2' };
const USE = { by: 'request', network: () => '192.0.2' } as const;

onEachEngine((engine, fresh) => {
  async function signedIn(secure = true) {
    const database = fresh();
    let at = START;
    const { memberships, sessions: store } = accessIn(database, () => at * 1_000);
    await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at });
    const made = (secrets = SECRETS) => createSessions(store, secrets, secure, () => at);
    const sessions = made();
    const begun = await sessions.begin('mem_1', FROM);
    if (!(begun instanceof Read)) throw new Error('unread');
    const cookie = begun.value.slice(0, begun.value.indexOf(';'));
    const later = (seconds: number) => {
      at += seconds;
    };
    return { database, made, sessions, setCookie: begun.value, cookie, later };
  }

  describe(`a session on ${engine}`, () => {
    test('opens to its cookie alone, whatever stands beside it', async () => {
      const { sessions, cookie } = await signedIn();
      const opened = {
        outcome: 'opens',
        caller: {
          kind: 'session',
          session_id: expect.stringMatching(/^ses_/),
          membership_id: 'mem_1',
          form_token: expect.stringMatching(/^[\w-]{43}$/),
        },
        cookie: null,
      };
      expect(await sessions.authenticate(cookie, UA, USE)).toEqual(opened);
      expect(await sessions.authenticate(`a=b; ${cookie}; c=d`, UA, USE)).toEqual(opened);
      const changed = `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`;
      const [, token = ''] = cookie.split('=');
      for (const wrong of [undefined, '', 'a=b', changed, `exhibit=${token}`, `${cookie}x`]) {
        expect((await sessions.authenticate(wrong, UA, USE)).outcome).toBe('none');
      }
    });

    test('is kept as a hash: nothing of its cookie stands in the store', async () => {
      const { database, cookie } = await signedIn();
      const [, token = ''] = cookie.split('=');
      const rows = await database.query('select s::text as row from sessions s');
      expect(rows).toHaveLength(1);
      const bytes = Buffer.from(token).toString('hex');
      expect(JSON.stringify(rows)).not.toContain(token);
      expect(JSON.stringify(rows)).not.toContain(bytes);
    });

    test('gives a cookie to this host alone by https, and to no script', async () => {
      const { setCookie } = await signedIn();
      expect(setCookie).toMatch(
        /^__Host-exhibit=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
      );
      const { setCookie: plain } = await signedIn(false);
      expect(plain).toMatch(/^exhibit=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
    });

    test('closes when it was idle for too long, and lives on while it is used', async () => {
      const { sessions, cookie, later } = await signedIn();
      for (let i = 0; i < 3; i += 1) {
        later(SESSION_IDLE_S - 60);
        expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('opens');
      }
      later(SESSION_IDLE_S);
      expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('none');
    });

    test('closes at the end of its life however much it is used', async () => {
      const { sessions, cookie, later } = await signedIn();
      const step = SESSION_IDLE_S / 2;
      for (let lived = step; lived < SESSION_LIFETIME_S; lived += step) {
        later(step);
        expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('opens');
      }
      later(step);
      expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('none');
    });

    test('is ended for good, at once, and only itself', async () => {
      const { sessions, cookie } = await signedIn();
      const other = await sessions.begin('mem_1', FROM);
      const said = await sessions.authenticate(cookie, UA, USE);
      if (said.outcome !== 'opens' || !(other instanceof Read)) throw new Error('is not open');
      const ended = await sessions.signOut(said.caller.session_id);
      expect(ended instanceof Read && ended.value).toMatch(/^__Host-exhibit=; .*Max-Age=0;/);
      expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('none');
      expect((await sessions.authenticate(other.value.split(';')[0], UA, USE)).outcome).toBe(
        'opens',
      );
    });

    test('stays open for a stream that began under a token before, which is no replay', async () => {
      const { sessions, cookie, later } = await signedIn();
      later(SESSION_RENEWED_EACH_S);
      const renewed = await sessions.authenticate(cookie, UA, USE);
      const next = renewed.outcome === 'opens' ? String(renewed.cookie).split(';')[0] : undefined;
      expect((await sessions.authenticate(next, UA, USE)).outcome).toBe('opens');
      later(SESSION_GRACE_S + 1);
      const stream = { ...USE, by: 'open_stream' } as const;
      expect((await sessions.authenticate(cookie, UA, stream)).outcome).toBe('opens');
      expect((await sessions.authenticate(next, UA, USE)).outcome).toBe('opens');
      // To open another one with it is.
      const opening = { ...USE, by: 'opening' } as const;
      expect((await sessions.authenticate(cookie, UA, opening)).outcome).toBe('none');
      expect((await sessions.authenticate(next, UA, stream)).outcome).toBe('none');
    });

    test('drops the sessions that ended when another begins', async () => {
      const { database, sessions, later } = await signedIn();
      later(SESSION_LIFETIME_S + 1);
      await sessions.begin('mem_1', FROM);
      const [row] = await rowsAs<{ n: number }>(
        database,
        'select count(*)::int as n from sessions',
      );
      expect(row?.n).toBe(1);
    });

    test('opens through a rotation of the root secret', async () => {
      const { made, cookie } = await signedIn();
      const rotated = made(deriveSecrets('another root secret', ROOT));
      expect((await rotated.authenticate(cookie, UA, USE)).outcome).toBe('opens');
      const forgotten = made(deriveSecrets('another root secret', null));
      expect((await forgotten.authenticate(cookie, UA, USE)).outcome).toBe('none');
    });

    test('opens nothing and begins nothing where the store is silent', async () => {
      const { database, sessions, cookie } = await signedIn();
      database.silence('it was silenced');
      expect((await sessions.authenticate(cookie, UA, USE)).outcome).toBe('unreachable');
      expect(await sessions.begin('mem_1', FROM)).toBeInstanceOf(Unread);
    });

    test('makes a token for its forms that no other session has', async () => {
      const { sessions, cookie } = await signedIn();
      const other = await sessions.begin('mem_1', FROM);
      const mine = await sessions.authenticate(cookie, UA, USE);
      const cookies = other instanceof Read ? other.value.split(';')[0] : undefined;
      const theirs = await sessions.authenticate(cookies, UA, USE);
      if (mine.outcome !== 'opens' || theirs.outcome !== 'opens') throw new Error('is not open');
      expect(isFormOf(mine.caller, mine.caller.form_token)).toBe(true);
      expect(isFormOf(mine.caller, theirs.caller.form_token)).toBe(false);
      expect(isFormOf(mine.caller, '')).toBe(false);
    });
  });
});
