// Flags and retractions of the tests, and how they come into a log.

import type { FlagEvent, NewFlag, NewFlagEvent, NewRetraction } from '../ports/rug-flags.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { appendFlagEvents, flagEventLog } from '../stores/control/rug-flags.ts';
import { STILL_NOW } from './clock.ts';

/** A flag of a token, whose address is as long as it has to be. */
export function flagOf(n: number, given: Partial<NewFlag> = {}): NewFlag {
  return {
    kind: 'flag',
    chain: 'ethereum',
    address: `0x${String(n).padStart(40, '0')}`,
    token: `0x${String(n).padStart(40, 'a')}`,
    score: 0.93,
    evidence: 'Of 14 earlier launches of its deployer 13 died.',
    deployer_history: 'settled',
    model_version: 'rug-1',
    flagged_at: STILL_NOW,
    simulated: false,
    ...given,
  };
}

/** The retraction of a flag that was told under a number. */
export function retractionOf(retracts: number, { chain, address, token }: NewFlag): NewRetraction {
  return {
    kind: 'retraction',
    chain,
    address,
    token,
    model_version: 'rug-1',
    simulated: false,
    retracts,
    reason: 'The block of its creation left the chain.',
    retracted_at: STILL_NOW + 60,
  };
}

/** Appends in a transaction of its own, and tells the number of the first. */
export function append(database: Database, events: readonly NewFlagEvent[]): Promise<number> {
  const [first, ...rest] = events;
  if (first === undefined) throw new Error('test: nothing to append');
  return database.transaction((session) => appendFlagEvents(session, [first, ...rest]));
}

/** The log over a control store of the tests. */
export function flagEventsIn(database: Database) {
  return flagEventLog(database, { simulated: false, nowMs: () => STILL_NOW * 1_000 });
}

/** An event of a launch: a flag, or the end of one. */
type LaunchEvent = Exclude<FlagEvent, { readonly kind: 'withdrawal' }>;

/** Every event of a launch after a number. */
export async function eventsAfter(database: Database, seq: number): Promise<LaunchEvent[]> {
  const all = await allEventsAfter(database, seq);
  return all.filter((event): event is LaunchEvent => event.kind !== 'withdrawal');
}

/** Every event after a number, chunk by chunk. */
export async function allEventsAfter(database: Database, seq: number): Promise<FlagEvent[]> {
  const log = flagEventsIn(database);
  const found: FlagEvent[] = [];
  for (let at = seq; ; ) {
    const chunk = await log.after(at);
    if (!chunk.checked) throw new Error(chunk.why.reason);
    const { events } = chunk.value;
    found.push(...events);
    const last = events.at(-1);
    if (last === undefined) return found;
    at = last.seq;
  }
}

/** The build, where a child process finds what it runs. */
export const DIST = new URL('../../dist/', import.meta.url).href;

/**
 * The program of an appending process: from one to five events at a time, of which every fourth
 * time is undone. It prints the number of the last stored event. Its arguments are the build and
 * the store (a directory, or the URL of a server, over which it notifies the others).
 */
export const APPENDER = `
const [dist, store] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openPglite } = await load('stores/control/engine/pglite.js');
const { openPostgres } = await load('stores/control/engine/postgres.js');
const { appendFlagEvents } = await load('stores/control/rug-flags.js');
const { postgresBus } = await load('stores/bus/postgres.js');
const isServer = store.startsWith('postgres');
const database = isServer ? openPostgres(store) : await openPglite(store);
const bus = isServer ? postgresBus({ database, url: store, onFault: () => {} }) : null;
const flag = (n) => ({
  kind: 'flag', chain: n % 2 === 0 ? 'base' : 'solana', address: '0x' + String(n).padStart(40, '0'),
  token: '0x' + String(n).padStart(40, 'a'), deployer_history: null,
  score: 0.9, evidence: 'One of many.', model_version: 'rug-1', simulated: false,
  flagged_at: Math.floor(Date.now() / 1000),
});
for (let n = 1; ; n += 1) {
  const events = Array.from({ length: 1 + n % 5 }, (_, i) => flag(n + i));
  const undone = n % 4 === 0;
  try {
    const first = await database.transaction(async (session) => {
      const seq = await appendFlagEvents(session, events);
      if (undone) throw new Error('undone');
      return seq;
    });
    console.log(first + events.length - 1);
    bus?.callAll();
  } catch (error) {
    if (!undone) throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
}
`;
