-- The whole control store, by subject: the deployment and its clock, access, member settings,
-- leases and followers, the sanctions list, imported tables, entities, deployers, launches of
-- Solana, the rug model and its flags, integrations, screening records, the watchlist.

-- ---------------------------------------------------------------- the deployment and its clock

-- The owner of this store. Its one row is compared before anything else is read or written.
create table deployment (
  only_one boolean primary key default true check (only_one),
  simulated boolean not null,
  secret_fingerprint text not null,
  created_at timestamptz not null default now()
);

-- The store's own clock stamps and compares what ages, so that a process whose clock is wrong
-- neither renews nor ages anything. Tests replace this function.
create function control_now() returns timestamptz language sql stable as 'select now()';

-- ---------------------------------------------------------------- access

create table memberships (
  membership_id text primary key,
  plan text not null,
  status text not null check (status in ('active', 'inactive')),
  created_at timestamptz not null,
  -- The time of the newest event known about the membership: an older one changes nothing.
  updated_at timestamptz not null
);

-- A key is kept as a hash under a pepper; `pepper` is the fingerprint of the secret behind it.
create table api_keys (
  id text primary key,
  kind text not null check (kind in ('sc', 'scp')),
  membership_id text references memberships,
  partner text,
  hash bytea not null unique,
  pepper text not null,
  prefix text not null,
  monthly_budget integer check (monthly_budget > 0),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- The owner's name for it.
  name text,
  -- The time at which a newer key took its place, and that key; it opens until it expires.
  replaced_at timestamptz,
  replaced_by text,
  check ((kind = 'sc') = (membership_id is not null)),
  check ((kind = 'scp') = (partner is not null and monthly_budget is not null)),
  check (kind = 'scp' or (partner is null and monthly_budget is null))
);
create index api_keys_of_membership on api_keys (membership_id, created_at);
create index api_keys_of_prefix on api_keys (prefix);

