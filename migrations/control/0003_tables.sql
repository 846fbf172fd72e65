-- Tables filled by import: exchange labels and Solana launches. Rows of an import that has not
-- completed are seen by nobody; the imports in force are one for each table and source.

create table table_imports (
  id integer generated always as identity primary key,
  table_name text not null check (table_name in ('exchange_labels', 'launches')),
  source text not null,
  -- A public page; never a configured address.
  source_url text,
  origin text not null check (origin in ('observed', 'simulated')),
  started_at timestamptz not null,
  completed_at timestamptz,
  -- When the source dates its rows, or when they were imported.
  as_of timestamptz,
  rows_accepted integer check (rows_accepted > 0),
  rows_refused integer,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  in_force boolean not null default false,
  check (not in_force or completed_at is not null),
  check (
    completed_at is null
    or (as_of is not null and rows_accepted is not null and rows_refused is not null
        and sha256 is not null)
  )
);

create unique index table_imports_in_force on table_imports (table_name, source) where in_force;

create table exchange_labels (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  address text not null,
  -- The chain as we or, where it is not served here, as the source names it.
  chain text,
  label text not null,
  entity text not null,
  role text not null
    check (role in ('hot', 'cold', 'deposit', 'deployer', 'treasury', 'other')),
  confidence text not null,
  clusterable boolean not null,
  source text not null,
  source_url text,
  first_seen date not null,
  primary key (import_id, n)
);

create unique index exchange_labels_once
  on exchange_labels (import_id, match_key, entity, (coalesce(chain, '')));
create index exchange_labels_match_key on exchange_labels (match_key);

-- A mint may stand here once for each import that saw it. What counts is its best row of a
-- completed import: settled before unsettled, then the later check, then the later import. The
-- others are forgotten in pieces, so that taking in an import is one short transaction.
create table launches (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  mint text not null,
  deployer text collate "C" not null,
  launched_at timestamptz not null,
  -- Null where it is not known.
  listed_after_window boolean,
  last_checked_at timestamptz not null,
  -- Whether the window had passed at that check and the answer is known.
  settled boolean not null,
  primary key (mint, import_id),
  unique (import_id, n),
  check (not settled or listed_after_window is not null)
);

create index launches_deployer on launches (deployer) where settled;
