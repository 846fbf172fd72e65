-- What each import of a list of another authority added, changed and removed, address by address.
-- Rows of an import that has not completed are seen by nobody, and go with it where it is forgotten.

create table other_list_changes (
  id bigint generated always as identity primary key,
  import_id integer not null references table_imports (id) on delete cascade,
  change text not null check (change in ('added', 'changed', 'removed')),
  match_key text not null,
  address text not null,
  -- All entries of the address; of a removed one, as they were last.
  entries jsonb not null,
  -- Those of a changed one before.
  before jsonb,
  check ((change = 'changed') = (before is not null))
);

create index other_list_changes_of_import on other_list_changes (import_id, id);
create index other_list_changes_match_key on other_list_changes (match_key, id);

-- Whether the log holds what an import changed: those before it was kept are in no log.
alter table table_imports add column changes_noted boolean not null default false;
