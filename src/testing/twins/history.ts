// The twin of transfers and of the ring around the list: in memory, planted and silent.
// It honours every cap, and pages one row at a time: each fact lies behind a page of its own.

import type { ChainName } from '../../chain/chain.ts';
import { collect, rowsUnder } from '../../evidence/measure.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type Counterparty,
  type CounterpartyRing,
  type CoverageRange,
  type HeldRing,
  type HistoryTransfer,
  type Neighbourhood,
  type NeighbourhoodLimits,
  type RawHistory,
  type RawHistoryPort,
  type RawRing,
  type RawRingPort,
  type RingExtent,
  type TransferHistory,
  UNPRICED,
} from '../../ports/history.ts';
import { coveredHistory, coveredRing } from '../../stores/history/covered.ts';
import { evm } from '../addresses.ts';
import { STILL_NOW, TIP_MAX_AGE_S } from '../clock.ts';
import { type Dated, memorySource } from './dated.ts';

const HISTORY = 'raw_history';

/** A range of coverage: of one address, or (`address` null) of every address of its chain. */
export type MemoryCoverage = CoverageRange & { readonly address: string | null };

/** The contents of the memory. `as_of`: the time at which its tip was observed. */
export type MemoryHistory = Dated & {
  readonly chains: readonly ChainName[];
  readonly transfers: readonly HistoryTransfer[];
  readonly coverage: readonly MemoryCoverage[];
  readonly provenance: Neighbourhood['provenance'];
};

