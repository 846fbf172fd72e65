// Readers hold themselves what they were told: a number that is missing without a gap that names it
// is a loss, one that comes again is a duplicate.

import { type RawData, WebSocket } from 'ws';
import { z } from 'zod';

/**
 * The kinds of readers: normal ones, ones that request all events and read nothing, and ones that
 * request events long gone.
 */
type Role = 'reads' | 'stalled' | 'late';

/** The messages to the readers. */
export type ReadersOrder =
  | {
      readonly kind: 'open';
      /** The whole URLs, one for each reader; a place to go on from is added to it. */
      readonly urls: readonly string[];
      readonly role: Role;
    }
  /** Waits until all who read have had an event. */
  | { readonly kind: 'await'; readonly seq: number }
  /** Cuts so many lines without a word; each comes back from where it was. */
  | { readonly kind: 'cut'; readonly count: number }
  | { readonly kind: 'report' };

/** The messages from the readers. */
export type ReadersSaid = {
  readonly open: number;
  readonly received: number;
  /** Messages that are no event: heartbeats, mostly. */
  readonly others: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly gaps: number;
  readonly resumed: number;
  readonly refused: number;
};

type Reader = {
  readonly url: string;
  readonly role: Role;
  at: number | null;
  ws: WebSocket | null;
};

const AGAIN_MS = 200;
const LOOK_MS = 5;
const AWAIT_MS_MAX = 110_000;

const readers: Reader[] = [];
let [received, others, lost, duplicates, gaps, resumed, refused] = [0, 0, 0, 0, 0, 0, 0];
let waitedFor = { seq: 0, left: 0 };

function open(reader: Reader): Promise<void> {
  const since = sinceOf(reader);
  const url = since === null ? reader.url : `${reader.url}&since=${since}`;
  const ws = new WebSocket(url, { perMessageDeflate: false });
  reader.ws = ws;
  return new Promise((resolve) => {
    ws.on('upgrade', ({ socket }) => {
      if (reader.role === 'stalled') {
        // Before its welcome comes, so that nothing of what it is sent is ever read.
        socket.pause();
        socket.resume = () => socket;
      }
    });
    ws.on('open', () => {
      if (reader.role === 'stalled') resolve();
    });
    ws.on('message', (data) => {
      take(reader, data);
      resolve();
    });
    ws.on('error', () => undefined);
    ws.on('unexpected-response', () => {
      refused += 1;
      ws.terminate();
    });
    ws.on('close', () => {
      if (reader.ws === ws && reader.role !== 'stalled') again(reader, resolve);
    });
  });
}

function sinceOf({ at, role }: Reader): number | null {
  if (at !== null) return at;
  if (role === 'reads') return null;
  return role === 'late' ? 1 : 0;
}

function again(reader: Reader, done: () => void): void {
  setTimeout(() => void open(reader).then(done), AGAIN_MS * Math.random());
}

const SEQ = /^\{"type":"flag","seq":(\d+)/;
const HEAD_BYTES = 48;

function take(reader: Reader, data: RawData): void {
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
  const flag = SEQ.exec(bytes.toString('latin1', 0, HEAD_BYTES));
  if (flag === null) {
    takeOther(reader, bytes);
    return;
  }
  const seq = Number(flag[1]);
  received += 1;
  const at = reader.at === null ? seq - 1 : reader.at;
  if (seq <= at) duplicates += 1;
  else {
    if (seq > at + 1) lost += seq - at - 1;
    move(reader, seq);
  }
}

const range = z.object({ from: z.number(), to: z.number() });
const otherSaid = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome'), seq: z.number(), gap: range.nullish() }),
  z.object({ type: z.literal('gap'), from: z.number(), to: z.number() }),
  z.object({ type: z.enum(['heartbeat', 'lagged', 'error']) }),
]);

function takeOther(reader: Reader, bytes: Buffer): void {
  const said = otherSaid.parse(JSON.parse(bytes.toString()));
  others += 1;
  if (said.type === 'gap') takeGap(reader, said.from, said.to);
  if (said.type !== 'welcome') return;
  if (reader.at !== null || reader.role === 'late') resumed += 1;
  if (said.gap !== null && said.gap !== undefined) takeGap(reader, said.gap.from, said.gap.to);
  if (reader.at === null) move(reader, said.seq);
  else if (said.seq !== reader.at) lost += Math.abs(said.seq - reader.at);
}

function takeGap(reader: Reader, from: number, to: number): void {
  gaps += 1;
  const at = reader.at === null ? from - 1 : reader.at;
  if (from !== at + 1) lost += 1;
  move(reader, to);
}

function move(reader: Reader, seq: number): void {
  const before = reader.at === null ? -1 : reader.at;
  reader.at = seq;
  if (before < waitedFor.seq && seq >= waitedFor.seq) waitedFor.left -= 1;
}

process.on('message', (order: ReadersOrder) => {
  obey(order).catch((fault: unknown) => {
    process.stderr.write(`${String(fault)}\n`);
    process.exit(1);
  });
});

async function obey(order: ReadersOrder): Promise<void> {
  if (order.kind === 'open') {
    const { urls, role } = order;
    const fresh = urls.map((url): Reader => ({ url, role, at: null, ws: null }));
    readers.push(...fresh);
    await Promise.all(fresh.map(open));
  }
  if (order.kind === 'await') {
    const behind = readers.filter(
      ({ role, at }) => role !== 'stalled' && (at === null || at < order.seq),
    );
    waitedFor = { seq: order.seq, left: behind.length };
    const end = performance.now() + AWAIT_MS_MAX;
    while (waitedFor.left > 0) {
      if (performance.now() > end)
        throw new Error(`${waitedFor.left} readers have not had ${order.seq}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
  if (order.kind === 'cut') {
    const open = readers.filter(
      ({ role, ws }) => role !== 'stalled' && ws?.readyState === WebSocket.OPEN,
    );
    for (let i = 0; i < order.count && open.length > 0; i += 1) {
      const [one] = open.splice(Math.floor(Math.random() * open.length), 1);
      one?.ws?.terminate();
    }
  }
  const isOpen = ({ ws }: Reader) => ws?.readyState === WebSocket.OPEN;
  const said: ReadersSaid = {
    open: readers.filter(isOpen).length,
    received,
    others,
    lost,
    duplicates,
    gaps,
    resumed,
    refused,
  };
  process.send?.(said);
}
