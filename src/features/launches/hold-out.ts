// Measures the flag on launches after it was set. A wallet is flagged by launches settled before
// the split alone; launches from the split on are held out. Launches made before and settled after
// it are on neither side.

import { formatIsoDate, startOfDay } from '../../chain/time.ts';
import type { HoldOut } from '../../ports/deployers.ts';
import type { Launch } from '../../ports/launches.ts';

/** The share of settled launches before the day at which a corpus is split by itself. */
export const SPLIT_SHARE = 0.75;

/** The day that leaves a quarter of the settled launches held out; `null` without any. */
export function ownSplit(launches: readonly Launch[]): string | null {
  const times = launches
    .filter(({ settled }) => settled)
    .map(({ launched_at }) => launched_at)
    .sort((a, b) => a - b);
  const at = times[Math.ceil(SPLIT_SHARE * times.length) - 1];
  return at === undefined ? null : formatIsoDate(at);
}

/** Scores the flag on the settled launches from the first second of a day on. */
export function holdOutOf(launches: readonly Launch[], split: string): HoldOut | null {
  const from = startOfDay(split);
  const settled = launches.filter((one) => one.settled);
  const before = settled.filter(({ last_checked_at }) => last_checked_at < from);
  const survived = new Set<string>();
  for (const one of before) if (one.listed_after_window === true) survived.add(one.deployer);
  const wallets = new Set(before.map(({ deployer }) => deployer));
  const isFlagged = (wallet: string) => wallets.has(wallet) && !survived.has(wallet);
  const held = settled.filter(({ launched_at }) => launched_at >= from);
  if (held.length === 0) return null;
  const measureGroup = (group: readonly Launch[]) => ({
    launches: group.length,
    listed: group.filter(({ listed_after_window }) => listed_after_window === true).length,
  });
  return {
    split,
    flagged: measureGroup(held.filter(({ deployer }) => isFlagged(deployer))),
    rest: measureGroup(held.filter(({ deployer }) => !isFlagged(deployer))),
    history: {
      launches: before.length,
      wallets: wallets.size,
      flagged_wallets: [...wallets].filter(isFlagged).length,
    },
  };
}
