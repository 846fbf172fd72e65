// With whom did these addresses exchange transfers, by the transfers held in memory?
// An adapter, not a mock: it keeps the promises of every other and honours every cap. It pages one
// row at a time, so that each fact lies behind a page of its own.

import type { ChainName } from '../../chain/chain.ts';
import { collect, heldUnder } from '../../evidence/measure.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  Counterparty,
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history.ts';

const PORT = 'raw_history';

/** A range of coverage: of one address, or (`address` null) of every address of its chain. */
export type MemoryCoverage = CoverageRange & { readonly address: string | null };

/** What the memory holds. `as_of` is Unix seconds: when the tip of it was observed. */
export type MemoryHistory = {
  readonly chains: readonly ChainName[];
  readonly transfers: readonly HistoryTransfer[];
  readonly coverage: readonly MemoryCoverage[];
  readonly provenance: Neighbourhood['provenance'];
  readonly as_of: number;
  readonly simulated: boolean;
};

/** Transfer history in memory. */
export function memoryTransferHistory(held: MemoryHistory): RawHistory {
  const rows = byAddress(held.transfers);
  const source = {
    name: 'Transfers in memory',
    url: 'memory:',
    as_of: held.as_of,
    kind: 'observation',
    simulated: held.simulated,
  } as const;
  const origin = { port: PORT, source } as const;
  const madeUp = held.simulated ? why('simulated') : null;
  return {
    chainsRead: async () => read(held.chains, origin),
    neighbourhoods: async (addresses, limits) => {
      const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
      let room = limits.batchRowsMax;
      for (const address of addresses) {
        if (limits.signal.aborted) {
          readings.set(address, unread(PORT, why('time_budget')));
          continue;
        }
        const asked = heldUnder(rows, address).filter((row) => isAsked(row.chain, limits));
        const seen = pagedThrough(address, asked, limits, room);
        room -= seen.rows;
        const value = { ...seen.known, coverage: coverageOf(held, address), ...provenance(held) };
        const cut = madeUp === null ? seen.cut : madeUp;
        readings.set(address, cut === null ? read(value, origin) : part(value, origin, cut));
      }
      return readings;
    },
  };
}

function isAsked(chain: ChainName, { chains }: NeighbourhoodLimits): boolean {
  return chains === undefined || chains.includes(chain);
}

function provenance({ provenance: whence }: MemoryHistory): Pick<Neighbourhood, 'provenance'> {
  return { provenance: whence };
}

/** Both sides of every transfer by address, newest first; one to itself has no other side. */
function byAddress(transfers: readonly HistoryTransfer[]): Map<string, HistoryTransfer[]> {
  const newestFirst = [...transfers].sort((a, b) => b.at - a.at);
  const rows = new Map<string, HistoryTransfer[]>();
  for (const transfer of newestFirst) {
    if (transfer.from === transfer.to) continue;
    collect(rows, transfer.from, transfer);
    collect(rows, transfer.to, transfer);
  }
  return rows;
}

function coverageOf({ coverage }: MemoryHistory, address: string): CoverageRange[] {
  const ofIt = coverage.filter((range) => range.address === null || range.address === address);
  return ofIt.map(({ address: _, ...range }) => range);
}

type Paged = {
  readonly known: Omit<Neighbourhood, 'coverage' | 'provenance'>;
  readonly rows: number;
  readonly cut: Why | null;
};

function pagedThrough(
  address: string,
  rows: readonly HistoryTransfer[],
  { rowsMax, degreeMax, transfersPerCounterpartyMax }: NeighbourhoodLimits,
  room: number,
): Paged {
  const degree = new Set(rows.map((row) => otherSide(row, address))).size;
  const limit = Math.min(rowsMax, room);
  if (degree > degreeMax && rows.length > limit) {
    return { known: { address, degree, counterparties: [] }, rows: 0, cut: null };
  }
  const byOther = new Map<string, HistoryTransfer[]>();
  let taken = 0;
  for (const [row] of pagesOf(rows)) {
    if (taken >= limit) {
      const cut = why('row_cap', { address, limit: String(limit) });
      const counterparties = counterpartiesOf(byOther, transfersPerCounterpartyMax);
      return { known: { address, degree: byOther.size, counterparties }, rows: taken, cut };
    }
    collect(byOther, otherSide(row, address), row);
    taken += 1;
  }
  const counterparties = counterpartiesOf(byOther, transfersPerCounterpartyMax);
  return { known: { address, degree, counterparties }, rows: taken, cut: null };
}

/** The rows as pages of one row. */
function* pagesOf(rows: readonly HistoryTransfer[]): Generator<readonly [HistoryTransfer]> {
  for (const row of rows) yield [row];
}

function otherSide({ from, to }: HistoryTransfer, address: string): string {
  return from === address ? to : from;
}

function counterpartiesOf(
  byOther: ReadonlyMap<string, readonly HistoryTransfer[]>,
  transfersMax: number,
): Counterparty[] {
  return [...byOther].map(([address, transfers]) => {
    const shown = transfers.slice(0, transfersMax);
    return { address, transfers: shown, transfer_count: transfers.length };
  });
}
