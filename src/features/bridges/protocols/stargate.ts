// The events of Stargate: the first version's swaps, the second version's sends.
// No event of Stargate names its token, and those of the first version count in shared decimals:
// token and amount are taken from what the receipt shows to have moved.

import { evmChain, layerZeroChain } from './chains.ts';
import { asides, type EventLayout, hash, layout } from './layout.ts';

const protocol = 'stargate';
const V1 = { protocol, version: 'v1' } as const;
const V2 = { protocol, version: 'v2' } as const;

const POOLS_V1: readonly EventLayout[] = [
  layout(
    [
      'event Swap(uint16 chainId, uint256 dstPoolId, address from, uint256 amountSD, uint256',
      'eqReward, uint256 eqFee, uint256 protocolFee, uint256 lpFee)',
    ],
    V1,
    ({ chainId: to, from: user }, { chainId }) => ({
      direction: 'out',
      user,
      origin: evmChain(chainId),
      destination: layerZeroChain(to),
    }),
  ),
  layout(
    'event SwapRemote(address to, uint256 amountSD, uint256 protocolFee, uint256 dstFee)',
    V1,
    ({ to: user }, { chainId }) => ({
      direction: 'in',
      user,
      destination: evmChain(chainId),
    }),
  ),
  layout(
    'event Mint(address to, uint256 amountLP, uint256 amountSD, uint256 mintFeeAmountSD)',
    { ...V1, kind: 'liquidity', shared: true },
    ({ to: user }) => ({ direction: 'out', user }),
  ),
  layout(
    'event Burn(address from, uint256 amountLP, uint256 amountSD)',
    { ...V1, kind: 'liquidity', shared: true },
    ({ from: user }) => ({ direction: 'in', user }),
  ),
  layout(
    [
      'event RedeemRemote(uint16 chainId, uint256 dstPoolId, address from, uint256 amountLP,',
      'uint256 amountSD)',
    ],
    { ...V1, kind: 'liquidity', shared: true },
    ({ from: user }) => ({ direction: 'in', user }),
  ),
  layout(
    [
      'event RedeemLocal(address from, uint256 amountLP, uint256 amountSD, uint16 chainId, uint256',
      'dstPoolId, bytes to)',
    ],
    { ...V1, kind: 'liquidity', shared: true },
    ({ from: user }) => ({ direction: 'in', user }),
  ),
  layout(
    'event InstantRedeemLocal(address from, uint256 amountLP, uint256 amountSD, address to)',
    { ...V1, kind: 'liquidity', shared: true },
    ({ from: user }) => ({ direction: 'in', user }),
  ),
  ...asides(V1, [
    [
      'event SendCredits(uint16 dstChainId, uint256 dstPoolId, uint256 credits, uint256',
      'idealBalance)',
    ],
    [
      'event CreditChainPath(uint16 chainId, uint256 srcPoolId, uint256 amountSD, uint256',
      'idealBalance)',
    ],
    'event SendMsg(uint8 msgType, uint64 nonce)',
    [
      'event WithdrawRemote(uint16 srcChainId, uint256 srcPoolId, uint256 swapAmount, uint256',
      'mintAmount)',
    ],
    'event RedeemLocalCallback(address _to, uint256 _amountSD, uint256 _amountToMintSD)',
  ]),
];

const POOLS_V2: readonly EventLayout[] = [
  // A passenger of a bus has no id of its own: the bus gets one when it leaves.
  layout(
    [
      'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256',
      'amountSentLD, uint256 amountReceivedLD)',
    ],
    V2,
    ({ guid, dstEid, fromAddress: user, amountSentLD }, { chainId }) => ({
      direction: 'out',
      user,
      amount: amountSentLD,
      message_id: hash(guid),
      origin: evmChain(chainId),
      destination: layerZeroChain(dstEid),
    }),
  ),
  layout(
    [
      'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256',
      'amountReceivedLD)',
    ],
    V2,
    ({ guid, srcEid, toAddress: user, amountReceivedLD: amount }, { chainId }) => ({
      direction: 'in',
      user,
      amount,
      message_id: hash(guid),
      origin: layerZeroChain(srcEid),
      destination: evmChain(chainId),
    }),
  ),
  layout(
    'event Deposited(address indexed payer, address indexed receiver, uint256 amountLD)',
    { protocol, version: 'v2 pool', kind: 'liquidity', shared: true },
    ({ payer: user, amountLD: amount }) => ({ direction: 'out', user, amount }),
  ),
  layout(
    'event Redeemed(address indexed payer, address indexed receiver, uint256 amountLD)',
    { protocol, version: 'v2 pool', kind: 'liquidity', shared: true },
    ({ receiver: user, amountLD: amount }) => ({ direction: 'in', user, amount }),
  ),
  ...asides(V2, [
    'event CreditsSent(uint32 dstEid, (uint32 srcEid, uint64 amount)[] credits)',
    'event CreditsReceived(uint32 srcEid, (uint32 srcEid, uint64 amount)[] credits)',
    'event BusRode(uint32 dstEid, uint72 ticketId, uint80 fare, bytes passenger)',
    'event BusDriven(uint32 dstEid, uint72 startTicketId, uint8 numPassengers, bytes32 guid)',
    'event NativeDropApplied(address receiver, uint128 amount)',
    'event NativeDropFailed(address receiver, uint128 amount)',
    'event TreasuryFeeAdded(uint64 amountSD)',
    [
      'event UnreceivedTokenCached(bytes32 guid, uint8 index, uint32 srcEid, address receiver,',
      'uint256 amountLD, bytes composeMsg)',
    ],
  ]),
];

// The protocol's own token: who sent and who got it is seen in what was burnt and minted.
const OWN_TOKEN: readonly EventLayout[] = [
  layout(
    'event SendToChain(uint16 dstChainId, bytes to, uint256 qty)',
    { protocol, version: 'STG' },
    ({ dstChainId, qty: amount }, { chainId, log }) => ({
      direction: 'out',
      asset: log.address,
      amount,
      origin: evmChain(chainId),
      destination: layerZeroChain(dstChainId),
    }),
  ),
  layout(
    'event ReceiveFromChain(uint16 srcChainId, uint64 nonce, uint256 qty)',
    { protocol, version: 'STG' },
    ({ srcChainId, qty: amount }, { chainId, log }) => ({
      direction: 'in',
      asset: log.address,
      amount,
      origin: layerZeroChain(srcChainId),
      destination: evmChain(chainId),
    }),
  ),
];

export const STARGATE_EVENTS: readonly EventLayout[] = [...POOLS_V1, ...POOLS_V2, ...OWN_TOKEN];
