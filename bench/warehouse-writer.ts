// The process that follows, as a deployment has it apart: it makes blocks and decides each step,
// and has the measured process run its statements. Three chains have a block in turn, so many a
// second in all as far as the store keeps up; a tip is 64 blocks, made final 32 at a time.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { TransferStore } from '../src/ports/indexing.ts';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { transferStore } from '../src/stores/warehouse/transfers/store.ts';
import { blockOf } from './warehouse-blocks.ts';

const CHAINS = ['ethereum', 'base', 'bsc'] as const;
const SECOND_MS = 1_000;
const TIP_BLOCKS = 64;
const FINAL_EACH = 32;

const begin = z.object({
  rows: z.number(),
  now: z.number(),
  from_block: z.number(),
  seconds: z.number(),
  pace: z.number(),
});
const answer = z.object({
  id: z.number(),
  rows: z.array(z.unknown()),
  fault: z.string().nullable(),
});
type Pending = (told: z.infer<typeof answer>) => void;

const pending = new Map<number, Pending>();
let last = 0;

async function ask(question: object): Promise<readonly unknown[]> {
  last += 1;
  const id = last;
  const told = await new Promise<z.infer<typeof answer>>((resolve) => {
    pending.set(id, resolve);
    process.send?.({ ...question, id });
  });
  if (told.fault !== null) throw new Error(told.fault);
  return told.rows;
}

const without = async (): Promise<never> => {
  throw new TypeError('the writer of a bench does not ask for this');
};

/** The warehouse of the process that is measured. */
const warehouse: Warehouse = {
  kind: 'embedded',
  query: async (sql, { row, params, rowsMax, tuples, timeoutMs }) => {
    const rows = await ask({ say: 'query', sql, params, rowsMax, tuples, timeoutMs });
    return rows.map((one) => row.parse(one));
  },
  command: async (sql, { params, timeoutMs }) => {
    await ask({ say: 'command', sql, params, timeoutMs });
  },
  insert: async (table, source, { timeoutMs }) => {
    if (!('format' in source) || source.format !== 'JSONCompactEachRow') return without();
    for await (const bytes of source.bytes) {
      await ask({ say: 'insert', table, columns: source.columns, bytes, timeoutMs });
    }
  },
  commandFile: without,
  ping: without,
  load: () => ({ inFlight: pending.size, waiting: 0, restarts: 0 }),
  writes: () => null,
  close: async () => undefined,
};

type Begin = z.infer<typeof begin>;
type Following = { readonly chain: (typeof CHAINS)[number]; next: number };

/** Follows a chain from where it was left, else from its beginning: after what was loaded. */
async function following(
  store: TransferStore,
  chain: Following['chain'],
  from_block: number,
): Promise<Following> {
  const kinds = ['native', 'internal', 'token'] as const;
  const tenure = { epoch: Date.now(), settle: async () => undefined };
  const from = { chain, from_block, kinds, source: 'bench', origin: 'observed' } as const;
  const begun = await store.follow(from, tenure);
  if (!begun.checked) throw new Error(begun.why.reason);
  const highest = begun.value.tip.at(-1);
  return { chain, next: highest === undefined ? from_block : highest.number + 1 };
}

async function write(asked: Begin): Promise<void> {
  const { from_block, seconds, pace, now } = asked;
  const store = transferStore(warehouse, () => now);
  const chains: Following[] = [];
  for (const chain of CHAINS) {
    chains.push(await following(store, chain, chain === 'ethereum' ? from_block : 0));
  }
  const until = performance.now() + seconds * SECOND_MS;
  const writes: number[] = [];
  const finals: number[] = [];
  for (let turn = 0; performance.now() < until; turn += 1) {
    const own = chains[turn % chains.length];
    if (own === undefined) throw new RangeError('no chain has this turn');
    const block = blockOf(asked, own.chain, own.next);
    const before = performance.now();
    const moved = await store.applyTip(own.chain, [block]);
    if (!moved.checked) throw new Error(moved.why.reason);
    if (!moved.value.moved) throw new Error(moved.value.refused);
    writes.push(performance.now() - before);
    if (own.next % FINAL_EACH === 0 && own.next >= TIP_BLOCKS) {
      const at = performance.now();
      const made = await store.finalise(own.chain, own.next - TIP_BLOCKS);
      if (!made.checked) throw new Error(made.why.reason);
      finals.push(performance.now() - at);
    }
    own.next += 1;
    // Of a chain without a block nothing is held, and no walk comes to its end.
    if (turn === chains.length - 1) process.send?.({ say: 'begun' });
    await sleep(Math.max(0, SECOND_MS / pace - (performance.now() - before)));
  }
  process.send?.({ say: 'ended', writes, finals });
}

process.on('message', (message: unknown) => {
  const told = answer.safeParse(message);
  if (!told.success) {
    void write(begin.parse(message));
    return;
  }
  const resolve = pending.get(told.data.id);
  pending.delete(told.data.id);
  resolve?.(told.data);
});
