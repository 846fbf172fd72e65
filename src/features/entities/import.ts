// Imports blocks of Bitcoin: derives ties, and records the blocks held in full. Blocks are read and
// forgotten; only ties, counts of payments and ranges stay. Change is refused if a block before it
// is missing or one after it is held: the first payment to an address would be unknown.

import { tally } from '../../evidence/measure.ts';
import { Read, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type BitcoinBlock,
  type BitcoinBlocks,
  type BitcoinTransaction,
  type BlockHarvest,
  type BlockRange,
  BlocksFault,
  type BlocksImported,
  type BlocksOutcome,
  type BlocksWatch,
  type ClusterStore,
  type Objection,
  type Tie,
} from '../../ports/entities.ts';
import {
  changeTies,
  coinJoin,
  coinJoinParties,
  inputObjections,
  inputTies,
  isSignatureTold,
} from './bitcoin.ts';

const HARVEST_TRANSACTIONS = 5_000;

type Counts = { -readonly [K in keyof Omit<BlocksImported, 'refused'>]: number };
type Basket = {
  ties: Tie[];
  objections: Objection[];
  joined: BlockHarvest['joined'][number][];
  paid: Map<string, number>;
  ranges: BlockRange[];
  transactions: number;
};

/** The counts of an import that has not begun. */
export const NO_BLOCKS: BlocksImported = {
  blocks: 0,
  blocks_in_part: 0,
  blocks_held: 0,
  transactions: 0,
  joint: 0,
  ties: 0,
  refused: new Map<string, number>(),
};

/** Takes in the blocks of a source. */
export async function importBlocks(
  store: ClusterStore,
  source: BitcoinBlocks,
  watch: BlocksWatch,
): Promise<BlocksOutcome> {
  const counts: Counts = { ...NO_BLOCKS };
  const countsSoFar = (): BlocksImported => ({ ...counts, refused: source.refused() });
  const held = await store.blocksHeld();
  if (held instanceof Unread) return { outcome: 'unread', imported: countsSoFar(), why: held.why };
  let basket = emptyBasket();
  const [lowest] = held.value;
  let reach: number =
    lowest === undefined || lowest.from_block > 0 || !lowest.change ? -1 : lowest.to_block;
  const highest = held.value.reduce((most, { to_block }) => Math.max(most, to_block), -1);
  const put = async (): Promise<Why | null> => {
    const kept = await store.keepBlocks(basket);
    if (!(kept instanceof Read)) return kept.why;
    counts.ties += basket.ties.length;
    basket = emptyBasket();
    watch.onProgress(countsSoFar());
    return null;
  };
  try {
    for await (const block of source.blocks(watch.signal)) {
      if (
        held.value.some(
          ({ from_block, to_block }) => from_block <= block.block && block.block <= to_block,
        )
      ) {
        counts.blocks_held += 1;
        continue;
      }
      const isNext = block.whole && block.block === reach + 1 && block.block > highest;
      const known = isNext ? await readPaidBefore(store, basket, block) : null;
      if (known instanceof Unread)
        return { outcome: 'unread', imported: countsSoFar(), why: known.why };
      takeIn(block, known, basket, counts);
      if (isNext) reach = block.block;
      if (basket.transactions < HARVEST_TRANSACTIONS) continue;
      const why = await put();
      if (why !== null) return { outcome: 'unread', imported: countsSoFar(), why };
    }
  } catch (fault) {
    if (!(fault instanceof BlocksFault)) throw fault;
    const why = await put();
    if (why !== null) return { outcome: 'unread', imported: countsSoFar(), why };
    return { outcome: 'fault', imported: countsSoFar(), fault: fault.fault };
  }
  const why = await put();
  if (why !== null) return { outcome: 'unread', imported: countsSoFar(), why };
  return { outcome: watch.signal.aborted ? 'stopped' : 'completed', imported: countsSoFar() };
}

function emptyBasket(): Basket {
  return { ties: [], objections: [], joined: [], paid: new Map(), ranges: [], transactions: 0 };
}

/** Those of a block's payees who were paid before it. */
async function readPaidBefore(
  store: ClusterStore,
  basket: Basket,
  block: BitcoinBlock,
): Promise<Set<string> | Unread<'held_ties'>> {
  const payees = new Set(block.transactions.flatMap(payeesOf));
  const stored = await store.paidBefore([...payees].filter((one) => !basket.paid.has(one)));
  if (stored instanceof Unread) return stored;
  return new Set([...payees].filter((one) => basket.paid.has(one) || stored.value.has(one)));
}

function payeesOf({ outputs }: BitcoinTransaction): string[] {
  return [...new Set(outputs.flatMap(({ address }) => (address === null ? [] : [address])))];
}

function takeIn(
  block: BitcoinBlock,
  known: Set<string> | null,
  basket: Basket,
  counts: Counts,
): void {
  for (const transaction of block.transactions) {
    basket.ties.push(...inputTies(transaction));
    basket.objections.push(...inputObjections(transaction));
    basket.joined.push(...coinJoinParties(transaction));
    if (coinJoin(transaction) !== null) counts.joint += 1;
    const payees = payeesOf(transaction);
    if (known !== null) {
      basket.ties.push(...changeTies(transaction, (address) => !known.has(address)));
      for (const address of payees) known.add(address);
    }
    if (block.whole) for (const address of payees) tally(basket.paid, address);
  }
  basket.transactions += block.transactions.length;
  counts.transactions += block.transactions.length;
  if (!block.whole) {
    counts.blocks_in_part += 1;
    return;
  }
  counts.blocks += 1;
  const { block: number, at } = block;
  const last = basket.ranges.at(-1);
  const change = known !== null;
  const signatures = block.transactions.every(isSignatureTold);
  const adjoins = last?.to_block === number - 1 && last.change === change;
  if (adjoins && last.signatures === signatures) {
    basket.ranges.splice(-1, 1, { ...last, to_block: number, to_time: at });
    return;
  }
  basket.ranges.push({ from_block: number, to_block: number, to_time: at, change, signatures });
}
