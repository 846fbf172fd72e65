// How old is the list, and who says so: a publisher and two mirrors on the wire, the real reader,
// the real store, and a clock of the store that a test sets.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { Part, Unread } from './evidence/reading.ts';
import { isListRefusal, type PublicationReader } from './ports/sanctions.ts';
import { embeddedControl } from './testing/control-store.ts';
import { issueOf, type ListReader, listDeployment } from './testing/list-deployment.ts';
import { readList } from './testing/list-reader.ts';
import { SANDBOX_PARTY } from './world/listed-parties.ts';
import { type StartedPublisher, startPublisher } from './world/publisher.ts';

/** 12:00 UTC on a Saturday: 07:00 in Washington. */
const START = Date.UTC(2026, 10, 21, 12) / 1_000;
const [LISTED] = SANDBOX_PARTY.addresses.map(({ address }) => address);
const ABSENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
const FIRST = '1FirstIssue';
const SECOND = '1SecondIssue';

const fresh = embeddedControl();
let time = START;
const now = () => time;
let home: string;
let publisher: StartedPublisher;
let mirrorA: StartedPublisher;
let mirrorB: StartedPublisher;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'exhibit-test-clock-'));
  publisher = await startPublisher({ now });
  mirrorA = await startPublisher({ now });
  mirrorB = await startPublisher({ now });
});
afterAll(async () => {
  for (const one of [publisher, mirrorA, mirrorB]) await one.close();
  await rm(home, { recursive: true });
});
afterEach(() => {
  time = START;
  for (const one of [publisher, mirrorA, mirrorB]) {
    one.fault(null);
    one.requests.length = 0;
  }
});

const deployment = (asked = [publisher, mirrorA, mirrorB]) =>
  listDeployment({ database: fresh(), home, asked, now });

describe('who was asked', () => {
  test('400 days of a mirror’s "unchanged" renew nothing: after a week a miss is none', async () => {
    for (const one of [publisher, mirrorA]) one.publish(issueOf('2026-11-20'));
    const { refresh, look, listed, inForce } = await deployment([publisher, mirrorA]);
    await refresh();
    publisher.fault('error500');
    for (let day = 1; day <= 400; day += 1) {
      time = START + day * DAY_S;
      expect((await refresh()).kind).toBe('unreachable');
      expect(await listed(String(LISTED))).toBe(true);
      expect(await listed(ABSENT)).toBe(day <= 7 ? false : null);
    }
    expect((await inForce()).publication?.checked_at).toBe(START);
    // The mirror answered every day, and after the first in 304s.
    const links = mirrorA.requests.filter(({ path }) => path.startsWith('/s3/'));
    expect(links.map(({ status }) => status)).toEqual([200, ...Array(399).fill(304)]);
    expect(await look(ABSENT)).toBeInstanceOf(Part);
    publisher.fault(null);
    expect((await refresh()).kind).toBe('unchanged');
    expect(await listed(ABSENT)).toBe(false);
  }, 120_000);

  test('a stale mirror that is asked first does not keep the newer list of the second', async () => {
    publisher.publish(issueOf('2026-11-19'));
    const { refresh, inForce } = await deployment();
    await refresh();
    publisher.fault('error500');
    mirrorA.publish(issueOf('2026-11-19'));
    mirrorB.publish(issueOf('2026-11-20', FIRST));
    const outcome = await refresh();
    expect(outcome).toMatchObject({ kind: 'updated', retry: 'soon' });
    expect((await inForce()).publication).toMatchObject({
      published: '2026-11-20',
      source_url: mirrorB.origin,
      checked_by: 'own_date',
      checked_at: Date.UTC(2026, 10, 20) / 1_000,
    });
    // The publisher comes back, vouches for the very file, and the list is checked.
    publisher.fault(null);
    publisher.publish(issueOf('2026-11-20', FIRST));
    time += HOUR_S;
    expect((await refresh()).kind).toBe('unchanged');
    expect((await inForce()).publication).toMatchObject({
      source_url: publisher.origin,
      checked_by: 'asked',
      checked_at: time,
    });
  });

  test('the publisher is asked in every round, its mirrors only where it gave nothing', async () => {
    for (const one of [publisher, mirrorA]) one.publish(issueOf('2026-11-20'));
    const { refresh } = await deployment([publisher, mirrorA]);
    await refresh();
    await refresh();
    expect(publisher.requests.length).toBeGreaterThan(0);
    expect(mirrorA.requests).toEqual([]);
    publisher.fault('forbidden');
    await refresh();
    expect(mirrorA.requests.length).toBeGreaterThan(0);
  });
});

