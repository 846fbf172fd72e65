// Nine months of the real list, issue by issue: the change log says what the command says of the
// same two publications, and each past day is answered from the list that was the newest then.

import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DAY_S, formatIsoDate, startOfDay } from './chain/time.ts';
import type { Io } from './command/command.ts';
import { Read } from './evidence/reading.ts';
import { type SanctionsServices, sanctionsDiff } from './features/sanctions/sanctions.command.ts';

import type { PublicationStore, PublishedList, SanctionsList } from './ports/sanctions.ts';
import { diffPublications } from './stores/control/publications.ts';
import { sanctionsSnapshot } from './stores/snapshots/sanctions.ts';
import { acceptPublication, noteCheck } from './testing/accepted.ts';
import { embeddedControl, listChangesIn, publicationsIn } from './testing/control-store.ts';
import { HAS_ISSUES, readIssue } from './testing/real-lists.ts';

/** Noon in Washington, on whichever side of the change of clocks. */
const NOON_S = 17 * 3_600;
const NEVER = new AbortController().signal;

/** The issues between two: one for each day on which the later one says that a party was listed. */
function between(earlier: PublishedList, later: PublishedList): PublishedList[] {
  const { added } = diffPublications(earlier, later);
  const news = new Set(added.map(({ address, uid }) => `${address} ${uid}`));
  const rows = later.addresses.filter(({ address, uid }) => news.has(`${address} ${uid}`));
  const days = [...new Set(rows.map(({ listed_on }) => String(listed_on)))].sort();
  const inside = days.filter((day) => day > earlier.published && day < later.published);
  return inside.map((published, n) => {
    const addresses = [
      ...earlier.addresses,
      ...rows.filter(({ listed_on }) => String(listed_on) <= published),
    ];
    const distinct = new Set(addresses.map(({ address }) => address)).size;
    const sha256 = String(n).padStart(64, '0');
    return { ...later, published, addresses, distinct_addresses: distinct, sha256 };
  });
}

const listing = z.looseObject({ address: z.string(), uid: z.string() });
const changed = z.strictObject({ from: listing, to: listing });
const diffPrinted = z.object({
  added: z.array(listing),
  removed: z.array(listing),
  moved: z.array(changed),
  programmes_changed: z.array(changed),
  renamed: z.array(changed),
});
type DiffPrinted = z.output<typeof diffPrinted>;

const WORDS = ['address', 'uid', 'entity', 'type', 'programs', 'currencies'];

/** A change in words, whatever the order of its fields. */
function row(...change: readonly unknown[]): string {
  return JSON.stringify(change, WORDS);
}

function rowsOf(diff: DiffPrinted): string[] {
  const { added, removed, moved, programmes_changed, renamed } = diff;
  return [
    ...added.map((one) => row('added', one, null)),
    ...removed.map((one) => row('removed', one, null)),
    ...moved.map(({ from, to }) => row('moved', to, from)),
    ...programmes_changed.map(({ from, to }) => row('programmes_changed', to, from)),
    ...renamed.map(({ from, to }) => row('renamed', to, from)),
  ].sort();
}

/** The list that a store serves. */
async function listOn(store: PublicationStore): Promise<SanctionsList> {
  const snapshot = sanctionsSnapshot({
    store,
    maxAgeS: null,
    simulated: false,
    now: () => startOfDay('2025-03-10'),
    ticks: () => 0,
    pollMs: 60_000,
    onFault: ({ reason }) => {
      throw new Error(reason);
    },
    onBug: (fault) => {
      throw fault;
    },
  });
  await snapshot.poll();
  return snapshot.list;
}

