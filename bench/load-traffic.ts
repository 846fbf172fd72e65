// Asks a service as a process of its own. Requests come at their times whether or not the ones
// before were answered, and each is timed from the moment at which it was due, so that what waits
// is counted. Streams are read meanwhile, and every number of theirs is kept.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, Pool, setGlobalDispatcher } from 'undici';
import { z } from 'zod';
import type { OpenapiDocument } from '../src/contract/openapi.ts';
import { flagStreamRoute } from '../src/features/flag-stream/flag-stream.route.ts';
import { watchStream } from '../src/features/watchlist/watch-stream.route.ts';
import { type Reader, startReader } from '../src/fleet-load.suite.ts';
import { type Lottery, lotteryOf } from '../src/testing/lottery.ts';
import { latenciesOf } from './latencies.ts';
import { answerJudge, type Refused } from './load-judge.ts';
import { type Callers, type MixKind, mixOf } from './load-mix.ts';

export type TrafficOrder =
  | { readonly kind: 'open'; readonly base: string; readonly callers: Callers; streams: number }
  | { readonly kind: 'run'; readonly rate: number; readonly seconds: number }
  /** Reads back what was acknowledged, and waits until all streams have all numbers. */
  | { readonly kind: 'settle' };

/** The requests of one route in a run. Times are in milliseconds, from when each was due. */
export type RouteRow = {
  readonly name: string;
  readonly sent: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** How many there were of each status; a line that broke has the name of its fault. */
  readonly outcomes: { readonly [outcome: string]: number };
};

export type RunResult = {
  readonly rows: readonly RouteRow[];
  readonly all: RouteRow;
  /** Those of all that were not refused. */
  readonly answered: RouteRow;
  readonly seconds: number;
  readonly refused: readonly Refused[];
  /** Answers that nothing declares, and what was denied that had been acknowledged. */
  readonly undeclared: readonly string[];
  readonly denied: readonly string[];
  /** How late this process itself was, p99 in milliseconds. */
  readonly late_ms: number;
};

export type SettleResult = {
  readonly denied: readonly string[];
  readonly watches: number;
  readonly records: number;
  readonly streams: number;
  readonly events: number;
  readonly moves: number;
  readonly stream_refusals: readonly string[];
  /** Streams that lack a number, or have one twice. */
  readonly lost: readonly string[];
};

const SOCKETS_MAX = 6_000;
const ANSWER_MS_MAX = 60_000;
const TICK_MS = 2;
const NAMED_MAX = 20;
const SETTLED_MS_MAX = 60_000;
const RECORDS_READ_BACK = 200;
/** A stream in so many reads the changes of a watchlist; the others read flags. */
const WATCHERS_EACH = 2;
const OPENED_TOGETHER = 50;
const MS_PER_S = 1_000;
const NS_PER_MS = 1e6;
/** An outcome that is no refusal. */
const ANSWERED = /^[23]\d\d/;

type Stream = { readonly reader: Reader; readonly of: string };

type Opened = {
  readonly base: string;
  readonly pool: Pool;
  readonly callers: Callers;
  readonly lottery: Lottery;
  readonly mix: ReturnType<typeof mixOf>;
  readonly judge: ReturnType<typeof answerJudge>;
  readonly streams: readonly Stream[];
};

async function open(base: string, callers: Callers, streams: number): Promise<Opened> {
  // The streams of server-sent events are read by `fetch`.
  setGlobalDispatcher(new Agent({ connections: null, bodyTimeout: 0 }));
  const pool = new Pool(base, {
    connections: SOCKETS_MAX,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
  });
  const lottery = lotteryOf(31);
  const served = await pool.request({ method: 'GET', path: '/openapi.json' });
  const document: unknown = JSON.parse(await served.body.text());
  const opened: Stream[] = [];
  for (let n = 0; n < streams; n += 1) {
    const isWatcher = n % WATCHERS_EACH === 0;
    const token = isWatcher
      ? String(callers.keys[Math.floor(n / WATCHERS_EACH) % callers.keys.length])
      : callers.token;
    const stream = isWatcher ? watchStream : flagStreamRoute;
    // A key stands in no URL, so that it opens no WebSocket as a browser opens it.
    const bySocket = n % (2 * WATCHERS_EACH) === 1;
    const how = { urls: () => [base], lottery: lotteryOf(n), bySocket };
    opened.push({ reader: startReader({ ...how, stream, token }), of: token });
    if (n % OPENED_TOGETHER === 0) await sleep(OPENED_TOGETHER);
  }
  const judge = answerJudge(document as OpenapiDocument);
  return { base, pool, callers, lottery, judge, streams: opened, mix: mixOf(callers, lottery) };
}

