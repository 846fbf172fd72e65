// The events of Across: deposits and fills of its spoke pools, in each layout so far.
// A fill is paid out of the relayer's wallet, so that its receipt alone shows whom it was for.
// The hub pool logs the deposits and withdrawals of liquidity providers, never bridging.

import { evmChain } from './chains.ts';
import {
  account,
  asides,
  type EventLayout,
  type LogContext,
  layout,
  type Promised,
} from './layout.ts';

const protocol = 'across';
const ONE = 10n ** 18n;

type Deposit = {
  readonly id: bigint | number;
  readonly to: bigint;
  readonly user: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly recipient: string;
  readonly promised: { readonly asset: string | null; readonly amount: bigint | null };
  readonly deadline: number | null;
};

function depositFacts({ chainId }: LogContext, fields: Deposit) {
  const { id, to, user, asset, amount, recipient, promised, deadline } = fields;
  return {
    direction: 'out' as const,
    user,
    asset,
    amount,
    message_id: `${chainId}/${id}`,
    origin: evmChain(chainId),
    destination: evmChain(to),
    promised: { ...promised, recipient, deadline },
  };
}

type Fill = {
  readonly id: bigint | number;
  readonly from: bigint;
  readonly user: string;
  readonly asset: string;
  readonly amount: bigint;
  /** The terms of the deposit, which a fill repeats. */
  readonly promised: Promised;
};

function fillFacts({ chainId }: LogContext, { id, from, user, asset, amount, promised }: Fill) {
  return {
    direction: 'in' as const,
    user,
    asset,
    amount,
    message_id: `${from}/${id}`,
    origin: evmChain(from),
    destination: evmChain(chainId),
    promised,
  };
}

const V2 = { protocol, version: 'v2 (2022)' } as const;
const V2_MESSAGES = { protocol, version: 'v2 with messages' } as const;
const V3 = { protocol, version: 'v3' } as const;
const V3_BYTES32 = { protocol, version: 'v3, 32-byte addresses' } as const;

/** A deposit id of the second version has 32 bits, so where an address stands it is of another. */
const DEPOSIT_IDS = 2n ** 32n;

function isId(text: string): boolean {
  return BigInt(text) < DEPOSIT_IDS;
}

type V2Deposit = {
  readonly depositId: number;
  readonly destinationChainId: bigint;
  readonly depositor: string;
  readonly originToken: string;
  readonly amount: bigint;
  readonly recipient: string;
};

function depositFactsV2(fields: V2Deposit, context: LogContext) {
  const { depositId: id, destinationChainId: to, depositor: user } = fields;
  const { originToken: asset, amount, recipient } = fields;
  const promised = { asset: null, amount: null };
  return depositFacts(context, {
    id,
    to,
    user,
    asset,
    amount,
    recipient,
    promised,
    deadline: null,
  });
}

type V2Fill = {
  readonly depositId: number;
  readonly originChainId: bigint;
  readonly destinationToken: string;
  readonly fillAmount: bigint;
  readonly recipient: string;
};

function fillFactsV2(fields: V2Fill, context: LogContext, user: string, fees: readonly bigint[]) {
  const { depositId: id, originChainId: from, destinationToken: asset, fillAmount } = fields;
  const promised = { recipient: fields.recipient, asset: null, amount: null, deadline: null };
  // It paid its amount less the fees, in parts of 10^18.
  const amount = (fillAmount * (ONE - fees.reduce((sum, fee) => sum + fee, 0n))) / ONE;
  return fillFacts(context, { id, from, user, asset, amount, promised });
}

type V3Deposit = {
  readonly depositId: number | bigint;
  readonly destinationChainId: bigint;
  readonly depositor: string;
  readonly recipient: string;
  readonly inputToken: string;
  readonly inputAmount: bigint;
  readonly outputToken: string;
  readonly outputAmount: bigint;
  readonly fillDeadline: number;
};

function depositFactsV3(fields: V3Deposit, context: LogContext) {
  const output = account(fields.outputToken);
  return depositFacts(context, {
    id: fields.depositId,
    to: fields.destinationChainId,
    user: account(fields.depositor),
    asset: account(fields.inputToken),
    amount: fields.inputAmount,
    recipient: account(fields.recipient),
    // The zero address asks for the other side's form of the same token.
    promised: { asset: BigInt(output) === 0n ? null : output, amount: fields.outputAmount },
    deadline: fields.fillDeadline,
  });
}

type V3Fill = {
  readonly depositId: number | bigint;
  readonly originChainId: bigint;
  readonly recipient: string;
  readonly outputToken: string;
  readonly outputAmount: bigint;
  readonly fillDeadline: number;
  readonly relayExecutionInfo: {
    readonly updatedRecipient: string;
    readonly updatedOutputAmount: bigint;
  };
};

