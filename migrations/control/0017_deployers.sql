-- What walks of deployers came to, one record an address, and who is to be walked.
create table deployer_records (
  address text primary key,
  captured_at timestamptz not null,
  -- The whole walk as JSON: it is written and read in one piece, so that there is no half record.
  walk text not null,
  -- A later walk that came to nothing.
  failed_at timestamptz,
  failure text
);

create table deployer_queue (
  address text primary key,
  asked_at timestamptz not null,
  -- Whoever walks holds it until then; a walk that ended with its process is due again.
  due_at timestamptz not null,
  attempts integer not null default 0,
  failure text
);
create index deployer_queue_due on deployer_queue (due_at, asked_at);
