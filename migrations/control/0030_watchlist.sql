-- The addresses that memberships watch, what was last found of each, and what changed.
create table watched_addresses (
  id text primary key,
  membership_id text not null references memberships,
  match_key text not null,
  address text not null,
  added_at timestamptz not null,
  -- Grows with each screening that is kept: one that rests on an older state is not.
  revision integer not null default 0,
  -- What each part of the last screening found, when, on which version, and why it was not read.
  parts jsonb not null default '{}',
  -- The versions of lists and tables that it was last held against, and those of its last walk.
  tables_signature text not null default '',
  hops_signature text not null default '',
  hops_at timestamptz not null default '-infinity',
  unique (membership_id, match_key)
);
create index watched_addresses_tables on watched_addresses (tables_signature);
create index watched_addresses_hops on watched_addresses (hops_at);

-- The newest number of each membership's changes: whoever appends holds it until its transaction
-- ends, so that numbers have no gap and become visible in order.
create table watch_logs (
  membership_id text primary key references memberships,
  newest bigint not null check (newest > 0)
);

create table watch_changes (
  membership_id text not null references memberships,
  seq bigint not null check (seq > 0),
  watch_id text not null,
  address text not null,
  part text not null,
  change text not null check (change in ('first_seen', 'entered', 'changed', 'left')),
  -- What was found before and after; null where it had never been read before.
  before jsonb,
  after jsonb not null,
  version_before text,
  version_after text not null,
  -- What else the same screening could not read.
  not_read jsonb not null,
  simulated boolean not null,
  at timestamptz not null,
  primary key (membership_id, seq)
);
create index watch_changes_at on watch_changes (membership_id, at);
