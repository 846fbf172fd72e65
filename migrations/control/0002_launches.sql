-- A flag that stands while its launch could not be scored anew: when that was, and why.
alter table launch_scores
  add column unscored_at timestamptz,
  add column unscored_reason text,
  add constraint launch_scores_unscored check (
    (unscored_at is null) = (unscored_reason is null)
    and (unscored_at is null or outcome = 'flagged')
  );
