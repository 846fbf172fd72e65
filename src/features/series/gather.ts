// Completes kept series from their venues: what no coverage holds is asked for, kept, and read
// again with the rest.

import { MS_PER_S } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import {
  basis,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  Unread,
} from '../../evidence/reading.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import type {
  AccountRole,
  GatheredSeries,
  MarketPort,
  MarketRows,
  MarketSources,
  SeriesGathering,
  SeriesKind,
  SeriesName,
  SeriesPort,
  SeriesRow,
  SeriesRows,
  SeriesSpan,
  SeriesStore,
} from '../../ports/series.ts';

type GatherDependencies = {
  readonly store: SeriesStore;
  readonly markets: MarketSources;
  /** Whether what venues tell was observed or made up. */
  readonly origin: ImportOrigin;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Holes that are asked for one by one, the newest first; older ones are asked for as one span. */
const HOLES_ASKED_MAX = 4;
/** A role is asked for again after so long, and so many are held. */
const ROLE_HELD_S = 6 * 3_600;
const ROLES_HELD_MAX = 5_000;

/** Gathers series from a store and from venues. */
export function seriesGathering(given: GatherDependencies): SeriesGathering {
  return { gather: gathererOf(given), roleOf: roleAsker(given) };
}

function gathererOf({
  store,
  markets,
  origin,
  now,
}: GatherDependencies): SeriesGathering['gather'] {
  return async <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
    signal: AbortSignal,
    reach = 'holes',
  ): Promise<GatheredSeries<S>> => {
    const held = await store.read(name, span, { signal });
    const ask = questionTo(markets, name);
    // What no venue tells of the past is observed as it happens, or never.
    if (ask === null) return { reading: held, fault: null };
    for (const open of reach === 'all' ? [span] : openSpans(name, held, span)) {
      const told = await ask(open, signal);
      if (told instanceof Unread) {
        return { reading: await store.read(name, span, { signal }), fault: told };
      }
      for (const { rows, covered, gone } of valuesOf(told)) {
        const received_at = Math.floor(now() * MS_PER_S);
        const observed = { covered, gone, received_at, source: sourceUrl(told), origin };
        const kept = await store.add(name, rows, observed);
        if (kept instanceof Unread) return { reading: kept, fault: null };
      }
    }
    return {
      reading:
        held instanceof Read && reach === 'holes' ? held : await store.read(name, span, { signal }),
      fault: null,
    };
  };
}

/** What a venue is asked for: the holes that it may still fill, the newest first. */
function openSpans<S extends SeriesKind>(
  { series }: SeriesName<S>,
  held: Partly<SeriesRows<S>, SeriesPort>,
  span: SeriesSpan,
): readonly SeriesSpan[] {
  if (held instanceof Unread) return held.why.code === 'series_not_held' ? [span] : NO_SPANS;
  const holes = listOrNone(rowsSeen(map(held, (of) => of.holes.filter(({ gone }) => !gone))));
  const [oldest, last] = [holes[0], holes.at(-1)];
  if (oldest === undefined || last === undefined) return holes;
  // Fills are read up to now, whatever is asked for.
  if (series === 'fills') return [{ from: oldest.from, to: last.to }];
  const newest = holes.slice(-HOLES_ASKED_MAX + 1).reverse();
  const older = holes.slice(0, -HOLES_ASKED_MAX + 1);
  const lastOfOlder = older.at(-1);
  if (lastOfOlder === undefined) return newest;
  return [...newest, { from: oldest.from, to: lastOfOlder.to }];
}

const NO_SPANS: readonly SeriesSpan[] = [];

type Question<S extends SeriesKind> = (
  span: SeriesSpan,
  signal: AbortSignal,
) => Promise<Partly<MarketRows<SeriesRow<S>>, MarketPort>>;

/** How the venue of a series is asked for a span of it; `null`: it tells no past of it. */
function questionTo<S extends SeriesKind>(
  markets: GatherDependencies['markets'],
  { venue, series, of }: SeriesName<S>,
): Question<S> | null {
  if (venue === 'chain') return null;
  const market = markets[venue];
  const accounts = venue === 'hyperliquid' ? markets.hyperliquid : null;
  const { openInterest } = market;
  const questions: { readonly [K in SeriesKind]: Question<K> | null } = {
    candles: (span, signal) => market.candles(of, span, signal),
    funding: (span, signal) => market.funding(of, span, signal),
    fills: accounts && ((span, signal) => accounts.fills(of, span, signal)),
    account_funding: accounts && ((span, signal) => accounts.accountFunding(of, span, signal)),
    open_interest: openInterest && ((span, signal) => openInterest(of, span, signal)),
    liquidations: null,
    marks: null,
    listings: null,
    net_flow: null,
    whale_transfers: null,
  };
  return questions[series];
}

/** The value of a reading, which a part gives only as rows that were seen. */
function valuesOf<T, P extends string>(told: Partly<T, P>): readonly T[] {
  return listOrNone(rowsSeen(map(told, (value) => [value])));
}

/** The address of the first source of a reading. */
export function sourceUrl(told: Partly<unknown, never>): string {
  const [source] = basis(told).sources;
  if (source === undefined) throw new Error('a reading without a source');
  return source.url;
}

function roleAsker({ markets, now }: GatherDependencies): SeriesGathering['roleOf'] {
  const held = new Map<string, { readonly role: Reading<AccountRole, MarketPort>; at: number }>();
  return async (venue, account, signal) => {
    const key = `${venue} ${account}`;
    const known = held.get(key);
    if (known !== undefined && known.at > now() - ROLE_HELD_S) return known.role;
    const role = await markets[venue].role(account, signal);
    if (role instanceof Unread) return role;
    held.delete(key);
    const [oldest] = held.keys();
    if (held.size >= ROLES_HELD_MAX && oldest !== undefined) held.delete(oldest);
    held.set(key, { role, at: now() });
    return role;
  };
}
