// Filters that memberships tried, one row for each: equal questions are one trial, whichever key of
// the membership asked.

import { z } from 'zod';
import type { EdgeTrials } from '../../ports/edge-trials.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  onlyRow,
} from '../../stores/control/engine/database.ts';

/** Rows of one membership: what it tries beyond them is counted no more. */
export const TRIALS_MAX = 100_000;

const COUNT = `
  with known as (
    select count(*) as n from edge_trials where membership_id = $1
  )
  insert into edge_trials (membership_id, filter_digest, first_at)
  select $1, $2, control_now() from known where known.n < $3
  on conflict do nothing`;
const TOLD = `
  select count(*)::int as distinct, floor(extract(epoch from min(first_at)))::float8 as since
  from edge_trials where membership_id = $1`;

const toldRow = z.object({ distinct: z.int().positive(), since: z.number() });

/** The tried filters, over the control database. */
export function edgeTrialTable(database: Database, context: ControlContext): EdgeTrials {
  const { ask } = controlReadings('edge_trials', 'The table of tried filters', context);
  return {
    countTrial: (membership_id, digest) =>
      ask(() =>
        database.transaction(async (session) => {
          await session.query(COUNT, [membership_id, digest, TRIALS_MAX]);
          return toldRow.parse(onlyRow(await session.query(TOLD, [membership_id])));
        }),
      ),
  };
}
