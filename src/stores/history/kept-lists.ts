// Stores a listed history in slices, so that no stored slice is read again. A slice counts as held
// once all of its rows are written: an interrupted one is read anew.

import { all, basis, map, type Reading, Unread } from '../../evidence/reading.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import type { KeptLists, ListedHistories, RawHistoryPort, ReadSlice } from '../../ports/history.ts';

import type { TransferStore, TransferStorePort } from '../../ports/indexing.ts';
import { eachOnce } from './cascade.ts';
import { factOf, isNamed, tokensIn } from './live-facts.ts';

type KeptOptions = {
  readonly lists: ListedHistories;
  readonly store: Pick<TransferStore, 'appendImported' | 'recordTokens' | 'recordAddressCoverage'>;
  readonly origin: ImportOrigin;
  readonly now: () => number;
};

/** Lists of which what is read is kept. */
export function keptLists({ lists, store, origin, now }: KeptOptions): KeptLists {
  return {
    read: async (asked, spending): Promise<Reading<ReadSlice, RawHistoryPort>> => {
      const reading = await lists.slice(asked, spending);
      const [source] = basis(reading).sources;
      return map(reading, (slice) => {
        if (source === undefined) throw new TypeError('a reading without a source');
        return { asked, slice, source: source.url };
      });
    },
    keep: async (slices): Promise<Reading<true, TransferStorePort>> => {
      const read_at = now();
      // A transfer between two listed addresses is in the lists of both. A transaction to oneself
      // moves nothing to anyone, but it tells who signed.
      const told = eachOnce(slices.map(({ slice }) => slice.transfers.filter(isNamed)));
      const facts = {
        transfers: told.filter(({ from, to }) => from !== to).map(factOf),
        creations: [],
        blocks: [],
        transactions: told.flatMap(({ kind, chain, tx, block, initiator, success }) =>
          kind === 'native' && initiator !== null
            ? [{ chain, tx_hash: tx, block, initiator, success }]
            : [],
        ),
      };
      const from = { source: 'explorers', origin, import_id: 'ring' };
      const appended = await store.appendImported(facts, from);
      if (appended instanceof Unread) return appended;
      const transfers = slices.flatMap(({ slice }) => slice.transfers);
      const named = await store.recordTokens(tokensIn(transfers, UNDATED));
      if (named instanceof Unread) return named;
      // Ranges last: who reads them before the rows never takes rows for all that are missing.
      const ranges = slices.map(({ asked, slice: { to_block, to_time }, source }) => {
        const { chain, address, kind, from_block } = asked;
        const blocks = { from_block, to_block, to_time, from_first: from_block === 0 };
        return { chain, address, kind, ...blocks, source, origin, read_at, truncated: false };
      });
      return map(all([named, await store.recordAddressCoverage(ranges)]), () => true as const);
    },
  };
}

/** An explorer tells names and no markets: they stand behind whatever was read of a token. */
const UNDATED = 0;
