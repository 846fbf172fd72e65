-- The keys with which this deployment signs what it says. The public part stays for ever. The
-- private part is sealed, and is erased once the key signs no more.
create table signing_keys (
  kid text collate "C" primary key,
  -- The public key: 32 bytes in base64url.
  x text not null,
  sealed bytea,
  sealed_by text,
  nbf timestamptz not null,
  exp timestamptz not null,
  made_at timestamptz not null,
  check (nbf < exp),
  check ((sealed is null) = (sealed_by is null))
);

-- From when on somebody else may have held a key. The earliest time counts.
create table signing_key_compromises (
  id bigint generated always as identity primary key,
  kid text collate "C" not null references signing_keys (kid),
  since timestamptz not null,
  marked_at timestamptz not null,
  reason text not null
);
create index signing_key_compromises_kid on signing_key_compromises (kid);