type Tally = {
  readonly taken: number[];
  readonly answered: number[];
  readonly outcomes: Map<string, number>;
};

function tallies(kinds: readonly MixKind[]) {
  const of = new Map<string, Tally>(
    kinds.map(({ name }) => [name, { taken: [], answered: [], outcomes: new Map() }]),
  );
  const note = (name: string, ms: number, outcome: string) => {
    const tally = of.get(name);
    if (tally === undefined) throw new Error(`${name} is no kind`);
    tally.taken.push(ms);
    if (ANSWERED.test(outcome)) tally.answered.push(ms);
    const before = tally.outcomes.get(outcome);
    tally.outcomes.set(outcome, before === undefined ? 1 : before + 1);
  };
  return { of, note };
}

function rowOf(name: string, taken: readonly number[], outcomes: Tally['outcomes']): RouteRow {
  const { p50, p95, p99, max } = latenciesOf(taken, 1);
  const counted = Object.fromEntries([...outcomes].sort());
  return { name, sent: taken.length, p50, p95, p99, max, outcomes: counted };
}

async function run(opened: Opened, rate: number, seconds: number): Promise<RunResult> {
  const { pool, mix, judge, lottery } = opened;
  const { of, note } = tallies(mix.kinds);
  const denied: string[] = [];
  const findings = judge.begin();
  const under = new Set<Promise<void>>();
  const send = async (kind: MixKind, dueMs: number) => {
    const { onAnswer, ...request } = kind.make();
    let outcome: string;
    try {
      const answer = await pool.request(request);
      const body = await answer.body.text();
      const type = String(answer.headers['content-type']);
      outcome = findings.look(kind, { status: answer.statusCode, type, body });
      const denial = onAnswer?.(answer.statusCode, body);
      if (typeof denial === 'string') denied.push(`${kind.name}: ${denial}: ${body.slice(0, 200)}`);
    } catch (fault) {
      outcome = String(Object(fault).code ?? fault);
    }
    note(kind.name, performance.now() - dueMs, outcome);
  };
  const loop = monitorEventLoopDelay({ resolution: TICK_MS });
  loop.enable();
  const began = performance.now();
  const until = began + seconds * MS_PER_S;
  // The times between arrivals are drawn, as those of callers who know nothing of each other.
  const gapMs = () => (-Math.log(1 - lottery.share()) * MS_PER_S) / rate;
  let dueMs = began + gapMs();
  while (dueMs < until) {
    for (const now = performance.now(); dueMs <= now && dueMs < until; dueMs += gapMs()) {
      const sent = send(mix.draw(), dueMs);
      under.add(sent);
      void sent.then(() => under.delete(sent));
    }
    await sleep(TICK_MS);
  }
  await Promise.all(under);
  loop.disable();
  const rows = [...of].map(([name, { taken, outcomes }]) => rowOf(name, taken, outcomes));
  const together = new Map<string, number>();
  for (const { outcomes } of of.values()) {
    for (const [name, count] of outcomes) together.set(name, count + (together.get(name) ?? 0));
  }
  const takenOf = (which: 'taken' | 'answered') => [...of.values()].flatMap((one) => one[which]);
  const answered = new Map([...together].filter(([outcome]) => ANSWERED.test(outcome)));
  return {
    rows: rows.filter(({ sent }) => sent > 0),
    all: rowOf('all', takenOf('taken'), together),
    answered: rowOf('answered of all', takenOf('answered'), answered),
    seconds: (performance.now() - began) / MS_PER_S,
    ...findings.found(),
    denied: denied.slice(0, NAMED_MAX),
    late_ms: loop.percentile(99) / NS_PER_MS,
  };
}

