// A browser manages its membership: over a socket, on a real store.

import { describe, expect, test, vi } from 'vitest';
import {
  createSignIn,
  LINK_LIFETIME_S,
  NETWORK_TRIES_MAX,
  SESSION_GRACE_S,
  SESSION_RENEWED_EACH_S,
  TRIES_MAX,
  TRIES_WINDOW_S,
} from './access/session.ts';

import { UNSHOWN_S } from './access/unshown-key.ts';
import { embeddedControl } from './testing/control-store.ts';
import {
  buyMembership,
  CODE,
  idsIn,
  MINE,
  START,
  serveMembers,
  THEIRS,
} from './testing/member-service.ts';
import { rowsAs } from './testing/rows-as.ts';

const DAY_S = 86_400;
const fresh = embeddedControl();

/** What a browser that signed in by a code sends of itself. */
function browserCookie({ headers }: { headers: Headers }): string {
  const [, cookie = ''] = headers.getSetCookie();
  return String(cookie.split(';')[0]);
}

describe('signing in', () => {
  test('a link signs in once, after a button: to look at it uses nothing', async () => {
    const { send, post, linkOf } = await serveMembers(fresh, fetch);
    const link = linkOf(MINE);
    for (let i = 0; i < 3; i += 1) {
      const page = await send('GET', `/activate?link=${link}`);
      expect([page.status, page.cookie]).toEqual([200, null]);
      expect(page.text).toContain(MINE);
    }
    const signed = await post('/activate', { link });
    expect([signed.status, signed.headers.get('location')]).toEqual([303, '/settings']);
    expect(signed.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect((await post('/activate', { link })).status).toBe(401);
  });

  test('of many who use one link together one is signed in', async () => {
    const { post, linkOf } = await serveMembers(fresh, fetch);
    const link = linkOf(MINE);
    const said = await Promise.all(Array.from({ length: 6 }, () => post('/activate', { link })));
    expect(said.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401, 401]);
  });

  test('a link that is changed, old, of another secret or of no membership opens nothing', async () => {
    const { send, post, linkOf, later } = await serveMembers(fresh, fetch);
    const link = linkOf(MINE);
    const [id, ...rest] = link.split('.');
    const swapped = [THEIRS, ...rest].join('.');
    const longer = [id, String(START + 10 * DAY_S), ...rest.slice(1)].join('.');
    for (const wrong of [swapped, longer, link.slice(0, -1), `${link}A`, '', linkOf('mem_none')]) {
      expect([wrong, (await post('/activate', { link: wrong })).status]).toEqual([wrong, 401]);
    }
    expect((await send('GET', `/activate?link=${swapped}`)).text).not.toContain(THEIRS);
    later(LINK_LIFETIME_S + 2);
    expect((await post('/activate', { link })).status).toBe(401);
  });

  test('the code of a purchase signs in the browser that used it first, again, and no other', async () => {
    const served = await serveMembers(fresh, fetch);
    const { post, store } = served;
    await buyMembership(served);
    const right = { membership_id: MINE, code: CODE };
    for (const wrong of [
      { membership_id: THEIRS, code: CODE },
      { membership_id: MINE, code: CODE.slice(1) },
      { membership_id: MINE, code: CODE.toLowerCase() },
      { membership_id: MINE },
      {},
    ]) {
      expect((await post('/activate', wrong)).status).toBe(401);
    }
    const first = await post('/activate', right);
    expect(first.status).toBe(303);
    const cookie = browserCookie(first);
    const again = await post('/activate', { ...right, code: ` ${CODE} ` }, { cookie });
    expect(again.status).toBe(303);
    // The code is shown beside the purchase for good: whoever else reads it has nothing.
    const thief = await post('/activate', right);
    const guess = await post('/activate', { ...right, code: 'wrong' });
    expect([thief.status, thief.text]).toEqual([401, guess.text]);
    const marked = { cookie: `exhibit-browser=${'A'.repeat(43)}` };
    expect((await post('/activate', right, marked)).status).toBe(401);
    const [row] = await store.query('select browser_hash::text as held from sign_in_codes');
    expect(Object(row).held).not.toContain(Buffer.from(cookie.split('=')[1] ?? '').toString('hex'));
  });

  test('of two browsers that use a new code together one has it', async () => {
    const served = await serveMembers(fresh, fetch);
    await buyMembership(served);
    const right = { membership_id: MINE, code: CODE };
    const said = await Promise.all([1, 2, 3].map(() => served.post('/activate', right)));
    expect(said.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  test('whether a membership exists shows in no text, no header and no work', async () => {
    const served = await serveMembers(fresh, fetch);
    const { post, asked } = served;
    await buyMembership(served);
    const tried = async (membership_id: string) => {
      asked.length = 0;
      const { status, text, headers } = await post('/activate', { membership_id, code: 'wrong' });
      const named = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
      return { status, text, headers: named, asked: [...asked] };
    };
    const known = await tried(MINE);
    expect(known.status).toBe(401);
    // Two questions of the store: how often was it tried, and which code is it.
    expect(known.asked).toHaveLength(2);
    for (const other of [THEIRS, 'mem_not_there', '../..', "' or 1=1", 'é', '']) {
      expect(await tried(other)).toEqual(known);
    }
  });

  test('wrong codes shut the rightful member out by no number of tries, for any membership', async () => {
    const served = await serveMembers(fresh, fetch);
    const { post, waited, store, now } = served;
    await buyMembership(served);
    const right = { membership_id: MINE, code: CODE };
    for (const membership_id of [MINE, 'mem_not_there']) {
      for (let i = 0; i < TRIES_MAX + 1; i += 1) {
        expect((await post('/activate', { membership_id, code: `${i}` })).status).toBe(401);
      }
    }
    // The eleventh of each waited, and is still looked at.
    expect(waited).toHaveLength(2);
    const first = await post('/activate', right);
    expect([first.status, waited.length]).toEqual([303, 3]);
    // As many as anybody likes, for every membership and from every network.
    await store.query(
      `insert into sign_in_tries (bucket, began_at, tries)
       select one, to_timestamp($1), 1000000 from generate_series(0, 69631) one
       on conflict (bucket) do update set tries = excluded.tries`,
      [now()],
    );
    const own = await post('/activate', right, { cookie: browserCookie(first) });
    expect([own.status, waited.length]).toEqual([303, 3]);
  });

  test('tries are counted by network too, whatever the memberships are', async () => {
    const served = await serveMembers(fresh, fetch);
    const { post, waited, later } = served;
    const tryOf = (i: number) => post('/activate', { membership_id: `mem_${i}`, code: 'wrong' });
    for (let i = 0; i < NETWORK_TRIES_MAX; i += 1) await tryOf(i);
    expect(waited).toHaveLength(0);
    expect((await tryOf(NETWORK_TRIES_MAX)).status).toBe(401);
    expect(waited).toHaveLength(1);
    later(TRIES_WINDOW_S + 1);
    await tryOf(0);
    expect(waited).toHaveLength(1);
  });

  test('of one network one slow try for a membership waits at a time, and keeps no other waiting', async () => {
    const { signIns, browsers, secrets, now } = await serveMembers(fresh, fetch);
    const waiting: (() => void)[] = [];
    const wait = () => new Promise<void>((go) => waiting.push(go));
    const signIn = createSignIn(signIns, browsers, secrets, now, wait);
    const tryOf = (id: string, network: string) =>
      signIn.byCode(id, 'wrong', { agent: undefined, network, cookies: undefined });
    for (let i = 0; i < NETWORK_TRIES_MAX; i += 1) await tryOf(`mem_${i}`, '192.0.2');
    for (let i = 0; i < TRIES_MAX; i += 1) await tryOf(MINE, '203.0.113');
    const slow = [tryOf(MINE, '192.0.2'), tryOf(THEIRS, '192.0.2'), tryOf(MINE, '198.51.100')];
    await vi.waitFor(() => expect(waiting).toHaveLength(3));
    expect(await tryOf(MINE, '192.0.2')).toEqual({ outcome: 'too_often' });
    for (const go of waiting) go();
    const refused = { outcome: 'refused' };
    expect(await Promise.all(slow)).toEqual([refused, refused, refused]);
  });

  test('another site cannot sign a browser in, by a code or a link', async () => {
    const served = await serveMembers(fresh, fetch);
    const { post, linkOf } = served;
    await buyMembership(served);
    for (const from of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      for (const fields of [{ membership_id: MINE, code: CODE }, { link: linkOf(MINE) }]) {
        const said = await post('/activate', fields, from);
        expect([said.status, said.cookie]).toEqual([403, null]);
      }
    }
  });

  test('a session that a browser was given beforehand is never the one that signs in', async () => {
    const { post, send, linkOf, browser } = await serveMembers(fresh, fetch);
    const planted = (await browser(THEIRS)).cookie;
    const made = `exhibit=${'A'.repeat(43)}`;
    for (const cookie of [planted, made]) {
      const signed = await post('/activate', { link: linkOf(MINE) }, { cookie });
      expect(signed.cookie).not.toBe(cookie);
      expect((await send('GET', '/settings', { cookie: String(signed.cookie) })).text).toContain(
        MINE,
      );
    }
    expect((await send('GET', '/settings', { cookie: planted })).text).not.toContain(MINE);
    expect((await send('GET', '/settings', { cookie: made })).status).toBe(401);
  });

  test('a session in use gets another token, on whatever page, and the one before ends it', async () => {
    const { browser, send, later, store } = await serveMembers(fresh, fetch);
    const { cookie } = await browser();
    expect((await send('GET', '/settings', { cookie })).cookie).toBeNull();
    later(SESSION_RENEWED_EACH_S);
    const together = await Promise.all(
      ['/settings', '/settings/integrations', '/settings/sessions'].map((path) =>
        send('GET', path, { cookie }),
      ),
    );
    const renewed = together.flatMap((one) => (one.cookie === null ? [] : [one.cookie]));
    // Of requests that come together one gets the new token, and all are answered.
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(renewed).toHaveLength(1);
    const next = String(renewed[0]);
    expect((await send('GET', '/settings', { cookie: next })).status).toBe(200);
    const rows = await store.query('select hash::text as held from replaced_session_tokens');
    const [, text = ''] = cookie.split('=');
    expect(rows).not.toHaveLength(0);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(text).toString('hex'));
    later(SESSION_GRACE_S);
    const late = await send('GET', '/settings', { cookie });
    expect([late.status, late.cookie]).toEqual([200, null]);
    later(1);
    // Whoever sends the one before now copied it: nobody has this session any more.
    expect((await send('GET', '/settings', { cookie })).status).toBe(401);
    expect((await send('GET', '/settings', { cookie: next })).status).toBe(401);
    const again = await browser();
    const [row] = await store.query(
      `select by_whom, change, subject from access_changes where change = 'session_replayed'`,
    );
    expect(row).toEqual({
      by_whom: 'service',
      change: 'session_replayed',
      subject: 'Another browser',
    });
    const told = await again.page();
    expect(told).toContain('Session ended: an old cookie of it was sent again');
    expect(told).toContain('the service');
  });

  test('a token that was replaced twice ends its session too', async () => {
    const { browser, send, later } = await serveMembers(fresh, fetch);
    const { cookie: first } = await browser();
    let cookie = first;
    for (let i = 0; i < 3; i += 1) {
      later(SESSION_RENEWED_EACH_S);
      cookie = String((await send('GET', '/settings', { cookie })).cookie);
      expect((await send('GET', '/settings', { cookie })).status).toBe(200);
    }
    later(SESSION_GRACE_S + 1);
    expect((await send('GET', '/settings', { cookie: first })).status).toBe(401);
    expect((await send('GET', '/settings', { cookie })).status).toBe(401);
  });

  test('a browser that never got its new token is given another, and is not signed out', async () => {
    const { browser, send, later } = await serveMembers(fresh, fetch);
    const { cookie } = await browser();
    later(SESSION_RENEWED_EACH_S);
    const lost = await send('GET', '/settings', { cookie });
    expect(lost.cookie).not.toBeNull();
    later(SESSION_GRACE_S + 1);
    const again = await send('GET', '/settings', { cookie });
    expect([again.status, again.cookie === lost.cookie]).toEqual([200, false]);
    expect((await send('GET', '/settings', { cookie: String(again.cookie) })).status).toBe(200);
    later(SESSION_GRACE_S + 1);
    expect((await send('GET', '/settings', { cookie: String(lost.cookie) })).status).toBe(401);
  });

  test('a session is listed with its browser and network, and ended from another one', async () => {
    const { browser, send, post, linkOf } = await serveMembers(fresh, fetch);
    const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) <b>Version/18.0 Safari/604.1';
    const phone = await post('/activate', { link: linkOf(MINE) }, { 'user-agent': agent });
    const theirs = await browser(THEIRS);
    const mine = await browser();
    const page = async () =>
      (await send('GET', '/settings/sessions', { cookie: mine.cookie })).text;
    const listed = await page();
    expect(listed).toContain('Safari on iOS');
    expect(listed).toContain('<code>127.0.0.*</code>');
    expect(listed).toContain('(this one)');
    const idsOf = (text: string) =>
      [...text.matchAll(/sessions\/(ses_\w+)\/end/g)].map(([, id]) => id);
    const [id, ...others] = idsOf(listed);
    expect(others).toEqual([]);
    const path = `/settings/sessions/${id}/end`;
    // Nobody else ends it: not another membership, not another site, not without the token.
    expect((await theirs.act(path)).status).toBe(404);
    expect((await post(path, {}, { cookie: mine.cookie })).status).toBe(403);
    const foreign = { cookie: mine.cookie, origin: 'https://evil.example' };
    expect((await post(path, { form_token: mine.token }, foreign)).status).toBe(403);
    const cookie = String(phone.cookie);
    const opened = await send('GET', '/settings', { cookie, 'user-agent': agent });
    expect(opened.status).toBe(200);
    const ended = await mine.act(path);
    expect([ended.status, ended.headers.get('location')]).toEqual([303, '/settings/sessions']);
    expect((await send('GET', '/settings', { cookie })).status).toBe(401);
    expect((await mine.act(path)).status).toBe(404);
    expect(idsOf(await page())).toEqual([]);
    const changes = await mine.page();
    expect(changes).toContain('Session ended');
    expect(changes).toContain('<code>Safari on iOS</code>');
    expect((await send('GET', '/settings', { cookie: theirs.cookie })).status).toBe(200);
  });

  test('all others are ended together, of this membership alone', async () => {
    const { browser, send } = await serveMembers(fresh, fetch);
    const [one, two, mine] = [await browser(), await browser(), await browser()];
    const theirs = await browser(THEIRS);
    expect((await mine.act('/settings/other-sessions/end')).status).toBe(303);
    const statusOf = async ({ cookie }: { cookie: string }) =>
      (await send('GET', '/settings', { cookie })).status;
    const statuses = await Promise.all([one, two, mine, theirs].map(statusOf));
    expect(statuses).toEqual([401, 401, 200, 200]);
  });

  test('sessions that cannot be read are not shown as none', async () => {
    const { browser, send, store } = await serveMembers(fresh, fetch);
    const { cookie } = await browser();
    store.silence('it was silenced');
    expect((await send('GET', '/settings/sessions', { cookie })).status).toBe(503);
  });

  test('signing out ends the session on the server too', async () => {
    const { browser, send } = await serveMembers(fresh, fetch);
    const { cookie, act } = await browser();
    const said = await act('/sign-out');
    expect([said.status, said.headers.get('location')]).toEqual([303, '/activate']);
    expect(said.headers.get('set-cookie')).toMatch(/^exhibit=; .*Max-Age=0/);
    expect((await send('GET', '/settings', { cookie })).status).toBe(401);
  });
});

describe('the settings', () => {
  test('a key is shown once, opens, counts, is seen as used, is revoked and opens nothing', async () => {
    const { browser, use, later, keys } = await serveMembers(fresh, fetch);
    const { key, page, act } = await browser();
    const { created, text } = await key('Nightly <screen>');
    expect(created.status).toBe(200);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect((await use(text)).status).toBe(200);
    expect((await use(text)).status).toBe(200);
    await keys.close();
    const shown = await page();
    expect(shown).not.toContain(text);
    expect(shown).toContain(text.slice(0, 11));
    expect(shown).toContain('Nightly &lt;screen>');
    expect(shown).toMatch(/last used 20\d\d-/);
    expect(shown).toMatch(/<dd>2 of 1,000/);
    expect(shown).toMatch(/data-day="2026-09-21"[^>]*><title>2026-09-21: 2</);
    const [id] = idsIn(shown);
    expect((await act(`/settings/keys/${id}/revoke`)).status).toBe(303);
    later(10);
    const refused = await use(text);
    expect(refused.status).toBe(402);
    expect(refused.text).toContain('"reason":"unknown_membership"');
    const after = await page();
    expect(after).toContain('Keys that ended');
    for (const words of ['Key created', 'Key revoked', 'Signed in']) expect(after).toContain(words);
  });

  test('loading the page of a new key again makes no second key, and shows none', async () => {
    const { browser, send, later, store } = await serveMembers(fresh, fetch);
    const { cookie, act, page } = await browser();
    const made = await act('/settings/keys', { name: 'Nightly' });
    const path = String(made.headers.get('location'));
    expect([made.status, made.text]).toEqual([303, '']);
    const [row] = await rowsAs<{ sealed: Uint8Array }>(store, 'select sealed from unshown_keys');
    expect(Buffer.from(Object(row).sealed).toString('latin1')).not.toMatch(/sc_|Nightly/);
    const other = await browser();
    const elsewhere = await send('GET', path, { cookie: other.cookie });
    expect([elsewhere.status, elsewhere.text.includes('sc_')]).toEqual([404, false]);
    const shown = await send('GET', path, { cookie });
    const [text] = /sc_[0-9A-Za-z]{49}/.exec(shown.text) ?? [];
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(shown.text.split(String(text))).toHaveLength(2);
    expect(shown.text).toContain('&quot;$EXHIBIT_API_KEY&quot;');
    for (let i = 0; i < 2; i += 1) {
      const again = await send('GET', path, { cookie });
      expect([again.status, again.text.includes(String(text))]).toEqual([404, false]);
    }
    expect(idsIn(await page())).toHaveLength(1);
    const late = await act('/settings/keys', { name: 'Late' });
    later(UNSHOWN_S + 1);
    const gone = await send('GET', String(late.headers.get('location')), { cookie });
    expect(gone.status).toBe(404);
  });

  test('a plan holds five active keys, and a replaced one does not count', async () => {
    const { browser, later } = await serveMembers(fresh, fetch);
    const { key, page, act } = await browser();
    for (let i = 0; i < 5; i += 1) {
      expect((await key(`key ${i}`)).created.status).toBe(200);
      later(1);
    }
    expect((await key('one more')).created.status).toBe(409);
    const [newest] = idsIn(await page());
    expect((await act(`/settings/keys/${newest}/replace`, { overlap: '1' })).status).toBe(303);
    expect(idsIn(await page())).toHaveLength(6);
    expect((await key('one more')).created.status).toBe(409);
    expect(await page()).toContain('5 of 5 active keys');
  });

  test('a replaced key opens beside the new one until its time, and is not replaced twice', async () => {
    const { browser, send, use, later } = await serveMembers(fresh, fetch);
    const { cookie, key, page, act } = await browser();
    const { text: old } = await key('Nightly');
    const [id] = idsIn(await page());
    const posted = await act(`/settings/keys/${id}/replace`, { overlap: '24' });
    const replaced = await send('GET', String(posted.headers.get('location')), { cookie });
    const text = /sc_[0-9A-Za-z]{49}/.exec(replaced.text)?.[0] ?? '';
    expect(text).not.toBe(old);
    expect(replaced.text).toContain('Nightly');
    for (const one of [old, text]) expect((await use(one)).status).toBe(200);
    expect((await act(`/settings/keys/${id}/replace`, { overlap: '1' })).status).toBe(409);
    // Nor is the new one while the old one opens: there are never three for one.
    for (const other of idsIn(await page())) {
      const said = await act(`/settings/keys/${other}/replace`, { overlap: '168' });
      expect(said.status).toBe(409);
    }
    later(DAY_S);
    expect((await use(old)).status).toBe(402);
    expect((await use(text)).status).toBe(200);
  });

  test('a membership that is not active gets no key and says so; its keys open nothing', async () => {
    const { browser, use, memberships, later, now } = await serveMembers(fresh, fetch);
    const { key, page } = await browser();
    const { text } = await key('Nightly');
    later(5);
    const ended = { membership_id: MINE, plan: 'analyst', status: 'inactive' } as const;
    await memberships.record({ ...ended, at: now() });
    later(5);
    expect((await use(text)).status).toBe(402);
    expect((await key('another')).created.status).toBe(409);
    expect(await page()).toContain('This membership is not active.');
  });

  test('a store that is silent is no empty list of keys and no quiet day', async () => {
    const { browser, send, store } = await serveMembers(fresh, fetch);
    const { cookie } = await browser();
    store.silence('it was silenced');
    expect((await send('GET', '/settings', { cookie })).status).toBe(503);
  });
});

test('what was not there costs nothing: a 404 leaves the allowance as it was', async () => {
  const { browser, send, use } = await serveMembers(fresh, fetch);
  const { text } = await (await browser()).key('Nightly');
  const authorization = `Bearer ${text}`;
  const left = ({ headers }: { headers: Headers }) => headers.get('X-RateLimit-Remaining');
  for (let i = 0; i < 3; i += 1) {
    const said = await send('DELETE', '/integrations/int_none', { authorization });
    expect([said.status, left(said)]).toEqual([404, '1000']);
  }
  expect(left(await use(text))).toBe('999');
});
