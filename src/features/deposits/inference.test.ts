import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DepositRule,
  inferDeposit,
  inferDeposits,
  type KnownExchanges,
  type Movement,
  OWN_RULE,
  publishedRule,
} from './inference.ts';

const [user, other, deposit, hot, hot2, rival, friend] = [
  ...['user', 'other', 'deposit', 'hot', 'hot2', 'rival', 'friend'],
] as [string, string, string, string, string, string, string];
const wallets = new Map([
  [hot, 'exemplar'],
  [hot2, 'exemplar'],
  [rival, 'rival'],
]);
const known = (owners: ReadonlyMap<string, string>, receiving = owners): KnownExchanges => ({
  owners,
  receivers: new Map([...receiving].map(([one, exchange]) => [one, { exchange, role: 'hot' }])),
});
const KNOWN = known(wallets);
const DECIMALS = 8;
const PUBLISHED = publishedRule(() => DECIMALS);
const HUNDREDTH = 1_000_000n;

function move(
  from: string,
  to: string,
  raw_amount: bigint,
  when: number,
  asset = 'coin',
): Movement {
  return { asset, from, to, raw_amount, when, tx: `${from}>${to}@${when}` };
}

const own = (movements: readonly Movement[]) => inferDeposit(deposit, movements, KNOWN, OWN_RULE);
const published = (movements: readonly Movement[]) =>
  inferDeposits(movements, KNOWN, PUBLISHED).flatMap(({ address, forwards }) =>
    forwards.map(({ user: from, wallet }) => [from, address, wallet].join()),
  );

describe('our rule', () => {
  test('infers an address that passed on nine tenths within a day, with its evidence', () => {
    const movements = [move(user, deposit, 100n, 0), move(deposit, hot, 90n, 86_400)];
    expect(own(movements)).toEqual({
      address: deposit,
      exchange: 'exemplar',
      wallets: [hot],
      receiverRole: 'hot',
      forwards: [
        {
          asset: 'coin',
          user,
          wallet: hot,
          raw_amount: 90n,
          delay: 86_400,
          receivedIn: 'user>deposit@0',
          forwardedIn: 'deposit>hot@86400',
        },
      ],
      flows: [{ asset: 'coin', received: 100n, forwarded: 90n }],
      assetsKept: 0,
      otherReceivers: 0,
    });
  });

  test.each<[string, Movement[], string]>([
    ['one unit less', [move(user, deposit, 1000n, 0), move(deposit, hot, 899n, 5)], 'share'],
    ['a second later', [move(user, deposit, 100n, 0), move(deposit, hot, 100n, 86_401)], 'share'],
    ['sent before it came', [move(deposit, hot, 9n, 1), move(user, deposit, 9n, 2)], 'share'],
    [
      'to two exchanges',
      [move(user, deposit, 9n, 1), move(deposit, hot, 9n, 2), move(deposit, rival, 1n, 3)],
      'several_targets',
    ],
    [
      'to three others beside it',
      [
        ...[move(user, deposit, 100n, 1), move(deposit, hot, 97n, 2)],
        ...['a', 'b', 'c'].map((one) => move(deposit, one, 1n, 3)),
      ],
      'other_receivers',
    ],
    [
      'another asset to a friend',
      [
        ...[move(user, deposit, 100n, 1), move(deposit, hot, 100n, 2)],
        ...[move(user, deposit, 100n, 1, 'token'), move(deposit, friend, 100n, 2, 'token')],
      ],
      'share',
    ],
    ['coins of the exchange', [move(hot2, deposit, 9n, 1), move(deposit, hot, 9n, 2)], 'share'],
    ['to nobody known', [move(user, deposit, 9n, 1), move(deposit, friend, 9n, 2)], 'no_forward'],
    ['nothing but nothing', [move(user, deposit, 0n, 1), move(deposit, hot, 0n, 2)], 'no_forward'],
  ])('does not infer one that forwarded %s', (_, movements, why) => {
    expect(own(movements)).toMatch(new RegExp(`^${why}`));
  });

  test('takes two hot wallets of one exchange for one, and two others beside it', () => {
    const movements = [
      ...[move(user, deposit, 100n, 1), move(deposit, hot, 60n, 2), move(deposit, hot2, 38n, 3)],
      ...[move(deposit, friend, 1n, 4), move(deposit, other, 1n, 5)],
    ];
    expect(own(movements)).toMatchObject({ wallets: [hot, hot2], otherReceivers: 2 });
  });

  test('leaves aside coins that never left, as those kept for fees, and counts them', () => {
    const movements = [
      ...[move(friend, deposit, 5n, 0), move(user, deposit, 9n, 1, 'token')],
      move(deposit, hot, 9n, 2, 'token'),
    ];
    expect(own(movements)).toMatchObject({ assetsKept: 1, flows: [{ asset: 'token' }] });
  });

  test('sets a forward against the oldest receipts that still count', () => {
    const movements = [
      ...[move(user, deposit, 4n, 0), move(other, deposit, 6n, 10), move(deposit, hot, 10n, 20)],
    ];
    const found = own(movements);
    if (typeof found === 'string') throw new Error(found);
    const shares = found.forwards.map((one) => [one.user, one.raw_amount, one.delay]);
    expect(shares).toEqual([
      [user, 4n, 20],
      [other, 6n, 10],
    ]);
  });

  test('never infers a wallet of an exchange', () => {
    const movements = [move(user, hot2, 9n, 1), move(hot2, hot, 9n, 2)];
    expect(inferDeposit(hot2, movements, KNOWN, OWN_RULE)).toBe('exchange_wallet');
  });
});

