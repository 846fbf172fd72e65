-- What the service spent on its own account, by UTC day: calls outside for signals, and millionths
-- of a US dollar for the language model. An amount is counted before it is spent.

create table day_spending (
  what text not null,
  day date not null,
  spent bigint not null check (spent >= 0),
  primary key (what, day)
);
