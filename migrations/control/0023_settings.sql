-- What a member does in the settings: named keys that take each other's place, and who changed what.

-- What its owner calls a key, and when a newer one took its place: it opens until it expires.
alter table api_keys add column name text;
alter table api_keys add column replaced_at timestamptz;
alter table api_keys add column replaced_by text;

-- A session changes its token as it grows older; the one before opens for a moment, because a
-- browser may have sent it already.
alter table sessions add column previous_hash bytea;
alter table sessions add column renewed_at timestamptz not null default now();
create index sessions_previous on sessions (previous_hash);

-- The code that the payment platform shows to whoever bought a membership, as a hash.
create table sign_in_codes (
  membership_id text primary key,
  hash bytea not null,
  pepper text not null,
  set_at timestamptz not null
);

-- Links to sign in that were used: each opens once.
create table sign_in_links (
  id text primary key,
  expires_at timestamptz not null
);

-- Codes that were tried, by a bucket of the membership's id, so that the table cannot grow.
create table sign_in_tries (
  bucket integer primary key,
  began_at timestamptz not null,
  tries integer not null
);

-- Who changed which key, and who signed in. `by_whom`: the operator, or a member in the settings.
create table access_changes (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  membership_id text,
  by_whom text not null check (by_whom in ('operator', 'member')),
  change text not null check (change in
    ('key_created', 'key_replaced', 'key_revoked', 'signed_in', 'signed_out')),
  -- What was changed, as it may be shown: a key's prefix.
  subject text
);
create index access_changes_of_membership on access_changes (membership_id, id);