/** Transfer history in memory. */
export function memoryTransferHistory(held: MemoryHistory): RawHistory {
  const rows = byAddress(held.transfers);
  const source = memorySource('Transfers in memory', 'observation', held);
  const origin = { port: HISTORY, source } as const;
  const madeUp = held.simulated ? why('simulated') : null;
  return {
    chainsRead: async () => read(held.chains, origin),
    neighbourhoods: async (addresses, limits) => {
      const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
      let room = limits.batchRowsMax;
      for (const address of addresses) {
        if (limits.signal.aborted) {
          readings.set(address, unread(HISTORY, why('time_budget')));
          continue;
        }
        const { chains } = limits;
        const own = rowsUnder(rows, address);
        const asked = own.filter(({ chain }) => chains === undefined || chains.includes(chain));
        const seen = pageThrough(address, asked, limits, room);
        room -= seen.rows;
        const value = { ...seen.known, coverage: coverageOf(held, address), ...provenance(held) };
        const cut = seen.cut === null ? madeUp : seen.cut;
        readings.set(address, cut === null ? read(value, origin) : part(value, origin, cut));
      }
      return readings;
    },
  };
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

function pageThrough(
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
  for (const row of rows) {
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

const RING = 'raw_ring';

/**
 * The ring in memory. `absent`: as while a deployment builds its own; `half`: the last listed
 * address and each second one before it were not read yet, nor told by their chains.
 */
export function memoryRing(held: MemoryHistory, state: RingExtent = 'whole'): RawRing {
  const source = memorySource('Transfers in memory', 'observation', held);
  const origin = { port: RING, source } as const;
  return {
    meet: async ({ addresses, listed, chains, rowsMax, signal }) => {
      if (signal.aborted) return unread(RING, why('time_budget'));
      if (state === 'absent') {
        return unread(RING, why('ring_unbuilt', { cause: 'the ring is being built' }));
      }
      const filed =
        state === 'whole' ? listed : listed.filter((_, i) => (listed.length - i) % 2 === 0);
      const asked = new Set(addresses);
      const onList = new Set(filed);
      const newestFirst = [...held.transfers].sort((a, b) => b.at - a.at);
      const pairs = new Map<string, HistoryTransfer[]>();
      for (const transfer of newestFirst) {
        if (!chains.includes(transfer.chain) || transfer.from === transfer.to) continue;
        const { from, to } = transfer;
        for (const [one, other] of [
          [from, to],
          [to, from],
        ] as const) {
          if (asked.has(one) && onList.has(other)) collect(pairs, `${one} ${other}`, transfer);
        }
      }
      const meetings = new Map<string, Counterparty[]>();
      for (const [pair, transfers] of pairs) {
        const [one, address] = pair.split(' ') as [string, string];
        const shown = transfers.slice(0, rowsMax);
        collect(meetings, one, { address, transfers: shown, transfer_count: transfers.length });
      }
      const all = ringCoverage(held);
      const coverage = state === 'whole' ? all : onlyOf(all, filed);
      const ring: HeldRing = { meetings, coverage };
      const reading: Partly<HeldRing, RawRingPort> = held.simulated
        ? part(ring, origin, why('simulated'))
        : read(ring, origin);
      return reading;
    },
  };
}

function ringCoverage({ coverage }: MemoryHistory): HeldRing['coverage'] {
  const ofListed = new Map<string, CoverageRange[]>();
  const ofChains: CoverageRange[] = [];
  for (const { address, ...range } of coverage) {
    if (address === null) ofChains.push(range);
    else ofListed.set(address, [...rowsUnder(ofListed, address), range]);
  }
  return { ofChains, ofListed };
}

function onlyOf(
  { ofChains, ofListed }: HeldRing['coverage'],
  filed: readonly string[],
): HeldRing['coverage'] {
  const own = filed.map((one) => [one, [...ofChains, ...rowsUnder(ofListed, one)]] as const);
  return { ofChains: [], ofListed: new Map(own) };
}

const HASH_DIGITS = 64;
const FIRST_AT = Date.UTC(2026, 0, 1) / 1_000;

/**
 * A transfer by its number: an ether from one to the other, signed by its sender, unless said
 * otherwise. Transaction, block and time follow from the number.
 */
export function memoryTransfer(
  n: number,
  from: string,
  to: string,
  ...[over]: readonly [Partial<HistoryTransfer>?]
): HistoryTransfer {
  return {
    chain: 'ethereum',
    kind: 'native',
    tx: `0x${n.toString(16).padStart(HASH_DIGITS, '0')}`,
    block: n,
    at: FIRST_AT + n,
    from,
    to,
    token: null,
    symbol: null,
    decimals: null,
    raw_amount: 10n ** 18n,
    usd: null,
    has_market: null,
    initiator: from,
    success: true,
    ...over,
  };
}

/** A chain held in full, of every address, to a tip of this time (Unix seconds). */
export function fullCoverage(chain: ChainName, tipAt: number): MemoryCoverage[] {
  return (['native', 'token', 'internal', 'nft'] as const).map((kind) => ({
    chain,
    kind,
    address: null,
    from_block: 0,
    to_block: 30_000_000,
    to_time: tipAt,
    from_first: true,
  }));
}

/** The history of a deployment for which no warehouse and no live source is configured. */
export function silentHistory(): RawHistory {
  const silent = unread('raw_history' as const, why('no_history'));
  return {
    chainsRead: async () => silent,
    neighbourhoods: async (addresses) => new Map(addresses.map((address) => [address, silent])),
  };
}

export type HistoryHeld = {
  readonly history: MemoryHistory;
  /** The ring around the list; left out, it is whole. */
  readonly ringState?: RingExtent;
};

export type HistoryPorts = {
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
};

export function memoryWalked(held: HistoryHeld, now: () => number): HistoryPorts {
  const tip = { now, tipMaxAgeS: TIP_MAX_AGE_S };
  return {
    transferHistory: coveredHistory(memoryTransferHistory(held.history), tip),
    counterpartyRing: coveredRing(memoryRing(held.history, held.ringState), tip),
  };
}

export function silentWalked(cause: Why): HistoryPorts {
  const history = unread('transfer_history', cause);
  return {
    transferHistory: {
      worths: UNPRICED,
      chainsRead: async () => history,
      neighbourhoods: async (addresses) => new Map(addresses.map((one) => [one, history])),
    },
    counterpartyRing: { meet: async () => unread('counterparty_ring', cause) },
  };
}

/** The transfers that a world may plant. */
export type PlantedHistory = {
  readonly transfers?: readonly HistoryTransfer[];
  /** The ring around the list; left out, it is whole. */
  readonly ringState?: RingExtent;
  /** The held part of Ethereum, if it is not all of it. */
  readonly coverage?: readonly MemoryCoverage[];
};

/** The chains of every world. */
export const CHAINS_READ: readonly ChainName[] = ['ethereum', 'base', 'solana', 'bitcoin'];

export function plantedHistory(planted: PlantedHistory): HistoryPorts {
  const { transfers = [], ringState = 'whole', coverage = wholeCoverage('ethereum') } = planted;
  const history: MemoryHistory = {
    as_of: STILL_NOW - MINUTE_S,
    simulated: false,
    chains: CHAINS_READ,
    transfers: [transferOf(evm('somebody'), evm('somebody else')), ...transfers],
    coverage: [
      ...coverage,
      ...CHAINS_READ.filter((one) => one !== 'ethereum').flatMap(wholeCoverage),
    ],
    provenance: 'warehouse',
  };
  return memoryWalked({ history, ringState }, () => STILL_NOW);
}

const MINUTE_S = 60;

function wholeCoverage(chain: ChainName) {
  return (['native', 'token', 'internal', 'nft'] as const).map((kind) => ({
    address: null,
    chain,
    kind,
    from_block: 0,
    to_block: 1_000_000,
    to_time: STILL_NOW - MINUTE_S,
    from_first: true,
  }));
}

let block = 0;

/** A coin that moved between two addresses; each one is newer than the one before. */
export function transferOf(
  from: string,
  to: string,
  change: Partial<HistoryTransfer> = {},
): HistoryTransfer {
  block += 1;
  return {
    chain: 'ethereum',
    kind: 'native',
    tx: `0x${block.toString(16).padStart(64, '0')}`,
    block,
    at: STILL_NOW - 86_400 + block,
    from,
    to,
    token: null,
    symbol: null,
    decimals: null,
    raw_amount: 10n ** 18n,
    usd: '3000',
    has_market: null,
    initiator: from,
    success: true,
    ...change,
  };
}
