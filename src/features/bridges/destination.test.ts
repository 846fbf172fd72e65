import { describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import type { BridgeProtocol, Payment, ReceiptFacts, RegistryRow } from '../../ports/bridges.ts';
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
import { inOrder, logOf } from '../../testing/event-logs.ts';
import {
  type MemoryArrivals,
  memoryBridgeArrivals,
  memoryTransactionReceipts,
} from '../../testing/twins/bridges.ts';
import { findArrival, findDestination, joinReasons } from './destination.ts';
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
  /** The registry's name of the sending contract. */
  readonly from: string;
  readonly sent: Declared;
  /** The registry's names of the contracts on the other chain. */
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

/** The result for a deposit without an arrival, on a chain that was read completely. */
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

describe('payments', () => {
  const RELAYER = `0x${'6'.repeat(40)}`;
  const IMITATION = `0x${'7'.repeat(40)}`;
  const WETH = '0x4200000000000000000000000000000000000006';
  const SENT_AT = STILL_NOW - 3_600;
  const AMOUNT = 70n;
  const SIGNAL = new AbortController().signal;
  const txOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;

  type Pay = Partial<Payment & { readonly to: string }>;
  const pay = (n: number, over: Pay = {}) => {
    const of = { tx: txOf(n), block: n, at: SENT_AT + n, amount: AMOUNT, token: TOKEN };
    return { ...of, to: BOB, from: RELAYER, ...over };
  };

  const DEADLINE = STILL_NOW + DAY_S;
  const TERMS = { recipient: BOB, amount: AMOUNT, deadline: DEADLINE, origin: 1, id: 9 };

  type World = {
    readonly what?: string;
    readonly name?: string;
    readonly asset?: string;
    readonly deadline?: number;
    readonly at?: number;
    readonly paid?: readonly ReturnType<typeof pay>[] | null;
    readonly receipts?: readonly (readonly [tx: number, ...logged: Declared[]])[];
    readonly from?: string;
    readonly over?: Partial<MemoryArrivals>;
  };

  const pairOf = (what: string) => {
    const pair = PAIRS.find((one) => one.what === what);
    if (pair === undefined) throw new Error(`no pair ${what}`);
    return pair;
  };

  /** The same event of another asset: a field of 32 bytes that names the token. */
  const ofAsset = ([declared, values]: Declared, asset: string): Declared => {
    const wide = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
    return [declared, values.map((one) => (one === wide(TOKEN) ? wide(asset) : one))];
  };

  function rowsOf(protocol: BridgeProtocol, name: string): RegistryRow[] {
    return [
      row(HERE, name, { protocol, role: 'lock' }),
      row(THERE, name, { protocol, role: 'lock', chain: 'base' }),
    ];
  }

  /** The result for a deposit to a chain without a configured node. */
  async function said(world: World) {
    const { what = 'Across', name = 'SpokePool', asset = TOKEN, at = SENT_AT } = world;
    const { paid = [], receipts = [], from = THERE, deadline = DEADLINE } = world;
    const pair = pairOf(what);
    const rows = rowsOf(pair.protocol, name);
    const facts = { tx: NONE, block: 5, from: ALICE, to: HERE, value: 0n, input: null } as const;
    const sent = logOf(HERE, ...ofAsset(pair.sent({ ...TERMS, deadline }), asset));
    const receipt = { ...facts, chain: 'ethereum', success: true, logs: [sent] } as const;
    const [event] = decodeReceipt(receipt, registryIndex(rows)).events;
    if (event === undefined) throw new Error('nothing was sent');
    const held = new Map(paid === null ? [] : [['base', paid] as const]);
    const dated = { as_of: STILL_NOW, simulated: false };
    const read = receipts.map(([n, ...logged]): ReceiptFacts => {
      const logs = inOrder(...logged.map((one) => logOf(from, ...one)));
      return { ...receipt, chain: 'base', tx: txOf(n), block: n, logs };
    });
    const ports = {
      bridgeArrivals: memoryBridgeArrivals({
        logs: new Map(),
        paid: held,
        ...dated,
        ...world.over,
      }),
      transactionReceipts: memoryTransactionReceipts({ receipts: read, ...dated }),
    };
    const asked = { event, chain: 'ethereum', tx: NONE, at } as const;
    const { state, tx, matched_by, reasons } = await findDestination(ports, rows, asked, SIGNAL);
    const codes = reasons.map(({ code }) => code).filter((code) => code !== 'not_configured');
    expect(joinReasons(reasons)).toContain('A node of base');
    return { state: state instanceof Read ? state.value : state, tx, matched_by, codes };
  }

  const arrived = (what: string, over: Partial<typeof TERMS> = {}) =>
    pairOf(what).arrived({ ...TERMS, ...over }, NONE, HERE);
  const NOT_TOLD = { state: null, tx: null, matched_by: null };

  describe('by receipts of what the recipient was paid', () => {
    test('a deposit is matched by the event of its id, however its payment looks', async () => {
      const paid = [pay(1), pay(2, { amount: 5n }), pay(3, { token: null })];
      const receipts = [
        [1, arrived('Across', { id: 8 })],
        [2, arrived('Across')],
      ] as const;
      expect(await said({ paid, receipts })).toEqual({
        state: 'matched',
        tx: txOf(2),
        matched_by: 'message_id',
        codes: [],
      });
    });

    test('it is looked for in what fits its terms first, then in what the protocol paid', async () => {
      const others = Array.from({ length: 20 }, (_, n) => pay(n + 1, { amount: 5n }));
      const receipts = [
        [40, arrived('Across', { id: 8 })],
        [41, arrived('Across')],
      ] as const;
      const paid = [...others, pay(40), pay(41, { from: THERE, amount: 6n })];
      expect((await said({ paid, receipts })).tx).toBe(txOf(41));
    });

    test.each([
      ['another id', { id: 8 }],
      ['another amount', { amount: 71n }],
      ['another recipient', { recipient: ALICE }],
      ['another deadline', { deadline: DEADLINE + 1 }],
      ['another origin', { origin: 56 }],
    ])('an event of %s is another’s, and its payment too', async (_, over) => {
      const receipts = [[1, arrived('Across', over)]] as const;
      const told = await said({ paid: [pay(1, { from: THERE, token: TOKEN })], receipts });
      expect(told).toEqual({ ...NOT_TOLD, codes: ['payee_may_change'] });
    });

    test('an event that another contract logs is a forgery', async () => {
      const receipts = [[1, arrived('Across')]] as const;
      expect(await said({ paid: [pay(1)], receipts, from: IMITATION })).toEqual({
        ...NOT_TOLD,
        codes: ['payee_may_change'],
      });
    });

    test('an arrival is shown of a chain that is held in part, or made up', async () => {
      const world = { paid: [pay(1)], receipts: [[1, arrived('Across')]] } as const;
      for (const over of [{ gap: true }, { simulated: true }]) {
        expect((await said({ ...world, over })).state).toBe('matched');
      }
    });
  });

  describe('by transfers alone', () => {
    const own = { from: THERE };
    const unmatched = (code: string) => ({ ...NOT_TOLD, codes: [code] });

    test('one payment of exactly its terms is it, where a contract of the protocol paid it', async () => {
      const matched = { state: 'matched', matched_by: 'transfer_rules', codes: ['paid_by_terms'] };
      expect(await said({ paid: [pay(1, own), pay(2, { amount: 5n })] })).toEqual({
        ...matched,
        tx: txOf(1),
      });
      // The wrapped coin is paid out as the coin itself.
      const coin = pay(3, { from: THERE, token: null });
      expect(await said({ paid: [coin], asset: WETH })).toEqual({ ...matched, tx: txOf(3) });
    });

    test.each([
      ['a relayer’s own wallet paid it', [pay(1)], 'payments_fit'],
      ['two payments have its terms', [pay(1, own), pay(2, own)], 'payments_fit'],
      ['one transaction pays its terms twice', [pay(1, own), pay(1, own)], 'payments_fit'],
      ['anybody paid as much beside it', [pay(1, own), pay(2)], 'payments_fit'],
      ['the amount differs', [pay(1, { from: THERE, amount: 69n })], 'payments_unread'],
      ['it is an imitation', [pay(1, { from: THERE, token: IMITATION })], 'payments_unread'],
      ['it is the coin', [pay(1, { from: THERE, token: null })], 'payments_unread'],
      ['another was paid', [pay(1, { from: THERE, to: ALICE })], 'payee_may_change'],
      ['it came before it', [pay(1, { from: THERE, at: SENT_AT - DAY_S })], 'payee_may_change'],
    ] as const)('nothing is matched where %s', async (_, paid, code) => {
      expect(await said({ paid })).toEqual(unmatched(code));
    });

    test('nothing is matched by what came after its deadline', async () => {
      const paid = [pay(1, { from: THERE, at: SENT_AT + 60 })];
      expect(await said({ paid, deadline: SENT_AT + 30 })).toEqual(unmatched('payee_may_change'));
    });

    test('nothing is matched where another payment may be missing, or it is made up', async () => {
      for (const over of [{ gap: true }, { simulated: true }]) {
        expect(await said({ paid: [pay(1, own)], over })).toEqual(unmatched('payments_fit'));
      }
    });
  });

  describe('that nothing arrived', () => {
    const celer = { what: 'cBridge', name: 'Pool V2' };
    const old = STILL_NOW - 8 * DAY_S;

    test('is said where the recipient was paid nothing at all', async () => {
      const told = { tx: null, matched_by: null, codes: [] };
      expect(await said(celer)).toEqual({ ...told, state: 'in_flight' });
      expect(await said({ ...celer, at: old })).toEqual({ ...told, state: 'unmatched' });
    });

    test('is said where the receipt of everything that it was paid was read', async () => {
      const paid = [pay(1), pay(2)];
      const receipts = [[1], [2, arrived('cBridge', { id: 8 })]] as const;
      expect((await said({ ...celer, paid, receipts })).state).toBe('in_flight');
      expect(await said({ ...celer, paid, receipts: [[1]] })).toEqual({
        ...NOT_TOLD,
        codes: ['payments_unread'],
      });
    });

    test('is not said where a contract that is not listed logged such an event', async () => {
      const paid = [pay(1)];
      const receipts = [[1, arrived('cBridge', { id: 8 })]] as const;
      expect(await said({ ...celer, paid, receipts, from: IMITATION })).toEqual({
        ...NOT_TOLD,
        codes: ['bridge_event_unknown'],
      });
    });

    test.each([
      ['the chain is held in part', { ...celer, over: { gap: true } }, 'arrivals_not_held'],
      ['the chain is not held', { ...celer, paid: null }, 'arrivals_not_held'],
      ['what is held is made up', { ...celer, over: { simulated: true } }, 'simulated'],
      ['another may be paid', {}, 'payee_may_change'],
      ['nobody is named', { what: 'Stargate v2', name: 'Pool' }, 'payee_not_named'],
    ] as const)('is not said where %s', async (_, world, code) => {
      expect(await said({ ...world, at: old })).toEqual({ ...NOT_TOLD, codes: [code] });
    });
  });
});
