// A year of launchers of whom everything is known, on both kinds of chain: what they launch, the
// tricks they try, what becomes of it, and when each source is away.

import { createHash } from 'node:crypto';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import { collect, rowsUnder } from '../../evidence/measure.ts';
import type { ScoredChainName } from '../../ports/rug-model.ts';
import { type Lottery, lotteryOf } from '../lottery.ts';

/** Whom the chain credits from a moment on; `null`: the launch was undone. */
type Credit = { readonly from: number; readonly to: string | null };

/** A contract or a mint of a launcher, and what becomes of it. */
export type TrueLaunch = {
  readonly chain: ScoredChainName;
  readonly token: string;
  readonly at: number;
  /** `false`: no venue ever lists it. */
  readonly listed: boolean;
  /** When its pools are emptied, and filled again; `null`: never. */
  readonly diesAt: number | null;
  readonly revivesAt: number | null;
  /** When the venue drops its pair; `null`: never. */
  readonly droppedAt: number | null;
  /** The factory that made it, where the launcher did not. */
  readonly factory: string | null;
  /** The first is the launcher's; re-orgs and corrections add another. */
  readonly credits: readonly [Credit, ...Credit[]];
  /** Who makes a pool of this mint later, for its record, and when; `null`: nobody. */
  readonly thief: { readonly address: string; readonly at: number } | null;
};

/** A contract that is no launch. `signer`: whom the chain credits. */
export type OtherContract = {
  readonly address: string;
  readonly maker: string;
  readonly signer: string;
  readonly at: number;
};

/** What can be away, and how. */
export const YEAR_SOURCES = [
  'explorer',
  'makers',
  'node',
  'venue',
  'pools',
  'feed',
  'transactions',
  'queue',
  'collection',
] as const;
export type YearSource = (typeof YEAR_SOURCES)[number];
const WAYS: { readonly [source in YearSource]: readonly string[] } = {
  explorer: ['silent', 'cut'],
  makers: ['silent', 'some'],
  node: ['silent', 'undecided'],
  venue: ['silent', 'untold'],
  pools: ['silent'],
  feed: ['silent', 'behind', 'forgetful'],
  transactions: ['silent'],
  queue: ['stopped', 'flooded'],
  collection: ['stopped'],
};
export type Outage = {
  readonly source: YearSource;
  readonly way: string;
  readonly from: number;
  readonly to: number;
};

export type Launcher = { readonly chain: ScoredChainName; readonly address: string };

/** Everything that is true of a year. */
export type YearWorld = {
  readonly from: number;
  readonly to: number;
  readonly launchers: readonly Launcher[];
  readonly launches: readonly TrueLaunch[];
  readonly byToken: ReadonlyMap<string, TrueLaunch>;
  /** The launches that were ever credited to a wallet. */
  readonly byWallet: ReadonlyMap<string, readonly TrueLaunch[]>;
  readonly others: readonly OtherContract[];
  readonly outages: { readonly [source in YearSource]: readonly Outage[] };
};

/** How large a year is. `tricks`: the share of launches at which each trick is tried. */
export type YearSize = {
  readonly days: number;
  readonly launchers: number;
  readonly tricks: number;
  /** One launcher of so many is on Ethereum. */
  readonly ethereumEvery: number;
  /** The paces of launchers: launches of one are so far apart, from and to, in days. */
  readonly paces: readonly (readonly [from: number, to: number])[];
  /** From the end of an outage of a source to its next one, on average. */
  readonly outageEachDays: number;
  /** So many days are between two lulls, in which hardly anybody launches. */
  readonly lullEachDays: number;
};

const DUMMIES = 30;
/** One launcher of so many hides one launch among dummies, which blinds the window for a month. */
const HIDES_EVERY = 128;
/**
 * One launcher of so many launches through a factory that its factory made, often, and begins so
 * late in the span. Nothing of that is credited, and it blinds every window from then on.
 */
const DEEP = { every: 256, at: 16, from: 0.8, pace: [1, 8] } as const;
/** How long a lull lasts, and the share of launches that are made in it all the same. */
const LULL = { days: 5, share: 0.1 } as const;
const OUTAGE_MAX_H = 60;
const REVIVES = 0.15;
const CHANGES_WITHIN_H = 20;

export function hexOf(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}

