// The events of Hop: sends from Ethereum and from rollups, arrivals and bonded ones.
// The event of a bonded withdrawal names no recipient: the call does, and the transfer's id, which
// is the hash of what the call says, proves that it is the right one.

import { declaredCall, encodedHash } from '../../../chain/abi.ts';
import { CHAINS } from '../../../chain/chain.ts';
import { evmChain } from './chains.ts';
import { circleId } from './circle.ts';
import { asides, type EventLayout, type LogContext, layout, NATIVE } from './layout.ts';

const protocol = 'hop';
const L1 = { protocol, version: 'v1 L1 bridge' } as const;
const L2 = { protocol, version: 'v1 L2 bridge' } as const;
const EITHER = { protocol, version: 'v1' } as const;
const CCTP = { protocol, version: 'CCTP' } as const;

type Bond = {
  readonly recipient: string;
  readonly amount: bigint;
  readonly transferNonce: string;
  readonly bonderFee: bigint;
  readonly amountOutMin: bigint;
  readonly deadline: bigint;
};

const bonded = declaredCall([
  'function bondWithdrawal(address recipient, uint256 amount, bytes32 transferNonce,',
  'uint256 bonderFee)',
]);
const distributed = declaredCall([
  'function bondWithdrawalAndDistribute(address recipient, uint256 amount,',
  'bytes32 transferNonce, uint256 bonderFee, uint256 amountOutMin, uint256 deadline)',
]);

function bondOf({ receipt, chainId }: LogContext, transferId: string): Bond | null {
  if (receipt.input === null) return null;
  const plain = bonded(receipt.input).map((one) => ({ ...one, amountOutMin: 0n, deadline: 0n }));
  const bonds: Bond[] = [...plain, ...distributed(receipt.input)];
  const types = 'uint256, address, uint256, bytes32, uint256, uint256, uint256';
  const found = bonds.find((one) => {
    const { recipient, amount, transferNonce, bonderFee, amountOutMin, deadline } = one;
    const swap = [amountOutMin, deadline];
    const values = [BigInt(chainId), recipient, amount, transferNonce, bonderFee, ...swap];
    return encodedHash(types, values) === transferId;
  });
  return found === undefined ? null : found;
}

/** The coin, where the contract is the coin's own: it pays and is paid without a log. */
function coinOf({ row, receipt }: LogContext): string | null {
  const { symbol } = CHAINS[receipt.chain].native;
  return row.name.startsWith('L1 ') && row.name.endsWith(`(${symbol})`) ? NATIVE : null;
}

/** The layouts of Hop. An event of leaving Ethereum bears no id. */
export const HOP_EVENTS: readonly EventLayout[] = [
  layout(
    [
      'event TransferSentToL2(uint256 indexed chainId, address indexed recipient, uint256 amount,',
      'uint256 amountOutMin, uint256 deadline, address indexed relayer, uint256 relayerFee)',
    ],
    L1,
    ({ chainId: to, recipient, amount, deadline }, context) => ({
      direction: 'out',
      asset: coinOf(context),
      amount,
      origin: evmChain(context.chainId),
      destination: evmChain(to),
      promised: { recipient, asset: null, amount, deadline: Number(deadline) },
    }),
  ),
  layout(
    [
      'event TransferSent(bytes32 indexed transferId, uint256 indexed chainId, address indexed',
      'recipient, uint256 amount, bytes32 transferNonce, uint256 bonderFee, uint256 index, uint256',
      'amountOutMin, uint256 deadline)',
    ],
    L2,
    ({ transferId, chainId: to, recipient, amount }, context) => ({
      direction: 'out',
      amount,
      message_id: transferId,
      origin: evmChain(context.chainId),
      destination: evmChain(to),
      promised: { recipient, asset: null, amount, deadline: null },
    }),
  ),
  layout(
    [
      'event TransferFromL1Completed(address indexed recipient, uint256 amount, uint256',
      'amountOutMin, uint256 deadline, address indexed relayer, uint256 relayerFee)',
    ],
    L2,
    ({ recipient: user, amount, deadline, relayerFee }, { chainId }) => ({
      direction: 'in',
      user,
      amount,
      net: amount - relayerFee,
      origin: evmChain(1),
      destination: evmChain(chainId),
      promised: { recipient: user, asset: null, amount, deadline: Number(deadline) },
    }),
  ),
  layout(
    'event WithdrawalBonded(bytes32 indexed transferId, uint256 amount)',
    EITHER,
    ({ transferId, amount }, context) => {
      const bond = bondOf(context, transferId);
      return {
        direction: 'in',
        user: bond === null ? null : bond.recipient,
        asset: coinOf(context),
        amount,
        net: bond === null ? null : amount - bond.bonderFee,
        message_id: transferId,
        destination: evmChain(context.chainId),
      };
    },
  ),
  layout(
    [
      'event Withdrew(bytes32 indexed transferId, address indexed recipient, uint256 amount,',
      'bytes32 transferNonce)',
    ],
    EITHER,
    ({ transferId, recipient, amount }, context) => ({
      direction: 'in',
      user: recipient,
      asset: coinOf(context),
      amount,
      message_id: transferId,
      destination: evmChain(context.chainId),
    }),
  ),
  layout(
    [
      'event CCTPTransferSent(uint64 indexed cctpNonce, uint256 indexed chainId, address indexed',
      'recipient, uint256 amount, uint256 bonderFee)',
    ],
    CCTP,
    ({ cctpNonce, chainId: to, recipient, amount, bonderFee }, { chainId }) => ({
      direction: 'out',
      amount,
      message_id: circleId(chainId, cctpNonce),
      origin: evmChain(chainId),
      destination: evmChain(to),
      promised: { recipient, asset: null, amount: amount - bonderFee, deadline: null },
    }),
  ),
  ...asides(EITHER, [
    [
      'event TransfersCommitted(uint256 indexed destinationChainId, bytes32 indexed rootHash,',
      'uint256 totalAmount, uint256 rootCommittedAt)',
    ],
    'event TransferRootBonded(bytes32 indexed root, uint256 amount)',
    [
      'event TransferRootConfirmed(uint256 indexed originChainId, uint256 indexed',
      'destinationChainId, bytes32 indexed rootHash, uint256 totalAmount)',
    ],
    [
      'event WithdrawalBondSettled(address indexed bonder, bytes32 indexed transferId, bytes32',
      'indexed rootHash)',
    ],
    [
      'event MultipleWithdrawalsSettled(address indexed bonder, bytes32 indexed rootHash, uint256',
      'totalBondsSettled)',
    ],
    'event TransferRootSet(bytes32 indexed rootHash, uint256 totalAmount)',
    'event Stake(address indexed account, uint256 amount)',
    'event Unstake(address indexed account, uint256 amount)',
  ]),
];
