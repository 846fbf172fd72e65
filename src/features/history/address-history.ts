// What did these addresses send and receive, transfer by transfer, as far as could be read?
// It is as whole as the history that it is taken from: only a whole one carries a negative.

import type { ChainName } from '../../chain/chain.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/deadline.ts';
import { map, type Partly, Read, seen, unread } from '../../evidence/reading.ts';
import type {
  CoverageRange,
  CoveredNeighbourhood,
  Gap,
  HistoryTransfer,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';
import { compareText } from './edge-rule.ts';
import { HISTORY_LIMITS } from './limits.ts';

/** What is known of one address. */
export type AddressHistory = {
  readonly address: string;
  /** Newest first; one to itself is not among them. */
  readonly transfers: readonly HistoryTransfer[];
  /** How many counterparties it has; in a part, the least that it can be. */
  readonly degree: number;
  readonly coverage: readonly CoverageRange[];
  /** What is missing of the chains asked; none in a whole history. */
  readonly gaps: readonly Gap[];
  readonly provenance: 'warehouse' | 'onchain';
};

/** What is asked. The signal ends the reading's time. */
export type HistoryAsked = {
  /** `null`: every chain of an address's own kind that this deployment reads. */
  readonly chains: readonly ChainName[] | null;
  readonly signal: AbortSignal;
  /** The most transfers of one address: one that has more is a part with the reason `row_cap`. */
  readonly rowsMax?: number;
};

type Answer = Partly<AddressHistory, TransferHistoryPort>;

/** Reads the histories of some addresses in one batch: one reading for each. */
export async function addressHistories(
  history: TransferHistory,
  addresses: readonly string[],
  asked: HistoryAsked,
): Promise<ReadonlyMap<string, Answer>> {
  const { signal, rowsMax = HISTORY_LIMITS.rowsMax } = asked;
  const silence = (reading: Answer) => new Map(addresses.map((one) => [one, reading]));
  const chains = await inTime(() => history.chainsRead(), signal);
  if (chains === OUT_OF_TIME) return silence(unread('transfer_history', STOPPED_BY_TIME));
  if (!(chains instanceof Read)) return silence(chains);
  const limits = {
    rowsMax,
    batchRowsMax: HISTORY_LIMITS.batchRowsMax,
    transfersPerCounterpartyMax: rowsMax,
    signal,
    valued: true,
    // Nobody is walked past here, so that a hub shows its newest transfers like anyone.
    degreeMax: Number.MAX_SAFE_INTEGER,
    ...(asked.chains === null ? {} : { chains: asked.chains }),
  };
  const readings = await inTime(() => history.neighbourhoods(addresses, limits), signal);
  if (readings === OUT_OF_TIME) return silence(unread('transfer_history', STOPPED_BY_TIME));
  return new Map(
    addresses.map((address) => {
      const reading = readings.get(address);
      if (reading === undefined) throw new Error('history: no reading for an address asked');
      return [address, map(reading, toldOf)];
    }),
  );
}

/** Reads the history of one address. */
export async function addressHistory(
  history: TransferHistory,
  address: string,
  asked: HistoryAsked,
): Promise<Answer> {
  const reading = (await addressHistories(history, [address], asked)).get(address);
  if (reading === undefined) throw new Error('history: no reading for the address asked');
  return reading;
}

/** Everyone who was asked for, sent or received in what was read of some histories. */
export function everyoneIn(histories: ReadonlyMap<string, Answer>): string[] {
  const met = new Set<string>(histories.keys());
  for (const reading of histories.values()) {
    const transfers = seen(map(reading, (one) => one.transfers));
    if (transfers === null) continue;
    for (const { from, to } of transfers) met.add(from).add(to);
  }
  return [...met];
}

/** NFTs are left to the walk: what is summed, counted or inferred here is of coins and tokens. */
function toldOf({ counterparties, ...known }: CoveredNeighbourhood): AddressHistory {
  const transfers = counterparties
    .flatMap((one) => one.transfers.filter(({ kind }) => kind !== 'nft'))
    .sort(newestFirst);
  const { address, degree, coverage, gaps, provenance } = known;
  return { address, transfers, degree, coverage, gaps, provenance };
}

function newestFirst(a: HistoryTransfer, b: HistoryTransfer): number {
  return b.at - a.at || b.block - a.block || compareText(a.tx, b.tx);
}
