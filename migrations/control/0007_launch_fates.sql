-- What became of each launch that a model flagged or passed, up to the end of its horizon: flags are
-- held against what was passed beside them.
create table launch_fates (
  model_version text not null,
  chain text not null,
  token text not null,
  address text not null,
  -- Whether the model flagged it, once at least.
  flagged boolean not null,
  -- The end of the horizon.
  settles_at timestamptz not null,
  -- Seen dead by then, or seen alive then or later; null: nobody saw either.
  fate text check (fate in ('died', 'live')),
  primary key (model_version, chain, token)
);
insert into launch_fates (model_version, chain, token, address, flagged, settles_at, fate)
select distinct on (model_version, chain, token)
  model_version, chain, token, address, true, settles_at, fate
from flag_fates order by model_version, chain, token, flag_seq;
drop table flag_fates;
create index launch_fates_open on launch_fates (chain, address) where fate is null;
create index launch_fates_settled on launch_fates (model_version, flagged, settles_at);
