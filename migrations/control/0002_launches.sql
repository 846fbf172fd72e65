-- A flag that stands while its launch could not be scored anew: when that was, and why.
alter table launch_scores
  add column unscored_at timestamptz,
  add column unscored_reason text,
  add constraint launch_scores_unscored check (
    (unscored_at is null) = (unscored_reason is null)
    and (unscored_at is null or outcome = 'flagged')
  );

-- Whether the walk came to its end with each contract determined and each launch checked; null of a
-- walk that version 0.2.0 kept.
alter table deployer_records add column is_whole boolean;

-- Who had each deployer walked, and when a walk was last taken for whom: callers take turns.
alter table deployer_queue add column asked_by text not null default '';
create index deployer_queue_asked_by on deployer_queue (asked_by);
create table walk_callers (
  asked_by text primary key,
  taken_at timestamptz not null
);
