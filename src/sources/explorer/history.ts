// With whom did these addresses exchange transfers, as explorers tell it when asked now?
// It refuses to call anything read that a page, a budget or a provider's fault cut short, and to
// cover more than the lists that came to their end, up to a block that was settled before them.

import { type AddressKind, parseAddress } from '../../chain/address.ts';
import { type ChainName, EVM_CHAINS } from '../../chain/chain.ts';
import { type TransferKind, wholeKinds } from '../../chain/transfer.ts';
import { collect, listOrNone, present, rowsUnder } from '../../evidence/measure.ts';
import {
  all,
  map,
  Part,
  type Partly,
  part,
  Read,
  read,
  rowsSeen,
  some,
  type Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  Counterparty,
  CoverageRange,
  HistoryTransfer,
  ListedHistories,
  ListRequest,
  ListSlice,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history.ts';
import {
  isCutShort,
  type LiveHolding,
  mayHold,
  roughBytes,
  type SharedReadings,
  sharedReadings,
} from '../http/held-readings.ts';
import {
  attempt,
  type CallBudget,
  ProviderFault,
  readProvider,
  tryReading,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import {
  ChainRefused,
  type ExplorerChain,
  type ExplorersOfChains,
  explorerFailed,
  type ListAction,
} from './envelope.ts';
import { type HeadReader, headReader, readTransfers, type SettledHead } from './listing.ts';

const PORT = 'raw_history';

type ExplorerHistoryOptions = ExplorersOfChains & LiveHolding;

/** Transfer history read live through explorers. */
export function explorerHistory(options: ExplorerHistoryOptions): RawHistory {
  const { heldMs, nowMs } = options;
  const reader = {
    ...options,
    heads: headReader(options.now),
    lists: sharedReadings<ListReading>({
      ...LISTS_HELD,
      nowMs,
      holdMs: (list, wasStopped) => (!wasStopped && mayHold(list) ? heldMs : 0),
      bytesOf: roughBytes,
      isCutShort,
      heldUnder: (key, list) => (list instanceof Read ? wholeKey(key) : key),
    }),
    isRead: sharedReadings<boolean>({
      ...CHAINS_HELD,
      nowMs,
      holdMs: (_, wasStopped) => (wasStopped ? 0 : heldMs),
      bytesOf: () => 1,
      isCutShort: () => false,
    }),
  };
  return {
    chainsRead: () => chainsRead(reader),
    neighbourhoods: async (addresses, limits) => {
      const { timeMs, callsMax } = options;
      return withBudget({ timeMs, callsMax, signal: limits.signal }, async (budget) => {
        const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
        let room = limits.batchRowsMax;
        for (const address of addresses) {
          const rowsMax = Math.min(limits.rowsMax, room);
          const reading = await readAddress(reader, address, { ...limits, rowsMax }, budget);
          readings.set(address, reading);
          room -= rowsIn(reading);
        }
        return readings;
      });
    },
  };
}

type Reader = ExplorersOfChains & {
  readonly heads: HeadReader;
  readonly lists: SharedReadings<ListReading>;
  /** Whether the source reads a chain. */
  readonly isRead: SharedReadings<boolean>;
};

/** The bounds of the lists that are held, and of what is known of chains. */
const LISTS_HELD = { entriesMax: 20_000, bytesMax: 64 * 2 ** 20 };
const CHAINS_HELD = { entriesMax: EVM_CHAINS.length, bytesMax: 2 ** 10 };

/** A chain that cannot be asked just now is still one that is read; a refused one is not. */
function chainsRead(reader: Reader): ReturnType<RawHistory['chainsRead']> {
  const { timeMs, callsMax } = reader;
  const { signal } = new AbortController();
  return withBudget({ timeMs, callsMax, signal }, async (budget) => {
    const names = new Set<ChainName>();
    await Promise.all(
      reader.chains.map(async (at) => {
        if (await isChainRead(reader, at, budget)) names.add(at.chain);
      }),
    );
    const [first] = reader.chains;
    if (first === undefined) return unread(PORT, why('no_history'));
    const origin = { port: PORT, source: sourceOf(first, reader, reader.now()) } as const;
    return read(
      EVM_CHAINS.filter((name) => names.has(name)),
      origin,
    );
  });
}

async function isChainRead(
  reader: Reader,
  at: ExplorerChain,
  budget: CallBudget,
): Promise<boolean> {
  if (reader.heads.isRefused(at.chain)) return false;
  const told = await tryReading(
    PORT,
    (error) => whyOf(error, at),
    () =>
      reader.isRead.ask(at.chain, budget, async (of) => {
        const head = await attempt(ChainRefused, () => reader.heads.settled(at, of));
        return !(head instanceof ChainRefused);
      }),
  );
  return told !== false;
}

function headOf(
  reader: Reader,
  at: ExplorerChain,
  budget: CallBudget,
): Promise<SettledHead | ChainRefused | Unread<RawHistoryPort>> {
  return tryReading(
    PORT,
    (error) => whyOf(error, at),
    () => attempt(ChainRefused, () => reader.heads.settled(at, budget)),
  );
}

/** Why a question has no answer; a bug is thrown on. */
function whyOf(error: unknown, at: ExplorerChain): Why {
  return whyUnanswered(error, (fault) => explorerFailed(at, fault));
}

function sourceOf({ name, shown }: ExplorerChain, reader: Reader, as_of: number): Source {
  return { name, url: shown, as_of, kind: 'observation', simulated: reader.simulated };
}

/** The result of one list of one chain: its transfers, and the range that they fill, if any. */
type ListPart = {
  readonly transfers: readonly HistoryTransfer[];
  readonly coverage: readonly CoverageRange[];
};

type ListReading = Partly<ListPart, RawHistoryPort>;

async function readAddress(
  reader: Reader,
  address: string,
  limits: NeighbourhoodLimits,
  budget: CallBudget,
): Promise<Partly<Neighbourhood, RawHistoryPort>> {
  const parsed = parseAddress(address);
  if (parsed?.kind !== 'evm') {
    return unread(PORT, why('not_walked_kind', { kind: kindOf(address) }));
  }
  if (budget.signal.aborted) return unread(PORT, why('time_budget'));
  // The batch has no room left: what would be cut to nothing is not asked for.
  if (limits.rowsMax <= 0) return unread(PORT, rowCap(address, limits.rowsMax));
  const ask = { reader, address: parsed.address, rowsMax: limits.rowsMax, budget };
  const asked = reader.chains.filter(({ chain }) => limits.chains?.includes(chain) !== false);
  const lists = (await Promise.all(asked.map((at) => listsOf(ask, at)))).flat();
  if (lists.length === 0) return unread(PORT, why('no_history'));
  const joined = some(lists);
  const told = map(joined, (parts) => neighbourhoodOf(address, parts, limits));
  const over = rowsSeen(map(told, (one) => [one.isCut]))?.[0] === true;
  const whole = map(told, (one) => one.known);
  const cut = over ? weaken(whole, rowCap(address, limits.rowsMax)) : whole;
  return reader.simulated ? weakenSimulated(cut, reader) : cut;
}

function rowCap(address: string, rows: number): Why {
  return why('row_cap', { address, limit: String(rows) });
}

/** Simulated history is a part; one that was not read to its end says why it was not. */
function weakenSimulated(
  reading: Partly<Neighbourhood, RawHistoryPort>,
  reader: Reader,
): Partly<Neighbourhood, RawHistoryPort> {
  const value = rowsSeen(map(reading, (known) => [known]));
  const [first] = reader.chains;
  if (value === null || first === undefined) return reading;
  const origin = { port: PORT, source: sourceOf(first, reader, reader.now()) } as const;
  return part(value[0], origin, reading instanceof Part ? reading.why : why('simulated'));
}

type Ask = {
  readonly reader: Reader;
  readonly address: string;
  readonly rowsMax: number;
  readonly budget: CallBudget;
};

/** The list that tells each kind. */
export const LIST_ACTIONS = [
  ['txlist', 'native'],
  ['tokentx', 'token'],
  ['txlistinternal', 'internal'],
] as const satisfies readonly (readonly [ListAction, TransferKind])[];

/**
 * The three lists of an address on one chain; none where the chain is refused. Lists that are held
 * need no head.
 */
async function listsOf(ask: Ask, at: ExplorerChain): Promise<readonly ListReading[]> {
  const held = present(LIST_ACTIONS.map(([action]) => findList(ask, at, action)));
  if (held.length === LIST_ACTIONS.length) return held;
  const head = await headOf(ask.reader, at, ask.budget);
  if (head instanceof ChainRefused) return [];
  if (!('block' in head)) return [head];
  return Promise.all(LIST_ACTIONS.map(([action, kind]) => listOf(ask, at, head, action, kind)));
}

/** The key of a list that is read no further than some rows, and of one that came to its end. */
function listKey({ address, rowsMax }: Ask, { chain }: ExplorerChain, action: ListAction): string {
  return `${chain} ${action} ${address} ${rowsMax}`;
}

function wholeKey(key: string): string {
  return key.slice(0, key.lastIndexOf(' '));
}

/** A list that is held: a whole one that is as short as asked, or one that was read as far. */
function findList(
  { reader, ...ask }: Ask,
  at: ExplorerChain,
  action: ListAction,
): ListReading | null {
  const key = listKey({ reader, ...ask }, at, action);
  const whole = reader.lists.find(wholeKey(key));
  if (whole?.result instanceof Read && whole.result.value.transfers.length <= ask.rowsMax) {
    return whole.result;
  }
  const cut = reader.lists.find(key);
  return cut === null ? null : cut.result;
}

async function listOf(
  ask: Ask,
  at: ExplorerChain,
  head: SettledHead,
  action: ListAction,
  kind: TransferKind,
): Promise<ListReading> {
  const held = findList(ask, at, action);
  if (held !== null) return held;
  const { reader, budget } = ask;
  return tryReading(
    PORT,
    (error) => whyOf(error, at),
    () =>
      reader.lists.ask(listKey(ask, at, action), budget, async (of) => {
        const list = await attempt(ChainRefused, () =>
          readWholeList({ ...ask, budget: of }, at, head, action, kind),
        );
        if (!(list instanceof ChainRefused)) return list;
        // It was counted as read when this request began: from the next one on it is not.
        reader.heads.refuse(at.chain);
        throw list;
      }),
  );
}

async function readWholeList(
  { reader, address, rowsMax, budget }: Ask,
  at: ExplorerChain,
  head: SettledHead,
  action: ListAction,
  kind: TransferKind,
): Promise<ListReading> {
  const asked = { chain: at.chain, address, fromBlock: 0, toBlock: head.block };
  const origin = { port: PORT, source: sourceOf(at, reader, head.time) } as const;
  const { transfers, cut, pending } = await readTransfers(
    at,
    action,
    asked,
    { transfersMax: rowsMax },
    budget,
  );
  const seenOnly = { transfers, coverage: [] };
  if (pending) return part(seenOnly, origin, explorerFailed(at, STILL_PENDING));
  if (cut) return part(seenOnly, origin, rowCap(address, transfers.length));
  const range: CoverageRange = {
    chain: at.chain,
    kind,
    from_block: 0,
    from_first: true,
    to_block: head.block,
    to_time: head.time,
  };
  // A list that leaves a success untold does not cover what succeeded.
  const whole = wholeKinds('explorer', at.chain, range.from_block, 'rootless').includes(kind);
  const told = whole && transfers.every(({ success }) => success !== null);
  return read({ transfers, coverage: told ? [range] : [] }, origin);
}

const STILL_PENDING = 'its internal transactions are not all processed yet';

function rowsOf(parts: readonly ListPart[]): HistoryTransfer[] {
  // A transaction to oneself moves nothing to anyone, but it says who signed what else was in it.
  const rows = withSigners(parts.flatMap(({ transfers }) => transfers));
  const toOthers = rows.filter(({ from, to }) => from !== to);
  return toOthers.sort((a, b) => b.at - a.at || b.block - a.block);
}

/** Only lists of transactions say who signed; what else moved in one of them, its signer moved. */
function withSigners(rows: readonly HistoryTransfer[]): HistoryTransfer[] {
  const signers = new Map<string, string>();
  for (const { chain, tx, initiator } of rows) {
    if (initiator !== null) signers.set(`${chain} ${tx}`, initiator);
  }
  return rows.map((row) => {
    const signer = signers.get(`${row.chain} ${row.tx}`);
    return row.initiator !== null || signer === undefined ? row : { ...row, initiator: signer };
  });
}

function rowsIn(reading: Partly<Neighbourhood, RawHistoryPort>): number {
  const known = listOrNone(rowsSeen(map(reading, ({ counterparties }) => counterparties)));
  return known.reduce((rows, { transfer_count }) => rows + transfer_count, 0);
}

/**
 * The neighbourhood in some lists, and whether transfers were left out of it. What moved nothing
 * and the address did not sign makes no edge, so it counts for neither bound.
 */
function neighbourhoodOf(
  address: string,
  parts: readonly ListPart[],
  { rowsMax, degreeMax, transfersPerCounterpartyMax }: NeighbourhoodLimits,
): { readonly known: Neighbourhood; readonly isCut: boolean } {
  const rows = rowsOf(parts);
  const coverage = parts.flatMap((one) => one.coverage);
  const isForged = forgeryTest(address, coverage);
  const edges = rows.filter((row) => !isForged(row));
  const degree = byOtherSide(edges, address).size;
  const of = { address, coverage, provenance: 'onchain' } as const;
  if (degree > degreeMax && edges.length > rowsMax) {
    return { known: { ...of, degree, counterparties: [] }, isCut: false };
  }
  const isCut = edges.length > rowsMax;
  const kept = new Set(isCut ? edges.slice(0, rowsMax) : edges);
  const all = byOtherSide(rows, address);
  const taken = byOtherSide(
    rows.filter((row) => kept.has(row) || isForged(row)),
    address,
  );
  const counterparties = [...taken].map(([other, held]): Counterparty => {
    const over = held.filter((row) => !isForged(row)).slice(transfersPerCounterpartyMax);
    const transfers = over.length === 0 ? held : held.filter((row) => !over.includes(row));
    return { address: other, transfers, transfer_count: rowsUnder(all, other).length };
  });
  return { known: { ...of, degree: isCut ? degree : all.size, counterparties }, isCut };
}

/** Tells a transfer of nothing that the address is known not to have signed. */
function forgeryTest(
  address: string,
  coverage: readonly CoverageRange[],
): (transfer: HistoryTransfer) => boolean {
  const own = coverage.filter(({ kind }) => kind === 'native').map(({ chain }) => chain);
  return ({ chain, raw_amount, initiator }) => {
    // Where its own transactions came whole, what is in none of them is not signed by it.
    const isOthers = initiator === null ? own.includes(chain) : initiator !== address;
    return raw_amount === 0n && isOthers;
  };
}

function byOtherSide(
  rows: readonly HistoryTransfer[],
  address: string,
): ReadonlyMap<string, readonly HistoryTransfer[]> {
  const lists = new Map<string, HistoryTransfer[]>();
  for (const row of rows) collect(lists, row.from === address ? row.to : row.from, row);
  return lists;
}

// Reads one list of an address from a block on through its explorer, some pages at a time. A slice
// that the explorer left unfinished is not complete, and no slice reaches past the settled head.

/** A slice that is cut off is read again, so it is short; a block of many rows is read with it. */
const SLICES_MAX = 4;
/** How long one slice may take, waits for the provider's rate included. */
const SLICE_MS = 120_000;

type SliceOptions = {
  /** One for each chain; no two of the same. */
  readonly chains: readonly ExplorerChain[];
  /** Unix seconds. */
  readonly now: () => number;
};

export function explorerLists({ chains, now }: SliceOptions): ListedHistories {
  const heads = headReader(now);
  const kinds = new Map(
    chains.map(({ chain }) => [chain, wholeKinds('explorer', chain, 0, 'rootless')]),
  );
  return {
    kinds,
    slice: async (asked, { callsMax, signal, onCall }) => {
      const at = chains.find(({ chain }) => chain === asked.chain);
      if (at === undefined) throw new RangeError(`no explorer of ${asked.chain}`);
      const limits = { timeMs: SLICE_MS, callsMax, signal };
      const toReason = (fault: string) => explorerFailed(at, fault);
      const provider = { name: at.name, url: at.shown, simulated: false, now, toReason };
      return readProvider(PORT, provider, limits, async (budget) => {
        const spend = () => {
          budget.spend();
          onCall();
        };
        const slice = sliceOf(at, asked, heads, { ...budget, spend });
        const whole = await attempt(ChainRefused, () => slice);
        if (!(whole instanceof ChainRefused)) return whole;
        heads.refuse(at.chain);
        throw whole;
      });
    },
  };
}

async function sliceOf(
  at: ExplorerChain,
  { chain, address, kind, from_block }: ListRequest,
  heads: HeadReader,
  budget: CallBudget,
): Promise<ListSlice> {
  const head = await heads.settled(at, budget);
  if (head.block < from_block) throw fault(`has settled no block since ${from_block - 1}`);
  const asked = { chain, address, fromBlock: from_block, toBlock: head.block };
  const action = LIST_ACTIONS.find(([, of]) => of === kind)?.[0];
  if (action === undefined) throw new RangeError(`no list of ${kind}`);
  const bounds = { transfersMax: Number.POSITIVE_INFINITY, pagesMax: SLICES_MAX };
  const list = await readTransfers(at, action, asked, bounds, budget);
  if (list.pending) throw fault('has not processed all of its internal transactions yet');
  if (list.whole_to < from_block) throw fault(`shows no more rows of block ${from_block}`);
  const transfers = list.transfers.filter(({ block }) => block <= list.whole_to);
  // A transfer with an unknown outcome would be stored as one that succeeded, or be lost.
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

// With whom did these addresses exchange transfers, asked of the live source of their own kind?
// An address of a kind for which no source is configured is unread; no other source is asked.

/** The live sources, by the kind of address that they know. */
type LiveSources = {
  readonly evm: RawHistory | null;
  readonly solana: RawHistory | null;
};

/** One history over the live sources of a deployment. */
export function liveHistory(sources: LiveSources): RawHistory {
  const present = [sources.evm, sources.solana].filter((one) => one !== null);
  return {
    chainsRead: async () => {
      if (present.length === 0) return unread(PORT, why('no_history'));
      const chains = await Promise.all(present.map((one) => one.chainsRead()));
      return map(all(chains), (lists) => lists.flat());
    },
    neighbourhoods: async (addresses, limits) => {
      const kinds = new Map(addresses.map((address) => [address, kindOf(address)]));
      const addressesOf = (kind: 'evm' | 'solana') =>
        addresses.filter((one) => kinds.get(one) === kind);
      const answers = await Promise.all([
        sources.evm === null ? null : sources.evm.neighbourhoods(addressesOf('evm'), limits),
        sources.solana === null
          ? null
          : sources.solana.neighbourhoods(addressesOf('solana'), limits),
      ]);
      const told = new Map(answers.flatMap((one) => (one === null ? [] : [...one])));
      const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
      for (const [address, kind] of kinds) {
        const reading = told.get(address);
        const silent = unread(PORT, why('not_walked_kind', { kind }));
        readings.set(address, reading === undefined ? silent : reading);
      }
      return readings;
    },
  };
}

function kindOf(address: string): AddressKind | 'no known form' {
  const parsed = parseAddress(address);
  return parsed === null ? 'no known form' : parsed.kind;
}
