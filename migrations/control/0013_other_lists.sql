-- Lists of other authorities, filled by import; each import's source is the name of its list.

alter table table_imports drop constraint table_imports_table_name_check;
alter table table_imports add constraint table_imports_table_name_check
  check (table_name in ('exchange_labels', 'launches', 'flagged_addresses', 'other_lists'));

create table other_lists (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  address text not null,
  currency text,
  entity text,
  entity_type text,
  programs text,
  entry_id text,
  source_url text,
  listed_at date,
  ended_at date,
  note text,
  source text not null,
  primary key (import_id, n)
);

create unique index other_lists_once
  on other_lists (import_id, match_key, (coalesce(entry_id, '')), (coalesce(currency, '')));
create index other_lists_match_key on other_lists (match_key);
