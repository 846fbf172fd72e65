// The sources that show the world of a year: in process, at the time of a clock, each away, behind
// or cut short as the world says.

import { HOUR_S } from '../../chain/time.ts';
import { collect, rowsUnder } from '../../evidence/measure.ts';
import { map, type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ContractKind, MadeContract, WalkSources } from '../../ports/deployers.ts';
import type { LaunchFeed, LaunchListings, SeenLaunch } from '../../ports/launches.ts';
import type { LaunchOnRecord } from '../../ports/rug-model.ts';
import {
  creditAt,
  isDeadAt,
  launchesAt,
  outageAt,
  type TrueLaunch,
  type YearSource,
  type YearWorld,
} from './world.ts';

const POOLED_USD = { live: 50_000, dead: 12 } as const;
const NODE_BEHIND_S = 30 * HOUR_S;
/** How many transactions a forgetful node still lists. */
const REMEMBERED = 3;
/** Of so many pools that somebody makes of another's mint, one is not read to the mint's maker. */
const UNREAD_EVERY = 4;

function silent<P extends string>(port: P) {
  return unread(port, why('provider_failed', { provider: port, fault: 'it is away' }));
}

/** What the sources share: the world, its clock, and how each is away. */
function viewOf(world: YearWorld, now: () => number) {
  return {
    away: (source: YearSource) => outageAt(world, source, now()),
    source: (name: string, as_of = now()) =>
      ({ name, url: 'memory:', as_of, kind: 'observation', simulated: false }) as const,
  };
}

