-- The filters of backtests that a membership tried, by the digest of the filter: how many there
-- were, and since when. What came of them is not kept.

create table edge_trials (
  membership_id text not null,
  filter_digest text not null check (filter_digest ~ '^[0-9a-f]{64}$'),
  first_at timestamptz not null,
  primary key (membership_id, filter_digest)
);