describe('a newer list that was refused', () => {
  test('is told at once; after 24 hours a miss is none, a hit still is; accepted, it is over', async () => {
    for (const one of [publisher, mirrorA]) one.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed, look, notes, inForce } = await deployment([publisher, mirrorA]);
    await refresh();
    time = START + HOUR_S;
    publisher.publish(issueOf('2026-11-21', FIRST, SECOND));
    publisher.fault('renamed-root');
    expect(await refresh()).toMatchObject({
      kind: 'refused',
      code: 'unknown_root',
      published: '2026-11-21',
      in_force: '2026-11-20',
      retry: 'in_turn',
    });
    expect(await notes()).toEqual([
      `A list of 2026-11-21 from ${publisher.origin}, first seen 0 seconds ago, was refused ` +
        '(unknown_root) and is not in force.',
    ]);
    expect(await listed(ABSENT)).toBe(false);
    time += DAY_S;
    await refresh();
    expect((await inForce()).publication?.checked_at).toBe(START);
    expect(await listed(ABSENT)).toBe(false);
    time += 1;
    await refresh();
    const miss = await look(ABSENT);
    expect(miss instanceof Part && miss.why.code).toBe('list_superseded');
    expect(await listed(FIRST)).toBe(true);

    publisher.fault(null);
    expect((await refresh()).kind).toBe('updated');
    expect(await listed(SECOND)).toBe(true);
    expect(await listed(ABSENT)).toBe(false);
    expect(await notes()).toBeNull();
  });

  test('is fetched and read once, however often it is asked for', async () => {
    publisher.publish(issueOf('2026-11-20'));
    const { refresh, inForce } = await deployment([publisher]);
    let reads = 0;
    const read: PublicationReader = (...call) => {
      reads += 1;
      return readList(...call);
    };
    await refresh({ read, version: 1 });
    publisher.publish(issueOf('2026-11-21'));
    publisher.fault('renamed-namespace');
    for (let hour = 1; hour <= 48; hour += 1) {
      time = START + hour * HOUR_S;
      expect((await refresh({ read, version: 1 })).kind).toBe('refused');
    }
    expect(reads).toBe(2);
    expect(publisher.requests.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(await inForce()).toMatchObject({
      refusals: 1,
      superseded: { published: '2026-11-21', since: START + HOUR_S },
      newest_refusal: { refused_at: time },
    });
    // Another reader judges it anew, by what was fetched then.
    expect((await refresh({ read, version: 2 })).kind).toBe('refused');
    expect(reads).toBe(4);
  });

  test('that was cut short is tried again soon and whole, until the same bytes came twice', async () => {
    publisher.publish(issueOf('2026-11-20'));
    const { refresh, inForce } = await deployment([publisher]);
    await refresh();
    publisher.publish(issueOf('2026-11-21'));
    publisher.fault('truncated');
    expect(await refresh()).toMatchObject({ code: 'truncated', retry: 'soon' });
    expect(await refresh()).toMatchObject({ code: 'truncated', retry: 'in_turn' });
    expect((await inForce()).superseded?.published).toBe('2026-11-21');
    publisher.fault('html');
    expect(await refresh()).toMatchObject({ code: 'not_xml', retry: 'soon' });
    publisher.fault(null);
    expect((await refresh()).kind).toBe('updated');
    expect((await inForce()).superseded).toBeNull();
  });
});

describe('two issues of one day', () => {
  test('a mirror that lags does not take back what the publisher’s second lists', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed } = await deployment([publisher, mirrorA]);
    await refresh();
    publisher.publish(issueOf('2026-11-20', FIRST, SECOND));
    expect((await refresh()).kind).toBe('updated');
    publisher.fault('error500');
    mirrorA.publish(issueOf('2026-11-20', FIRST));
    expect(await refresh()).toMatchObject({
      kind: 'refused',
      code: 'same_day_removal',
      source: mirrorA.origin,
    });
    expect(await listed(SECOND)).toBe(true);
  });

  test('the second comes into force after the first, from whichever source', async () => {
    publisher.fault('error500');
    mirrorA.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed, inForce } = await deployment([publisher, mirrorA]);
    await refresh();
    publisher.fault(null);
    publisher.publish(issueOf('2026-11-20', FIRST, SECOND));
    expect((await refresh()).kind).toBe('updated');
    expect(await listed(SECOND)).toBe(true);
    expect((await inForce()).publication?.checked_by).toBe('asked');
  });

  test('a mirror may add to the publisher’s first, and one that adds nothing changes nothing', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed, inForce } = await deployment([publisher, mirrorA]);
    await refresh();
    publisher.fault('error500');
    // The same list in other bytes.
    const { published, parties } = issueOf('2026-11-20', FIRST);
    mirrorA.publish({ published, parties: parties.toReversed() });
    expect((await refresh()).kind).toBe('unreachable');
    expect((await inForce()).publication?.checked_by).toBe('asked');
    mirrorA.publish(issueOf('2026-11-20', FIRST, SECOND));
    expect((await refresh()).kind).toBe('updated');
    expect(await listed(SECOND)).toBe(true);
  });

  test('the publisher itself may take away on one day what it listed', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST, SECOND));
    const { refresh, listed } = await deployment([publisher, mirrorA]);
    await refresh();
    publisher.publish(issueOf('2026-11-20', FIRST));
    expect((await refresh()).kind).toBe('updated');
    expect(await listed(SECOND)).toBe(false);
  });
});

