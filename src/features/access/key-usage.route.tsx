// What keys are used for: charged requests by day, key and route, as an answer and as a section of
// the settings. A day on which they were not counted so holds `null`, and never a zero.

import { z } from 'zod';
import { dailyAllowance } from '../../access/gate.ts';
import { PLANS } from '../../access/plan.ts';
import {
  DAY_S,
  formatIsoDate,
  formatIsoTime,
  startOfDay,
  type UnixSeconds,
} from '../../chain/time.ts';
import { badField } from '../../contract/refusals.ts';
import { memberOf, type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  askedDay,
  harmless,
  isoDay,
  isoTime,
  LATER_THAN_TO,
  oneOf,
  prose,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { countOrZero, listOrNone } from '../../evidence/measure.ts';
import { rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { momentText, Table } from '../../pages/words.tsx';
import {
  type KeyUsage,
  type Membership,
  type MembershipStore,
  PLAN_NAMES,
  type QuotaStore,
} from '../../ports/access.ts';

/** Days of one answer, at most, and where none are asked for. */
const DAYS_MAX = 31;
const DAYS_DEFAULT = 7;

const count = harmless(z.int().nonnegative(), 'it is the own count of whoever asks');
const use = z.strictObject({
  key_id: words().nullable().describe('`null`: pages that the member opened in a browser.'),
  prefix: words().nullable(),
  name: words().nullable(),
  allowance: oneOf(['membership', 'key']).describe('Whose allowance it was charged to.'),
  route: words(),
  requests: z.int().positive(),
});

export const keyUsageRoute = plainRoute({
  surface: 'hosted',
  access: 'analyst',
  name: 'usage',
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'The charged requests of the membership, by day, key and route.',
  query: z.strictObject({ from: askedDay.optional(), to: askedDay.optional() }),
  responses: {
    200: z.strictObject({
      membership_id: words(),
      plan: oneOf(PLAN_NAMES),
      daily_limit: z.int().positive(),
      member_since: isoTime.describe('Earlier days are left out.'),
      counted_since: isoTime.describe('Since when requests are counted by key and route.'),
      from: isoDay,
      to: isoDay,
      days: harmless(
        z.array(
          z.strictObject({
            day: isoDay,
            charged: count.describe('What was charged to the membership on that day, in all.'),
            uses: harmless(z.array(use), 'a day on which nothing was charged has no uses')
              .nullable()
              .describe('`null`: they were not counted by key and route, or not read; see reason.'),
            uncounted: count
              .nullable()
              .describe(
                'What was charged to the membership and stands under no use: by an older ' +
                  'version, or in the last second, also that of a process that was killed.',
              ),
            reason: prose().nullable(),
          }),
        ),
        'days before the membership began are left out',
      ).describe('The newest day first; today so far.'),
      caveat: prose(),
    }),
    503: unavailable.describe('The counts could not be read.'),
  },
});

/** @internal */
export type KeyUsagePorts = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly quota: Pick<QuotaStore, 'days' | 'uses' | 'usesSince'>;
};

const CAVEAT =
  'Only charged requests are counted: what was refused, failed or is open to everybody costs no ' +
  'quota. A publishable key has an allowance of its own, outside `charged`. Days are UTC. Uses ' +
  'are written within a second of their charge, and a killed process left out what it had not ' +
  'written yet: of each use there were at least so many requests.';
const BEFORE = 'Requests of this day were charged before they were counted by key and route.';
const CUT = 'More uses are held than one answer holds: ask for fewer days.';

/** The uses of a day; `null` where they were not counted so, or not read. */
export type DayOfUses = {
  readonly day: string;
  readonly charged: number;
  readonly uses: readonly KeyUsage[] | null;
  readonly uncounted: number | null;
  readonly reason: string | null;
};

export type UsageView = { readonly since: UnixSeconds; readonly days: readonly DayOfUses[] };

/** @internal The uses of a membership by day, the newest first; or why they are unread. */
export async function viewUsage(
  { quota }: Pick<KeyUsagePorts, 'quota'>,
  membership: Membership,
  span: { readonly from: string; readonly to: string },
): Promise<UsageView | Why> {
  const { membership_id, created_at } = membership;
  const { allowance } = dailyAllowance(membership_id, PLANS[membership.plan], created_at);
  const since = await quota.usesSince();
  if (since instanceof Unread) return since.why;
  // The days first: what is charged meanwhile then stands in the uses, and not beside them.
  const counted = await quota.days(allowance.subject, span.from, span.to);
  if (counted instanceof Unread) return counted.why;
  const listed = await quota.uses({ membership_id }, span.from, span.to);
  if (listed instanceof Unread) return listed.why;
  const rows = listOrNone(rowsSeen(listed));
  // The newest uses come first: where the list is cut, its last day may lack some.
  const cutFrom = listed.checked ? null : rows.at(-1)?.day;
  const charged = new Map(counted.value.map(({ day, used }) => [day, used]));
  const firstCounted = formatIsoDate(since.value);
  const days = daysBetween(span).map((day): DayOfUses => {
    const ofDay = rows.filter((row) => row.day === day);
    const seen = ofDay.find((row) => row.allowance === 'membership');
    const all = seen === undefined ? countOrZero(charged.get(day)) : countOrZero(seen.charged);
    const isCut = cutFrom !== null && (cutFrom === undefined || day <= cutFrom);
    if (day < firstCounted || isCut) {
      const reason = isCut ? CUT : BEFORE;
      return { day, charged: all, uses: null, uncounted: null, reason };
    }
    const own = ofDay.filter((row) => row.allowance === 'membership');
    const sum = own.reduce((total, { requests }) => total + requests, 0);
    return { day, charged: all, uses: ofDay, uncounted: all - sum, reason: null };
  });
  return { since: since.value, days };
}

/** The days of a span, the newest first. */
function daysBetween({ from, to }: { readonly from: string; readonly to: string }): string[] {
  const days: string[] = [];
  for (let at = startOfDay(to); at >= startOfDay(from); at -= DAY_S) days.push(formatIsoDate(at));
  return days;
}

/** @internal */
export function keyUsageHandler(ports: KeyUsagePorts): PlainHandler<typeof keyUsageRoute> {
  return async ({ query }, { now }, caller) => {
    const { membership_id } = memberOf(caller);
    const today = formatIsoDate(now());
    const to = query.to === undefined || query.to > today ? today : query.to;
    const earliest = formatIsoDate(startOfDay(to) - (DAYS_DEFAULT - 1) * DAY_S);
    const from = query.from === undefined ? earliest : query.from;
    if (from > to) return badField('from', LATER_THAN_TO);
    if (startOfDay(to) - startOfDay(from) >= DAYS_MAX * DAY_S) {
      return badField('from', `expected ${DAYS_MAX} days at most`);
    }
    const found = await ports.memberships.find(membership_id);
    if (found instanceof Unread) return unreadCounts(found.why);
    if (found.value === null) throw new Error('a key of a membership that is not there');
    const membership = found.value;
    const began = Math.max(startOfDay(from), membership.created_at);
    const span = { from: formatIsoDate(began), to };
    const view = await viewUsage(ports, membership, span);
    if ('code' in view) return unreadCounts(view);
    return keyUsageRoute.reply(200, {
      membership_id,
      plan: membership.plan,
      daily_limit: PLANS[membership.plan].daily_requests,
      member_since: formatIsoTime(membership.created_at),
      counted_since: formatIsoTime(view.since),
      ...span,
      days: view.days.map(({ uses, ...day }) => {
        return { ...day, uses: uses === null ? null : uses.map(useView) };
      }),
      caveat: CAVEAT,
    });
  };
}

function unreadCounts({ reason }: Why) {
  return keyUsageRoute.reply(503, { error: 'The counts could not be read.', reason });
}

function useView({ key_id, prefix, name, allowance, route, requests }: KeyUsage) {
  return { key_id, prefix, name, allowance, route, requests };
}

// The settings: what each key was used for over the days that are shown, and each day.

const number = (value: number): string => value.toLocaleString('en');

type Line = Pick<KeyUsage, 'key_id' | 'prefix' | 'name' | 'route' | 'requests'> & {
  readonly last: string;
};

/** The uses of some days by key and route, the most used first. */
function linesOf(days: readonly DayOfUses[]): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const { uses } of days) {
    for (const { key_id, prefix, name, route, requests, day } of listOrNone(uses)) {
      const place = `${key_id} ${route}`;
      const line = lines.get(place);
      // The newest day comes first.
      const last = line === undefined ? day : line.last;
      const sum = requests + countOrZero(line?.requests);
      lines.set(place, { key_id, prefix, name, route, requests: sum, last });
    }
  }
  return [...lines.values()].sort((a, b) => b.requests - a.requests);
}

