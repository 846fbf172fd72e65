// Answers one question: how do processes call and count each other over a Redis server?
// Calls go through a Redis Stream, counts through hashes whose entries end by themselves. A server
// that is away is silence: calls are made good by those who look, and counts are told again.

import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import { listFrom } from '../../evidence/measure.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Bus, BusPort, Held } from '../../ports/streams.ts';

/** Where the server is, and what of it belongs to this deployment. */
export type RedisBusOptions = {
  readonly url: string;
  /** Deployments that share a server have different ones. */
  readonly deployment: string;
  readonly onFault: (fault: string) => void;
};

/** How long an answer is waited for. */
const ANSWER_MS = 1_000;
const CONNECT_MS = 2_000;
/** A connection on which nothing moves for this long, pings included, is opened anew. */
const IDLE_MS = 15_000;
const PING_MS = 4_000;
const RECONNECT_MS_MAX = 1_000;
/** How long the server waits for a call before it says that there was none. */
const BLOCK_MS = 5_000;
/** What a process holds is forgotten after so long, and told again this often. */
const HELD_MS = 30_000;
const TELL_MS = 10_000;
/** Calls are kept for a moment only: who missed them looks by itself. */
const CALLS_KEPT = 100;
const NO_BOUND = -1;

// An entry is a process's count and the time to which it counts, by the server's own clock.
const SUM = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function others(key)
  local sum = 0
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local count, ends = string.match(all[i + 1], '^(%d+) (%d+)$')
    if tonumber(ends) < now then redis.call('HDEL', key, all[i])
    elseif all[i] ~= ARGV[1] then sum = sum + tonumber(count) end
  end
  return sum
end`;
const OTHERS = `${SUM}
return others(KEYS[1])`;
const HOLD = `${SUM}
local function note(key, own)
  local ends = now + tonumber(ARGV[5])
  if own == '0' then redis.call('HDEL', key, ARGV[1])
  else redis.call('HSET', key, ARGV[1], own .. ' ' .. string.format('%d', ends)) end
  redis.call('PEXPIRE', key, ARGV[5])
