// Answers one question: how long do reads and walks take while a chain is followed?
// A block of 500 transfers each tenth of a second, as far as the store keeps up; the tip is 64
// blocks, made final 32 at a time; beside it a reader and a walker, one after the other.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TipBlock, TransferFact } from '../src/ports/indexing/transfer-store.ts';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { transferStore } from '../src/stores/warehouse/transfers/store.ts';
import { latenciesOf, line } from './latencies.ts';
import { lastBlock, type Made, startsOf } from './warehouse-data.ts';
import { fullWalk, singleRead, walker } from './warehouse-walks.ts';

const BLOCK_TRANSFERS = 500;
const BLOCK_MS = 100;
const TIP_BLOCKS = 64;
const FINAL_EACH = 32;
const ADDRESSES_PER_TRANSFER = 0.2;
const UNEVEN = 6;
const STARTS = 2_000;

function hash(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

/** The same parties as the data have: `address` of bench/warehouse-data.ts. */
function party({ rows }: Made): string {
  const u = Math.random();
  const at = Math.floor(rows * ADDRESSES_PER_TRANSFER * (Math.random() < 0.72 ? u : u ** UNEVEN));
  return `0x${createHash('sha1').update(`a${at}`).digest('hex')}`;
}

function block(made: Made, number: number): TipBlock {
  const transfers = Array.from({ length: BLOCK_TRANSFERS }, (_, at): TransferFact => {
    const from = party(made);
    return {
      chain: 'ethereum',
      kind: 'native',
      token: null,
      success: true,
      block: number,
      block_time: made.now,
      block_hash: hash(`f${number}`),
      position: at,
      tx_hash: hash(`f${number} ${at}`),
      from,
      to: party(made),
      initiator: from,
      raw_amount: BigInt(Math.floor(Math.random() * 1e15)),
    };
  });
  const header = { number, hash: hash(`f${number}`), parent_hash: hash(`f${number - 1}`) };
  return { ...header, time: made.now, transfers, creations: [] };
}

/** Follows for some seconds; answers the lines to print. */
export async function timeFollowing(
  warehouse: Warehouse,
  listed: readonly string[],
  made: Made,
  seconds: number,
): Promise<readonly string[]> {
  const now = () => made.now;
  const store = transferStore(warehouse, now);
  const from_block = lastBlock(made) + 1;
  const kinds = ['native', 'internal', 'token'] as const;
  const chain = { chain: 'ethereum', from_block, kinds } as const;
  const tenure = { epoch: Date.now(), settle: async () => undefined };
  const begun = await store.follow({ ...chain, source: 'bench', origin: 'observed' }, tenure);
  if (!begun.checked) throw new Error(begun.why.reason);
  const highest = begun.value.tip.at(-1);
  const started = performance.now();
  const until = started + seconds * 1_000;
  const writes: number[] = [];
  const finals: number[] = [];
  const write = async () => {
    let number = highest === undefined ? from_block : highest.number + 1;
    for (; performance.now() < until; number += 1) {
      const before = performance.now();
      const moved = await store.applyTip('ethereum', [block(made, number)]);
      if (!moved.checked) throw new Error(moved.why.reason);
      if (!moved.value.moved) throw new Error(moved.value.refused);
      writes.push(performance.now() - before);
      if (number % FINAL_EACH === 0) {
        const at = performance.now();
        const made = await store.finalise('ethereum', number - TIP_BLOCKS);
        if (!made.checked) throw new Error(made.why.reason);
        finals.push(performance.now() - at);
      }
      await sleep(Math.max(0, BLOCK_MS - (performance.now() - before)));
    }
  };
  const ports = walker(warehouse, listed, now);
  const repeat = async (starts: readonly string[], call: (start: string) => Promise<unknown>) => {
    const taken: number[] = [];
    for (let at = 0; performance.now() < until; at += 1) {
      const start = starts[at % starts.length];
      if (start === undefined) break;
      const before = performance.now();
      await call(start);
      taken.push(performance.now() - before);
    }
    return taken;
  };
  const low = await startsOf(warehouse, 'low', STARTS);
  const [, reads, walks] = await Promise.all([
    write(),
    repeat(low, (start) => singleRead(ports, start)),
    repeat(low.toReversed(), (start) => fullWalk(ports, start)),
  ]);
  const ms = performance.now() - started;
  return [
    line('  following: a block of 500 applied', latenciesOf(writes, ms)),
    line('  following: blocks made final', latenciesOf(finals, ms)),
    line('  following: single reads beside it', latenciesOf(reads, ms)),
    line('  following: low walks beside it', latenciesOf(walks, ms)),
  ];
}
