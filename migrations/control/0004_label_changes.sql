-- What each import of exchange labels added, changed and removed. Rows of an import that has not
-- completed are seen by nobody, and go with it where it is forgotten.

create table label_changes (
  id bigint generated always as identity primary key,
  import_id integer not null references table_imports (id) on delete cascade,
  change text not null check (change in ('added', 'changed', 'removed')),
  match_key text not null,
  address text not null,
  chain text,
  entity text not null,
  -- What the label says; of a removed one, what it said last.
  label text not null,
  role text not null,
  confidence text not null,
  source_url text,
  first_seen date not null,
  -- What a changed label said before.
  label_before text,
  role_before text,
  confidence_before text,
  source_url_before text,
  check ((change = 'changed') = (label_before is not null))
);

create index label_changes_of_import on label_changes (import_id, id);
create index label_changes_match_key on label_changes (match_key, id);

-- What an import was compared with: the one in force of its source then, or none.
alter table table_imports add column compared_with integer;
