-- Work that one process at a time may do, and until when whoever does it has said that it goes on.
create table leases (
  name text primary key,
  holder text not null,
  held_until timestamptz not null
);
