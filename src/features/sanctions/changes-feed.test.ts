import { expect, test } from 'vitest';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import { acceptedIn } from '../../testing/accepted.ts';
import { embeddedControl, listChangesIn, publicationsIn } from '../../testing/control-store.ts';
import { changesFeed, readChanges } from './changes.route.tsx';

const T = Date.UTC(2026, 8, 16, 9) / 1_000;
const FIRST = listOf('2026-09-15', '1', [row('gone', '7', { entity: 'A & <B>\u0001' })]);
const SECOND = listOf('2026-09-16', '2', [row('new', '8', { entity: null, programs: null })]);
const fresh = embeddedControl();

test('each file is an entry with both hashes and its changes', async () => {
  const database = fresh();
  const store = publicationsIn(database);
  await acceptedIn(store, FIRST, T);
  await acceptedIn(store, SECOND, T + 86_400);
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
  await acceptedIn(store, FIRST, T);
  const many = Array.from({ length: 130 }, (_, n) => row(`new ${n}`, '8'));
  await acceptedIn(store, listOf('2026-09-16', '3', many), T);
  const log = await readChanges(listChangesIn(database));
  if ('reason' in log) throw new Error(log.reason);
  const feed = changesFeed(log.files, log.changes, true);
  const texts = feed.entries.map(({ text }) => text).join('\n');
  expect(texts).toContain('and 31 more in the change log');
  expect(feed.title).toBe('Simulated: Changes of the sanctions list');
});
