// The answers over a list that an operator imported as a file, on a machine without a network.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { Unread } from './evidence/reading.ts';
import { embeddedControl } from './testing/control-store.ts';
import { issueOf, listDeployment } from './testing/list-deployment.ts';
import { startPublisher } from './world/publisher.ts';
import { sdnXml } from './world/sdn-publication.ts';

const START = Date.UTC(2026, 10, 21, 12) / 1_000;
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
const LISTED = '1FirstIssue';

const fresh = embeddedControl();
let time = START;
const now = () => time;
let home: string;
let file: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'exhibit-test-import-'));
  file = join(home, 'SDN.XML');
  await writeFile(file, sdnXml(issueOf('2026-11-10', LISTED)));
});
afterAll(() => rm(home, { recursive: true }));
afterEach(() => {
  time = START;
});
const deployment = () => listDeployment({ database: fresh(), home, asked: [], now });

test('without a word of when it was obtained, it is as old as its own date', async () => {
  const { importFile, listed, notes } = await deployment();
  const outcome = await importFile(file, null);
  const own = Date.UTC(2026, 10, 10) / 1_000;
  expect(outcome).toMatchObject({ kind: 'updated', list: { source: 'file:', checked_at: own } });
  expect(await listed(LISTED)).toBe(true);
  expect(await listed(ABSENT)).toBeNull();
  expect(await notes()).toEqual([
    'The publisher did not confirm the list: it counts as checked on its own publication date, ' +
      '11 days ago.',
  ]);
});

test('its age runs from when the operator says it was obtained, and every answer says so', async () => {
  const { importFile, listed, notes, snapshot, inForce, setClock } = await deployment();
  await importFile(file, START - HOUR_S);
  expect(await listed(ABSENT)).toBe(false);
  expect(await notes()).toEqual([
    'The operator states that the list was obtained at 2026-11-21T11:00Z, 60 minutes ago.',
  ]);
  const past = await snapshot.list.lookUpOn('2026-11-20', [ABSENT]);
  expect(past instanceof Unread).toBe(false);
  // The same file, obtained again a day later, is a later check; an earlier one changes nothing.
  time = START + DAY_S;
  expect((await importFile(file, time)).kind).toBe('unchanged');
  await importFile(file, START);
  expect((await inForce()).publication).toMatchObject({ checked_by: 'obtained', checked_at: time });
  time += 8 * DAY_S;
  await setClock(time);
  await snapshot.poll();
  expect(await listed(ABSENT)).toBeNull();
});

test('the publisher’s own word takes its place once the publisher can be asked', async () => {
  const publisher = await startPublisher({ now, publication: issueOf('2026-11-10', LISTED) });
  const asked = [publisher];
  const { importFile, refresh, inForce, notes } = await listDeployment({
    database: fresh(),
    home,
    asked,
    now,
  });
  await importFile(file, START - HOUR_S);
  expect((await refresh()).kind).toBe('unchanged');
  expect((await inForce()).publication).toMatchObject({
    checked_by: 'asked',
    checked_at: START,
    source_url: publisher.origin,
  });
  expect(await notes()).toBeNull();
  await publisher.close();
});
