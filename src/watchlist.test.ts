// Is what changes of a watched address told once, to whoever watches it and to nobody else, by pull
// and in chat? Over a real store on each engine. Streams and kills have tests of their own.

import { expect, test, vi } from 'vitest';
import { Read } from './evidence/reading.ts';
import { WATCH_LEASES } from './features/watchlist/shapes.ts';
import type { FlaggedRow } from './ports/rug-flags.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { accessIn, type FreshStore, leasesIn, onEachEngine } from './testing/control-store.ts';
import { addIntegration, messagesFor, waitingFor } from './testing/integrations.ts';
import { memoryTransfer } from './testing/twins/history.ts';
import { labelOf, OTHER_LIST, otherEntryOf } from './testing/twins/tables.ts';
import { listedEntry } from './testing/walked-world.ts';
import { type WatchWorld, watchingIn } from './testing/watching.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const WATCHED = evm('watched');
const LISTED = evm('listed');
const CHAT = 'int_mine';

const FLAGGED: FlaggedRow = {
  address: WATCHED,
  chain: 'ethereum',
  tag: 'Fake_Phishing1',
  category: 'phish-hack',
  is_contract: false,
  creator: null,
  creation_tx: null,
  source: 'a published table',
  source_url: null,
  first_seen: '2026-09-01',
};

const CLUSTER = {
  chain: 'ethereum',
  cluster_id: 'ethereum:1',
  confidence: 0.9,
  basis: 'assumed',
  members: [WATCHED, evm('another')],
  labels: ['Exemplar'],
} as const;

async function deployment(fresh: FreshStore) {
  const database = fresh();
  const { memberships } = accessIn(database, Date.now);
  for (const membership_id of ['mem_mine', 'mem_theirs']) {
    await memberships.record({ membership_id, plan: 'desk', status: 'active', at: STILL_NOW });
  }
  await addIntegration(database, CHAT, 'mem_mine');
  return { database, ...watchingIn(database) };
}

const LIST: Partial<WatchWorld> = { listed: [listedEntry(WATCHED)] };
const ENTRIES: readonly (readonly [part: string, source: string, world: Partial<WatchWorld>])[] = [
  ['sanctions_list', 'OFAC SDN List', LIST],
  ['other_lists', OTHER_LIST, { otherEntries: [otherEntryOf(WATCHED)] }],
  ['exchange_labels', 'tests', { labels: [labelOf(WATCHED, 'Exemplar')] }],
  ['flagged_addresses', 'a published table', { flagged: [FLAGGED] }],
  ['entity_clusters', 'cluster on ethereum', { clusters: [CLUSTER] }],
  [
    'hops',
    'ethereum',
    { listed: [listedEntry(LISTED)], transfers: [memoryTransfer(1, WATCHED, LISTED)] },
  ],
];

