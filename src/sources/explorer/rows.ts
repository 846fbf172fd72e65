// Answers one question: which transfers do an explorer's rows tell, and of whom?
// Only what succeeded is a transfer; a call that moves nothing by its kind is none. It refuses rows
// of other blocks or of other addresses than were asked for: then the answer is not ours.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { parseRawAmount } from '../../chain/amount.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { outsideRow } from '../http/forms.ts';
import { ProviderFault } from '../http/provider.ts';
import type { ListAction } from './empties.ts';

/** What was asked for: rows must lie within. */
export type RowsAsked = {
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
const nativeRow = base.extend({
  hash: z.string(),
  value: amount,
  isError: z.enum(['0', '1', '']).optional(),
  txreceipt_status: z.string().nullish(),
});
const internalRow = base.extend({
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
export function rowIn(action: ListAction, row: unknown, asked: RowsAsked): ReadRow {
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

const READERS: Readonly<Record<ListAction, (row: unknown, asked: RowsAsked) => ReadRow>> = {
  txlist: (row, asked) => {
    const data = shaped(nativeRow, row, 'txlist');
    const failed = data.isError === '1' || data.txreceipt_status === '0';
    // A creation that failed names no receiver; a genesis allocation was sent by nobody.
    if (failed || data.from === 'GENESIS') return noTransfer(data);
    const made = common(data, data.hash, asked, 'txlist');
    const told = data.isError === '0' || data.txreceipt_status === '1';
    const from = party(data.from, 'txlist');
    const facts = { kind: 'native', raw_amount: exact(data.value, 'txlist') } as const;
    const transfer = { ...made, ...facts, from, initiator: from, success: told ? true : null };
    return { block: made.block, transfer: ofAddress(transfer, asked, 'txlist') };
  },
  txlistinternal: (row, asked) => {
    const data = shaped(internalRow, row, 'txlistinternal');
    const tx = data.hash === undefined ? data.transactionHash : data.hash;
    if (tx === undefined) throw odd('txlistinternal');
    if (data.isError === '1' || !moves(data)) return noTransfer(data);
    const made = common(data, tx, asked, 'txlistinternal');
    const raw_amount = exact(data.value, 'txlistinternal');
    const from = party(data.from, 'txlistinternal');
    const told = { kind: 'internal', raw_amount, from, initiator: null, success: true } as const;
    return {
      block: made.block,
      transfer: ofAddress({ ...made, ...told }, asked, 'txlistinternal'),
    };
  },
  tokentx: (row, asked) => {
    const data = shaped(tokenRow, row, 'tokentx');
    const made = common(data, data.hash, asked, 'tokentx');
    // Tokens that cannot be told apart by amounts have an id, and are no amounts.
    const single = typeof data.tokenID === 'string' && data.tokenID !== '';
    if (single) return { block: made.block, transfer: null };
    if (data.value === undefined) throw odd('tokentx');
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
    return { block: made.block, transfer: ofAddress(transfer, asked, 'tokentx') };
  },
};

function noTransfer({ blockNumber }: z.output<typeof base>): ReadRow {
  return { block: Number(blockNumber), transfer: null };
}

function odd(action: ListAction): ProviderFault {
  return new ProviderFault(`answered rows of another shape (${action})`, 'passing');
}

function shaped<T>(schema: z.ZodType<T>, row: unknown, action: ListAction): T {
  const read = schema.safeParse(row);
  if (!read.success) throw odd(action);
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
  asked: RowsAsked,
  action: ListAction,
): Common {
  const { to, contractAddress } = data;
  // What a creation pays goes to the contract that it makes.
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
  if (address === null) throw odd(action);
  return address;
}

function exact(text: string, action: ListAction): bigint {
  const raw = parseRawAmount(text);
  if (raw === null) throw odd(action);
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

function ofAddress(
  transfer: HistoryTransfer,
  { address }: RowsAsked,
  action: ListAction,
): HistoryTransfer {
  if (transfer.from === address || transfer.to === address) return transfer;
  throw new ProviderFault(`answered rows of another address (${action})`, 'passing');
}
