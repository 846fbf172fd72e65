-- Whether a walk read every contract that its wallet made in the thirty days before it: of those it
-- did not read, each may be a launch. Null of a walk that an earlier version kept.
alter table deployer_records add column is_watched boolean;

-- Wallets without a young launch are walked again too, less often.
create index deployer_records_walked on deployer_records (captured_at);
