// What do the events of Wormhole say: its core's messages, and what its token bridge makes of them?
// A message whose sender is no token bridge on the registry is a message only.

import {
  account,
  type Bridged,
  bytesAt,
  type EventLayout,
  evmChain,
  type LogContext,
  movements,
  NATIVE,
  paidIn,
  paidOut,
  protocolChain,
  topic,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'wormhole';

/** Chains by Wormhole's own numbers. */
const CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'solana'],
  [2, 'ethereum'],
  [4, 'bsc'],
  [5, 'polygon'],
  [6, 'avalanche'],
  [10, 'fantom'],
  [14, 'celo'],
  [16, 'moonbeam'],
  [21, 'sui'],
  [22, 'aptos'],
  [23, 'arbitrum'],
  [24, 'optimism'],
  [30, 'base'],
]);
const NUMBERS = new Map([...CHAINS].map(([number, name]) => [name, number]));

/** What a token bridge writes into a message: a transfer, or one with a payload of its own. */
const TRANSFER_TYPES = new Set(['01', '03']);
const TRANSFER_CHARS_MIN = 101 * 2;
const TO_CHAIN = { from: 99 * 2, to: 101 * 2 };
const ADDRESS_CHARS = 40;

function published(context: LogContext): Bridged {
  const { log, chainId } = context;
  const sender = account(topic(log, 1));
  const payload = bytesAt(log, 2);
  const own = evmChain(chainId);
  const number = NUMBERS.get(own);
  const emitter = sender.slice(-ADDRESS_CHARS).padStart(64, '0');
  const from = number === undefined ? own : String(number);
  const said: Bridged = {
    direction: 'out',
    user: sender,
    asset: null,
    amount: null,
    contract: log.address,
    message_id: `${from}/${emitter}/${uint(word(log, 0))}`,
    origin: own,
    destination: null,
  };
  const isTransfer =
    TRANSFER_TYPES.has(payload.slice(0, 2)) && payload.length >= TRANSFER_CHARS_MIN;
  if (!isTransfer || !context.moves(sender)) return said;
  const to = uint(payload.slice(TO_CHAIN.from, TO_CHAIN.to));
  return {
    ...said,
    ...paid(context, sender),
    contract: sender,
    destination: protocolChain(CHAINS, PROTOCOL, to),
  };
}

// The amount in the message is cut to eight decimals; the receipt shows what was paid.
function paid(context: LogContext, bridge: string): Pick<Bridged, 'user' | 'asset' | 'amount'> {
  const { receipt } = context;
  const moved = paidIn(context, bridge, null);
  if (moved !== null) return { user: moved.from, asset: moved.token, amount: moved.amount };
  if (receipt.value === 0n) return { user: receipt.from, asset: null, amount: null };
  return { user: receipt.from, asset: NATIVE, amount: receipt.value };
}

/** Of what a redemption pays, a relayer may take its fee: the larger part is the user's. */
function redeemed(context: LogContext): Bridged {
  const { log, chainId } = context;
  const moved =
    movements(context.receipt).length === 0 ? null : paidOut(context, log.address, null);
  const emitter = uint(topic(log, 1));
  return {
    direction: 'in',
    contract: log.address,
    user: moved === null ? null : moved.to,
    asset: moved === null ? null : moved.token,
    amount: moved === null ? null : moved.amount,
    message_id: `${emitter}/${topic(log, 2)}/${uint(topic(log, 3))}`,
    origin: protocolChain(CHAINS, PROTOCOL, emitter),
    destination: evmChain(chainId),
  };
}

/** The layouts of Wormhole. */
export const WORMHOLE: readonly EventLayout[] = [
  {
    protocol: PROTOCOL,
    version: 'core v1',
    topics: 2,
    kind: 'message',
    unique: true,
    signature: 'LogMessagePublished(address,uint64,uint32,bytes,uint8)',
    read: published,
  },
  {
    protocol: PROTOCOL,
    version: 'token bridge v1',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature: 'TransferRedeemed(uint16,bytes32,uint64)',
    read: redeemed,
  },
];
