import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Part, Read, Unread } from '../../evidence/reading.ts';
import {
  listOf,
  publicationStoreKeeps,
  refusalOf,
  row,
  said,
} from '../../ports/publication-store.suite.ts';
import { NOW, type SuiteWorld, sanctionsListKeeps } from '../../ports/sanctions-list.suite.ts';
import {
  clockAt,
  embeddedControl,
  LIVE,
  MIGRATIONS,
  onEachEngine,
} from '../../testing/control-store.ts';
import { freshPgliteDirectory } from '../../testing/postgres.ts';
import { type Snapshot, sanctionsSnapshot } from '../snapshots/sanctions.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { publicationStore } from './publications.ts';

const POLL_MS = 10;
const SOURCE = { key: 'a'.repeat(64), url: 'https://publisher.example' };

async function put(database: Database, { publications }: SuiteWorld): Promise<void> {
  const store = publicationStore(database, () => NOW);
  let instead_of: number | null = null;
  for (const [i, { published, checked_at, entries }] of publications.entries()) {
    const list = listOf(published, String(i + 1), entries);
    const source = SOURCE;
    const check = { at: checked_at, by: 'asked' } as const;
    const accepted = { accepted_at: checked_at, check, accepted_why: null, reader_version: 1 };
    said(await store.accept({ list, source, instead_of, ...accepted }));
    const { publication } = said(await store.inForce());
    instead_of = publication === null ? null : publication.id;
  }
}

function snapshotOf(database: Database, more: { maxAgeS: number | null; simulated: boolean }) {
  const faults: string[] = [];
  const snapshot = sanctionsSnapshot({
    ...more,
    store: publicationStore(database, () => NOW),
    now: () => NOW,
    ticks: () => 0,
    pollMs: POLL_MS,
    onFault: ({ reason }) => void faults.push(reason),
    onBug: (error) => {
      throw error;
    },
  });
  return { snapshot, faults };
}

onEachEngine((name, fresh) => {
  publicationStoreKeeps(name, async () => {
    const database = fresh();
    const store = publicationStore(database, () => NOW);
    return { store, setClock: database.setClock, close: async () => undefined };
  });

  sanctionsListKeeps(`the snapshot over ${name}`, async (world) => {
    const database = fresh();
    await database.setClock(NOW);
    await put(database, world);
    const { snapshot } = snapshotOf(database, world);
    await snapshot.start();
    return { list: snapshot.list, close: async () => snapshot.stop() };
  });
});

const WEEK = { maxAgeS: 7 * DAY_S, simulated: false };
const EVM = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
const FIRST = { published: '2026-11-12', checked_at: NOW - 60, entries: [row(EVM, '1')] };
const SECOND = { published: '2026-11-18', checked_at: NOW - 30, entries: [row(ABSENT, '2')] };

