// The next step towards a node's head. Before anything is added, the last block held is looked for
// on the node's chain; where it is not, the tip is undone down to the last block that is. A final
// block is never undone.

import { placeOrBeginning } from '../../evidence/measure.ts';
import { Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import {
  BLOCKS_AT_ONCE_MAX,
  type ChainNode,
  type FollowCursor,
  type FollowState,
  type Heads,
  type Moved,
  type NodeReach,
  type ReadBlocks,
  type Tenure,
  type TransferStore,
} from '../../ports/indexing.ts';

/** The outside of following. `now` gives Unix seconds. */
export type FollowWorld = {
  readonly node: ChainNode;
  readonly store: TransferStore;
  readonly origin: ImportOrigin;
  readonly now: () => number;
  /** Resolves after so many milliseconds, or at once when the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly pollMs: number;
  /** How many undoable blocks are held at most, `TIP_BLOCKS_MAX`. */
  readonly tipBlocksMax: number;
};

/** The outcome of a step. `ahead`: the next at once; `waits`: nothing to do until a new head. */
type Step =
  | { readonly step: 'ahead' | 'waits' | 'moved' }
  | { readonly step: 'silent' | 'broken'; readonly why: Why };

type Reads<T> = T | Unread<never>;

/** Following, step by step. It holds no block: a crash between two steps loses nothing. */
export class FollowSteps {
  readonly #world: FollowWorld;
  readonly #fromBlock: number | null;
  readonly #tenure: Tenure;
  readonly #signal: AbortSignal;
  #cursor: FollowCursor | null = null;
  #reach: NodeReach | null = null;
  /** Ranges of final blocks that are being read ahead of the cursor, by their first block. */
  readonly #ahead = new Map<number, ReturnType<ChainNode['blocks']>>();
  #heads: Heads | null = null;
  #last: { readonly number: number; readonly time: number } | null = null;
  #done = { blocks: 0, transfers: 0, reorgs: 0, blocks_undone: 0 };
  #leftOut = { misshapen: 0 };

  constructor(world: FollowWorld, fromBlock: number | null, tenure: Tenure, signal: AbortSignal) {
    this.#world = world;
    this.#fromBlock = fromBlock;
    this.#tenure = tenure;
    this.#signal = signal;
  }

  /** Takes one step. After one that did not succeed, the next begins with node and store anew. */
  async next(): Promise<Step> {
    const step = await this.#step();
    if (step.step === 'silent') this.#cursor = null;
    if (step.step !== 'ahead') this.#ahead.clear();
    return step;
  }

  async #step(): Promise<Step> {
    const { node, store } = this.#world;
    const begun = this.#cursor === null ? await this.#begin() : this.#cursor;
    if (begun instanceof Unread) return silent(begun);
    this.#cursor = begun;
    const heads = await node.heads(this.#signal);
    if (!heads.checked) return silent(heads);
    this.#heads = heads.value;
    const kept = await this.#keptBlock(begun, heads.value);
    if (kept instanceof Unread) return silent(kept);
    if (kept === 'broken') {
      const fault = `has another block ${begun.final_block} than the one held as final`;
      return { step: 'broken', why: this.#failed(fault) };
    }
    if (kept === 'behind') return { step: 'waits' };
    if (kept !== 'same') return await this.#undo(begun, kept.toBlock);
    const { final } = heads.value;
    const lowest = begun.tip[0];
    if (lowest !== undefined && final !== null && final >= lowest.number) {
      return this.#moved(await store.finalise(node.chain, final));
    }
    return await this.#add(begun, heads.value);
  }

  async #begin(): Promise<Reads<FollowCursor>> {
    const { node, store, origin } = this.#world;
    const before = await store.cursor(node.chain);
    if (!before.checked) return before;
    const asked = before.value === null ? this.#fromBlock : nextOf(before.value);
    const reach = await node.open(asked, this.#signal);
    if (!reach.checked) return reach;
    const { kinds, unproved } = reach.value;
    const lost = before.value?.kinds.filter((kind) => {
      return !kinds.includes(kind) && unproved?.includes(kind) !== true;
    });
    if (lost !== undefined && lost.length > 0) {
      // Going on without them would leave a hole that nothing here could fill again.
      const fault = `no longer tells ${lost.join(' and ')} transfers, as was followed so far`;
      return unread('chain_node', this.#failed(fault));
    }
    this.#reach = reach.value;
    let from_block = before.value === null ? this.#fromBlock : before.value.from_block;
    if (from_block === null) {
      const heads = await node.heads(this.#signal);
      if (!heads.checked) return heads;
      from_block = placeOrBeginning(heads.value.final);
    }
    const { chain, source } = node;
    const following = { chain, from_block, kinds, source, origin };
    const order = unproved === undefined ? following : { ...following, unproved };
    const cursor = await store.follow(order, this.#tenure);
    if (!cursor.checked) return cursor;
    const highest = cursor.value.tip.at(-1);
    if (highest !== undefined) this.#last = highest;
    return cursor.value;
  }

  /** Whether the last block held is on the node's chain, and where to go back to if it is not. */
  async #keptBlock(
    cursor: FollowCursor,
    heads: Heads,
  ): Promise<Reads<'same' | 'behind' | 'broken' | { readonly toBlock: number }>> {
    const highest = cursor.tip.at(-1);
    if (highest === undefined) return await this.#finalKept(cursor, heads);
    const held = cursor.tip.find(({ number }) => number === heads.latest);
    const asked = highest.number <= heads.latest || held === undefined ? highest : held;
    const same = await this.#isOnChain(asked);
    if (same instanceof Unread) return same;
    // A node that lags behind another has not undone what it has not got yet.
    if (same !== 'other') return same === 'same' && asked === highest ? 'same' : 'behind';
    return await this.#fork(cursor, cursor.tip.indexOf(asked), heads);
  }

  async #finalKept(
    cursor: FollowCursor,
    heads: Heads,
  ): Promise<Reads<'same' | 'behind' | 'broken'>> {
    const { final_block: number, final_hash: hash } = cursor;
    if (number === null || hash === null) return 'same';
    if (number > heads.latest) return 'behind';
    const same = await this.#isOnChain({ number, hash });
    if (same instanceof Unread) return same;
    return same === 'same' ? 'same' : same === 'absent' ? 'behind' : 'broken';
  }

  /** Halves the tip below `at`, which is not on the node's chain, down to where both are one. */
  async #fork(
    cursor: FollowCursor,
    at: number,
    heads: Heads,
  ): Promise<Reads<'behind' | 'broken' | { readonly toBlock: number }>> {
    let lost = at;
    let kept = -1;
    while (lost - kept > 1) {
      const middle = Math.floor((lost + kept) / 2);
      const header = cursor.tip[middle];
      if (header === undefined) throw new RangeError('a fork outside the tip');
      const same = await this.#isOnChain(header);
      if (same instanceof Unread) return same;
      if (same === 'same') kept = middle;
      else lost = middle;
    }
    const last = cursor.tip[kept];
    if (last !== undefined) return { toBlock: last.number };
    const below = await this.#finalKept(cursor, heads);
    if (below !== 'same') return below;
    return { toBlock: cursor.final_block === null ? cursor.from_block - 1 : cursor.final_block };
  }

  async #isOnChain(block: {
    readonly number: number;
    readonly hash: string;
  }): Promise<Reads<'same' | 'other' | 'absent'>> {
    const header = await this.#world.node.header(block.number, this.#signal);
    if (!header.checked) return header;
    if (header.value === null) return 'absent';
    return header.value.hash === block.hash ? 'same' : 'other';
  }

  async #undo(cursor: FollowCursor, toBlock: number): Promise<Step> {
    const { node, store } = this.#world;
    const undone = cursor.tip.filter(({ number }) => number > toBlock).length;
    const step = this.#moved(await store.rollBack(node.chain, toBlock));
    if (step.step === 'ahead') {
      this.#done.reorgs += 1;
      this.#done.blocks_undone += undone;
    }
    return step;
  }

  async #add(cursor: FollowCursor, { latest, final }: Heads): Promise<Step> {
    const from = nextOf(cursor);
    if (from > latest) return { step: 'waits' };
    if (cursor.tip.length >= this.#world.tipBlocksMax) {
      const fault = `made none of its last ${cursor.tip.length} blocks final`;
      return { step: 'silent', why: this.#failed(fault) };
    }
    const reach = this.#reach;
    if (reach !== null && reach.to_block !== null && from > reach.to_block) {
      // From here on it tells other kinds: they are held as a range of their own.
      this.#cursor = null;
      return { step: 'ahead' };
    }
    const isFinal = cursor.tip.length === 0 && final !== null && from <= final;
    const end = isFinal ? final : latest;
    const to = reach === null || reach.to_block === null ? end : Math.min(end, reach.to_block);
    const { node, store } = this.#world;
    const got = await this.#blocks(from, to, isFinal ? RANGES_AHEAD : 1);
    if (!got.checked) return silent(got);
    if (got.value === 'moved') return { step: 'moved' };
    const { blocks } = got.value;
    const moved = isFinal
      ? await store.applyFinal(node.chain, blocks)
      : await store.applyTip(node.chain, blocks);
    const step = this.#moved(moved);
    if (step.step === 'ahead') this.#added(got.value);
    return step;
  }

  /** The next range of blocks, with others behind it under way so that none waits for the store. */
  async #blocks(from: number, to: number, ranges: number): ReturnType<ChainNode['blocks']> {
    for (let n = 0; n < ranges; n += 1) {
      const first = from + n * BLOCKS_AT_ONCE_MAX;
      if (first > to || this.#ahead.has(first)) continue;
      const last = Math.min(to, first + BLOCKS_AT_ONCE_MAX - 1);
      const reading = this.#world.node.blocks(first, last, this.#signal);
      // It may fail before its turn; then it fails again when it is waited for.
      reading.catch(() => undefined);
      this.#ahead.set(first, reading);
    }
    const next = this.#ahead.get(from);
    if (next === undefined) throw new RangeError('no blocks to read');
    this.#ahead.delete(from);
    return await next;
  }

  #added({ blocks, left_out }: ReadBlocks): void {
    const last = blocks.at(-1);
    if (last !== undefined) this.#last = last;
    this.#done.blocks += blocks.length;
    for (const { transfers } of blocks) this.#done.transfers += transfers.length;
    this.#leftOut.misshapen += left_out.misshapen;
  }

  /** The store's answer. A refusal is met by looking at node and store again. */
  #moved(reading: Awaited<ReturnType<TransferStore['rollBack']>>): Step {
    if (!reading.checked) return silent(reading);
    const moved: Moved = reading.value;
    this.#cursor = moved.moved || moved.refused !== 'gap' ? moved.cursor : null;
    if (!moved.moved) return { step: 'moved' };
    const highest = moved.cursor.tip.at(-1);
    if (highest !== undefined) this.#last = highest;
    return { step: 'ahead' };
  }

  #failed(fault: string): Why {
    return why('provider_failed', { provider: this.#world.node.source, fault });
  }

  /** Where following stands now, in the words that are shown. */
  state(fault: Why | null): FollowState {
    const { node, now } = this.#world;
    const cursor = this.#cursor;
    const heads = this.#heads;
    const last = this.#last;
    const last_time = last === null ? null : last.time;
    const lastNumber = last === null ? null : last.number;
    const last_block = cursor === null ? lastNumber : lastOf(cursor);
    return {
      chain: node.chain,
      source: node.source,
      kinds: this.#reach === null ? null : this.#reach.kinds,
      head_block: heads === null ? null : heads.latest,
      last_block,
      last_time,
      final_block: cursor === null ? null : cursor.final_block,
      lag_blocks:
        heads === null || last_block === null ? null : Math.max(0, heads.latest - last_block),
      lag_s: last_time === null ? null : Math.max(0, now() - last_time),
      ...this.#done,
      left_out: { ...this.#leftOut },
      fault,
    };
  }
}

/** The state of a chain of which nothing was asked yet. */
export function notBegun(chain: string, source: string): FollowState {
  return {
    chain,
    source,
    kinds: null,
    head_block: null,
    last_block: null,
    last_time: null,
    final_block: null,
    lag_blocks: null,
    lag_s: null,
    blocks: 0,
    transfers: 0,
    reorgs: 0,
    blocks_undone: 0,
    left_out: { misshapen: 0 },
    fault: null,
  };
}

/** Ranges of final blocks that are read from a node at once. */
const RANGES_AHEAD = 4;

function silent(reading: { readonly checked: false; readonly why: Why }): Step {
  return { step: 'silent', why: reading.why };
}

function lastOf({ tip, final_block }: FollowCursor): number | null {
  const highest = tip.at(-1);
  return highest === undefined ? final_block : highest.number;
}

function nextOf(cursor: FollowCursor): number {
  const last = lastOf(cursor);
  return last === null ? cursor.from_block : last + 1;
}
