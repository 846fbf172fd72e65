// The transfers of some addresses, as far as they could be read. The result is as complete as the
// history behind it; only a complete one carries a negative.

import { isSystemAddress } from '../../chain/address.ts';
import { formatUnits } from '../../chain/amount.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { map, Part, type Partly, Read, rowsSeen, unread } from '../../evidence/reading.ts';
import type { ReasonCode, Why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, portInTime, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import {
  type CoveredNeighbourhood,
  type HistoryTransfer,
  isSignedBy,
  type TransferHistory,
  type TransferHistoryPort,
  UNPRICED,
} from '../../ports/history.ts';
import { compareText } from './edge-rule.ts';

export type AddressHistory = Pick<
  CoveredNeighbourhood,
  'address' | 'degree' | 'coverage' | 'gaps' | 'provenance'
> & {
  /** Newest first; one to itself is not among them. */
  readonly transfers: readonly HistoryTransfer[];
};

/** The request of a reading. The signal ends its time. */
export type HistoryRequest = {
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
  asked: HistoryRequest,
): Promise<ReadonlyMap<string, Answer>> {
  const { signal, rowsMax = HISTORY_LIMITS.rowsMax } = asked;
  const known = historyInTime(history, signal);
  const chains = await known.chainsRead();
  if (!(chains instanceof Read)) return new Map(addresses.map((one) => [one, chains]));
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
  const readings = await known.neighbourhoods(addresses, limits);
  return new Map(
    addresses.map((address) => {
      const reading = readings.get(address);
      if (reading === undefined) throw new Error('history: no reading for an address asked');
      return [address, map(reading, historyOf)];
    }),
  );
}

/** The same history for one request: what did not come before the signal is unread, or unpriced. */
export function historyInTime(history: TransferHistory, signal: AbortSignal): TransferHistory {
  return {
    ...portInTime('transfer_history', { chainsRead: () => history.chainsRead() }, signal),
    neighbourhoods: async (addresses, limits) => {
      const readings = await inTime(() => history.neighbourhoods(addresses, limits), signal);
      if (readings !== OUT_OF_TIME) return readings;
      const silent = unread('transfer_history', STOPPED_BY_TIME);
      return new Map(addresses.map((address) => [address, silent]));
    },
    worths: async (transfers) => {
      const worths = await inTime(() => history.worths(transfers, signal), signal);
      return worths === OUT_OF_TIME ? UNPRICED(transfers, signal) : worths;
    },
  };
}

export async function addressHistory(
  history: TransferHistory,
  address: string,
  asked: HistoryRequest,
): Promise<Answer> {
  const reading = (await addressHistories(history, [address], asked)).get(address);
  if (reading === undefined) throw new Error('history: no reading for the address asked');
  return reading;
}

/** Everyone who was asked for, sent or received in what was read of some histories. */
export function everyoneIn(histories: ReadonlyMap<string, Answer>): string[] {
  const met = new Set<string>(histories.keys());
  for (const reading of histories.values()) {
    const transfers = rowsSeen(map(reading, (one) => one.transfers));
    if (transfers === null) continue;
    for (const { from, to } of transfers) met.add(from).add(to);
  }
  return [...met];
}

/** NFTs are left to the walk: what is summed, counted or inferred here is of coins and tokens. */
function historyOf({ counterparties, ...known }: CoveredNeighbourhood): AddressHistory {
  const transfers = counterparties
    .flatMap((one) => one.transfers.filter(({ kind }) => kind !== 'nft'))
    .sort((a, b) => b.at - a.at || b.block - a.block || compareText(a.tx, b.tx));
  const { address, degree, coverage, gaps, provenance } = known;
  return { address, transfers, degree, coverage, gaps, provenance };
}

/** The limits of reading transfer history. */
export const HISTORY_LIMITS = {
  /** The most transfers of one address. */
  rowsMax: 5_000,
  /** The most transfers of all addresses of one question. */
  batchRowsMax: 100_000,
} as const;

/** Why a walk was not taken to its end: the first cause of a kind, and how many there were. */
export type Cause = { readonly why: Why; readonly count: number };

/** The causes of one walk, in the order in which their codes were first met. */
export type Causes = Map<ReasonCode, Cause>;

/** Adds a cause. Of causes of one code the first is kept and the rest counted. */
export function addCause(causes: Causes, why: Why): void {
  const before = causes.get(why.code);
  const cause = before === undefined ? { why, count: 1 } : { ...before, count: before.count + 1 };
  causes.set(why.code, cause);
}

/** The causes as one text for people. */
export function causesText(causes: readonly Cause[]): string {
  return causes
    .map(({ why, count }) =>
      count === 1
        ? why.reason
        : `${why.reason.replace(/\.$/, '')} (and ${count - 1} more like it).`,
    )
    .join(' ');
}

/**
 * A history for one answer whose limits do not change: each address is read once. A second reading
 * could differ, and costs.
 */
export function readOnce(history: TransferHistory): TransferHistory {
  const known = new Map<string, Partly<CoveredNeighbourhood, TransferHistoryPort>>();
  let chains: ReturnType<TransferHistory['chainsRead']> | null = null;
  return {
    worths: history.worths,
    chainsRead: () => {
      if (chains === null) chains = history.chainsRead();
      return chains;
    },
    neighbourhoods: async (addresses, limits) => {
      const missing = addresses.filter((one) => !known.has(one));
      if (missing.length > 0) {
        for (const [address, reading] of await history.neighbourhoods(missing, limits)) {
          known.set(address, reading);
        }
      }
      return new Map([...known].filter(([address]) => addresses.includes(address)));
    },
  };
}

/**
 * A history that says what came first: one that is cut could have anything before what it shows,
 * so it is unread here. Made-up history is shown as the made-up whole that it is.
 */
export function sinceFirst(history: Answer): Answer {
  if (!(history instanceof Part) || history.why.code === 'simulated') return history;
  return unread('transfer_history', history.why);
}

/** A transfer as answers show it. `amount`: in whole units; `null` where their size is unknown. */
export function viewTransfer(subject: string, transfer: HistoryTransfer) {
  const { chain, kind, tx, token, raw_amount, usd, at } = transfer;
  const { symbol, decimals } = token === null ? CHAINS[chain].native : transfer;
  const isCounted = decimals !== null && kind !== 'nft';
  return {
    chain,
    tx,
    token,
    symbol,
    amount: isCounted ? formatUnits(raw_amount, decimals) : null,
    raw_amount: raw_amount.toString(),
    usd,
    at: formatIsoTime(at),
    initiated_by_subject: isSignedBy(subject, transfer),
  };
}

/**
 * The first transfer that paid coins to the address: its `from` is the first funder. `null` where
 * nothing came, or something is missing of the history.
 */
export function firstFundingTransfer({
  address,
  transfers,
  gaps,
}: AddressHistory): HistoryTransfer | null {
  if (gaps.length > 0) return null;
  const paid = transfers.filter(
    ({ kind, from, to, raw_amount, success }) =>
      kind !== 'token' &&
      to === address &&
      raw_amount > 0n &&
      success !== false &&
      !isSystemAddress(from),
  );
  const last = paid.at(-1);
  return last === undefined ? null : last;
}

/** The reading of that transfer. */
export function fundingOf(history: Answer): Partly<HistoryTransfer | null, TransferHistoryPort> {
  return map(sinceFirst(history), firstFundingTransfer);
}
