-- A publishable key of a membership (`sc_pub`) stands in pages that anybody can read: it lists the
-- origins of those pages.
alter table api_keys add column origins text[];
alter table api_keys drop constraint api_keys_kind_check;
alter table api_keys drop constraint api_keys_check;
alter table api_keys drop constraint api_keys_check1;
alter table api_keys drop constraint api_keys_check2;
alter table api_keys add constraint api_keys_kind_check check (kind in ('sc', 'scp', 'sc_pub'));
alter table api_keys add constraint api_keys_holder_check check (
  (kind = 'scp') = (membership_id is null)
  and (kind = 'scp') = (partner is not null)
  and (kind = 'scp') = (monthly_budget is not null)
  and (kind = 'sc_pub') = (origins is not null)
);