end
local sum = others(KEYS[1])
local max = tonumber(ARGV[4])
if max >= 0 and sum + tonumber(ARGV[2]) > max then return {0, sum} end
note(KEYS[1], ARGV[2])
note(KEYS[2], ARGV[3])
return {1, sum}`;

const count = z.number().int().nonnegative();
const holdSaid = z.tuple([count, count]);

/** Joins the bus at once, whether or not the server is there. */
export function redisBus({ url, deployment, onFault }: RedisBusOptions): Bus {
  const process = randomUUID();
  // One hash slot holds all keys, so that a cluster takes the scripts too.
  const keyOf = (what: string) => `exhibit:{${deployment}}:${what}`;
  const calls = keyOf('calls');
  const asking = connect(url, onFault);
  const hearing = connect(url, () => undefined);
  const listening = new Set<() => void>();
  const held = heldHere();
  const callHere = () => {
    for (const call of listening) call();
  };
  const ask = async <T>(question: () => Promise<T>): Promise<Reading<T, BusPort>> => {
    if (!asking.isReady) return silent('it cannot be reached');
    try {
      return read(await within(ANSWER_MS, question()), { port: 'bus', source: sourceOf(url) });
    } catch (fault) {
      return silent(codeOf(fault));
    }
  };
  const hold = ({ holder, tier, own }: Held, max: number | null) =>
    ask(async () => {
      const bound = max === null ? NO_BOUND : max;
      const said = await asking.eval(HOLD, {
        keys: [keyOf(`held:${holder}`), keyOf(`tier:${tier}`)],
        arguments: [process, own, held.ofTier(tier), bound, HELD_MS].map(String),
      });
      const [granted, others] = holdSaid.parse(said);
      return { granted: granted === 1, others };
    });
  const tellAgain = () => {
    for (const one of held.all()) void hold(one, null);
  };
  const timer = setInterval(tellAgain, TELL_MS);
  timer.unref();
  // A server that comes back may know nothing.
  asking.on('ready', tellAgain);
  const ending = new AbortController();
  const heard = hear(hearing, calls, callHere, ending.signal);
  return {
    kind: 'redis_streams',
    callAll: () => {
      callHere();
      void ask(() => asking.xAdd(calls, '*', { by: process }, { TRIM: KEPT }));
    },
    listen: (call) => {
      listening.add(call);
      return () => listening.delete(call);
    },
    hold: (one, max) => {
      held.note(one);
      return hold(one, max);
    },
    others: (tier) =>
      ask(async () => {
        const keys = [keyOf(`tier:${tier}`)];
        return count.parse(await asking.eval(OTHERS, { keys, arguments: [process] }));
      }),
    close: async () => {
      clearInterval(timer);
      ending.abort();
      for (const one of [asking, hearing]) if (one.isOpen) one.destroy();
      await heard;
    },
  };
}

const KEPT = { strategy: 'MAXLEN', strategyModifier: '~', threshold: CALLS_KEPT } as const;

/** What this process holds, so that it can be told again. */
function heldHere() {
  const byHolder = new Map<string, Held>();
  return {
    all: () => byHolder.values(),
    ofTier: (tier: string): number => {
      let sum = 0;
      for (const one of byHolder.values()) if (one.tier === tier) sum += one.own;
      return sum;
    },
    note: (one: Held): void => {
      if (one.own === 0) byHolder.delete(one.holder);
      else byHolder.set(one.holder, one);
    },
  };
}

type Connection = ReturnType<typeof connect>;

function connect(url: string, onFault: (fault: string) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: IDLE_MS,
      reconnectStrategy: (retries) => Math.min(RECONNECT_MS_MAX, 50 * 2 ** Math.min(retries, 10)),
    },
  });
  // It connects anew by itself; without a listener its faults would end the process.
  client.on('error', (fault: unknown) => onFault(codeOf(fault)));
  client.connect().catch(() => undefined);
  return client;
}

/** Waits for calls until the signal ends it; where it cannot, it tries again a little later. */
async function hear(
  client: Connection,
  calls: string,
  call: () => void,
  signal: AbortSignal,
): Promise<void> {
  let last: string | null = null;
  while (!signal.aborted) {
    const heard: readonly string[] | null = await callsAfter(client, calls, last).catch(() => null);
    if (heard === null) await pause(RECONNECT_MS_MAX, signal);
    else if (heard.length > 0) {
      if (last !== null) call();
      for (const id of heard) last = id;
    }
  }
}

/** The ids of the calls after one; of none that is known, where to begin. */
async function callsAfter(
  client: Connection,
  key: string,
  last: string | null,
): Promise<readonly string[]> {
  if (last === null) {
    const newest = await client.xRevRange(key, '+', '-', { COUNT: 1 });
    return [BEFORE_ALL, ...listFrom(newest, (all) => all.map(idOf))];
  }
  const said = callsSaid.parse(await client.xRead({ key, id: last }, { BLOCK: BLOCK_MS }));
  return listFrom(said, (streams) => streams.flatMap(({ messages }) => messages.map(idOf)));
}

const BEFORE_ALL = '0';
const message = z.object({ id: z.string() });
const callsSaid = z.array(z.object({ messages: z.array(message) })).nullable();
const idOf = ({ id }: z.output<typeof message>) => id;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** The answer, unless it takes too long: a server that is stopped answers nothing. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it did not answer in time')), ms);
  });
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function silent(fault: string) {
  return unread<BusPort>('bus', why('store_unreadable', { what: 'The bus', fault }));
}

function sourceOf(url: string) {
  const { protocol, host } = new URL(url);
  const as_of = Math.floor(Date.now() / MS_PER_S);
  return {
    name: 'Bus',
    url: `${protocol}//${host}`,
    as_of,
    kind: 'observation',
    simulated: false,
  } as const;
}

/** What of a fault may be logged: a code, and nothing that names the server. */
function codeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'it failed';
  return 'code' in fault && typeof fault.code === 'string' ? fault.code : fault.name;
}
