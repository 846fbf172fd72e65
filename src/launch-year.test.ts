// A simulated year of launchers of whom everything is known, with outages of each source: no window
// denies what it did not see, no launch is another's, no flag is without ground, none falls or
// stands against what was read, and no state is one of a part. Some weeks of one seed run here;
// EXHIBIT_TEST_MONTHS=1-20 runs months of these seeds, and EXHIBIT_TEST_YEARS=1-20 whole years.

import { expect, test, vi } from 'vitest';
import { controlOnServer } from './testing/control-store.ts';
import { FALSEHOODS, type YearCounts } from './testing/launch-year/checks.ts';
import { FLAWS } from './testing/launch-year/flaws.ts';
import { runYear, yearsText } from './testing/launch-year/year.ts';

/** Looks a day and more apart, within outages and between them. */
const WIDE = [23, 30, 37, 44, 47] as const;
/** As often as wallets are walked, so that much is seen of each launch while it is scored. */
const CLOSE = [2, 5, 7, 11, 17] as const;
/**
 * A launcher makes 100 contracts in a year and hides what it launches among 30: asked what they
 * made is each of them, as of nearly all wallets. Whoever makes more blinds windows while it signs,
 * which months and weeks show.
 */
const [ALL_ASKED, SOME_ASKED] = [160, 40];
/** Launches of one launcher are so far apart, from and to, in days. */
const [QUICK, USUAL, SLOW, RARE] = [
  [1, 8],
  [8, 50],
  [10, 70],
  [60, 200],
] as const;
// A seed of which fewer windows than `wholeMin` were whole has judged too little: some 240 windows
// of a year had 18 to 57 whole ones, 60 of the weeks 33.
const SPANS = {
  year: {
    days: 365,
    launchers: 400,
    tricks: 0.03,
    paces: [QUICK, SLOW, SLOW, SLOW, RARE, RARE, RARE, RARE],
    ethereumEvery: 16,
    outageEachDays: 25,
    lullEachDays: 20,
    stepsH: WIDE,
    askedMax: ALL_ASKED,
    wholeMin: 15,
  },
  month: {
    days: 30,
    launchers: 48,
    tricks: 0.1,
    paces: [QUICK, USUAL, USUAL, RARE],
    ethereumEvery: 2,
    outageEachDays: 12,
    lullEachDays: 15,
    stepsH: CLOSE,
    askedMax: SOME_ASKED,
    wholeMin: 1,
  },
  /** In a small world every trick is tried often. */
  weeks: {
    days: 20,
    launchers: 24,
    tricks: 0.4,
    paces: [QUICK, USUAL, USUAL, RARE],
    ethereumEvery: 2,
    outageEachDays: 12,
    lullEachDays: 20,
    stepsH: CLOSE,
    askedMax: SOME_ASKED,
    wholeMin: 20,
  },
};
const YEARS = process.env['EXHIBIT_TEST_YEARS'];
const MONTHS = process.env['EXHIBIT_TEST_MONTHS'];
const SPAN = YEARS !== undefined ? SPANS.year : MONTHS !== undefined ? SPANS.month : SPANS.weeks;
/** In its weeks each of the flaws shows. */
const SEED = 17;
const SEEDS = seedsIn(YEARS ?? MONTHS ?? `${SEED}-${SEED}`);
const LOOKED_AT = ['walks', 'flags', 'retractions', 'quiet', 'in_part', 'states'] as const;
const NONE = Object.fromEntries(FALSEHOODS.map((name) => [name, 0]));

vi.setConfig({ testTimeout: 7_200_000 * SEEDS.length, hookTimeout: 60_000 });

const fresh = controlOnServer();

/** The seeds of `FROM-TO`, or from 1 to `TO`. */
function seedsIn(text: string): number[] {
  const [first, last = first] = text.split('-').map(Number);
  const from = text.includes('-') ? Number(first) : 1;
  return Array.from({ length: Number(last) - from + 1 }, (_, n) => from + n);
}

test('nothing false is said over the span of each seed', async () => {
  const years: [seed: number, counts: YearCounts][] = [];
  for (const seed of SEEDS) {
    years.push([seed, await runYear(fresh(), { seed, ...SPAN })]);
    process.stdout.write(`${yearsText(years)}\n`);
  }
  for (const [seed, counts] of years) {
    expect(counts).toMatchObject({ ...NONE, examples: [] });
    expect(counts.whole, `whole windows of seed ${seed}`).toBeGreaterThanOrEqual(SPAN.wholeMin);
  }
  for (const looked of LOOKED_AT) {
    expect(Math.max(...years.map(([, counts]) => counts[looked])), looked).toBeGreaterThan(0);
  }
});

test.each(FLAWS)('$name is counted in $counted', async (flaw) => {
  const counts = await runYear(fresh(), { seed: SEED, ...SPANS.weeks, flaw });
  expect(counts[flaw.counted]).toBeGreaterThan(0);
});
