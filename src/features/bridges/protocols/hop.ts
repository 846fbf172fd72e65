// What do the events of Hop say: sends from Ethereum and from rollups, arrivals and bonded ones?
// A bonded withdrawal names no recipient: it is taken from what the receipt shows to have moved.

import {
  account,
  assetIn,
  type EventLayout,
  evmChain,
  type LogContext,
  movements,
  paidOut,
  topic,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'hop';

/** The payer: the sender of what was paid in or burnt, else who signed. */
function payerOf({ receipt }: LogContext): string {
  const own = movements(receipt).find(({ from }) => from === receipt.from);
  return own === undefined ? receipt.from : own.from;
}

function sent(context: LogContext, to: bigint, amount: bigint, id: string | null) {
  const { log, chainId } = context;
  return {
    ...({ direction: 'out', user: payerOf(context), amount, contract: log.address } as const),
    asset: assetIn(context, log.address, amount),
    message_id: id,
    origin: evmChain(chainId),
    destination: evmChain(to),
  };
}

function arrived(context: LogContext, user: string | null, amount: bigint, id: string | null) {
  const { log, chainId } = context;
  const moved = paidOut(context, log.address, amount);
  return {
    ...({ direction: 'in', user, amount, contract: log.address } as const),
    asset: moved === null ? null : moved.token,
    message_id: id,
    origin: null,
    destination: evmChain(chainId),
  };
}

/** The layouts of Hop. An event of leaving Ethereum bears no id. */
export const HOP: readonly EventLayout[] = [
  {
    protocol: PROTOCOL,
    version: 'v1 L1 bridge',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature: 'TransferSentToL2(uint256,address,uint256,uint256,uint256,address,uint256)',
    read: (context) => {
      const { log } = context;
      return sent(context, uint(topic(log, 1)), uint(word(log, 0)), null);
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v1 L2 bridge',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'TransferSent(bytes32,uint256,address,uint256,bytes32,uint256,uint256,uint256,uint256)',
    read: (context) => {
      const { log } = context;
      return sent(context, uint(topic(log, 2)), uint(word(log, 0)), `0x${topic(log, 1)}`);
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v1 L2 bridge',
    topics: 3,
    kind: 'bridge',
    unique: true,
    signature: 'TransferFromL1Completed(address,uint256,uint256,uint256,address,uint256)',
    read: (context) => {
      const { log } = context;
      const user = account(topic(log, 1));
      return { ...arrived(context, user, uint(word(log, 0)), null), origin: 'ethereum' };
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 2,
    kind: 'bridge',
    unique: true,
    signature: 'WithdrawalBonded(bytes32,uint256)',
    read: (context) => {
      const { log, receipt } = context;
      const amount = uint(word(log, 0));
      const paid = paidOut(context, log.address, null);
      // The bonder who signs takes its fee out of the same contract.
      const user = paid === null || paid.to === receipt.from ? null : paid.to;
      const asset = paid === null ? null : paid.token;
      return { ...arrived(context, user, amount, `0x${topic(log, 1)}`), asset };
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v1',
    topics: 3,
    kind: 'bridge',
    unique: true,
    signature: 'Withdrew(bytes32,address,uint256,bytes32)',
    read: (context) => {
      const { log } = context;
      const user = account(topic(log, 2));
      return arrived(context, user, uint(word(log, 0)), `0x${topic(log, 1)}`);
    },
  },
  {
    protocol: PROTOCOL,
    version: 'CCTP',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature: 'CCTPTransferSent(uint64,uint256,address,uint256,uint256)',
    read: (context) => {
      const { log, chainId } = context;
      const id = `cctp:${chainId}/${uint(topic(log, 1))}`;
      return sent(context, uint(topic(log, 2)), uint(word(log, 0)), id);
    },
  },
];
