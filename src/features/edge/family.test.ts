// What is measured in one pass is what one measures one by one: every figure of the family and of
// the calls, to the last bit, over random records.

import { expect, test } from 'vitest';
import { sharesFrom } from '../../evidence/random.ts';
import { DETECTOR_KINDS } from '../../ports/emitted-calls.ts';
import { FIRST_HOUR, noiseRecord } from '../../testing/edge-records.ts';
import {
  type Book,
  BPS,
  closedCalls,
  clustersOf,
  compoundBook,
  emptyBook,
  type Hours,
  layCall,
  measureCalls,
  momentsOf,
  netReturn,
} from './backtest.ts';
import { LISTED_CONVICTIONS, LISTED_DIRECTIONS, LISTED_KINDS } from './filters.ts';
import { daysOf, familyMembers, LISTED_CLOSED_MIN, measureFamily } from './luck.ts';
import type { EdgeRecord } from './record.ts';

type Summed = { readonly book: Book; closed: number };

function add(parts: readonly Summed[], hours: Hours): Summed {
  const sum: Summed = { book: emptyBook(hours), closed: 0 };
  for (const { book, closed } of parts) {
    for (const [hour, one] of book.sum.entries()) {
      sum.book.sum[hour] = Number(sum.book.sum[hour]) + one;
      sum.book.open[hour] = Number(sum.book.open[hour]) + Number(book.open[hour]);
    }
    sum.closed += closed;
  }
  return sum;
}

/** The books of an asset by kind, side and conviction, each laid by itself. */
function cellsOf(
  record: EdgeRecord,
  closed: Uint32Array,
  hours: Hours,
  cost: number,
): Summed[][][] {
  const { columns } = record;
  return DETECTOR_KINDS.map((_, kind) =>
    [1, -1].map((direction) =>
      LISTED_CONVICTIONS.map((least, bucket) => {
        const next = LISTED_CONVICTIONS[bucket + 1] ?? Number.POSITIVE_INFINITY;
        const own = closed.filter((at) => {
          const conviction = Number(columns.conviction[at]);
          return (
            columns.kind[at] === kind &&
            columns.direction[at] === direction &&
            conviction < next &&
            (least === null || conviction >= least)
          );
        });
        const book = emptyBook(hours);
        for (const at of own) layCall(record, at, cost, hours, book);
        return { book, closed: own.length };
      }),
    ),
  );
}

/** By conviction, the calls that reach it: with those of the highest first, as sums go. */
function reachedBy(buckets: readonly Summed[], hours: Hours): Summed[] {
  const reached: Summed[] = [];
  for (const own of buckets.toReversed()) {
    const higher = reached.at(-1);
    reached.push(higher === undefined ? own : add([own, higher], hours));
  }
  return reached.reverse();
}

/** The members of the family, each compounded in a book of its own. */
function measureOneByOne(record: EdgeRecord, closed: Uint32Array, hours: Hours, cost_bps: number) {
  const assets = record.instruments.map(({ asset }) => asset).sort();
  const ofAssets = assets.map((asset) => {
    const own = closed.filter(
      (at) => record.instruments[Number(record.columns.instrument[at])]?.asset === asset,
    );
    return cellsOf(record, own, hours, cost_bps / BPS);
  });
  const together = DETECTOR_KINDS.map((_, kind) =>
    [0, 1].map((side) =>
      LISTED_CONVICTIONS.map((_least, bucket) =>
        add(
          ofAssets.map((cells) => cells[kind]?.[side]?.[bucket] as Summed),
          hours,
        ),
      ),
    ),
  );
  return [
    { asset: null, cells: together },
    ...ofAssets.map((cells, at) => ({ asset: assets[at], cells })),
  ].flatMap(({ asset, cells }) => {
    const byKind = cells.map((sides) => {
      const [long, short] = sides.map((buckets) => reachedBy(buckets, hours)) as [
        Summed[],
        Summed[],
      ];
      const either = long.map((one, bucket) => add([one, short[bucket] as Summed], hours));
      return [either, long, short];
    });
    const all = LISTED_DIRECTIONS.map((_, side) =>
      LISTED_CONVICTIONS.map((_least, bucket) =>
        add(
          byKind.map((sides) => sides[side]?.[bucket] as Summed),
          hours,
        ),
      ),
    );
    return LISTED_KINDS.flatMap((kind, row) =>
      LISTED_DIRECTIONS.flatMap((direction, side) =>
        LISTED_CONVICTIONS.flatMap((min_conviction, bucket) => {
          const sides = row === 0 ? all : byKind[row - 1];
          const found = sides?.[side]?.[bucket];
          if (found === undefined) throw new Error('test: a combination without a book');
          const { book, closed: count } = found;
          if (count < LISTED_CLOSED_MIN) return [];
          const { daily } = compoundBook(book, hours, (day) => hasRun(kind, day));
          return [
            { kind, asset, direction, min_conviction, closed: count, sharpe: momentsOf(daily) },
          ];
        }),
      ),
    );
  });
}

