-- Every token that a session had before the one in force. Whoever sends one of them after the
-- overlap copied it.
create table replaced_session_tokens (
  hash bytea primary key,
  session_id text not null references sessions on delete cascade
);
create index replaced_session_tokens_of on replaced_session_tokens (session_id);

insert into replaced_session_tokens (hash, session_id)
  select distinct on (previous_hash) previous_hash, id from sessions
  where previous_hash is not null;
drop index sessions_previous;
alter table sessions drop column previous_hash;

-- When the token in force was first used, so that its browser has it for sure; null until then.
alter table sessions add column taken_up_at timestamptz;
update sessions set taken_up_at = renewed_at;

-- What the session was last used from, in short; null of what an earlier version kept.
alter table sessions add column browser text;
alter table sessions add column network text;
create index sessions_of_membership on sessions (membership_id);

-- `service`: what ended a session because an old token of it was sent again.
alter table access_changes drop constraint access_changes_by_whom_check;
alter table access_changes add constraint access_changes_by_whom_check
  check (by_whom in ('operator', 'member', 'service'));
alter table access_changes drop constraint access_changes_change_check;
alter table access_changes add constraint access_changes_change_check check (change in
  ('key_created', 'key_replaced', 'key_revoked', 'signed_in', 'signed_out', 'session_ended',
   'session_replayed', 'integration_connected', 'integration_removed'));
