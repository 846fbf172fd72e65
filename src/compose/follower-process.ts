// Has the chains of a service followed without slowing it down: another process asks the nodes and
// decodes blocks; this one, which owns the stores, writes what it is handed. Both sides validate
// what they read; a frame that fits nothing is a bug and ends the process. Where it ends by itself,
// whoever follows hears of it, and starts it again.

import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CHAIN_NAMES, type ChainName, EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import {
  type FollowEnd,
  type FollowWatch,
  followEnd,
  followState,
  type Tenure,
} from '../ports/indexing.ts';
import { frameReader, writeFrame } from '../stores/warehouse/engine/engine-protocol.ts';
import {
  UNAVAILABLE_CODES,
  WAREHOUSE_KINDS,
  type Warehouse,
  WarehouseQueryError,
  WarehouseUnavailable,
} from '../stores/warehouse/engine/executor.ts';

/** The options of a follower, from its service. URLs are complete, and never written down. */
export type FollowerOptions = {
  readonly warehouse: Warehouse;
  readonly simulated: boolean;
  readonly proxy: string | null;
  readonly nodes: Readonly<Partial<Record<EvmChainName, string>>>;
};

/** The process, which is started when it is first needed. */
export type FollowerProcess = {
  readonly follow: (
    chain: ChainName,
    fromBlock: number | null,
    watch: FollowWatch,
    tenure: Tenure,
  ) => Promise<FollowEnd>;
  /** Its id, while there is one. */
  readonly pid: () => number | undefined;
  readonly close: () => Promise<void>;
};

// The same path from the sources and from the build; the process itself is always the built one.
const CHILD_URL = new URL('../../dist/compose/follow-child.js', import.meta.url);
/** Bytes of its heap: some ranges of traced blocks at once. */
const HEAP_MIB = 1_024;
/** How long it may take to stop following a chain before it is killed. */
const STOP_WAIT_MS = 5_000;
const NOTHING = Buffer.alloc(0);
const ROW = { parse: (row: unknown) => row };

type Followed = {
  readonly watch: FollowWatch;
  readonly tenure: Tenure;
  readonly resolve: (end: FollowEnd) => void;
  readonly reject: (error: Error) => void;
};
type FollowerQuestion = Exclude<Report, { say: 'state' | 'end' | 'bug' }>;

/** Makes the process of a service. */
export function followerProcess(options: FollowerOptions): FollowerProcess {
  let life: ReturnType<typeof startChild> | null = null;
  let last = 0;
  return {
    follow: (chain, from_block, watch, tenure) => {
      if (life === null || !life.isAlive()) life = startChild(options);
      last += 1;
      const order = { do: 'follow', id: last, chain, from_block, epoch: tenure.epoch } as const;
      return life.follow(order, { watch, tenure });
    },
    pid: () => (life?.isAlive() === true ? life.pid : undefined),
    close: async () => {
      await life?.stop();
    },
  };
}

function startChild({ warehouse, simulated, proxy, nodes }: FollowerOptions) {
  const heap = `--max-old-space-size=${HEAP_MIB}`;
  const child = spawn(process.execPath, [heap, fileURLToPath(CHILD_URL)], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    // Nothing of our environment: it holds secrets.
    env: { TZ: 'UTC' },
  });
  const channel = child.stdio[FOLLOW_FD];
  if (!(channel instanceof Duplex)) throw new Error('the process of followers did not start');
  const followed = new Map<number, Followed>();
  let alive = true;
  const ended = new Promise<void>((resolve) => {
    const forgetChild = () => {
      alive = false;
      channel.destroy();
      for (const one of followed.values()) one.reject(new Error('the process of followers ended'));
      followed.clear();
      resolve();
    };
    child.once('close', forgetChild);
    child.once('error', forgetChild);
  });
  const tell = (message: FollowerOrder, body: Uint8Array = NOTHING): void => {
    if (channel.writable) writeFrame(channel, message, body);
  };
  tell({ do: 'open', kind: warehouse.kind, simulated, proxy, nodes });
  listen(
    channel,
    (head, body) => handleReport(warehouse, followed, tell, report.parse(head), body),
    child,
  );
  return {
    pid: child.pid,
    isAlive: () => alive,
    follow: (
      message: Extract<FollowerOrder, { do: 'follow' }>,
      { watch, tenure }: Pick<Followed, 'watch' | 'tenure'>,
    ): Promise<FollowEnd> =>
      new Promise((resolve, reject) => {
        const { id } = message;
        let late: NodeJS.Timeout | undefined;
        const stop = (): void => {
          tell({ do: 'stop', id });
          late = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS);
        };
        const over = (): void => {
          clearTimeout(late);
          followed.delete(id);
          watch.signal.removeEventListener('abort', stop);
        };
        followed.set(id, {
          watch,
          tenure,
          resolve: (end) => {
            over();
            resolve(end);
          },
          reject: (error) => {
            over();
            reject(error);
          },
        });
        tell(message);
        if (watch.signal.aborted) stop();
        watch.signal.addEventListener('abort', stop, { once: true });
      }),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A process that says nonsense is killed; its end is told like any other. */
