-- Whose word the date of an import is, and how many of its refused rows may have lost an entry.

alter table table_imports
  -- file: the rows say it. operator: whoever imported it says it. import: it is when that was done.
  add column dated_by text check (dated_by in ('file', 'operator', 'import')),
  add column rows_lost integer check (rows_lost >= 0);

-- Of older imports only how many rows were refused is known.
update table_imports
   set dated_by = case when as_of = started_at then 'import' else 'file' end,
       rows_lost = rows_refused
 where completed_at is not null;

alter table table_imports
  add check (completed_at is null or (dated_by is not null and rows_lost is not null));

-- Of one address a list may say several things under one entry: that one listing ended, and that
-- another stands. Only a row that says the same repeats another.
drop index other_lists_once;
create unique index other_lists_once on other_lists (
  import_id,
  match_key,
  md5(
    coalesce(entry_id, '') || '|' || coalesce(currency, '') || '|' || coalesce(entity, '') || '|'
      || coalesce(programs, '')
  ),
  (coalesce(ended_at, date 'infinity'))
);
