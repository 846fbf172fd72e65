// How do facts of chains get into the warehouse, each of them once?
// The port over its steps: a failure is silence, and a silent step is simply asked again.

import type { ChainName } from '../../../chain/chain.ts';
import { type Reading, read, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type {
  HeldRange,
  TokenFact,
  TransferStore,
  TransferStorePort,
} from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { addressRanges } from './address-ranges.ts';
import { appendFacts, insertRows } from './append.ts';
import { blockTimes } from './block-times.ts';
import { addressHex } from './bytes.ts';
import { compactSides } from './compaction.ts';
import { degreeCount } from './degrees.ts';
import { FINALITY, observed } from './fact-rows.ts';
import { Superseded } from './follow-position.ts';
import { followedChains } from './following.ts';
import { heldChains } from './status.ts';
import { unreadFor, warehouseSource } from './warehouse-reading.ts';

const PORT = 'transfer_store';

/** The store of transfers in a warehouse. `now` is Unix seconds. */
export function transferStore(warehouse: Warehouse, now: () => number): TransferStore {
  const chains = followedChains(warehouse);
  const degrees = degreeCount(warehouse);
  const recordRanges = addressRanges(warehouse, now);

  async function asked<T>(work: () => Promise<T>): Promise<Reading<T, TransferStorePort>> {
    try {
      const value = await work();
      return read(value, { port: PORT, source: warehouseSource(now(), false) });
    } catch (error) {
      if (error instanceof Superseded) {
        return unread(PORT, why('followed_elsewhere', { chain: error.chain }));
      }
      return unreadFor(PORT, error);
    }
  }

  return {
    appendImported: (facts, { origin }) =>
      asked(async () => {
        const standing = { origin, finality: FINALITY.imported };
        const result = await appendFacts(warehouse, facts, standing);
        await degrees.countIfGrown();
        return result;
      }),
    recordCoverage: (ranges) =>
      asked(async () => {
        await recordCoverage(warehouse, ranges);
        await degrees.count();
        await compactSides(warehouse);
        return true as const;
      }),
    recordAddressCoverage: (ranges) => asked(() => recordRanges(ranges)),
    appendLive: ({ transfers, ranges, tokens }) =>
      asked(async () => {
        // Ranges last: who reads them before the rows never takes rows for all that are missing.
        const [first] = ranges;
        if (first === undefined) return true as const;
        const facts = { transfers, creations: [], blocks: [], transactions: [] };
        const standing = { origin: first.origin, finality: FINALITY.imported };
        await appendFacts(warehouse, facts, standing);
        await recordTokens(warehouse, tokens);
        return await recordRanges(ranges);
      }),
    recordTokens: (tokens) => asked(() => recordTokens(warehouse, tokens)),
    blockTimes: (chain, numbers) => asked(() => blockTimes(warehouse, chain, numbers)),
    cursor: (chain) => asked(() => chains.cursor(chain)),
    follow: (following, tenure) => asked(() => chains.follow(following, tenure)),
    applyFinal: (chain, blocks) =>
      asked(async () => {
        const moved = await chains.applyFinal(chain, blocks);
        await degrees.countIfGrown();
        return moved;
      }),
    applyTip: (chain, blocks) => asked(() => chains.applyTip(chain, blocks)),
    rollBack: (chain, toBlock) => asked(() => chains.rollBack(chain, toBlock)),
    finalise: (chain: ChainName, upToBlock: number) =>
      asked(async () => {
        const moved = await chains.finalise(chain, upToBlock);
        await degrees.countIfGrown();
        return moved;
      }),
    status: () => asked(() => heldChains(warehouse)),
  };
}

async function recordCoverage(warehouse: Warehouse, ranges: readonly HeldRange[]): Promise<void> {
  const columns = ['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'];
  const rows = ranges.map(({ chain, kind, from_block, to_block, source, origin, to_time }) => [
    ...[chain, kind, from_block, to_block, source, observed(origin), Math.floor(to_time)],
  ]);
  await insertRows(warehouse, 'coverage', { columns, rows });
}

async function recordTokens(warehouse: Warehouse, tokens: readonly TokenFact[]): Promise<true> {
  const columns = ['chain', 'token_hex', 'symbol', 'decimals', 'has_market', 'read_at'];
  const rows = tokens.map(({ chain, token, symbol, decimals, has_market, read_at }) => [
    ...[chain, addressHex(token), symbol, decimals, has_market, Math.floor(read_at)],
  ]);
  await insertRows(warehouse, 'tokens', { columns, rows });
  return true;
}
