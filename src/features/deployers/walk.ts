// Finds the launches of an address, direct and through its factories, and their outcomes. It
// follows one level of factories, and where a second made something it says that its counts are a
// floor. Unread parts are named: an unread launch is never a death, and unread creations make no
// record.

import { setMaxListeners } from 'node:events';
import { multiplyDecimals } from '../../chain/amount.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import { collect, listOrNone, rowsUnder, slices } from '../../evidence/measure.ts';
import { basis, map, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  DEPLOYER_CHAIN,
  type DeployerWalk,
  type DirectCreations,
  type FirstLiquidity,
  type LaunchedWith,
  type LaunchOutcome,
  type ListedPool,
  type MadeContract,
  type Maker,
  type ObservedLaunch,
  type Skipped,
  type WalkCost,
  type WalkSources,
} from '../../ports/deployers.ts';
import { NEW_FOR_S } from '../../ports/rug-model.ts';
import { measureOutcome } from './record.ts';

/** The limits of a walk, and the pooled liquidity below which a launch has died. */
export type DeployerWalkLimits = {
  /** Contracts examined: the newest; the rest makes the counts a floor. */
  readonly contractsMax: number;
  /** Contracts that are asked what they made, by a call each: the newest. */
  readonly askedMax: number;
  /** Contracts that are read at once. */
  readonly atOnce: number;
  readonly exitLiquidityUsd: number;
  /** Of how many listed launches it is asked what they were launched with: the newest. */
  readonly launchedWithMax: number;
};

/**
 * The result of a walk: a record, or the reason for its absence. `cut`: why a source did not answer
 * all that it was asked, the last of it, where it may answer soon; `null`: no source was silent.
 */
export type WalkOutcome =
  | { readonly walked: true; readonly walk: DeployerWalk; readonly cut: Why | null }
  | { readonly walked: false; readonly why: Why; readonly cost: WalkCost };

/** A contract that may be a launch. `factory`: who made it, where the address did not itself. */
type Candidate = MadeContract & { readonly factory: string | null };

type Walking = {
  readonly sources: WalkSources;
  readonly address: string;
  readonly limits: DeployerWalkLimits;
  readonly signal: AbortSignal;
  readonly providers: Set<string>;
  readonly launches: Omit<ObservedLaunch, 'launched_with'>[];
  readonly skipped: Skipped[];
  /** The pools of each launch that the venue told of. */
  readonly pools: Map<string, readonly ListedPool[]>;
  /** The outcomes from the walk before, of each token that a venue has listed. */
  readonly listedAs: ReadonlyMap<string, LaunchOutcome>;
  /** The contracts of the address that made tokens which a venue has listed, from before. */
  readonly factories: ReadonlySet<string>;
  /** Why something was not read, the last of it. */
  lastWhy: Why | null;
  /** The same of a source that was silent. */
  cut: Why | null;
};

type WalkOptions = {
  readonly limits: DeployerWalkLimits;
  /** Unix seconds. */
  readonly now: () => number;
  /** The walk that is committed of the address; `null` where none is. */
  readonly before: DeployerWalk | null;
};

/** A walk of which nothing was asked yet. */
function beginWalk(
  sources: WalkSources,
  address: string,
  { limits, before }: Pick<WalkOptions, 'limits' | 'before'>,
  signal: AbortSignal,
): Walking {
  // Every question of the walk listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, signal);
  return {
    sources,
    address,
    limits,
    signal,
    providers: new Set(),
    launches: [],
    skipped: [],
    pools: new Map(),
    listedAs: outcomesOfListed(before),
    factories: new Set(listOrNone(before?.factories_once)),
    lastWhy: null,
    cut: null,
  };
}