/** A day on which some kinds did not run counts for the others alone. */
function hasRun(kind: (typeof LISTED_KINDS)[number], day: number): boolean {
  return day % 3 !== (kind === null ? 0 : DETECTOR_KINDS.indexOf(kind) % 3);
}

const RECORDS = 12;

test('the family in one pass is each of its members alone, to the last bit', () => {
  const shares = sharesFrom(29);
  let members = 0;
  for (let seed = 1; seed <= RECORDS; seed += 1) {
    const assets = 1 + Math.floor(shares() * 4);
    const bursts = 10 + Math.floor(shares() * 40);
    const record = noiseRecord(seed, { assets, hours: 24 * 50, bursts });
    const closed = closedCalls(record, Uint32Array.from(record.calls.keys()));
    const cost_bps = Math.floor(shares() * 20);
    // The span begins and ends within a day.
    const hours = { from: FIRST_HOUR + Math.floor(shares() * 60), to: FIRST_HOUR + 24 * 49 + 7 };
    const { first, end } = daysOf(hours);
    const ran = Array.from({ length: end - first }, (_, i) =>
      LISTED_KINDS.map((kind) => hasRun(kind, first + i)),
    );
    const told = measureFamily({ record, closed, cost_bps, hours, ran });
    expect(familyMembers(told)).toEqual(measureOneByOne(record, closed, hours, cost_bps));
    members += told.members;
  }
  expect(members).toBeGreaterThan(RECORDS * 10);
});

test('medians and clusters are those of sorted lists', () => {
  for (let seed = 1; seed <= RECORDS; seed += 1) {
    const record = noiseRecord(seed, { assets: 3, hours: 24 * 30, bursts: 1 + seed });
    const { columns } = record;
    const picked = Uint32Array.from(record.calls.keys()).filter((at) => at % seed !== 1);
    const closed = closedCalls(record, picked);
    const net = Array.from(closed, (at) => netReturn(record, at, 3 / BPS)).sort((a, b) => a - b);
    const [low, high] = [Math.floor((net.length - 1) / 2), Math.ceil((net.length - 1) / 2)];
    const median = ((Number(net[low]) + Number(net[high])) / 2) * BPS;
    expect(measureCalls(record, picked, 3).median_return_bps).toBe(median);
    // Calls are of one cluster where a chain of calls of one asset overlaps from one to the other.
    const order = [...closed.keys()].sort((a, b) => {
      const [one, other] = [Number(closed[a]), Number(closed[b])];
      return Number(columns.entryHour[one]) - Number(columns.entryHour[other]) || one - other;
    });
    const open = new Map<number, { number: number; end: number }>();
    const expected: number[] = [];
    let count = 0;
    for (const place of order) {
      const at = Number(closed[place]);
      const [asset, exit] = [Number(columns.instrument[at]), Number(columns.exitHour[at])];
      const known = open.get(asset);
      const joins = known !== undefined && Number(columns.entryHour[at]) < known.end;
      if (!joins) count += 1;
      const number = joins ? known.number : count - 1;
      open.set(asset, { number, end: joins ? Math.max(known.end, exit) : exit });
      expected[place] = number;
    }
    expect([...clustersOf(record, closed)]).toEqual(expected);
  }
});