describe('the store’s clock', () => {
  test('a check made 400 days ahead is none once the clock is back', async () => {
    publisher.publish(issueOf('2026-11-20'));
    const { refresh, listed, inForce } = await deployment([publisher]);
    await refresh();
    time = START + 400 * DAY_S;
    expect((await refresh()).kind).toBe('unchanged');
    expect((await inForce()).publication?.checked_at).toBe(time);
    publisher.fault('error500');
    time = START + 6 * DAY_S;
    await refresh();
    expect((await inForce()).publication?.checked_at).toBe(START);
    expect(await listed(ABSENT)).toBe(false);
    time = START + 8 * DAY_S;
    await refresh();
    expect(await listed(ABSENT)).toBeNull();
    expect(await listed(String(LISTED))).toBe(true);
    publisher.fault(null);
    await refresh();
    expect(await listed(ABSENT)).toBe(false);
    expect((await inForce()).publication?.checked_at).toBe(time);
  });

  test('a machine whose own clock is 400 days behind ages the list by the store’s', async () => {
    publisher.publish(issueOf('2026-11-20'));
    const { refresh, snapshot, setClock, listed } = await deployment([publisher]);
    await refresh();
    await setClock(START + 8 * DAY_S);
    time = START - 400 * DAY_S;
    await snapshot.poll();
    expect(await listed(ABSENT)).toBeNull();
    expect(await listed(String(LISTED))).toBe(true);
  });

  test('a list that was accepted 400 days ahead shows no absence, and is replaced by a true one', async () => {
    time = START + 400 * DAY_S;
    publisher.publish(issueOf('2027-12-25', FIRST));
    const { refresh, look, listed } = await deployment([publisher]);
    expect((await refresh()).kind).toBe('updated');
    time = START;
    publisher.fault('error500');
    await refresh();
    const miss = await look(ABSENT);
    expect(miss instanceof Part && miss.why.code).toBe('list_ahead_of_clock');
    expect(await listed(FIRST)).toBe(true);
    publisher.fault(null);
    publisher.publish(issueOf('2026-11-20'));
    expect((await refresh()).kind).toBe('updated');
    expect(await listed(ABSENT)).toBe(false);
  });

  test('a past day is answered once it has ended in Washington, and by the publisher’s word', async () => {
    publisher.publish(issueOf('2026-11-20'));
    const { refresh, snapshot } = await deployment([publisher]);
    const answered = async (on: string) =>
      !((await snapshot.list.lookUpOn(on, [ABSENT])) instanceof Unread);
    // Five past midnight UTC is still the evening of the 21st where lists are published.
    time = Date.UTC(2026, 10, 22, 0, 5) / 1_000;
    await refresh();
    expect([await answered('2026-11-20'), await answered('2026-11-21')]).toEqual([true, false]);
    time = Date.UTC(2026, 10, 22, 4, 59) / 1_000;
    await refresh();
    expect(await answered('2026-11-21')).toBe(false);
    time = Date.UTC(2026, 10, 22, 5, 0) / 1_000;
    await refresh();
    expect(await answered('2026-11-21')).toBe(true);
  });
});

describe('a reader that was upgraded in place', () => {
  const older: PublicationReader = async (...call) => {
    const list = await readList(...call);
    if (isListRefusal(list)) return list;
    const addresses = list.addresses.filter(({ address }) => address !== FIRST);
    return { ...list, addresses, distinct_addresses: list.distinct_addresses - 1 };
  };
  const newer: ListReader = { read: readList, version: 2 };

  test('reads the list in force again from its kept file, though the file is the same', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed, inForce } = await deployment([publisher]);
    await refresh({ read: older, version: 1 });
    expect(await listed(FIRST)).toBe(false);
    publisher.fault('error500');
    await refresh(newer);
    expect(await listed(FIRST)).toBe(true);
    expect((await inForce()).publication).toMatchObject({ reader_version: 2, checked_at: START });
    publisher.fault(null);
    expect((await refresh(newer)).kind).toBe('unchanged');
  });

  test('asks for the whole file where this machine kept none', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed } = await deployment([publisher]);
    await refresh({ read: older, version: 1 });
    for (const name of (await readdir(home)).filter((one) => one.startsWith('spool-'))) {
      await rm(join(home, name, 'held'), { recursive: true, force: true });
    }
    expect((await refresh(newer)).kind).toBe('updated');
    expect(await listed(FIRST)).toBe(true);
  });

  test('and refuses it: nothing is lost, it is told, and a miss is none after a day', async () => {
    publisher.publish(issueOf('2026-11-20', FIRST));
    const { refresh, listed, look } = await deployment([publisher]);
    await refresh({ read: readList, version: 1 });
    const read: PublicationReader = async () => ({
      refused: true,
      code: 'dangling_reference',
      reason: 'a feature names no party',
      size: false,
      published: '2026-11-20',
    });
    expect((await refresh({ read, version: 2 })).kind).toBe('refused');
    expect(await listed(ABSENT)).toBe(false);
    time = START + DAY_S + 60;
    await refresh({ read, version: 2 });
    expect(await listed(FIRST)).toBe(true);
    const miss = await look(ABSENT);
    expect(miss instanceof Part && miss.why.code).toBe('list_superseded');
    await refresh({ read: readList, version: 3 });
    expect(await listed(ABSENT)).toBe(false);
  });
});
