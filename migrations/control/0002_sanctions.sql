-- The sanctions list: every publication that passed the gate, with its rows, and the newest
-- refused files. One publication is in force; sanctions_current names it.

create table sanctions_publications (
  id integer generated always as identity primary key,
  published date not null,
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  format text not null,
  -- The publisher's public page, or scheme and host of the configured address; never more.
  source_url text not null,
  distinct_addresses integer not null check (distinct_addresses > 0),
  parties integer not null check (parties > 0),
  record_count integer not null,
  unparsed integer not null,
  accepted_at timestamptz not null,
  -- The operator's words where a size rule was set aside for this file.
  accepted_why text
);

create index sanctions_publications_published on sanctions_publications (published);

create table sanctions_entries (
  publication_id integer not null references sanctions_publications (id),
  -- The place in the file.
  ordinal integer not null,
  match_key text not null,
  address text not null,
  currency text not null,
  entity text not null,
  type text not null,
  programs jsonb not null,
  uid text not null,
  remarks text,
  listed_on date,
  primary key (publication_id, ordinal)
);

create index sanctions_entries_match_key on sanctions_entries (publication_id, match_key);

create table sanctions_refusals (
  id integer generated always as identity primary key,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_url text not null,
  code text not null,
  reason text not null,
  refused_at timestamptz not null,
  unique (sha256, code)
);

-- The first and the last successful check of each source that found a publication the newest.
create table sanctions_checks (
  publication_id integer not null references sanctions_publications (id),
  -- A digest of the configured address: it may hold a credential, so it is not stored.
  source_key text not null,
  source_url text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  etag text,
  last_modified text,
  primary key (publication_id, source_key)
);

-- One row, locked by whoever replaces the list.
create table sanctions_current (
  only_row boolean primary key default true check (only_row),
  publication_id integer references sanctions_publications (id),
  changed_at timestamptz
);

insert into sanctions_current default values;
