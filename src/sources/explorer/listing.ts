// A list has ended only where the provider, asked again from its last block on and newest first,
// says just the rows of that block: a page can be cut short without a word, inside a block too, and
// in that order what was cut off comes first. Pages go by block: numbered ones end at a window.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { parseRawAmount } from '../../chain/amount.ts';
import { CHAINS, EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { outsideRow } from '../http/fetch.ts';
import { sharedReadings } from '../http/held-readings.ts';
import { attempt, type CallBudget, ProviderFault } from '../http/provider.ts';
import {
  askExplorer,
  ChainRefused,
  type ExplorerChain,
  type ListAction,
  type ListPage,
  nodeResultIn,
  PAGE_ROWS,
  pageIn,
  WindowEnded,
} from './envelope.ts';

const PAGES_MAX = 200;

/**
 * A list. `cut`: it has more transfers than were asked for, or the provider's window ended before
 * its rows did; `pending`: the provider says that rows are still to come. `whole_to`: the last
 * block up to which all rows are among them, one before the first asked where there is none.
 */
export type Listed<T = HistoryTransfer> = {
  readonly transfers: readonly T[];
  readonly cut: boolean;
  readonly pending: boolean;
  readonly whole_to: number;
};

/** How much of a list is read at once: so many transfers that moved something, or pages. */
export type ListBounds = { readonly transfersMax: number; readonly pagesMax?: number };

/**
 * Rows of one list that moved nothing and may be forged: they count for no bound but this one, so
 * that nobody cuts another's list short with them.
 */
const EMPTY_ROWS_MAX = 50_000;

/** A row as it came, with its block, and what it tells; `null` where it tells nothing. */
export type ReadAs<T> = { readonly block: number; readonly told: T | null };

/** Reads a row; throws `ProviderFault` for one that is not as documented. */
type RowReader<T> = (action: ListAction, row: unknown, asked: RowsQuery) => ReadAs<T>;

type Reading<T> = {
  readonly at: ExplorerChain;
  readonly action: ListAction;
  readonly rowIn: RowReader<T>;
  readonly budget: CallBudget;
  /** Whether a row counts for `transfersMax`; without it each does. */
  readonly counts?: (told: T) => boolean;
};

/** Reads a list to its end, or until its bounds are passed. */
export function readTransfers(
  at: ExplorerChain,
  action: ListAction,
  asked: RowsQuery,
  bounds: ListBounds,
  budget: CallBudget,
): Promise<Listed> {
  const transferIn: RowReader<HistoryTransfer> = (list, row, of) => {
    const { block, transfer } = rowIn(list, row, of);
    return { block, told: transfer };
  };
  const counts = ({ raw_amount, initiator }: HistoryTransfer) =>
    raw_amount > 0n || initiator === asked.address;
  return readList({ at, action, rowIn: transferIn, budget, counts }, asked, bounds);
}

/** Reads a list as `listed` does, whatever its rows tell. */
export async function readList<T>(
  list: Reading<T>,
  asked: RowsQuery,
  { transfersMax, pagesMax = PAGES_MAX }: ListBounds,
): Promise<Listed<T>> {
  const { action, counts } = list;
  const done: T[] = [];
  let counted = 0;
  const add = (rows: readonly ReadAs<T>[]) => {
    for (const { told } of rows) {
      if (told === null) continue;
      done.push(told);
      if (counts?.(told) !== false) counted += 1;
    }
  };
  const isOver = () => counted > transfersMax || done.length - counted > EMPTY_ROWS_MAX;
  let pending = false;
  let from = asked.fromBlock;
  // How many rows of block `from` the page before ended with; 0 where it is not known to have any.
  let shown = 0;
  const result = (cut: boolean, whole_to: number) => ({ transfers: done, cut, pending, whole_to });
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await attempt(WindowEnded, () => askPage(list, { ...asked, fromBlock: from }, 1));
    if (page instanceof WindowEnded) {
      if (pages === 0) throw page;
      return result(true, from - 1);
    }
    const { rows } = page;
    pending ||= page.pending;
    // The two answers are of different states: nothing follows from either.
    const again = rows.filter(({ block }) => block === from).length;
    if (again < shown) {
      throw new ProviderFault(`answered pages that disagree (${action})`, 'passing');
    }
    const last = rows.at(-1)?.block;
    if (last === undefined) return result(false, asked.toBlock);
    if (rows.length < PAGE_ROWS) {
      add(rows);
      const cut = isOver();
      if (!cut) {
        const ended = rows.filter(({ block }) => block === last);
        const rest = { ...asked, fromBlock: last };
        const more = await askPage(list, rest, 1, 'desc');
        if (!areSame(ended, more.rows)) {
          throw new ProviderFault(`cut a page short without a word (${action})`, 'passing');
        }
        pending ||= more.pending;
      }
      return result(cut, cut ? from - 1 : asked.toBlock);
    }
    const before = rows.filter(({ block }) => block < last);
    if (before.length > 0) {
      add(before);
      shown = rows.length - before.length;
      from = last;
    } else {
      const rest = await restOfBlock(list, { ...asked, fromBlock: last }, rows);
      add(rest.rows);
      pending ||= rest.pending;
      if (rest.cut || last === asked.toBlock) return result(rest.cut, rest.cut ? last - 1 : last);
      shown = 0;
      from = last + 1;
    }
    if (isOver()) return result(true, from - 1);
  }
  return result(true, from - 1);
}

