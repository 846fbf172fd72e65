// Does "Record this" make a record that says what was not checked, for one request of the allowance
// and of whoever is signed in alone? Over a socket with the server's own guards, on a real store.

import { describe, expect, test } from 'vitest';
import { dailyAllowance } from './access/gate.ts';
import { PLANS } from './access/plan.ts';
import { read, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { records } from './features/records/feature.ts';
import type { ScreeningRecords } from './ports/screening.ts';
import { screeningRecordTable } from './stores/control/screening-records.ts';
import { evm } from './testing/addresses.ts';
import { embeddedControl } from './testing/control-store.ts';
import { MINE, START, serveMembers, THEIRS } from './testing/member-service.ts';
import { linesOf } from './testing/silence-pages.ts';
import type { SilencePorts } from './testing/silence-ports.ts';
import { silentPorts } from './testing/twins/ports.ts';
import { memoryVersions } from './testing/twins/screening.ts';
import { WORLDS } from './testing/worlds.ts';

const fresh = embeddedControl();
const EMPTY = WORLDS.find(({ empty }) => empty);
const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'no answer' }));
const ADDRESS = evm('stranger');
const { allowance } = dailyAllowance(MINE, PLANS.analyst, START);

type Over = Partial<SilencePorts> & { readonly screeningRecords?: ScreeningRecords };

/** A browser that is signed in, over the ports of a world in which nothing is known. */
async function deployment(over: Over = {}) {
  const store = fresh();
  const context = { simulated: false, nowMs: () => START * 1_000 };
  const given = {
    ...EMPTY?.ports,
    screeningRecords: screeningRecordTable(store, context),
    servedVersions: memoryVersions(START),
    ...over,
  };
  const more = { pages: records.pages, given };
  const served = await serveMembers(() => store, fetch, undefined, more);
  const mine = await served.browser();
  const record = () => mine.act('/screens', { address: ADDRESS });
  const used = async () => {
    const said = await served.quota.usage(allowance.subject, allowance.period);
    return said.checked ? said.value : said.why;
  };
  const listed = async () => (await served.send('GET', '/screens', { cookie: mine.cookie })).text;
  return { ...served, mine, record, used, listed };
}

describe('says', () => {
  test('what was screened on the page of a record, which is charged once', async () => {
    const { record, send, mine, used, listed } = await deployment();
    const made = await record();
    expect([made.status, await used()]).toEqual([303, 1]);
    const path = String(made.headers.get('location'));
    expect(path).toMatch(/^\/screens\/scr_[0-9a-f]{32}$/);
    const shown = await send('GET', path, { cookie: mine.cookie });
    expect(shown.status).toBe(200);
    expect(linesOf(shown.text)).toContain(ADDRESS);
    expect(shown.text).toMatch(/by ses_\w+/);
    expect(await listed()).toContain(path);
    expect(await used()).toBe(1);
  });
});

describe('is silent', () => {
  test('of what no source told: the record says that it was not answered', async () => {
    const { record, send, mine, used } = await deployment({ sanctionsList: SILENT.sanctionsList });
    const made = await record();
    expect([made.status, await used()]).toEqual([303, 1]);
    const shown = await send('GET', String(made.headers.get('location')), { cookie: mine.cookie });
    const lines = linesOf(shown.text).join('\n');
    expect(lines).toContain('Not answered (not_deployed).');
    expect(lines).not.toMatch(/Not among|No path/);
  });

  test('of two hops that were not walked, beside the list that was read', async () => {
    const { record, send, mine } = await deployment({ transferHistory: SILENT.transferHistory });
    const made = await record();
    const shown = await send('GET', String(made.headers.get('location')), { cookie: mine.cookie });
    const lines = linesOf(shown.text).join('\n');
    expect(lines).toContain('Not determined:');
    expect(lines).not.toContain('No path');
  });
});

const kept = (said: Awaited<ReturnType<ScreeningRecords['keep']>>): Over => {
  const none = async () => read(null, ORIGIN);
  const newest = async () => read([], ORIGIN);
  return { screeningRecords: { keep: async () => said, find: none, newest } };
};
const ORIGIN = {
  port: 'screening_records',
  source: { name: 'Memory', url: 'memory:', as_of: START, kind: 'table', simulated: false },
} as const;
const UNKEPT = unread('screening_records', why('store_unreadable', { what: 'It', fault: 'none' }));

describe('refuses', () => {
  test('what another site sends, and what carries no token of the session', async () => {
    const { post, mine, origin, used, listed } = await deployment();
    const { cookie, token } = mine;
    const address = { address: ADDRESS };
    for (const [fields, from] of [
      [{ ...address, form_token: token }, 'https://evil.example'],
      [{ ...address, form_token: 'A'.repeat(43) }, origin],
      [address, origin],
    ] as const) {
      expect((await post('/screens', fields, { cookie, origin: from })).status).toBe(403);
    }
    expect([await used(), (await listed()).includes('scr_')]).toEqual([0, false]);
  });

  test('who is not signed in, and leads to where one signs in', async () => {
    const { post, used } = await deployment();
    const said = await post('/screens', { address: ADDRESS });
    expect([said.status, said.text, await used()]).toEqual([401, '<h1>unauthorized</h1>', 0]);
  });

  test.each([
    [409, kept(read('full', ORIGIN)), 'as many records as its plan keeps'],
    [503, kept(UNKEPT), 'could not be read'],
  ] as const)('with %i what cannot be kept, and charges nothing', async (status, over, says) => {
    const { record, used } = await deployment(over);
    const said = await record();
    expect([said.status, await used()]).toEqual([status, 0]);
    expect(said.text).toContain(says);
    expect(said.text).toContain('Nothing was charged.');
  });

  test('a text that is no address is never charged, nor an allowance that is spent', async () => {
    const { mine, quota, record, used, listed } = await deployment();
    expect((await mine.act('/screens', { address: '' })).status).toBe(400);
    expect(await used()).toBe(0);
    for (let n = 0; n < allowance.limit; n += 1) await quota.charge(allowance);
    expect([(await record()).status, await used()]).toEqual([429, allowance.limit]);
    expect(await listed()).not.toContain('scr_');
  });

  test('a membership that is not active', async () => {
    const { record, memberships, used } = await deployment();
    const ended = { membership_id: MINE, plan: 'analyst', status: 'inactive' } as const;
    await memberships.record({ ...ended, at: START + 1 });
    expect([(await record()).status, await used()]).toEqual([403, 0]);
  });

  test('to show another membership the record of this one', async () => {
    const { record, browser, send } = await deployment();
    const path = String((await record()).headers.get('location'));
    const theirs = await browser(THEIRS);
    expect((await send('GET', path, { cookie: theirs.cookie })).status).toBe(404);
  });
});
