// A simulated year of launchers of whom everything is known, with outages of each source: no window
// denies what it did not see, no launch is another's, no flag is without ground and no state is one
// of a part. A month of one seed runs here; EXHIBIT_TEST_YEARS=20 runs whole years of so many
// seeds, and EXHIBIT_TEST_MONTHS=20 months.

import { expect, test, vi } from 'vitest';
import { embeddedControl } from './testing/control-store.ts';
import { runYear, yearText } from './testing/launch-year.ts';

const YEARS = Number(process.env['EXHIBIT_TEST_YEARS'] ?? '0');
const MONTHS = Number(process.env['EXHIBIT_TEST_MONTHS'] ?? '0');
const SPAN = YEARS > 0 ? { days: 365, launchers: 400 } : { days: 30, launchers: 40 };
const SEEDS = Array.from({ length: Math.max(1, YEARS, MONTHS) }, (_, n) => n + 1);
/** In a month of some seeds a source is away on every day. */
const LOOKED_AT = ['walks', 'flags', 'in_part', 'states'] as const;
const LOOKED_AT_HERE = [...LOOKED_AT, 'whole', 'quiet'] as const;

vi.setConfig({ testTimeout: 7_200_000, hookTimeout: 60_000 });

const fresh = embeddedControl();

test.each(SEEDS)('nothing false is said over the span of seed %i', async (seed) => {
  const began = performance.now();
  const counts = await runYear(fresh(), { seed, ...SPAN });
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${yearText(seed, counts)} (${seconds} s)\n`);
  expect(counts).toMatchObject({
    false_windows: 0,
    false_credits: 0,
    false_flags: 0,
    false_states: 0,
    false_retractions: 0,
    examples: [],
  });
  for (const looked of MONTHS > 0 ? LOOKED_AT : LOOKED_AT_HERE) {
    expect(counts[looked], looked).toBeGreaterThan(0);
  }
});

test('without the watch the same span holds windows that deny what nobody saw', async () => {
  const counts = await runYear(fresh(), { seed: 1, ...SPAN, unwatched: true });
  expect(counts.false_windows).toBeGreaterThan(0);
});
