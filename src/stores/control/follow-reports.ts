// The database's clock dates every report, and notices those who tell nothing any more.

import { z } from 'zod';
import { why } from '../../evidence/reasons.ts';
import { type FollowReports, followReport, REPORT_EACH_S } from '../../ports/indexing.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
} from './engine/database.ts';

/** So many reports may fail to come before a follower is taken for gone. */
const MISSED_MAX = 3;

const TELL = `
  insert into follow_reports as r (chain, state, reason, last_block, head_block)
  values ($1, $2, $3, $4, $5)
  on conflict (chain) do update set state = excluded.state, reason = excluded.reason,
    last_block = excluded.last_block, head_block = excluded.head_block, told_at = now(),
    since = case when r.reason is not distinct from excluded.reason then r.since else now() end`;

const ALL = `
  select chain, state, reason, last_block::float8, head_block::float8,
    ${epochSecond('since')}, ${epochSecond('told_at')},
    told_at < now() - make_interval(secs => $1::int) as silent
  from follow_reports order by chain`;

const reportRow = followReport.extend({ told_at: z.int(), silent: z.boolean() });

/** The reports in the control database. */
export function followReportTable(database: Database, context: ControlContext): FollowReports {
  const { ask, run } = controlReadings('follow_reports', 'The table of followers', context);
  return {
    tell: ({ chain, state, reason, last_block, head_block }) =>
      run(() => database.query(TELL, [chain, state, reason, last_block, head_block])),
    all: () =>
      ask(async () => {
        const rows = await database.query(ALL, [REPORT_EACH_S * MISSED_MAX]);
        return rows.map((row) => {
          const { silent, told_at, ...report } = reportRow.parse(row);
          if (!silent || report.state === 'stopped') return report;
          const { reason } = why('follower_silent', { chain: report.chain });
          return { ...report, state: 'stopped' as const, reason, since: told_at };
        });
      }),
  };
}
