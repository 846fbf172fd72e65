-- The transparency log: statements of which each is a leaf, in the order in which they became true.
-- Rows are only added.

-- How many leaves there are. Indexes are given without gaps, from zero: whoever appends holds this
-- one row until the end of its transaction.
create table log_size (
  one boolean primary key default true check (one),
  leaves bigint not null check (leaves > 0)
);

create table log_leaves (
  leaf_index bigint primary key check (leaf_index >= 0),
  -- The first byte of the leaf; the 32 bytes of the hash follow it.
  kind smallint not null check (kind between 1 and 255),
  hash bytea not null check (octet_length(hash) = 32),
  -- What the statement is called where it is shown: the id of a signal.
  id text not null,
  at timestamptz not null
);
create index log_leaves_statement on log_leaves (hash, kind);
