-- Artefacts of the rug model, and which of them is in force. An artefact never changes; the newest
-- publication is in force, so that an earlier version is put back by publishing it again.
create table rug_models (
  version text primary key,
  artefact text not null,
  kept_at timestamptz not null default now()
);

create table rug_model_publications (
  id bigint generated always as identity primary key,
  version text not null references rug_models (version),
  published_at timestamptz not null default now()
);