describe.skipIf(!HAS_ISSUES)(
  'the real list (or skipped: no shared data)',
  { timeout: 120_000 },
  () => {
    const fresh = embeddedControl();
    const database = fresh();
    const store = publicationsIn(database);
    let issues: readonly PublishedList[] = [];
    let list: SanctionsList;

    beforeAll(async () => {
      const earlier = await readIssue('2024-05-29');
      const later = await readIssue('2025-03-04');
      issues = [earlier, ...between(earlier, later), later];
      for (const [n, issue] of issues.entries()) {
        const from = startOfDay(issue.published) + NOON_S;
        const next = issues[n + 1];
        expect(await acceptPublication(store, issue, from)).toBe('written');
        // It is asked for again until noon of the day on which the next one comes out.
        const until = next === undefined ? from + 9 * DAY_S : startOfDay(next.published) + NOON_S;
        await noteCheck(store, until);
      }
      list = await listOn(store);
    }, 120_000);

    test('the change log of each issue is what the command says of the two', async () => {
      expect(issues.length).toBeGreaterThan(5);
      const log = await listChangesIn(database).newest({
        from: null,
        until: null,
        beforeId: null,
        matchKey: null,
        limit: 500,
      });
      if (!(log instanceof Read)) throw new Error(log.why.reason);
      expect(log.value.filter(({ change }) => change === 'added')).toHaveLength(65);
      for (const [n, issue] of issues.entries()) {
        const before = issues[n - 1];
        const logged = log.value.filter(({ to }) => to.sha256 === issue.sha256);
        const changes = logged.map((one) => row(one.change, one.listing, one.before));
        if (before === undefined) {
          expect(changes).toEqual([]);
          continue;
        }
        const shown = await diffShown(before.published, issue.published);
        expect(changes.sort()).toEqual(rowsOf(shown));
        expect(new Set(logged.map(({ from }) => from.sha256))).toEqual(new Set([before.sha256]));
      }
    });

    /** The output of `exhibit sanctions diff A B --json` for two held publications. */
    async function diffShown(a: string, b: string): Promise<DiffPrinted> {
      const out: string[] = [];
      const io: Io = {
        out: (line) => void out.push(line),
        err: (line) => {
          throw new Error(line);
        },
        json: true,
        colour: false,
        cwd: '/',
        signal: NEVER,
      };
      const services = { sanctions: { store, diff: diffPublications } } as SanctionsServices;
      expect(await sanctionsDiff.run([a, b], io, services)).toBe(0);
      return diffPrinted.parse(JSON.parse(out.join('\n')));
    }

    async function listedOn(on: string, address: string): Promise<boolean> {
      const reading = await list.lookUpOn(on, [address]);
      if (!(reading instanceof Read)) throw new Error(`${on}: ${reading.why.reason}`);
      return reading.value.found.size > 0;
    }

    test('an address is listed from the day of its issue on, and not the day before', async () => {
      for (const [n, issue] of issues.entries()) {
        const before = issues[n - 1];
        if (before === undefined) continue;
        const [added] = diffPublications(before, issue).added;
        if (added === undefined) continue;
        const eve = formatIsoDate(startOfDay(issue.published) - DAY_S);
        const dayAfter = formatIsoDate(startOfDay(issue.published) + DAY_S);
        expect([eve, await listedOn(eve, added.address)]).toEqual([eve, false]);
        for (const on of [issue.published, dayAfter]) {
          if (issues.some(({ published }) => published === dayAfter) && on === dayAfter) continue;
          expect([on, await listedOn(on, added.address)]).toEqual([on, true]);
        }
      }
    });

    test('no day is answered from before the first issue, or from after the last check', async () => {
      for (const on of ['2024-05-01', '2025-06-01']) {
        expect(await list.lookUpOn(on, ['x'])).not.toBeInstanceOf(Read);
      }
    });

    // The clocks there are four hours behind in May and five in March.
    test.each([
      [0, 4],
      [-1, 5],
    ])(
      'a day is over when it is over in Washington: issue %i, %i hours behind',
      async (n, hours) => {
        const issue = issues.at(n);
        if (issue === undefined) throw new Error('the issue is missing');
        const midnight = startOfDay(issue.published) + DAY_S + hours * 3_600;
        const [address] = issue.addresses.map((row) => row.address);
        const alone = publicationsIn(fresh());
        await acceptPublication(alone, issue, startOfDay(issue.published) + NOON_S);
        for (const [at, answered] of [
          [midnight - 60, false],
          [midnight + 60, true],
        ] as const) {
          await noteCheck(alone, at);
          const reading = await (await listOn(alone)).lookUpOn(issue.published, [String(address)]);
          expect([at, reading instanceof Read]).toEqual([at, answered]);
        }
      },
    );
  },
);
