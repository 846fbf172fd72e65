// Money and calls of a day, one row for each: whoever spends sets an amount aside first, so that a
// process that is killed in between has spent too much and never too little.

import { z } from 'zod';
import type { DaySpending, SetAside, Spending } from '../../ports/day-spending.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  onlyRow,
  type Session,
} from './engine/database.ts';

const TODAY = `(control_now() at time zone 'utc')::date`;
const BEGIN = `
  insert into day_spending (what, day, spent) values ($1, ${TODAY}, 0) on conflict do nothing`;
const HELD = `
  select day::text as day, spent::float8 as spent from day_spending
  where what = $1 and day = ${TODAY} for update`;
const SPEND = 'update day_spending set spent = spent + $3 where what = $1 and day = $2::text::date';
const GIVE_BACK = `
  update day_spending set spent = greatest(spent - $3, 0)
  where what = $1 and day = $2::text::date`;

const heldRow = z.object({ day: z.string(), spent: z.number() });

/** What is spent in a day, over the control database. */
export function daySpendingTable(database: Database, context: ControlContext): DaySpending {
  const { ask, run } = controlReadings('day_spending', 'The table of spending', context);
  return {
    setAside: (what, amounts) =>
      ask(() => database.transaction((session) => setAside(session, what, amounts))),
    giveBack: (what, { day, amount }) => run(() => database.query(GIVE_BACK, [what, day, amount])),
  };
}

async function setAside(
  session: Session,
  what: Spending,
  { most, least, limit }: Parameters<DaySpending['setAside']>[1],
): Promise<SetAside> {
  await session.query(BEGIN, [what]);
  const { day, spent } = heldRow.parse(onlyRow(await session.query(HELD, [what])));
  const left = Math.min(most, Math.max(limit - spent, 0));
  const amount = left < least ? 0 : left;
  if (amount > 0) await session.query(SPEND, [what, day, amount]);
  return { day, amount, spent: spent + amount };
}
