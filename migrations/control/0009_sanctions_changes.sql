-- What each list that came into force changed of the one before. Rows are only ever added: what
-- left the list stays on record here. Both publications are named by value, so that a row says the
-- same after its publication was read again.

create table sanctions_acceptances (
  id integer generated always as identity primary key,
  -- first: nothing was in force before. replayed: a publication that was held already came back.
  -- read_again: the same file as another reader reads it.
  kind text not null check (kind in ('first', 'next', 'replayed', 'read_again')),
  published date not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_url text not null,
  distinct_addresses integer not null,
  published_before date,
  sha256_before text check (sha256_before ~ '^[0-9a-f]{64}$'),
  accepted_at timestamptz not null,
  accepted_why text,
  check ((kind = 'first') = (sha256_before is null))
);

create index sanctions_acceptances_at on sanctions_acceptances (accepted_at);

create table sanctions_changes (
  id bigint generated always as identity primary key,
  acceptance_id integer not null references sanctions_acceptances (id),
  change text not null
    check (change in ('added', 'removed', 'moved', 'programmes_changed', 'renamed')),
  match_key text not null,
  -- The listing as it is now; of a removed one, as it was last.
  listing jsonb not null,
  -- The listing as it was before; null where it was added or removed.
  before jsonb,
  check ((change in ('added', 'removed')) = (before is null))
);

create index sanctions_changes_of on sanctions_changes (acceptance_id);
create index sanctions_changes_match_key on sanctions_changes (match_key, id);
