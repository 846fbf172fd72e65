-- What the flag stream tells, in the order in which it became true. Numbers are given without gaps:
-- whoever appends holds the one row of flag_log until the end of its transaction.
create table flag_log (
  one boolean primary key default true check (one),
  newest bigint not null check (newest > 0)
);

create table flag_events (
  seq bigint primary key check (seq > 0),
  kind text not null check (kind in ('flag', 'retraction')),
  chain text not null,
  -- The wallet that launched it, and the token.
  address text not null,
  token text not null,
  -- When it was flagged, or taken back.
  at timestamptz not null,
  model_version text not null,
  simulated boolean not null,
  -- Of a flag.
  score double precision check (score between 0 and 1),
  evidence text,
  -- Of a retraction: the number of the flag whose ground is gone, and why it is gone.
  retracts bigint,
  reason text,
  appended_at timestamptz not null,
  check ((kind = 'flag') = (score is not null and evidence is not null)),
  check ((kind = 'retraction') = (retracts is not null and reason is not null)),
  check (retracts < seq)
);

create index flag_events_appended on flag_events (appended_at, seq);