/** Walks the launches of an address. */
export async function walkDeployer(
  sources: WalkSources,
  address: string,
  { limits, now, before }: WalkOptions,
  signal: AbortSignal,
): Promise<WalkOutcome> {
  const walking = beginWalk(sources, address, { limits, before }, signal);
  const silent = await whyStillSilent(walking, before, now());
  if (silent !== null) return { walked: false, why: silent, cost: 'one_question' };
  const made = await sources.creations.madeDirectly(address, signal);
  const direct = listIn(
    walking,
    map(made, (one) => one.made),
  );
  if (!(made instanceof Read) && direct.length === 0) return failureOf(made.why);
  const candidates = direct.map((made) => ({ ...made, factory: null }));
  const chosen = newestOf(candidates, limits.contractsMax, walking);
  const credited = await selectCredited(walking, chosen);
  const disowned = walking.skipped.filter(isDetermined).map(addressOf);
  const once = { max: limits.askedMax, not: new Set(disowned) };
  const makers = makersAmong(candidates, chosen, walking, once);
  const factories = await childrenOf(walking, makers);
  if (!factories.checked) return failureOf(factories.why);
  // What factories made has half of the room, however much the address made itself.
  const kept = Math.min(distinct(factories.children), Math.floor(limits.contractsMax * MADE_SHARE));
  const own = credited.slice(0, limits.contractsMax - kept);
  const left = new Set(credited.slice(own.length));
  const children = newestOf(factories.children, limits.contractsMax - own.length, walking);
  const others = await selectCredited(walking, children);
  const foreign = walking.skipped.filter(isDetermined).map(addressOf);
  const asked = new Set([...foreign, ...makers.map(addressOf)]);
  // What the contracts of the address leave of the room is asked in turn, and at least half.
  const room = Math.max(limits.askedMax - makers.length, Math.floor(limits.askedMax * MADE_SHARE));
  const lower = makersAmong(factories.children, children, walking, { max: room, not: asked });
  const below = await childrenOf(walking, lower);
  if (!below.checked) return failureOf(below.why);
  const examined = [...own, ...others];
  await eachOf(walking, examined, (one) => examine(walking, one));
  const paired = await readPairs(walking, examined);
  const launches = await withFirstLiquidity(walking, now());
  if (signal.aborted) return failureOf(why('walk_out_of_time'));
  const listed = new Set([
    ...walking.listedAs.keys(),
    ...tokensOnVenue(launches),
    ...paired.tokens,
  ]);
  const read = walking.launches.length + walking.skipped.filter(isDetermined).length;
  if (read === 0 && walking.lastWhy !== null) return failureOf(walking.lastWhy);
  const tried = [...chosen.filter((one) => !left.has(one)), ...children];
  const cut = distinct(direct) + distinct(factories.children) > tried.length;
  const cutLists = [...factories.truncated, ...below.truncated].sort();
  const isListed = made instanceof Read && cutLists.length === 0;
  for (const { address: one } of lower) asked.add(one);
  // What a second level made is credited to nobody: where there is any, the counts are a floor.
  const isAsked =
    below.children.every(({ reverted }) => reverted) &&
    [...direct, ...factories.children].every(
      ({ address: one, reverted }) => reverted || asked.has(one),
    );
  const truncated = !isListed || cut || !isAsked;
  return {
    walked: true,
    cut: walking.cut,
    walk: {
      address,
      captured_at: now(),
      exit_liquidity_usd: limits.exitLiquidityUsd,
      launches,
      skipped: walking.skipped,
      direct_creations: chosen.length - left.size - disowned.length,
      factories_walked: factories.walked,
      truncated,
      truncated_factories: cutLists,
      providers: [...walking.providers].sort(),
      listed_once: [...listed].sort(),
      factories_once: [...new Set([...walking.factories, ...factoriesOf(launches, listed)])].sort(),
      pairs_unread: paired.unread,
      read_from:
        isListed && made instanceof Read
          ? Math.max(
              readFrom([...direct, ...factories.children], tried, walking.skipped),
              isAsked ? 0 : readFromOthers(made.value),
            )
          : null,
    },
  };
}

function failureOf(why: Why): WalkOutcome {
  return { walked: false, why, cost: 'more' };
}

/** A source that cut a walk lately is asked one question before all others. */
const CUT_LATELY_S = 3_600;

