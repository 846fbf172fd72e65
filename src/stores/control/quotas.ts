// Charges that wait together are one statement, stored before any of them is answered.
// It refuses to grant past the limit: the statement itself decides, under the row's lock.

import { z } from 'zod';
import { countOrZero } from '../../evidence/measure.ts';
import {
  type Allowance,
  BROWSER_USE,
  type Charge,
  type ChargedUse,
  dayOfUse,
  keyUsage,
  type QuotaStore,
  type Remaining,
} from '../../ports/access.ts';
import {
  batchQueue,
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  onlyRow,
} from './engine/database.ts';
import { type KnownUse, knownUses } from './keys.ts';

const CHARGES = { batchMax: 2_000, waitingMax: 10_000 };
const READS = { batchMax: 500, waitingMax: 10_000 };

// Ordered, so that two processes lock the rows they share in one order and never wait in a ring.
// A row keeps what its last charge was given, because the statement can return only the new row.
// The rows come back as one, in columns: that is quicker to write and to read.
// What the charges were for is counted with them, as far as they were granted: of the charges of
// one row the first ones are. Both tables are locked in one order, a subject's uses under its row.
const CHARGE = `
  with charged as (
    insert into quota_usage as q (subject, period, used, granted, ceiling)
    select c.subject, c.period, least(c.asked, c.ceiling), least(c.asked, c.ceiling), c.ceiling
    from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as c(subject, period, asked, ceiling)
    order by c.subject, c.period
    on conflict (subject, period) do update set
      used = q.used + least(excluded.granted, greatest(excluded.ceiling - q.used, 0)),
      granted = least(excluded.granted, greatest(excluded.ceiling - q.used, 0)),
      ceiling = excluded.ceiling
    returning subject, period, used, granted
  ), counted as (
    insert into key_usage as k (subject, day, used_by, route, requests)
    select u.subject, u.day, u.used_by, u.route, least(u.asked, c.granted - u.earlier)
    from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[], $11::int[])
      as u(subject, period, day, used_by, route, earlier, asked)
    join charged c on c.subject = u.subject and c.period = u.period
    where c.granted > u.earlier
    order by u.subject, u.day, u.used_by, u.route
    on conflict (subject, day, used_by, route) do update set
      requests = k.requests + excluded.requests
  )
  select array_agg(subject) as subjects, array_agg(period) as periods, array_agg(used) as used,
    array_agg(granted) as granted from charged`;

const chargedRow = z.strictObject({
  subjects: z.array(z.string()),
  periods: z.array(z.string()),
  used: z.array(z.int()),
  granted: z.array(z.int()),
});

const USAGE = `
  select q.used from unnest($1::text[], $2::text[]) with ordinality as c(subject, period, n)
  left join quota_usage q on q.subject = c.subject and q.period = c.period order by c.n`;

const usageRow = z.strictObject({ used: z.int().nullable() });

/** The counters over the control database. */
export function quotaTable(database: Database, context: ControlContext): QuotaStore {
  const readings = controlReadings('quota', 'The quota counters', context);
  const known = knownUses(context.nowMs);
  const chargeBatched = batchQueue<ChargeRequest, Charge>(
    (charges) => chargeAll(database, charges, known),
    CHARGES,
  );
  const usageBatched = batchQueue<Pick<Allowance, 'subject' | 'period'>, number>(async (asked) => {
    const params = columnsOf(asked, ['subject', 'period']);
    const rows = await database.query(USAGE, params);
    return z
      .array(usageRow)
      .parse(rows)
      .map(({ used }) => countOrZero(used));
  }, READS);

  async function readUsage(subject: string, period: string): Promise<number> {
    const used = await usageBatched({ subject, period });
    known.saw(subject, period, used);
    return used;
  }

  return {
    charge: (allowance, use) => {
      checkAllowance(allowance);
      return readings.ask(() => chargeBatched({ allowance, use: use === undefined ? null : use }));
    },
    remaining: (allowance) => {
      checkAllowance(allowance);
      const { subject, period, limit } = allowance;
      const seen = known.recent(subject, period, limit);
      if (seen !== null) return readings.read(remainingOf(seen, limit));
      return readings.ask(async () => {
        const used = await readUsage(subject, period);
        // A charge that was stored meanwhile may have been answered first.
        const last = known.recent(subject, period, limit);
        return remainingOf(last === null ? used : last, limit);
      });
    },
    days: (subject, from, to) =>
      readings.ask(async () => {
        const rows = await database.query(
          `select q.period as day, q.used from quota_usage q
           where q.subject = $1 and q.period between $2 and $3 and length(q.period) = $4
           order by q.period`,
          [subject, from, to, DAY_CHARS],
        );
        return z.array(dayOfUse).parse(rows);
      }),
    lastSeen: ({ subject, period, limit }) => known.recent(subject, period, limit),
    usage: (subject, period) => readings.ask(() => readUsage(subject, period)),
    uses: (of, from, to) =>
      readings.askList(USES_LISTED_MAX, 'uses', async (limit) => {
        const [where, owner] =
          'key_id' in of ? [USED_BY_KEY, of.key_id] : [USED_BY, of.membership_id];
        const rows = await database.query(
          `select u.day, nullif(u.used_by, $4) as key_id, k.prefix, k.name,
             case when u.subject like 'membership:%' then 'membership' else 'key' end as allowance,
             u.route, u.requests, q.used as charged
           from key_usage u left join api_keys k on k.id = u.used_by
             left join quota_usage q on q.subject = u.subject and q.period = u.day
           where ${where} and u.day between $2 and $3
           order by u.day desc, u.requests desc, u.used_by, u.route limit ${limit}`,
          [owner, from, to, BROWSER_USE],
        );
        return z.array(keyUsage).parse(rows);
      }),
    usesSince: () =>
      readings.ask(async () => {
        const rows = await database.query(USES_SINCE);
        return sinceRow.parse(onlyRow(rows)).since;
      }),
  };
}

