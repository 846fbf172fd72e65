import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BridgeChain, ReceiptLog, RegistryRow } from '../../ports/bridges.ts';
import { evm } from '../../testing/addresses.ts';
import { inOrder, logOf, movedLog } from '../../testing/event-logs.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { explainReceipt } from './explain.ts';
import { registryIndex, validateRegistry } from './registry.ts';
import { addReceipts, sortContacts, transactionsToRead } from './trace.ts';

// Transactions of our own making that are no bridging, at the contracts of the shipped registry.
const LINES = parse(
  readFileSync(new URL('../../../registry/bridge-contracts.csv', import.meta.url)),
);
const { rows: ROWS } = validateRegistry(
  LINES.map((cells: readonly string[], i: number) => ({ line: i + 1, cells })),
);

const USER = evm('user');
const [POOL, ROUTER, FRIEND] = [evm('pool'), evm('router'), evm('friend')];
const NOBODY = `0x${'0'.repeat(40)}`;
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const STG = '0xaf5191b0de278c7286d6c7cc6ab6bb8a73ba2cd6';
const POOL_V1 = '0xdf0770df86a8034b3efef0a1bb3c889b8332ff56';
const POOL_V2 = '0xc026395860db2d07ee33e05fe50ed7bd583189c7';
const HUB = '0xc186fa914353c44b2e33ebe05f21846f1048beda';
const SPOKE = '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5';
const CBRIDGE = '0x5427fefa711eff984124bfbb1ab6fbf5e3da1820';
const HOP_L1 = '0xb8901acb165ed027e32754e0ffe830802919727f';
const FAST = '0x5523d3c98809dddb82c686e152f5c58b1b0fb59e';

function contractOf(chain: BridgeChain, name: string): string {
  const row = ROWS.find((one) => one.chain === chain && one.name === name);
  if (row === undefined) throw new Error(`no ${name} on ${chain}`);
  return row.address;
}

type Made = {
  readonly what: string;
  readonly chain?: BridgeChain;
  readonly to?: string;
  readonly logs: readonly ReceiptLog[];
};
const ID = `0x${'ab'.repeat(32)}`;
const moved = (token: string, from: string, to: string) => movedLog(token, from, to, 70n);
const approved = (token: string, spender: string) =>
  logOf(token, 'event Approval(address indexed owner, address indexed spender, uint256 value)', [
    USER,
    spender,
    70n,
  ]);

const SWAPS: readonly Made[] = [
  [
    'v2',
    [
      'event Swap(address indexed sender, uint256 a, uint256 b, uint256 c, uint256 d,',
      'address indexed to)',
    ].join(' '),
    [USER, 1n, 2n, 3n, 4n, USER],
  ],
  [
    'v3',
    [
      'event Swap(address indexed sender, address indexed to, int256 a, int256 b, uint160',
      'p, uint128 l, int24 t)',
    ].join(' '),
    [USER, USER, 1n, 2n, 3n, 4n, 5],
  ],
  [
    'saddle',
    [
      'event TokenSwap(address indexed buyer, uint256 sold, uint256 bought, uint128 soldId,',
      'uint128 boughtId)',
    ].join(' '),
    [USER, 1n, 2n, 0n, 1n],
  ],
  [
    'curve',
    [
      'event TokenExchange(address indexed buyer, int128 soldId, uint256 sold, int128',
      'boughtId, uint256 bought)',
    ].join(' '),
    [USER, 0n, 1n, 1n, 2n],
  ],
].flatMap(([what, event, values]): Made[] =>
  [USDC, STG, POOL_V1].map((token, i) => ({
    what: `${what} swap ${i}`,
    to: ROUTER,
    logs: [
      moved(token, USER, POOL),
      moved(WETH, POOL, USER),
      logOf(POOL, String(event), values as readonly unknown[]),
    ],
  })),
);

const APPROVALS: readonly Made[] = [
  SPOKE,
  HUB,
  POOL_V1,
  POOL_V2,
  CBRIDGE,
  HOP_L1,
  FAST,
  STG,
  ROUTER,
]
  .map((spender, i): Made => ({ what: `approval ${i}`, to: USDC, logs: [approved(USDC, spender)] }))
  .concat({ what: 'approval of a pool’s share', to: POOL_V1, logs: [approved(POOL_V1, ROUTER)] });

