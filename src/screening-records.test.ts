// Does a record of a screen say what was answered on which versions, replay to the same answer on
// those that are held, and name what moved where it does not? Over a real store on each engine.

import { hash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { mountedPage } from './compose/documents.ts';
import { handlerOf } from './compose/list.ts';
import { Reply } from './contract/answer.ts';
import { Refusal } from './contract/refusals.ts';
import type { Caller } from './contract/route.ts';
import { records as recordsFeature } from './features/records/feature.ts';
import { listOf, row } from './ports/publication-store.suite.ts';
import type { PublicationStore } from './ports/sanctions.ts';
import type { ScreeningRecords } from './ports/screening.ts';
import type { OtherListEntry, TableImport } from './ports/tables.ts';
import { screeningRecordTable } from './stores/control/screening-records.ts';
import { sanctionsSnapshot, servedVersions } from './stores/snapshots/sanctions.ts';
import { acceptPublication } from './testing/accepted.ts';
import { STILL_NOW, stillClock } from './testing/clock.ts';
import {
  accessIn,
  type FreshStore,
  onEachEngine,
  publicationsIn,
} from './testing/control-store.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { memoryPorts } from './testing/twins/ports.ts';
import { memoryOtherLists, OTHER_LIST, otherEntryOf } from './testing/twins/tables.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LISTED = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const STRANGER = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';
const HOUR_S = 3_600;
const FIRST = listOf('2026-09-15', '1', [row(LISTED, '8')]);
const SECOND = listOf('2026-09-23', '2', [row(STRANGER, '9')]);
const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };

const member = (membership_id: string, plan: 'analyst' | 'desk' = 'desk'): Caller => {
  return { kind: 'member', membership_id, plan, key_id: `key_of_${membership_id}` };
};
const MINE = member('mem_mine');
const THEIRS = member('mem_theirs');

const recordBody = z.object({
  id: z.string(),
  list: z.object({ sha256: z.string() }).nullable(),
  list_reason: z.string().nullable(),
  tables: z.array(z.object({ table: z.string(), sha256: z.string() })),
  state: z.string(),
  answer: z.string(),
  answer_sha256: z.string(),
});
const replayBody = z.object({
  same: z.boolean(),
  inputs: z.array(z.object({ input: z.string(), state: z.string() })),
  moved: z.array(z.string()),
  differs: z.array(z.string()),
  answer: z.string(),
  reason: z.string(),
});
const answerBody = z.object({
  data: z.object({ sanctioned: z.boolean(), other_lists: z.array(z.unknown()).nullable() }),
});

function importOf(sha256: string, completed_at: number): TableImport {
  return {
    id: 1,
    table_name: 'other_lists',
    source: OTHER_LIST,
    source_url: null,
    origin: 'observed',
    started_at: completed_at,
    rows_accepted: 1,
    rows_refused: 0,
    rows_lost: 0,
    sha256: sha256.repeat(64),
    as_of: completed_at,
    dated_by: 'import',
    completed_at,
  };
}

function snapshotOf(store: PublicationStore) {
  return sanctionsSnapshot({
    store,
    now: stillClock(),
    ticks: () => 0,
    maxAgeS: null,
    simulated: false,
    pollMs: HOUR_S,
    onFault: () => undefined,
    onBug: (bug) => {
      throw bug;
    },
  });
}

/** A page as the browser of a membership is shown it. */
async function opened(given: object, name: string, params: object, membership_id: string) {
  const page = recordsFeature.pages.find(({ route }) => route.name === name);
  if (page === undefined) throw new Error(`no page ${name}`);
  const { handle } = mountedPage(page, given, PAGE_FACTS);
  const browser = { kind: 'session', session_id: 's', membership_id, form_token: 't' } as const;
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const said = await handle({ params, query: {}, body: undefined }, asked, browser);
  if (!(said instanceof Reply)) throw new Error('no reply');
  return { status: said.status, html: String(said.body) };
}

