// What do the events of Synapse say: its bridge's deposits, redemptions, mints and withdrawals, and
// the requests and relays of its quoted bridge?

import {
  account,
  type Bridged,
  type EventLayout,
  evmChain,
  type LogContext,
  movements,
  tokenOrNative,
  topic,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'synapse';

// The event of a deposit names the recipient on the other chain; who paid is seen in the receipt.
function sent(context: LogContext): Bridged {
  const { log, receipt, chainId } = context;
  const asset = account(word(log, 1));
  const amount = uint(word(log, 2));
  const paid = movements(receipt).find(
    (one) => one.token === asset && one.amount === amount && one.from === receipt.from,
  );
  return {
    direction: 'out',
    asset,
    amount,
    contract: log.address,
    message_id: null,
    user: paid === undefined ? receipt.from : paid.from,
    origin: evmChain(chainId),
    destination: evmChain(uint(word(log, 0))),
  };
}

/** The amount of the event is before the fee beside it. */
function arrived({ log, chainId }: LogContext): Bridged {
  return {
    direction: 'in',
    user: account(topic(log, 1)),
    contract: log.address,
    asset: account(word(log, 0)),
    amount: uint(word(log, 1)) - uint(word(log, 2)),
    message_id: `0x${topic(log, 2)}`,
    origin: null,
    destination: evmChain(chainId),
  };
}

const OUT = [
  'TokenDeposit(address,uint256,address,uint256)',
  'TokenRedeem(address,uint256,address,uint256)',
  'TokenRedeemV2(bytes32,uint256,address,uint256)',
  'TokenDepositAndSwap(address,uint256,address,uint256,uint8,uint8,uint256,uint256)',
  'TokenRedeemAndSwap(address,uint256,address,uint256,uint8,uint8,uint256,uint256)',
  'TokenRedeemAndRemove(address,uint256,address,uint256,uint8,uint256,uint256)',
];
const IN = [
  'TokenWithdraw(address,address,uint256,uint256,bytes32)',
  'TokenMint(address,address,uint256,uint256,bytes32)',
  'TokenMintAndSwap(address,address,uint256,uint256,uint8,uint8,uint256,uint256,bool,bytes32)',
  'TokenWithdrawAndRemove(address,address,uint256,uint256,uint8,uint256,uint256,bool,bytes32)',
];

/** The layouts of Synapse. */
export const SYNAPSE: readonly EventLayout[] = [
  ...OUT.map(
    (signature): EventLayout => ({
      protocol: PROTOCOL,
      version: 'bridge',
      signature,
      topics: 2,
      kind: 'bridge',
      unique: true,
      read: sent,
    }),
  ),
  ...IN.map(
    (signature): EventLayout => ({
      protocol: PROTOCOL,
      version: 'bridge',
      signature,
      topics: 3,
      kind: 'bridge',
      unique: true,
      read: arrived,
    }),
  ),
  {
    protocol: PROTOCOL,
    version: 'quoted bridge v1',
    topics: 3,
    kind: 'bridge',
    unique: true,
    signature: 'BridgeRequested(bytes32,address,bytes,uint32,address,address,uint256,uint256,bool)',
    read: ({ log, chainId }) => ({
      direction: 'out',
      user: account(topic(log, 2)),
      contract: log.address,
      asset: tokenOrNative(word(log, 2)),
      amount: uint(word(log, 4)),
      message_id: `0x${topic(log, 1)}`,
      origin: evmChain(chainId),
      destination: evmChain(uint(word(log, 1))),
    }),
  },
  {
    protocol: PROTOCOL,
    version: 'quoted bridge v1',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'BridgeRelayed(bytes32,address,address,uint32,address,address,uint256,uint256,uint256)',
    read: ({ log, chainId }) => ({
      direction: 'in',
      user: account(topic(log, 3)),
      contract: log.address,
      asset: tokenOrNative(word(log, 2)),
      amount: uint(word(log, 4)),
      message_id: `0x${topic(log, 1)}`,
      origin: evmChain(uint(word(log, 0))),
      destination: evmChain(chainId),
    }),
  },
];
