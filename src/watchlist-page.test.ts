// Does the page of a watchlist show what was found and what was not read, and do its forms and the
// routes change the watchlist of whoever asks alone? The handlers over a real store.

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DAY_S, formatIsoTime } from './chain/time.ts';
import { mountedPage } from './compose/documents.ts';
import { handlerOf } from './compose/list.ts';
import { Reply } from './contract/answer.ts';
import { Refusal } from './contract/refusals.ts';
import type { Caller } from './contract/route.ts';
import { watchlist as watchlistFeature } from './features/watchlist/feature.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, stillClock } from './testing/clock.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { memoryTransfer } from './testing/twins/history.ts';
import { listedEntry } from './testing/walked-world.ts';
import { watchingIn } from './testing/watching.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const fresh = embeddedControl();
type Watching = ReturnType<typeof watchingIn>;
const WATCHED = evm('watched');
const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const ASKED = { now: stillClock(), signal: new AbortController().signal };
const NOTHING_SENT = { params: {}, query: {}, body: undefined };
const listBody = z.object({ watched: z.array(z.object({ id: z.string(), address: z.string() })) });

async function deployment() {
  const database = fresh();
  const { memberships } = accessIn(database, Date.now);
  for (const membership_id of ['mem_mine', 'mem_theirs']) {
    await memberships.record({ membership_id, plan: 'analyst', status: 'active', at: STILL_NOW });
  }
  const watching = watchingIn(database);
  const { watchlist } = watching;
  const given = { watchlist, members: { settings: { memberships } }, service: TEST_SERVICE };
  const open = async (name: string, sent: object = {}, membership_id = 'mem_mine') => {
    const page = watchlistFeature.pages.find(({ route }) => route.name === name);
    if (page === undefined) throw new Error(`no page ${name}`);
    const browser = { kind: 'session', session_id: 's', membership_id, form_token: 'tok' } as const;
    const whole = Object.assign({}, NOTHING_SENT, sent);
    const said = await mountedPage(page, given, FACTS).handle(whole, ASKED, browser);
    if (!(said instanceof Reply)) throw new Error('no reply');
    // The heads that a phone shows beside the cells are no part of what they say.
    const html = String(said.body).replaceAll(/ data-head="[^"]*"/g, '');
    return { status: said.status, html, headers: said.headers };
  };
  const ask = async (name: string, sent: object = {}, membership_id = 'mem_mine') => {
    const caller: Caller = { kind: 'member', membership_id, plan: 'analyst', key_id: 'key' };
    const whole = Object.assign({}, NOTHING_SENT, sent);
    const said = await handlerOf(name, given)(whole, ASKED, caller);
    if (said instanceof Refusal) return { status: said.status, body: said.body };
    if (!(said instanceof Reply)) throw new Error('no reply');
    return { status: said.status, body: said.body };
  };
  return { database, ...watching, open, ask };
}

test('adds and removes by forms that carry the token of the session', async () => {
  const { open, ask } = await deployment();
  expect((await open('watchlist_page')).html).toContain('No address is watched yet.');
  const added = await open('watch_form', { body: { address: ` ${WATCHED} ` } });
  expect([added.status, added.headers['location']]).toEqual([303, '/watchlist?done=added']);
  const { html } = await open('watchlist_page', { query: { done: 'added' } });
  expect(html).toContain(WATCHED);
  expect(html).toContain('Not looked at yet.');
  expect(html.match(/name="form_token" value="tok"/g)).toHaveLength(2);
  const [listed] = listBody.parse((await ask('watchlist')).body).watched;
  const gone = await open('unwatch_form', { params: { id: listed?.id } });
  expect([gone.status, gone.headers['location']]).toEqual([303, '/watchlist?done=removed']);
  expect(listBody.parse((await ask('watchlist')).body).watched).toEqual([]);
});

test('shows what is on record with its version, and what was not read as not read', async () => {
  const { open, watch, be, round } = await deployment();
  await watch('mem_mine', WATCHED);
  be({ version: '2', listed: [listedEntry(WATCHED)], labels: null });
  await round();
  const { html } = await open('watchlist_page');
  expect(html).toContain('on record: Sanctions list; not read: Exchange table');
  expect(html).toContain(`2026-09-20 sha256:${'2'.repeat(64)}`);
  expect(html).toContain('stands there; what stood there before is not known');
  expect(html).not.toMatch(/\b(clean|cleared|safe|passed)\b/i);
});

const X = evm('listed until the second version');
const Y = evm('listed since the second version');
const BETWEEN = evm('between');
const TRANSFERS = [memoryTransfer(1, WATCHED, BETWEEN), memoryTransfer(2, BETWEEN, X)];
const CUT = { coverage: [] };
const FIRST_AT = formatIsoTime(STILL_NOW);
const versionOf = (n: string) => `list of 2026-09-20 sha256:${n.repeat(64)}`;
type Part = { readonly part: string; readonly found: readonly object[] | null };

