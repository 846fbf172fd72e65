-- Oldest program: 0027
-- The hashes above the leaves of the log, by sixteens: a hash of level n stands for 16^n leaves, and
-- each one of a tile of 256 hashes is one of every second level. A proof reads runs of sixteen. They
-- follow from the leaves, so that the next round makes them of what is there.
drop table log_tile_hashes;

create table log_hashes (
  level smallint not null check (level > 0),
  hash_index bigint not null check (hash_index >= 0),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (level, hash_index)
);