/** Why what cut the walk before is still silent, by one question to each such source, or `null`. */
async function whyStillSilent(
  { sources, signal }: Walking,
  before: DeployerWalk | null,
  now: UnixSeconds,
): Promise<Why | null> {
  if (before === null || now - before.captured_at > CUT_LATELY_S) return null;
  const unchecked = before.launches.find(({ outcome }) => outcome === 'unchecked');
  const undetermined = before.skipped.find((one) => !isDetermined(one));
  const uncounted = before.launches.find((one) => one.transfers_observed === null);
  const unfunded = before.launches.find(({ launched_with: { state } }) => state === 'unread');
  const [factory] = before.truncated_factories;
  const { venue, kinds, creations, transfers, launchPools, pairs } = sources;
  const arePairsUnread = typeof before.pairs_unread === 'string';
  const questions = [
    // Of no token it is only asked whether the source answers, and is not behind.
    pairs !== null && arePairsUnread && (() => pairs.among([], 0, signal)),
    unchecked && (() => venue.poolsOf(unchecked.address, signal)),
    undetermined && (() => creations.makersOf([undetermined.address], signal)),
    undetermined && (() => kinds.kindOf(undetermined.address, signal)),
    uncounted && (() => transfers.observed(uncounted.address, signal)),
    unfunded && (() => launchPools.firstLiquidity(unfunded.address, signal)),
    factory !== undefined && (() => creations.madeBy(factory, signal)),
  ];
  for (const ask of questions) {
    if (typeof ask !== 'function') continue;
    const reading: Partly<unknown, never> = await ask();
    if (!reading.checked && SILENT.has(reading.why.code)) return reading.why;
  }
  return null;
}

/** From when on every contract of the lists was examined and determined. */
function readFrom(
  listed: readonly MadeContract[],
  examined: readonly Candidate[],
  skipped: readonly Skipped[],
): UnixSeconds {
  const read = new Set(examined.map(({ address }) => address));
  for (const one of skipped) if (!isDetermined(one)) read.delete(one.address);
  const unread = listed.filter(({ address, reverted }) => !reverted && !read.has(address));
  return Math.max(0, ...unread.map(({ at }) => at + 1));
}

/**
 * The contracts that are asked what they made: all that are chosen, whether or not it was read who
 * is credited with them, and the newest of the others. `not`: those that somebody else made, and
 * those that were asked already.
 */
function makersAmong(
  list: readonly Candidate[],
  chosen: readonly Candidate[],
  walking: Walking,
  { max, not }: { readonly max: number; readonly not: ReadonlySet<string> },
): Candidate[] {
  const newest = newestOf(list, max, walking);
  return [...new Set([...chosen, ...newest])].filter(
    ({ address, reverted }) => !reverted && !not.has(address),
  );
}

/**
 * From when on nothing was made by contracts that were not asked what they made. Who made them is
 * credited only with what it signed for; each transaction, a creation too, may have called them.
 */
function readFromOthers({ signed_at }: DirectCreations): UnixSeconds {
  return signed_at === null ? 0 : signed_at + 1;
}

function addressOf({ address }: { readonly address: string }): string {
  return address;
}

function factoriesOf(
  launches: readonly ObservedLaunch[],
  listed: ReadonlySet<string>,
): readonly string[] {
  return launches.flatMap(({ address, factory }) =>
    factory !== null && listed.has(address) ? [factory] : [],
  );
}

function tokensOnVenue(launches: readonly ObservedLaunch[]): string[] {
  return launches.filter(({ outcome }) => LISTED.has(outcome)).map(({ address }) => address);
}

/** The outcomes of a walk, of each token that a venue had listed by then. */
function outcomesOfListed(before: DeployerWalk | null): ReadonlyMap<string, LaunchOutcome> {
  const launches = listOrNone(before?.launches);
  const outcomes = new Map(launches.map(({ address, outcome }) => [address, outcome]));
  const tokens = [...listOrNone(before?.listed_once), ...tokensOnVenue(launches)];
  return new Map(
    tokens.map((token) => {
      const outcome = outcomes.get(token);
      return [token, outcome === undefined ? 'unchecked' : outcome];
    }),
  );
}