/** A deployment with a list in force, whose other tables a test replaces. */
async function deployment(fresh: FreshStore) {
  const database = fresh();
  const { memberships } = accessIn(database, CONTEXT.nowMs);
  for (const membership_id of ['mem_mine', 'mem_theirs']) {
    await memberships.record({ membership_id, plan: 'desk', status: 'active', at: STILL_NOW });
  }
  const store = publicationsIn(database);
  await acceptPublication(store, FIRST, STILL_NOW - HOUR_S);
  const snapshot = snapshotOf(store);
  await snapshot.poll();
  const dated = { as_of: STILL_NOW - HOUR_S, simulated: false };
  const others = (entries: readonly OtherListEntry[] | null) =>
    memoryOtherLists({ names: [OTHER_LIST], entries, ...dated });
  const tables = { otherLists: others(null), imports: [] as TableImport[] };
  const memory = memoryPorts({
    list: { publications: [], now: stillClock(), maxAgeS: null, simulated: false },
    labels: { labels: null, ...dated },
    corpus: { launches: null, ...dated },
    history: { chains: [], transfers: [], coverage: [], provenance: 'warehouse', ...dated },
  });
  const records = screeningRecordTable(database, CONTEXT);
  const looked = { before: async () => undefined as unknown };
  const versions = servedVersions({
    list: snapshot.list,
    store,
    imports: () => tables.imports,
    simulated: false,
    now: stillClock(),
  });
  const given = (over: { screeningRecords?: ScreeningRecords } = {}) => ({
    ...memory,
    otherLists: tables.otherLists,
    sanctionsList: {
      ...snapshot.list,
      lookUp: async (addresses: readonly string[]) => {
        await looked.before();
        return snapshot.list.lookUp(addresses);
      },
    },
    screeningRecords: records,
    servedVersions: versions,
    service: TEST_SERVICE,
    ...over,
  });
  const ask = async (name: string, input: object, caller = MINE, over = {}) => {
    const whole = { params: {}, query: {}, body: undefined, ...input };
    const asked = { now: stillClock(), signal: new AbortController().signal };
    const said = await handlerOf(name, given(over))(whole, asked, caller);
    if (said instanceof Refusal) return { status: said.status, body: said.body };
    if (!(said instanceof Reply)) throw new Error('no reply');
    return { status: said.status, body: said.body };
  };
  const open = (name: string, params: object, membership_id = 'mem_mine') =>
    opened(given(), name, params, membership_id);
  const screened = async (address: string) => {
    const { status, body } = await ask('record_screen', { body: { address } });
    expect(status).toBe(201);
    return recordBody.parse(body);
  };
  const replayed = async (id: string) => {
    const { status, body } = await ask('screen_replay', { params: { id } });
    expect(status).toBe(200);
    return replayBody.parse(body);
  };
  const accept = async (list = SECOND) => {
    await acceptPublication(store, list, STILL_NOW - 1);
    await snapshot.poll();
  };
  return { database, tables, others, looked, records, ask, open, screened, replayed, accept };
}

const PAGE_FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const answerIn = (text: string) => answerBody.parse(JSON.parse(text)).data;

