// The declarations are those of the protocols' sources; bridges.test.ts holds our reading of them
// against a compiler's logs.

import { textHash } from '../chain/abi.ts';
import type { BridgeProtocol } from '../ports/bridges.ts';

/** Logs what it is called with: the number of topics in one byte, the topics, the data. */
export const ECHO = `
  // SPDX-License-Identifier: Apache-2.0
  pragma solidity ^0.8.30;
  contract Echo {
    fallback() external payable {
      assembly {
        let n := byte(0, calldataload(0))
        let at := add(1, mul(32, n))
        let size := sub(calldatasize(), at)
        calldatacopy(0, at, size)
        switch n
        case 1 { log1(0, size, calldataload(1)) }
        case 2 { log2(0, size, calldataload(1), calldataload(33)) }
        case 3 { log3(0, size, calldataload(1), calldataload(33), calldataload(65)) }
        default {
          log4(0, size, calldataload(1), calldataload(33), calldataload(65), calldataload(97))
        }
      }
    }
  }`;

/** The sender and the recipient. */
export const ALICE = '0x1111111111111111111111111111111111111111';
export const BOB = '0x2222222222222222222222222222222222222222';
/** The token, and the contract of Wormhole's token bridge. */
export const TOKEN = '0x3333333333333333333333333333333333333333';
/** The contract of Wormhole that has Circle burn and mint. */
export const INTEGRATION = '0x7777777777777777777777777777777777777777';
const ID = `0x${'ab'.repeat(32)}`;
const NONE = `0x${'00'.repeat(32)}`;
const wide = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;

/** The terms that both sides name; `origin` is the chain that the arrival says it came from. */
export type Terms = {
  readonly recipient: string;
  readonly amount: bigint;
  readonly deadline: number;
  readonly origin: number;
  readonly id: number;
};
/** A declared event and the values of its fields. */
export type Declared = readonly [declaration: string, values: readonly unknown[]];
/** The logs on the sending and on the receiving chain. */
export type Pair = {
  readonly what: string;
  readonly protocol: BridgeProtocol;
  readonly matched_by: 'message_id' | 'fill_rules';
  readonly sent: (terms: Terms) => Declared;
  /** `tx`: the transaction that sent it, and the contract that logged it. */
  readonly arrived: (terms: Terms, tx: string, contract: string) => Declared;
  /** The contract of Base that logs what arrived, where that is not the protocol's own. */
  readonly logged_by?: string;
  /** The further terms of both sides: an arrival that differs in one is another's. */
  readonly terms: readonly ('recipient' | 'amount' | 'deadline' | 'origin')[];
};

/** The message of Wormhole's integration of Circle's transfers beside a burn from Ethereum. */
function circleDeposit(recipient: string, amount: bigint, id: number): string {
  const words = [wide(TOKEN), wide(`0x${amount.toString(16)}`)].map((one) => one.slice(2));
  const domains = `0000000000000006${id.toString(16).padStart(16, '0')}`;
  return `0x01${words.join('')}${domains}${wide(ALICE).slice(2)}${wide(recipient).slice(2)}0000`;
}

const idOf = (id: number) => `0x${id.toString(16).padStart(64, '0')}`;
const layerZeroOf = (chain: number) => (chain === 1 ? 30_101 : 30_102);

/** Circle's contracts of messages on Base, and of burns by the chain that a message came from. */
export const TRANSMITTER = '0xad09780d193884d503182ad4588450c416d6f9d4';
const MESSENGERS = {
  ethereum: '0xbd3fa81b58ba92a82136038b25adec7066af3155',
  arbitrum: '0x19330d10d9cc8751218eaf51e8885d058642e08a',
} as const;
const RECEIVED =
  'event MessageReceived(address indexed caller, uint32 sourceDomain, uint64 indexed nonce, ' +
  'bytes32 sender, bytes messageBody)';

/** The log of Circle for a burn of a contract. */
export function circleArrival({ recipient, amount, origin, id }: Terms, sender: string): Declared {
  const words = [wide(TOKEN), wide(recipient), wide(`0x${amount.toString(16)}`), wide(sender)];
  const body = `0x00000000${words.map((one) => one.slice(2)).join('')}`;
  const [domain, messenger] = origin === 1 ? [0, MESSENGERS.ethereum] : [3, MESSENGERS.arbitrum];
  return [RECEIVED, [ALICE, domain, BigInt(id), wide(messenger), body]];
}