function listen(
  channel: Duplex,
  hear: (head: unknown, body: Buffer) => void,
  child: ChildProcess,
): void {
  const read = frameReader(({ head, body }) => hear(head, body));
  const pieces = async () => {
    for await (const piece of channel) if (Buffer.isBuffer(piece)) read(piece);
  };
  pieces().catch(() => child.kill('SIGKILL'));
}

function handleReport(
  warehouse: Warehouse,
  followed: ReadonlyMap<number, Followed>,
  tell: (message: FollowerOrder, body?: Uint8Array) => void,
  told: Report,
  body: Buffer,
): void {
  if (told.say === 'state') followed.get(told.id)?.watch.onState(told.state);
  else if (told.say === 'end') followed.get(told.id)?.resolve(told.end);
  else if (told.say === 'bug') followed.get(told.id)?.reject(new Error(told.words));
  else {
    const { id } = told;
    answer(warehouse, followed, told, body).then(
      (bytes) => tell({ do: 'answer', id }, bytes),
      (error: unknown) => tell(refusal(id, error)),
    );
  }
}

async function answer(
  warehouse: Warehouse,
  followed: ReadonlyMap<number, Followed>,
  told: FollowerQuestion,
  body: Buffer,
): Promise<Uint8Array> {
  if (told.say === 'settle') {
    await followed.get(told.of)?.tenure.settle();
    return NOTHING;
  }
  const { timeoutMs } = told;
  if (told.say === 'insert') {
    const { table, columns } = told;
    const source = { columns, format: 'JSONCompactEachRow', bytes: pieceOf(body) } as const;
    await warehouse.insert(table, source, { timeoutMs });
    return NOTHING;
  }
  const { sql, params } = told;
  if (told.say === 'command') {
    await warehouse.command(sql, { timeoutMs, params });
    return NOTHING;
  }
  const { rowsMax, tuples } = told;
  const rows = await warehouse.query(sql, { timeoutMs, params, rowsMax, tuples, row: ROW });
  return Buffer.from(JSON.stringify(rows));
}

async function* pieceOf(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

function refusal(id: number, error: unknown): FollowerOrder {
  if (error instanceof WarehouseUnavailable) {
    return { do: 'refuse', id, unavailable: error.code, query: null };
  }
  if (error instanceof WarehouseQueryError) {
    const { code, reason } = error;
    return { do: 'refuse', id, unavailable: null, query: { code, reason } };
  }
  return { do: 'refuse', id, unavailable: null, query: null };
}

/** The file descriptor on which the process finds its end of the stream. */
export const FOLLOW_FD = 3;

const id = z.int().positive();
const block = z.int().nonnegative().nullable();
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const params = z.record(z.string(), z.union([scalar, z.array(scalar)]));

/** To the process. The body of `answer` is what was asked for. */
export const followerOrder = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('open'),
    kind: z.enum(WAREHOUSE_KINDS),
    simulated: z.boolean(),
    proxy: z.string().nullable(),
    /** Whole URLs, keys and all. */
    nodes: z.partialRecord(z.enum(EVM_CHAINS), z.string()),
  }),
  z.object({
    do: z.literal('follow'),
    id,
    chain: z.enum(CHAIN_NAMES),
    from_block: block,
    epoch: z.int(),
  }),
  z.object({ do: z.literal('stop'), id }),
  z.object({ do: z.literal('answer'), id }),
  z.object({
    do: z.literal('refuse'),
    id,
    /** The executor's error: its own code, or ClickHouse's with its name. */
    unavailable: z.enum(UNAVAILABLE_CODES).nullable(),
    query: z.object({ code: z.int(), reason: z.string() }).nullable(),
  }),
]);

const timeoutMs = z.number().positive();

/** From the process: how following goes, and what it asks of the warehouse (rows are the body). */
export const report = z.discriminatedUnion('say', [
  z.object({ say: z.literal('state'), id, state: followState }),
  z.object({ say: z.literal('end'), id, end: followEnd }),
  z.object({ say: z.literal('bug'), id, words: z.string() }),
  z.object({ say: z.literal('settle'), id, of: id }),
  z.object({
    say: z.literal('query'),
    id,
    sql: z.string(),
    params: params.optional(),
    rowsMax: z.int().optional(),
    tuples: z.boolean(),
    timeoutMs,
  }),
  z.object({
    say: z.literal('command'),
    id,
    sql: z.string(),
    params: params.optional(),
    timeoutMs,
  }),
  z.object({
    say: z.literal('insert'),
    id,
    table: z.string(),
    columns: z.array(z.string()),
    timeoutMs,
  }),
]);

/** A message to the process. */
export type FollowerOrder = z.infer<typeof followerOrder>;
export type Report = z.infer<typeof report>;
/** A message without its number. */
type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never;
export type ChildQuestion = Unnumbered<
  Extract<Report, { say: 'settle' | 'query' | 'command' | 'insert' }>
>;
