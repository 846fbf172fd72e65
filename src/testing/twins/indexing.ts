// The twin of a node and of the store that is followed into, for a chain that a test makes up.
// One transfer stands in each block, named by the block's hash: what is held shows whose it was.

import type { ChainName } from '../../chain/chain.ts';
import { numberTransfers, type TransferKind } from '../../chain/transfer.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ChainNode,
  ChainNodePort,
  FollowCursor,
  Heads,
  HeldCreation,
  Moved,
  TipBlock,
  TransferFact,
  TransferStore,
  TransferStorePort,
} from '../../ports/indexing.ts';

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

/** The contents of the store, apart from its own methods. */
export type MemoryTransferStore = {
  readonly store: TransferStore;
  /** The transfers of a chain, the tip's included, by block. */
  readonly transfers: (chain: ChainName) => TransferFact[];
  readonly creations: (chain: ChainName) => HeldCreation[];
  /** How often a transfer or a block was written that was there already. */
  readonly doubles: () => number;
};

type Block = {
  readonly number: number;
  readonly transfers: readonly TransferFact[];
  readonly creations: readonly HeldCreation[];
};

const SOURCE = {
  name: 'memory',
  url: 'memory:',
  as_of: 0,
  kind: 'observation',
  simulated: false,
} as const;

/** An empty store. */
export function memoryTransferStore(): MemoryTransferStore {
  const held = new Held();
  const moves = { rollBack: held.rollBack, finalise: held.finalise };
  const adds = { applyFinal: held.applyFinal, applyTip: held.applyTip };
  return {
    store: { ...unused, cursor: held.cursor, follow: held.follow, ...adds, ...moves },
    transfers: (chain) => held.blocks(chain).flatMap((block) => block.transfers),
    creations: (chain) => held.blocks(chain).flatMap((block) => block.creations),
    doubles: () => held.doubles,
  };
}

class Held {
  readonly #cursors = new Map<ChainName, FollowCursor>();
  readonly #blocks = new Map<ChainName, Block[]>();
  doubles = 0;

  blocks(chain: ChainName): Block[] {
    const own = this.#blocks.get(chain);
    if (own === undefined) throw new TypeError(`${chain} is not followed`);
    return own;
  }

  readonly cursor: TransferStore['cursor'] = async (chain) => {
    const cursor = this.#cursors.get(chain);
    return answerWith(cursor === undefined ? null : cursor);
  };

  readonly follow: TransferStore['follow'] = async (following) => {
    const before = this.#cursors.get(following.chain);
    const begun = { final_block: null, final_hash: null, tip: [], ...following };
    const { kinds, source, origin } = following;
    const cursor = before === undefined ? begun : { ...before, kinds, source, origin };
    if (before === undefined) this.#blocks.set(following.chain, []);
    this.#cursors.set(following.chain, cursor);
    return answerWith(cursor);
  };

  readonly applyFinal: TransferStore['applyFinal'] = async (chain, blocks) => {
    const cursor = this.#at(chain);
    const last = blocks.at(-1);
    if (cursor.tip.length > 0 || last === undefined) return refuseMove('gap', cursor);
    const applied = await this.applyTip(chain, blocks);
    if (!applied.checked || !applied.value.moved) return applied;
    return await this.finalise(chain, last.number);
  };

  readonly applyTip: TransferStore['applyTip'] = async (chain, added) => {
    const cursor = this.#at(chain);
    let next = nextOf(cursor);
    let parent = cursor.tip.length > 0 ? cursor.tip.at(-1)?.hash : cursor.final_hash;
    for (const { number, hash, parent_hash } of added) {
      if (number !== next) return refuseMove('gap', cursor);
      if (parent !== null && parent_hash !== parent) return refuseMove('parent_differs', cursor);
      next += 1;
      parent = hash;
    }
    for (const block of added) this.#add(chain, block);
    const headers = added.map(({ number, hash, parent_hash, time }) => {
      return { number, hash, parent_hash, time };
    });
    return this.#moved({ ...cursor, tip: [...cursor.tip, ...headers] });
  };

  readonly rollBack: TransferStore['rollBack'] = async (chain, toBlock) => {
    const cursor = this.#at(chain);
    const { final_block } = cursor;
    if (final_block !== null && toBlock < final_block) return refuseMove('final', cursor);
    const kept = this.blocks(chain).filter(({ number }) => number <= toBlock);
    this.#blocks.set(chain, kept);
    return this.#moved({ ...cursor, tip: cursor.tip.filter((one) => one.number <= toBlock) });
  };

  readonly finalise: TransferStore['finalise'] = async (chain, upToBlock) => {
    const cursor = this.#at(chain);
    const last = cursor.tip.findLast(({ number }) => number <= upToBlock);
    if (last === undefined) return answerWith({ moved: true, cursor });
    const tip = cursor.tip.filter(({ number }) => number > upToBlock);
    return this.#moved({ ...cursor, tip, final_block: last.number, final_hash: last.hash });
  };

  #at(chain: ChainName): FollowCursor {
    const cursor = this.#cursors.get(chain);
    if (cursor === undefined) throw new TypeError(`${chain} is not followed`);
    return cursor;
  }

  #add(chain: ChainName, block: Block): void {
    const own = this.blocks(chain);
    if (own.some(({ number }) => number === block.number)) this.doubles += 1;
    const numbered = numberTransfers(block.transfers);
    const distinct = new Set(numbered.map(({ identity, n }) => `${identity} ${n}`));
    this.doubles += numbered.length - distinct.size;
    own.push(block);
  }

  #moved(cursor: FollowCursor): Reading<Moved, TransferStorePort> {
    this.#cursors.set(cursor.chain, cursor);
    return answerWith({ moved: true, cursor });
  }
}

const notHere = async (): Promise<never> => {
  throw new Error('this store is only followed into');
};
const unused = {
  appendImported: notHere,
  recordCoverage: notHere,
  recordAddressCoverage: notHere,
  appendLive: notHere,
  recordTokens: notHere,
  blockTimes: notHere,
  status: notHere,
};

function answerWith<T>(value: T): Reading<T, TransferStorePort> {
  return read(value, { port: 'transfer_store', source: SOURCE });
}

function refuseMove(
  code: Extract<Moved, { moved: false }>['refused'],
  cursor: FollowCursor,
): Reading<Moved, TransferStorePort> {
  return answerWith({ moved: false, refused: code, cursor });
}

function nextOf({ tip, final_block, from_block }: FollowCursor): number {
  const highest = tip.at(-1);
  if (highest !== undefined) return highest.number + 1;
  return final_block === null ? from_block : final_block + 1;
}
