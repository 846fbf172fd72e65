import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import type { ListChanges } from '../../ports/sanctions.ts';
import { acceptPublication } from '../../testing/accepted.ts';
import { embeddedControl, listChangesIn, publicationsIn } from '../../testing/control-store.ts';
import {
  changesFeed,
  LIST_CHANGES_CAVEAT,
  readChanges,
  removalsBy,
  sanctionsChanges,
  sanctionsChangesHandler,
} from './changes.route.tsx';

const FIRST_DAY = Date.UTC(2026, 8, 16, 23) / 1_000;
const SECOND_DAY = Date.UTC(2026, 8, 17, 1) / 1_000;
const EVM = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD';
const FIRST = listOf('2026-09-15', '1', [row(EVM, '7'), row('kept', '8')]);
const SECOND = listOf('2026-09-16', '2', [row('kept', '8', { programs: null })]);

const fresh = embeddedControl();

async function logged(): Promise<ListChanges> {
  const database = fresh();
  const store = publicationsIn(database);
  await acceptPublication(store, FIRST, FIRST_DAY);
  await acceptPublication(store, SECOND, SECOND_DAY);
  return listChangesIn(database);
}

type Handler = ReturnType<typeof sanctionsChangesHandler>;
type Call = (
  input: { params: object; query: object; body: undefined },
  asked: Parameters<Handler>[1],
) => ReturnType<Handler>;

async function asked(log: ListChanges, query: object = {}) {
  const { signal } = new AbortController();
  const handler = sanctionsChangesHandler(log) as Call;
  return handler({ params: {}, query, body: undefined }, { now: () => 0, signal });
}

async function bodyOf(log: ListChanges, query: object = {}) {
  const reply = await asked(log, query);
  if (reply instanceof Refusal) throw new Error('refused');
  return { status: reply.status, body: reply.body };
}

const changesOf = (body: unknown) => (body as { changes: readonly { change: string }[] }).changes;

describe('says', () => {
  test('what changed, between which publications, and when it came into force', async () => {
    const { status, body } = await bodyOf(await logged());
    expect(status).toBe(200);
    const between = {
      from: { published: '2026-09-15', sha256: FIRST.sha256 },
      to: { published: '2026-09-16', sha256: SECOND.sha256 },
      at: '2026-09-17T01:00:00.000Z',
      outcome: 'next',
    };
    const kept = { address: 'kept', uid: '8', entity: 'PARTY 8', type: 'Entity' };
    const programs = ['CYBER2', 'SDGT'];
    expect(body).toEqual({
      changes: [
        {
          id: 2,
          change: 'programmes_changed',
          ...kept,
          programs: null,
          currencies: ['XBT'],
          before: { ...kept, programs, currencies: ['XBT'] },
          ...between,
        },
        {
          id: 1,
          change: 'removed',
          address: EVM,
          uid: '7',
          entity: 'PARTY 7',
          type: 'Entity',
          programs,
          currencies: ['XBT'],
          before: null,
          ...between,
        },
      ],
      next_before: null,
      files: [
        {
          outcome: 'next',
          source: 'https://publisher.example',
          at: between.at,
          published: '2026-09-16',
          sha256: SECOND.sha256,
          before: between.from,
          counts: { added: 0, removed: 1, moved: 0, programmes_changed: 1, renamed: 0 },
          code: null,
          why: null,
        },
        {
          outcome: 'first',
          source: 'https://publisher.example',
          before: null,
          counts: null,
          published: '2026-09-15',
          sha256: FIRST.sha256,
          at: '2026-09-16T23:00:00.000Z',
          code: null,
          why: null,
        },
      ],
      files_whole: true,
      caveat: LIST_CHANGES_CAVEAT,
    });
  });

  test('an address in any of its spellings, and that one was never changed', async () => {
    const log = await logged();
    const { body } = await bodyOf(log, { address: EVM.toLowerCase() });
    expect(changesOf(body)).toMatchObject([{ change: 'removed', address: EVM }]);
    expect((await bodyOf(log, { address: 'nobody' })).body).toMatchObject({ changes: [] });
  });

  test('a span of days, both included, and page after page', async () => {
    const log = await logged();
    const first = { from: '2026-09-16', to: '2026-09-16' };
    expect((await bodyOf(log, first)).body).toMatchObject({ changes: [], files: [{}] });
    const { body } = await bodyOf(log, { from: '2026-09-17', to: '2026-09-17' });
    expect(body).toMatchObject({ changes: [{}, {}], files: [{ outcome: 'next' }] });
    const ever = await bodyOf(log, { to: '9999-12-31' });
    expect(ever.body).toMatchObject({ changes: [{}, {}], files: [{}, {}] });
    expect((await bodyOf(log, { limit: 1 })).body).toMatchObject({
      changes: [{ id: 2 }],
      next_before: 2,
    });
    expect((await bodyOf(log, { limit: 1, before: 2 })).body).toMatchObject({
      changes: [{ id: 1 }],
      next_before: null,
    });
  });
});

