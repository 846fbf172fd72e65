// What did these addresses send and receive, transfer by transfer, as far as could be read?
// It refuses to call a history read whose rows were cut or whose chains are not held in full from
// the first block to a fresh tip: only a whole one carries a negative.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/deadline.ts';
import {
  map,
  type Partly,
  Read,
  type Reading,
  seen,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';
import { type Gap, gapsIn, gapsText } from './coverage.ts';
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

/** What is asked. `now` gives Unix seconds; the signal ends the reading's time. */
export type HistoryAsked = {
  /** `null`: every chain of an address's own kind that this deployment reads. */
  readonly chains: readonly ChainName[] | null;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly tipMaxAgeS: number;
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
  const chains = await chainsFor(history, asked);
  const silence = (reading: Answer) => new Map(addresses.map((one) => [one, reading]));
  if (chains === OUT_OF_TIME) return silence(unread('transfer_history', STOPPED_BY_TIME));
  if (!(chains instanceof Read)) return silence(chains);
  const limits = {
    ...{
      rowsMax,
      batchRowsMax: HISTORY_LIMITS.batchRowsMax,
      transfersPerCounterpartyMax: rowsMax,
      signal,
    },
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
      return [address, judged(address, reading, chains.value, asked)];
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

/** The chains a whole history must cover; those of other kinds are taken out for each address. */
async function chainsFor(
  history: TransferHistory,
  { chains, signal }: HistoryAsked,
): Promise<Reading<readonly ChainName[], TransferHistoryPort> | typeof OUT_OF_TIME> {
  const read = await inTime(() => history.chainsRead(), signal);
  if (read === OUT_OF_TIME || chains === null || !(read instanceof Read)) return read;
  return map(read, () => chains);
}

function judged(
  address: string,
  reading: Partly<Neighbourhood, TransferHistoryPort>,
  chains: readonly ChainName[],
  { now, tipMaxAgeS }: HistoryAsked,
): Answer {
  const parsed = parseAddress(address);
  const own = chains.filter((chain) => parsed !== null && CHAINS[chain].kind === parsed.kind);
  if (chains.length === 0) return unread('transfer_history', why('no_history'));
  if (own.length === 0) {
    const kind = parsed === null ? 'no known form' : parsed.kind;
    return unread('transfer_history', why('not_walked_kind', { kind }));
  }
  const needs = { chains: own, now: now(), tipMaxAgeS };
  const told = map(reading, (known): AddressHistory => {
    const { degree, coverage, provenance } = known;
    const gaps = gapsIn(coverage, needs);
    const transfers = known.counterparties
      .flatMap((one) => one.transfers)
      .filter(({ chain }) => own.includes(chain))
      .sort(newestFirst);
    return { address, transfers, degree, coverage, gaps, provenance };
  });
  const gaps = seen(map(told, (known) => known.gaps));
  if (gaps === null || gaps.length === 0) return told;
  return weaken(told, why('partial_history', { gaps: gapsText(address, gaps) }));
}

function newestFirst(a: HistoryTransfer, b: HistoryTransfer): number {
  return b.at - a.at || b.block - a.block || compareText(a.tx, b.tx);
}
