-- Whose newest launch is recent is walked again: what a record says of it changes.
alter table deployer_records add column newest_launch_at timestamptz;
update deployer_records set newest_launch_at = (
  select to_timestamp(max((launch ->> 'created_at')::bigint))
  from jsonb_array_elements(walk::jsonb -> 'launches') launch
);
create index deployer_records_walked_again on deployer_records (captured_at)
  where newest_launch_at is not null;
