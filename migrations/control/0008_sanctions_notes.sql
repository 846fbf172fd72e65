-- What the publisher's file leaves open of an entry is null, and the note says so.

alter table sanctions_entries
  alter column entity drop not null,
  alter column type drop not null,
  alter column programs drop not null,
  add column note text;