onEachEngine((name, fresh) => {
  test(`${name}: a record holds the answer, the versions that it rests on and its hash`, async () => {
    const { screened, ask, tables, others } = await deployment(fresh);
    tables.otherLists = others([otherEntryOf(LISTED)]);
    tables.imports = [importOf('a', STILL_NOW - HOUR_S)];
    const record = await screened(LISTED);
    expect(record.answer_sha256).toBe(hash('sha256', record.answer));
    expect(answerIn(record.answer).sanctioned).toBe(true);
    expect(record.list?.sha256).toBe(FIRST.sha256);
    expect(record.tables).toMatchObject([{ table: 'other_lists', sha256: 'a'.repeat(64) }]);
    expect((await ask('screen_record', { params: { id: record.id } })).body).toMatchObject(record);
  });

  test(`${name}: a record of a newer version is listed, shown and replayed for what is known of it`, async () => {
    const { screened, ask, open, replayed, database } = await deployment(fresh);
    const { id } = await screened(LISTED);
    await database.query(
      `update screening_records set input = input || '{"newer": 1}',
         versions = jsonb_set(jsonb_set(versions, '{newer}', '1'), '{list,facts,newer}', '1')`,
    );
    expect((await ask('screen_record', { params: { id } })).status).toBe(200);
    expect(await replayed(id)).toMatchObject({ same: true });
    await database.query(`update screening_records set state = 'newer_state'`);
    expect(await open('screens_page', {})).toMatchObject({
      status: 200,
      html: expect.stringContaining('newer_state'),
    });
    expect((await open('screen_page', { id })).status).toBe(200);
  });

  test(`${name}: a record replays to the same hash once another list is in force`, async () => {
    const { screened, replayed, accept } = await deployment(fresh);
    const [listed, missed] = [await screened(LISTED), await screened(STRANGER)];
    await accept();
    expect(answerIn((await screened(LISTED)).answer).sanctioned).toBe(false);
    for (const { id, answer } of [listed, missed]) {
      const replay = await replayed(id);
      expect(replay).toMatchObject({ same: true, moved: [], differs: [], answer });
      expect(replay.inputs[0]).toMatchObject({ input: 'sanctions_list', state: 'former_held' });
    }
  });

  test(`${name}: a replay names the table whose import of then is gone`, async () => {
    const { screened, replayed, tables, others } = await deployment(fresh);
    tables.otherLists = others([otherEntryOf(LISTED)]);
    tables.imports = [importOf('a', STILL_NOW - HOUR_S)];
    const { id } = await screened(STRANGER);
    expect(await replayed(id)).toMatchObject({ same: true });
    tables.otherLists = others([otherEntryOf(STRANGER)]);
    tables.imports = [importOf('b', STILL_NOW)];
    const replay = await replayed(id);
    expect(replay.same).toBe(false);
    expect(replay.moved).toContain(`other_lists: ${OTHER_LIST}`);
    expect(replay.moved).not.toContain('sanctions_list');
    expect(replay.differs).toContain('data.other_lists[0].listed');
  });

  test(`${name}: a replay names the list where its rows are not held any more`, async () => {
    const { database, screened, replayed, accept } = await deployment(fresh);
    const { id } = await screened(LISTED);
    await accept();
    await database.query('delete from sanctions_entries where address = $1', [LISTED]);
    const replay = await replayed(id);
    expect(replay).toMatchObject({
      same: false,
      moved: expect.arrayContaining(['sanctions_list']),
    });
    expect(replay.reason).toContain('sanctions_list');
    expect(replay.differs).toContain('data.sanctioned');
  });

  test(`${name}: a screen during which the list moves is asked again, and kept once`, async () => {
    const { screened, looked, accept, records } = await deployment(fresh);
    let times = 0;
    looked.before = async () => {
      times += 1;
      if (times === 1) await accept();
    };
    const record = await screened(LISTED);
    expect(record.list?.sha256).toBe(SECOND.sha256);
    expect(answerIn(record.answer).sanctioned).toBe(false);
    expect(await records.newest('mem_mine')).toMatchObject({ value: { length: 1 } });
  });

  test(`${name}: many addresses make one record, which replays`, async () => {
    const { ask, replayed, accept } = await deployment(fresh);
    const body = { addresses: [LISTED, STRANGER], tables: ['sanctions_list'] };
    const made = await ask('record_bulk_screen', { body });
    expect(made.status).toBe(201);
    await accept();
    expect(await replayed(recordBody.parse(made.body).id)).toMatchObject({ same: true });
  });

  test(`${name}: another membership is told what an unknown id is told`, async () => {
    const { screened, ask } = await deployment(fresh);
    const { id } = await screened(LISTED);
    for (const route of ['screen_record', 'screen_replay']) {
      const others = await ask(route, { params: { id } }, THEIRS);
      expect(others.status).toBe(404);
      expect(await ask(route, { params: { id: 'scr_unknown' } }, THEIRS)).toEqual(others);
    }
  });

  test(`${name}: a page tells a miss of its list alone, what was not looked at, and its hash`, async () => {
    const { screened, open, ask } = await deployment(fresh);
    const { id, answer_sha256 } = await screened(STRANGER);
    const { html } = await open('screen_page', { id });
    expect(html).toContain('Not among the 1 addresses of the list of 2026-09-15');
    expect(html).toContain('No import of the table of other lists has completed');
    expect(html).toContain(answer_sha256);
    expect(html).toContain(FIRST.sha256);
    expect(html).not.toMatch(/\b(clean|cleared|safe|passed)\b/i);
    const body = { addresses: [LISTED, STRANGER], tables: ['sanctions_list'] };
    const many = recordBody.parse((await ask('record_bulk_screen', { body })).body);
    expect((await open('screen_page', { id: many.id })).html).toContain('LISTED (CYBER2, SDGT)');
    expect((await open('screens_page', {})).html).toContain(`/screens/${many.id}`);
  });

  test(`${name}: a page is shown to the browser of its membership alone`, async () => {
    const { screened, open } = await deployment(fresh);
    const { id } = await screened(LISTED);
    expect((await open('screen_page', { id })).status).toBe(200);
    const others = await open('screen_page', { id }, 'mem_theirs');
    expect(others.status).toBe(404);
    expect(await open('screen_page', { id: 'scr_unknown' }, 'mem_theirs')).toEqual(others);
    expect((await open('screens_page', {}, 'mem_theirs')).html).not.toContain(id);
  });

  test(`${name}: a plan keeps as many as it says, however many come at once`, async () => {
    const { records, screened } = await deployment(fresh);
    const { id } = await screened(LISTED);
    const found = await records.find('mem_mine', id);
    if (!found.checked || found.value === null) throw new Error('not kept');
    const record = found.value;
    const kept = await Promise.all([1, 2, 3, 4].map(() => records.keep(record, 3)));
    expect(kept.filter((one) => one.checked && one.value !== 'full')).toHaveLength(2);
    expect(await records.newest('mem_mine')).toMatchObject({ value: { length: 3 } });
    expect(await records.newest('mem_theirs')).toMatchObject({ value: [] });
  });

  test(`${name}: a record goes when its ten years are over, and makes room`, async () => {
    const { database, records, screened } = await deployment(fresh);
    const { id } = await screened(LISTED);
    const found = await records.find('mem_mine', id);
    if (!found.checked || found.value === null) throw new Error('not kept');
    await database.setClock(found.value.kept_until - 1);
    expect(await records.keep(found.value, 1)).toMatchObject({ value: 'full' });
    await database.setClock(found.value.kept_until);
    expect(await records.find('mem_mine', id)).toMatchObject({ value: null });
    expect(await records.keep(found.value, 1)).toMatchObject({ value: { state: 'ok' } });
  });

  test(`${name}: a full plan, a silent store and a refused input keep nothing`, async () => {
    const { ask, records, database } = await deployment(fresh);
    const full: ScreeningRecords = { ...records, keep: (record) => records.keep(record, 0) };
    const body = { address: LISTED };
    const over = { screeningRecords: full };
    expect((await ask('record_screen', { body }, MINE, over)).status).toBe(409);
    const misformed = { address: 'no address' };
    expect((await ask('record_screen', { body: misformed })).status).toBe(400);
    database.silence('it is down');
    expect((await ask('record_screen', { body })).status).toBe(503);
    database.silence(null);
    expect(await records.newest('mem_mine')).toMatchObject({ value: [] });
  });
});
