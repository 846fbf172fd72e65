// Which statements read the launches of wallets? Of each mint the best row of a completed import
// counts: settled before unsettled, then the later check, then the later import.

import { epoch } from './engine/database.ts';

const COMPLETED = 'join table_imports i on i.id = r.import_id and i.completed_at is not null';
const BEST = `not exists (
  select 1 from launches b
    join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
   where b.mint = r.mint
     and (b.settled, b.last_checked_at, b.import_id)
       > (r.settled, r.last_checked_at, r.import_id))`;
const SETTLED = `from launches r ${COMPLETED} where r.settled and ${BEST}`;

/** The settled launches of a wallet, the newest first, each with the counts over all of them. */
export const OF_WALLET = `
  select r.mint, ${epoch('r.launched_at')}, ${epoch('r.last_checked_at', 'settled_at')},
         r.listed_after_window, (count(*) over ())::int4 as settled,
         (count(*) filter (where not r.listed_after_window) over ())::int4 as died
  ${SETTLED} and r.deployer = $1
  order by r.launched_at desc, r.mint limit $2`;

/** The mints of a wallet that are on record and have not settled. */
export const WAITING = `
    select r.mint from launches r ${COMPLETED}
     where r.deployer = $1 and not r.settled and ${BEST}
    union
    select c.mint from collected_launches c
     where c.deployer = $1 and not c.settled and not exists (
       select 1 from launches r ${COMPLETED} where r.mint = c.mint and r.settled)
    limit $2`;

/** Who launched a mint: the chain's own word before that of an import. */
export const OF_MINT = `
  select deployer, launched_at, signature from (
    select c.deployer, ${epoch('c.launched_at')}, c.signature, 0 as place
      from collected_launches c where c.mint = $1
    union all
    select r.deployer, ${epoch('r.launched_at')}, null, 1
      from launches r ${COMPLETED} where r.mint = $1 and ${BEST}
  ) told order by place limit 1`;

/** The corpus as a whole: settled launches, and what was collected of the chain. */
export const STATE = `
  select (select count(distinct r.mint)::int4 from launches r ${COMPLETED} where r.settled)
           as settled_launches,
         (select ${epoch('max(since)', 'since')} from launch_cursors),
         (select ${epoch('min(reached_at)', 'reached_at')} from launch_cursors),
         (select coalesce(sum(pieces), 0)::int4 as gaps from launch_gaps),
         (select coalesce(sum(missed_s), 0)::float8 as missed_s from launch_gaps)`;

/** The imports in force: the newest of them, the date of the newest, and whether any is made up. */
export const IMPORTS = `
  select max(id)::int4 as newest, ${epoch('max(as_of)', 'as_of')},
         bool_or(origin = 'simulated') as simulated
    from table_imports where table_name = 'launches' and in_force`;

/** The UTC day at which the corpus is split by itself. */
export const SPLIT = `
  select to_char(percentile_disc($1::float8) within group (order by r.launched_at)
                   at time zone 'UTC', 'YYYY-MM-DD') as day
  ${SETTLED}`;

const SPLIT_AT = `($1::date)::timestamp at time zone 'UTC'`;
const WALLETS = `
  select r.deployer, count(*) as launches, not bool_or(r.listed_after_window) as flagged
  ${SETTLED} and r.launched_at + make_interval(secs => $2::int4) <= ${SPLIT_AT}
  group by r.deployer`;

/** The hold-out of a split day under a window in seconds. */
export const HELD_OUT = {
  groups: `
    with wallets as (${WALLETS})
    select coalesce(w.flagged, false) as flagged, count(*)::int4 as launches,
           (count(*) filter (where h.listed_after_window))::int4 as listed
      from (select r.deployer, r.listed_after_window ${SETTLED} and r.launched_at >= ${SPLIT_AT}) h
      left join wallets w on w.deployer = h.deployer
     group by 1`,
  history: `
    with wallets as (${WALLETS})
    select coalesce(sum(launches), 0)::int4 as launches, count(*)::int4 as wallets,
           (count(*) filter (where flagged))::int4 as flagged_wallets
      from wallets`,
} as const;
