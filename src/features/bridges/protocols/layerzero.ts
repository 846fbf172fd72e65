// The events of LayerZero: packets sent and delivered, tokens that bridge themselves.
// Its endpoints pass messages only: what a message moves is its application's doing, told by the
// application's own event or, where it was delivered by a second call, by that call's event.

import { packedFields, packedHash } from '../../../chain/abi.ts';
import { evmChain, layerZeroChain, layerZeroNumber } from './chains.ts';
import { account, asides, type EventLayout, type LogContext, layout } from './layout.ts';

const protocol = 'layerzero';
const V1_FIRST = { protocol, version: 'v1, first library', kind: 'message', shared: true } as const;
const V1 = { protocol, version: 'v1', kind: 'message' } as const;
const V2 = { protocol, version: 'v2', kind: 'message' } as const;
const OFT_V1 = { protocol, version: 'OFT v1', shared: true } as const;
const OFT_V2 = { protocol, version: 'OFT v2', shared: true } as const;

/** A path and a nonce of the first version, which no other message shares. */
function idOfV1(from: number, sender: string, to: number, receiver: string, nonce: bigint): string {
  return [from, sender, to, receiver, nonce].join('/');
}

/** The address of an application in the packed form that the first version uses. */
const PACKED_ADDRESS = 20;

const PACKET_V1 = {
  nonce: 8,
  from: 2,
  sender: PACKED_ADDRESS,
  to: 2,
  receiver: PACKED_ADDRESS,
} as const;
const PACKET_V2 = {
  version: 1,
  nonce: 8,
  from: 4,
  sender: 32,
  to: 4,
  receiver: 32,
  guid: 32,
} as const;

/** The id of a packet, which its delivery does not log and which its path and nonce make. */
function guidOf(
  { chainId }: LogContext,
  from: { readonly eid: number; readonly sender: string; readonly nonce: bigint },
  receiver: string,
): string | null {
  const own = layerZeroNumber(chainId, 2);
  if (own === null) return null;
  const types = ['uint64', 'uint32', 'bytes32', 'uint32', 'bytes32'];
  const padded = `0x${receiver.slice(2).padStart(64, '0')}`;
  return packedHash(types, [from.nonce, from.eid, from.sender, own, padded]);
}

const ENDPOINTS: readonly EventLayout[] = [
  layout(
    'event Packet(uint16 chainId, bytes payload)',
    V1_FIRST,
    (fields, { chainId, receipt }) => ({
      direction: 'out',
      user: receipt.from,
      origin: evmChain(chainId),
      destination: layerZeroChain(fields.chainId),
    }),
  ),
  layout('event Packet(bytes payload)', V1, ({ payload }, { receipt }) => {
    const packet = packedFields(payload, PACKET_V1);
    if (packet === null) return null;
    const { sender, receiver } = packet;
    const [from, to] = [Number(packet.from), Number(packet.to)];
    return {
      direction: 'out',
      user: receipt.from,
      through: [sender],
      message_id: idOfV1(from, sender, to, receiver, BigInt(packet.nonce)),
      origin: layerZeroChain(from),
      destination: layerZeroChain(to),
    };
  }),
  layout(
    [
      'event PacketReceived(uint16 indexed srcChainId, bytes srcAddress, address indexed',
      'dstAddress, uint64 nonce, bytes32 payloadHash)',
    ],
    V1,
    ({ srcChainId: from, srcAddress, dstAddress: receiver, nonce }, { chainId }) => {
      const sender = packedFields(srcAddress, { sender: PACKED_ADDRESS });
      const own = layerZeroNumber(chainId, 1);
      return {
        direction: 'in',
        through: [receiver],
        message_id:
          sender === null || own === null
            ? null
            : idOfV1(from, sender.sender, own, receiver, nonce),
        origin: layerZeroChain(from),
        destination: evmChain(chainId),
      };
    },
  ),
  layout(
    'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
    V2,
    ({ encodedPayload }, { receipt }) => {
      const packet = packedFields(encodedPayload, PACKET_V2);
      if (packet === null) return null;
      return {
        direction: 'out',
        user: receipt.from,
        through: [account(packet.sender)],
        message_id: packet.guid,
        origin: layerZeroChain(Number(packet.from)),
        destination: layerZeroChain(Number(packet.to)),
      };
    },
  ),
  layout(
    [
      'event PacketDelivered((uint32 srcEid, bytes32 sender, uint64 nonce) origin, address',
      'receiver)',
    ],
    V2,
    ({ origin: { srcEid: eid, sender, nonce }, receiver }, context) => ({
      direction: 'in',
      through: [receiver],
      message_id: guidOf(context, { eid, sender, nonce }, receiver),
      origin: layerZeroChain(eid),
      destination: evmChain(context.chainId),
    }),
  ),
  // A delivery in two steps: what was credited to a composer is moved on by this second call.
  layout(
    'event ComposeDelivered(address from, address to, bytes32 guid, uint16 index)',
    V2,
    ({ from, to, guid }, { chainId, log, moves }) => ({
      direction: 'in',
      user: to,
      contract: moves(from) ? from : log.address,
      through: [from, to],
      message_id: guid,
      destination: evmChain(chainId),
    }),
  ),
];