/** What was read of a row, with the row itself. */
type Placed<T> = ReadAs<T> & { readonly row: unknown };

/** Whether two lists have the same rows, in whichever order those of a block stand. */
function areSame(some: readonly Placed<unknown>[], others: readonly Placed<unknown>[]): boolean {
  const [one, other] = [some, others].map((rows) => {
    return rows
      .map(({ block, row }) => `${block} ${txOf(row)}`)
      .sort()
      .join('\n');
  });
  return one === other;
}

const named = outsideRow({ hash: z.string().optional(), transactionHash: z.string().optional() });

/** The transaction of a row; '' where it names none. */
function txOf(row: unknown): string {
  const read = named.safeParse(row);
  if (!read.success) return '';
  const { hash, transactionHash } = read.data;
  return String(hash === undefined ? transactionHash : hash).toLowerCase();
}

type Rest<T> = {
  readonly rows: readonly ReadAs<T>[];
  readonly cut: boolean;
  readonly pending: boolean;
};

/** The rest of a block that alone fills a page: numbered pages, as far as the window goes. */
async function restOfBlock<T>(
  list: Reading<T>,
  asked: RowsQuery,
  first: readonly ReadAs<T>[],
): Promise<Rest<T>> {
  const rows = [...first];
  let pending = false;
  let full = first.length >= PAGE_ROWS;
  const block = { ...asked, toBlock: asked.fromBlock };
  for (let number = 2; full; number += 1) {
    if (number > PAGES_MAX) return { rows, cut: true, pending };
    const page = await attempt(WindowEnded, () => askPage(list, block, number));
    if (page instanceof WindowEnded) return { rows, cut: true, pending };
    pending ||= page.pending;
    rows.push(...page.rows);
    full = page.rows.length >= PAGE_ROWS;
  }
  return { rows, cut: false, pending };
}

async function askPage<T>(
  { at, action, rowIn, budget }: Reading<T>,
  asked: RowsQuery,
  number: number,
  sort: 'asc' | 'desc' = 'asc',
): Promise<{ readonly rows: readonly Placed<T>[]; readonly pending: boolean }> {
  const question = at.list({
    module: 'account',
    action,
    address: asked.address,
    sort,
    startblock: String(asked.fromBlock),
    endblock: String(asked.toBlock),
    page: String(number),
    offset: String(PAGE_ROWS),
  });
  const page: ListPage = await askExplorer(at, budget, question, (told) => pageIn(action, told));
  if (page.rows.length > PAGE_ROWS) {
    throw new ProviderFault(`answered more rows than were asked for (${action})`, 'passing');
  }
  const rows = page.rows.map((row) => ({ ...rowIn(action, row, asked), row }));
  rows.forEach(({ block }, i) => {
    const before = rows[i - 1];
    if (before === undefined) return;
    if (sort === 'asc' ? before.block <= block : before.block >= block) return;
    throw new ProviderFault(`answered rows out of order (${action})`, 'passing');
  });
  return { rows, pending: page.pending };
}

// Only what succeeded is a transfer; a call that moves nothing by its kind is none. It refuses rows
// of other blocks or of other addresses than were asked for: then the answer is not ours.

/** The requested range: rows must lie within. */
export type RowsQuery = {
  readonly chain: EvmChainName;
  readonly address: string;
  readonly fromBlock: number;
  readonly toBlock: number;
};