/** The world of a seed: so many launchers over so many days. */
export function yearWorld(seed: number, from: number, size: YearSize): YearWorld {
  const lottery = lotteryOf(seed * 7_919 + 11);
  const to = from + size.days * DAY_S;
  const launchers = Array.from({ length: size.launchers }, (_, n): Launcher => {
    const chain = n % size.ethereumEvery === 0 ? 'ethereum' : 'solana';
    const name = `launcher ${seed} ${n}`;
    return { chain, address: chain === 'ethereum' ? hexOf(name) : `wallet-${seed}-${n}` };
  });
  const { tricks, paces, lullEachDays, outageEachDays } = size;
  const lives = { launchers, lottery, from, to, tricks, paces, lullEachDays };
  const made = launchers.map((one, n) =>
    lifeOf(one, {
      ...lives,
      hides: n % HIDES_EVERY === HIDES_EVERY / 2,
      isDeep: n % DEEP.every === DEEP.at,
    }),
  );
  const launches = made.flatMap((one) => one.launches);
  const span = { from, to, eachS: outageEachDays * DAY_S };
  const outagesOf = (source: YearSource) => drawOutages(source, lottery, span);
  const others = made.flatMap((one) => one.others);
  return worldOf({ from, to, launchers, launches, others }, outagesOf);
}

/** The world of these launches, in which each source is away at times. */
export function worldOf(
  facts: Omit<YearWorld, 'byToken' | 'byWallet' | 'outages'>,
  outagesOf: (source: YearSource) => readonly Outage[],
): YearWorld {
  const { launches } = facts;
  const byToken = new Map(launches.map((one) => [one.token, one]));
  const outages = {
    explorer: outagesOf('explorer'),
    makers: outagesOf('makers'),
    node: outagesOf('node'),
    venue: outagesOf('venue'),
    pools: outagesOf('pools'),
    feed: outagesOf('feed'),
    transactions: outagesOf('transactions'),
    queue: outagesOf('queue'),
    collection: outagesOf('collection'),
  };
  return { ...facts, byToken, byWallet: walletsOf(launches), outages };
}

function walletsOf(launches: readonly TrueLaunch[]) {
  const wallets = new Map<string, TrueLaunch[]>();
  for (const launch of launches) {
    for (const { to } of launch.credits) if (to !== null) collect(wallets, to, launch);
  }
  return wallets;
}

type Lives = {
  readonly launchers: readonly Launcher[];
  readonly lottery: Lottery;
  readonly from: number;
  readonly to: number;
  readonly tricks: number;
  readonly paces: YearSize['paces'];
  readonly lullEachDays: number;
  readonly hides: boolean;
  readonly isDeep: boolean;
};

function lifeOf({ chain, address }: Launcher, lives: Lives) {
  const { lottery, from, to, tricks, isDeep } = lives;
  const launches: TrueLaunch[] = [];
  const others: OtherContract[] = [];
  const pace = isDeep ? DEEP.pace : lottery.oneOf(lives.paces);
  // Of ten launchers five lose all, two lose some, two none, and one launches nothing.
  const loses = isDeep ? 1 : lottery.oneOf([1, 1, 1, 1, 1, 0.5, 0.5, 0, 0, null]);
  const isMadeElsewhere = chain === 'ethereum' && (isDeep || lottery.happens(0.2));
  const factory = isMadeElsewhere ? hexOf(`factory of ${address}`) : null;
  const late = from + Math.floor(DEEP.from * (to - from));
  const begins = isDeep ? late : from - lottery.below(90) * DAY_S;
  if (factory !== null) {
    const first = hexOf(`first factory of ${address}`);
    if (isDeep) others.push({ address: first, maker: address, signer: address, at: begins });
    const maker = isDeep ? first : address;
    others.push({ address: factory, maker, signer: address, at: begins });
    // Somebody else uses its factory: what comes of that is not the launcher's.
    const signer = hexOf(`stranger of ${address}`);
    const token = hexOf(`a stranger's token ${address}`);
    others.push({ address: token, maker: factory, signer, at: begins + DAY_S });
  }
  let { hides } = lives;
  const apart = () => (pace[0] + lottery.share() * (pace[1] - pace[0])) * DAY_S;
  for (let at = begins + apart(), n = 0; at < to && loses !== null; at += apart(), n += 1) {
    if (isInLull(at - from, lives.lullEachDays) && !lottery.happens(LULL.share)) continue;
    const name = `${address} ${n}`;
    const when = Math.floor(at);
    const diesAt = lottery.happens(loses) ? when + spanS(lottery, 1, 61) : null;
    const isRevived = chain === 'ethereum' && diesAt !== null && lottery.happens(REVIVES);
    const isStolen = chain === 'solana' && lottery.happens(tricks);
    const thief = { address: otherThan(address, chain, lives), at: when + spanS(lottery, 1, 30) };
    launches.push({
      chain,
      token: chain === 'ethereum' ? hexOf(name) : `mint-${name}`,
      at: when,
      listed: lottery.happens(0.9),
      diesAt,
      revivesAt: isRevived ? diesAt + spanS(lottery, 2, 60) : null,
      droppedAt: lottery.happens(0.1) ? when + (20 + lottery.below(60)) * DAY_S : null,
      factory,
      credits: creditsOf({ chain, address }, { when, factory }, lives),
      thief: isStolen ? thief : null,
    });
    if (chain === 'solana' || !hides || when < from) continue;
    // It hides what comes among contracts that are no launch.
    hides = false;
    for (let dummy = 0; dummy < DUMMIES; dummy += 1) {
      const own = { maker: address, signer: address, at: when + dummy };
      others.push({ address: hexOf(`dummy ${dummy} ${name}`), ...own });
    }
  }
  return { launches, others };
}

