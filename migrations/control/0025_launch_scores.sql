-- What the rug model said of each launch, on what was observed of it, and what each run looked at.

create table launch_scores (
  chain text not null,
  token text not null,
  -- The wallet that launched it.
  address text not null,
  launched_at timestamptz not null,
  -- When that which was scored was observed.
  observed_at timestamptz not null,
  liquidity_usd double precision check (liquidity_usd >= 0),
  scored_at timestamptz not null,
  model_version text not null,
  -- suppressed: the model flags it, and it is an established token.
  outcome text not null check (outcome in ('flagged', 'passed', 'suppressed', 'unscored')),
  score double precision check (score between 0 and 1),
  -- Of a flag: since when, its strongest evidence as JSON, and its number in the stream.
  first_flagged_at timestamptz,
  top_evidence text,
  flag_seq bigint,
  -- Why it could not be scored.
  reason text,
  primary key (chain, token),
  check ((outcome = 'unscored') = (reason is not null)),
  check ((outcome = 'unscored') = (score is null)),
  check (
    (outcome = 'flagged')
    = (first_flagged_at is not null and top_evidence is not null and flag_seq is not null)
  )
);
create index launch_scores_recent on launch_scores (scored_at);
create index launch_scores_wallet on launch_scores (chain, address);

-- The observation of each wallet whose launches were scored last, and by which model.
create table scored_wallets (
  chain text not null,
  address text not null,
  observed_at timestamptz not null,
  model_version text not null,
  primary key (chain, address)
);

-- A run is noted when it has ended; of a chain that has no run nobody has scored anything.
create table scorer_runs (
  id bigint generated always as identity primary key,
  chain text not null,
  began_at timestamptz not null,
  ended_at timestamptz not null,
  model_version text not null,
  wallets integer not null,
  scored integer not null,
  flagged integer not null,
  suppressed integer not null,
  unscored integer not null,
  retracted integer not null,
  -- Wallets that the run left for the next one.
  waiting integer not null
);
create index scorer_runs_newest on scorer_runs (chain, id);
