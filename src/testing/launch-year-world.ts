// A year of launchers of whom everything is known, on both kinds of chain, and the sources that
// show it: in process, each away, behind or cut short for spans of time that a seed draws.

import { createHash } from 'node:crypto';
import { DAY_S, HOUR_S } from '../chain/time.ts';
import { type Partly, part, read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { ContractKind, MadeContract, WalkSources } from '../ports/deployers.ts';
import type { LaunchFeed, LaunchListings, SeenLaunch } from '../ports/launches.ts';
import { type Lottery, lotteryOf } from './lottery.ts';

/** A contract or a mint of a launcher, and what becomes of it. */
export type TrueLaunch = {
  readonly chain: 'ethereum' | 'solana';
  readonly token: string;
  readonly launcher: string;
  readonly at: number;
  /** `false`: no venue ever lists it. */
  readonly listed: boolean;
  /** When its pools are emptied; `null`: never. */
  readonly diesAt: number | null;
  /** When the venue drops its pair; `null`: never. */
  readonly droppedAt: number | null;
  /** The factory that made it, where the launcher did not. */
  readonly factory: string | null;
};

/** A contract that is no launch. `signer`: whom the chain credits. */
type OtherContract = {
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
  'walker',
  'collector',
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
  walker: ['stopped'],
  collector: ['stopped'],
};
type Outage = {
  readonly source: YearSource;
  readonly way: string;
  readonly from: number;
  readonly to: number;
};

/** Everything that is true of a year. */
export type YearWorld = {
  readonly from: number;
  readonly to: number;
  readonly launchers: readonly { readonly chain: TrueLaunch['chain']; readonly address: string }[];
  readonly launches: readonly TrueLaunch[];
  readonly others: readonly OtherContract[];
  readonly outages: readonly Outage[];
};

/** Launches of one launcher are so far apart, from and to, in days. */
const APART_DAYS = { quick: [1, 8], usual: [8, 50], rare: [60, 150] } as const;
const DUMMIES = 30;
const OUTAGE_EACH_S = 12 * DAY_S;
const OUTAGE_MAX_H = 60;

function hexOf(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}

/** The world of a seed: so many launchers over so many days. */
export function yearWorld(seed: number, from: number, days: number, launchers: number): YearWorld {
  const lottery = lotteryOf(seed * 7_919 + 11);
  const to = from + days * DAY_S;
  const all = Array.from({ length: launchers }, (_, n) => {
    const chain = n % 3 === 0 ? ('ethereum' as const) : ('solana' as const);
    const name = `launcher ${seed} ${n}`;
    return { chain, address: chain === 'ethereum' ? hexOf(name) : `wallet-${seed}-${n}` };
  });
  const made = all.map((one) => lifeOf(one, lottery, from, to));
  const outages = YEAR_SOURCES.flatMap((source) => outagesOf(source, lottery, from, to));
  return {
    from,
    to,
    launchers: all,
    launches: made.flatMap(({ launches }) => launches),
    others: made.flatMap(({ others }) => others),
    outages,
  };
}

type Launcher = YearWorld['launchers'][number];

function lifeOf({ chain, address }: Launcher, lottery: Lottery, from: number, to: number) {
  const launches: TrueLaunch[] = [];
  const others: OtherContract[] = [];
  const pace = lottery.oneOf([
    APART_DAYS.quick,
    APART_DAYS.usual,
    APART_DAYS.usual,
    APART_DAYS.rare,
  ]);
  // Of ten launchers five lose all, two lose some, two none, and one launches nothing.
  const loses = lottery.oneOf([1, 1, 1, 1, 1, 0.5, 0.5, 0, 0, null]);
  const factory =
    chain === 'ethereum' && lottery.happens(0.2) ? hexOf(`factory of ${address}`) : null;
  const begins = from - lottery.below(90) * DAY_S;
  if (factory !== null)
    others.push({ address: factory, maker: address, signer: address, at: begins });
  const apart = () => (pace[0] + lottery.share() * (pace[1] - pace[0])) * DAY_S;
  for (let at = begins + apart(), n = 0; at < to && loses !== null; at += apart(), n += 1) {
    const name = `${address} ${n}`;
    const dies = lottery.happens(loses);
    const listed = lottery.happens(0.9);
    const when = Math.floor(at);
    launches.push({
      chain,
      token: chain === 'ethereum' ? hexOf(name) : `mint-${name}`,
      launcher: address,
      at: when,
      listed,
      diesAt: dies ? when + Math.floor((1 + lottery.share() * 60) * HOUR_S) : null,
      droppedAt: lottery.happens(0.1) ? when + (20 + lottery.below(60)) * DAY_S : null,
      factory,
    });
    if (chain === 'solana' || !lottery.happens(0.02)) continue;
    // It hides what comes among contracts that are no launch.
    for (let dummy = 0; dummy < DUMMIES; dummy += 1) {
      const own = { maker: address, signer: address, at: when + dummy };
      others.push({ address: hexOf(`dummy ${dummy} ${name}`), ...own });
    }
  }
  // Somebody else uses its factory: what comes of that is not the launcher's.
  if (factory !== null) {
    const signer = hexOf(`stranger of ${address}`);
    const at = begins + DAY_S;
    others.push({ address: hexOf(`a stranger's token ${address}`), maker: factory, signer, at });
  }
  return { launches, others };
}

function outagesOf(source: YearSource, lottery: Lottery, from: number, to: number): Outage[] {
  const outages: Outage[] = [];
  let at = from;
  while (at < to) {
    at += Math.floor(lottery.share() * 2 * OUTAGE_EACH_S);
    const lasts = (1 + lottery.below(OUTAGE_MAX_H)) * HOUR_S;
    outages.push({ source, way: lottery.oneOf(WAYS[source]), from: at, to: at + lasts });
    at += lasts;
  }
  return outages;
}

/** How a source is away at a moment; `null`: it is there. */
export function outageAt({ outages }: YearWorld, source: YearSource, now: number): string | null {
  const one = outages.find(
    (outage) => outage.source === source && outage.from <= now && now < outage.to,
  );
  return one === undefined ? null : one.way;
}

const POOLED_USD = { live: 50_000, dead: 12 } as const;
const NODE_BEHIND_S = 30 * HOUR_S;
/** How many transactions a forgetful node still lists. */
const REMEMBERED = 3;

/** The sources of walks at the time of a clock. */
export function walkSourcesOf(world: YearWorld, now: () => number): WalkSources {
  const away = (source: YearSource) => outageAt(world, source, now());
  const source = (name: string) =>
    ({ name, url: 'memory:', as_of: now(), kind: 'observation', simulated: false }) as const;
  const silent = <P extends string>(port: P) =>
    unread(port, why('provider_failed', { provider: port, fault: 'it is away' }));
  const byToken = new Map(world.launches.map((one) => [one.token, one]));
  const signers = new Map([
    ...world.launches.map(({ token, launcher }) => [token, launcher] as const),
    ...world.others.map(({ address, signer }) => [address, signer] as const),
  ]);
  const made = new Map<string, MadeContract[]>();
  const add = (maker: string, address: string, at: number) => {
    const one = { address, tx: `tx ${address}`, block: at, at, reverted: false };
    made.set(maker, [...(made.get(maker) ?? []), one]);
  };
  for (const { chain, token, launcher, factory, at } of world.launches) {
    if (chain === 'ethereum') add(factory ?? launcher, token, at);
  }
  for (const { address, maker, at } of world.others) add(maker, address, at);
  const listOf = async (
    maker: string,
  ): Promise<Partly<readonly MadeContract[], 'deployer_creations'>> => {
    const way = away('explorer');
    if (way === 'silent') return silent('deployer_creations');
    const list = (made.get(maker) ?? [])
      .filter(({ at }) => at <= now())
      .sort((a, b) => a.at - b.at);
    const origin = { port: 'deployer_creations', source: source('explorer') } as const;
    if (way !== 'cut' || list.length < 2) return read(list, origin);
    const cut = why('row_cap', { address: maker, limit: '1' });
    return part(list.slice(0, Math.ceil(list.length / 2)), origin, cut);
  };
  return {
    creations: {
      madeDirectly: listOf,
      madeBy: listOf,
      makersOf: async (contracts) => {
        const way = away('makers');
        if (way === 'silent') return silent('deployer_creations');
        const told = way === 'some' ? contracts.filter((_, i) => i % 2 === 0) : contracts;
        const makers = new Map(told.map((one) => [one, { signer: signers.get(one) ?? 'nobody' }]));
        return read(makers, { port: 'deployer_creations', source: source('explorer') });
      },
    },
    kinds: {
      kindOf: async (contract) => {
        const way = away('node');
        if (way === 'silent') return silent('contract_kinds');
        const isToken = byToken.has(contract) || contract.length === 0;
        const kind: ContractKind = way === 'undecided' ? 'undecided' : isToken ? 'erc20' : 'other';
        return read(kind, { port: 'contract_kinds', source: source('node') });
      },
    },
    transfers: {
      observed: async () =>
        read(
          { count: 9, truncated: false },
          { port: 'token_transfers', source: source('explorer') },
        ),
    },
    venue: {
      poolsOf: async (token) => {
        const way = away('venue');
        if (way === 'silent') return silent('venue');
        const launch = byToken.get(token);
        const at = now();
        const isListed =
          launch?.listed === true && (launch.droppedAt === null || at < launch.droppedAt);
        const dead = launch !== undefined && launch.diesAt !== null && launch.diesAt <= at;
        const liquidity_usd = way === 'untold' ? null : dead ? POOLED_USD.dead : POOLED_USD.live;
        const pool = { address: `pool ${token}`, created_at: null, side: 'base' } as const;
        const pools = isListed ? [{ ...pool, liquidity_usd, volume_usd_24h: null }] : [];
        return read(pools, { port: 'venue', source: source('venue') });
      },
    },
    pairs: {
      among: async (tokens) => {
        if (away('node') !== null) return silent('pair_creations');
        const paired = new Set(tokens.filter((token) => byToken.get(token)?.listed === true));
        return read(paired, { port: 'pair_creations', source: source('node') });
      },
    },
    launchpads: {
      among: async () =>
        read(new Set<string>(), { port: 'launchpads', source: source('registry') }),
    },
    launchPools: {
      firstLiquidity: async () =>
        away('pools') === null
          ? read(null, { port: 'launch_pools', source: source('explorer') })
          : silent('launch_pools'),
    },
    prices: { historical: () => Promise.reject(new Error('test: nobody asks for a price')) },
  };
}

/** The feed of a Solana node, and the venue's word on its mints, at the time of a clock. */
export function solanaSourcesOf(
  world: YearWorld,
  now: () => number,
): { readonly feed: LaunchFeed; readonly listings: LaunchListings } {
  const away = (source: YearSource) => outageAt(world, source, now());
  const source = () =>
    ({
      name: 'node',
      url: 'memory:',
      as_of: now(),
      kind: 'observation',
      simulated: false,
    }) as const;
  const mints = world.launches
    .filter(({ chain }) => chain === 'solana')
    .sort((a, b) => a.at - b.at || (a.token < b.token ? -1 : 1));
  const seen = new Map(
    mints.map((one): [string, SeenLaunch] => [
      `sig ${one.token}`,
      {
        mint: one.token,
        deployer: one.launcher,
        credited_by: 'creation',
        made_by: 'pump.create',
        signature: `sig ${one.token}`,
        slot: one.at,
        launched_at: one.at,
      },
    ]),
  );
  const byMint = new Map(mints.map((one) => [one.token, one]));
  return {
    feed: {
      listed: async (_, after) => {
        const way = away('feed');
        const fault = why('provider_failed', { provider: 'node', fault: 'it is away' });
        if (way === 'silent') return unread('launch_feed', fault);
        const until = way === 'behind' ? now() - NODE_BEHIND_S : now();
        const shown = [...seen.values()].filter(({ launched_at }) => launched_at <= until);
        const from = after === null ? -1 : shown.findIndex(({ signature }) => signature === after);
        // A node that is behind does not know the place, and lists what it has.
        const rest = from === -1 ? shown.slice(-REMEMBERED) : shown.slice(from + 1);
        const isCut = way === 'forgetful' && rest.length > REMEMBERED;
        const told = isCut ? rest.slice(-REMEMBERED) : rest;
        const transactions = told.map(({ signature, launched_at }) => {
          return { signature, at: launched_at, failed: false };
        });
        const met = after === null || (from !== -1 && !isCut);
        const page = { transactions, met, asked_at: until };
        return read(page, { port: 'launch_feed', source: source() });
      },
      launchesOf: async (signature) => {
        const fault = why('provider_failed', { provider: 'node', fault: 'it is away' });
        if (away('transactions') !== null) return unread('launch_feed', fault);
        const one = seen.get(signature);
        if (one === undefined) throw new Error(`test: no transaction ${signature}`);
        return read({ launches: [one], unread: [] }, { port: 'launch_feed', source: source() });
      },
    },
    listings: {
      stateOf: async (mint) => {
        const way = away('venue');
        const fault = why('provider_failed', { provider: 'venue', fault: 'it is away' });
        if (way === 'silent') return unread('launch_listings', fault);
        const launch = byMint.get(mint);
        const isDead =
          launch === undefined ||
          !launch.listed ||
          (launch.diesAt !== null && launch.diesAt <= now());
        const state = way === 'untold' ? 'untold' : isDead ? 'gone' : 'listed';
        return read(state, { port: 'launch_listings', source: source() });
      },
    },
  };
}
