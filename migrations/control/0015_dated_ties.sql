-- Ties as inferences with a date. Those kept so far were judged by rules that joined the two sides
-- of a trade, the customers of a relayer and the recipients of an airdrop, and nothing tells which
-- of them stand: all of them go. Blocks of Bitcoin were read without their signatures; they are
-- imported again. Who was known to serve many, and which ids gave way, stays.

delete from entity_examinations;
delete from entity_blocks;
delete from entity_paid;
drop table entity_ties;

create table entity_ties (
  chain text not null,
  heuristic text not null check (
    heuristic in (
      'deposit_reuse', 'shared_funder', 'lockstep', 'same_deployer', 'multi_input', 'change'
    )
  ),
  form text not null,
  -- What is shared: a deposit address, a funder, a deployer, a pair, a transaction.
  key text collate "C" not null,
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  -- Unix seconds.
  at bigint not null,
  rests_on text,
  -- Whether the histories that it was judged by were read to their end.
  whole boolean not null,
  -- The version of the rules that judged it, and when (Unix seconds).
  rule integer not null,
  judged_at bigint not null,
  primary key (chain, heuristic, key, address, tx)
);

create index entity_ties_address on entity_ties (chain, address);

-- What speaks against joining an address with others.
create table entity_objections (
  chain text not null,
  kind text not null,
  -- The transaction, or the address through which they would be joined.
  key text collate "C" not null,
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  at bigint not null,
  detail text,
  primary key (chain, kind, key, address)
);

create index entity_objections_address on entity_objections (chain, address);

alter table entity_examinations add column rule integer not null;
-- Whether every signature was told that has to be.
alter table entity_blocks add column signatures boolean not null;