test('a walk in part drops a path to whom the list in force does not hold, and says so', async () => {
  const { open, ask, watch, be, round } = await deployment();
  const hops = async () => {
    const { body } = await ask('watchlist');
    const [one] = (body as { watched: readonly { parts: readonly Part[] }[] }).watched;
    return one?.parts.find(({ part }) => part === 'hops');
  };
  await watch('mem_mine', WATCHED);
  be({ version: '1', transfers: TRANSFERS, listed: [listedEntry(X)] });
  await round();
  const first = { address: X, version: versionOf('1'), read_at: FIRST_AT };
  expect(await hops()).toMatchObject({ found: [first], version: versionOf('1'), not_read: null });
  be({ version: '2', transfers: TRANSFERS, listed: [], history: CUT });
  await round();
  const unread = expect.stringContaining('held only in part');
  expect(await hops()).toMatchObject({ found: null, version: versionOf('1'), not_read: unread });
  const told = (await ask('watchlist_changes')).body as { changes: readonly object[] };
  expect(told.changes.at(-1)).toMatchObject({
    part: 'hops',
    change: 'left',
    before: [first],
    after: [],
    version_after: versionOf('2'),
    not_read: [expect.stringMatching(/^Two hops of transfers: /)],
  });
  const { html } = await open('watchlist_page');
  expect(html).toContain('<td>what stood there before left<div');
  expect(html).toContain('<td>Two hops of transfers</td><td>not known<p>Not read to its end: ');
  expect(html).toContain(
    '1 part not read to the end at that look</summary><ul><li>Two hops of transfers: ',
  );
});

test('a path that a walk in part did not meet stays under its own version and time', async () => {
  const { open, ask, watch, be, round } = await deployment();
  await watch('mem_mine', WATCHED);
  be({ version: '1', transfers: TRANSFERS, listed: [listedEntry(X)] });
  await round();
  const more = [memoryTransfer(3, WATCHED, Y)];
  be({ version: '2', transfers: more, listed: [listedEntry(X), listedEntry(Y)], history: CUT });
  await round({ now: () => STILL_NOW + 60 });
  const told = (await ask('watchlist_changes')).body as { changes: readonly object[] };
  expect(told.changes.at(-1)).toMatchObject({
    change: 'changed',
    after: [
      { address: X, version: versionOf('1'), read_at: FIRST_AT },
      { address: Y, version: versionOf('2'), read_at: formatIsoTime(STILL_NOW + 60) },
    ],
    not_read: [expect.stringMatching(/^Two hops of transfers: /)],
  });
  expect((await open('watchlist_page')).html).toContain(`in: ${versionOf('1')}`);
});

const STALE = { checkedAgoS: 8 * DAY_S };

test.each<[string, Parameters<Watching['be']>[0]]>([
  ['too old to deny, and without its end', { version: '2', transfers: TRANSFERS, ...STALE }],
  ['too old to deny, after a walk in part', { version: '2', history: CUT, ...STALE }],
  ['unreadable', { version: '2', silent: true }],
])('a list that is %s takes no path back', async (_, second) => {
  const { open, ask, watch, be, round } = await deployment();
  await watch('mem_mine', WATCHED);
  be({ version: '1', transfers: TRANSFERS, listed: [listedEntry(X)] });
  await round();
  const told = async () => {
    const { body } = await ask('watchlist_changes');
    return (body as { changes: readonly object[] }).changes;
  };
  const before = await told();
  be(second);
  await round({ now: () => STILL_NOW + 60 });
  const { body } = await ask('watchlist');
  const [one] = (body as { watched: readonly { parts: readonly Part[] }[] }).watched;
  const first = { address: X, version: versionOf('1'), read_at: FIRST_AT };
  expect(one?.parts.find(({ part }) => part === 'hops')).toMatchObject({
    found: [first],
    version: versionOf('1'),
    not_read: expect.stringMatching(/./),
  });
  expect(await told()).toEqual(before);
  const { html } = await open('watchlist_page');
  expect(html).toContain(X);
  expect(html).toMatch(/<td>Two hops of transfers<\/td>.*?Not read to its end: /);
});

test('a cluster is told as inferred, with its weight and whether it is measured', async () => {
  const { open, ask, watch, be, round, database } = await deployment();
  await watch('mem_mine', WATCHED);
  const of = { chain: 'ethereum', cluster_id: 'c', members: [WATCHED, X], labels: [] } as const;
  be({ version: '2', clusters: [{ ...of, confidence: 0.9, basis: 'assumed' }] });
  await round();
  const found = [{ inferred: { weight: 0.9, basis: 'assumed' } }];
  const told = (await ask('watchlist_changes')).body as { changes: readonly object[] };
  expect(told.changes).toMatchObject([{ part: 'entity_clusters', after: found }]);
  const { html } = await open('watchlist_page');
  expect(html).toContain('cluster on ethereum · inferred, weight 0.90, assumed · 2 addresses · c');
  await database.query(
    `update watched_addresses set parts = jsonb_path_query_array(parts, '$[*]
       ? (@.part == "entity_clusters")') #- '{0,found,0,inferred}'`,
  );
  const older = (await open('watchlist_page')).html;
  expect(older).toContain('cluster on ethereum · inferred, of a weight that was not kept · ');
});

