-- Roles of the control store (PostgreSQL 15 or newer), each with no more than its process needs.
-- Run by an administrator, in the database, before the first start and after each migration:
--   psql --set=ON_ERROR_STOP=1 --file=deploy/roles.sql ADMINISTRATOR_URL
-- Then give each role a password with \password. It may be run again at any time.
--   exhibit_owner  owns the tables and changes them: the job that migrates, and nothing else
--   exhibit_work   reads and writes rows: `exhibit work` and the operator's commands
--   exhibit_serve  reads what answers rest on, writes what answers leave: `exhibit serve`
--   exhibit_read   reads what holds no secret and nobody's questions: dashboards

begin;

do $$
declare
  role text;
  held record;
begin
  foreach role in array array['exhibit_owner', 'exhibit_work', 'exhibit_serve', 'exhibit_read'] loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I login nosuperuser nocreatedb nocreaterole noinherit', role);
    end if;
    execute format('grant connect on database %I to %I', current_database(), role);
  end loop;
  execute format('revoke all on database %I from public', current_database());
  -- What an earlier owner made becomes the owner's.
  for held in select c.relname, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') loop
    execute format('alter table public.%I owner to exhibit_owner', held.relname);
  end loop;
  for held in select p.oid::regprocedure::text as signature from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public' loop
    execute format('alter function %s owner to exhibit_owner', held.signature);
  end loop;
end $$;

revoke all on schema public from public;
grant usage, create on schema public to exhibit_owner;
grant usage on schema public to exhibit_work, exhibit_serve, exhibit_read;
revoke all on all tables in schema public from public, exhibit_work, exhibit_serve, exhibit_read;

-- The operator's commands write what no job does: all rows, no table.
grant select, insert, update, delete on all tables in schema public to exhibit_work;
alter default privileges for role exhibit_owner in schema public
  grant select, insert, update, delete on tables to exhibit_work;

-- Before the first migration there is no table to name.
do $$
declare
  one text[];
  -- Which tables a process that answers writes: `select` stands for those that it reads only.
  serves constant text[] := array[
    ['select', 'anchors call_changes call_outcomes call_restatements collected_launches'],
    ['select', 'deliveries deployer_records deployment detector_runs detector_versions'],
    ['select', 'dispatches emitted_calls entity_blocks entity_coinjoins entity_paid'],
    ['select', 'exchange_labels flag_events flag_log flagged_addresses'],
    ['select', 'follow_reports label_changes launch_cursors launch_fates launch_gaps'],
    ['select', 'launch_scores launches leases log_checkpoints log_cosignatures log_ends'],
    ['select', 'log_freezes log_hashes log_leaves log_origins log_size'],
    ['select', 'migrations other_list_changes other_lists outcome_rules provider_asks'],
    ['select', 'provider_board provider_calls provider_gaps provider_outcomes provider_watch'],
    ['select', 'ranker_models ranker_publications recorded_launches rug_model_publications'],
    ['select', 'rug_model_withdrawals rug_models sanctions_acceptances sanctions_changes'],
    ['select', 'sanctions_checks sanctions_current sanctions_entries sanctions_publications'],
    ['select', 'sanctions_refusals sanctions_sources scored_wallets scorer_runs'],
    ['select', 'signal_bundles signal_rounds signal_statuses signal_targets signals'],
    ['select', 'signing_key_compromises table_imports usage_counting watch_changes watch_logs'],
    ['select, insert', 'access_changes edge_trials entity_merges entity_services'],
    ['select, insert', 'store_restores'],
    ['select, insert, delete', 'screening_records sign_in_links store_marks unshown_keys'],
    ['select, insert, update', 'api_keys day_spending deployer_queue leak_report_counts'],
    ['select, insert, update', 'memberships quota_usage sign_in_codes signing_keys'],
    ['select, insert, update', 'entity_examinations entity_members trader_analyses trader_queue'],
    ['select, update', 'intelligence_tokens'],
    ['select, insert, update, delete', 'held_streams integrations key_usage leak_reports'],
    ['select, insert, update, delete', 'payment_events replaced_session_tokens sessions'],
    ['select, insert, update, delete', 'entity_objections entity_ties sign_in_tries'],
    ['select, insert, update, delete', 'watched_addresses']
  ];
  -- No answer rests on them: they are where jobs and followers left off.
  unserved constant text := 'anchor_transactions call_places flags_dispatched launch_sightings '
    'provider_places signal_places trader_starts walk_callers';
  -- No key, session, code, sealed credential or chat, and nothing of who asked what.
  reads constant text := 'anchors call_outcomes detector_runs emitted_calls flag_events flag_log '
    'follow_reports launch_gaps leases log_checkpoints log_cosignatures log_ends log_freezes '
    'log_origins log_size migrations provider_board provider_outcomes provider_watch '
    'sanctions_changes sanctions_checks sanctions_current sanctions_publications '
    'sanctions_refusals sanctions_sources scorer_runs signal_rounds signal_statuses signals '
    'table_imports';
  -- Of the deliveries to chats: how many wait and how many were given up.
  counts constant text := 'id, queued_at, dead_at';
  known text[] := string_to_array(unserved, ' ');
  unknown text;
begin
  if to_regclass('public.deployment') is null then return; end if;
  revoke insert, update, delete on deployment, migrations from exhibit_work;
  foreach one slice 1 in array serves loop
    execute format('grant %s on %s to exhibit_serve', one[1], replace(one[2], ' ', ', '));
    known := known || string_to_array(one[2], ' ');
  end loop;
  execute format('grant select on %s to exhibit_read', replace(reads, ' ', ', '));
  execute format('grant select (%s) on deliveries to exhibit_read', counts);
  -- A table of a newer version than this file: whoever runs it is told.
  select string_agg(tablename, ', ' order by tablename) into unknown from pg_tables
    where schemaname = 'public' and tablename <> all (known);
  if unknown is not null then
    raise exception 'deploy/roles.sql does not know %: run the file of that version', unknown;
  end if;
end $$;

commit;
