// What does one list of an address hold from a block on, as its explorer tells it, some pages at a
// time? It refuses to call a slice whole that the explorer left unfinished, and to reach past what
// is settled.

import { type TransferKind, wholeKinds } from '../../chain/transfer.ts';

import { type Reading, read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  ListAsked,
  ListedHistories,
  ListSlice,
} from '../../ports/history/counterparty-ring.ts';
import type { RawHistoryPort } from '../../ports/history/transfer-history.ts';
import { type CallBudget, ProviderFault, whyUnanswered, withBudget } from '../http/provider.ts';
import { ChainRefused } from './envelope.ts';
import { type HeadReader, headReader } from './head.ts';
import { LIST_ACTIONS } from './history.ts';
import { listed } from './listing.ts';
import { type ExplorerChain, explorerFailed } from './provider.ts';

const PORT: RawHistoryPort = 'raw_history';
/** A slice that is cut off is read again, so it is short; a block of many rows is read with it. */
const PAGES_MAX = 4;
/** How long one slice may take, waits for the provider's rate included. */
const SLICE_MS = 120_000;

type SliceOptions = {
  /** One for each chain; no two of the same. */
  readonly chains: readonly ExplorerChain[];
  /** Unix seconds. */
  readonly now: () => number;
};

/** The lists of some explorers. */
export function explorerLists({ chains, now }: SliceOptions): ListedHistories {
  const heads = headReader(now);
  const kinds = new Map(chains.map(({ chain }) => [chain, wholeKinds('explorer', chain, 0)]));
  return {
    kinds,
    slice: async (asked, { callsMax, signal, onCall }) => {
      const at = chains.find(({ chain }) => chain === asked.chain);
      if (at === undefined) throw new RangeError(`no explorer of ${asked.chain}`);
      try {
        return await withBudget({ timeMs: SLICE_MS, callsMax, signal }, async (budget) => {
          const counted: CallBudget = {
            ...budget,
            spend: () => {
              budget.spend();
              onCall();
            },
          };
          return told(at, now(), await sliceOf(at, asked, heads, counted));
        });
      } catch (error) {
        return unread(PORT, whyOf(error, at, heads));
      }
    },
  };
}

function told(
  { name, shown }: ExplorerChain,
  as_of: number,
  slice: ListSlice,
): Reading<ListSlice, RawHistoryPort> {
  const source = { name, url: shown, as_of, kind: 'observation', simulated: false } as const;
  return read(slice, { port: PORT, source });
}

function whyOf(error: unknown, at: ExplorerChain, heads: HeadReader): Why {
  if (!(error instanceof ChainRefused)) {
    return whyUnanswered(error, (fault) => explorerFailed(at, fault));
  }
  heads.refuse(at.chain);
  return explorerFailed(at, 'its plan refuses this chain');
}

async function sliceOf(
  at: ExplorerChain,
  { chain, address, kind, from_block }: ListAsked,
  heads: HeadReader,
  budget: CallBudget,
): Promise<ListSlice> {
  const head = await heads.settled(at, budget);
  if (head.block < from_block) throw fault(`has settled no block since ${from_block - 1}`);
  const asked = { chain, address, fromBlock: from_block, toBlock: head.block };
  const action = actionOf(kind);
  const bounds = { transfersMax: Number.POSITIVE_INFINITY, pagesMax: PAGES_MAX };
  const list = await listed(at, action, asked, bounds, budget);
  if (list.pending) throw fault('has not processed all of its internal transactions yet');
  if (list.whole_to < from_block) throw fault(`shows no more rows of block ${from_block}`);
  const transfers = list.transfers.filter(({ block }) => block <= list.whole_to);
  // What is left open here would be held as a transfer that succeeded, or lost.
  if (transfers.some(({ success }) => success === null)) throw fault('tells no success');
  const ended = list.whole_to === head.block;
  const times = transfers.map((one) => one.at);
  const to_time = ended ? head.time : times.reduce((a, b) => Math.max(a, b), EARLIEST);
  return { transfers, to_block: list.whole_to, to_time, ended };
}

/** Of a block that no row dates it is only known that it is not older than this. */
const EARLIEST = 0;

function fault(text: string): ProviderFault {
  return new ProviderFault(text, 'passing');
}

function actionOf(kind: TransferKind) {
  const found = LIST_ACTIONS.find(([, of]) => of === kind);
  if (found === undefined) throw new RangeError(`no list of ${kind}`);
  return found[0];
}
