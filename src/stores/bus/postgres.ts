// Notifies and counts processes over the PostgreSQL server of their control store. A call is a
// notification without content; counts are rows that expire. A server that is away is silence:
// polling replaces missed calls, and counts are written again.

import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { MS_PER_S } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME } from '../../evidence/waiting.ts';
import { type Bus, type BusPort, type HeldStreams, heldTogether } from '../../ports/streams.ts';
import { columnsOf, type Database, onlyRow, StoreUnavailable } from '../control/engine/database.ts';

/** The control store, and the URL of its server, for the connection that listens. */
export type PostgresBusOptions = {
  readonly database: Database;
  readonly url: string;
  readonly onFault: (fault: string) => void;
};

const othersRow = heldTogether.pick({ others: true });

/** A channel belongs to one database, and a database to one deployment. */
const CHANNEL = 'exhibit_calls';
/** How long an answer is waited for. */
const ANSWER_MS = 1_000;
const CONNECT_MS = 2_000;
/** A connection that answers no ping is opened anew. */
const PING_MS = 4_000;
const RECONNECT_MS = 1_000;
/** The counts of a process expire after this time, and are written again at this interval. */
const HELD_MS = 30_000;
const TELL_MS = 10_000;

const HOLD = 'select granted, others from hold_streams($1, $2, $3, $4, $5, $6, $7)';
const OTHERS = `select coalesce(sum(own), 0)::integer as others from held_streams
  where tier = $1 and process <> $2::uuid and ends_at > clock_timestamp()`;
const TELL = `insert into held_streams as held (process, holder, tier, own, turn, ends_at)
  select $1::uuid, holder, tier, own, $5, clock_timestamp() + $6::integer * interval '1 ms'
  from unnest($2::text[], $3::text[], $4::integer[]) as one (holder, tier, own)
  on conflict (holder, process) do update
    set own = excluded.own, turn = excluded.turn, ends_at = excluded.ends_at
    where held.turn < excluded.turn`;
const FORGET = 'delete from held_streams where ends_at < clock_timestamp()';

/** Joins the bus at once, whether or not the server is there. */
export function postgresBus({ database, url, onFault }: PostgresBusOptions): Bus {
  const process = randomUUID();
  const { protocol, host } = new URL(url);
  const listeners = new Set<() => void>();
  const held = new Map<string, HeldStreams>();
  // Statements of one process go over several connections, and may arrive in another order.
  let turn = 0;
  const callHere = () => {
    for (const call of listeners) call();
  };
  const ask = async <T>(question: () => Promise<T>): Promise<Reading<T, BusPort>> => {
    if (!connection.isListening()) return silent('it cannot be reached');
    try {
      // A server that is stopped answers nothing.
      const answer = await inTime(question, AbortSignal.timeout(ANSWER_MS));
      if (answer === OUT_OF_TIME) return silent('it did not answer in time');
      const as_of = Math.floor(Date.now() / MS_PER_S);
      return read(answer, {
        port: 'bus',
        source: {
          name: 'Bus',
          url: `${protocol}//${host}`,
          as_of,
          kind: 'observation',
          simulated: false,
        },
      });
    } catch (fault) {
      return silent(fault instanceof StoreUnavailable ? fault.code : nameOf(fault));
    }
  };
  const tellAgain = async () => {
    await database.query(FORGET);
    const all = [...held.values()];
    if (all.length === 0) return;
    turn += 1;
    const columns = columnsOf(all, ['holder', 'tier', 'own']);
    await database.query(TELL, [process, ...columns, turn, HELD_MS]);
  };
  // A server that comes back may know nothing.
  const connection = listenOn(url, {
    onReady: () => void ask(tellAgain),
    onCall: (by) => {
      if (by !== process) callHere();
    },
    onFault,
  });
  const timer = setInterval(() => void ask(tellAgain), TELL_MS);
  timer.unref();
  return {
    kind: 'postgres',
    callAll: () => {
      callHere();
      void ask(() => database.query('select pg_notify($1, $2)', [CHANNEL, process]));
    },
    listen: (call) => {
      listeners.add(call);
      return () => listeners.delete(call);
    },
    hold: (one, max) => {
      const { holder, tier, own } = one;
      if (own === 0) held.delete(holder);
      else held.set(holder, one);
      turn += 1;
      const params = [process, holder, tier, own, max, turn, HELD_MS];
      return ask(async () => heldTogether.parse(onlyRow(await database.query(HOLD, params))));
    },
    others: (tier) =>
      ask(async () => {
        const rows = await database.query(OTHERS, [tier, process]);
        return othersRow.parse(onlyRow(rows)).others;
      }),
    close: async () => {
      clearInterval(timer);
      await connection.close();
    },
  };
}

type Ears = {
  readonly onReady: () => void;
  /** Told who called. */
  readonly onCall: (by: string | undefined) => void;
  readonly onFault: (fault: string) => void;
};

/** Listens on a connection of its own, which is opened anew where it breaks or falls silent. */
function listenOn(url: string, { onReady, onCall, onFault }: Ears) {
  let closed = false;
  let listening: Client | null = null;
  let newest: Client;
  let later: NodeJS.Timeout | undefined;
  const open = () => {
    const one = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'exhibit bus',
    });
    newest = one;
    let ended = false;
    const end = (fault: unknown) => {
      if (ended) return;
      ended = true;
      clearInterval(ping);
      if (listening === one) listening = null;
      // A closed connection does not say goodbye.
      one.end().catch(() => undefined);
      if (closed) return;
      onFault(nameOf(fault));
      later = setTimeout(open, RECONNECT_MS);
    };
    const ping = setInterval(() => void one.query('select 1').catch(end), PING_MS);
    one.on('error', end);
    one.on('end', () => end(new Error('the connection ended')));
    one.on('notification', ({ payload }) => onCall(payload));
    one
      .connect()
      .then(() => one.query(`listen ${CHANNEL}`))
      .then(() => {
        if (ended) return;
        listening = one;
        onReady();
      })
      .catch(end);
  };
  open();
  return {
    isListening: () => listening !== null,
    close: async () => {
      closed = true;
      clearTimeout(later);
      await newest.end().catch(() => undefined);
    },
  };
}

function silent(fault: string) {
  return unread<BusPort>('bus', why('store_unreadable', { what: 'The bus', fault }));
}

/** The part of a fault that may be logged: a code, and nothing that names the server. */
function nameOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'it failed';
  return 'code' in fault && typeof fault.code === 'string' ? fault.code : fault.name;
}