/** A row as it came, with its block; and the transfer that it tells, if it tells one. */
export type ReadRow = { readonly block: number; readonly transfer: HistoryTransfer | null };

const whole = z.string().regex(/^[0-9]{1,15}$/);
const amount = z.string().regex(/^[0-9]{1,78}$/);
const base = outsideRow({
  blockNumber: whole,
  timeStamp: whole,
  from: z.string(),
  to: z.string().nullish(),
  contractAddress: z.string().nullish(),
});
/** A row of `txlist`. */
export const nativeRow = base.extend({
  hash: z.string(),
  value: amount,
  isError: z.enum(['0', '1', '']).optional(),
  txreceipt_status: z.string().nullish(),
});
/** A row of `txlistinternal`. */
export const internalRow = base.extend({
  hash: z.string().optional(),
  // Blockscout's name of it.
  transactionHash: z.string().optional(),
  value: amount,
  type: z.string(),
  callType: z.string().nullish(),
  isError: z.enum(['0', '1']),
});
const tokenRow = base.extend({
  hash: z.string(),
  contractAddress: z.string(),
  value: amount.optional(),
  tokenID: z.string().nullish(),
  tokenSymbol: z.string().nullish(),
  tokenDecimal: z.string().nullish(),
});

/** Reads one row of a list. Throws `ProviderFault` for one that is not as documented. */
export function rowIn(action: ListAction, row: unknown, asked: RowsQuery): ReadRow {
  const read = READERS[action](row, asked);
  const block = read.block;
  if (block < asked.fromBlock || block > asked.toBlock) {
    throw new ProviderFault(
      `answered rows of blocks that were not asked for (${action})`,
      'passing',
    );
  }
  return read;
}

const READERS: Readonly<Record<ListAction, (row: unknown, asked: RowsQuery) => ReadRow>> = {
  txlist: (row, asked) => {
    const data = parseListRow(nativeRow, row, 'txlist');
    const failed = data.isError === '1' || data.txreceipt_status === '0';
    // A creation that failed names no receiver; a genesis allocation was sent by nobody.
    if (failed || data.from === 'GENESIS') return noTransfer(data);
    const made = common(data, data.hash, asked, 'txlist');
    const told = data.isError === '0' || data.txreceipt_status === '1';
    const from = party(data.from, 'txlist');
    const facts = { kind: 'native', raw_amount: exact(data.value, 'txlist') } as const;
    const transfer = { ...made, ...facts, from, initiator: from, success: told ? true : null };
    return { block: made.block, transfer: checkParty(transfer, asked, 'txlist') };
  },
  txlistinternal: (row, asked) => {
    const data = parseListRow(internalRow, row, 'txlistinternal');
    const tx = data.hash === undefined ? data.transactionHash : data.hash;
    if (tx === undefined) throw misshapenRows('txlistinternal');
    if (data.isError === '1' || !moves(data)) return noTransfer(data);
    const made = common(data, tx, asked, 'txlistinternal');
    const raw_amount = exact(data.value, 'txlistinternal');
    const from = party(data.from, 'txlistinternal');
    const told = { kind: 'internal', raw_amount, from, initiator: null, success: true } as const;
    return {
      block: made.block,
      transfer: checkParty({ ...made, ...told }, asked, 'txlistinternal'),
    };
  },
  tokentx: (row, asked) => {
    const data = parseListRow(tokenRow, row, 'tokentx');
    const made = common(data, data.hash, asked, 'tokentx');
    // Tokens that cannot be told apart by amounts have an id, and are no amounts.
    const single = typeof data.tokenID === 'string' && data.tokenID !== '';
    if (single) return { block: made.block, transfer: null };
    if (data.value === undefined) throw misshapenRows('tokentx');
    const transfer: HistoryTransfer = {
      ...made,
      kind: 'token',
      token: party(data.contractAddress, 'tokentx'),
      symbol: typeof data.tokenSymbol === 'string' ? data.tokenSymbol : null,
      decimals: decimalsIn(data.tokenDecimal),
      raw_amount: exact(data.value, 'tokentx'),
      from: party(data.from, 'tokentx'),
      initiator: null,
      // A failed transaction leaves no log.
      success: true,
    };
    return { block: made.block, transfer: checkParty(transfer, asked, 'tokentx') };
  },
};

function noTransfer({ blockNumber }: z.output<typeof base>): ReadRow {
  return { block: Number(blockNumber), transfer: null };
}

