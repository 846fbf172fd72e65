-- Where a membership is told in chat, what it is told, and what still waits to be delivered.

create table integrations (
  id text primary key,
  membership_id text not null references memberships,
  platform text not null check (platform in ('slack', 'discord', 'telegram')),
  -- Where it posts, as it may be shown: nothing that opens anything.
  place text not null,
  -- What it posts with, sealed; `sealed_by` is the fingerprint of the secret that opens it.
  sealed bytea not null,
  sealed_by text not null,
  -- Which dispatches it gets; null: of every chain, of every address.
  kinds text[] not null,
  chains text[],
  addresses text[],
  created_at timestamptz not null,
  -- When the platform last took a word for it, and when it last said that it will take none.
  verified_at timestamptz,
  broken_at timestamptz,
  -- What kept it from being delivered to; how often in a row; and when it is tried next.
  fault text,
  attempts integer not null default 0,
  due_at timestamptz not null default '-infinity',
  delivered_at timestamptz,
  -- Who delivers to it now: nobody else does until then.
  held_by text not null default '',
  held_until timestamptz not null default '-infinity'
);
create index integrations_of_membership on integrations (membership_id, created_at);

create table dispatches (
  id bigint generated always as identity primary key,
  -- Null: of every membership.
  membership_id text references memberships,
  kind text not null check (kind in ('flag', 'watch', 'signal')),
  key text not null,
  chain text,
  address text,
  message jsonb not null,
  appended_at timestamptz not null
);
create unique index dispatches_once on dispatches (coalesce(membership_id, ''), key);
create index dispatches_appended on dispatches (appended_at);

-- What is delivered is gone from here. Numbers of one integration become visible in order, because
-- whoever queues holds its row until the end of the transaction.
create table deliveries (
  id bigint generated always as identity primary key,
  integration_id text not null references integrations on delete cascade,
  dispatch_id bigint not null references dispatches,
  queued_at timestamptz not null,
  -- When and why it was given up.
  dead_at timestamptz,
  reason text,
  check ((dead_at is null) = (reason is null))
);
create index deliveries_waiting on deliveries (integration_id, id) where dead_at is null;
create index deliveries_dead on deliveries (integration_id, id) where dead_at is not null;
create index deliveries_of_dispatch on deliveries (dispatch_id);

-- Up to which flag everybody was told.
create table flags_dispatched (
  one boolean primary key default true check (one),
  seq bigint not null
);

alter table access_changes drop constraint access_changes_change_check;
alter table access_changes add constraint access_changes_change_check check (change in
  ('key_created', 'key_replaced', 'key_revoked', 'signed_in', 'signed_out',
   'integration_connected', 'integration_removed'));
