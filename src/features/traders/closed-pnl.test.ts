// What the venue books at a closing is price difference times size, before fees: where a position
// starts flat inside a record, its fills alone give the same figure.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Fill } from '../../ports/series.ts';
import { asFill } from '../../testing/noise-traders.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { WORLD_TRADERS, worldFills } from '../../world/traders.ts';
import { isClosing, isSpot, signedSize, sortFills } from './trades.ts';

const CENTS = 0.02;
const PART = 0.001;

/** A closing of a position whose begin is known: what the venue booked, and what its fills give. */
type Closing = { readonly booked: number; readonly own: number };

/** The closings of every position that starts flat in some fills, in the order of their time. */
function closingsFromFlat(fills: readonly Fill[]): readonly Closing[] {
  const held = new Map<string, { size: number; cost: number }>();
  const found: Closing[] = [];
  for (const fill of fills) {
    if (isSpot(fill.coin)) continue;
    const [start, change, px] = [Number(fill.start_position), signedSize(fill), Number(fill.px)];
    const known = held.get(fill.coin);
    const isKnown = known !== undefined && Math.abs(known.size - start) < 1e-9;
    if (start === 0) held.set(fill.coin, { size: change, cost: change * px });
    else if (!isKnown) held.delete(fill.coin);
    else if (!isClosing(fill)) held.set(fill.coin, grow(known, change, px));
    else {
      const closed = Math.min(Math.abs(change), Math.abs(start)) * Math.sign(start);
      const entry = known.cost / known.size;
      found.push({ booked: Number(fill.closed_pnl), own: (px - entry) * closed });
      const size = start + change;
      // What is left keeps its entry; beyond flat a position of the other side begins.
      const entryAfter = Math.sign(size) === Math.sign(start) ? entry : px;
      held.set(fill.coin, { size, cost: size * entryAfter });
    }
  }
  return found;
}

function grow({ size, cost }: { size: number; cost: number }, change: number, px: number) {
  return { size: size + change, cost: cost + change * px };
}

function expectBooked(closings: readonly Closing[]): void {
  const wrong = closings.filter(
    ({ booked, own }) => Math.abs(own - booked) > Math.max(CENTS, Math.abs(booked) * PART),
  );
  expect(wrong).toEqual([]);
}

let at = Date.UTC(2026, 8, 1);
/** A fill of a made-up account: `side size @ price`, from a position, with what was booked. */
function fill(text: string, start: string, closed_pnl: string, coin = 'ETH'): Fill {
  const [side, sz = '', px = ''] = text.split(/ @ | /);
  at += 60_000;
  return {
    ...asFill({
      at,
      coin,
      side: side === 'buy' ? 'buy' : 'sell',
      px: Number(px),
      sz: Number(sz),
      start_position: 0,
      closed_pnl: 0,
      oid: at,
      tid: at,
    }),
    start_position: start,
    closed_pnl,
  };
}

// Bought in two parts, sold in two, beyond flat, and bought back; beside it a position whose begin
// lies before the record, and one of another token.
const MADE: readonly Fill[] = [
  fill('buy 2 @ 3000', '0.0', '0.0'),
  fill('sell 0.5 @ 61000', '1.25', '480.5', 'BTC'),
  fill('buy 1 @ 3030', '2.0', '0.0'),
  fill('sell 1.5 @ 3040', '3.0', '45.0'),
  fill('sell 4 @ 3000', '1.5', '-15.0'),
  fill('buy 1 @ 2990', '-2.5', '10.0'),
  fill('buy 1.5 @ 3010.004', '-1.5', '-15.006'),
  fill('buy 100 @ 0.0123', '0.0', '0.0', 'kPEPE'),
  fill('sell 100 @ 0.0124', '100.0', '0.01', 'kPEPE'),
];

describe('profit that is made of fills is what the venue booked', () => {
  test('at each closing of a small record, through parts and beyond flat', () => {
    const closings = closingsFromFlat(MADE);
    expect(closings).toHaveLength(5);
    expectBooked(closings);
    const { trades } = sortFills(MADE, new Set());
    expect(trades.map(({ pnl }) => pnl / 1e6)).toEqual([480.5, 45, -15, 10, -15.006, 0.01]);
  });

  test('and not where the venue had booked it after fees', () => {
    const net = MADE.map((one) => {
      const fee = Number(one.sz) * Number(one.px) * 0.00045;
      return isClosing(one) ? { ...one, closed_pnl: String(Number(one.closed_pnl) - fee) } : one;
    });
    expect(() => expectBooked(closingsFromFlat(net))).toThrow();
  });

  test('at every closing of the simulated traders', () => {
    const now = Date.UTC(2026, 8, 24, 12);
    const closings = WORLD_TRADERS.filter(({ n }) => n === 0).flatMap((trader) =>
      closingsFromFlat(worldFills(trader, now).map(asFill)),
    );
    expect(closings.length).toBeGreaterThan(3_000);
    expectBooked(closings);
  });
});

const RECORDED = join(
  SHARED_DATA,
  'hyperliquid/cassettes/info_test/test_get_user_fills_by_time.yaml',
);
const absent = !existsSync(RECORDED);
const rows = z.array(z.looseObject({ coin: z.string(), startPosition: z.string() }));

// So that nobody takes the record for a proof: self-trades and older begins leave none to check.
test.skipIf(absent)(
  `no position of the recorded account starts flat${absent ? ' (skipped: no shared data)' : ''}`,
  () => {
    const bodies = [...readFileSync(RECORDED, 'utf8').matchAll(/string: '((?:[^']|'')*)'/g)];
    const text = String(bodies.at(-1)?.[1]).replace(/\n\s+/g, ' ').replaceAll("''", "'");
    const fills = rows.parse(JSON.parse(text));
    expect(fills).toHaveLength(500);
    expect(fills.filter(({ startPosition }) => Number(startPosition) === 0)).toEqual([]);
  },
);
