-- Requests that were charged, by who asked, route and UTC day: the statement that charges them
-- writes them. `used_by` is a key's id, or `browser` for pages that a member opened. `subject` is
-- that of quota_usage. Rows are updated in place (HOT), so they need room.
create table key_usage (
  subject text not null,
  day text not null,
  used_by text not null,
  route text not null,
  requests integer not null check (requests > 0),
  primary key (subject, day, used_by, route)
) with (fillfactor = 50);
create index key_usage_of_key on key_usage (used_by, day);

-- Since when they are counted so. What was charged before has no key and no route.
create table usage_counting (
  only_one boolean primary key default true check (only_one),
  since timestamptz not null default now()
);
insert into usage_counting default values;

-- What somebody reported as leaked, as the hashes under which a key of ours would be stored: under
-- the secret in force and, during a rotation, under the one before. A report of a text that is no
-- key is kept in the same way, and all of them go when they were looked at.
create table leak_reports (
  id bigint generated always as identity primary key,
  hash bytea not null,
  hash_before bytea,
  reported_at timestamptz not null,
  -- Where it was found, as a signed report tells; null where nobody told.
  found text
);

-- Reports by client network, in buckets that are counted anew after a while.
create table leak_report_counts (
  bucket integer primary key,
  began_at timestamptz not null,
  reports integer not null
);

-- When a key or token was ended because it had leaked, and where it was found.
alter table api_keys add column leaked_at timestamptz;
alter table api_keys add column leak_found text;
alter table intelligence_tokens add column leaked_at timestamptz;
-- Which words a change may have is said where it is written: a newer version has further ones.
alter table access_changes drop constraint access_changes_change_check;
