-- A new key until the page that shows it once was asked for: sealed, for the session that made it.
create table unshown_keys (
  id text primary key,
  session_id text not null references sessions on delete cascade,
  sealed bytea not null,
  sealed_by text not null,
  expires_at timestamptz not null
);
create index unshown_keys_of_session on unshown_keys (session_id);

-- The browser that a code opens in, as the hash of its cookie: the first that signed in by it. Null
-- until then, and again once the platform tells another code.
alter table sign_in_codes add column browser_hash bytea;
