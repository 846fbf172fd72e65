// LambdaRank by the trees of this product on LightGBM's example: mean NDCG@1, 3 and 5 over the
// later queries, with intervals over resamples of them, beside XGBoost of Debian at the same
// settings where it is installed. It exits 1 under 0.61, 0.61 or 0.66. Arguments: --seeds N (5).

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { sharesFrom } from '../src/evidence/random.ts';
import { ndcgOf } from '../src/evidence/ranking.ts';
import { estimateBy, meanOf } from '../src/evidence/statistics.ts';
import { boost } from '../src/features/boosting/boost.ts';
import { rankObjective, spansOf } from '../src/features/boosting/lambdarank.ts';
import { marginOf } from '../src/features/boosting/trees.ts';
import {
  LIGHTGBM_EXAMPLE,
  RANK_DATA,
  type RankingFile,
  rankingFile,
} from '../src/testing/rank-data.ts';

const PLACES = [1, 3, 5] as const;
const LEAST = [0.61, 0.61, 0.66] as const;
const RESAMPLES = 2_000;
const MISSED = 0.05;
const XGBOOST = fileURLToPath(new URL('../../../bench/rank_xgboost.py', import.meta.url));
/** Debian's own, which sees Debian's packages. */
const PYTHON = '/usr/bin/python3';
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '5' } } });
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The NDCG of each query that has an order, the mean over the seeds. */
function ndcgs(runs: readonly Float64Array[], later: RankingFile, most: number): readonly number[] {
  return spansOf(later).flatMap(([from, to]) => {
    const labels = later.labels.subarray(from, to);
    const own = runs.flatMap((scores) => {
      const ndcg = ndcgOf(scores.subarray(from, to), labels, most);
      return ndcg === null ? [] : [ndcg];
    });
    return own.length === 0 ? [] : [meanOf(own)];
  });
}

/** Prints a row of the table, and gives the means. */
function sayRuns(name: string, runs: readonly Float64Array[], later: RankingFile): number[] {
  const draw = sharesFrom(1);
  const figures = PLACES.map((most) => {
    const all = ndcgs(runs, later, most);
    const draws = Array.from({ length: RESAMPLES }, () =>
      meanOf(all.map(() => Number(all[Math.floor(draw() * all.length)]))),
    );
    return { ...estimateBy(meanOf(all), draws, MISSED), queries: all.length };
  });
  const cells = figures.map(
    ({ value, low, high }) =>
      `${value.toFixed(4)} (${Number(low).toFixed(3)}–${Number(high).toFixed(3)})`,
  );
  say(`${name.padEnd(28)} ${cells.join('   ')}   ${figures[0]?.queries} queries`);
  return figures.map(({ value }) => value);
}

function ownRun(train: RankingFile, later: RankingFile, seed: number): Float64Array {
  const examples = { columns: train.columns, objective: rankObjective(train) };
  const { base, trees } = boost(examples, null, [], { ...LIGHTGBM_EXAMPLE, seed });
  return Float64Array.from(later.labels, (_, at) =>
    marginOf(
      base,
      trees,
      later.columns.map((column) => Number(column[at])),
    ),
  );
}

if (!existsSync(RANK_DATA)) {
  say(`There is nothing to measure: ${RANK_DATA} is not there.`);
  process.exit(3);
}
const [train, later] = [await rankingFile('rank.train'), await rankingFile('rank.test')];
say(
  `${train.labels.length} rows of ${train.sizes.length} queries, then ${later.labels.length} of ` +
    `${later.sizes.length}; ${seeds.length} seeds`,
);
say(`${''.padEnd(28)} ${PLACES.map((most) => `NDCG@${most}`.padEnd(22)).join('   ')}`);
const began = performance.now();
const means = sayRuns(
  'own trees, lambdarank',
  seeds.map((seed) => ownRun(train, later, seed)),
  later,
);
say(`  ${((performance.now() - began) / 1_000 / seeds.length).toFixed(1)} s a training`);
sayRuns('by lot', [new Float64Array(later.labels.length)], later);
const python = spawnSync(PYTHON, [XGBOOST, RANK_DATA, ...seeds.map(String)], {
  encoding: 'utf8',
  maxBuffer: OUTPUT_BYTES_MAX,
});
if (python.status === 0) {
  const runs = python.stdout
    .trim()
    .split('\n')
    .map((line) => Float64Array.from(z.array(z.number()).parse(JSON.parse(line))));
  sayRuns(`XGBoost ${python.stderr.trim().split('\n').at(-1)}`, runs, later);
} else {
  say('XGBoost is not installed (apt-get install python3-xgboost).');
}
const missed = LEAST.filter((least, at) => Number(means[at]) < least);
if (missed.length > 0) {
  say(`Under ${LEAST.join(', ')}.`);
  process.exit(1);
}
