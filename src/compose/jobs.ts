// Every job that runs without being asked: how it is kept to one of all processes, and what a
// process that was paused in it can still do once it wakes up. `Job` takes no other name.

/**
 * `lease with epoch`: one holder, and each write checks its epoch in its own transaction. `lease`:
 * one holder, whose late writes are facts that come out the same. `row lock`: whoever locks a row
 * works on it. `unique key`: all may work, and one write counts. `each process`: for itself.
 */
type Keeping = 'lease with epoch' | 'lease' | 'row lock' | 'unique key' | 'each process';

type JobFacts = {
  readonly kept: Keeping;
  /** The lease, or the tables that keep it to one. */
  readonly by: string;
  /** Seconds until work of a lost process is free for others; `null`: nothing has to be freed. */
  readonly freeAfterS: number | null;
  /** Seconds between two looks of a process that does not do the work; `null`: it never looks. */
  readonly looksEachS: number | null;
  readonly late: string;
};

const NOTHING = 'It writes nothing: each write checks the epoch of the lease in its transaction.';

/** The jobs, by the names under which features start them. */
export const JOBS = {
  anchoring: {
    kept: 'lease with epoch',
    by: 'anchoring',
    freeAfterS: 120,
    looksEachS: 15,
    late: `${NOTHING} It may send again what was kept before, which a node takes once.`,
  },
  'calls of detectors': {
    kept: 'lease with epoch',
    by: 'emitted calls',
    freeAfterS: 600,
    looksEachS: 60,
    late: `${NOTHING} Candles that it had asked for are kept, the same whoever asks.`,
  },
  'chat-deliveries': {
    kept: 'row lock',
    by: 'integrations',
    freeAfterS: 60,
    looksEachS: 1,
    late:
      'It posts nothing in the last half of its hold. A post that was under way may come twice; ' +
      'it then notes the delivery and leaves the queue to its holder.',
  },
  'chat-flags': {
    kept: 'unique key',
    by: 'flags_dispatched, dispatches',
    freeAfterS: null,
    looksEachS: 1,
    late: 'Nothing: a step counts only from the place where it began.',
  },
  deployers: {
    kept: 'row lock',
    by: 'deployer_queue',
    freeAfterS: 960,
    looksEachS: 2,
    late: 'It commits its walk only over an older one.',
  },
  'edge candles': {
    kept: 'lease',
    by: 'edge candles',
    freeAfterS: 600,
    looksEachS: 600,
    late: 'It keeps candles that it had asked for: the same rows, whoever asks.',
  },
  'edge threads': {
    kept: 'each process',
    by: 'memory of the process',
    freeAfterS: null,
    looksEachS: null,
    late: 'Nothing: its threads answer the process that started them.',
  },
  'flag-events': {
    kept: 'each process',
    by: 'flag_log',
    freeAfterS: null,
    looksEachS: 60,
    late: 'It deletes flags past their age, whoever does.',
  },
  following: {
    kept: 'lease with epoch',
    by: 'follow <chain>',
    freeAfterS: 60,
    looksEachS: 10,
    late: 'Nothing that counts: the warehouse reads rows of the greatest claimed epoch alone.',
  },
  'launch collection': {
    kept: 'unique key',
    by: 'launch_cursors, collected_launches',
    freeAfterS: null,
    looksEachS: 20,
    late: 'Nothing: a page counts only from the place where it began, and a launch once.',
  },
  'launch settlement': {
    kept: 'row lock',
    by: 'collected_launches',
    freeAfterS: 1_800,
    looksEachS: 600,
    late: 'It imports what the venue told it: a launch is settled once, the last word stands.',
  },
  'leaked keys': {
    kept: 'row lock',
    by: 'leak_reports',
    freeAfterS: null,
    looksEachS: 1,
    late: 'Nothing: it takes reports and ends their keys in one transaction, or none of both.',
  },
  observing: {
    kept: 'lease',
    by: 'observations',
    freeAfterS: 120,
    looksEachS: 15,
    late:
      'It may keep the round that it had read: rows under the time at which the venue was read. ' +
      'Then it forgets what it remembers.',
  },
  'provider calls': {
    kept: 'lease',
    by: 'provider calls',
    freeAfterS: 180,
    looksEachS: 60,
    late: 'It ends one question that is still due: a question is ended once, a call is kept once.',
  },
  refresh: {
    kept: 'unique key',
    by: 'sanctions_current',
    freeAfterS: null,
    looksEachS: 3_600,
    late: 'Nothing: a list replaces only the one that it was weighed against.',
  },
  ring: {
    kept: 'each process',
    by: 'memory of the process',
    freeAfterS: null,
    looksEachS: 300,
    late: 'It reads the ring anew.',
  },
  'ring read ahead': {
    kept: 'lease',
    by: 'ring',
    freeAfterS: 300,
    looksEachS: 300,
    late: 'It keeps slices of settled blocks that it had read, and counts its calls.',
  },
  rugs: {
    kept: 'unique key',
    by: 'launch_scores, flag_log',
    freeAfterS: null,
    looksEachS: 30,
    late: 'Nothing: a wallet is scored only over an older observation, a flag numbered once.',
  },
  signals: {
    kept: 'lease with epoch',
    by: 'signals',
    freeAfterS: 120,
    looksEachS: 15,
    late: NOTHING,
  },
  'signing keys': {
    kept: 'unique key',
    by: 'an advisory lock, signing_keys',
    freeAfterS: null,
    looksEachS: 600,
    late: 'Nothing: which key is due is decided under the lock.',
  },
  'store marks': {
    kept: 'each process',
    by: 'store_marks',
    freeAfterS: null,
    looksEachS: 5,
    late: 'It keeps in its own file what it saw, and notes once that a mark of it is gone.',
  },
  traders: {
    kept: 'row lock',
    by: 'trader_queue',
    freeAfterS: 660,
    looksEachS: 2,
    late: 'Its time is over when it wakes: it notes a failed attempt and keeps no analysis.',
  },
  'transparency log': {
    kept: 'unique key',
    by: 'an advisory lock, log_checkpoints',
    freeAfterS: null,
    looksEachS: 5,
    late: 'Nothing: a size is signed once, under the lock.',
  },
  watchlist: {
    kept: 'lease with epoch',
    by: 'watchlist',
    freeAfterS: 60,
    looksEachS: 5,
    late: NOTHING,
  },
  'watchlist walks': {
    kept: 'lease with epoch',
    by: 'watchlist walks',
    freeAfterS: 60,
    looksEachS: 5,
    late: NOTHING,
  },
} as const satisfies { readonly [name: string]: JobFacts };

export type JobName = keyof typeof JOBS;
