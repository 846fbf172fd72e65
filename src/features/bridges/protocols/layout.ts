// How is an event of a bridge contract read, word by word?
// It refuses data that is shorter than its layout: such a log is of an unknown layout, not empty.

import { chainById } from '../../../chain/chain.ts';
import { eventTopic } from '../../../chain/event-topic.ts';
import type { BridgeProtocol } from '../../../ports/bridges/bridge-registry.ts';
import type { ReceiptFacts, ReceiptLog } from '../../../ports/bridges/transaction-receipts.ts';

/** What an event says of something that was bridged, or of a message that was passed. */
export type Bridged = {
  readonly direction: 'out' | 'in';
  /** Who paid or was paid on this chain; `null` where the transaction does not show it. */
  readonly user: string | null;
  /** The token's contract, `native`, or `null` where neither event nor receipt shows it. */
  readonly asset: string | null;
  /** In the asset's smallest units; `null` where it is not shown. */
  readonly amount: bigint | null;
  /** The contract whose doing it is: not always the one that logged it. */
  readonly contract: string;
  /** What joins both sides, as the protocol writes it. */
  readonly message_id: string | null;
  readonly origin: string | null;
  readonly destination: string | null;
};

/** What a reader of a log is given. */
export type LogContext = {
  readonly log: ReceiptLog;
  readonly receipt: ReceiptFacts;
  /** The id of EIP-155 of the chain on which it was logged. */
  readonly chainId: number;
  /** Whether a contract is on the registry for this protocol, in a role that moves assets. */
  readonly moves: (address: string) => boolean;
};

/** A layout that is known. */
export type EventLayout = {
  readonly protocol: BridgeProtocol;
  readonly version: string;
  readonly signature: string;
  /** How many topics it has, its hash included: the same signature may be indexed otherwise. */
  readonly topics: number;
  /** `liquidity`: what providers add and take out, and refunds; never bridging. */
  readonly kind: 'bridge' | 'message' | 'liquidity';
  /** Nothing else is known to log an event of this signature. */
  readonly unique: boolean;
  /** Throws RangeError where the log is shorter than the layout. */
  readonly read: (context: LogContext) => Bridged;
};

/** The first topic of a layout. */
export function topicOf({ signature }: Pick<EventLayout, 'signature'>): string {
  return eventTopic(signature);
}

const WORD_CHARS = 64;
const HEX_FROM = 2;
const BYTES_MAX = 4_096;
const ADDRESS_CHARS = 40;
const NO_ADDRESS = '0'.repeat(WORD_CHARS - ADDRESS_CHARS);

/** The hex of one word of the data, without `0x`. */
export function word({ data }: ReceiptLog, index: number): string {
  const from = HEX_FROM + index * WORD_CHARS;
  const text = data.slice(from, from + WORD_CHARS);
  if (text.length < WORD_CHARS) throw new RangeError('a log is shorter than its layout');
  return text;
}

/** The hex of an indexed field, without `0x`; the first one is 1. */
export function topic({ topics }: ReceiptLog, index: number): string {
  const text = topics[index];
  if (text === undefined) throw new RangeError('a log has fewer topics than its layout');
  return text.slice(HEX_FROM);
}

/** A word as an unsigned integer. */
export function uint(hex: string): bigint {
  return BigInt(`0x${hex}`);
}

/** A word as an address; one that is wider (of another kind of chain) is kept whole. */
export function account(hex: string): string {
  return hex.startsWith(NO_ADDRESS) ? `0x${hex.slice(-ADDRESS_CHARS)}` : `0x${hex}`;
}

/** A hash that names something; `null` where it is all zeros. */
export function hash(hex: string): string | null {
  return uint(hex) === 0n ? null : `0x${hex}`;
}

/** The bytes to which a word of the data points, as hex without `0x`. */
export function bytesAt(log: ReceiptLog, index: number): string {
  const at = Number(uint(word(log, index))) / (WORD_CHARS / 2);
  if (!Number.isSafeInteger(at)) throw new RangeError('a log points between its words');
  const length = Number(uint(word(log, at)));
  const from = HEX_FROM + (at + 1) * WORD_CHARS;
  const text = log.data.slice(from, from + length * 2);
  if (length > BYTES_MAX || text.length < length * 2) throw new RangeError('a log is cut');
  return text;
}

/** A chain of EIP-155 as answers name it: ours by name, others by their id. */
export function evmChain(id: number | bigint): string {
  const chain = chainById(Number(id));
  return chain === null ? `eip155:${id}` : chain.name;
}

/** A chain by a protocol's own number for it. */
export function protocolChain(
  known: ReadonlyMap<number, string>,
  protocol: string,
  id: number | bigint,
): string {
  const name = known.get(Number(id));
  return name === undefined ? `${protocol}:${id}` : name;
}

const TRANSFER = eventTopic('Transfer(address,address,uint256)');
const TRANSFER_TOPICS = 3;
const NOBODY = `0x${'0'.repeat(ADDRESS_CHARS)}`;

/** A movement of an ERC-20 token that a receipt shows. */
type Moved = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
};

/** The token movements of a receipt, in its order. */
export function movements({ logs }: ReceiptFacts): Moved[] {
  return logs.flatMap((log) => {
    if (log.topics[0] !== TRANSFER || log.topics.length !== TRANSFER_TOPICS) return [];
    if (log.data.length < HEX_FROM + WORD_CHARS) return [];
    return {
      token: log.address,
      from: account(topic(log, 1)),
      to: account(topic(log, 2)),
      amount: uint(word(log, 0)),
    };
  });
}

/** What was paid into a contract, or burnt: of exactly this amount, where one is given. */
export function paidIn(context: LogContext, contract: string, amount: bigint | null): Moved | null {
  const into = movements(context.receipt).filter(
    (one) => one.to === contract || (one.to === NOBODY && one.from !== NOBODY),
  );
  return chosen(into, amount);
}

/** What a contract paid out, or minted: of exactly this amount, where one is given. */
export function paidOut(
  context: LogContext,
  contract: string,
  amount: bigint | null,
): Moved | null {
  const out = movements(context.receipt).filter(
    (one) => one.from === contract || (one.from === NOBODY && one.to !== contract),
  );
  return chosen(out, amount);
}

function chosen(moved: readonly Moved[], amount: bigint | null): Moved | null {
  let best: Moved | null = null;
  for (const one of moved) {
    if (amount !== null && one.amount !== amount) continue;
    if (best === null || one.amount > best.amount) best = one;
  }
  return best;
}

/** The asset of an amount that was paid in; coins where the transaction carried as much. */
export function assetIn(context: LogContext, contract: string, amount: bigint): string | null {
  const moved = paidIn(context, contract, amount);
  if (moved !== null) return moved.token;
  return context.receipt.value >= amount && amount > 0n ? NATIVE : null;
}

/** How a chain's own coin is written where an asset stands. */
export const NATIVE = 'native';
const NATIVE_MARK = `0x${'e'.repeat(ADDRESS_CHARS)}`;

/** A token's contract, or `native` where the protocol's mark for coins stands in its place. */
export function tokenOrNative(hex: string): string {
  const address = account(hex);
  return address === NATIVE_MARK || address === NOBODY ? NATIVE : address;
}
