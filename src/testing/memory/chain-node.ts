// What does a node say of a chain that a test makes up, block by block and re-org by re-org?
// One transfer stands in each block, named by the block's hash: what is held shows whose it was.

import type { ChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainNode, ChainNodePort, Heads, TipBlock } from '../../ports/indexing.ts';

export type MemoryChain = {
  readonly node: ChainNode;
  /** The chain as it is now, from block 0. */
  readonly chain: () => readonly TipBlock[];
  readonly mine: (blocks: number) => void;
  /** Replaces so many of the newest blocks by as many others. */
  readonly reorg: (depth: number) => void;
  /** Takes the newest blocks away. */
  readonly cut: (depth: number) => void;
  readonly setFinal: (block: number | null) => void;
  /** Answers the next so many questions with silence. */
  readonly fail: (questions: number) => void;
  /** Called before each question. */
  readonly onAsked: (hook: (question: string) => void) => void;
};

const KINDS: readonly TransferKind[] = ['native', 'internal', 'token'];
const BLOCK_S = 12;
const HEX_DIGITS = 64;

/** A chain with its first block. */
export function memoryChain(name: ChainName = 'ethereum', startS = 1_700_000_000): MemoryChain {
  const blocks: TipBlock[] = [];
  let made = 0;
  let final: number | null = null;
  let failing = 0;
  let hook = (_: string): void => undefined;

  const mine = (count: number): void => {
    for (let n = 0; n < count; n += 1) {
      made += 1;
      const hash = word(made);
      const parent = blocks.at(-1);
      const number = blocks.length;
      const time = startS + number * BLOCK_S;
      const parent_hash = parent === undefined ? word(0) : parent.hash;
      blocks.push({ ...bare(name, { number, hash, parent_hash, time }), creations: [] });
    }
  };
  mine(1);

  const ask = async <T>(question: string, value: () => T): Promise<Reading<T, ChainNodePort>> => {
    hook(question);
    if (failing > 0) {
      failing -= 1;
      return unread('chain_node', why('provider_failed', { provider: SHOWN, fault: 'is away' }));
    }
    const source = { name: SHOWN, url: SHOWN, as_of: startS, kind: 'observation' } as const;
    return read(value(), { port: 'chain_node', source: { ...source, simulated: true } });
  };
  const heads = () => {
    const latest = blocks.length - 1;
    return { latest, latest_time: startS + latest * BLOCK_S, final };
  };
  const node = nodeOf(name, blocks, ask, heads);
  return {
    node,
    mine,
    chain: () => blocks,
    reorg: (depth) => {
      blocks.length -= depth;
      mine(depth);
    },
    cut: (depth) => {
      blocks.length -= depth;
    },
    setFinal: (block) => {
      final = block;
    },
    fail: (questions) => {
      failing = questions;
    },
    onAsked: (next) => {
      hook = next;
    },
  };
}

const SHOWN = 'memory://node';

type Ask = <T>(question: string, value: () => T) => Promise<Reading<T, ChainNodePort>>;

function nodeOf(
  chain: ChainName,
  blocks: readonly TipBlock[],
  ask: Ask,
  heads: () => Heads,
): ChainNode {
  return {
    chain,
    source: SHOWN,
    open: () => ask('open', () => ({ kinds: KINDS, to_block: null })),
    heads: () => ask('heads', heads),
    header: (number) =>
      ask('header', () => {
        const block = blocks[number];
        return block === undefined ? null : block;
      }),
    blocks: (from, to) =>
      ask('blocks', () => {
        const told = blocks.slice(from, to + 1);
        if (told.length <= to - from) return 'moved';
        return { blocks: told, left_out: { misshapen: 1 } };
      }),
  };
}

function word(number: number): string {
  return `0x${number.toString(16).padStart(HEX_DIGITS, '0')}`;
}

function bare(
  chain: ChainName,
  header: { number: number; hash: string; parent_hash: string; time: number },
): Omit<TipBlock, 'creations'> {
  const { number: block, hash, time: block_time } = header;
  const account = `0x${'11'.repeat(20)}`;
  const coin = { kind: 'native', token: null } as const;
  const place = { chain, block, block_time, block_hash: hash, tx_hash: hash, position: null };
  const moves = { from: account, to: account, raw_amount: 1n, success: true };
  return { ...header, transfers: [{ ...place, ...coin, ...moves, initiator: account }] };
}
