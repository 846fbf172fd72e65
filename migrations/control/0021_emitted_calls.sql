-- Calls of our own detectors, and what became of them. Versions, calls, outcomes and restatements
-- are only added: what was said stays said.

create table detector_versions (
  version text primary key,
  kind text not null,
  bar text not null,
  cooldown_h integer not null check (cooldown_h > 0),
  horizon_h integer not null check (horizon_h between 1 and 720),
  parameters jsonb not null,
  text text not null,
  hash text not null unique check (hash ~ '^0x[0-9a-f]{64}$'),
  leaf bigint not null unique check (leaf >= 0),
  in_force_from timestamptz not null
);

create table emitted_calls (
  call_id text primary key check (call_id ~ '^call_[0-9a-f]{32}$'),
  hash text not null unique check (hash ~ '^0x[0-9a-f]{64}$'),
  kind text not null,
  asset text collate "C" not null,
  -- Whose candles price it.
  venue text not null,
  direction text not null check (direction in ('long', 'short')),
  conviction text not null,
  price text not null,
  emitted_at bigint not null check (emitted_at >= 0),
  horizon_h integer not null check (horizon_h between 1 and 720),
  detector_version text not null references detector_versions,
  bar text not null,
  -- The cooldown window in which it is the only one.
  window_number bigint not null check (window_number >= 0),
  inputs jsonb not null,
  features jsonb not null,
  simulated boolean not null,
  leaf bigint not null unique check (leaf >= 0),
  unique (kind, asset, direction, detector_version, window_number)
);
create index emitted_calls_of_asset on emitted_calls (asset, emitted_at desc, leaf desc);
create index emitted_calls_due on emitted_calls ((emitted_at + horizon_h * 3600), leaf);
create index emitted_calls_emitted on emitted_calls (emitted_at, leaf);

-- What became of a call, as it was first told.
create table call_outcomes (
  call_id text primary key references emitted_calls,
  state text not null check (state in ('closed', 'unpriced')),
  cause text,
  -- Entry, exit and returns; null where it has no price.
  closing jsonb,
  closed_at bigint not null,
  check ((state = 'closed') = (closing is not null)),
  check ((state = 'unpriced') = (cause is not null))
);
create index call_outcomes_closed on call_outcomes (closed_at);

-- What later revisions of the venue would have made of it.
create table call_restatements (
  call_id text not null references emitted_calls,
  restated_at bigint not null,
  closing jsonb not null,
  primary key (call_id, restated_at)
);

-- Each addition to a call under a number of its own, so that a reader who holds the record asks for
-- what is new. A transaction that numbers one holds the counter until it ends.
create table call_changes (
  place bigint primary key check (place > 0),
  call_id text not null references emitted_calls
);
create table call_places (
  one boolean primary key default true check (one),
  place bigint not null
);

create trigger detector_versions_stay before update or delete on detector_versions
  for each row execute function refuse_change();
create trigger emitted_calls_stay before update or delete on emitted_calls
  for each row execute function refuse_change();
create trigger call_outcomes_stay before update or delete on call_outcomes
  for each row execute function refuse_change();
create trigger call_restatements_stay before update or delete on call_restatements
  for each row execute function refuse_change();
create trigger call_changes_stay before update or delete on call_changes
  for each row execute function refuse_change();

-- When a version ran: the last stretch grows while nothing about it changes.
create table detector_runs (
  kind text not null,
  from_at bigint not null,
  to_at bigint not null check (to_at > from_at),
  detector_version text not null references detector_versions,
  whole boolean not null,
  assets text[] not null,
  primary key (kind, from_at)
);

-- Chats may be told of calls.
alter table dispatches drop constraint dispatches_kind_check;
alter table dispatches add constraint dispatches_kind_check
  check (kind in ('flag', 'watch', 'signal', 'call'));
