// What do the events of Stargate say: the first version's swaps, the second version's sends?
// No event of Stargate names its token: it is taken from what the receipt shows to have moved.

import {
  account,
  type Bridged,
  type EventLayout,
  evmChain,
  hash,
  type LogContext,
  NATIVE,
  paidIn,
  paidOut,
  protocolChain,
  topic,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'stargate';

/** Chains by LayerZero's numbers, of the first version and, with 30,000 more, of the second. */
const V1_CHAINS: ReadonlyMap<number, string> = new Map([
  [101, 'ethereum'],
  [102, 'bsc'],
  [106, 'avalanche'],
  [109, 'polygon'],
  [110, 'arbitrum'],
  [111, 'optimism'],
  [112, 'fantom'],
  [125, 'celo'],
  [145, 'gnosis'],
  [151, 'metis'],
  [165, 'zksync'],
  [168, 'solana'],
  [181, 'mantle'],
  [183, 'linea'],
  [184, 'base'],
  [214, 'scroll'],
  [367, 'hyperevm'],
]);
const EID_FROM = 30_000;
const EIDS: ReadonlyMap<number, string> = new Map(
  [...V1_CHAINS].map(([id, name]) => [id + EID_FROM, name]),
);

/** The chain of a LayerZero number, of either version. */
export function layerZeroChain(id: number | bigint): string {
  return Number(id) >= EID_FROM
    ? protocolChain(EIDS, 'layerzero', id)
    : protocolChain(V1_CHAINS, 'layerzero', id);
}

function sent(context: LogContext, user: string, to: bigint, amount: bigint | null): Bridged {
  const { log, receipt, chainId } = context;
  const moved = paidIn(context, log.address, amount);
  const coins = moved === null && receipt.value > 0n;
  return {
    direction: 'out',
    user,
    contract: log.address,
    message_id: null,
    asset: moved === null ? (coins ? NATIVE : null) : moved.token,
    amount: amount === null && moved !== null ? moved.amount : amount,
    origin: evmChain(chainId),
    destination: layerZeroChain(to),
  };
}

function received(context: LogContext, user: string, amount: bigint | null): Bridged {
  const { log, chainId } = context;
  const moved = paidOut(context, log.address, amount);
  return {
    direction: 'in',
    user,
    contract: log.address,
    message_id: null,
    origin: null,
    asset: moved === null ? null : moved.token,
    amount: amount === null && moved !== null ? moved.amount : amount,
    destination: evmChain(chainId),
  };
}

function provided(direction: 'out' | 'in', user: number): EventLayout['read'] {
  return (context) => {
    const { log, chainId } = context;
    const amount = uint(word(log, 0));
    const moved = (direction === 'out' ? paidIn : paidOut)(context, log.address, amount);
    return {
      direction,
      user: account(topic(log, user)),
      amount,
      contract: log.address,
      message_id: null,
      origin: evmChain(chainId),
      destination: evmChain(chainId),
      asset: moved === null ? null : moved.token,
    };
  };
}

/** The layouts of Stargate. Amounts of the first version are in shared decimals, so not told. */
export const STARGATE: readonly EventLayout[] = [
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 1,
    kind: 'bridge',
    unique: true,
    signature: 'Swap(uint16,uint256,address,uint256,uint256,uint256,uint256,uint256)',
    read: (context) => {
      const { log } = context;
      return sent(context, account(word(log, 2)), uint(word(log, 0)), null);
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 1,
    kind: 'bridge',
    unique: true,
    signature: 'SwapRemote(address,uint256,uint256,uint256)',
    read: (context) => received(context, account(word(context.log, 0)), null),
  },
  {
    protocol: PROTOCOL,
    version: 'v2',
    topics: 3,
    kind: 'bridge',
    unique: false,
    signature: 'OFTSent(bytes32,uint32,address,uint256,uint256)',
    read: (context) => {
      const { log } = context;
      const user = account(topic(log, 2));
      const out = sent(context, user, uint(word(log, 0)), uint(word(log, 1)));
      return { ...out, message_id: hash(topic(log, 1)) };
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v2',
    topics: 3,
    kind: 'bridge',
    unique: false,
    signature: 'OFTReceived(bytes32,uint32,address,uint256)',
    read: (context) => {
      const { log } = context;
      return {
        ...received(context, account(topic(log, 2)), uint(word(log, 1))),
        message_id: hash(topic(log, 1)),
        origin: layerZeroChain(uint(word(log, 0))),
      };
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v2 pool',
    topics: 3,
    kind: 'liquidity',
    unique: false,
    signature: 'Deposited(address,address,uint256)',
    read: provided('out', 1),
  },
  {
    protocol: PROTOCOL,
    version: 'v2 pool',
    topics: 3,
    kind: 'liquidity',
    unique: false,
    signature: 'Redeemed(address,address,uint256)',
    read: provided('in', 2),
  },
];