-- Tokens of the intelligence service.
create table intelligence_tokens (
  id text primary key,
  tier text not null check (tier in ('free', 'pro', 'desk')),
  hash bytea not null unique,
  pepper text not null,
  prefix text not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index intelligence_tokens_of_prefix on intelligence_tokens (prefix);

-- The used part of an allowance. `period` is a UTC day (2026-11-21) or month (2026-11). `granted`
-- and `ceiling` are those of the last charge: the statement that charges derives from them how much
-- it was given. Rows are updated in place (HOT), so they need room.
create table quota_usage (
  subject text not null,
  period text not null,
  used integer not null check (used >= 0),
  granted integer not null,
  ceiling integer not null,
  primary key (subject, period)
) with (fillfactor = 50);

-- Deliveries of the payment platform, each once, whatever became of it.
create table payment_events (
  -- The id that the platform gives a delivery; it stays the same when it is sent again.
  delivery_id text primary key,
  type text not null,
  received_at timestamptz not null,
  -- The event's own time; null where it told none.
  event_at timestamptz,
  membership_id text,
  product_id text,
  plan_id text,
  -- What it asks of the membership; null where it asks nothing of one.
  status text check (status in ('active', 'inactive')),
  outcome text not null check (outcome in ('applied', 'older', 'no_plan', 'unknown', 'unreadable')),
  -- The event without what it says of persons, as JSON text.
  body text not null
);
create index payment_events_received on payment_events (received_at);
create index payment_events_held on payment_events (event_at) where outcome = 'no_plan';

-- ---------------------------------------------------------------- member settings

-- Browsers that are signed in for a membership. The cookie's token is kept as a hash. A session
-- changes its token as it grows older; the token before opens for a moment, because a browser may
-- have sent it already.
create table sessions (
  id text primary key,
  membership_id text not null references memberships,
  hash bytea not null unique,
  previous_hash bytea,
  pepper text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  renewed_at timestamptz not null,
  ended_at timestamptz
);
create index sessions_previous on sessions (previous_hash);

-- The code that the payment platform shows to whoever bought a membership, as a hash.
create table sign_in_codes (
  membership_id text primary key,
  hash bytea not null,
  pepper text not null,
  set_at timestamptz not null
);

-- Links to sign in that were used: each opens once.
create table sign_in_links (
  id text primary key,
  expires_at timestamptz not null
);

-- Codes that were tried, by a bucket of the membership's id, so that the table cannot grow.
create table sign_in_tries (
  bucket integer primary key,
  began_at timestamptz not null,
  tries integer not null
);

-- The log of changed keys and integrations and of sign-ins. `by_whom` is the operator, or a member
-- in the settings.
create table access_changes (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  membership_id text,
  by_whom text not null check (by_whom in ('operator', 'member')),
  change text not null check (change in
    ('key_created', 'key_replaced', 'key_revoked', 'signed_in', 'signed_out',
     'integration_connected', 'integration_removed')),
  -- What was changed, as it may be shown: a key's prefix.
  subject text
);
create index access_changes_of_membership on access_changes (membership_id, id);

-- ---------------------------------------------------------------- leases and followers

-- Work that one process at a time may do, and the time until which its holder has claimed it. Of
-- the holders that a lease has had, the one of the greatest epoch counts. `released` says that the
-- holder before let it go, and was not merely heard of no more. A released lease has no holder.
create table leases (
  name text primary key,
  holder text not null,
  held_until timestamptz not null,
  epoch bigint not null,
  released boolean not null
);

-- The last report of each chain's follower on itself, and the time since which it has been so.
create table follow_reports (
  chain text primary key,
  state text not null check (state in ('following', 'held_up', 'stopped')),
  reason text,
  last_block bigint,
  head_block bigint,
  since timestamptz not null default now(),
  told_at timestamptz not null default now()
);

-- ---------------------------------------------------------------- the sanctions list

-- Every publication that passed the gate. sanctions_current names the one that is in force.
create table sanctions_publications (
  id integer generated always as identity primary key,
  published date not null,
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  format text not null,
  -- A digest of the configured address, as in sanctions_sources.
  source_key text not null,
  -- The publisher's public page, or scheme and host of the configured address; never more.
  source_url text not null,
  -- The reader that made the rows: another reader reads the kept file again.
  reader_version integer not null,
  distinct_addresses integer not null check (distinct_addresses > 0),
  parties integer not null check (parties > 0),
  record_count integer not null,
  unparsed integer not null,
  accepted_at timestamptz not null,
  -- The operator's words where a size rule was set aside for this file.
  accepted_why text
);
create index sanctions_publications_published on sanctions_publications (published);

-- The rows of each publication. A column that the publisher's file leaves open is null, and the
-- note says so.
create table sanctions_entries (
  publication_id integer not null references sanctions_publications (id),
  -- The place in the file.
  ordinal integer not null,
  match_key text not null,
  address text not null,
  currency text not null,
  entity text,
  type text,
  programs jsonb,
  uid text not null,
  remarks text,
  listed_on date,
  note text,
  primary key (publication_id, ordinal)
);
create index sanctions_entries_match_key on sanctions_entries (publication_id, match_key);

-- The newest refused files.
create table sanctions_refusals (
  id integer generated always as identity primary key,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_url text not null,
  code text not null,
  reason text not null,
  -- The day that the file states, where it could be found.
  published date,
  -- Whether the publisher served it, and whether it may be whole at the next try.
  from_publisher boolean not null,
  passing boolean not null,
  -- Whether an operator may accept it.
  acceptable boolean not null,
  -- The reader, the rules and the list that it was judged by: under others it is judged anew.
  judged_by text not null,
  -- The file where the machine that refused it keeps it; null where it could not be kept.
  kept_as text,
  first_at timestamptz not null,
  refused_at timestamptz not null,
  unique (sha256, code)
);

-- The first and the last successful check of each source that found a publication the newest.
create table sanctions_checks (
  publication_id integer not null references sanctions_publications (id),
  -- A digest of the configured address: it may hold a credential, so it is not stored.
  source_key text not null,
  source_url text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- asked: the publisher said that it is the newest; obtained: an operator states when it was.
  basis text not null check (basis in ('asked', 'obtained')),
  primary key (publication_id, source_key)
);

-- The last question to each source and its last file.
create table sanctions_sources (
  source_key text primary key,
  source_url text not null,
  asked_at timestamptz not null,
  result text not null,
  -- The file that it gave last, with its validators where a conditional request may name them.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  etag text,
  last_modified text
);

-- One row, locked by whoever replaces the list.
create table sanctions_current (
  only_row boolean primary key default true check (only_row),
  publication_id integer references sanctions_publications (id),
  changed_at timestamptz
);
insert into sanctions_current default values;

-- Each list that came into force. Rows are only ever added, so that what left the list stays on
-- record. Both publications are named by value, so that a row says the same after its publication
-- was read again.
create table sanctions_acceptances (
  id integer generated always as identity primary key,
  -- first: nothing was in force before. replayed: a publication that was held already came back.
  -- read_again: the same file as another reader reads it.
  kind text not null check (kind in ('first', 'next', 'replayed', 'read_again')),
  published date not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_url text not null,
  distinct_addresses integer not null,
  published_before date,
  sha256_before text check (sha256_before ~ '^[0-9a-f]{64}$'),
  accepted_at timestamptz not null,
  accepted_why text,
  check ((kind = 'first') = (sha256_before is null))
);
create index sanctions_acceptances_at on sanctions_acceptances (accepted_at);

-- What each of them changed of the one before.
create table sanctions_changes (
  id bigint generated always as identity primary key,
  acceptance_id integer not null references sanctions_acceptances (id),
  change text not null
    check (change in ('added', 'removed', 'moved', 'programmes_changed', 'renamed')),
  match_key text not null,
  -- The listing as it is now; of a removed one, as it was last.
  listing jsonb not null,
  -- The listing as it was before; null where it was added or removed.
  before jsonb,
  check ((change in ('added', 'removed')) = (before is null))
);
create index sanctions_changes_of on sanctions_changes (acceptance_id);
create index sanctions_changes_match_key on sanctions_changes (match_key, id);

-- ---------------------------------------------------------------- imported tables

-- Imports of tables. Nobody sees rows of an import that has not completed. One import is in force
-- for each table and source.
create table table_imports (
  id integer generated always as identity primary key,
  table_name text not null
    check (table_name in ('exchange_labels', 'launches', 'flagged_addresses', 'other_lists')),
  source text not null,
  -- A public page; never a configured address.
  source_url text,
  origin text not null check (origin in ('observed', 'simulated')),
  started_at timestamptz not null,
  completed_at timestamptz,
  -- When the source dates its rows, or when they were imported.
  as_of timestamptz,
  -- file: the rows say it. operator: whoever imported it says it. import: it is when that was done.
  dated_by text check (dated_by in ('file', 'operator', 'import')),
  rows_accepted integer check (rows_accepted > 0),
  rows_refused integer,
  -- How many of the refused rows may have lost an entry.
  rows_lost integer check (rows_lost >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  in_force boolean not null default false,
  -- The import of its source that was in force then, with which it was compared; null for none.
  compared_with integer,
  check (not in_force or completed_at is not null),
  check (
    completed_at is null
    or (as_of is not null and rows_accepted is not null and rows_refused is not null
        and sha256 is not null)
  ),
  check (completed_at is null or (dated_by is not null and rows_lost is not null))
);
create unique index table_imports_in_force on table_imports (table_name, source) where in_force;

create table exchange_labels (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  address text not null,
  -- The chain as we or, where it is not served here, as the source names it.
  chain text,
  label text not null,
  entity text not null,
  role text not null
    check (role in ('hot', 'cold', 'deposit', 'deployer', 'treasury', 'other')),
  confidence text not null,
  clusterable boolean not null,
  source text not null,
  source_url text,
  first_seen date not null,
  primary key (import_id, n)
);
create unique index exchange_labels_once
  on exchange_labels (import_id, match_key, entity, (coalesce(chain, '')));
create index exchange_labels_match_key on exchange_labels (match_key);

-- What each import of exchange labels added, changed and removed. It goes with its import where
-- that one is forgotten.
create table label_changes (
  id bigint generated always as identity primary key,
  import_id integer not null references table_imports (id) on delete cascade,
  change text not null check (change in ('added', 'changed', 'removed')),
  match_key text not null,
  address text not null,
  chain text,
  entity text not null,
  -- What the label says; of a removed one, what it said last.
  label text not null,
  role text not null,
  confidence text not null,
  source_url text,
  first_seen date not null,
  -- What a changed label said before.
  label_before text,
  role_before text,
  confidence_before text,
  source_url_before text,
  check ((change = 'changed') = (label_before is not null))
);
create index label_changes_of_import on label_changes (import_id, id);
create index label_changes_match_key on label_changes (match_key, id);

-- Addresses and contracts that published tables flag.
create table flagged_addresses (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  -- The key of who made the contract, where the source says so.
  creator_key text,
  address text not null,
  -- The chain as we or, where it is not served here, as the source names it.
  chain text,
  tag text not null,
  category text not null,
  is_contract boolean,
  creator text,
  creation_tx text check (creation_tx ~ '^0x[0-9a-f]{64}$'),
  source text not null,
  source_url text,
  first_seen date not null,
  primary key (import_id, n),
  check ((creator is null) = (creator_key is null))
);
create unique index flagged_addresses_once
  on flagged_addresses (import_id, match_key, tag, (coalesce(chain, '')));

-- Lists of other authorities; each import's source is the name of its list.
create table other_lists (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  match_key text not null,
  address text not null,
  currency text,
  entity text,
  entity_type text,
  programs text,
  entry_id text,
  source_url text,
  listed_at date,
  ended_at date,
  note text,
  source text not null,
  primary key (import_id, n)
);
-- Of one address a list may say several things under one entry: that one listing ended, and that
-- another stands. Only a row that says the same repeats another.
create unique index other_lists_once on other_lists (
  import_id,
  match_key,
  md5(
    coalesce(entry_id, '') || '|' || coalesce(currency, '') || '|' || coalesce(entity, '') || '|'
      || coalesce(programs, '')
  ),
  (coalesce(ended_at, date 'infinity'))
);
create index other_lists_match_key on other_lists (match_key);

-- What each import of such a list added, changed and removed, address by address. It goes with its
-- import where that one is forgotten.
create table other_list_changes (
  id bigint generated always as identity primary key,
  import_id integer not null references table_imports (id) on delete cascade,
  change text not null check (change in ('added', 'changed', 'removed')),
  match_key text not null,
  address text not null,
  -- All entries of the address; of a removed one, as they were last.
  entries jsonb not null,
  -- Those of a changed one before.
  before jsonb,
  check ((change = 'changed') = (before is not null))
);
create index other_list_changes_of_import on other_list_changes (import_id, id);
create index other_list_changes_match_key on other_list_changes (match_key, id);

-- Launches of Solana. A mint may stand here once for each import that saw it. Its best row of a
-- completed import counts: settled before unsettled, then the later check, then the later import.
-- The others are forgotten in pieces, so that taking in an import is one short transaction.
create table launches (
  import_id integer not null references table_imports (id),
  -- The place among the rows of the file.
  n integer not null,
  mint text not null,
  deployer text collate "C" not null,
  launched_at timestamptz not null,
  -- Null where it is not known.
  listed_after_window boolean,
  last_checked_at timestamptz not null,
  -- Whether the window had passed at that check and the answer is known.
  settled boolean not null,
  primary key (mint, import_id),
  unique (import_id, n),
  check (not settled or listed_after_window is not null)
);
create index launches_deployer on launches (deployer) where settled;
create index launches_unsettled on launches (deployer) where not settled;

-- ---------------------------------------------------------------- entities

-- What ties addresses, as it was observed. Which ties stand, and what they join, is worked out from
-- these rows on every answer, so that a label or a later block takes links back.
create table entity_ties (
  chain text not null,
  heuristic text not null check (
    heuristic in (
      'deposit_reuse', 'shared_funder', 'lockstep', 'same_deployer', 'multi_input', 'change'
    )
  ),
  form text not null,
  -- What is shared: a deposit address, a funder, a deployer, a pair, a transaction.
  key text collate "C" not null,
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  -- Unix seconds.
  at bigint not null,
  rests_on text,
  -- Whether the histories that it was judged by were read to their end.
  whole boolean not null,
  -- The version of the rules that judged it, and when (Unix seconds).
  rule integer not null,
  judged_at bigint not null,
  primary key (chain, heuristic, key, address, tx)
);
create index entity_ties_address on entity_ties (chain, address);

-- What speaks against joining an address with others.
create table entity_objections (
  chain text not null,
  kind text not null,
  -- The transaction, or the address through which they would be joined.
  key text collate "C" not null,
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  at bigint not null,
  detail text,
  primary key (chain, kind, key, address)
);
create index entity_objections_address on entity_objections (chain, address);

-- Addresses that were once known to serve many: they link nobody from then on, whatever a table
-- drops.
create table entity_services (
  chain text not null,
  address text collate "C" not null,
  why text not null check (why in ('label', 'degree')),
  since timestamptz not null default now(),
  primary key (chain, address)
);

-- The last reading of an address's own history for ties.
create table entity_examinations (
  chain text not null,
  address text collate "C" not null,
  whole boolean not null,
  rule integer not null,
  read_at bigint not null,
  reason text,
  primary key (chain, address),
  check (whole = (reason is null))
);

-- The clusters as they were last shown.
create table entity_members (
  chain text not null,
  address text collate "C" not null,
  cluster_id text not null,
  primary key (chain, address)
);
create index entity_members_cluster on entity_members (cluster_id);

-- The ids of clusters that gave way to others.
create table entity_merges (
  chain text not null,
  former_id text not null,
  cluster_id text not null,
  noted_at bigint not null,
  primary key (former_id, cluster_id)
);
create index entity_merges_cluster on entity_merges (cluster_id);

-- Blocks of Bitcoin processed in full, joined where they adjoin.
create table entity_blocks (
  from_block bigint primary key,
  to_block bigint not null,
  to_time bigint not null,
  -- Whether one-time change was told there: every block before was held, and none after.
  change boolean not null,
  -- Whether every signature was told that has to be.
  signatures boolean not null,
  check (to_block >= from_block)
);

-- In how many transactions of those blocks each address was paid.
create table entity_paid (
  address text collate "C" primary key,
  times integer not null check (times > 0)
);

-- Which address took part in which joint transaction of Bitcoin.
create table entity_coinjoins (
  address text collate "C" not null,
  tx text collate "C" not null,
  block bigint not null,
  -- Unix seconds.
  at bigint not null,
  form text not null,
  -- Whether it spent coins of the address, and whether it paid it.
  spent boolean not null,
  paid boolean not null,
  primary key (address, tx)
);

-- ---------------------------------------------------------------- deployers

-- The result of each deployer's last walk.
create table deployer_records (
  address text primary key,
  captured_at timestamptz not null,
  -- The whole walk as JSON: it is written and read in one piece, so that there is no half record.
  walk text not null,
  -- A deployer whose newest launch is recent is walked again; null where it launched nothing.
  newest_launch_at timestamptz,
  -- A later walk that came to nothing.
  failed_at timestamptz,
  failure text
);
create index deployer_records_walked_again on deployer_records (captured_at)
  where newest_launch_at is not null;

-- The deployers that wait to be walked.
create table deployer_queue (
  address text primary key,
  asked_at timestamptz not null,
  -- Whoever walks holds it until then; a walk that ended with its process is due again.
  due_at timestamptz not null,
  attempts integer not null default 0,
  failure text
);
create index deployer_queue_due on deployer_queue (due_at, asked_at);

-- ---------------------------------------------------------------- collecting Solana launches

-- Launches that the collector saw. `launches` says what became of one, where a settlement is
-- imported like any corpus.
create table collected_launches (
  mint text collate "C" primary key,
  -- Who signed the launch; never whom an instruction names.
  deployer text collate "C" not null,
  -- The instruction that launched it.
  made_by text not null,
  signature text not null,
  slot bigint not null,
  launched_at timestamptz not null,
  -- What is known of the launch while it waits is as of this time.
  collected_at timestamptz not null default control_now(),
  -- Set in the transaction that completes the import of its settlement.
  settled boolean not null default false,
  -- When the venue is asked next; the outcome of the last question, while it has not settled.
  due_at timestamptz not null,
  failure text
);
create index collected_launches_deployer on collected_launches (deployer) where not settled;
create index collected_launches_due on collected_launches (due_at) where not settled;

-- How far each watched account was read: everything from `since` on, but for the gaps.
create table launch_cursors (
  watched text primary key,
  since timestamptz not null,
  -- The newest signature that was read; null where the account had none.
  signature text,
  -- Up to when everything was read.
  reached_at timestamptz not null,
  -- How often in a row the next transaction could not be read.
  attempts integer not null default 0
);

-- What was not read, one row for pieces that lie close together.
create table launch_gaps (
  id bigint generated always as identity primary key,
  watched text not null references launch_cursors (watched),
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Seconds that the pieces cover together, each at least one.
  missed_s double precision not null,
  pieces integer not null default 1,
  reason text not null
);
create index launch_gaps_newest on launch_gaps (watched, id);

-- ---------------------------------------------------------------- the rug model and its flags

-- Artefacts of the rug model. An artefact never changes.
create table rug_models (
  version text primary key,
  artefact text not null,
  kept_at timestamptz not null default now()
);

-- The newest publication is in force: an earlier version is put back by publishing it again.
create table rug_model_publications (
  id bigint generated always as identity primary key,
  version text not null references rug_models (version),
  published_at timestamptz not null default now()
);

-- What the model said of each launch, on what was observed of it.
create table launch_scores (
  chain text not null,
  token text not null,
  -- The wallet that launched it.
  address text not null,
  launched_at timestamptz not null,
  -- The time of the observation that was scored.
  observed_at timestamptz not null,
  liquidity_usd double precision check (liquidity_usd >= 0),
  scored_at timestamptz not null,
  model_version text not null,
  -- suppressed: the model flags it, and it is an established token.
  outcome text not null check (outcome in ('flagged', 'passed', 'suppressed', 'unscored')),
  score double precision check (score between 0 and 1),
  -- Of a flag: since when, its strongest evidence as JSON, and its number in the stream.
  first_flagged_at timestamptz,
  top_evidence text,
  flag_seq bigint,
  -- Why it could not be scored.
  reason text,
  primary key (chain, token),
  check ((outcome = 'unscored') = (reason is not null)),
  check ((outcome = 'unscored') = (score is null)),
  check (
    (outcome = 'flagged')
    = (first_flagged_at is not null and top_evidence is not null and flag_seq is not null)
  )
);
create index launch_scores_recent on launch_scores (scored_at);
create index launch_scores_wallet on launch_scores (chain, address);

-- The observation of each wallet whose launches were scored last, and by which model.
create table scored_wallets (
  chain text not null,
  address text not null,
  observed_at timestamptz not null,
  model_version text not null,
  primary key (chain, address)
);

-- The runs of the scorer, each noted when it has ended; of a chain without a run nobody has scored
-- anything.
create table scorer_runs (
  id bigint generated always as identity primary key,
  chain text not null,
  began_at timestamptz not null,
  ended_at timestamptz not null,
  model_version text not null,
  wallets integer not null,
  scored integer not null,
  flagged integer not null,
  suppressed integer not null,
  unscored integer not null,
  retracted integer not null,
  -- Wallets that the run left for the next one.
  waiting integer not null
);
create index scorer_runs_newest on scorer_runs (chain, id);

-- The newest number of the flag stream. Numbers are given without gaps: whoever appends holds this
-- one row until the end of its transaction.
create table flag_log (
  one boolean primary key default true check (one),
  newest bigint not null check (newest > 0)
);

-- The flag stream, in the order in which its events became true.
create table flag_events (
  seq bigint primary key check (seq > 0),
  kind text not null check (kind in ('flag', 'retraction')),
  chain text not null,
  -- The wallet that launched it, and the token.
  address text not null,
  token text not null,
  -- When it was flagged, or taken back.
  at timestamptz not null,
  model_version text not null,
  simulated boolean not null,
  -- Of a flag.
  score double precision check (score between 0 and 1),
  evidence text,
  -- Of a retraction: the number of the flag whose ground is gone, and why it is gone.
  retracts bigint,
  reason text,
  appended_at timestamptz not null,
  check ((kind = 'flag') = (score is not null and evidence is not null)),
  check ((kind = 'retraction') = (retracts is not null and reason is not null)),
  check (retracts < seq)
);
create index flag_events_appended on flag_events (appended_at, seq);

-- ---------------------------------------------------------------- integrations

-- The chats of memberships, and how delivering to each stands.
create table integrations (
  id text primary key,
  membership_id text not null references memberships,
  platform text not null check (platform in ('slack', 'discord', 'telegram')),
  -- Where it posts, as it may be shown: nothing that opens anything.
  place text not null,
  -- What it posts with, sealed; `sealed_by` is the fingerprint of the secret that opens it.
  sealed bytea not null,
  sealed_by text not null,
  -- Which dispatches it gets; null: of every chain, of every address.
  kinds text[] not null,
  chains text[],
  addresses text[],
  created_at timestamptz not null,
  -- When the platform last took a word for it, and when it last said that it will take none.
  verified_at timestamptz,
  broken_at timestamptz,
  -- What kept it from being delivered to; how often in a row; and when it is tried next.
  fault text,
  attempts integer not null default 0,
  due_at timestamptz not null default '-infinity',
  delivered_at timestamptz,
  -- Who delivers to it now: nobody else does until then.
  held_by text not null default '',
  held_until timestamptz not null default '-infinity'
);
create index integrations_of_membership on integrations (membership_id, created_at);

-- The messages that memberships are sent.
create table dispatches (
  id bigint generated always as identity primary key,
  -- Null: of every membership.
  membership_id text references memberships,
  kind text not null check (kind in ('flag', 'watch', 'signal')),
  key text not null,
  chain text,
  address text,
  message jsonb not null,
  appended_at timestamptz not null
);
create unique index dispatches_once on dispatches (coalesce(membership_id, ''), key);
create index dispatches_appended on dispatches (appended_at);

-- The messages that wait to be delivered; a delivered one is gone from here. Numbers of one
-- integration become visible in order, because whoever queues holds its row until the end of the
-- transaction.
create table deliveries (
  id bigint generated always as identity primary key,
  integration_id text not null references integrations on delete cascade,
  dispatch_id bigint not null references dispatches,
  queued_at timestamptz not null,
  -- When and why it was given up.
  dead_at timestamptz,
  reason text,
  check ((dead_at is null) = (reason is null))
);
create index deliveries_waiting on deliveries (integration_id, id) where dead_at is null;
create index deliveries_dead on deliveries (integration_id, id) where dead_at is not null;
create index deliveries_of_dispatch on deliveries (dispatch_id);

-- The newest flag that was dispatched to everybody.
create table flags_dispatched (
  one boolean primary key default true check (one),
  seq bigint not null
);

-- ---------------------------------------------------------------- screening records

-- Answers of screens with the versions that they rest on, kept so that they can be shown and asked
-- again. A record is only ever added, and let go of when its time is over.
create table screening_records (
  id text primary key,
  membership_id text not null references memberships,
  -- The key that asked.
  key_id text not null,
  route text not null check (route in ('wallet_ofac', 'bulk_wallet_screen')),
  -- The request, and the versions of the lists and tables that answered.
  input jsonb not null,
  versions jsonb not null,
  sources jsonb not null,
  code_version text not null,
  -- The answer as text: its hash is over these very characters.
  state text not null,
  answer text not null,
  answer_sha256 text not null check (answer_sha256 ~ '^[0-9a-f]{64}$'),
  made_at timestamptz not null,
  kept_until timestamptz not null check (kept_until > made_at)
);
create index screening_records_of on screening_records (membership_id, made_at desc, id);

-- ---------------------------------------------------------------- the watchlist

-- The addresses that memberships watch, and what was last found of each.
create table watched_addresses (
  id text primary key,
  membership_id text not null references memberships,
  match_key text not null,
  address text not null,
  added_at timestamptz not null,
  -- Grows with each screening that is kept: one that rests on an older state is not.
  revision integer not null default 0,
  -- What each part of the last screening found, when, on which version, and why it was not read.
  parts jsonb not null default '[]',
  -- The versions of lists and tables that it was last held against, and those of its last walk.
  tables_signature text not null default '',
  hops_signature text not null default '',
  hops_at timestamptz not null default '-infinity',
  unique (membership_id, match_key)
);
create index watched_addresses_tables on watched_addresses (tables_signature);
create index watched_addresses_hops on watched_addresses (hops_at);

-- The newest number of each membership's changes: whoever appends holds it until its transaction
-- ends, so that numbers have no gap and become visible in order.
create table watch_logs (
  membership_id text primary key references memberships,
  newest bigint not null check (newest > 0)
);

create table watch_changes (
  membership_id text not null references memberships,
  seq bigint not null check (seq > 0),
  watch_id text not null,
  address text not null,
  part text not null,
  change text not null check (change in ('first_seen', 'entered', 'changed', 'left')),
  -- What was found before and after; null where it had never been read before.
  before jsonb,
  after jsonb not null,
  version_before text,
  version_after text not null,
  -- What else the same screening could not read.
  not_read jsonb not null,
  simulated boolean not null,
  at timestamptz not null,
  primary key (membership_id, seq)
);
create index watch_changes_at on watch_changes (membership_id, at);

-- What each process holds open on account of a credential, and until when that counts. It is told
-- again every ten seconds, so that a server that lost it learns it anew. `turn` grows with all that
-- a process says: of what arrives in another order the last that was said stays.
create unlogged table held_streams (
  process uuid not null,
  holder text not null,
  tier text not null,
  own integer not null check (own >= 0),
  turn bigint not null,
  ends_at timestamptz not null,
  primary key (holder, process)
);
create index held_streams_tier on held_streams (tier);

-- Notes what a process holds of a holder, unless all processes together would hold more than a
-- bound; null is no bound. Processes that ask of one holder take turns.
create function hold_streams(
  of_process uuid, of_holder text, of_tier text, now_own integer, bound integer, now_turn bigint,
  for_ms integer, out granted boolean, out others integer
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(of_holder, 0));
  select coalesce(sum(own), 0) into others from held_streams
    where holder = of_holder and process <> of_process and ends_at > clock_timestamp();
  granted := bound is null or others + now_own <= bound;
  if granted then
    insert into held_streams as held (process, holder, tier, own, turn, ends_at)
      values (of_process, of_holder, of_tier, now_own, now_turn,
        clock_timestamp() + for_ms * interval '1 ms')
      on conflict (holder, process) do update
        set own = excluded.own, turn = excluded.turn, ends_at = excluded.ends_at
        where held.turn < excluded.turn;
  end if;
end $$;
