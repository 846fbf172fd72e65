-- What outside services said, and what became of it. Rules, calls, outcomes and sightings are only
-- added: what was said stays said.

create table outcome_rules (
  version text primary key,
  kind text not null,
  text text not null,
  hash text not null unique check (hash ~ '^0x[0-9a-f]{64}$'),
  leaf bigint not null unique check (leaf >= 0),
  in_force_from timestamptz not null
);

create table provider_calls (
  call_id text primary key check (call_id ~ '^pc_[0-9a-f]{32}$'),
  hash text not null unique check (hash ~ '^0x[0-9a-f]{64}$'),
  -- What was said, without when it was received: said again, it is the same call.
  said_hash text not null unique,
  provider text not null,
  kind text not null,
  chain text,
  -- The token or the asset.
  subject text collate "C" not null,
  horizon_h integer check (horizon_h > 0),
  says boolean not null,
  probability text,
  reference text,
  rests_on jsonb not null,
  called_at bigint not null,
  received_at bigint not null,
  rule_version text not null references outcome_rules,
  -- The end of the window in which the event happens or does not.
  window_end bigint not null,
  prospective boolean not null,
  leaf bigint not null unique check (leaf >= 0),
  check ((kind = 'market_call') = (horizon_h is not null)),
  check ((kind = 'token_risk') = (chain is not null))
);
create index provider_calls_subject on provider_calls (chain, subject);
create index provider_calls_window on provider_calls (window_end);

create table provider_outcomes (
  call_id text primary key references provider_calls,
  -- Null where the call has no outcome, for this cause.
  happened boolean,
  cause text,
  rests_on jsonb not null,
  scored_at bigint not null,
  check ((happened is null) = (cause is not null))
);

-- What a deployer record or a settlement said of a launch on which calls wait.
create table launch_sightings (
  chain text not null,
  token text collate "C" not null,
  captured_at bigint not null,
  outcome text not null,
  primary key (chain, token, captured_at)
);

create trigger outcome_rules_stay before update or delete on outcome_rules
  for each row execute function refuse_change();
create trigger provider_calls_stay before update or delete on provider_calls
  for each row execute function refuse_change();
create trigger provider_outcomes_stay before update or delete on provider_outcomes
  for each row execute function refuse_change();
create trigger launch_sightings_stay before update or delete on launch_sightings
  for each row execute function refuse_change();

-- Launches that were recorded here since calls are collected.
create table recorded_launches (
  chain text not null,
  token text collate "C" not null,
  deployer text collate "C" not null,
  launched_at bigint not null,
  first_seen_at timestamptz not null,
  primary key (chain, token)
);

-- The questions about them: at first sight, and a day later.
create table provider_asks (
  provider text not null,
  chain text not null,
  token text collate "C" not null,
  ordinal smallint not null check (ordinal in (1, 2)),
  due_at timestamptz not null,
  -- A question that was not answered by then is not asked any more.
  expires_at timestamptz not null,
  state text not null check (state in ('due', 'called', 'nothing_said', 'missed')),
  -- Why it was not answered, while it waits and after it was missed.
  failure text,
  primary key (provider, chain, token, ordinal),
  foreign key (chain, token) references recorded_launches
);
create index provider_asks_due on provider_asks (provider, due_at) where state = 'due';

-- How far the records of launches were looked through for new ones.
create table provider_places (
  source text primary key check (source in ('ethereum', 'solana')),
  at timestamptz not null,
  key text collate "C" not null
);

-- Since when a provider is asked, when a round last ended, and the stretches without an answer.
create table provider_watch (
  provider text primary key,
  since timestamptz not null,
  answered_at timestamptz not null
);
create table provider_gaps (
  provider text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  primary key (provider, from_at)
);

-- The board as it was last made.
create table provider_board (
  one boolean primary key default true check (one),
  made_at timestamptz not null,
  text text not null
);