/** How many contracts a list has: one that was made again is one. */
function distinct(list: readonly MadeContract[]): number {
  return new Set(list.map(({ address }) => address)).size;
}

function isDetermined({ reason }: Skipped): boolean {
  return reason !== 'undetermined';
}

/** Notes who answered, and gives what was seen so far. */
function listIn<T>(walking: Walking, reading: Partly<readonly T[], never>): readonly T[] {
  noteSources(walking, reading);
  return listOrNone(rowsSeen(reading));
}

function noteSources(walking: Walking, reading: Partly<unknown, never>): void {
  for (const { name, url } of basis(reading).sources) walking.providers.add(`${name} ${url}`);
  if (reading instanceof Read) return;
  walking.lastWhy = reading.why;
  if (SILENT.has(reading.why.code)) walking.cut = reading.why;
}

/** Other reasons, as a list that is too long, are the same when it is asked again. */
const SILENT: ReadonlySet<string> = new Set(['provider_failed', 'timed_out', 'time_budget']);

/**
 * The share of the room of a walk that is kept for tokens which a venue has listed and for what
 * made them, and the share that is kept for what factories made.
 */
const [LISTED_SHARE, MADE_SHARE] = [0.5, 0.5];

/**
 * The newest contracts, each address once: one that was made again stands as it is now. Tokens that
 * a venue has listed are examined again before any other, after the factories that made them, and
 * creations that were undone last, so that a deployer cannot push out what it launched by making
 * more.
 */
function newestOf<C extends MadeContract>(
  list: readonly C[],
  max: number,
  { factories, listedAs }: Pick<Walking, 'factories' | 'listedAs'>,
): C[] {
  const byAddress = new Map<string, C[]>();
  for (const one of list) collect(byAddress, one.address, one);
  const order = (a: C, b: C) => Number(a.reverted) - Number(b.reverted) || b.block - a.block;
  const newest = [...byAddress.values()].flatMap((same) => same.sort(order).slice(0, 1));
  newest.sort(order);
  const before = [factories, listedAs]
    .flatMap((known) => newest.filter(({ address }) => known.has(address)))
    .slice(0, Math.ceil(max * LISTED_SHARE));
  return [...new Set([...before, ...newest])].slice(0, max);
}

/** Of how many contracts it is asked at once who made them: each may cost a call. */
const MAKERS_AT_ONCE = 100;

/** Those with which the chain credits the address; the others are skipped, and why. */
async function selectCredited(walking: Walking, list: readonly Candidate[]): Promise<Candidate[]> {
  const { sources, signal, address, skipped } = walking;
  const standing = list.filter(({ reverted }) => !reverted);
  for (const one of list.filter(({ reverted }) => reverted)) {
    skipped.push({ address: one.address, reason: 'reverted_creation' });
  }
  const makers = new Map<string, Maker>();
  for (const some of slices(standing, MAKERS_AT_ONCE)) {
    const contracts = some.map((one) => one.address);
    const reading = await sources.creations.makersOf(contracts, signal);
    noteSources(walking, reading);
    if (!reading.checked) continue;
    for (const [contract, maker] of reading.value) makers.set(contract, maker);
  }
  return standing.filter((one) => {
    const maker = makers.get(one.address);
    if (maker?.signer === address) return true;
    const reason = maker === undefined ? 'undetermined' : 'attribution_mismatch';
    skipped.push({ address: one.address, reason });
    return false;
  });
}

/** What contracts made. `truncated`: the contracts whose list was not read to its end. */
type Children =
  | {
      readonly checked: true;
      readonly children: readonly Candidate[];
      /** How many of the contracts had made something. */
      readonly walked: number;
      readonly truncated: readonly string[];
    }
  | { readonly checked: false; readonly why: Why };

