// The events of Wormhole: its core's messages, and what token bridges make of them.
// A message whose sender is no token bridge on the registry is a message only. The event of a
// redemption names no recipient: the message that was handed in does, by which it is proven.

import { declaredCall, packedFields } from '../../../chain/abi.ts';
import type { ReceiptFacts } from '../../../ports/bridges.ts';
import { circleChain, evmChain, wormholeChain, wormholeNumber } from './chains.ts';
import { circleId } from './circle.ts';
import { account, asides, type EventLayout, type LogContext, layout } from './layout.ts';

const protocol = 'wormhole';

/** The transfer messages of a token bridge, with or without a payload. */
const TRANSFERS: readonly string[] = ['0x01', '0x03'];
const TRANSFER = { kind: 1, amount: 32, token: 32, token_chain: 2, to: 32, to_chain: 2 } as const;

/** The message of Circle's integration: a burn, and its instructions. */
const CIRCLE_INTEGRATION = 'Circle Integration';
const DEPOSIT = {
  kind: 1,
  token: 32,
  amount: 32,
  from_domain: 4,
  to_domain: 4,
  nonce: 8,
  from: 32,
  to: 32,
} as const;

function messageFacts(
  fields: { readonly sender: string; readonly sequence: bigint; readonly payload: string },
  { chainId, receipt, moves, nameOf }: LogContext,
) {
  const { sender, sequence, payload } = fields;
  const number = wormholeNumber(chainId);
  const emitter = sender.slice(2).padStart(64, '0');
  const message = {
    direction: 'out' as const,
    user: receipt.from,
    through: [sender],
    message_id: number === null ? null : `${number}/0x${emitter}/${sequence}`,
    origin: evmChain(chainId),
  };
  if (nameOf(sender) === CIRCLE_INTEGRATION) {
    const deposit = packedFields(payload, DEPOSIT);
    if (deposit === null) return null;
    const { to, to_domain, nonce } = deposit;
    const amount = BigInt(deposit.amount);
    return {
      ...message,
      contract: sender,
      user: null,
      amount,
      message_id: circleId(chainId, BigInt(nonce)),
      destination: circleChain(BigInt(to_domain)),
      promised: { recipient: account(to), asset: null, amount, deadline: null },
    };
  }
  const transfer = packedFields(payload, TRANSFER);
  if (transfer === null || !TRANSFERS.includes(transfer.kind) || !moves(sender)) return message;
  const { to, to_chain } = transfer;
  const promised = { recipient: account(to), asset: null, amount: null, deadline: null };
  return {
    ...message,
    contract: sender,
    user: null,
    promised,
    destination: wormholeChain(Number(to_chain)),
  };
}

const redemptions = [
  'function completeTransfer(bytes encodedVm)',
  'function completeTransferAndUnwrapETH(bytes encodedVm)',
  'function completeTransferWithPayload(bytes encodedVm)',
  'function completeTransferAndUnwrapETHWithPayload(bytes encodedVm)',
  'function completeTransferWithRelay(bytes encodedVm)',
] as const;
const redemptionCalls = redemptions.map((one) => declaredCall(one));

const HEAD = { version: 1, guardians: 4, signatures: 1 } as const;
const HEAD_BYTES = 6;
const SIGNATURE_BYTES = 66;
const BODY = {
  at: 4,
  nonce: 4,
  chain: 2,
  emitter: 32,
  sequence: 8,
  level: 1,
  ...TRANSFER,
} as const;

/** The payee of a submitted message, if the message has exactly these names. */
function recipientIn(
  { input }: ReceiptFacts,
  from: number,
  emitter: string,
  sequence: bigint,
): string | null {
  if (input === null) return null;
  for (const { encodedVm } of redemptionCalls.flatMap((callsIn) => callsIn(input))) {
    const head = packedFields(encodedVm, HEAD);
    if (head === null) continue;
    const skip = HEAD_BYTES + SIGNATURE_BYTES * Number(head.signatures);
    const body = packedFields(`0x${encodedVm.slice(2 + skip * 2)}`, BODY);
    if (body === null) continue;
    const same = Number(body.chain) === from && body.emitter === emitter;
    if (same && BigInt(body.sequence) === sequence) return account(body.to);
  }
  return null;
}

export const WORMHOLE_EVENTS: readonly EventLayout[] = [
  layout(
    [
      'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce, bytes',
      'payload, uint8 consistencyLevel)',
    ],
    { protocol, version: 'core v1', kind: 'message' },
    messageFacts,
  ),
  layout(
    [
      'event TransferRedeemed(uint16 indexed emitterChainId, bytes32 indexed emitterAddress,',
      'uint64 indexed sequence)',
    ],
    { protocol, version: 'token bridge v1' },
    ({ emitterChainId: from, emitterAddress, sequence }, { receipt, chainId }) => ({
      direction: 'in',
      user: recipientIn(receipt, from, emitterAddress, sequence),
      message_id: `${from}/${emitterAddress}/${sequence}`,
      origin: wormholeChain(from),
      destination: evmChain(chainId),
    }),
  ),
  layout(
    [
      'event TransferSent(bytes32 indexed recipient, bytes32 indexed refundAddress, uint256',
      'amount, uint256 fee, uint16 recipientChain, uint64 msgSequence)',
    ],
    { protocol, version: 'NTT', shared: true },
    ({ recipient, amount, recipientChain, msgSequence }, { chainId, log }) => ({
      direction: 'out',
      amount,
      message_id: `ntt:${chainId}/${log.address}/${msgSequence}`,
      origin: evmChain(chainId),
      destination: wormholeChain(recipientChain),
      promised: { recipient: account(recipient), asset: null, amount: null, deadline: null },
    }),
  ),
  // The newer release logs a digest beside the event above, on both sides.
  layout(
    'event TransferRedeemed(bytes32 indexed digest)',
    { protocol, version: 'NTT', shared: true },
    ({ digest }, { chainId }) => ({
      direction: 'in',
      message_id: digest,
      destination: evmChain(chainId),
    }),
  ),
  // Circle's own event tells whom it paid how much.
  ...asides({ protocol, version: 'Circle integration' }, [
    [
      'event Redeemed(uint16 indexed emitterChainId, bytes32 indexed emitterAddress, uint64',
      'indexed sequence)',
    ],
  ]),
];
