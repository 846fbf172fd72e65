-- Whose word makes a check, which newer files were refused, and which reader made the rows.

-- The clock of the list: what ages is stamped and compared by it alone, so that a process whose own
-- clock is wrong neither renews nor ages a list.
create function control_now() returns timestamptz language sql stable as 'select now()';

-- A digest of the configured address, as in sanctions_sources; null for lists from before.
alter table sanctions_publications add column source_key text;
-- The reader that made the rows; 0 is older than any, so that such a list is read again.
alter table sanctions_publications add column reader_version integer not null default 0;
alter table sanctions_publications alter column reader_version drop default;

-- Of earlier checks it is not known whether the publisher or a mirror was asked: none counts.
delete from sanctions_checks;
alter table sanctions_checks drop column etag;
alter table sanctions_checks drop column last_modified;
-- asked: the publisher said that it is the newest; obtained: an operator states when it was.
alter table sanctions_checks
  add column basis text not null check (basis in ('asked', 'obtained'));

-- What each source was asked and gave last.
create table sanctions_sources (
  source_key text primary key,
  source_url text not null,
  asked_at timestamptz not null,
  result text not null,
  -- The file that it gave last, with its validators where a conditional request may name them.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  etag text,
  last_modified text
);

delete from sanctions_refusals;
-- The day that the file states, where it could be found.
alter table sanctions_refusals add column published date;
alter table sanctions_refusals add column first_at timestamptz not null;
-- Whether the publisher served it, and whether it may be whole at the next try.
alter table sanctions_refusals add column from_publisher boolean not null;
alter table sanctions_refusals add column passing boolean not null;
-- Whether an operator may accept it.
alter table sanctions_refusals add column acceptable boolean not null;
-- The reader, the rules and the list that it was judged by: under others it is judged anew.
alter table sanctions_refusals add column judged_by text not null;
-- Where the machine that refused it keeps it; null where it could not be kept.
alter table sanctions_refusals add column kept_as text;
