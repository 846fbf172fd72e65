-- What a screen answered, on which versions: kept so that it can be shown, and asked again, later.
-- A record is only ever added, and let go of when its time is over.
create table screening_records (
  id text primary key,
  membership_id text not null references memberships,
  -- The key that asked.
  key_id text not null,
  route text not null check (route in ('wallet_ofac', 'bulk_wallet_screen')),
  -- What was asked, and the versions of the lists and tables that answered.
  input jsonb not null,
  versions jsonb not null,
  sources jsonb not null,
  code_version text not null,
  -- The answer as text: its hash is over these very characters.
  state text not null,
  answer text not null,
  answer_sha256 text not null check (answer_sha256 ~ '^[0-9a-f]{64}$'),
  made_at timestamptz not null,
  kept_until timestamptz not null check (kept_until > made_at)
);

create index screening_records_of on screening_records (membership_id, made_at desc, id);