/** The fault of a list, or of another question, whose rows are not as documented. */
export function misshapenRows(action: string): ProviderFault {
  return new ProviderFault(`answered rows of another shape (${action})`, 'passing');
}

/** A row under its schema. Throws `ProviderFault`. */
export function parseListRow<T>(schema: z.ZodType<T>, row: unknown, action: string): T {
  const read = schema.safeParse(row);
  if (!read.success) throw misshapenRows(action);
  return read.data;
}

type Common = Pick<HistoryTransfer, 'chain' | 'tx' | 'block' | 'at' | 'to'> & {
  readonly token: null;
  readonly symbol: null;
  readonly decimals: null;
  readonly usd: null;
  readonly has_market: null;
};

function common(
  data: z.output<typeof base>,
  tx: string,
  asked: RowsQuery,
  action: ListAction,
): Common {
  const { to, contractAddress } = data;
  // The payment of a creation goes to the new contract.
  const receiver = to === '' || to === null || to === undefined ? contractAddress : to;
  return {
    chain: asked.chain,
    tx,
    block: Number(data.blockNumber),
    at: Number(data.timeStamp),
    to: party(receiver, action),
    token: null,
    symbol: null,
    decimals: null,
    usd: null,
    has_market: null,
  };
}

function party(text: string | null | undefined, action: ListAction): string {
  const address = typeof text === 'string' ? parseEvmAddress(text) : null;
  if (address === null) throw misshapenRows(action);
  return address;
}

function exact(text: string, action: ListAction): bigint {
  const raw = parseRawAmount(text);
  if (raw === null) throw misshapenRows(action);
  return raw;
}

const DECIMALS = /^[0-9]{1,3}$/;
const DECIMALS_MAX = 255;

function decimalsIn(text: string | null | undefined): number | null {
  if (typeof text !== 'string' || !DECIMALS.test(text)) return null;
  return Number(text) > DECIMALS_MAX ? null : Number(text);
}

/** Kinds of call that run another's code, or may move nothing. */
const MOVES_NOTHING: ReadonlySet<string> = new Set(['callcode', 'delegatecall', 'staticcall']);
const MOVES: ReadonlySet<string> = new Set([
  ...['call', 'create', 'create2', 'create_0', 'suicide', 'selfdestruct', 'reward'],
]);

function moves({ type, callType }: z.output<typeof internalRow>): boolean {
  const kind = typeof callType === 'string' && callType !== '' ? callType : type;
  if (MOVES_NOTHING.has(kind)) return false;
  if (!MOVES.has(kind)) {
    throw new ProviderFault('answered an internal transfer of an unknown kind', 'passing');
  }
  return true;
}

function checkParty(
  transfer: HistoryTransfer,
  { address }: RowsQuery,
  action: ListAction,
): HistoryTransfer {
  if (transfer.from === address || transfer.to === address) return transfer;
  throw new ProviderFault(`answered rows of another address (${action})`, 'passing');
}

// The settled block is read before the lists, which are read up to it: younger blocks can still be
// undone. A Blockscout instance is first asked of which chain it is; the wrong one is no source.

/** The newest settled block. `time` is Unix seconds. */
export type SettledHead = { readonly block: number; readonly time: number };

/** The heads of a source's chains. */
export type HeadReader = {
  /** Gives the settled head of a chain. Throws `ChainRefused` for one that the source refuses. */
  readonly settled: (at: ExplorerChain, budget: CallBudget) => Promise<SettledHead>;
  /** Whether the source refused a chain lately. */
  readonly isRefused: (chain: EvmChainName) => boolean;
  /** Keeps in mind that the source refuses a chain. */
  readonly refuse: (chain: EvmChainName) => void;
};

/**
 * How far behind the head a block is held to be final, and its lists indexed: about 20 minutes,
 * which is past the finality of each of these chains and well within a tip's maximum age.
 */
const SETTLED_BLOCKS: Readonly<Record<EvmChainName, number>> = {
  ethereum: 100,
  arbitrum: 4_800,
  base: 600,
  bsc: 1_600,
  polygon: 600,
  hyperevm: 1_200,
};

const REFUSAL_KEPT_S = 600;
const CHAIN_ID_KEPT_S = 600;

/**
 * How long a chain's newest block holds, in seconds: the time of a block, and where blocks come
 * faster as long as an address takes to be read under a free plan, so that one head serves it.
 */