function fillFactsV3(fields: V3Fill, context: LogContext) {
  const { updatedRecipient, updatedOutputAmount } = fields.relayExecutionInfo;
  return fillFacts(context, {
    id: fields.depositId,
    from: fields.originChainId,
    user: account(updatedRecipient),
    asset: account(fields.outputToken),
    amount: updatedOutputAmount,
    promised: {
      recipient: account(fields.recipient),
      asset: account(fields.outputToken),
      amount: fields.outputAmount,
      deadline: fields.fillDeadline,
    },
  });
}

const POOLS: readonly EventLayout[] = [
  layout(
    [
      'event FundsDeposited(uint256 amount, uint256 originChainId, uint256 destinationChainId,',
      'uint64 relayerFeePct, uint32 indexed depositId, uint32 quoteTimestamp, address indexed',
      'originToken, address recipient, address indexed depositor)',
    ],
    V2,
    depositFactsV2,
  ),
  layout(
    [
      'event FilledRelay(uint256 amount, uint256 totalFilledAmount, uint256 fillAmount, uint256',
      'repaymentChainId, uint256 originChainId, uint256 destinationChainId, uint64 relayerFeePct,',
      'uint64 appliedRelayerFeePct, uint64 realizedLpFeePct, uint32 indexed depositId, address',
      'destinationToken, address indexed relayer, address indexed depositor, address recipient,',
      'bool isSlowRelay)',
    ],
    V2,
    (fields, context) =>
      fillFactsV2(fields, context, fields.recipient, [
        fields.appliedRelayerFeePct,
        fields.realizedLpFeePct,
      ]),
  ),
  layout(
    [
      'event FilledRelay(uint256 amount, uint256 totalFilledAmount, uint256 fillAmount, uint256',
      'repaymentChainId, uint256 originChainId, uint256 destinationChainId, uint64 relayerFeePct,',
      'uint64 appliedRelayerFeePct, uint64 realizedLpFeePct, uint32 depositId, address',
      'destinationToken, address indexed relayer, address indexed depositor, address recipient,',
      'bool isSlowRelay)',
    ],
    V2,
    (fields, context) =>
      fillFactsV2(fields, context, fields.recipient, [
        fields.appliedRelayerFeePct,
        fields.realizedLpFeePct,
      ]),
  ),
  // Two releases index the same signature otherwise: the deposit's id is the second of one's
  // topics, an address is the second of the other's.
  layout(
    [
      'event FundsDeposited(uint256 amount, uint256 originChainId, uint256 destinationChainId,',
      'int64 relayerFeePct, uint32 indexed depositId, uint32 quoteTimestamp, address indexed',
      'originToken, address recipient, address indexed depositor, bytes message)',
    ],
    V2_MESSAGES,
    (fields, context) => (isId(fields.originToken) ? null : depositFactsV2(fields, context)),
  ),
  layout(
    [
      'event FundsDeposited(uint256 amount, uint256 originChainId, uint256 indexed',
      'destinationChainId, int64 relayerFeePct, uint32 indexed depositId, uint32 quoteTimestamp,',
      'address originToken, address recipient, address indexed depositor, bytes message)',
    ],
    V2_MESSAGES,
    depositFactsV2,
  ),
  layout(
    [
      'event FilledRelay(uint256 amount, uint256 totalFilledAmount, uint256 fillAmount, uint256',
      'repaymentChainId, uint256 originChainId, uint256 destinationChainId, int64 relayerFeePct,',
      'int64 realizedLpFeePct, uint32 indexed depositId, address destinationToken, address indexed',
      'relayer, address indexed depositor, address recipient, bytes message, (address recipient,',
      'bytes message, int64 relayerFeePct, bool isSlowRelay, int256 payoutAdjustmentPct)',
      'updatableRelayData)',
    ],
    V2_MESSAGES,
    (fields, context) => {
      if (isId(fields.relayer)) return null;
      const { recipient, relayerFeePct } = fields.updatableRelayData;
      return fillFactsV2(fields, context, recipient, [fields.realizedLpFeePct, relayerFeePct]);
    },
  ),
  layout(
    [
      'event FilledRelay(uint256 amount, uint256 totalFilledAmount, uint256 fillAmount, uint256',
      'repaymentChainId, uint256 indexed originChainId, uint256 destinationChainId, int64',
      'relayerFeePct, int64 realizedLpFeePct, uint32 indexed depositId, address destinationToken,',
      'address relayer, address indexed depositor, address recipient, bytes message, (address',
      'recipient, bytes message, int64 relayerFeePct, bool isSlowRelay, int256',
      'payoutAdjustmentPct) updatableRelayData)',
    ],
    V2_MESSAGES,
    (fields, context) => {
      const { recipient, relayerFeePct } = fields.updatableRelayData;
      return fillFactsV2(fields, context, recipient, [fields.realizedLpFeePct, relayerFeePct]);
    },
  ),
  layout(
    [
      'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount,',
      'uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32',
      'quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor,',
      'address recipient, address exclusiveRelayer, bytes message)',
    ],
    V3,
    depositFactsV3,
  ),
  layout(
    [
      'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount, uint256',
      'outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint32 indexed',
      'depositId, uint32 fillDeadline, uint32 exclusivityDeadline, address exclusiveRelayer,',
      'address indexed relayer, address depositor, address recipient, bytes message, (address',
      'updatedRecipient, bytes updatedMessage, uint256 updatedOutputAmount, uint8 fillType)',
      'relayExecutionInfo)',
    ],
    V3,
    fillFactsV3,
  ),
  layout(
    [
      'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256',
      'outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32',
      'quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor,',
      'bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
    ],
    V3_BYTES32,
    depositFactsV3,
  ),
  layout(
    [
      'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256',
      'outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed',
      'depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer,',
      'bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash,',
      '(bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256 updatedOutputAmount, uint8',
      'fillType) relayExecutionInfo)',
    ],
    V3_BYTES32,
    fillFactsV3,
  ),
];

