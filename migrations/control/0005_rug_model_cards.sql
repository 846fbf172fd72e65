-- Whether the fate of an earlier launch of its deployer was known when a launch was scored; null of
-- what an earlier version kept.
alter table launch_scores
  add column deployer_history text check (deployer_history in ('settled', 'none'));
alter table flag_events
  add column deployer_history text check (deployer_history in ('settled', 'none'));

-- What became of each launch that was flagged, up to the end of its model's horizon.
create table flag_fates (
  flag_seq bigint primary key,
  model_version text not null,
  chain text not null,
  token text not null,
  address text not null,
  -- The end of the horizon.
  settles_at timestamptz not null,
  -- Seen dead by then, or seen alive then or later; null: nobody saw either.
  fate text check (fate in ('died', 'live'))
);
create index flag_fates_open on flag_fates (chain, address) where fate is null;
create index flag_fates_settled on flag_fates (model_version, settles_at);

-- Models whose flags were withdrawn, because they died otherwise than their card expects.
create table rug_model_withdrawals (
  version text primary key references rug_models (version),
  withdrawn_at timestamptz not null,
  reason text not null,
  settled integer not null,
  died integer not null,
  -- Of those whose horizon has passed, how many nobody looked at in time.
  unknown integer not null
);

-- A withdrawal is of a model, and of no launch.
alter table flag_events
  drop constraint flag_events_kind_check,
  alter column chain drop not null,
  alter column address drop not null,
  alter column token drop not null,
  add constraint flag_events_kind_check check (kind in ('flag', 'retraction', 'withdrawal')),
  add constraint flag_events_subject check (
    (kind = 'withdrawal') = (chain is null)
    and (chain is null) = (address is null)
    and (chain is null) = (token is null)
    and (kind <> 'withdrawal' or reason is not null)
  );
