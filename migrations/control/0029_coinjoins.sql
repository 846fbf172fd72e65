-- Who took part in which joint transaction of Bitcoin. Blocks read so far told it of inputs alone and
-- not of every one: they are imported again. What was judged by all payments goes with them.

delete from entity_blocks;
delete from entity_paid;
delete from entity_ties where heuristic = 'change';

create table entity_coinjoins (
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  -- Unix seconds.
  at bigint not null,
  form text not null,
  -- Whether it spent coins of the address, and whether it paid it.
  spent boolean not null,
  paid boolean not null,
  primary key (address, tx)
);
