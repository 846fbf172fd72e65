-- Launches of Solana that the collector saw, how far it has read, and what it did not read.
-- What became of a launch stands in `launches`, where a settlement is imported like any corpus.
create table collected_launches (
  mint text collate "C" primary key,
  -- Who signed the launch; never whom an instruction names.
  deployer text collate "C" not null,
  -- The instruction that launched it.
  made_by text not null,
  signature text not null,
  slot bigint not null,
  launched_at timestamptz not null,
  -- Set in the transaction that completes the import of its settlement.
  settled boolean not null default false,
  -- When the venue is asked next; the outcome of the last question, while it has not settled.
  due_at timestamptz not null,
  failure text
);
create index collected_launches_deployer on collected_launches (deployer) where not settled;
create index collected_launches_due on collected_launches (due_at) where not settled;
create index launches_unsettled on launches (deployer) where not settled;

-- How far each watched account was read: everything from `since` on, but for the gaps.
create table launch_cursors (
  watched text primary key,
  since timestamptz not null,
  -- The newest signature that was read; null where the account had none.
  signature text,
  -- Up to when everything was read.
  reached_at timestamptz not null,
  -- How often in a row the next transaction could not be read.
  attempts integer not null default 0
);

-- What was not read, one row for pieces that lie close together.
create table launch_gaps (
  id bigint generated always as identity primary key,
  watched text not null references launch_cursors (watched),
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Seconds that the pieces cover together, each at least one.
  missed_s double precision not null,
  pieces integer not null default 1,
  reason text not null
);
create index launch_gaps_newest on launch_gaps (watched, id);
