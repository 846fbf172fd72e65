-- Analyses of traders, and the addresses that wait for one.

-- The newest analysis of an address, or why it cannot have one. A failed attempt leaves both.
create table trader_analyses (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  made_at timestamptz,
  analysis text,
  unanalysable_at timestamptz,
  because text,
  agent_of text,
  failed_at timestamptz,
  failure text,
  outside boolean,
  -- Who asked last keeps it renewed for a while.
  asked_at timestamptz,
  check ((made_at is null) = (analysis is null)),
  check ((unanalysable_at is null) = (because is null)),
  check ((failed_at is null) = (failure is null) and (failed_at is null) = (outside is null))
);
create index trader_analyses_by_age on trader_analyses (made_at) where asked_at is not null;

create table trader_queue (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  lane text not null check (lane in ('renewal', 'asked')),
  asked_at timestamptz not null,
  due_at timestamptz not null,
  attempts integer not null default 0
);
create index trader_queue_due on trader_queue (lane, due_at);

-- When an asked address was begun: only so many are begun in a minute.
create table trader_starts (at timestamptz not null);