const TIP_HELD_S: Readonly<Record<EvmChainName, number>> = {
  ethereum: 12,
  arbitrum: 5,
  base: 5,
  bsc: 5,
  polygon: 5,
  hyperevm: 5,
};
const HEAD_BYTES = 64;

/** Blocks of chains by a name of each, shared while they are read and held for a block's time. */
export function tipReadings<R>(now: () => number): SharedTips<R> {
  const makeTip = (chain: EvmChainName) =>
    sharedReadings<R>({
      entriesMax: 1,
      bytesMax: Number.POSITIVE_INFINITY,
      nowMs: () => now() * MS_PER_S,
      holdMs: (_, wasStopped) => (wasStopped ? 0 : TIP_HELD_S[chain] * MS_PER_S),
      bytesOf: () => HEAD_BYTES,
      isCutShort: () => false,
    });
  const tips = new Map(EVM_CHAINS.map((chain) => [chain, makeTip(chain)]));
  return async (chain, budget, work) => {
    const shared = tips.get(chain);
    if (shared === undefined) throw new RangeError(`no tip of ${chain}`);
    return shared.ask('', budget, work);
  };
}

export type SharedTips<R> = (
  chain: EvmChainName,
  budget: CallBudget,
  work: (budget: CallBudget) => Promise<R>,
) => Promise<R>;

/** Reads heads, each held for a moment. `now` is Unix seconds. */
export function headReader(now: () => number): HeadReader {
  const tips = tipReadings<SettledHead>(now);
  const refused = new Map<EvmChainName, number>();
  const identified = new Map<EvmChainName, number>();
  const isKept = (at: number | undefined, keptS: number) => at !== undefined && now() - at < keptS;

  const isRefused = (chain: EvmChainName) => isKept(refused.get(chain), REFUSAL_KEPT_S);

  const readSettled: HeadReader['settled'] = async (at, budget) => {
    const { chain } = at;
    if (isRefused(chain)) throw new ChainRefused();
    try {
      return await tips(chain, budget, async (of) => {
        if (at.tellsChainId && !isKept(identified.get(chain), CHAIN_ID_KEPT_S)) {
          await identify(at, of);
          identified.set(chain, now());
        }
        return readHead(at, of);
      });
    } catch (error) {
      if (error instanceof ChainRefused) refused.set(chain, now());
      throw error;
    }
  };
  return {
    settled: readSettled,
    isRefused,
    refuse: (chain) => void refused.set(chain, now()),
  };
}

const QUANTITY = /^0x[0-9a-f]{1,13}$/i;
const quantity = z.string().regex(QUANTITY).transform(Number);
const header = outsideRow({ number: quantity, timestamp: quantity });

async function askHead<T>(
  at: ExplorerChain,
  budget: CallBudget,
  ...[method, block, schema]: readonly [
    Parameters<ExplorerChain['node']>[0],
    string | null,
    z.ZodType<T>,
  ]
): Promise<T> {
  return askExplorer(at, budget, at.node(method, block), (answer) => {
    const read = schema.safeParse(nodeResultIn(answer));
    if (read.success) return read.data;
    throw new ProviderFault(`answered no ${WANTED[method]} to ${method}`, 'passing');
  });
}

const WANTED = {
  eth_chainId: 'chain id',
  eth_blockNumber: 'block number',
  eth_getBlockByNumber: 'block',
} as const;

async function identify(at: ExplorerChain, budget: CallBudget): Promise<void> {
  const id = await askHead(at, budget, 'eth_chainId', null, quantity);
  const { chain_id } = CHAINS[at.chain];
  if (id === chain_id) return;
  throw new ProviderFault(`is of another chain: its chain id is ${id}, not ${chain_id}`, 'lasting');
}

async function readHead(at: ExplorerChain, budget: CallBudget): Promise<SettledHead> {
  const newest = await askHead(at, budget, 'eth_blockNumber', null, quantity);
  const block = newest - SETTLED_BLOCKS[at.chain];
  if (block < 0) throw new ProviderFault(`has only ${newest} blocks, none settled`, 'passing');
  const named = `0x${block.toString(16)}`;
  const { number, timestamp } = await askHead(at, budget, 'eth_getBlockByNumber', named, header);
  if (number === block) return { block, time: timestamp };
  throw new ProviderFault(`answered block ${number} where ${block} was asked for`, 'passing');
}
