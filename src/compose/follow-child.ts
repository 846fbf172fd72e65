// The process that follows chains: it asks their nodes, proves and decodes blocks, and has the
// service write them. It holds neither a store nor a lease, and dies with the service.

import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { z } from 'zod';
import {
  FOLLOW_POLL_MS,
  followChain,
  TIP_BLOCKS_MAX,
} from '../features/indexing/follow-chain.job.ts';
import { evmNode } from '../sources/evm/node.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from '../sources/http/json-rpc.ts';
import { goThrough } from '../sources/http/outbound-call.ts';
import { frameReader, writeFrame } from '../stores/warehouse/engine/engine-protocol.ts';
import {
  type InsertSource,
  type Warehouse,
  WarehouseQueryError,
  WarehouseUnavailable,
} from '../stores/warehouse/engine/executor.ts';
import { transferStore } from '../stores/warehouse/transfers/store.ts';
import { nowS, pause } from './clock.ts';
import {
  type ChildQuestion,
  FOLLOW_FD,
  type FollowerOrder,
  followerOrder,
  type Report,
} from './follower-process.ts';

/** Answering requests comes first where cores are few. */
const NICENESS = 5;
/** Bytes of rows that the service is handed at once: it is never busy with them for long. */
const INSERT_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

type Pending = { readonly resolve: (body: Buffer) => void; readonly reject: (e: Error) => void };
type Opening = Extract<FollowerOrder, { do: 'open' }>;
type Following = Extract<FollowerOrder, { do: 'follow' }>;

const stream = new Socket({ fd: FOLLOW_FD, readable: true, writable: true });
const pending = new Map<number, Pending>();
const stops = new Map<number, AbortController>();
const nodes = new Map<string, JsonRpc>();
let opening: Opening | null = null;
let last = 0;

function say(report: Report, body: Uint8Array = NOTHING): void {
  writeFrame(stream, report, body);
}

function ask(question: ChildQuestion, body?: Uint8Array): Promise<Buffer> {
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    say({ ...question, id }, body);
  });
}

const rowsIn = z.array(z.unknown());
const json = z.record(z.string(), z.json());

/** The service's warehouse, asked over the stream. */
function requestWarehouse(kind: Warehouse['kind']): Warehouse {
  const without = async (): Promise<never> => {
    throw new TypeError('a follower does not ask for this');
  };
  return {
    kind,
    query: async (sql, { row, params, rowsMax, tuples, timeoutMs }) => {
      const question = { say: 'query', sql, tuples: tuples === true, timeoutMs } as const;
      const bound = params === undefined ? {} : { params: plain(params) };
      const bounded = rowsMax === undefined ? {} : { rowsMax };
      const body = await ask({ ...question, ...bound, ...bounded });
      return rowsIn.parse(JSON.parse(body.toString('utf8'))).map((one) => row.parse(one));
    },
    command: async (sql, { params, timeoutMs }) => {
      const bound = params === undefined ? {} : { params: plain(params) };
      await ask({ say: 'command', sql, timeoutMs, ...bound });
    },
    insert: async (table, source, { timeoutMs }) => {
      for await (const bytes of lines(source)) {
        const columns = source.columns === undefined ? [] : [...source.columns];
        await ask({ say: 'insert', table, columns, timeoutMs }, bytes);
      }
    },
    commandFile: without,
    ping: without,
    load: () => ({ inFlight: pending.size, waiting: 0, restarts: 0 }),
    writes: () => null,
    close: async () => undefined,
  };
}

function plain(params: object): Extract<ChildQuestion, { say: 'command' }>['params'] {
  const told = json.parse(params);
  return told as Extract<ChildQuestion, { say: 'command' }>['params'];
}

/** Whole lines, some at once: the pieces of a source end where a line does. */
async function* lines(source: InsertSource): AsyncGenerator<Uint8Array> {
  if (!('format' in source) || source.format !== 'JSONCompactEachRow') {
    throw new TypeError('a follower writes ready-made lines');
  }
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (const piece of source.bytes) {
    pieces.push(piece);
    held += piece.length;
    if (held < INSERT_BYTES) continue;
    yield Buffer.concat(pieces, held);
    pieces = [];
    held = 0;
  }
  if (held > 0) yield Buffer.concat(pieces, held);
}

async function follow({ id, chain, from_block, epoch }: Following, signal: AbortSignal) {
  const rpc = nodes.get(chain);
  if (opening === null || rpc === undefined || chain === 'bitcoin' || chain === 'solana') {
    throw new TypeError(`no node of ${chain} is open`);
  }
  const { simulated, kind } = opening;
  const origin = simulated ? ('simulated' as const) : ('observed' as const);
  const node = evmNode({ chain, rpc, simulated, now: nowS });
  const store = transferStore(requestWarehouse(kind), nowS);
  const clock = { now: nowS, sleep: pause, pollMs: FOLLOW_POLL_MS };
  const world = { node, store, origin, ...clock, tipBlocksMax: TIP_BLOCKS_MAX };
  const settle = async () => void (await ask({ say: 'settle', of: id }));
  const watch = { signal, onState: (state: object) => say({ say: 'state', id, state } as Report) };
  const end = await followChain(world, from_block, watch, { epoch, settle });
  say({ say: 'end', id, end } as Report);
}

function refusalOf({ unavailable, query }: Extract<FollowerOrder, { do: 'refuse' }>): Error {
  if (query !== null) return new WarehouseQueryError(query.code, query.reason, '');
  return unavailable === null
    ? new Error('the service failed')
    : new WarehouseUnavailable(unavailable);
}

function obey(head: unknown, body: Buffer): void {
  const told = followerOrder.parse(head);
  if (told.do === 'open') {
    opening = told;
    if (told.proxy !== null) goThrough(new URL(told.proxy));
    for (const [chain, url] of Object.entries(told.nodes)) {
      const client = { url: new URL(url), headers: {}, limits: RPC_LIMITS, sleep: pause };
      nodes.set(chain, jsonRpc(client));
    }
  } else if (told.do === 'stop') stops.get(told.id)?.abort();
  else if (told.do === 'follow') {
    const stop = new AbortController();
    stops.set(told.id, stop);
    follow(told, stop.signal)
      .catch((error: unknown) => {
        const words = error instanceof Error && error.stack !== undefined ? error.stack : 'a bug';
        say({ say: 'bug', id: told.id, words });
      })
      .finally(() => stops.delete(told.id));
  } else {
    const owed = pending.get(told.id);
    pending.delete(told.id);
    if (told.do === 'answer') owed?.resolve(body);
    else owed?.reject(refusalOf(told));
  }
}

setPriority(NICENESS);
// A terminal's Ctrl-C reaches the whole group; only the service decides when following ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
const die = () => process.kill(process.pid, 'SIGKILL');
stream.on('close', die);
stream.on('error', die);
stream.on(
  'data',
  frameReader(({ head, body }) => obey(head, body)),
);