onEachEngine((name, fresh) => {
  test.each(ENTRIES)(
    `${name}: entering %s is told once, by pull and in chat`,
    async (part, source, world) => {
      const { database, be, round, watch, changes, called } = await deployment(fresh);
      const { id } = await watch('mem_mine', WATCHED);
      await round();
      expect(await changes('mem_mine')).toEqual([]);
      be({ version: '2', ...world });
      for (let rounds = 0; rounds < 3; rounds += 1) await round();
      const told = await changes('mem_mine');
      expect(told).toMatchObject([
        { seq: 1, watch_id: id, address: WATCHED, part, change: 'entered', before: [] },
      ]);
      expect(told[0]?.after).toMatchObject([{ source }]);
      expect(told[0]?.not_read).toEqual([]);
      expect(await waitingFor(database, CHAT)).toEqual([
        expect.stringMatching(`^${id}:\\d+:${part}$`),
      ]);
      expect(await messagesFor(database, CHAT)).toMatchObject([
        { facts: expect.arrayContaining([`Watched address: ${WATCHED}`]), path: '/watchlist' },
      ]);
      const [message] = await messagesFor(database, CHAT);
      const inferred = JSON.stringify(message).includes(
        '(inferred, weight 0.90, assumed; Exemplar',
      );
      expect(inferred).toBe(part === 'entity_clusters');
      expect(called()).toBe(1);
      expect(await changes('mem_theirs')).toEqual([]);
    },
  );

  test(`${name}: a change names both versions, and what left is told as what left`, async () => {
    const { be, round, watch, changes, database } = await deployment(fresh);
    be({ version: '1', ...LIST });
    await watch('mem_mine', WATCHED);
    await round();
    be({ version: '2' });
    await round();
    const [first, second] = await changes('mem_mine');
    expect(first).toMatchObject({ change: 'first_seen', before: null });
    expect(second).toMatchObject({ seq: 2, change: 'left', after: [], before: first?.after });
    expect(second?.version_before).toContain(`sha256:${'1'.repeat(64)}`);
    expect(second?.version_after).toContain(`sha256:${'2'.repeat(64)}`);
    const [, message] = await messagesFor(database, CHAT);
    expect(message).toMatchObject({
      title: 'Sanctions list: it stood there at the last look, and does not any more',
      facts: expect.arrayContaining([expect.stringMatching(/^Before: OFAC SDN List: /)]),
    });
  });

  test(`${name}: what cannot be read is named, and is no change`, async () => {
    const { be, round, watch, changes, watchlist } = await deployment(fresh);
    be({ version: '1', ...LIST });
    await watch('mem_mine', WATCHED);
    await round();
    be({ version: '2', silent: true });
    await round();
    expect(await changes('mem_mine')).toHaveLength(1);
    const listed = await watchlist.list('mem_mine', null);
    if (!(listed instanceof Read)) throw new Error('not read');
    expect(listed.value[0]?.parts.find(({ part }) => part === 'sanctions_list')).toMatchObject({
      found: [{ source: 'OFAC SDN List' }],
      version: expect.stringContaining('1'.repeat(64)),
      not_read: 'A store could not be read: it is down.',
    });
    be({ version: '3', ...LIST });
    await round();
    expect(await changes('mem_mine')).toHaveLength(1);
  });

  test(`${name}: what is not held of a kind of address is no miss`, async () => {
    const { round, watch, watchlist } = await deployment(fresh);
    await watch('mem_mine', 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7');
    await round();
    const listed = await watchlist.list('mem_mine', null);
    if (!(listed instanceof Read)) throw new Error('not read');
    expect(listed.value[0]?.parts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          part: 'entity_clusters',
          found: null,
          read_at: null,
          not_read: expect.stringContaining('ties'),
        }),
        expect.objectContaining({
          part: 'hops',
          found: null,
          read_at: null,
          not_read: expect.stringContaining('history'),
        }),
      ]),
    );
  });

  test(`${name}: a list past its age lets an address enter, and none leave`, async () => {
    const { be, round, watch, changes } = await deployment(fresh);
    await watch('mem_mine', WATCHED);
    await round();
    const old = { checkedAgoS: 30 * 86_400 };
    be({ version: '2', ...old, ...LIST });
    await round();
    be({ version: '3', ...old });
    await round();
    const told = await changes('mem_mine');
    expect(told.map(({ change }) => change)).toEqual(['entered']);
    be({ version: '4' });
    await round();
    expect((await changes('mem_mine')).map(({ change }) => change)).toEqual(['entered', 'left']);
  });

  test(`${name}: each membership has numbers of its own, without a gap`, async () => {
    const { be, round, watch, changes } = await deployment(fresh);
    for (const id of ['mem_mine', 'mem_theirs']) await watch(id, WATCHED);
    await watch('mem_mine', LISTED);
    await round();
    be({ version: '2', listed: [listedEntry(WATCHED), listedEntry(LISTED)] });
    await round();
    be({ version: '3' });
    await round();
    const seqs = async (id: string) => (await changes(id)).map(({ seq }) => seq);
    expect(await seqs('mem_mine')).toEqual([1, 2, 3, 4]);
    expect(await seqs('mem_theirs')).toEqual([1, 2]);
  });

  test(`${name}: whoever lost the lease, or came second, keeps and tells nothing`, async () => {
    const { database, be, round, watch, changes, screening, parts } = await deployment(fresh);
    await watch('mem_mine', WATCHED);
    be({ version: '2', ...LIST });
    // It is paused between its look and its commit, while another one takes over and screens.
    await round({
      screening: {
        ...screening,
        commit: async (screened) => {
          await leasesIn(database, 'another').release(WATCH_LEASES.tables);
          await database.query("update leases set held_until = '-infinity'");
          await round();
          return screening.commit(screened);
        },
      },
      leases: parts().leases,
    });
    expect(await changes('mem_mine')).toHaveLength(1);
    expect(await waitingFor(database, CHAT)).toHaveLength(1);
  });

  test(`${name}: an address that was taken out meanwhile is told of no more`, async () => {
    const { be, round, watch, changes, watchlist, screening } = await deployment(fresh);
    const { id } = await watch('mem_mine', WATCHED);
    be({ version: '2', ...LIST });
    expect(await watchlist.remove('mem_theirs', id)).toMatchObject({ value: false });
    const commit: typeof screening.commit = async (screened) => {
      await watchlist.remove('mem_mine', id);
      return screening.commit(screened);
    };
    await round({ screening: { ...screening, commit } });
    expect(await changes('mem_mine')).toEqual([]);
    expect(await watchlist.list('mem_mine', null)).toMatchObject({ value: [] });
  });

  test(`${name}: a plan watches as many as it says, however many come at once`, async () => {
    const { watchlist } = await deployment(fresh);
    const added = await Promise.all(
      ['a', 'b', 'c', 'd'].map((one) => watchlist.add('mem_mine', evm(one), 2)),
    );
    expect(added.filter((one) => one.checked && one.value === 'full')).toHaveLength(2);
    const again = await watchlist.list('mem_mine', null);
    if (!(again instanceof Read)) throw new Error('not read');
    const [first] = again.value;
    if (first === undefined) throw new Error('none');
    const upper = `0x${first.address.slice(2).toUpperCase()}`;
    expect(await watchlist.add('mem_mine', upper, 2)).toMatchObject({
      value: { added: false, watched: { id: first.id } },
    });
  });

  test(`${name}: an inactive membership is not screened, and goes on where it was`, async () => {
    const { database, be, round, watch, changes } = await deployment(fresh);
    await watch('mem_mine', WATCHED);
    await round();
    const { memberships } = accessIn(database, Date.now);
    const event = { membership_id: 'mem_mine', plan: 'desk' } as const;
    await memberships.record({ ...event, status: 'inactive', at: STILL_NOW + 1 });
    be({ version: '2', ...LIST });
    await round();
    expect(await changes('mem_mine')).toEqual([]);
    await memberships.record({ ...event, status: 'active', at: STILL_NOW + 2 });
    await round();
    expect(await changes('mem_mine')).toHaveLength(1);
  });
});
