// The guarantees of every launch corpus, whatever holds it. Each one's test runs them.

import { describe, expect, test } from 'vitest';
import { DAY_S } from '../chain/time.ts';
import { basis, Unread } from '../evidence/reading.ts';
import { valueIn } from './imported-table.suite.ts';
import type { Launch, LaunchCorpus } from './launches.ts';

/** The launches under test, or `null` where no import has ever completed. */
export type SuiteLaunches = {
  readonly launches: readonly Launch[] | null;
  readonly simulated: boolean;
};

const CHECKED = Date.UTC(2026, 10, 20) / 1_000;
const WALLET = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const OTHER = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
const NEW = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

/** A launch whose window passed a day before it was last checked; `null` has not settled. */
export function launchOf(mint: string, deployer: string, listed: boolean | null): Launch {
  return {
    mint,
    deployer,
    launched_at: CHECKED - 2 * DAY_S,
    listed_after_window: listed,
    last_checked_at: CHECKED,
    settled: listed !== null,
  };
}

const LAUNCHES = [
  launchOf('mint-1', WALLET, false),
  launchOf('mint-2', WALLET, true),
  launchOf('mint-3', WALLET, null),
  launchOf('mint-4', OTHER, false),
  launchOf('mint-5', NEW, null),
];

/** Holds a launch corpus to its promises. */
export function launchCorpusKeeps(
  name: string,
  make: (world: SuiteLaunches) => Promise<LaunchCorpus>,
): void {
  describe(`${name} keeps the promises of a launch corpus`, () => {
    const asked = async (launches: SuiteLaunches['launches'], ...wallets: string[]) => {
      const made = await make({ launches, simulated: false });
      return made.lookUp(wallets);
    };

    test('counts what has settled, and of that what died', async () => {
      const { found } = valueIn(await asked(LAUNCHES, WALLET, OTHER));
      expect(found.size).toBe(2);
      expect(found.get(WALLET)).toEqual({ deployer: WALLET, launches_settled: 2, died: 1 });
      expect(found.get(OTHER)).toEqual({ deployer: OTHER, launches_settled: 1, died: 1 });
    });

    test('names the wallet that launched a settled mint, and no other', async () => {
      const { launchers } = valueIn(await asked(LAUNCHES, 'mint-2', 'mint-3', WALLET));
      expect([...launchers]).toEqual([['mint-2', WALLET]]);
    });

    test('a wallet whose launches have not settled has no count', async () => {
      const look = valueIn(await asked(LAUNCHES, NEW));
      expect([...look.found.keys()]).toEqual([]);
      expect(look.settled_launches).toBe(3);
    });

    test('a wallet in another letter case is another wallet', async () => {
      const { found } = valueIn(await asked(LAUNCHES, WALLET.toLowerCase()));
      expect([...found.keys()]).toEqual([]);
    });

    test('never imported is unread, never an empty corpus', async () => {
      const reading = await asked(null, WALLET);
      expect(reading).toBeInstanceOf(Unread);
      if (reading instanceof Unread) expect(reading.why.code).toBe('table_never_imported');
    });

    test('a corpus in which nothing has settled is unread: it can deny nothing', async () => {
      const reading = await asked([launchOf('mint-5', NEW, null)], WALLET);
      expect(reading).toBeInstanceOf(Unread);
    });

    test('a corpus of simulated launches says so in its source', async () => {
      const made = await make({ launches: LAUNCHES, simulated: true });
      const { sources } = basis(await made.lookUp([WALLET]));
      expect(sources.map(({ kind, simulated }) => [kind, simulated])).toEqual([['table', true]]);
    });
  });
}