/** Waits until a poll has shown what was asked for; the suite's own limit ends it otherwise. */
async function until(test: () => Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

async function lists(snapshot: Snapshot, address: string): Promise<boolean> {
  const reading = await snapshot.list.lookUp([address]);
  return reading instanceof Read && reading.value.found.size > 0;
}

describe('a snapshot', () => {
  const fresh = embeddedControl();
  const opened = async () => {
    const database = fresh();
    await database.setClock(NOW);
    return database;
  };

  test('two snapshots of one store both come to serve a new list by polling', async () => {
    const database = await opened();
    const one = snapshotOf(database, WEEK).snapshot;
    const two = snapshotOf(database, WEEK).snapshot;
    await Promise.all([one.start(), two.start()]);
    expect(one.loaded()).toBeNull();
    await put(database, { publications: [FIRST], ...WEEK });
    await until(async () => (await lists(one, EVM)) && (await lists(two, EVM)));
    await replaceList(database);
    await until(async () => (await lists(one, ABSENT)) && (await lists(two, ABSENT)));
    expect(await lists(one, EVM)).toBe(false);
    expect(await lists(two, EVM)).toBe(false);
    one.stop();
    two.stop();
  });

  async function replaceList(on: Database): Promise<void> {
    const store = publicationStore(on, () => NOW);
    const { publication } = said(await store.inForce());
    const instead_of = publication === null ? null : publication.id;
    const list = listOf(SECOND.published, '9', SECOND.entries);
    const more = { reader_version: 1, accepted_why: null, instead_of };
    const times = { accepted_at: NOW, check: { at: NOW, by: 'asked' } } as const;
    said(await store.accept({ list, source: SOURCE, ...more, ...times }));
  }

  test('a restart keeps the list: a new session on the directory serves it at once', async () => {
    const directory = await freshPgliteDirectory();
    const before = await openPglite(directory);
    await migrate(before, MIGRATIONS, LIVE);
    await before.transaction((session) => session.script(clockAt(NOW)));
    await put(before, { publications: [FIRST], ...WEEK });
    await before.close();
    const after = await openPglite(directory);
    const { snapshot } = snapshotOf(after, WEEK);
    await snapshot.start();
    snapshot.stop();
    expect(await lists(snapshot, EVM)).toBe(true);
    await after.close();
    await rm(dirname(directory), { recursive: true });
  });

  test('a silent store: the loaded list goes on answering and its clock stands', async () => {
    const database = await opened();
    await put(database, { publications: [FIRST], ...WEEK });
    let time = NOW;
    const faults: string[] = [];
    const snapshot = sanctionsSnapshot({
      ...WEEK,
      store: publicationStore(database, () => time),
      now: () => time,
      ticks: () => 0,
      pollMs: POLL_MS,
      onFault: ({ reason }) => void faults.push(reason),
      onBug: (error) => {
        throw error;
      },
    });
    await snapshot.poll();
    database.silence('gone');
    await snapshot.poll();
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^The store of the sanctions list could not be read: /);
    expect(await lists(snapshot, EVM)).toBe(true);
    expect(await snapshot.list.lookUp([ABSENT])).toBeInstanceOf(Read);
    time = NOW + 8 * DAY_S;
    expect(await snapshot.list.lookUp([ABSENT])).toBeInstanceOf(Part);
    const past = await snapshot.list.lookUpOn('2026-11-15', [EVM]);
    expect(past instanceof Unread && past.why.code).toBe('store_unreadable');
  });

  test('a store that never answered is named as that, not as a list never loaded', async () => {
    const database = fresh();
    database.silence('gone');
    const { snapshot } = snapshotOf(database, WEEK);
    await snapshot.poll();
    const reading = await snapshot.list.lookUp([EVM]);
    expect(reading instanceof Unread && reading.why.code).toBe('store_unreadable');
  });

  test('a list with fewer rows than recorded is not taken, the one before stays', async () => {
    const database = await opened();
    await put(database, { publications: [FIRST], ...WEEK });
    const { snapshot, faults } = snapshotOf(database, WEEK);
    await snapshot.poll();
    await replaceList(database);
    await database.query(
      'delete from sanctions_entries where publication_id in ' +
        '(select publication_id from sanctions_current)',
    );
    await snapshot.poll();
    expect(faults).toEqual([
      'The sanctions list could not be read: it holds 0 of 1 recorded addresses.',
    ]);
    expect(await lists(snapshot, EVM)).toBe(true);
  });

  test('the newest refusal is named while no list was ever loaded', async () => {
    const database = await opened();
    const store = publicationStore(database, () => NOW);
    const refused = { code: 'truncated', reason: 'it ends early' };
    await store.recordRefusal(refusalOf('5', refused));
    const { snapshot } = snapshotOf(database, WEEK);
    await snapshot.poll();
    const reading = await snapshot.list.lookUp([EVM]);
    expect(reading instanceof Unread && reading.why.reason).toBe(
      'No sanctions list has been loaded on this deployment (the newest file, from ' +
        'https://publisher.example, was refused as truncated: it ends early); nothing was checked.',
    );
  });
});