/** Asks contracts what they made; public launchpads are not asked. */
async function childrenOf(walking: Walking, makers: readonly Candidate[]): Promise<Children> {
  const { sources, signal } = walking;
  const launchpads = await sources.launchpads.among(makers.map(addressOf));
  if (!launchpads.checked) return launchpads;
  const made = new Map<string, readonly MadeContract[]>();
  const truncated: string[] = [];
  const toAsk = makers.filter(({ address }) => !launchpads.value.has(address));
  await eachOf(walking, toAsk, async ({ address: factory }) => {
    const reading = await sources.creations.madeBy(factory, signal);
    const list = listIn(walking, reading);
    if (!(reading instanceof Read)) truncated.push(factory);
    if (list.length > 0) made.set(factory, list);
  });
  const children = [...made].flatMap(([factory, list]) => list.map((one) => ({ ...one, factory })));
  return { checked: true, children, walked: made.size, truncated };
}

/** Works on a list, a few at once, until the walk is stopped. */
async function eachOf<T>(
  { limits, signal }: Walking,
  list: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = [...list];
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      if (signal.aborted) return;
      await work(one);
    }
  };
  await Promise.all(Array.from({ length: limits.atOnce }, worker));
}

/** Decides what a credited contract is, and what became of it where it is a token. */
async function examine(walking: Walking, candidate: Candidate): Promise<void> {
  const { sources, signal, skipped, launches, limits } = walking;
  const { address, at, factory } = candidate;
  const kind = await sources.kinds.kindOf(address, signal);
  noteSources(walking, kind);
  if (!kind.checked || kind.value === 'undecided') {
    skipped.push({ address, reason: 'undetermined' });
    return;
  }
  if (kind.value === 'other') {
    skipped.push({ address, reason: 'not_an_erc20' });
    return;
  }
  const transfers = await sources.transfers.observed(address, signal);
  noteSources(walking, transfers);
  const moved = transfers.checked ? transfers.value : null;
  // A contract that is gone was a token where transfers of it are on the chain.
  if (kind.value === 'no_code' && (moved === null || moved.count === 0)) {
    skipped.push({ address, reason: 'undetermined' });
    return;
  }
  const pools = await sources.venue.poolsOf(address, signal);
  noteSources(walking, pools);
  const listed = pools.checked ? pools.value : null;
  if (listed !== null) walking.pools.set(address, listed);
  const before = walking.listedAs.get(address);
  const listedAs = before === undefined ? null : before;
  launches.push({
    address,
    created_at: at,
    factory,
    ...measureOutcome({ pools: listed, transfers: moved, listedAs }, limits.exitLiquidityUsd),
    transfers_observed: moved === null ? null : moved.count,
    transfers_truncated: moved === null ? null : moved.truncated,
  });
}

/** Of which tokens an exchange has made a pair; `unread`: why that was not read, or `null`. */
type Paired = { readonly tokens: ReadonlySet<string>; readonly unread: string | null };

/**
 * Asks, before a launch stands as never listed, whether an exchange has made a pair of it. Of those
 * of which one has, and of all where that is not told, nobody knows what became.
 */
async function readPairs(walking: Walking, examined: readonly Candidate[]): Promise<Paired> {
  const { sources, signal, launches, pools } = walking;
  const unlisted = new Set(
    launches.flatMap(({ address, outcome }) =>
      outcome === 'never_listed' && pools.get(address)?.length === 0 ? [address] : [],
    ),
  );
  if (unlisted.size === 0) return { tokens: unlisted, unread: null };
  if (sources.pairs === null) return { tokens: new Set(), unread: NO_NODE };
  const blocks = examined.flatMap(({ address, block }) => (unlisted.has(address) ? [block] : []));
  const reading = await sources.pairs.among([...unlisted], Math.min(...blocks), signal);
  noteSources(walking, reading);
  const open = reading.checked ? reading.value : unlisted;
  for (const [n, launch] of launches.entries()) {
    if (open.has(launch.address)) launches[n] = { ...launch, outcome: 'unchecked' };
  }
  return reading.checked
    ? { tokens: open, unread: null }
    : { tokens: new Set(), unread: reading.why.reason };
}

