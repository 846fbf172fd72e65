// Traffic against several processes at once, with a ledger of what they acknowledged: an answer
// that was read to its end counts, and a line that broke acknowledges nothing.

import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { followStream } from './client/stream.ts';
import type { Lottery } from './testing/lottery.ts';

const ANSWER_MS_MAX = 60_000;

/** An answer that was read to its end; `null`: none came. */
export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
} | null;

export type Question = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
};

/** Asks once. */
export async function askOnce(url: string, { method = 'GET', headers, body }: Question) {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const answer = await fetch(url, {
      method,
      signal,
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  } catch (fault) {
    return { fault: faultOf(fault) };
  }
}

function faultOf(fault: unknown): string {
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' ? code : String(cause);
}

export function bearer(key: string): { readonly [name: string]: string } {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

/** How many answers there were of each status, and of each fault of a line. */
export type Counts = Map<string, number>;

/** What each kind of traffic was answered. */
export type Ledger = ReadonlyMap<string, Counts>;

/** What one kind of traffic does in a round: what it asks, and what it keeps of the answer. */
export type Traffic = {
  readonly name: string;
  readonly everyMs: number;
  readonly path: (n: number) => string;
  readonly question: (n: number) => Question;
  readonly onTold?: (n: number, told: NonNullable<Answered>) => void;
};

/** Traffic that runs until it is ended. `urls` gives who may be asked at a moment. */
export function startTraffic(
  traffic: readonly Traffic[],
  { urls, lottery }: { readonly urls: () => readonly string[]; readonly lottery: Lottery },
) {
  const ledger = new Map<string, Counts>();
  let ended = false;
  const run = async ({ name, everyMs, path, question, onTold }: Traffic) => {
    const counts: Counts = new Map();
    ledger.set(name, counts);
    for (let n = 0; !ended; n += 1) {
      const open = urls();
      if (open.length > 0) {
        const told = await askOnce(`${lottery.oneOf(open)}${path(n)}`, question(n));
        const outcome = 'fault' in told ? told.fault : String(told.status);
        const before = counts.get(outcome);
        counts.set(outcome, before === undefined ? 1 : before + 1);
        if (!('fault' in told)) onTold?.(n, told);
      }
      await wait(everyMs);
    }
  };
  const all = traffic.map(run);
  return {
    ledger: ledger as Ledger,
    end: async () => {
      ended = true;
      await Promise.all(all);
    },
  };
}

type Followed = {
  /** Who may be asked at a moment: a reader whose line breaks goes on at any of them. */
  readonly urls: () => readonly string[];
  readonly lottery: Lottery;
  readonly stream: { readonly path: string; readonly eventsPath: string };
  readonly token: string;
  /** Read by WebSockets, or as server-sent events. */
  readonly bySocket: boolean;
};

const NOBODY_WAIT_MS = 50;

/** Reads a stream from its first number until it is ended, wherever it is served. */
export function startReader({ urls, lottery, stream, token, bySocket }: Followed) {
  const seqs: number[] = [];
  let gaps = 0;
  let moves = 0;
  const refusals: string[] = [];
  const stop = new AbortController();
  const readAt = async (baseUrl: string) => {
    const last = seqs.at(-1);
    const items = followStream<{ readonly type: string; readonly seq: number }>({
      baseUrl,
      stream,
      token,
      since: last === undefined ? 0 : last,
      signal: stop.signal,
      ...(bySocket && { WebSocket }),
    });
    for await (const item of items) {
      if (item.kind === 'event') seqs.push(item.seq);
      if (item.kind === 'gap') gaps += 1;
      if (item.kind === 'stopped') refusals.push(`${item.status} ${JSON.stringify(item.body)}`);
      if (item.kind === 'broken') return;
    }
  };
  const read = async () => {
    for (; !stop.signal.aborted; moves += 1) {
      const open = urls();
      if (open.length > 0) await readAt(lottery.oneOf(open));
      await wait(NOBODY_WAIT_MS * (1 + lottery.share()));
    }
  };
  const done = read();
  return {
    seqs,
    gaps: () => gaps,
    /** How often it went on somewhere. */
    moves: () => moves,
    /** What it was refused for good. */
    refusals,
    end: async () => {
      stop.abort();
      await done;
    },
  };
}

/** A reader of a stream. */
export type Reader = ReturnType<typeof startReader>;
