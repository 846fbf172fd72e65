// The guarantees of the launches of wallets, whatever holds them. Each one's test runs them.

import { describe, expect, test } from 'vitest';
import { DAY_S } from '../chain/time.ts';
import { basis, Unread } from '../evidence/reading.ts';
import { WALLET_ENTRIES_MAX, type WalletLaunches } from './deployers.ts';
import { valueIn } from './imported-table.suite.ts';
import { launchOf } from './launches.suite.ts';
import type { Launch } from './launches.ts';

/** The launches under test, or `null` where no import has ever completed. */
export type SuiteWallets = {
  readonly launches: readonly Launch[] | null;
  readonly simulated: boolean;
};

const FIRST = Date.UTC(2026, 9, 1) / 1_000;
const [WALLET, OTHER, NEW] = ['wallet-a', 'wallet-b', 'wallet-c'] as const;

function launch(mint: string, wallet: string, day: number, listed: boolean | null): Launch {
  const launched_at = FIRST + day * DAY_S;
  const last_checked_at = launched_at + DAY_S + 60;
  return { ...launchOf(mint, wallet, listed), launched_at, last_checked_at };
}

const LAUNCHES = [
  launch('mint-1', WALLET, 0, false),
  launch('mint-2', WALLET, 1, false),
  launch('mint-3', OTHER, 0, true),
  launch('mint-4', OTHER, 1, false),
  launch('mint-5', WALLET, 4, false),
  launch('mint-6', OTHER, 4, true),
  launch('mint-7', OTHER, 5, null),
  launch('mint-8', NEW, 5, null),
];

/** Holds the launches of wallets to their promises. */
export function walletLaunchesKeep(
  name: string,
  make: (world: SuiteWallets) => Promise<WalletLaunches>,
): void {
  describe(`${name} keeps the promises of the launches of wallets`, () => {
    const holding = (launches: SuiteWallets['launches']) => make({ launches, simulated: false });

    test('tells every settled launch of a wallet, the newest first, and what waits', async () => {
      const held = await holding(LAUNCHES);
      const { entries, ...counts } = valueIn(await held.of(OTHER));
      expect(counts).toMatchObject({ settled: 3, died: 1, waiting: ['mint-7'] });
      expect(entries).toEqual(
        [
          ['mint-6', 4, true] as const,
          ['mint-4', 1, false] as const,
          ['mint-3', 0, true] as const,
        ].map(([mint, day, listed_after_window]) => {
          const launched_at = FIRST + day * DAY_S;
          return { mint, launched_at, settled_at: launched_at + DAY_S + 60, listed_after_window };
        }),
      );
    });

    test('tells of a wallet whose launches wait, and of one without any, that none settled', async () => {
      const held = await holding(LAUNCHES);
      const none = { settled: 0, died: 0, entries: [] };
      expect(valueIn(await held.of(NEW))).toMatchObject({ ...none, waiting: ['mint-8'] });
      expect(valueIn(await held.of('wallet-d'))).toMatchObject({ ...none, waiting: [] });
    });

    test('takes a wallet in another letter case for another wallet', async () => {
      const held = await holding(LAUNCHES);
      expect(valueIn(await held.of(WALLET.toUpperCase()))).toMatchObject({ settled: 0 });
    });

    test('names who launched a mint, settled or not', async () => {
      const held = await holding(LAUNCHES);
      const launcher = async (mint: string) => valueIn(await held.launchOf(mint)).launch;
      expect(await launcher('mint-2')).toEqual({
        deployer: WALLET,
        launched_at: FIRST + DAY_S,
        signature: null,
      });
      expect(await launcher('mint-8')).toMatchObject({ deployer: NEW });
      expect(await launcher('mint-9')).toBeNull();
    });

    test('measures the flag on the last quarter, by what had settled before', async () => {
      const held = await holding(LAUNCHES);
      expect(valueIn(await held.of(WALLET)).corpus).toEqual({
        settled_launches: 6,
        collection: null,
        hold_out: {
          split: '2026-10-05',
          flagged: { launches: 1, listed: 0 },
          rest: { launches: 1, listed: 1 },
          history: { launches: 4, wallets: 2, flagged_wallets: 1 },
        },
      });
    });

    test('flags nobody by a launch that was made before the split and settled after it', async () => {
      const late = LAUNCHES.map((one) =>
        one.deployer === WALLET && one.launched_at < FIRST + 2 * DAY_S
          ? { ...one, last_checked_at: FIRST + 5 * DAY_S }
          : one,
      );
      expect(valueIn(await (await holding(late)).of(WALLET)).corpus.hold_out).toEqual({
        split: '2026-10-05',
        flagged: { launches: 0, listed: 0 },
        rest: { launches: 2, listed: 1 },
        history: { launches: 2, wallets: 1, flagged_wallets: 0 },
      });
    });

    test('shows no more entries than its bound, and counts them all', async () => {
      const many = Array.from({ length: WALLET_ENTRIES_MAX + 1 }, (_, i) =>
        launch(`mint-${i}`, WALLET, 0, false),
      );
      const { entries, settled, died } = valueIn(await (await holding(many)).of(WALLET));
      expect([entries.length, settled, died]).toEqual([
        WALLET_ENTRIES_MAX,
        WALLET_ENTRIES_MAX + 1,
        WALLET_ENTRIES_MAX + 1,
      ]);
    });

    test.each([
      ['never imported', null],
      ['in which nothing has settled', [launch('mint-8', NEW, 5, null)]],
    ])('is unread over a corpus %s: it can deny nothing', async (_, launches) => {
      const held = await holding(launches);
      expect(await held.of(NEW)).toBeInstanceOf(Unread);
      expect(await held.launchOf('mint-8')).toBeInstanceOf(Unread);
    });

    test('says of made-up launches that they are made up', async () => {
      const made = await make({ launches: LAUNCHES, simulated: true });
      const { sources } = basis(await made.of(WALLET));
      expect(sources.map(({ kind, simulated }) => [kind, simulated])).toEqual([['table', true]]);
    });
  });
}
