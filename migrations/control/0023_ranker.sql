-- Rankers of calls, and which of them is in force. Both are only added.

create table ranker_models (
  version text primary key,
  artefact text not null,
  hash text not null unique check (hash ~ '^0x[0-9a-f]{64}$'),
  leaf bigint not null unique check (leaf >= 0)
);

-- The newest publication is in force: an earlier version is put back by publishing it again.
create table ranker_publications (
  id bigint generated always as identity primary key,
  version text not null references ranker_models,
  published_at timestamptz not null
);

create trigger ranker_models_stay before update or delete on ranker_models
  for each row execute function refuse_change();
create trigger ranker_publications_stay before update or delete on ranker_publications
  for each row execute function refuse_change();