const liquidity = (
  at: string,
  event: string,
  values: readonly unknown[],
  ...more: ReceiptLog[]
): Made => ({
  what: event.slice('event '.length, event.indexOf('(')),
  to: at,
  logs: [...more, logOf(at, event, values)],
});
const LIQUIDITY: readonly Made[] = [
  liquidity(
    HUB,
    [
      'event LiquidityAdded(address indexed l1Token, uint256 amount, uint256',
      'lpTokensMinted, address indexed liquidityProvider)',
    ].join(' '),
    [USDC, 70n, 69n, USER],
    moved(USDC, USER, HUB),
  ),
  liquidity(
    HUB,
    [
      'event LiquidityRemoved(address indexed l1Token, uint256 amount, uint256',
      'lpTokensBurnt, address indexed liquidityProvider)',
    ].join(' '),
    [USDC, 70n, 69n, USER],
    moved(USDC, HUB, USER),
  ),
  liquidity(
    POOL_V1,
    'event Mint(address to, uint256 amountLP, uint256 amountSD, uint256 mintFeeAmountSD)',
    [USER, 70n, 70n, 0n],
    moved(USDC, USER, POOL_V1),
    moved(POOL_V1, NOBODY, USER),
  ),
  liquidity(
    POOL_V1,
    'event Burn(address from, uint256 amountLP, uint256 amountSD)',
    [USER, 70n, 70n],
    moved(POOL_V1, USER, NOBODY),
  ),
  liquidity(
    POOL_V1,
    [
      'event InstantRedeemLocal(address from, uint256 amountLP, uint256 amountSD, address',
      'to)',
    ].join(' '),
    [USER, 70n, 70n, USER],
    moved(USDC, POOL_V1, USER),
  ),
  liquidity(
    POOL_V2,
    'event Deposited(address indexed payer, address indexed receiver, uint256 amountLD)',
    [USER, USER, 70n],
    moved(USDC, USER, POOL_V2),
  ),
  liquidity(
    POOL_V2,
    'event Redeemed(address indexed payer, address indexed receiver, uint256 amountLD)',
    [USER, USER, 70n],
    moved(USDC, POOL_V2, USER),
  ),
  liquidity(
    CBRIDGE,
    'event LiquidityAdded(uint64 seqnum, address provider, address token, uint256 amount)',
    [1n, USER, USDC, 70n],
    moved(USDC, USER, CBRIDGE),
  ),
  liquidity(
    CBRIDGE,
    [
      'event WithdrawDone(bytes32 withdrawId, uint64 seqnum, address receiver, address',
      'token, uint256 amount, bytes32 refid)',
    ].join(' '),
    [ID, 1n, USER, USDC, 70n, ID],
    moved(USDC, CBRIDGE, USER),
  ),
  liquidity(HOP_L1, 'event Stake(address indexed account, uint256 amount)', [USER, 70n]),
  liquidity(HOP_L1, 'event Unstake(address indexed account, uint256 amount)', [USER, 70n]),
  liquidity(
    FAST,
    [
      'event BridgeDepositRefunded(bytes32 indexed transactionId, address indexed to,',
      'address token, uint256 amount)',
    ].join(' '),
    [ID, USER, USDC, 70n],
    moved(USDC, FAST, USER),
  ),
];

const claim = 'event Claimed(uint256 index, address account, uint256 amount)';
const CLAIMS: readonly Made[] = [
  ...[USDC, STG, POOL_V1, WETH].map(
    (token, i): Made => ({
      what: `claim ${i}`,
      to: POOL,
      logs: [logOf(POOL, claim, [1n, USER, 70n]), moved(token, POOL, USER)],
    }),
  ),
  liquidity(
    SPOKE,
    [
      'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed',
      'refundAddress, uint256 amount, address indexed caller)',
    ].join(' '),
    [ID, ID, 70n, USER],
    moved(USDC, SPOKE, USER),
  ),
  liquidity(
    FAST,
    [
      'event BridgeDepositClaimed(bytes32 indexed transactionId, address indexed relayer,',
      'address indexed to, address token, uint256 amount)',
    ].join(' '),
    [ID, USER, USER, USDC, 70n],
    moved(USDC, FAST, USER),
  ),
  liquidity(
    SPOKE,
    [
      'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId,',
      'uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address',
      'l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)',
    ].join(' '),
    [0n, 1n, [70n], 1, 1, USDC, [USER], false, FRIEND],
    moved(USDC, SPOKE, USER),
  ),
];

const TRANSFERS: readonly Made[] = [USDC, WETH, STG, POOL_V1].flatMap((token, i): Made[] => [
  { what: `plain transfer ${i}`, to: token, logs: [moved(token, USER, FRIEND)] },
  {
    what: `transfer into a bridge that logs nothing ${i}`,
    to: token,
    logs: [moved(token, USER, SPOKE)],
  },
  {
    what: `transfer out of a bridge that logs nothing ${i}`,
    to: token,
    logs: [moved(token, SPOKE, USER)],
  },
]);
const BRIDGED: readonly Made[] = (['arbitrum', 'polygon', 'bsc', 'base'] as const).map((chain) => ({
  what: `plain transfer of a bridged token on ${chain}`,
  chain,
  to: contractOf(chain, 'StargateToken (STG)'),
  logs: [moved(contractOf(chain, 'StargateToken (STG)'), USER, FRIEND)],
}));

const AIRDROPS: readonly Made[] = [STG, USDC, POOL_V1].map((token, i) => ({
  what: `airdrop ${i}`,
  to: POOL,
  logs: Array.from({ length: 20 }, (_, n) => moved(token, POOL, n === 7 ? USER : evm(`${n}`))),
}));

const MADE = [
  ...SWAPS,
  ...APPROVALS,
  ...LIQUIDITY,
  ...CLAIMS,
  ...TRANSFERS,
  ...BRIDGED,
  ...AIRDROPS,
];

