// What do the events of Synapse say: its bridge's deposits, redemptions, mints and withdrawals, the
// requests of its transfers over Circle's, and the requests and relays of its quoted bridge?

import { textHash } from '../../../chain/abi.ts';
import { circleChain, evmChain } from './chains.ts';
import {
  account,
  asides,
  type EventLayout,
  type LogContext,
  layout,
  tokenOrNative,
} from './layout.ts';

const protocol = 'synapse';
const BRIDGE = { protocol, version: 'bridge' } as const;
const CIRCLE = { protocol, version: 'CCTP' } as const;
const QUOTED = { protocol, version: 'quoted bridge' } as const;

type Sent = {
  readonly to: string;
  readonly chainId: bigint;
  readonly token: string;
  readonly amount: bigint;
};

// The event names the recipient on the other chain; who paid is seen in the receipt.
function sent({ to, chainId, token: asset, amount }: Sent, context: LogContext) {
  return {
    direction: 'out' as const,
    asset,
    amount,
    // The other side's kappa is the hash of this transaction's hash, as it is written.
    message_id: textHash(context.receipt.tx),
    origin: evmChain(context.chainId),
    destination: evmChain(chainId),
    promised: { recipient: account(to), asset: null, amount: null, deadline: null },
  };
}

type Arrived = {
  readonly to: string;
  readonly amount: bigint;
  readonly kappa: string;
};

function arrived({ to: user, amount, kappa: message_id }: Arrived, { chainId }: LogContext) {
  const destination = evmChain(chainId);
  return { direction: 'in' as const, user, amount, message_id, destination };
}

const REDEMPTIONS: readonly EventLayout[] = [
  layout(
    'event TokenDeposit(address indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sent,
  ),
  layout(
    'event TokenRedeem(address indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sent,
  ),
  layout(
    'event TokenRedeemV2(bytes32 indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sent,
  ),
  layout(
    [
      'event TokenDepositAndSwap(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline)',
    ],
    BRIDGE,
    sent,
  ),
  layout(
    [
      'event TokenRedeemAndSwap(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline)',
    ],
    BRIDGE,
    sent,
  ),
  layout(
    [
      'event TokenRedeemAndRemove(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 swapTokenIndex, uint256 swapMinAmount, uint256 swapDeadline)',
    ],
    BRIDGE,
    sent,
  ),
];

// A withdrawal alone logs what there was before the fee beside it. The others log what is left of
// it, or, where it was swapped, what came of the swap, in the token that it was swapped for.
const ARRIVALS: readonly EventLayout[] = [
  layout(
    [
      'event TokenWithdraw(address indexed to, address token, uint256 amount, uint256 fee, bytes32',
      'indexed kappa)',
    ],
    BRIDGE,
    (said, context) => ({
      ...arrived(said, context),
      asset: said.token,
      net: said.amount - said.fee,
    }),
  ),
  layout(
    [
      'event TokenMint(address indexed to, address token, uint256 amount, uint256 fee, bytes32',
      'indexed kappa)',
    ],
    BRIDGE,
    (said, context) => ({ ...arrived(said, context), asset: said.token }),
  ),
  layout(
    [
      'event TokenMintAndSwap(address indexed to, address token, uint256 amount, uint256 fee,',
      'uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline, bool',
      'swapSuccess, bytes32 indexed kappa)',
    ],
    BRIDGE,
    (said, context) => ({
      ...arrived(said, context),
      asset: said.swapSuccess ? null : said.token,
    }),
  ),
  layout(
    [
      'event TokenWithdrawAndRemove(address indexed to, address token, uint256 amount, uint256',
      'fee, uint8 swapTokenIndex, uint256 swapMinAmount, uint256 swapDeadline, bool swapSuccess,',
      'bytes32 indexed kappa)',
    ],
    BRIDGE,
    (said, context) => ({
      ...arrived(said, context),
      asset: said.swapSuccess ? null : said.token,
    }),
  ),
];

const REQUESTS: readonly EventLayout[] = [
  layout(
    [
      'event CircleRequestSent(uint256 chainId, address indexed sender, uint64 nonce, address',
      'token, uint256 amount, uint32 requestVersion, bytes formattedRequest, bytes32 requestID)',
    ],
    CIRCLE,
    ({ chainId: to, sender: user, token: asset, amount, requestID }, { chainId }) => ({
      direction: 'out',
      user,
      asset,
      amount,
      message_id: requestID,
      origin: evmChain(chainId),
      destination: evmChain(to),
    }),
  ),
  layout(
    [
      'event CircleRequestFulfilled(uint32 originDomain, address indexed recipient, address',
      'mintToken, uint256 fee, address token, uint256 amount, bytes32 requestID)',
    ],
    CIRCLE,
    ({ originDomain, recipient: user, token, amount, requestID }, { chainId }) => ({
      direction: 'in',
      user,
      asset: tokenOrNative(token),
      amount,
      message_id: requestID,
      origin: circleChain(originDomain),
      destination: evmChain(chainId),
    }),
  ),
];

const QUOTES: readonly EventLayout[] = [
  layout(
    [
      'event BridgeRequested(bytes32 indexed transactionId, address indexed sender, bytes request,',
      'uint32 destChainId, address originToken, address destToken, uint256 originAmount, uint256',
      'destAmount, bool sendChainGas)',
    ],
    QUOTED,
    (said, { chainId }) => ({
      direction: 'out',
      user: said.sender,
      asset: tokenOrNative(said.originToken),
      amount: said.originAmount,
      message_id: said.transactionId,
      origin: evmChain(chainId),
      destination: evmChain(said.destChainId),
      promised: {
        recipient: null,
        asset: tokenOrNative(said.destToken),
        amount: said.destAmount,
        deadline: null,
      },
    }),
  ),
  layout(
    [
      'event BridgeRelayed(bytes32 indexed transactionId, address indexed relayer, address indexed',
      'to, uint32 originChainId, address originToken, address destToken, uint256 originAmount,',
      'uint256 destAmount, uint256 chainGasAmount)',
    ],
    QUOTED,
    (said, { chainId }) => ({
      direction: 'in',
      user: said.to,
      asset: tokenOrNative(said.destToken),
      amount: said.destAmount,
      message_id: said.transactionId,
      origin: evmChain(said.originChainId),
      destination: evmChain(chainId),
    }),
  ),
  layout(
    [
      'event BridgeDepositRefunded(bytes32 indexed transactionId, address indexed to, address',
      'token, uint256 amount)',
    ],
    { ...QUOTED, kind: 'liquidity' },
    ({ to: user, token, amount }) => ({
      direction: 'in',
      user,
      asset: tokenOrNative(token),
      amount,
    }),
  ),
  layout(
    [
      'event BridgeDepositClaimed(bytes32 indexed transactionId, address indexed relayer, address',
      'indexed to, address token, uint256 amount)',
    ],
    { ...QUOTED, kind: 'liquidity' },
    ({ to: user, token, amount }) => ({
      direction: 'in',
      user,
      asset: tokenOrNative(token),
      amount,
    }),
  ),
  ...asides(QUOTED, [
    'event BridgeQuoteDetails(bytes32 indexed transactionId, bytes quoteId)',
    [
      'event BridgeProofProvided(bytes32 indexed transactionId, address indexed relayer, bytes32',
      'transactionHash)',
    ],
    'event BridgeProofDisputed(bytes32 indexed transactionId, address indexed relayer)',
  ]),
];

/** The layouts of Synapse. */
export const SYNAPSE: readonly EventLayout[] = [
  ...REDEMPTIONS,
  ...ARRIVALS,
  ...REQUESTS,
  ...QUOTES,
];
