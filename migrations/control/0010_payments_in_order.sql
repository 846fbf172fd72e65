-- Events arrive within one second of each other; their order is that in which they were stored.
alter table payment_events add column arrival bigint generated always as identity;