const HUB = { protocol, version: 'hub pool', kind: 'liquidity', shared: true } as const;

export const ACROSS_EVENTS: readonly EventLayout[] = [
  ...POOLS,
  layout(
    [
      'event LiquidityAdded(address indexed l1Token, uint256 amount, uint256 lpTokensMinted,',
      'address indexed liquidityProvider)',
    ],
    HUB,
    ({ l1Token: asset, amount, liquidityProvider: user }) => ({
      direction: 'out',
      asset,
      amount,
      user,
    }),
  ),
  layout(
    [
      'event LiquidityRemoved(address indexed l1Token, uint256 amount, uint256 lpTokensBurnt,',
      'address indexed liquidityProvider)',
    ],
    HUB,
    ({ l1Token: asset, amount, liquidityProvider: user }) => ({
      direction: 'in',
      asset,
      amount,
      user,
    }),
  ),
  ...asides({ protocol, version: 'spoke pool' }, [
    [
      'event EnabledDepositRoute(address indexed originToken, uint256 indexed destinationChainId,',
      'bool enabled)',
    ],
    [
      'event RelayedRootBundle(uint32 indexed rootBundleId, bytes32 indexed relayerRefundRoot,',
      'bytes32 indexed slowRelayRoot)',
    ],
    [
      'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[]',
      'refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress,',
      'address[] refundAddresses, bool deferredRefunds, address caller)',
    ],
    [
      'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[]',
      'refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress,',
      'address[] refundAddresses, address caller)',
    ],
    [
      'event TokensBridged(uint256 amountToReturn, uint256 indexed chainId, uint32 indexed leafId,',
      'bytes32 indexed l2TokenAddress, address caller)',
    ],
    [
      'event TokensBridged(uint256 amountToReturn, uint256 indexed chainId, uint32 indexed leafId,',
      'address indexed l2TokenAddress, address caller)',
    ],
    [
      'event RequestedSpeedUpDeposit(uint256 updatedOutputAmount, uint256 indexed depositId,',
      'bytes32 indexed depositor, bytes32 updatedRecipient, bytes updatedMessage, bytes',
      'depositorSignature)',
    ],
    [
      'event RequestedSpeedUpV3Deposit(uint256 updatedOutputAmount, uint32 indexed depositId,',
      'address indexed depositor, address updatedRecipient, bytes updatedMessage, bytes',
      'depositorSignature)',
    ],
    [
      'event RequestedSlowFill(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount,',
      'uint256 outputAmount, uint256 indexed originChainId, uint256 indexed depositId, uint32',
      'fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 depositor,',
      'bytes32 recipient, bytes32 messageHash)',
    ],
    [
      'event RequestedV3SlowFill(address inputToken, address outputToken, uint256 inputAmount,',
      'uint256 outputAmount, uint256 indexed originChainId, uint32 indexed depositId, uint32',
      'fillDeadline, uint32 exclusivityDeadline, address exclusiveRelayer, address depositor,',
      'address recipient, bytes message)',
    ],
    [
      'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress,',
      'uint256 amount, address indexed caller)',
    ],
  ]),
  ...asides({ protocol, version: 'hub pool' }, [
    [
      'event ProposeRootBundle(uint32 challengePeriodEndTimestamp, uint8 poolRebalanceLeafCount,',
      'uint256[] bundleEvaluationBlockNumbers, bytes32 indexed poolRebalanceRoot, bytes32 indexed',
      'relayerRefundRoot, bytes32 slowRelayRoot, address indexed proposer)',
    ],
    [
      'event RootBundleExecuted(uint256 groupIndex, uint256 indexed leafId, uint256 indexed',
      'chainId, address[] l1Tokens, uint256[] bundleLpFees, int256[] netSendAmounts, int256[]',
      'runningBalances, address indexed caller)',
    ],
  ]),
];