test('the listings that a file took away, for the log of the service', async () => {
  const log = await logged();
  const removed = await removalsBy(log, SECOND.sha256);
  const gone = { change: 'removed', listing: { address: EVM, uid: '7' } };
  expect(removed).toMatchObject({ removed: [gone], unnamed: 0 });
  expect(await removalsBy(log, FIRST.sha256)).toEqual({ removed: [], unnamed: 0 });
  expect(await removalsBy(listChangesIn(fresh()), FIRST.sha256)).toMatch(/nothing was checked/);
});

test('every one of more removals than a page of the log holds', async () => {
  const database = fresh();
  const store = publicationsIn(database);
  const many = Array.from({ length: 1_201 }, (_, n) => row(`gone ${n}`, String(100 + n)));
  await acceptPublication(store, listOf('2026-09-15', '1', [row('kept', '8'), ...many]), FIRST_DAY);
  await acceptPublication(store, listOf('2026-09-16', '2', [row('kept', '8')]), SECOND_DAY);
  const read = await removalsBy(listChangesIn(database), SECOND.sha256);
  if (typeof read === 'string') throw new Error(read);
  expect(new Set(read.removed.map(({ listing }) => listing.address)).size).toBe(1_201);
  expect(read.unnamed).toBe(0);
});

describe('is silent', () => {
  test('while no list has come into force', async () => {
    const { status, body } = await bodyOf(listChangesIn(fresh()));
    expect(status).toBe(503);
    expect(body).not.toHaveProperty('changes');
  });

  test('while either half of the log is', async () => {
    const fault = why('store_unreadable', { what: 'The log', fault: 'it is down' });
    const log = await logged();
    const silent = async () => unread('sanctions_changes', fault);
    for (const half of [{ newest: silent }, { files: silent }]) {
      const answer = await bodyOf({ ...log, ...half });
      expect(answer).toMatchObject({ status: 503, body: { reason: fault.reason } });
    }
  });
});

describe('refuses', () => {
  test.each([[{ from: '2026-13-01' }], [{ to: '2026-02-30' }]])(
    'a day that the calendar does not have: %o',
    (query) => {
      expect(sanctionsChanges.query.safeParse(query).success).toBe(false);
    },
  );

  test('days in the wrong order', async () => {
    const reply = await asked(await logged(), { from: '2026-09-17', to: '2026-09-16' });
    expect(reply instanceof Refusal && reply.status).toBe(400);
  });
});

describe('changes feed', () => {
  const T = Date.UTC(2026, 8, 16, 9) / 1_000;
  const FIRST = listOf('2026-09-15', '1', [row('gone', '7', { entity: 'A & <B>\u0001' })]);
  const SECOND = listOf('2026-09-16', '2', [row('new', '8', { entity: null, programs: null })]);

  test('each file is an entry with both hashes and its changes', async () => {
    const database = fresh();
    const store = publicationsIn(database);
    await acceptPublication(store, FIRST, T);
    await acceptPublication(store, SECOND, T + 86_400);
    const log = await readChanges(listChangesIn(database));
    if ('reason' in log) throw new Error(log.reason);
    const feed = changesFeed(log.files, log.changes, false);
    expect(feed.entries).toHaveLength(2);
    const [second, first] = feed.entries;
    expect(first?.title).toBe('The list of 2026-09-15 is in force, the first here');
    expect(second?.title).toBe('The list of 2026-09-16 is in force: 1 added, 1 removed, 0 moved');
    expect(second?.link.href).toContain('/registry/sanctions/changes?from=2026-09-17&to=');
    expect(second?.text).toContain(`SHA-256 ${SECOND.sha256}, from https://publisher.example`);
    expect(second?.text).toContain(`before: 2026-09-15, SHA-256 ${FIRST.sha256}`);
    expect(second?.text).toContain('removed: gone (A & <B>\u0001, entry 7, CYBER2, SDGT)');
    expect(second?.text).toContain('added: new (entry 8)');
    expect(feed.updated).toBe(Date.UTC(2026, 8, 17, 9) / 1_000);
  });

  test('changes beyond those spelled out are counted, and a simulated feed says so', async () => {
    const database = fresh();
    const store = publicationsIn(database);
    await acceptPublication(store, FIRST, T);
    const many = Array.from({ length: 130 }, (_, n) => row(`new ${n}`, '8'));
    await acceptPublication(store, listOf('2026-09-16', '3', many), T);
    const log = await readChanges(listChangesIn(database));
    if ('reason' in log) throw new Error(log.reason);
    const feed = changesFeed(log.files, log.changes, true);
    const texts = feed.entries.map(({ text }) => text).join('\n');
    expect(texts).toContain('and 31 more in the change log');
    expect(feed.title).toBe('Simulated: Changes of the sanctions list');
  });
});
