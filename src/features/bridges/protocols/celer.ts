// The events of Celer's cBridge: its pool, its vaults, its pegged tokens, its proxies of Circle's
// transfers. What providers add, and what a pool gives back, is no bridging.

import { evmChain } from './chains.ts';
import { circleId } from './circle.ts';
import { account, asides, type EventLayout, type LogContext, layout } from './layout.ts';

const protocol = 'celer';
const POOL = { protocol, version: 'pool v2' } as const;
const VAULT = { protocol, version: 'vault' } as const;
const PEGGED = { protocol, version: 'pegged' } as const;

/** A mint without a deposit behind it names no chain. */
function chainOf(id: bigint): string | null {
  return id === 0n ? null : evmChain(id);
}

type Sent = {
  readonly user: string;
  readonly asset: string | null;
  readonly amount: bigint;
  readonly id: string | null;
  readonly to: bigint | null;
  readonly recipient: string;
};

function sendFacts({ chainId }: LogContext, { user, asset, amount, id, to, recipient }: Sent) {
  return {
    direction: 'out' as const,
    user,
    asset,
    amount,
    message_id: id,
    origin: evmChain(chainId),
    destination: to === null ? null : chainOf(to),
    promised: { recipient, asset: null, amount: null, deadline: null },
  };
}

type Arrived = {
  readonly user: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly id: string;
  readonly from: bigint;
};

function arrivalFacts({ chainId }: LogContext, { user, asset, amount, id, from }: Arrived) {
  return {
    direction: 'in' as const,
    user,
    asset,
    amount,
    message_id: id,
    origin: chainOf(from),
    destination: evmChain(chainId),
  };
}

type Deposit = {
  readonly depositId: string;
  readonly depositor: string;
  readonly token: string;
  readonly amount: bigint;
  readonly mintChainId: bigint;
  readonly mintAccount: string;
};

function depositFacts(fields: Deposit, context: LogContext) {
  const { depositId: id, depositor: user, token: asset, amount } = fields;
  const { mintChainId: to, mintAccount: recipient } = fields;
  return sendFacts(context, { id, user, asset, amount, to, recipient });
}

type Proxied = {
  readonly sender: string;
  readonly recipient: string;
  readonly dstChid: bigint;
  readonly amount: bigint;
  readonly txFee: bigint;
  readonly percFee: bigint;
};

/** A proxy of Circle's transfers does not name its token. Its fees stay with it. */
function proxyFacts(fields: Proxied, context: LogContext, id: string | null) {
  const { sender: user, dstChid: to, amount, txFee, percFee } = fields;
  const recipient = account(fields.recipient);
  const promised = { recipient, asset: null, amount: amount - txFee - percFee, deadline: null };
  return { ...sendFacts(context, { user, amount, to, recipient, asset: null, id }), promised };
}

/** The layouts of Celer's cBridge. */
export const CELER_EVENTS: readonly EventLayout[] = [
  layout(
    [
      'event Send(bytes32 transferId, address sender, address receiver, address token, uint256',
      'amount, uint64 dstChainId, uint64 nonce, uint32 maxSlippage)',
    ],
    POOL,
    ({ transferId: id, sender: user, receiver, token: asset, amount, dstChainId: to }, context) =>
      sendFacts(context, { id, user, asset, amount, to, recipient: receiver }),
  ),
  layout(
    [
      'event Relay(bytes32 transferId, address sender, address receiver, address token, uint256',
      'amount, uint64 srcChainId, bytes32 srcTransferId)',
    ],
    POOL,
    ({ receiver: user, token: asset, amount, srcChainId: from, srcTransferId: id }, context) =>
      arrivalFacts(context, { user, asset, amount, from, id }),
  ),
  layout(
    [
      'event Deposited(bytes32 depositId, address depositor, address token, uint256 amount, uint64',
      'mintChainId, address mintAccount)',
    ],
    { protocol, version: 'vault v1' },
    depositFacts,
  ),
  layout(
    [
      'event Deposited(bytes32 depositId, address depositor, address token, uint256 amount, uint64',
      'mintChainId, address mintAccount, uint64 nonce)',
    ],
    { protocol, version: 'vault v2' },
    depositFacts,
  ),
  layout(
    [
      'event Withdrawn(bytes32 withdrawId, address receiver, address token, uint256 amount, uint64',
      'refChainId, bytes32 refId, address burnAccount)',
    ],
    VAULT,
    ({ receiver: user, token: asset, amount, refChainId: from, refId: id }, context) =>
      arrivalFacts(context, { user, asset, amount, from, id }),
  ),
  layout(
    [
      'event Mint(bytes32 mintId, address token, address account, uint256 amount, uint64',
      'refChainId, bytes32 refId, address depositor)',
    ],
    PEGGED,
    ({ account: user, token: asset, amount, refChainId: from, refId: id }, context) =>
      arrivalFacts(context, { user, asset, amount, from, id }),
  ),
  layout(
    [
      'event Burn(bytes32 burnId, address token, address account, uint256 amount, address',
      'withdrawAccount)',
    ],
    { protocol, version: 'pegged v1' },
    ({ burnId: id, account: user, token: asset, amount, withdrawAccount: recipient }, context) =>
      sendFacts(context, { id, user, asset, amount, to: null, recipient }),
  ),
  layout(
    [
      'event Burn(bytes32 burnId, address token, address account, uint256 amount, uint64',
      'toChainId, address toAccount, uint64 nonce)',
    ],
    { protocol, version: 'pegged v2' },
    ({ burnId: id, account: user, token: asset, amount, toChainId: to, toAccount }, context) =>
      sendFacts(context, { id, user, asset, amount, to, recipient: toAccount }),
  ),
  layout(
    [
      'event Deposited(address sender, bytes32 recipient, uint64 dstChid, uint256 amount, uint256',
      'txFee, uint256 percFee, uint64 nonce)',
    ],
    { protocol, version: 'Circle proxy v1' },
    (fields, context) => proxyFacts(fields, context, circleId(context.chainId, fields.nonce)),
  ),
  layout(
    [
      'event Deposited(address sender, bytes32 recipient, uint64 dstChid, uint256 amount, uint256',
      'txFee, uint256 percFee, uint32 minFinalityThreshold)',
    ],
    { protocol, version: 'Circle proxy v2' },
    (fields, context) => proxyFacts(fields, context, null),
  ),
  layout(
    'event LiquidityAdded(uint64 seqnum, address provider, address token, uint256 amount)',
    { ...POOL, kind: 'liquidity', shared: true },
    ({ provider: user, token: asset, amount }) => ({ direction: 'out', user, asset, amount }),
  ),
  // Withdrawals of providers, and refunds of senders whose transfer could not be relayed.
  layout(
    [
      'event WithdrawDone(bytes32 withdrawId, uint64 seqnum, address receiver, address token,',
      'uint256 amount, bytes32 refid)',
    ],
    { ...POOL, kind: 'liquidity', shared: true },
    ({ receiver: user, token: asset, amount }) => ({ direction: 'in', user, asset, amount }),
  ),
  ...asides({ protocol, version: 'delays' }, [
    'event DelayedTransferAdded(bytes32 id)',
    'event SupplyUpdated(address token, uint256 supply)',
  ]),
];
