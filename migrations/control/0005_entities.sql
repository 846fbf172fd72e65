-- Entity clusters: what ties addresses, as it was observed. Which ties stand, and what they join,
-- is worked out from these rows on every answer, so that a label or a later block takes links back.

create table entity_ties (
  chain text not null,
  heuristic text not null check (
    heuristic in (
      'deposit_reuse', 'shared_funder', 'lockstep', 'same_deployer', 'multi_input', 'change'
    )
  ),
  -- What is shared: a deposit address, a funder, a deployer, a pair, a transaction.
  key text collate "C" not null,
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  -- Unix seconds.
  at bigint not null,
  rests_on text,
  primary key (chain, heuristic, key, address, tx)
);

create index entity_ties_address on entity_ties (chain, address);

-- Who was once known to serve many: they link nobody from then on, whatever a table drops.
create table entity_services (
  chain text not null,
  address text collate "C" not null,
  why text not null check (why in ('label', 'degree')),
  since timestamptz not null default now(),
  primary key (chain, address)
);

-- The last reading of an address's own history for ties.
create table entity_examinations (
  chain text not null,
  address text collate "C" not null,
  whole boolean not null,
  read_at bigint not null,
  reason text,
  primary key (chain, address),
  check (whole = (reason is null))
);

-- The clusters as they were last shown, and the ids that gave way to others.
create table entity_members (
  chain text not null,
  address text collate "C" not null,
  cluster_id text not null,
  primary key (chain, address)
);

create index entity_members_cluster on entity_members (cluster_id);

create table entity_merges (
  chain text not null,
  former_id text not null,
  cluster_id text not null,
  noted_at bigint not null,
  primary key (former_id, cluster_id)
);

create index entity_merges_cluster on entity_merges (cluster_id);

-- Blocks of Bitcoin processed in full, joined where they adjoin.
create table entity_blocks (
  from_block bigint primary key,
  to_block bigint not null,
  to_time bigint not null,
  -- Whether one-time change was told there: every block before was held, and none after.
  change boolean not null,
  check (to_block >= from_block)
);

-- In how many transactions of those blocks each address was paid.
create table entity_paid (
  address text collate "C" primary key,
  times integer not null check (times > 0)
);
