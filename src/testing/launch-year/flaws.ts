// Faults of the product that a year has to notice, each put in the place of one of its parts.

import { map } from '../../evidence/reading.ts';
import type { DeployerWalk, DeployerWalks } from '../../ports/deployers.ts';
import type { LaunchFeed } from '../../ports/launches.ts';
import type { LaunchWatch } from '../../ports/rug-flags.ts';
import type {
  LaunchOnRecord,
  LaunchScoring,
  ScoredWallet,
  WalletToScore,
} from '../../ports/rug-model.ts';
import { memoryLaunchWatch, WATCHED } from '../twins/rug-flags.ts';
import type { Counted } from './checks.ts';
import type { YearWorld } from './world.ts';

/** The parts of a year that a flaw may take the place of. */
export type YearParts = {
  readonly watch: LaunchWatch;
  readonly feed: LaunchFeed;
  readonly scoring: LaunchScoring;
  readonly walks: DeployerWalks;
};

/** A flaw, and where it is counted. */
export type Flaw = {
  readonly name: string;
  readonly counted: Counted;
  readonly spoil: (parts: YearParts, world: YearWorld) => YearParts;
};

export const FLAWS: readonly Flaw[] = [
  {
    name: 'a window that nobody watched',
    counted: 'false_windows',
    spoil: (parts) => ({ ...parts, watch: memoryLaunchWatch(WATCHED) }),
  },
  {
    name: 'a pool that credits whoever made it',
    counted: 'false_credits',
    spoil: (parts, world) => ({ ...parts, feed: creditPoolMakers(parts.feed, world) }),
  },
  {
    name: 'a flag on a death that nobody saw',
    counted: 'false_flags',
    spoil: (parts) => ({ ...parts, scoring: spoilDue(parts.scoring, withInventedDeath) }),
  },
  {
    name: 'a state of what was read in part',
    counted: 'false_states',
    spoil: (parts) => ({
      ...parts,
      walks: { ...parts.walks, commit: (walk) => parts.walks.commit(calledWhole(walk)) },
    }),
  },
  {
    name: 'a flag that falls because a walk was cut',
    counted: 'false_retractions',
    spoil: (parts) => ({ ...parts, scoring: spoilDue(parts.scoring, calledWholeRecord) }),
  },
  {
    name: 'a flag that stands whatever was read',
    counted: 'missing_retractions',
    spoil: (parts) => ({
      ...parts,
      scoring: {
        ...parts.scoring,
        commit: (scored) => parts.scoring.commit(withoutGroundsToFall(scored)),
      },
    }),
  },
];

function creditPoolMakers(feed: LaunchFeed, { byToken }: YearWorld): LaunchFeed {
  return {
    ...feed,
    launchesOf: async (signature, signal) =>
      map(await feed.launchesOf(signature, signal), (told) => {
        if ('rejected' in told) return told;
        const launches = told.launches.map((one) => {
          const thief = byToken.get(one.mint)?.thief;
          return thief === undefined || thief === null || one.slot !== thief.at
            ? one
            : { ...one, deployer: thief.address, credited_by: 'creation' as const, slot: 0 };
        });
        return { ...told, launches };
      }),
  };
}

function spoilDue(
  scoring: LaunchScoring,
  spoil: (wallet: WalletToScore) => WalletToScore,
): LaunchScoring {
  return {
    ...scoring,
    due: async (...asked) =>
      map(await scoring.due(...asked), (due) => ({ ...due, wallets: due.wallets.map(spoil) })),
  };
}

function withInventedDeath(wallet: WalletToScore): WalletToScore {
  const invented = wallet.launches.map((one): LaunchOnRecord => {
    return { ...one, seen: { as: 'died', at: wallet.observed_at } };
  });
  return { ...wallet, launches: invented };
}

/** On Solana a flag that is no longer on record makes its wallet due until it falls. */
function withoutGroundsToFall(scored: ScoredWallet): ScoredWallet {
  return {
    ...scored,
    record: scored.chain === 'solana' ? scored.record : { is_whole: false, disowned: [] },
    unlisted: [],
    launches: scored.launches.map((one) => {
      if (one.outcome === 'flagged' || one.outcome === 'unscored') return one;
      const { token, launched_at, liquidity_usd } = one;
      return { token, launched_at, liquidity_usd, outcome: 'unscored', reason: 'a flaw' };
    }),
  };
}

function calledWholeRecord(wallet: WalletToScore): WalletToScore {
  return { ...wallet, record: { ...wallet.record, is_whole: true } };
}

function calledWhole(walk: DeployerWalk): DeployerWalk {
  return {
    ...walk,
    truncated: false,
    skipped: walk.skipped.filter(({ reason }) => reason !== 'undetermined'),
    launches: walk.launches.map((one) =>
      one.outcome === 'unchecked' ? { ...one, outcome: 'died' } : one,
    ),
  };
}
