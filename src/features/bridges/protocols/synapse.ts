// The events of Synapse: its bridge's deposits, redemptions, mints and withdrawals, the requests of
// its transfers over Circle's, and the requests and relays of its quoted bridge.

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
function sendFacts({ to, chainId, token: asset, amount }: Sent, context: LogContext) {
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

function arrivalFacts({ to: user, amount, kappa: message_id }: Arrived, { chainId }: LogContext) {
  const destination = evmChain(chainId);
  return { direction: 'in' as const, user, amount, message_id, destination };
}

const REDEMPTIONS: readonly EventLayout[] = [
  layout(
    'event TokenDeposit(address indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sendFacts,
  ),
  layout(
    'event TokenRedeem(address indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sendFacts,
  ),
  layout(
    'event TokenRedeemV2(bytes32 indexed to, uint256 chainId, address token, uint256 amount)',
    BRIDGE,
    sendFacts,
  ),
  layout(
    [
      'event TokenDepositAndSwap(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline)',
    ],
    BRIDGE,
    sendFacts,
  ),
  layout(
    [
      'event TokenRedeemAndSwap(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline)',
    ],
    BRIDGE,
    sendFacts,
  ),
  layout(
    [
      'event TokenRedeemAndRemove(address indexed to, uint256 chainId, address token, uint256',
      'amount, uint8 swapTokenIndex, uint256 swapMinAmount, uint256 swapDeadline)',
    ],
    BRIDGE,
    sendFacts,
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
    (fields, context) => ({
      ...arrivalFacts(fields, context),
      asset: fields.token,
      net: fields.amount - fields.fee,
    }),
  ),
  layout(
    [
      'event TokenMint(address indexed to, address token, uint256 amount, uint256 fee, bytes32',
      'indexed kappa)',
    ],
    BRIDGE,
    (fields, context) => ({ ...arrivalFacts(fields, context), asset: fields.token }),
  ),
  layout(
    [
      'event TokenMintAndSwap(address indexed to, address token, uint256 amount, uint256 fee,',
      'uint8 tokenIndexFrom, uint8 tokenIndexTo, uint256 minDy, uint256 deadline, bool',
      'swapSuccess, bytes32 indexed kappa)',
    ],
    BRIDGE,
    (fields, context) => ({
      ...arrivalFacts(fields, context),
      asset: fields.swapSuccess ? null : fields.token,
    }),
  ),
  layout(
    [
      'event TokenWithdrawAndRemove(address indexed to, address token, uint256 amount, uint256',
      'fee, uint8 swapTokenIndex, uint256 swapMinAmount, uint256 swapDeadline, bool swapSuccess,',
      'bytes32 indexed kappa)',
    ],
    BRIDGE,
    (fields, context) => ({
      ...arrivalFacts(fields, context),
      asset: fields.swapSuccess ? null : fields.token,
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
    (fields, { chainId }) => ({
      direction: 'out',
      user: fields.sender,
      asset: tokenOrNative(fields.originToken),
      amount: fields.originAmount,
      message_id: fields.transactionId,
      origin: evmChain(chainId),
      destination: evmChain(fields.destChainId),
      promised: {
        recipient: null,
        asset: tokenOrNative(fields.destToken),
        amount: fields.destAmount,
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
    (fields, { chainId }) => ({
      direction: 'in',
      user: fields.to,
      asset: tokenOrNative(fields.destToken),
      amount: fields.destAmount,
      message_id: fields.transactionId,
      origin: evmChain(fields.originChainId),
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

export const SYNAPSE_EVENTS: readonly EventLayout[] = [
  ...REDEMPTIONS,
  ...ARRIVALS,
  ...REQUESTS,
  ...QUOTES,
];
