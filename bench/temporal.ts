// How often the analysis of traders labels noise, and how often it finds a style that was planted:
// by blocks as the product does, beside a free shuffle and a shift against the clock. It exits 1
// where the product labels more noise than 7%, by its interval, or finds less than 80%.
// Arguments: --traders N (1,000), --permutations N (2,000).

import { parseArgs } from 'node:util';
import { concentrate } from '../src/features/traders/concentration.ts';
import { PERMUTATIONS } from '../src/features/traders/null-model.ts';
import {
  labelsOfWorldTrader,
  type Moving,
  runTrial,
  type TrialResult,
} from '../src/testing/noise-traders.ts';
import { WORLD_TRADERS } from '../src/world/traders.ts';
import { HOUR_MS, NOISE_KINDS } from '../src/world/trading.ts';

const LEVEL_MAX = 0.07;
const POWER_MIN = 0.8;
const FILLS = 10_000;
const HOURS = 5_000;

const { values } = parseArgs({
  options: {
    traders: { type: 'string', default: '1000' },
    permutations: { type: 'string', default: '2000' },
  },
});
const traders = Number(values.traders);
const permutations = Number(values.permutations);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

function shown({ labelled, found, interval, ratio }: TrialResult, planted: boolean): string {
  const hits = planted ? found : labelled;
  const ends = interval === null ? '' : ` (${percent(interval.low)}–${percent(interval.high)})`;
  return `${percent(hits / traders)}${ends}${planted ? `, ratio ${ratio.toFixed(2)}` : ''}`;
}

const at = (n: number) => Date.UTC(2026, 0, 5) + n * HOUR_MS;
const trades = Array.from({ length: FILLS }, (_, n) => ({
  at: at(n / 2),
  pnl: ((n * 7_919) % 1_000) - 500,
}));
const hours = Array.from({ length: HOURS }, (_, n) => ({
  at: at(n),
  open: 1,
  pnl: ((n * 104_729) % 997) - 498,
}));
const began = process.cpuUsage();
concentrate({ trades, hours, seed: 1, permutations: PERMUTATIONS, testable: true });
const took = Math.round(process.cpuUsage(began).user / 1_000);
say(`${FILLS} trades and ${HOURS} hours, ${PERMUTATIONS} permutations: ${took} ms of one core`);

let failed = false;
for (const planted of [false, true]) {
  say(planted ? 'A session with twice the gains: found' : 'Noise: given any label');
  for (const noise of NOISE_KINDS) {
    const cells: string[] = [];
    for (const moving of ['blocks', 'free', 'clock'] satisfies Moving[]) {
      const result = runTrial({ noise, planted, moving, traders, permutations });
      cells.push(`${moving} ${shown(result, planted)}`);
      if (moving !== 'blocks' || result.interval === null) continue;
      if (!planted && result.interval.high > LEVEL_MAX) failed = true;
      if (planted && result.found / traders < POWER_MIN) failed = true;
    }
    say(`  ${noise.padEnd(13)}${cells.join('   ')}`);
  }
}

say('The traders of the simulated world: what is true, and what is found');
for (const trader of WORLD_TRADERS) {
  const { labels, no_label } = labelsOfWorldTrader(trader, Date.now(), permutations);
  const truth = trader.styles.length === 0 ? '–' : trader.styles.join(', ');
  const found = no_label === null ? labels.join(', ') : no_label;
  say(`  ${trader.kind.padEnd(15)}${truth.padEnd(26)}${found}`);
}

if (failed) {
  say('The test does not hold what it promises.');
  process.exitCode = 1;
}