/** More uses than this are not listed in one answer. */
const USES_LISTED_MAX = 10_000;
const USED_BY_KEY = 'u.used_by = $1';
/** Whatever a membership pays for, and the keys that have budgets of their own. */
const USED_BY = `(u.subject = 'membership:' || $1 or u.subject in (
  select 'key:' || p.id from api_keys p where p.membership_id = $1 and p.kind = 'sc_pub'))`;
/** A store that was put back lost what was charged between its state and then. */
const USES_SINCE = `
  select extract(epoch from greatest(since,
    (select max(noticed_at) from store_restores)))::float8 as since from usage_counting`;
const sinceRow = z.strictObject({ since: z.number() });

/** The remainder of a limit after a use; a use past a lowered limit leaves nothing. */
export function remainingOf(used: number, limit: number): Remaining {
  return { used, remaining: Math.max(limit - used, 0), limit };
}

/** Throws on an allowance that no plan and no budget can hold. */
function checkAllowance({ subject, period, limit }: Allowance): void {
  if (!Number.isSafeInteger(limit) || limit < 0 || limit > LIMIT_MAX) {
    throw new RangeError('quota: a limit is a whole number of requests');
  }
  if (subject === '' || !/^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$/.test(period)) {
    throw new RangeError('quota: a charge names its subject and its day or month');
  }
}

/** A day is written so long; a shorter period is a month. */
const DAY_CHARS = 'YYYY-MM-DD'.length;
const LIMIT_MAX = 2_000_000_000;

/** A charge, and what it was for; `null`: nobody told. */
type ChargeRequest = { readonly allowance: Allowance; readonly use: ChargedUse | null };

/** Charges that were for the same, by their places in the batch, in the order of their coming. */
type UseGroup = { readonly use: ChargedUse | null; readonly positions: number[] };

/** Charges of one subject and period under one limit, by what they were for. */
type Group = { readonly allowance: Allowance; readonly uses: Map<string, UseGroup> };

async function chargeAll(
  database: Database,
  charges: readonly ChargeRequest[],
  known: KnownUse,
): Promise<readonly Charge[]> {
  const answers: Charge[] = new Array(charges.length);
  for (const groups of roundsOf(charges)) {
    const all = [...groups.values()].map((group) => ({ ...group, positions: positionsOf(group) }));
    const rows = all.map(({ allowance, positions }) => ({ ...allowance, n: positions.length }));
    const params = [
      ...columnsOf(rows, ['subject', 'period', 'n', 'limit']),
      ...columnsOf(all.flatMap(usesIn), USE_COLUMNS),
    ];
    const columns = chargedRow.parse(onlyRow(await database.query(CHARGE, params, 'often')));
    if (columns.subjects.length !== all.length) throw new Error('quota: a charge gave no row');
    const named = new Map(
      all.map((group) => [nameOf(group.allowance.subject, group.allowance.period), group]),
    );
    for (const [row, subject] of columns.subjects.entries()) {
      const [period, used, granted] = [
        columns.periods[row],
        columns.used[row],
        columns.granted[row],
      ];
      if (period === undefined || used === undefined || granted === undefined) {
        throw new Error('quota: the columns of a charge are not of one length');
      }
      const group = named.get(nameOf(subject, period));
      if (group === undefined) throw new Error('quota: a row came back that was not charged');
      known.saw(subject, period, used);
      const { limit } = group.allowance;
      for (const [i, position] of group.positions.entries()) {
        const mine = i < granted;
        answers[position] = { granted: mine, used: mine ? used - granted + i + 1 : used, limit };
      }
    }
  }
  return answers;
}

/** The places of a group's charges, those of one use together: so they are granted. */
function positionsOf({ uses }: Group): readonly number[] {
  return [...uses.values()].flatMap(({ positions }) => positions);
}

const USE_COLUMNS = ['subject', 'period', 'day', 'used_by', 'route', 'earlier', 'asked'] as const;

/** The uses of a group as rows, each with the number of charges that are granted earlier. */
function usesIn({ allowance: { subject, period }, uses }: Group) {
  let earlier = 0;
  const rows = [];
  for (const { use, positions } of uses.values()) {
    if (use !== null) rows.push({ subject, period, ...use, earlier, asked: positions.length });
    earlier += positions.length;
  }
  return rows;
}

function nameOf(subject: string, period: string): string {
  return `${period} ${subject}`;
}

/** One statement can touch a row once: a subject under a second limit goes into the next round. */
function roundsOf(charges: readonly ChargeRequest[]): readonly Map<string, Group>[] {
  const rounds: Map<string, Group>[] = [];
  for (const [position, { allowance, use }] of charges.entries()) {
    const name = nameOf(allowance.subject, allowance.period);
    const fits = (round: Map<string, Group>) => {
      const group = round.get(name);
      return group === undefined || group.allowance.limit === allowance.limit;
    };
    let round = rounds.find(fits);
    if (round === undefined) {
      round = new Map();
      rounds.push(round);
    }
    const group = round.get(name);
    const uses = group === undefined ? new Map<string, UseGroup>() : group.uses;
    if (group === undefined) round.set(name, { allowance, uses });
    const useName = use === null ? '' : `${use.day} ${use.used_by} ${use.route}`;
    const alike = uses.get(useName);
    if (alike === undefined) uses.set(useName, { use, positions: [position] });
    else alike.positions.push(position);
  }
  return rounds;
}
