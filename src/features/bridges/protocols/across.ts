// What do the events of Across say: deposits and fills of its spoke pools, in each layout so far.
// A fill is paid out of the relayer's wallet, so that its receipt alone shows whom it was for.
// The hub pool logs the deposits and withdrawals of liquidity providers, never bridging.

import {
  account,
  type Bridged,
  type EventLayout,
  evmChain,
  type LogContext,
  topic,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'across';
const ONE = 10n ** 18n;
const SIGNED_FROM = 2n ** 255n;
const WORD_VALUES = 2n ** 256n;

type Deposit = {
  readonly id: bigint;
  readonly destination: bigint;
  readonly user: string;
  readonly asset: string;
  readonly amount: bigint;
};

function deposited({ log, chainId }: LogContext, said: Deposit): Bridged {
  const { id, destination, user, asset, amount } = said;
  return {
    direction: 'out',
    user,
    asset,
    amount,
    contract: log.address,
    message_id: `${chainId}/${id}`,
    origin: evmChain(chainId),
    destination: evmChain(destination),
  };
}

type Fill = {
  readonly id: bigint;
  readonly origin: bigint;
  readonly user: string;
  readonly asset: string;
  readonly amount: bigint;
};

function filled({ log, chainId }: LogContext, said: Fill): Bridged {
  const { id, origin, user, asset, amount } = said;
  return {
    direction: 'in',
    user,
    asset,
    amount,
    contract: log.address,
    message_id: `${origin}/${id}`,
    origin: evmChain(origin),
    destination: evmChain(chainId),
  };
}

function signed(hex: string): bigint {
  const value = uint(hex);
  return value >= SIGNED_FROM ? value - WORD_VALUES : value;
}

/** What a fill of the second version paid: its amount less the fees, in parts of 10^18. */
function afterFees(amount: bigint, fees: readonly string[]): bigint {
  return (amount * (ONE - fees.reduce((sum, fee) => sum + signed(fee), 0n))) / ONE;
}

// The third version and the one of 32-byte addresses differ in the width of a field, not in place.
function depositedV3(context: LogContext): Bridged {
  const { log } = context;
  return deposited(context, {
    id: uint(topic(log, 2)),
    destination: uint(topic(log, 1)),
    user: account(topic(log, 3)),
    asset: account(word(log, 0)),
    amount: uint(word(log, 2)),
  });
}

/** A word of the execution info of a fill, which stands behind an offset where it holds bytes. */
function filledV3(context: LogContext, info: number): Bridged {
  const { log } = context;
  return filled(context, {
    id: uint(topic(log, 2)),
    origin: uint(topic(log, 1)),
    user: account(word(log, info)),
    asset: account(word(log, 1)),
    amount: uint(word(log, info + 2)),
  });
}

const WORD_BYTES = 32n;
const V3_INFO_OFFSET = 11;
const V4_INFO = 11;
const V2_INFO_OFFSET = 11;
const V2_INFO_FEE = 2;

const DEPOSIT_ID_MAX = 2n ** 32n;

/** Whether a log is of the form that indexed the deposit's id first: an address stands second. */
function isEarly({ log }: LogContext): boolean {
  return uint(topic(log, 2)) >= DEPOSIT_ID_MAX;
}

function infoAt({ log }: LogContext, index: number): number {
  return Number(uint(word(log, index)) / WORD_BYTES);
}

/** The layouts of Across. */
export const ACROSS: readonly EventLayout[] = [
  {
    protocol: PROTOCOL,
    version: 'v2 (2022)',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FundsDeposited(uint256,uint256,uint256,uint64,uint32,uint32,address,address,address)',
    read: (context) => {
      const { log } = context;
      return deposited(context, {
        id: uint(topic(log, 1)),
        destination: uint(word(log, 2)),
        user: account(topic(log, 3)),
        asset: account(topic(log, 2)),
        amount: uint(word(log, 0)),
      });
    },
  },
  // The id of the deposit was indexed from some release on.
  ...([3, 4] as const).map(
    (topics): EventLayout => ({
      protocol: PROTOCOL,
      version: 'v2 (2022)',
      topics,
      kind: 'bridge',
      unique: true,
      signature:
        'FilledRelay(uint256,uint256,uint256,uint256,uint256,uint256,uint64,uint64,uint64,uint32,' +
        'address,address,address,address,bool)',
      read: (context) => {
        const { log } = context;
        const at = topics === 4 ? 9 : 10;
        return filled(context, {
          id: uint(topics === 4 ? topic(log, 1) : word(log, 9)),
          origin: uint(word(log, 4)),
          user: account(word(log, at + 1)),
          asset: account(word(log, at)),
          amount: afterFees(uint(word(log, 2)), [word(log, 7), word(log, 8)]),
        });
      },
    }),
  ),
  {
    protocol: PROTOCOL,
    version: 'v2 with messages',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FundsDeposited(uint256,uint256,uint256,int64,uint32,uint32,address,address,address,bytes)',
    read: (context) => {
      const { log } = context;
      const early = isEarly(context);
      return deposited(context, {
        id: uint(topic(log, early ? 1 : 2)),
        destination: uint(early ? word(log, 2) : topic(log, 1)),
        user: account(topic(log, 3)),
        asset: account(early ? topic(log, 2) : word(log, 4)),
        amount: uint(word(log, 0)),
      });
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v2 with messages',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FilledRelay(uint256,uint256,uint256,uint256,uint256,uint256,int64,int64,uint32,address,' +
      'address,address,address,bytes,(address,bytes,int64,bool,int256))',
    read: (context) => {
      const { log } = context;
      const early = isEarly(context);
      const info = infoAt(context, V2_INFO_OFFSET);
      const fees = [word(log, early ? 7 : 6), word(log, info + V2_INFO_FEE)];
      return filled(context, {
        id: uint(topic(log, early ? 1 : 2)),
        origin: uint(early ? word(log, 4) : topic(log, 1)),
        user: account(word(log, info)),
        asset: account(word(log, early ? 8 : 7)),
        amount: afterFees(uint(word(log, 2)), fees),
      });
    },
  },
  {
    protocol: PROTOCOL,
    version: 'v3',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'V3FundsDeposited(address,address,uint256,uint256,uint256,uint32,uint32,uint32,uint32,' +
      'address,address,address,bytes)',
    read: depositedV3,
  },
  {
    protocol: PROTOCOL,
    version: 'v3',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FilledV3Relay(address,address,uint256,uint256,uint256,uint256,uint32,uint32,uint32,' +
      'address,address,address,address,bytes,(address,bytes,uint256,uint8))',
    read: (context) => filledV3(context, infoAt(context, V3_INFO_OFFSET)),
  },
  {
    protocol: PROTOCOL,
    version: 'v3, 32-byte addresses',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,' +
      'bytes32,bytes32,bytes32,bytes)',
    read: depositedV3,
  },
  {
    protocol: PROTOCOL,
    version: 'v3, 32-byte addresses',
    topics: 4,
    kind: 'bridge',
    unique: true,
    signature:
      'FilledRelay(bytes32,bytes32,uint256,uint256,uint256,uint256,uint256,uint32,uint32,' +
      'bytes32,bytes32,bytes32,bytes32,bytes32,(bytes32,bytes32,uint256,uint8))',
    read: (context) => filledV3(context, V4_INFO),
  },
  ...(['LiquidityAdded', 'LiquidityRemoved'] as const).map(
    (event): EventLayout => ({
      protocol: PROTOCOL,
      version: 'hub pool',
      topics: 3,
      kind: 'liquidity',
      unique: false,
      signature: `${event}(address,uint256,uint256,address)`,
      read: ({ log, chainId }) => ({
        direction: event === 'LiquidityAdded' ? 'out' : 'in',
        user: account(topic(log, 2)),
        asset: account(topic(log, 1)),
        amount: uint(word(log, 0)),
        contract: log.address,
        message_id: null,
        origin: evmChain(chainId),
        destination: evmChain(chainId),
      }),
    }),
  ),
];
