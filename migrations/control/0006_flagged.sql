-- Addresses and contracts that published tables flag, filled by import.

alter table table_imports drop constraint table_imports_table_name_check;
alter table table_imports add constraint table_imports_table_name_check
  check (table_name in ('exchange_labels', 'launches', 'flagged_addresses'));

create table flagged_addresses (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  -- The key of who made the contract, where the source says so.
  creator_key text,
  address text not null,
  -- The chain as we or, where it is not served here, as the source names it.
  chain text,
  tag text not null,
  category text not null,
  is_contract boolean,
  creator text,
  creation_tx text check (creation_tx ~ '^0x[0-9a-f]{64}$'),
  source text not null,
  source_url text,
  first_seen date not null,
  primary key (import_id, n),
  check ((creator is null) = (creator_key is null))
);

create unique index flagged_addresses_once
  on flagged_addresses (import_id, match_key, tag, (coalesce(chain, '')));
