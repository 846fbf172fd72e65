-- What the log signed. Rows are only added, so that what a stranger was shown can be shown again.

-- The hashes of full tiles, from which roots and proofs are made: level 1 over 256 leaves each.
create table log_tile_hashes (
  level smallint not null check (level > 0),
  hash_index bigint not null check (hash_index >= 0),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (level, hash_index)
);

-- The names under which the log signed, one after another; the newest signs.
create table log_origins (
  generation integer primary key check (generation > 0),
  origin text not null unique,
  began_at timestamptz not null
);

create table log_checkpoints (
  generation integer not null references log_origins,
  size bigint not null check (size > 0),
  root bytea not null check (octet_length(root) = 32),
  -- The signed note as it is published.
  note text not null,
  signed_at timestamptz not null,
  primary key (generation, size)
);

create table log_cosignatures (
  generation integer not null,
  size bigint not null,
  witness text not null,
  -- One signature line of a note, with its newline.
  line text not null,
  received_at timestamptz not null,
  primary key (generation, size, witness),
  foreign key (generation, size) references log_checkpoints
);

-- Why an origin signs nothing more. The note is what it had signed last, which the leaves that are
-- stored do not bear out.
create table log_freezes (
  generation integer primary key references log_origins,
  reason text not null,
  note text,
  frozen_at timestamptz not null
);

create table log_ends (
  generation integer primary key references log_origins,
  -- The last checkpoint that it signed; null where it signed none.
  note text,
  -- Leaves that are stored as it published them.
  held bigint not null check (held >= 0),
  why text not null,
  -- The signed statement of its end.
  statement text not null,
  ended_at timestamptz not null
);