describe('the published rule', () => {
  const pair = (amount: bigint, blocks: number) => [
    move(user, deposit, 500n * HUNDREDTH, 1_000),
    move(deposit, hot, amount, 1_000 + blocks),
  ];
  const FOUND = ['user,deposit,hot'];

  test.each<[string, Movement[], string[]]>([
    ['a hundredth of a token less', pair(499n * HUNDREDTH, 1), FOUND],
    ['a hundredth of a token more', pair(501n * HUNDREDTH, 1), FOUND],
    ['one unit more than that', pair(501n * HUNDREDTH + 1n, 1), []],
    ['one unit less than that', pair(499n * HUNDREDTH - 1n, 1), []],
    ['in the same block', pair(500n * HUNDREDTH, 0), FOUND],
    ['3,200 blocks later', pair(500n * HUNDREDTH, 3_200), FOUND],
    ['3,201 blocks later', pair(500n * HUNDREDTH, 3_201), []],
    ['a block earlier', pair(500n * HUNDREDTH, -1), []],
    [
      'to two wallets, of one exchange even',
      [...pair(500n * HUNDREDTH, 1), move(deposit, hot2, 1n, 5_000)],
      [],
    ],
    [
      'of two users who sent the same',
      [...pair(500n * HUNDREDTH, 1), move(other, deposit, 500n * HUNDREDTH, 999)],
      ['other,deposit,hot', ...FOUND],
    ],
    [
      'from the wallet of an exchange',
      [move(rival, deposit, HUNDREDTH, 1), move(deposit, hot, HUNDREDTH, 2)],
      [],
    ],
  ])('%s', (_, movements, expected) => {
    expect(published(movements)).toEqual(expected);
  });

  test('keeps a movement that stands there twice: each is one of its own', () => {
    const found = published([...pair(HUNDREDTH, 1), ...pair(HUNDREDTH, 1)]);
    expect(found).toEqual([]);
    const twice = published([...pair(500n * HUNDREDTH, 1), ...pair(500n * HUNDREDTH, 1)]);
    expect(twice).toEqual(Array(4).fill('user,deposit,hot'));
  });
});

const NAMES = [user, other, deposit, hot, hot2, rival, friend];
const movement = fc.record({
  asset: fc.constantFrom('coin', 'token'),
  from: fc.constantFrom(...NAMES),
  to: fc.constantFrom(...NAMES),
  raw_amount: fc.bigInt(0n, 6n),
  when: fc.nat(12),
  tx: fc.constant(null),
});
const RULES: DepositRule[] = [
  { ...OWN_RULE, windowMax: 5 },
  { ...publishedRule(() => 2), windowMax: 5 },
];

describe.each(RULES)('whatever moved, by $matching.by', (rule) => {
  const inferred = (movements: readonly Movement[], among = KNOWN) =>
    inferDeposits(movements, among, rule);
  const sameAmounts = (moves: Movement[]) => {
    const seen = new Set<string>();
    return moves.every((one) => {
      const key = `${one.asset} ${one.to} ${one.when}`;
      return seen.size !== seen.add(key).size;
    });
  };

  test('no more is passed on than came in, within the window, to one exchange', () => {
    fc.assert(
      fc.property(fc.array(movement, { maxLength: 40 }), (moves) => {
        for (const { flows, forwards, wallets: to, address } of inferred(moves)) {
          expect(KNOWN.owners.has(address)).toBe(false);
          expect(new Set(to.map((one) => wallets.get(one))).size).toBe(1);
          for (const { delay, user: from } of forwards) {
            expect(delay).toBeGreaterThanOrEqual(0);
            expect(delay).toBeLessThanOrEqual(rule.windowMax);
            expect(KNOWN.owners.has(from)).toBe(false);
          }
          if (rule.matching.by === 'pair') continue;
          for (const { received, forwarded } of flows) {
            expect(forwarded <= received && forwarded * 10n >= received * 9n).toBe(true);
          }
        }
      }),
    );
  });

  test('the order of the rows changes nothing where no two receipts are of one time', () => {
    fc.assert(
      fc.property(fc.array(movement, { maxLength: 30 }), fc.integer(), (moves, seed) => {
        fc.pre(sameAmounts(moves));
        const mixed = moves
          .map((one, i) => ({ one, at: Math.sin(seed + i) }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
        const shown = (rows: readonly Movement[]) =>
          inferred(rows).map(({ address, exchange, flows }) => [
            address,
            exchange,
            flows.map((flow) => [flow.asset, flow.received, flow.forwarded].join()).sort(),
          ]);
        expect(shown(mixed)).toEqual(shown(moves));
      }),
    );
  });

  test('an exchange that nobody knows takes deposits of nobody', () => {
    fc.assert(
      fc.property(fc.array(movement, { maxLength: 30 }), (moves) => {
        const fewer = new Map([...wallets].filter(([one]) => one !== rival));
        const some = known(wallets, fewer);
        const names = new Set(inferred(moves, some).map(({ exchange }) => exchange));
        expect(names.has('rival')).toBe(false);
      }),
    );
  });
});

test('names the exchange whose wallet took the coins, whichever was paid first', () => {
  const fewer = new Map([...wallets].filter(([one]) => one !== rival));
  const moves = [
    ...[move(user, deposit, 10n, 1), move(deposit, rival, 1n, 2), move(deposit, hot, 9n, 3)],
  ];
  const found = inferDeposits(moves, known(wallets, fewer), PUBLISHED);
  expect(found.map(({ address, exchange }) => [address, exchange])).toEqual([
    [deposit, 'exemplar'],
  ]);
});