type SentToken = { readonly _dstChainId: number; readonly _from: string; readonly _amount: bigint };

function sendTokenFacts({ _dstChainId, _from, _amount }: SentToken, { chainId }: LogContext) {
  return {
    direction: 'out' as const,
    user: _from,
    amount: _amount,
    origin: evmChain(chainId),
    destination: layerZeroChain(_dstChainId),
  };
}

const TOKENS: readonly EventLayout[] = [
  layout(
    [
      'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256',
      'amountSentLD, uint256 amountReceivedLD)',
    ],
    OFT_V2,
    ({ guid, dstEid, fromAddress: user, amountSentLD }, { chainId }) => ({
      direction: 'out',
      user,
      amount: amountSentLD,
      message_id: guid,
      origin: evmChain(chainId),
      destination: layerZeroChain(dstEid),
    }),
  ),
  layout(
    [
      'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256',
      'amountReceivedLD)',
    ],
    OFT_V2,
    ({ guid, srcEid, toAddress: user, amountReceivedLD: amount }, { chainId }) => ({
      direction: 'in',
      user,
      amount,
      message_id: guid,
      origin: layerZeroChain(srcEid),
      destination: evmChain(chainId),
    }),
  ),
  layout(
    [
      'event SendToChain(uint16 indexed _dstChainId, address indexed _from, bytes _toAddress,',
      'uint256 _amount)',
    ],
    OFT_V1,
    sendTokenFacts,
  ),
  layout(
    [
      'event SendToChain(uint16 indexed _dstChainId, address indexed _from, bytes32 indexed',
      '_toAddress, uint256 _amount)',
    ],
    OFT_V1,
    sendTokenFacts,
  ),
  layout(
    'event ReceiveFromChain(uint16 indexed _srcChainId, address indexed _to, uint256 _amount)',
    OFT_V1,
    ({ _srcChainId, _to: user, _amount: amount }, { chainId }) => ({
      direction: 'in',
      user,
      amount,
      origin: layerZeroChain(_srcChainId),
      destination: evmChain(chainId),
    }),
  ),
];

export const LAYERZERO_EVENTS: readonly EventLayout[] = [
  ...ENDPOINTS,
  ...TOKENS,
  ...asides({ protocol, version: 'v2' }, [
    [
      'event PacketVerified((uint32 srcEid, bytes32 sender, uint64 nonce) origin, address',
      'receiver, bytes32 payloadHash)',
    ],
    'event ComposeSent(address from, address to, bytes32 guid, uint16 index, bytes message)',
    'event ExecutorFeePaid(address executor, uint256 fee)',
    'event DVNFeePaid(address[] requiredDVNs, address[] optionalDVNs, uint256[] fees)',
    'event PayloadVerified(address dvn, bytes header, uint256 confirmations, bytes32 proofHash)',
  ]),
  ...asides({ protocol, version: 'v1' }, [
    'event RelayerParams(bytes adapterParams, uint16 outboundProofType)',
    [
      'event RelayerParams(uint16 chainId, uint64 nonce, uint16 outboundProofType, bytes',
      'adapterParams)',
    ],
    [
      'event HashReceived(uint16 indexed srcChainId, address indexed oracle, bytes32 lookupHash,',
      'bytes32 blockData, uint256 confirmations)',
    ],
    [
      'event PayloadStored(uint16 srcChainId, bytes srcAddress, address dstAddress, uint64 nonce,',
      'bytes payload, bytes reason)',
    ],
    'event PayloadCleared(uint16 srcChainId, bytes srcAddress, uint64 nonce, address dstAddress)',
  ]),
];
