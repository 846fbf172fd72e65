-- Work that outlasts the request that began it. It is under way while somebody says so: a row that
-- is running and has not been heard of since is read as lost.
create table long_work (
  id text primary key,
  route text not null,
  owner text not null,
  state text not null check (state in ('running', 'done', 'failed', 'cancelled', 'lost')),
  began_at timestamptz not null,
  heard_at timestamptz not null,
  ended_at timestamptz,
  result text
);
create index long_work_of_owner on long_work (route, owner, began_at);