/** A token of LayerZero; Stargate v2 is one too. */
function omnichain(what: string, protocol: BridgeProtocol): Pair {
  return {
    what,
    protocol,
    matched_by: 'message_id',
    terms: ['origin'],
    sent: ({ amount, id }) => [
      [
        'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress,',
        'uint256 amountSentLD, uint256 amountReceivedLD)',
      ].join(' '),
      [idOf(id), 30_184, ALICE, amount, amount],
    ],
    arrived: ({ recipient, amount, origin, id }) => [
      [
        'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress,',
        'uint256 amountReceivedLD)',
      ].join(' '),
      [idOf(id), layerZeroOf(origin), recipient, amount],
    ],
  };
}

/** A pair for each protocol and way of joining. */
export const PAIRS: readonly Pair[] = [
  {
    what: 'Across',
    protocol: 'across',
    matched_by: 'message_id',
    terms: ['recipient', 'amount', 'deadline', 'origin'],
    sent: ({ recipient, amount, deadline, id }) => [
      [
        'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount,',
        'uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId,',
        'uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32',
        'indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
      ].join(' '),
      [
        ...[wide(TOKEN), wide(TOKEN), amount + 1n, amount, 8453n, BigInt(id), 0, deadline, 0],
        ...[wide(ALICE), wide(recipient), NONE, '0x'],
      ],
    ],
    arrived: ({ recipient, amount, deadline, origin, id }) => [
      [
        'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount,',
        'uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId,',
        'uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32',
        'exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient,',
        'bytes32 messageHash, (bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256',
        'updatedOutputAmount, uint8 fillType) relayExecutionInfo)',
      ].join(' '),
      [
        ...[wide(TOKEN), wide(TOKEN), amount + 1n, amount, 1n, BigInt(origin), BigInt(id)],
        ...[deadline, 0, NONE, wide(BOB), wide(ALICE), wide(recipient), NONE],
        {
          updatedRecipient: wide(recipient),
          updatedMessageHash: NONE,
          updatedOutputAmount: amount,
          fillType: 0,
        },
      ],
    ],
  },
  omnichain('Stargate v2', 'stargate'),
  omnichain('a token of LayerZero', 'layerzero'),
  {
    what: 'Hop from a rollup',
    protocol: 'hop',
    matched_by: 'message_id',
    terms: ['amount'],
    sent: ({ recipient, amount, id }) => [
      [
        'event TransferSent(bytes32 indexed transferId, uint256 indexed chainId, address',
        'indexed recipient, uint256 amount, bytes32 transferNonce, uint256 bonderFee, uint256',
        'index, uint256 amountOutMin, uint256 deadline)',
      ].join(' '),
      [idOf(id), 8453n, recipient, amount, NONE, 1n, 0n, 0n, 0n],
    ],
    arrived: ({ amount, id }) => [
      'event WithdrawalBonded(bytes32 indexed transferId, uint256 amount)',
      [idOf(id), amount],
    ],
  },
  {
    what: 'Hop from Ethereum',
    protocol: 'hop',
    matched_by: 'fill_rules',
    terms: ['recipient', 'amount', 'deadline'],
    sent: ({ recipient, amount, deadline, id }) => [
      [
        'event TransferSentToL2(uint256 indexed chainId, address indexed recipient, uint256',
        'amount, uint256 amountOutMin, uint256 deadline, address indexed relayer, uint256',
        'relayerFee)',
      ].join(' '),
      [8453n, recipient, amount + BigInt(id), 0n, BigInt(deadline), BOB, 1n],
    ],
    arrived: ({ recipient, amount, deadline, id }) => [
      [
        'event TransferFromL1Completed(address indexed recipient, uint256 amount, uint256',
        'amountOutMin, uint256 deadline, address indexed relayer, uint256 relayerFee)',
      ].join(' '),
      [recipient, amount + BigInt(id), 0n, BigInt(deadline), BOB, 1n],
    ],
  },
  {
    what: 'Synapse',
    protocol: 'synapse',
    matched_by: 'message_id',
    terms: ['recipient'],
    sent: ({ recipient, amount }) => [
      [
        'event TokenDeposit(address indexed to, uint256 chainId, address token, uint256',
        'amount)',
      ].join(' '),
      [recipient, 8453n, TOKEN, amount],
    ],
    arrived: ({ recipient, amount }, tx) => [
      [
        'event TokenMint(address indexed to, address token, uint256 amount, uint256 fee,',
        'bytes32 indexed kappa)',
      ].join(' '),
      [recipient, TOKEN, amount, 0n, textHash(tx)],
    ],
  },
  {
    what: 'Synapse’s quoted bridge',
    protocol: 'synapse',
    matched_by: 'message_id',
    terms: ['amount', 'origin'],
    sent: ({ amount, id }) => [
      [
        'event BridgeRequested(bytes32 indexed transactionId, address indexed sender, bytes',
        'request, uint32 destChainId, address originToken, address destToken, uint256',
        'originAmount, uint256 destAmount, bool sendChainGas)',
      ].join(' '),
      [idOf(id), ALICE, '0x', 8453, TOKEN, TOKEN, amount + 1n, amount, false],
    ],
    arrived: ({ recipient, amount, origin, id }) => [
      [
        'event BridgeRelayed(bytes32 indexed transactionId, address indexed relayer, address',
        'indexed to, uint32 originChainId, address originToken, address destToken, uint256',
        'originAmount, uint256 destAmount, uint256 chainGasAmount)',
      ].join(' '),
      [idOf(id), BOB, recipient, origin, TOKEN, TOKEN, amount + 1n, amount, 0n],
    ],
  },
  {
    what: 'cBridge',
    protocol: 'celer',
    matched_by: 'message_id',
    terms: ['recipient', 'origin'],
    sent: ({ recipient, amount, id }) => [
      [
        'event Send(bytes32 transferId, address sender, address receiver, address token,',
        'uint256 amount, uint64 dstChainId, uint64 nonce, uint32 maxSlippage)',
      ].join(' '),
      [idOf(id), ALICE, recipient, TOKEN, amount, 8453n, 1n, 0],
    ],
    arrived: ({ recipient, amount, origin, id }) => [
      [
        'event Relay(bytes32 transferId, address sender, address receiver, address token,',
        'uint256 amount, uint64 srcChainId, bytes32 srcTransferId)',
      ].join(' '),
      [ID, ALICE, recipient, TOKEN, amount - 1n, BigInt(origin), idOf(id)],
    ],
  },
  {
    what: 'Wormhole’s token bridge',
    protocol: 'wormhole',
    matched_by: 'message_id',
    terms: ['origin'],
    sent: ({ recipient, id }) => [
      [
        'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce,',
        'bytes payload, uint8 consistencyLevel)',
      ].join(' '),
      [
        TOKEN,
        BigInt(id),
        0,
        `0x01${NONE.slice(2)}${NONE.slice(2)}0002${wide(recipient).slice(2)}001e${NONE.slice(2)}`,
        1,
      ],
    ],
    arrived: ({ origin, id }) => [
      [
        'event TransferRedeemed(uint16 indexed emitterChainId, bytes32 indexed',
        'emitterAddress, uint64 indexed sequence)',
      ].join(' '),
      [origin === 1 ? 2 : 4, wide(TOKEN), BigInt(id)],
    ],
  },
  {
    what: 'Hop by Circle',
    protocol: 'hop',
    matched_by: 'message_id',
    logged_by: TRANSMITTER,
    terms: ['recipient', 'amount', 'origin'],
    sent: ({ recipient, amount, id }) => [
      [
        'event CCTPTransferSent(uint64 indexed cctpNonce, uint256 indexed chainId, address',
        'indexed recipient, uint256 amount, uint256 bonderFee)',
      ].join(' '),
      [BigInt(id), 8453n, recipient, amount + 1n, 1n],
    ],
    arrived: (terms, _, contract) => circleArrival(terms, contract),
  },
  {
    what: 'cBridge by Circle',
    protocol: 'celer',
    matched_by: 'message_id',
    logged_by: TRANSMITTER,
    terms: ['recipient', 'amount', 'origin'],
    sent: ({ recipient, amount, id }) => [
      [
        'event Deposited(address sender, bytes32 recipient, uint64 dstChid, uint256 amount,',
        'uint256 txFee, uint256 percFee, uint64 nonce)',
      ].join(' '),
      [ALICE, wide(recipient), 8453n, amount + 3n, 1n, 2n, BigInt(id)],
    ],
    arrived: (terms, _, contract) => circleArrival(terms, contract),
  },
  {
    what: 'Wormhole by Circle',
    protocol: 'wormhole',
    matched_by: 'message_id',
    logged_by: TRANSMITTER,
    terms: ['recipient', 'amount', 'origin'],
    sent: ({ recipient, amount, id }) => [
      [
        'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce,',
        'bytes payload, uint8 consistencyLevel)',
      ].join(' '),
      [INTEGRATION, 99n, 0, circleDeposit(recipient, amount, id), 1],
    ],
    arrived: (terms) => circleArrival(terms, INTEGRATION),
  },
];