/** @internal What keys were used for, as a section of the settings. */
export function KeyUsageSection({ view }: { view: UsageView | { readonly unread: string } }) {
  return (
    <section aria-labelledby="uses">
      <h2 id="uses">Use by key and route</h2>
      {'unread' in view ? (
        <p>The use by key could not be read: {view.unread}</p>
      ) : (
        <Uses view={view} />
      )}
    </section>
  );
}

function Uses({ view: { since, days } }: { view: UsageView }) {
  const lines = linesOf(days);
  const oldest = days.at(-1);
  const uncounted = days.reduce((sum, day) => sum + countOrZero(day.uncounted), 0);
  const isWhole = days.every(({ uses }) => uses !== null);
  return (
    <>
      {oldest !== undefined && (
        <p class="quiet">
          Charged requests from {oldest.day} to {days[0]?.day}, counted by key and route since{' '}
          {momentText(since)}
          {isWhole ? '' : '. Of some days they are unknown'}
          {uncounted === 0 ? '' : `. ${number(uncounted)} stand under no key or route`}.
        </p>
      )}
      {lines.length === 0 ? (
        <p class="nothing">
          {isWhole && uncounted === 0
            ? 'No use of a key is written down for these days.'
            : 'What keys were used for is unknown.'}
        </p>
      ) : (
        <UseTable lines={lines} />
      )}
    </>
  );
}

function UseTable({ lines }: { lines: readonly Line[] }) {
  return (
    <Table
      rows={lines}
      columns={[
        { head: 'Key', cell: (line) => keyText(line) },
        { head: 'Route', cell: ({ route }) => <code>{route}</code>, look: 'whole' },
        { head: 'Requests', cell: ({ requests }) => number(requests) },
        { head: 'Last', cell: ({ last }) => last, look: 'whole' },
      ]}
    />
  );
}

function keyText({ key_id, prefix, name }: Line) {
  if (key_id === null) return 'Pages in a browser';
  const shown = prefix === null ? key_id : `${prefix}…`;
  return (
    <>
      {name === null ? '' : `${name} `}
      <code>{shown}</code>
    </>
  );
}
