// Which transfer is this packed row of `sides`?
// The table's migration says how it is packed; here is the only reader. Rows come by the ten
// thousand, so it goes by positions and makes few strings.

import { CHAIN_NAMES, CHAINS, type ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import type { HistoryTransfer } from '../../../ports/history/transfer-history.ts';
import { addressOf, hashOf } from '../transfers/bytes.ts';
import { successOf } from '../transfers/fact-rows.ts';

/** A row: address, chain's number, peer, identity and detail, bytes in lower-case hexadecimal. */
export type PackedSide = readonly [string, number, string, string, string];

/** The places in a row. */
export const PEER = 2;
export const DETAIL = 4;

/** The columns of a packed row, with the expression that gives its detail. */
export function packedColumns(detail: string): string {
  const hexed = (column: string) => `lower(hex(${column}))`;
  return [hexed('addr'), 'toUInt8(chain)', ...['peer', 'id', detail].map(hexed)].join(', ');
}

/** Reads a row of those columns. */
export const packedRow = {
  parse(row: unknown): PackedSide {
    if (isPacked(row)) return row;
    throw new TypeError('a row of sides has another shape');
  },
};

const COLUMNS = 5;

function isPacked(row: unknown): row is PackedSide {
  if (!Array.isArray(row) || row.length !== COLUMNS) return false;
  const [addr, chain, peer, id, detail]: unknown[] = row;
  return (
    typeof addr === 'string' &&
    typeof chain === 'number' &&
    typeof peer === 'string' &&
    typeof id === 'string' &&
    typeof detail === 'string'
  );
}

/** What is known of tokens by their chain and bytes. */
export type TokenNames = {
  readonly learn: (rows: readonly PackedSide[]) => Promise<void>;
  readonly of: (
    chain: ChainName,
    tokenHex: string,
  ) => Pick<HistoryTransfer, 'symbol' | 'decimals' | 'has_market'>;
};

/** A transfer as it is held under one of its addresses. */
export type HeldTransfer = {
  readonly peer: string;
  readonly observed: boolean;
  readonly transfer: HistoryTransfer;
  /** What makes it the one it is, beside chain and addresses: bytes in hexadecimal. */
  readonly id: string;
};

// Positions in hexadecimal digits, two to a byte.
const BYTE = 2;
const OUT_AT = 2;
const TX_LENGTH_AT = 4;
const TX_AT = 6;
const N_DIGITS = 4;
const SUCCESS_AT = 2;
const BLOCK_AT = 6;
const TIME_AT = 22;
const SIGNER_AT = 30;
const AFTER_SIGNER = 32;
const HASH_DIGITS = 64;

const KINDS: readonly (TransferKind | undefined)[] = [
  ...[undefined, 'native', 'internal', 'token', 'nft'],
] as const;
const KIND_MASK = 7;
const NO_TRANSACTION = 8;
const SIGNED_BY_SENDER = 1;
const SIGNED_BY_RECEIVER = 2;
const SIGNED_BY_ANOTHER = 3;

const CODE_0 = 48;
const CODE_9 = 57;
const CODE_A_LESS_10 = 87;
const NIBBLE = 16;

function nibbleAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code <= CODE_9 ? code - CODE_0 : code - CODE_A_LESS_10;
}

function byteAt(hex: string, at: number): number {
  return nibbleAt(hex, at) * NIBBLE + nibbleAt(hex, at + 1);
}

function numberAt(hex: string, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at += 1) value = value * NIBBLE + nibbleAt(hex, at);
  return value;
}

const CHAIN_CODES: readonly (ChainName | undefined)[] = [undefined, ...CHAIN_NAMES];

/** The chain of a row. */
export function chainOf([, code]: PackedSide): ChainName {
  const chain = CHAIN_CODES[code];
  if (chain === undefined) throw new RangeError('a chain without a name');
  return chain;
}

/** The bytes of a row's token, empty for the chain's own coin. */
export function tokenOf(row: PackedSide): string {
  const id = row[3];
  const at = TX_AT + byteAt(id, TX_LENGTH_AT) * BYTE;
  return id.slice(at + BYTE, at + BYTE + byteAt(id, at) * BYTE);
}

/** Whether a row is of a transfer that failed, which is none. */
export function isFailed(row: PackedSide): boolean {
  return successOf(byteAt(row[DETAIL], SUCCESS_AT)) === false;
}

/** Puts the newest first; equally new ones are put in the order of what they are. */
export function newestFirst(a: HeldTransfer, b: HeldTransfer): number {
  const [x, y] = [a.transfer, b.transfer];
  return (
    y.at - x.at ||
    y.block - x.block ||
    compareText(x.chain, y.chain) ||
    compareText(a.peer, b.peer) ||
    compareText(a.id, b.id)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The transfer of a row. */
export function unpacked(row: PackedSide, tokens: TokenNames): HeldTransfer {
  const [addr, , peer, id, detail] = row;
  const chain = chainOf(row);
  const flags = byteAt(id, 0);
  const kind = KINDS[flags & KIND_MASK];
  if (kind === undefined) throw new RangeError('a transfer of no kind');
  const txEnd = TX_AT + byteAt(id, TX_LENGTH_AT) * BYTE;
  const token = tokenOf(row);
  const amount = id.slice(txEnd + BYTE + token.length + N_DIGITS);
  const [self, other] = [addressOf(addr), addressOf(peer)];
  const isOut = byteAt(id, OUT_AT) === 1;
  const [from, to] = isOut ? [self, other] : [other, self];
  const named = (flags & NO_TRANSACTION) === 0 ? txEnd : TX_AT + HASH_DIGITS;
  const { symbol, decimals, has_market } = token === '' ? ownCoin(chain) : tokens.of(chain, token);
  const signer = byteAt(detail, SIGNER_AT);
  const signerEnd =
    signer === SIGNED_BY_ANOTHER
      ? AFTER_SIGNER + BYTE + byteAt(detail, AFTER_SIGNER) * BYTE
      : AFTER_SIGNER;
  const transfer: HistoryTransfer = {
    chain,
    kind,
    tx: hashOf(id.slice(TX_AT, named)),
    block: numberAt(detail, BLOCK_AT, TIME_AT),
    at: numberAt(detail, TIME_AT, SIGNER_AT),
    from,
    to,
    token: token === '' ? null : addressOf(token),
    symbol,
    decimals,
    has_market,
    ...amountOf(kind, amount === '' ? 0n : BigInt(`0x${amount}`)),
    usd: null,
    initiator: initiatorOf(signer, from, to, detail, signerEnd),
    success: successOf(byteAt(detail, SUCCESS_AT)),
  };
  return { peer: other, observed: byteAt(detail, 0) === 1, transfer, id };
}

function amountOf(
  kind: TransferKind,
  stored: bigint,
): Pick<HistoryTransfer, 'raw_amount' | 'token_id'> {
  return kind === 'nft' ? { raw_amount: 0n, token_id: stored } : { raw_amount: stored };
}

function ownCoin(chain: ChainName): ReturnType<TokenNames['of']> {
  const { symbol, decimals } = CHAINS[chain].native;
  return { symbol, decimals, has_market: null };
}

function initiatorOf(
  signer: number,
  from: string,
  to: string,
  detail: string,
  end: number,
): string | null {
  if (signer === SIGNED_BY_SENDER) return from;
  if (signer === SIGNED_BY_RECEIVER) return to;
  return signer === SIGNED_BY_ANOTHER ? addressOf(detail.slice(AFTER_SIGNER + BYTE, end)) : null;
}
