-- What the payment platform said: each delivery once, whatever became of it.
create table payment_events (
  -- The id that the platform gives a delivery; it stays the same when it is sent again.
  delivery_id text primary key,
  type text not null,
  received_at timestamptz not null,
  -- The event's own time; null where it told none.
  event_at timestamptz,
  membership_id text,
  product_id text,
  plan_id text,
  -- What it asks of the membership; null where it asks nothing of one.
  status text check (status in ('active', 'inactive')),
  outcome text not null check (outcome in ('applied', 'older', 'no_plan', 'unknown', 'unreadable')),
  -- The event without what it says of persons, as JSON text.
  body text not null
);
create index payment_events_received on payment_events (received_at);
create index payment_events_held on payment_events (event_at) where outcome = 'no_plan';
