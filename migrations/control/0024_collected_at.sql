-- When a launch was collected: what is known of it while it waits is as of then.
alter table collected_launches
  add column collected_at timestamptz not null default control_now();