const NO_NODE = 'No node is set.';

/** The launches, newest first, and what those of them were launched with that may be scored. */
async function withFirstLiquidity(walking: Walking, now: UnixSeconds): Promise<ObservedLaunch[]> {
  const { sources, signal, address: deployer, limits, launches } = walking;
  const newest = launches.sort((a, b) => b.created_at - a.created_at);
  const asked = newest
    .filter(({ created_at, outcome }) => now - created_at <= NEW_FOR_S && LISTED.has(outcome))
    .slice(0, limits.launchedWithMax);
  const known = new Map<string, LaunchedWith>();
  await eachOf(walking, asked, async ({ address: token }) => {
    const pools = rowsUnder(walking.pools, token);
    const note = (reading: Partly<unknown, never>) => noteSources(walking, reading);
    known.set(token, await readFirstLiquidity(sources, { token, deployer, pools, note }, signal));
  });
  return newest.map((launch) => {
    const launched_with = known.get(launch.address);
    return { ...launch, launched_with: launched_with === undefined ? UNASKED : launched_with };
  });
}

const UNASKED: LaunchedWith = { state: 'unknown', cause: 'unasked' };
const LISTED: ReadonlySet<LaunchOutcome> = new Set(['live', 'died']);

// Reads the liquidity of a token at launch, in US dollars, both sides together: the first liquidity
// of its first pool, if its deployer supplied it and no other pool could be older. Liquidity that
// somebody else could have supplied is unknown, and a silent source leaves it unread: neither is
// ever an amount.

/** A launch as a walk knows it. `note` is told every reading. */
type Launched = {
  readonly token: string;
  readonly deployer: string;
  readonly pools: readonly ListedPool[];
  readonly note: (reading: Partly<unknown, never>) => void;
};

export async function readFirstLiquidity(
  { launchPools, prices }: Pick<WalkSources, 'launchPools' | 'prices'>,
  { token, deployer, pools, note }: Launched,
  signal: AbortSignal,
): Promise<LaunchedWith> {
  const reading = await launchPools.firstLiquidity(token, signal);
  note(reading);
  if (!reading.checked) return { state: 'unread', reason: reading.why.reason };
  const first = reading.value;
  if (first === null) return { state: 'unknown', cause: 'no_pool' };
  if (first.signer !== deployer) return { state: 'unknown', cause: 'not_by_deployer' };
  // A pool whose age the venue does not tell could be the older one.
  const isOlder = ({ address, created_at: at }: ListedPool) =>
    address !== first.pool && (at === null || at <= first.at);
  if (first.others_before || pools.some(isOlder)) return { state: 'unknown', cause: 'older_pool' };
  return priceLiquidity(first, prices, note, signal);
}

async function priceLiquidity(
  first: FirstLiquidity,
  prices: WalkSources['prices'],
  note: Launched['note'],
  signal: AbortSignal,
): Promise<LaunchedWith> {
  const { pool, coin, amount, tx, at, priced_as } = first;
  const ask = { chain: DEPLOYER_CHAIN, token: priced_as, at } as const;
  const reading = await prices.historical([ask], signal);
  note(reading);
  const told = rowsSeen(reading)?.find((one) => one.ask.token === priced_as);
  if (told === undefined && !reading.checked) {
    // Without a source of prices nobody will ever know it.
    if (reading.why.code === 'not_configured') return { state: 'unknown', cause: 'unpriced' };
    return { state: 'unread', reason: reading.why.reason };
  }
  if (told === undefined || told.price === null) return { state: 'unknown', cause: 'unpriced' };
  const { usd, basis } = told.price;
  // Both sides of a pool of this layout are worth the same when it begins.
  const both = multiplyDecimals(BOTH_SIDES, multiplyDecimals(amount, usd));
  return { state: 'known', usd: both, pool, coin, amount, tx, at, price: basis };
}

const BOTH_SIDES = '2';
