// Answers one question: how are the launches on record counted by month in the control store?
// The counts of committed records and of the corpus; they are kept for a minute, so that a page
// that anybody may open costs one reading of the tables a minute.

import { z } from 'zod';
import type { Reading } from '../../evidence/reading.ts';
import type {
  LaunchMonth,
  LaunchMonths,
  LaunchMonthsPort,
} from '../../ports/launches/launch-months.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import type { Database } from './engine/database.ts';

const KEPT_MS = 60_000;

// Of a mint that several imports saw one row counts: settled first, then the later check.
const COUNTS = `
  with since as (
    select date_trunc('month', control_now() at time zone 'UTC')
      - make_interval(months => $1::int - 1) as first
  ), launched as (
    select 'ethereum' as chain, to_timestamp((l ->> 'created_at')::float8) as at,
      l ->> 'outcome' in ('live', 'died') as listed, l ->> 'outcome' = 'died' as died,
      l ->> 'outcome' = 'unchecked' as unchecked
    from deployer_records r, jsonb_array_elements(r.walk::jsonb -> 'launches') l
    union all
    select 'solana', s.launched_at, s.settled, s.settled and not s.listed_after_window,
      not s.settled
    from (
      select distinct on (mint) l.* from launches l
      join table_imports i on i.id = l.import_id and i.completed_at is not null
      order by mint, settled desc, last_checked_at desc, import_id desc
    ) s
  )
  select chain, to_char(at at time zone 'UTC', 'YYYY-MM') as month,
    count(*) filter (where listed)::int4 as listed, count(*) filter (where died)::int4 as died,
    count(*) filter (where unchecked)::int4 as unchecked
  from launched, since where at at time zone 'UTC' >= first
  group by 1, 2 order by 1, 2`;

const count = z.int().nonnegative();
const row: z.ZodType<LaunchMonth> = z.object({
  chain: z.enum(['ethereum', 'solana']),
  month: z.string(),
  listed: count,
  died: count,
  unchecked: count,
});

type Months = Reading<readonly LaunchMonth[], LaunchMonthsPort>;

/** The counts over the control database. */
export function launchMonthTable(database: Database, context: ControlContext): LaunchMonths {
  const { ask } = controlReadings<LaunchMonthsPort>(
    'launch_months',
    'The launches on record',
    context,
  );
  const kept = new Map<number, { readonly until: number; readonly months: Promise<Months> }>();
  return {
    newest: async (monthsMax) => {
      const now = context.nowMs();
      const held = kept.get(monthsMax);
      if (held !== undefined && now < held.until) return held.months;
      const months = ask(async () => z.array(row).parse(await database.query(COUNTS, [monthsMax])));
      kept.set(monthsMax, { until: now + KEPT_MS, months });
      const told = await months;
      if (!told.checked) kept.delete(monthsMax);
      return told;
    },
  };
}