/** The launcher, and whom a re-org or a correction credits soon after. */
function creditsOf(
  { chain, address }: Launcher,
  { when, factory }: { readonly when: number; readonly factory: string | null },
  lives: Lives,
): TrueLaunch['credits'] {
  const { lottery, tricks } = lives;
  const first = { from: when, to: address };
  if (!lottery.happens(2 * tricks)) return [first];
  const from = when + spanS(lottery, 1, CHANGES_WITHIN_H);
  const other = otherThan(address, chain, lives);
  if (chain === 'solana') return [first, { from, to: other }];
  const to = factory === null ? other : hexOf(`signer after a re-org ${address}`);
  return [first, { from, to: lottery.happens(0.5) ? null : to }];
}

function otherThan(address: string, chain: ScoredChainName, { launchers, lottery }: Lives): string {
  const others = launchers.filter((one) => one.chain === chain && one.address !== address);
  return others.length === 0 ? `nobody on ${chain}` : lottery.oneOf(others).address;
}

function spanS(lottery: Lottery, fromH: number, toH: number): number {
  return Math.floor((fromH + lottery.share() * (toH - fromH)) * HOUR_S);
}

function isInLull(passedS: number, lullEachDays: number): boolean {
  return (passedS / DAY_S) % lullEachDays >= lullEachDays - LULL.days;
}

type OutageSpan = { readonly from: number; readonly to: number; readonly eachS: number };

function drawOutages(
  source: YearSource,
  lottery: Lottery,
  { from, to, eachS }: OutageSpan,
): Outage[] {
  const outages: Outage[] = [];
  let at = from;
  while (at < to) {
    at += Math.floor(lottery.share() * 2 * eachS);
    const lasts = (1 + lottery.below(OUTAGE_MAX_H)) * HOUR_S;
    outages.push({ source, way: lottery.oneOf(WAYS[source]), from: at, to: at + lasts });
    at += lasts;
  }
  return outages;
}

/** How a source is away at a moment; `null`: it is there. */
export function outageAt({ outages }: YearWorld, source: YearSource, now: number): string | null {
  const one = outages[source].find((outage) => outage.from <= now && now < outage.to);
  return one === undefined ? null : one.way;
}

/** Whom the chain credits with a launch at a moment. */
export function creditAt({ credits }: TrueLaunch, at: number): string | null {
  const until = credits.filter(({ from }) => from <= at).at(-1);
  return until === undefined ? null : until.to;
}

/** Whether the pools of a launch are empty at a moment. */
export function isDeadAt({ diesAt, revivesAt }: TrueLaunch, at: number): boolean {
  return diesAt !== null && diesAt <= at && (revivesAt === null || at < revivesAt);
}

/** The launches with which the chain credits a wallet at a moment. */
export function launchesAt({ byWallet }: YearWorld, wallet: string, at: number): TrueLaunch[] {
  return rowsUnder(byWallet, wallet).filter((one) => one.at <= at && creditAt(one, at) === wallet);
}