test('shows what was kept before findings had a version, until it is looked at again', async () => {
  const { open, ask, watch, be, round, database } = await deployment();
  await watch('mem_mine', WATCHED);
  be({ version: '2', listed: [listedEntry(WATCHED)] });
  await round();
  await database.query(
    `update watched_addresses set parts = parts #- '{0,found,0,version}' #- '{0,found,0,read_at}'`,
  );
  expect((await open('watchlist_page')).html).toContain('on record: Sanctions list');
  expect((await ask('watchlist')).body).toMatchObject({
    watched: [{ parts: [{ found: [{ version: null, read_at: null }] }, {}, {}, {}, {}, {}] }],
  });
});

test('refuses what is no address, and one more than the plan watches', async () => {
  const { open, ask, watchlist } = await deployment();
  expect((await open('watch_form', { body: { address: 'nobody' } })).status).toBe(400);
  expect((await ask('watch_address', { body: { address: 'nobody' } })).status).toBe(400);
  for (let n = 0; n < 100; n += 1) await watchlist.add('mem_mine', evm(`${n}`), 100);
  expect((await open('watch_form', { body: { address: WATCHED } })).status).toBe(409);
  expect((await ask('watch_address', { body: { address: WATCHED } })).status).toBe(409);
});

test('tells another membership of an address what it tells of a made-up id', async () => {
  const { open, ask, watch, be, round } = await deployment();
  const { id } = await watch('mem_mine', WATCHED);
  be({ version: '2', listed: [listedEntry(WATCHED)] });
  await round();
  const theirs = await ask('unwatch_address', { params: { id } }, 'mem_theirs');
  const madeUp = await ask('unwatch_address', { params: { id: 'wch_none' } }, 'mem_theirs');
  expect(theirs).toEqual(madeUp);
  expect((await open('unwatch_form', { params: { id } }, 'mem_theirs')).status).toBe(404);
  expect((await open('watchlist_page', {}, 'mem_theirs')).html).not.toContain(WATCHED);
  expect((await ask('watchlist_changes', {}, 'mem_theirs')).body).toMatchObject({ changes: [] });
  expect((await ask('watchlist_changes')).body).toMatchObject({ changes: [{ seq: 1 }] });
  expect(listBody.parse((await ask('watchlist')).body).watched).toMatchObject([{ id }]);
});

test('names what can no longer be had, and says where to go on', async () => {
  const { ask, watch, be, round, database } = await deployment();
  await watch('mem_mine', WATCHED);
  for (const version of ['2', '3', '4', '5']) {
    be({ version, listed: Number(version) % 2 === 0 ? [listedEntry(WATCHED)] : [] });
    await round();
  }
  const first = await ask('watchlist_changes', { query: { limit: 2 } });
  expect(first.body).toMatchObject({ changes: [{ seq: 1 }, { seq: 2 }], next_since: 2, gap: null });
  await database.query('delete from watch_changes where seq <= 3');
  expect((await ask('watchlist_changes', { query: { since: 2 } })).body).toMatchObject({
    changes: [{ seq: 4 }],
    oldest: 4,
    gap: { from: 3, to: 3 },
  });
  expect((await ask('watchlist_changes', { query: { since: 9 } })).body).toMatchObject({
    changes: [],
    next_since: 4,
    gap: { from: 5, to: 9 },
  });
});

test('shows and screens an address again of which a newer version wrote more', async () => {
  const { open, watch, be, round, changes, database } = await deployment();
  await watch('mem_mine', WATCHED);
  be({ version: '2', listed: [listedEntry(WATCHED)] });
  await round();
  const newer = { found: [], version: '9', read_at: '2026-11-21T00:00:00Z', not_read: null };
  await database.query(
    `update watched_addresses set parts = jsonb_set(parts, '{0,found,0,newer}', '1')
       || jsonb_build_array($1::text::jsonb)`,
    [JSON.stringify({ part: 'newer_part', ...newer })],
  );
  await database.query(`update watch_changes set part = 'newer_part'`);
  const { status, html } = await open('watchlist_page');
  expect(status).toBe(200);
  expect(html).toContain('on record: Sanctions list');
  be({ version: '3', listed: [] });
  await round();
  expect(await changes('mem_mine')).toMatchObject([
    { part: 'newer_part', change: 'first_seen' },
    { part: 'sanctions_list', change: 'left' },
  ]);
});
