-- Whose word counts among the holders that a lease has had: the one of the greatest epoch. `released`
-- says that the holder before let it go, and was not merely heard of no more. A released lease has
-- no holder.
alter table leases
  add column epoch bigint not null default 0,
  add column released boolean not null default false;

-- What each follower of a chain told of itself last, and since when it has been so.
create table follow_reports (
  chain text primary key,
  state text not null check (state in ('following', 'held_up', 'stopped')),
  reason text,
  last_block bigint,
  head_block bigint,
  since timestamptz not null default now(),
  told_at timestamptz not null default now()
);
