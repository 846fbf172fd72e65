import { describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import type { BridgeProtocol, RegistryRow } from '../../ports/bridges.ts';
import {
  ALICE,
  BOB,
  type Declared,
  INTEGRATION,
  PAIRS,
  TOKEN,
} from '../../testing/bridge-pairs.ts';
import { row } from '../../testing/bridge-trace.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { logOf } from '../../testing/event-logs.ts';
import {
  type MemoryArrivals,
  memoryBridgeArrivals,
  memoryTransactionReceipts,
} from '../../testing/twins/bridges.ts';
import { findArrival, findDestination } from './destination.ts';
import { decodeReceipt } from './protocols/decode.ts';
import { registryIndex } from './registry.ts';

const HERE = `0x${'4'.repeat(40)}`;
const THERE = `0x${'5'.repeat(40)}`;
const PAID = `0x${'cd'.repeat(32)}`;
const NONE = `0x${'00'.repeat(32)}`;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const SIGNAL = new AbortController().signal;

const pairOf = (what: string): Declared => {
  const pair = PAIRS.find((one) => one.what === what);
  if (pair === undefined) throw new Error(`no pair ${what}`);
  const deadline = STILL_NOW + DAY_S;
  return pair.sent({ recipient: BOB, amount: 70n, deadline, origin: 1, id: 9 });
};

type Case = {
  readonly protocol: BridgeProtocol;
  /** What the registry calls the contract that sent. */
  readonly from: string;
  readonly sent: Declared;
  /** What it calls those on the other chain. */
  readonly to: readonly string[];
  readonly at?: number;
};

type Placed = Omit<Case, 'at'>;

/** A deposit at a contract, and the registry that knows it. */
function depositOf({ protocol, from, sent, to }: Placed) {
  const rows: readonly RegistryRow[] = [
    row(HERE, from, { protocol, role: 'lock' }),
    ...(protocol === 'wormhole'
      ? [TOKEN, INTEGRATION].map((one) => row(one, from, { protocol, role: 'lock' }))
      : []),
    ...to.map((name) => row(THERE, name, { protocol, role: 'lock', chain: 'base' })),
  ];
  const facts = {
    chain: 'ethereum',
    tx: NONE,
    block: 5,
    from: ALICE,
    to: HERE,
    value: 0n,
  } as const;
  const logs = [logOf(HERE, ...sent)];
  const receipt = { ...facts, input: null, success: true, logs };
  const events = decodeReceipt(receipt, registryIndex(rows)).events;
  const event = events.find(({ kind }) => kind === 'bridge');
  if (event === undefined) throw new Error('nothing was sent');
  return { event, rows };
}

const portsOf = (held: MemoryArrivals) => ({
  bridgeArrivals: memoryBridgeArrivals(held),
  transactionReceipts: memoryTransactionReceipts({ receipts: [], as_of: 0, simulated: false }),
});

/** What is said of a deposit of which nothing arrived, on a chain that was read whole. */
async function saidOf({ at = STILL_NOW - HOUR_S, ...placed }: Case) {
  const { event, rows } = depositOf(placed);
  const chain = { logs: new Map([['base' as const, []]]), as_of: STILL_NOW, simulated: false };
  const asked = { event, chain: 'ethereum', tx: NONE, at } as const;
  const said = await findDestination(portsOf(chain), rows, asked, SIGNAL);
  return said.state instanceof Read ? said.state.value : said.reasons[0]?.code;
}

const NTT: Declared = [
  [
    'event TransferSent(bytes32 indexed recipient, bytes32 indexed refundAddress, uint256',
    'amount, uint256 fee, uint16 recipientChain, uint64 msgSequence)',
  ].join(' '),
  [NONE, NONE, 70n, 0n, 30, 5n],
];
const VAULTED: Declared = [
  [
    'event Deposited(bytes32 depositId, address depositor, address token, uint256 amount,',
    'uint64 mintChainId, address mintAccount)',
  ].join(' '),
  [`0x${'ab'.repeat(32)}`, ALICE, TOKEN, 70n, 8453n, BOB],
];
const VAULTS = ['OriginalTokenVault', 'OriginalTokenVaultV2'];
const PEGGED = ['PeggedTokenBridge', 'PeggedTokenBridgeV2'];

describe('that nothing arrived is said', () => {
  test.each<Case>([
    { protocol: 'across', from: 'SpokePool', sent: pairOf('Across'), to: ['SpokePool'] },
    {
      protocol: 'hop',
      from: 'L1 Bridge (ETH)',
      sent: pairOf('Hop from Ethereum'),
      to: ['L2 AmmWrapper (ETH)', 'L2 Bridge (ETH)'],
    },
    {
      protocol: 'celer',
      from: 'OriginalTokenVault',
      sent: VAULTED,
      to: [...VAULTS, ...PEGGED],
    },
    {
      protocol: 'wormhole',
      from: 'Token Bridge',
      sent: pairOf('Wormhole’s token bridge'),
      to: ['Token Bridge'],
    },
    // Circle's own contract tells what it carried, whichever of the protocol's are listed there.
    { protocol: 'hop', from: 'L1 CCTP Bridge (USDC)', sent: pairOf('Hop by Circle'), to: [] },
    { protocol: 'celer', from: 'CircleBridgeProxy', sent: pairOf('cBridge by Circle'), to: [] },
    {
      protocol: 'wormhole',
      from: 'Circle Integration',
      sent: pairOf('Wormhole by Circle'),
      to: [],
    },
  ])('of $protocol, $from, where $to were read', async (one) => {
    expect(await saidOf(one)).toBe('in_flight');
    const long = { ...one, at: STILL_NOW - 8 * DAY_S };
    expect(await saidOf(long)).toBe(one.protocol === 'across' ? 'in_flight' : 'unmatched');
  });
});

test('a page is asked of a deposit though nobody tells when it was sent', async () => {
  const sent = pairOf('Across');
  const { event, rows } = depositOf({ protocol: 'across', from: 'SpokePool', sent, to: [] });
  const said = { page: 'across_status', state: 'paid', tx: PAID, word: 'filled' } as const;
  const pages = new Map([[NONE, said]]);
  const held = portsOf({ logs: new Map(), as_of: 0, simulated: false, pages });
  const asked = { event, tx: NONE, chain: 'ethereum', block: 5 } as const;
  const arrival = await findArrival(held, rows, asked, SIGNAL);
  const { state, tx, matched_by } = arrival;
  expect([state, tx, matched_by]).toEqual(['matched', PAID, 'across_status']);
  expect(arrival.reason).toContain('A node of ethereum');
});

describe('nothing is denied', () => {
  test.each<Case>([
    // Both sides of NTT write ids of their own.
    { protocol: 'wormhole', from: 'NTT manager', sent: NTT, to: ['NTT manager'] },
    // It sends as the token bridge does, and logs no redemption.
    {
      protocol: 'wormhole',
      from: 'NFT Bridge',
      sent: pairOf('Wormhole’s token bridge'),
      to: ['NFT Bridge'],
    },
    // The first token bridges logged no redemption.
    {
      protocol: 'wormhole',
      from: 'Token Bridge',
      sent: pairOf('Wormhole’s token bridge'),
      to: ['Token Bridge'],
      at: Date.UTC(2023, 5, 1) / 1_000,
    },
  ])('of $protocol, $from, whose other side logs nothing that joins', async (one) => {
    expect(await saidOf(one)).toBe('destination_not_joined');
  });

  test.each<Case>([
    {
      protocol: 'stargate',
      from: 'StargatePool V2 (USDC)',
      sent: pairOf('Stargate v2'),
      to: ['StargatePool V2 (USDT)'],
    },
    {
      protocol: 'synapse',
      from: 'FastBridge',
      sent: pairOf('Synapse’s quoted bridge'),
      to: ['SynapseBridge'],
    },
    {
      protocol: 'celer',
      from: 'OriginalTokenVault',
      sent: VAULTED,
      to: [...VAULTS, 'PeggedTokenBridge'],
    },
    {
      protocol: 'hop',
      from: 'L1 Bridge (ETH)',
      sent: pairOf('Hop from Ethereum'),
      to: ['L2 Bridge (USDT)'],
    },
  ])('of $protocol, $from, where who pays it is not on the registry', async (one) => {
    expect(await saidOf(one)).toBe('payer_not_listed');
  });
});
