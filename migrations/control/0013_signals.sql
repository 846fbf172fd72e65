-- Published signals. Rows of the first three tables are only added: what was said stays said.

create table signals (
  signal_id text primary key check (signal_id ~ '^sig_[0-9a-f]{32}$'),
  -- The hash of everything that the signal states; its leaf in the log holds the same.
  call_hash text not null unique check (call_hash ~ '^0x[0-9a-f]{64}$'),
  version text not null,
  chain text not null,
  address text not null,
  -- The address as questions compare it.
  match_key text not null,
  verdict text not null,
  confidence_millionths integer not null check (confidence_millionths between 0 and 1000000),
  reasoning text not null,
  evidence_used text[] not null,
  evidence_hash text not null check (evidence_hash ~ '^0x[0-9a-f]{64}$'),
  prompt_version text not null,
  model text not null,
  run_id text not null,
  generated_at_unix bigint not null check (generated_at_unix >= 0),
  -- What is shown beside it and is no part of its hash.
  confidence_basis text not null,
  confidence_n integer check (confidence_n > 0),
  cost_usd double precision not null check (cost_usd >= 0),
  cached boolean not null,
  source_count integer not null check (source_count >= 0),
  simulated boolean not null,
  -- The digest of what its bundle lets cite, without dates, and the rules that judged it: a newer
  -- signal of the target needs one of them to differ.
  content_hash text not null,
  rules_version text not null,
  leaf bigint not null unique check (leaf >= 0)
);
create index signals_newest on signals (generated_at_unix desc, signal_id desc);
create index signals_of_target on signals (chain, address, leaf);
create index signals_match_key on signals (match_key, generated_at_unix desc, signal_id desc);

-- The bundle of each signal, byte for byte as it was hashed.
create table signal_bundles (
  signal_id text primary key references signals,
  bytes bytea not null check (octet_length(bytes) <= 262144)
);

-- The ends of signals. Whoever was superseded may be withdrawn later; nothing comes after that.
create table signal_statuses (
  signal_id text not null references signals,
  state text not null check (state in ('superseded', 'withdrawn')),
  -- In ISO 8601, as it was hashed.
  at text not null,
  reason text not null,
  by text not null,
  hash text not null check (hash ~ '^0x[0-9a-f]{64}$'),
  leaf bigint not null unique check (leaf >= 0),
  primary key (signal_id, state)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are only added', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger signals_stay before update or delete on signals
  for each row execute function refuse_change();
create trigger signal_bundles_stay before update or delete on signal_bundles
  for each row execute function refuse_change();
create trigger signal_statuses_stay before update or delete on signal_statuses
  for each row execute function refuse_change();

-- The targets that wait for the producer. They come from public events alone.
create table signal_targets (
  chain text not null,
  address text not null,
  queued_at timestamptz not null,
  due_at timestamptz not null,
  primary key (chain, address)
);
create index signal_targets_due on signal_targets (due_at, queued_at);

-- How far each log of public events was read.
create table signal_places (
  source text primary key check (source in ('flags', 'list', 'launches')),
  place bigint not null check (place >= 0)
);

-- What the producer has done.
create table signal_rounds (
  one boolean primary key default true check (one),
  last_round_at timestamptz,
  last_emit_at timestamptz
);
