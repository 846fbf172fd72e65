// Whose clock decides what. Processes may be apart, and the store may be ahead: what follows from
// it is told here, with the test that shows it.

type ClockFacts = {
  /** `store`: PostgreSQL's. `process`: the machine's. `elapsed`: one that is never set. */
  readonly clock: 'store' | 'process' | 'elapsed';
  /** What follows where processes are an hour apart, or the store is a day ahead. */
  readonly apart: string;
  /** A test, as `file: title`. */
  readonly test: string;
};

const CLOCKS_TEST = 'src/clocks.test.ts';

/** What a clock decides. */
export const CLOCKS = {
  'who holds a lease, and its epoch': {
    clock: 'store',
    apart:
      'Clocks of processes decide nothing. A lease that was taken while the store was ahead is ' +
      'free once the store is back; an epoch never goes back.',
    test: `${CLOCKS_TEST}: a lease is the store’s, and outlives no clock that was ahead`,
  },
  'the UTC day or month of an allowance': {
    clock: 'process',
    apart:
      'A request counts on the day of the process that answers it. No day is given more than its ' +
      'limit; for an hour two days are counted. The store’s clock decides nothing.',
    test: `${CLOCKS_TEST}: an allowance has one limit for each day, whosever day it is`,
  },
  'whether a key, session or link is over': {
    clock: 'process',
    apart:
      'A process that is behind takes an expired one so much longer; one that was revoked opens ' +
      'nothing, whatever the time. A process that is ahead refuses early.',
    test: `${CLOCKS_TEST}: a revoked key opens nothing at any time`,
  },
  'the age of the sanctions list': {
    clock: 'store',
    apart:
      'Processes age it alike. While the store is a day ahead, the list is a day older and ' +
      'denies less; a check that was made in the future is none once it is back.',
    test: 'src/sanctions-clock.test.ts: a check made 400 days ahead is none once the clock is back',
  },
  'the age of a chain’s newest block': {
    clock: 'process',
    apart:
      'A process that is ahead denies nothing, since all is too old. One that is behind a block ' +
      'by over 15 minutes tells no age and denies nothing.',
    test: `${CLOCKS_TEST}: a block is no younger for a clock that is behind`,
  },
  'the time of a signature, and which key signs': {
    clock: 'process',
    apart:
      'A signature tells the time of the process that made it, by a key that is published and ' +
      'valid at that time. The client takes no signature of a time to come.',
    test: `${CLOCKS_TEST}: a key signs within its own time, whoever is an hour apart`,
  },
  'when a checkpoint may follow another': {
    clock: 'store',
    apart: 'Nothing. A size is signed once, whatever the time.',
    test: 'src/log-killed.test.ts: a log of four processes that are killed has each number once',
  },
  'when a root may be sent after another': {
    clock: 'process',
    apart:
      'It began by the store’s clock: while the store is ahead it waits longer, never less. A ' +
      'nonce is used once, whatever the time.',
    test: `${CLOCKS_TEST}: a root waits no shorter for a store that is ahead`,
  },
  'when messages, flags, records and queues are due or over': {
    clock: 'store',
    apart:
      'Clocks of processes decide nothing. While the store is a day ahead, what waits for a time ' +
      'comes early, and what is kept for a time goes early.',
    test: `${CLOCKS_TEST}: the control store asks no process for the time of what waits`,
  },
  'how long an answer is remembered, and a provider is left alone': {
    clock: 'elapsed',
    apart: 'Nothing: no clock that can be set is asked.',
    test: 'src/stores/control/keys.test.ts: within two seconds the store is asked once, then again',
  },
} as const satisfies { readonly [decided: string]: ClockFacts };
