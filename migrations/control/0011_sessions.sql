-- Browsers that are signed in for a membership. The cookie's token is kept as a hash.
create table sessions (
  id text primary key,
  membership_id text not null references memberships,
  hash bytea not null unique,
  pepper text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  ended_at timestamptz
);