const page = z.looseObject({
  watched: z.array(z.looseObject({ id: z.string() })),
  next_after: z.string().nullable(),
});
const sequence = z.looseObject({ next_since: z.number(), changes: z.array(z.unknown()) });

async function readJson(opened: Opened, path: string, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await opened.pool.request({ method: 'GET', path, headers });
  const body = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${body}`);
  return JSON.parse(body);
}

async function watchesOf(opened: Opened, key: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const told = page.parse(await readJson(opened, `/api/v1/watchlist${query}`, key));
    for (const { id } of told.watched) ids.add(id);
    after = told.next_after;
  }
  return ids;
}

/** The newest number of the changes of a key's watchlist. */
async function newestOf(opened: Opened, key: string): Promise<number> {
  for (let since = 0; ; ) {
    const path = `/api/v1/watchlist/changes?since=${since}`;
    const { changes, next_since } = sequence.parse(await readJson(opened, path, key));
    if (changes.length === 0) return since;
    since = next_since;
  }
}

async function settle(opened: Opened): Promise<SettleResult> {
  const { callers, mix, streams, lottery } = opened;
  const { watches, removed, records } = mix.acknowledged;
  const denied: string[] = [];
  const newest = new Map<string, number>();
  let held = 0;
  for (const key of callers.keys) {
    const standing = await watchesOf(opened, key);
    for (const id of watches.get(key) ?? []) {
      held += 1;
      if (!standing.has(id)) denied.push(`watch ${id} was acknowledged and is gone`);
    }
    for (const id of removed.get(key) ?? []) {
      if (standing.has(id)) denied.push(`watch ${id} was removed and stands`);
    }
    newest.set(key, await newestOf(opened, key));
  }
  const readBack = records.length <= RECORDS_READ_BACK ? records : sample(records, lottery);
  for (const { id, key } of readBack) {
    await readJson(opened, `/api/v1/screens/${id}`, key).catch((fault: unknown) => {
      denied.push(`record ${id}: ${String(fault)}`);
    });
  }
  const flagsOf = () =>
    Math.max(0, ...streams.flatMap(({ reader, of }) => (newest.has(of) ? [] : reader.seqs)));
  const expected = (of: string) => newest.get(of) ?? flagsOf();
  const isBehind = ({ reader, of }: Stream) => (reader.seqs.at(-1) ?? 0) < expected(of);
  const until = performance.now() + SETTLED_MS_MAX;
  while (streams.some(isBehind) && performance.now() < until) await sleep(MS_PER_S);
  const lost = streams.flatMap((stream) => {
    const { reader, of } = stream;
    const isWhole = reader.seqs.every((seq, n) => seq === n + 1);
    if (isWhole && reader.gaps() === 0 && !isBehind(stream)) return [];
    const last = reader.seqs.at(-1) ?? 0;
    const told = `${reader.seqs.length} read, last ${last} of ${expected(of)}`;
    return [`${newest.has(of) ? 'changes' : 'flags'}: ${told}, ${reader.gaps()} gaps`];
  });
  return {
    denied: denied.slice(0, NAMED_MAX),
    watches: held,
    records: readBack.length,
    streams: streams.length,
    events: streams.reduce((sum, { reader }) => sum + reader.seqs.length, 0),
    moves: streams.reduce((sum, { reader }) => sum + Math.max(0, reader.moves() - 1), 0),
    stream_refusals: streams.flatMap(({ reader }) => reader.refusals).slice(0, NAMED_MAX),
    lost,
  };
}

function sample<T>(list: readonly T[], lottery: Lottery): T[] {
  return Array.from({ length: RECORDS_READ_BACK }, () => lottery.oneOf(list));
}

let opened: Opened | null = null;

async function obey(order: TrafficOrder): Promise<object> {
  if (order.kind === 'open') {
    opened = await open(order.base, order.callers, order.streams);
    return { opened: opened.streams.length };
  }
  if (opened === null) throw new Error('nothing is open yet');
  return order.kind === 'run' ? run(opened, order.rate, order.seconds) : settle(opened);
}

process.on('message', (order: TrafficOrder) => {
  obey(order).then(
    (said) => process.send?.(said),
    (fault: unknown) => {
      process.stderr.write(`${fault instanceof Error ? fault.stack : String(fault)}\n`);
      process.exit(1);
    },
  );
});
