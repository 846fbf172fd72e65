-- Who may ask, and how often: the deployment's stamp, memberships, keys, tokens, quota.

-- To whom this store belongs. One row, compared before anything else is read or written.
create table deployment (
  only_one boolean primary key default true check (only_one),
  simulated boolean not null,
  secret_fingerprint text not null,
  created_at timestamptz not null default now()
);

create table memberships (
  membership_id text primary key,
  plan text not null,
  status text not null check (status in ('active', 'inactive')),
  created_at timestamptz not null,
  -- The time of the newest event known about the membership: an older one changes nothing.
  updated_at timestamptz not null
);

-- A key is kept as a hash under a pepper; `pepper` is the fingerprint of the secret behind it.
create table api_keys (
  id text primary key,
  kind text not null check (kind in ('sc', 'scp')),
  membership_id text references memberships,
  partner text,
  hash bytea not null unique,
  pepper text not null,
  prefix text not null,
  monthly_budget integer check (monthly_budget > 0),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  check ((kind = 'sc') = (membership_id is not null)),
  check ((kind = 'scp') = (partner is not null and monthly_budget is not null)),
  check (kind = 'scp' or (partner is null and monthly_budget is null))
);
create index api_keys_of_membership on api_keys (membership_id, created_at);
create index api_keys_of_prefix on api_keys (prefix);

-- Tokens of the intelligence service.
create table intelligence_tokens (
  id text primary key,
  tier text not null check (tier in ('free', 'pro', 'desk')),
  hash bytea not null unique,
  pepper text not null,
  prefix text not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index intelligence_tokens_of_prefix on intelligence_tokens (prefix);

-- What was used of an allowance. `period` is a UTC day (2026-11-21) or month (2026-11).
-- `granted` and `ceiling` are those of the last charge: the statement that charges returns from
-- them how much of what it asked for was given. Rows are updated in place (HOT), so they need room.
create table quota_usage (
  subject text not null,
  period text not null,
  used integer not null check (used >= 0),
  granted integer not null,
  ceiling integer not null,
  primary key (subject, period)
) with (fillfactor = 50);
