// Charges that wait together are one statement, stored before any of them is answered.
// It refuses to grant past the limit: the statement itself decides, under the row's lock.
// What granted charges were for is added up here and written each second: never more than was
// charged, and less by a second's charges at most where a process was killed.

import { z } from 'zod';
import { countOrZero } from '../../evidence/measure.ts';
import {
  type Allowance,
  BROWSER_USE,
  type Charge,
  type ChargedUse,
  dayOfUse,
  keyUsage,
  type QuotaPort,
  type QuotaStore,
  type Remaining,
} from '../../ports/access.ts';
import {
  batchQueue,
  type ControlContext,
  type ControlReadings,
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

/** The counters over the control database; `close` writes the uses that wait. */
export function quotaTable(
  database: Database,
  context: ControlContext,
): QuotaStore & { readonly close: () => Promise<void> } {
  const readings = controlReadings('quota', 'The quota counters', context);
  const known = knownUses(context.nowMs);
  const waiting = waitingUses(database, readings);
  const chargeBatched = batchQueue<ChargeRequest, Charge>(
    (charges) => chargeAll(database, charges, known, waiting.note),
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
    uses: async (of, from, to) => {
      await waiting.write();
      return readings.askList(USES_LISTED_MAX, 'uses', async (limit) => {
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
      });
    },
    usesSince: () =>
      readings.ask(async () => {
        const rows = await database.query(USES_SINCE);
        return sinceRow.parse(onlyRow(rows)).since;
      }),
    close: waiting.write,
  };
}

/** Uses are written so long after the first of them was charged. */
const WRITTEN_EVERY_MS = 1_000;
/** As many different uses are written without waiting for more. */
const WAITING_USES_MAX = 10_000;

// Ordered as well, and under no lock of a charge.
const WRITE_USES = `
  insert into key_usage as k (subject, day, used_by, route, requests)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])
    as u(subject, day, used_by, route, requests)
  order by u.subject, u.day, u.used_by, u.route
  on conflict (subject, day, used_by, route) do update set
    requests = k.requests + excluded.requests`;

/** Granted charges of one subject that were for the same. */
type GrantedUse = ChargedUse & { readonly subject: string; requests: number };

/** Adds up uses until they are written. */
function waitingUses(database: Database, readings: ControlReadings<QuotaPort>) {
  let uses = new Map<string, GrantedUse[]>();
  let different = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  async function writeNow(): Promise<void> {
    if (uses.size === 0) return;
    const rows = [...uses.values()].flat();
    uses = new Map();
    different = 0;
    const params = columnsOf(rows, ['subject', 'day', 'used_by', 'route', 'requests']);
    // Where the store does not say whether it wrote them, they are not written again: the charges
    // then stand under no use, which is told, and no use is counted twice.
    await readings.run(() => database.query(WRITE_USES, params, 'often'));
  }

  /** Ends when all that was noted until now is written, or is lost with the store. */
  async function write(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const mine = writing.then(writeNow);
    writing = mine.catch(() => undefined);
    await mine;
  }

  function note(subject: string, use: ChargedUse): void {
    const { used_by, route, day } = use;
    const own = uses.get(subject);
    const alike = own?.find(
      (one) => one.route === route && one.used_by === used_by && one.day === day,
    );
    if (alike !== undefined) {
      alike.requests += 1;
      return;
    }
    const added = { ...use, subject, requests: 1 };
    if (own === undefined) uses.set(subject, [added]);
    else own.push(added);
    different += 1;
    if (different >= WAITING_USES_MAX) void write();
    else if (timer === null) timer = setTimeout(() => void write(), WRITTEN_EVERY_MS).unref();
  }

  return { note, write };
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

/** Charges of one subject and period under one limit, by their places in the batch. */
type Group = { readonly allowance: Allowance; readonly positions: number[] };

async function chargeAll(
  database: Database,
  charges: readonly ChargeRequest[],
  known: KnownUse,
  note: (subject: string, use: ChargedUse) => void,
): Promise<readonly Charge[]> {
  const answers: Charge[] = new Array(charges.length);
  for (const groups of roundsOf(charges)) {
    const all = [...groups.values()];
    const rows = all.map(({ allowance, positions }) => ({ ...allowance, n: positions.length }));
    const params = columnsOf(rows, ['subject', 'period', 'n', 'limit']);
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
      const { allowance } = group;
      const { limit } = allowance;
      for (const [i, position] of group.positions.entries()) {
        const mine = i < granted;
        const use = charges[position]?.use;
        if (mine && use) note(allowance.subject, use);
        answers[position] = { granted: mine, used: mine ? used - granted + i + 1 : used, limit };
      }
    }
  }
  return answers;
}

function nameOf(subject: string, period: string): string {
  return `${period} ${subject}`;
}

/** One statement can touch a row once: a subject under a second limit goes into the next round. */
function roundsOf(charges: readonly ChargeRequest[]): readonly Map<string, Group>[] {
  const rounds: Map<string, Group>[] = [];
  for (const [position, { allowance }] of charges.entries()) {
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
    if (group === undefined) round.set(name, { allowance, positions: [position] });
    else group.positions.push(position);
  }
  return rounds;
}
