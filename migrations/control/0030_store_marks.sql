-- Marks of the time, one a minute from each process. A machine that left a mark which is not here
-- any more has seen a later state of this store: it was put back.
create table store_marks (
  id text primary key,
  at timestamptz not null
);
create index store_marks_at on store_marks (at);

-- That this store was put back, as a machine noticed it by its last mark.
create table store_restores (
  seen_mark text primary key,
  -- Up to when the store knows what happened; null where it never had a mark.
  held_to timestamptz,
  -- Up to when that machine saw it.
  seen_to timestamptz not null,
  noticed_at timestamptz not null,
  -- When an operator took it as it is, why, and which ended access was open again then.
  accepted_at timestamptz,
  accepted_why text,
  left_open jsonb,
  check ((accepted_at is null) = (accepted_why is null))
);
