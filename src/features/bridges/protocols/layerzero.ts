// What do the events of LayerZero say: packets sent and delivered, in each version?
// It passes messages only: value that a message moves is its application's and is not told here.

import {
  account,
  type Bridged,
  bytesAt,
  type EventLayout,
  evmChain,
  type LogContext,
  topic,
  uint,
  word,
} from './layout.ts';
import { layerZeroChain } from './stargate.ts';

const PROTOCOL = 'layerzero';

function message(context: LogContext, said: Partial<Bridged>): Bridged {
  const { log, chainId } = context;
  const own = evmChain(chainId);
  return {
    direction: 'out',
    user: null,
    asset: null,
    amount: null,
    contract: log.address,
    message_id: null,
    origin: own,
    destination: own,
    ...said,
  };
}

/** Fields of a packed text of bytes, by the byte at which they begin and end. */
function field(hex: string, from: number, to: number): string {
  const text = hex.slice(from * 2, to * 2);
  if (text.length < (to - from) * 2) throw new RangeError('a packet is shorter than its layout');
  return text;
}

function packetV1(context: LogContext): Bridged {
  const packet = bytesAt(context.log, 0);
  const nonce = uint(field(packet, 0, 8));
  const from = uint(field(packet, 8, 10));
  const sender = field(packet, 10, 30);
  return message(context, {
    user: `0x${sender}`,
    message_id: `${from}/${sender}/${nonce}`,
    destination: layerZeroChain(uint(field(packet, 30, 32))),
  });
}

function packetV2(context: LogContext): Bridged {
  const packet = bytesAt(context.log, 0);
  const sender = field(packet, 13, 45);
  return message(context, {
    user: account(sender),
    // The event of a delivery bears no id of its own, so the path and its nonce join the two.
    message_id: `${uint(field(packet, 9, 13))}/${sender}/${uint(field(packet, 1, 9))}`,
    destination: layerZeroChain(uint(field(packet, 45, 49))),
  });
}

/** The layouts of LayerZero. */
export const LAYERZERO: readonly EventLayout[] = [
  {
    protocol: PROTOCOL,
    version: 'v1, first library',
    topics: 1,
    kind: 'message',
    unique: false,
    signature: 'Packet(uint16,bytes)',
    read: (context) =>
      message(context, { destination: layerZeroChain(uint(word(context.log, 0))) }),
  },
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 1,
    kind: 'message',
    unique: true,
    signature: 'Packet(bytes)',
    read: packetV1,
  },
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 3,
    kind: 'message',
    unique: true,
    signature: 'PacketReceived(uint16,bytes,address,uint64,bytes32)',
    read: (context) => {
      const { log } = context;
      const from = uint(topic(log, 1));
      const sender = bytesAt(log, 0).slice(0, 40);
      return message(context, {
        direction: 'in',
        user: account(topic(log, 2)),
        message_id: `${from}/${sender}/${uint(word(log, 1))}`,
        origin: layerZeroChain(from),
      });
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v2',
    topics: 1,
    kind: 'message',
    unique: true,
    signature: 'PacketSent(bytes,bytes,address)',
    read: packetV2,
  },
  {
    protocol: PROTOCOL,
    version: 'v2',
    topics: 1,
    kind: 'message',
    unique: true,
    signature: 'PacketDelivered((uint32,bytes32,uint64),address)',
    read: (context) => {
      const { log } = context;
      const from = uint(word(log, 0));
      return message(context, {
        direction: 'in',
        user: account(word(log, 3)),
        message_id: `${from}/${word(log, 1)}/${uint(word(log, 2))}`,
        origin: layerZeroChain(from),
      });
    },
  },
];