/** The sources of walks. */
export function walkSourcesOf(world: YearWorld, now: () => number): WalkSources {
  const { away, source } = viewOf(world, now);
  const { byToken } = world;
  return {
    creations: creationsOf(world, now),
    kinds: {
      kindOf: async (contract) => {
        const way = away('node');
        if (way === 'silent') return silent('contract_kinds');
        const isToken: ContractKind = byToken.has(contract) ? 'erc20' : 'other';
        const kind = way === 'undecided' ? 'undecided' : isToken;
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
        const isListed =
          launch?.listed === true && (launch.droppedAt === null || now() < launch.droppedAt);
        const isDead = launch !== undefined && isDeadAt(launch, now());
        const pooled = isDead ? POOLED_USD.dead : POOLED_USD.live;
        const liquidity_usd = way === 'untold' ? null : pooled;
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

/** Who made which contract: a launch that was undone, or is another's now, is listed as that. */
function creationsOf(world: YearWorld, now: () => number): WalkSources['creations'] {
  const { away, source } = viewOf(world, now);
  type Made = MadeContract & { readonly isListed: (at: number) => boolean };
  const made = new Map<string, Made[]>();
  const add = (maker: string, address: string, at: number, isListed = (_: number) => true) =>
    collect(made, maker, { ...contractOf(address, at), isListed });
  for (const launch of world.launches.filter(({ chain }) => chain === 'ethereum')) {
    const { token, at, factory, credits } = launch;
    const makers = factory === null ? credits.map(({ to }) => to) : [factory];
    for (const maker of makers) {
      if (maker === null) continue;
      add(maker, token, at, (then) =>
        factory === null ? creditAt(launch, then) === maker : creditAt(launch, then) !== null,
      );
    }
  }
  const signers = new Map<string, string>();
  for (const { address, maker, signer, at } of world.others) {
    add(maker, address, at);
    signers.set(address, signer);
  }
  const listOf = async (
    maker: string,
  ): Promise<Partly<readonly MadeContract[], 'deployer_creations'>> => {
    const way = away('explorer');
    if (way === 'silent') return silent('deployer_creations');
    const list = rowsUnder(made, maker)
      .filter(({ at, isListed }) => at <= now() && isListed(now()))
      .map(({ isListed: _, ...one }) => one)
      .sort((a, b) => a.at - b.at);
    const origin = { port: 'deployer_creations', source: source('explorer') } as const;
    if (way !== 'cut' || list.length < 2) return read(list, origin);
    const cut = why('row_cap', { address: maker, limit: '1' });
    return part(list.slice(0, Math.ceil(list.length / 2)), origin, cut);
  };
  const signerOf = (contract: string) => {
    const launch = world.byToken.get(contract);
    const signer = launch === undefined ? signers.get(contract) : creditAt(launch, now());
    return { signer: signer === undefined || signer === null ? 'nobody' : signer };
  };
  return {
    madeDirectly: async (maker) =>
      map(await listOf(maker), (made) => {
        // Who launches through a factory signs for it too.
        const signed = [...made, ...launchesAt(world, maker, now())].map(({ at }) => at);
        return { made, signed_at: signed.length === 0 ? null : Math.max(...signed) };
      }),
    madeBy: listOf,
    makersOf: async (contracts) => {
      const way = away('makers');
      if (way === 'silent') return silent('deployer_creations');
      const told = way === 'some' ? contracts.filter((_, i) => i % 2 === 0) : contracts;
      const makers = new Map(told.map((one) => [one, signerOf(one)]));
      return read(makers, { port: 'deployer_creations', source: source('explorer') });
    },
  };
}

function contractOf(address: string, at: number): MadeContract {
  return { address, tx: `tx ${address}`, block: at, at, reverted: false };
}

/** A transaction of the watched account: what it tells of a mint; `null`: it cannot be read. */
type MintTransaction = {
  readonly signature: string;
  readonly at: number;
  readonly mint: string;
  readonly told: SeenLaunch | null;
};

/** The transactions about a mint. Where a correction follows, a pool came before the creation. */
function transactionsOf(launch: TrueLaunch, n: number): MintTransaction[] {
  const { token: mint, at: launched_at, credits, thief } = launch;
  const [first, second] = credits;
  const transactionOf = (
    name: string,
    at: number,
    to: string | null,
    by: SeenLaunch['credited_by'],
  ) => {
    const signature = `${name} ${mint}`;
    const slot = name === 'creation' ? launched_at - 1 : at;
    const made_by = by === 'creation' ? 'pump.create' : 'raydium_amm.initialize2';
    const of = { mint, credited_by: by, made_by, signature, slot, launched_at } as const;
    return { signature, at, mint, told: to === null ? null : { ...of, deployer: to } };
  };
  const maker = thief === null ? null : creditAt(launch, thief.at);
  const isUnread = n % UNREAD_EVERY === 0;
  return [
    transactionOf(
      'first',
      launched_at,
      first.to,
      second === undefined ? 'creation' : 'first_transaction',
    ),
    ...(second === undefined
      ? []
      : [transactionOf('creation', second.from, second.to, 'creation')]),
    ...(thief === null
      ? []
      : [transactionOf('pool', thief.at, isUnread ? null : maker, 'first_transaction')]),
  ];
}

/** The feed of a Solana node and the venue's word on its mints. */
export type SolanaSources = {
  readonly feed: LaunchFeed;
  readonly listings: LaunchListings;
  /** Whom what was told of a mint so far credits; `undefined`: nothing was. */
  readonly creditTold: (mint: string) => string | undefined;
  /** What the venue told of a mint; `undefined`: nothing yet. */
  readonly fateTold: (mint: string) => SeenFate | undefined;
};
type SeenFate = NonNullable<LaunchOnRecord['seen']>;

export function solanaSourcesOf(world: YearWorld, now: () => number): SolanaSources {
  const { away, source } = viewOf(world, now);
  const all = world.launches
    .filter(({ chain }) => chain === 'solana')
    .flatMap(transactionsOf)
    .sort((a, b) => a.at - b.at || (a.signature < b.signature ? -1 : 1));
  const places = new Map(all.map(({ signature }, n) => [signature, n]));
  const told = new Map<string, SeenLaunch>();
  const fates = new Map<string, SeenFate>();
  return {
    fateTold: (mint) => fates.get(mint),
    creditTold: (mint) => told.get(mint)?.deployer,
    feed: {
      listed: async (_, after) => {
        const way = away('feed');
        if (way === 'silent') return silent('launch_feed');
        const until = way === 'behind' ? now() - NODE_BEHIND_S : now();
        const shown = all.filter(({ at }) => at <= until);
        const place = after === null ? undefined : places.get(after);
        // A node that is behind does not know the place, and lists what it has.
        const isMet = place !== undefined && place < shown.length;
        const rest = isMet ? shown.slice(place + 1) : shown.slice(-REMEMBERED);
        const isCut = way === 'forgetful' && rest.length > REMEMBERED;
        const transactions = (isCut ? rest.slice(-REMEMBERED) : rest).map(({ signature, at }) => {
          return { signature, at, failed: false };
        });
        const met = after === null || (isMet && !isCut);
        const page = { transactions, met, asked_at: until };
        return read(page, { port: 'launch_feed', source: source('node') });
      },
      launchesOf: async (signature) => {
        if (away('transactions') !== null) return silent('launch_feed');
        const place = places.get(signature);
        const one = place === undefined ? undefined : all[place];
        if (one === undefined) throw new Error(`test: no transaction ${signature}`);
        const origin = { port: 'launch_feed', source: source('node') } as const;
        if (one.told === null) {
          const reason = 'the beginning of the mint was not read';
          return read({ launches: [], unread: [{ mint: one.mint, reason }] }, origin);
        }
        keepTold(told, one.told);
        return read({ launches: [one.told], unread: [] }, origin);
      },
    },
    listings: {
      stateOf: async (mint) => {
        const way = away('venue');
        if (way === 'silent') return silent('launch_listings');
        const launch = world.byToken.get(mint);
        const isGone = launch === undefined || !launch.listed || isDeadAt(launch, now());
        const state = way === 'untold' ? 'untold' : isGone ? 'gone' : 'listed';
        if (state !== 'untold') fates.set(mint, { as: isGone ? 'died' : 'live', at: now() });
        return read(state, { port: 'launch_listings', source: source('venue') });
      },
    },
  };
}

/** A creation holds before a pool, and the lower slot before the higher. */
function keepTold(told: Map<string, SeenLaunch>, seen: SeenLaunch): void {
  const held = told.get(seen.mint);
  const rank = ({ credited_by, slot }: SeenLaunch) =>
    (credited_by === 'creation' ? 0 : Number.MAX_SAFE_INTEGER / 2) + slot;
  if (held === undefined || rank(seen) < rank(held)) told.set(seen.mint, seen);
}
