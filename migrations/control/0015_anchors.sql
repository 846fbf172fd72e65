-- The roots of the log that were sent to the anchoring contract, in the order of their nonces.
create table anchors (
  chain_id bigint not null check (chain_id > 0),
  contract text not null,
  sender text not null,
  nonce bigint not null check (nonce >= 0),
  -- The log whose root it is.
  origin text not null,
  log_size bigint not null check (log_size > 0),
  root text not null,
  gas numeric not null,
  status text not null check (status in ('queued', 'submitted', 'confirmed', 'failed')),
  -- Of a confirmed one: the transaction, and its block, which is final.
  tx text,
  block bigint,
  -- Of a failed one.
  reason text,
  began_at timestamptz not null,
  primary key (chain_id, sender, nonce),
  check ((status = 'confirmed') = (tx is not null and block is not null)),
  check ((status = 'failed') = (reason is not null))
);
-- A root is anchored once for its size, and one send is under way at a time.
create unique index anchors_size on anchors (chain_id, contract, log_size)
  where status <> 'failed';
create unique index anchors_open on anchors (chain_id, contract)
  where status in ('queued', 'submitted');

-- The transactions of each nonce. Each is kept before it is sent.
create table anchor_transactions (
  tx text primary key,
  chain_id bigint not null,
  sender text not null,
  nonce bigint not null,
  raw text not null,
  max_fee_wei numeric not null,
  tip_wei numeric not null,
  at timestamptz not null,
  foreign key (chain_id, sender, nonce) references anchors (chain_id, sender, nonce)
);
create index anchor_transactions_of on anchor_transactions (chain_id, sender, nonce);