describe('no bridging is told', () => {
  test('of as many kinds of transactions as are made here: 60 at least', () => {
    expect(MADE.length).toBeGreaterThanOrEqual(60);
  });

  test.each(MADE)('$what', ({ chain = 'ethereum', to = ROUTER, logs }) => {
    const facts = { tx: ID, block: 99_999_999, from: USER, to, value: 0n, input: '0x' };
    const said = explainReceipt({ ...facts, success: true, logs: inOrder(...logs) }, chain, ROWS);
    expect([said.bridged, said.checked, said.unknown_events]).toEqual([[], true, 0]);
    expect(said.why_not).not.toBeNull();
  });
});

test.each([
  [1, '.'],
  [2, ' and 1 more.'],
  [3, ' and 2 more.'],
])(
  'nothing is denied where %i events of a bridge have no known layout, and all are counted',
  (count, end) => {
    const facts = { tx: ID, block: 99_999_999, from: USER, to: ROUTER, value: 0n, input: '0x' };
    const strange = logOf(SPOKE, 'event Strange(uint256 amount)', [70n]);
    const logs = inOrder(...Array.from({ length: count }, () => strange));
    const said = explainReceipt({ ...facts, success: true, logs }, 'ethereum', ROWS);
    expect([said.bridged, said.checked, said.unknown_events]).toEqual([[], false, count]);
    const why = said.why_not?.replace(/0x[0-9a-f]{64}/, 'TOPIC');
    expect(why).toBe(`No layout is known for TOPIC of across ${SPOKE}${end}`);
  },
);

const SUBJECT = evm('subject');
const BRIDGE = evm('bridge');
const ATTACKER = evm('attacker');

const row = (address: string, over: Partial<RegistryRow> = {}): RegistryRow => ({
  chain: 'ethereum',
  address,
  protocol: 'hop',
  name: 'Bridge',
  role: 'lock',
  note: null,
  also_on: [],
  valid_from_block: 50,
  sources: ['tests'],
  reviewed: '2026-01-01',
  ...over,
});
const INDEX = registryIndex([row(BRIDGE), row(BRIDGE, { role: 'messaging' })]);

const transfer = fc
  .record({
    n: fc.integer({ min: 1, max: 100 }),
    out: fc.boolean(),
    other: fc.constantFrom(BRIDGE, evm('friend')),
    initiator: fc.constantFrom(SUBJECT, ATTACKER, null),
    raw_amount: fc.constantFrom(0n, 7n),
    has_market: fc.constantFrom(true, false, null),
    success: fc.constantFrom(true, false, null),
  })
  .map(({ n, out, other, ...over }) =>
    memoryTransfer(n, out ? SUBJECT : other, out ? other : SUBJECT, {
      kind: 'token',
      token: evm('token'),
      ...over,
    }),
  );

describe('contacts', () => {
  test('every transfer with a contract is a contact, left out and counted, or no transfer', () => {
    fc.assert(
      fc.property(fc.array(transfer, { maxLength: 40 }), (transfers) => {
        const { bridging, messaging, provided, left_out } = sortContacts(
          ...([SUBJECT, 'ethereum', transfers, INDEX] as const),
        );
        const withBridge = transfers.filter(
          ({ from, to, block, success }) =>
            (from === BRIDGE || to === BRIDGE) && block >= 50 && success !== false,
        );
        const left = left_out.zero_value + left_out.no_market_token;
        expect(bridging.length + left).toBe(withBridge.length);
        expect([messaging, provided]).toEqual([[], []]);
      }),
    );
  });

  test('nothing that an attacker sends for nothing, or in a worthless token, is one', () => {
    fc.assert(
      fc.property(fc.array(transfer, { maxLength: 40 }), (transfers) => {
        const planted = transfers.map((one) => ({
          ...one,
          initiator: ATTACKER,
          has_market: false,
        }));
        const { bridging } = sortContacts(SUBJECT, 'ethereum', planted, INDEX);
        expect(bridging).toEqual([]);
      }),
    );
  });

  test('the transactions of contacts are read first, and no more than asked', () => {
    const paid = memoryTransfer(60, SUBJECT, BRIDGE);
    const inbound = [61, 62, 63].map((n) => memoryTransfer(n, ATTACKER, SUBJECT));
    const contacts = sortContacts(SUBJECT, 'ethereum', [...inbound, paid], INDEX);
    expect(transactionsToRead(contacts, 2)).toEqual([paid.tx, String(inbound[0]?.tx)]);
    expect(transactionsToRead(contacts, 0)).toEqual([]);
  });

  test('a receipt without an event of the contract changes nothing of a contact', () => {
    const paid = memoryTransfer(60, SUBJECT, BRIDGE);
    const contacts = sortContacts(SUBJECT, 'ethereum', [paid], INDEX);
    const receipts = new Map([[paid.tx, { events: [], unknown: [], off_registry: [] }]]);
    const told = addReceipts(SUBJECT, contacts, receipts, INDEX);
    expect(told.bridging).toEqual([{ ...contacts.bridging[0], events: [] }]);
  });
});
