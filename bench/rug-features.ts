// Tries features of launches that the rug model does not have, on the recorded launches: each is
// added alone, and its gain in AUC on the last two months is resampled by deployer. The intervals
// hold for all candidates together.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DAY_S, HOUR_S, startOfDay } from '../src/chain/time.ts';
import { sharesFrom } from '../src/evidence/random.ts';
import { aucOf, tiesOf } from '../src/evidence/statistics.ts';
import { boost, logisticObjective } from '../src/features/boosting/boost.ts';
import { marginOf } from '../src/features/boosting/trees.ts';
import {
  deployerOf,
  examplesOf,
  type Lesson,
  lessonsOf,
  type TrainingRow,
  trainingFile,
} from '../src/features/rug-model/examples.ts';
import { DEFAULTS, LIMITS } from '../src/features/rug-model/train.ts';
import { RUG_FEATURES } from '../src/ports/rug-model.ts';
import { csvLines } from '../src/sources/files/csv.ts';
import { localTableFiles } from '../src/sources/files/files.ts';
import { evmLaunchLayout } from '../src/testing/evm-launch-layout.ts';
import { EVM_LAUNCHES } from '../src/testing/evm-launches.ts';

const SPLIT = startOfDay('2021-05-01');
const HORIZON_S = DEFAULTS.target.horizon_h * HOUR_S;
const RESAMPLES = 2_000;

/** The launches before one, its deployer's among them, and its name. */
type Before = {
  readonly row: TrainingRow;
  readonly symbol: string;
  readonly all: readonly TrainingRow[];
  readonly symbols: readonly string[];
  readonly own: readonly TrainingRow[];
};
type Candidate = readonly [name: string, of: (before: Before) => number | null];

const since = ({ row, all }: Before, seconds: number) => {
  const from = row.launched_at - seconds;
  let at = all.length;
  while (at > 0 && Number(all[at - 1]?.launched_at) >= from) at -= 1;
  return all.slice(at);
};
const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length;
const pooled = (rows: readonly TrainingRow[]) =>
  rows.flatMap(({ liquidity_usd }) => (liquidity_usd === null ? [] : [liquidity_usd]));
/** What the model had before any of these was tried. */
const BEFORE = RUG_FEATURES.filter(({ name }) => name !== 'ether_pooled_whole');
const { values: given } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const SEED = Number(given.seed);

const CANDIDATES: readonly Candidate[] = [
  ['hour of the day', ({ row }) => Math.floor((row.launched_at % DAY_S) / HOUR_S)],
  ['day of the week', ({ row }) => Math.floor(row.launched_at / DAY_S) % 7],
  ['length of the symbol', ({ symbol }) => symbol.length],
  [
    'launches under its symbol before',
    ({ symbol, symbols }) => symbols.filter((one) => one === symbol).length,
  ],
  ['launches on the chain in a day before', (before) => since(before, DAY_S).length],
  [
    'share of the chain that died, of the week before the horizon',
    (before) => {
      const { launched_at } = before.row;
      const settled = since(before, 2 * HORIZON_S).filter(
        (one) => one.launched_at + HORIZON_S <= launched_at,
      );
      return mean(
        settled.map(({ died_at, launched_at: at }) =>
          Number(died_at !== null && died_at <= at + HORIZON_S),
        ),
      );
    },
  ],
  [
    'rank of its liquidity in the week before',
    (before) => {
      const own = before.row.liquidity_usd;
      if (own === null) return null;
      return mean(pooled(since(before, 7 * DAY_S)).map((one) => Number(one < own)));
    },
  ],
  [
    'whether a whole number of ether was pooled',
    ({ row: { ether_pooled: ether } }) =>
      ether === null ? null : Number(Number.isInteger(Number(ether))),
  ],
  [
    'ether pooled, beside its worth in dollars',
    ({ row: { ether_pooled: ether } }) => (ether === null ? null : Number(ether)),
  ],
  ['mean liquidity of the deployer’s earlier launches', ({ own }) => mean(pooled(own))],
  [
    'its liquidity over that mean',
    ({ row, own }) => {
      const before = mean(pooled(own));
      return before === null || before === 0 || row.liquidity_usd === null
        ? null
        : row.liquidity_usd / before;
    },
  ],
  [
    'mean life of the deployer’s earlier launches that had died',
    ({ row, own }) =>
      mean(
        own.flatMap(({ died_at, launched_at }) =>
          died_at === null || died_at > row.launched_at ? [] : [died_at - launched_at],
        ),
      ),
  ],
  [
    'launches of the deployer in the day before',
    ({ row, own }) => own.filter((one) => row.launched_at - one.launched_at <= DAY_S).length,
  ],
];

async function measure(file: string): Promise<void> {
  const read = await trainingFile(localTableFiles(), file);
  if (read.end !== 'read') throw new Error('the layout is not read');
  const [heading, ...lines] = csvLines(await readFile(EVM_LAUNCHES, 'utf8'));
  const [token, symbol] = ['token', 'symbol'].map((name) => Number(heading?.cells.indexOf(name)));
  const symbolOf = new Map(
    lines.map(({ cells }) => [cells[Number(token)], String(cells[Number(symbol)]).toUpperCase()]),
  );
  const examples = await examplesOf(read.rows, DEFAULTS.target.horizon_h);
  const values = CANDIDATES.map(() => new Map<string, number | null>());
  const rows = examples.map(({ row }) => row);
  const symbols = rows.map((row) => String(symbolOf.get(row.token)));
  const owned = new Map<string, TrainingRow[]>();
  for (const [at, row] of rows.entries()) {
    const key = deployerOf(row);
    const own = owned.get(key) ?? [];
    const before: Before = {
      row,
      symbol: String(symbols[at]),
      all: rows.slice(0, at),
      symbols: symbols.slice(0, at),
      own,
    };
    for (const [n, [, of]] of CANDIDATES.entries()) values[n]?.set(row.token, of(before));
    owned.set(key, [...own, row]);
  }
  const { lessons } = lessonsOf(examples, DEFAULTS.target);
  const learnt = lessons.filter(({ row }) => row.launched_at + HORIZON_S <= SPLIT);
  const test = lessons.filter(({ row }) => row.launched_at >= SPLIT);
  const [first, second] = [0.7, 0.85].map((share) => Math.floor(share * learnt.length));
  const [train, stop] = [learnt.slice(0, first), learnt.slice(first, second)];
  const score = (extra: ReadonlyMap<string, number | null> | null) => {
    const columns = (part: readonly Lesson[]) => [
      ...BEFORE.map(({ name }) =>
        Float64Array.from(part, ({ features }) => features[name] ?? Number.NaN),
      ),
      ...(extra === null
        ? []
        : [Float64Array.from(part, ({ row }) => extra.get(row.token) ?? Number.NaN)]),
    ];
    const as = (part: readonly Lesson[]) => ({
      columns: columns(part),
      objective: logisticObjective(Uint8Array.from(part, ({ died }) => Number(died))),
    });
    const monotone = [...BEFORE.map((one) => one.monotone), 0 as const];
    const { base, trees } = boost(as(train), as(stop), monotone, { ...LIMITS, seed: SEED });
    const tested = columns(test);
    return Float64Array.from(test, (_, at) =>
      marginOf(
        base,
        trees,
        tested.map((column) => Number(column[at])),
      ),
    );
  };
  const died = Uint8Array.from(test, (one) => Number(one.died));
  const numbers = new Map<string, number>();
  const deployer = test.map(({ row }) => {
    const key = deployerOf(row);
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    return Number(numbers.get(key));
  });
  const all = [null, ...values].map((extra) => tiesOf(score(extra)));
  const aucs = (weights: Float64Array | null) =>
    all.map((ties) => Number(aucOf(ties, died, weights)));
  const whole = aucs(null);
  const draw = sharesFrom(SEED);
  const drawn: number[][] = [];
  for (let turn = 0; turn < RESAMPLES; turn += 1) {
    const times = new Float64Array(numbers.size);
    for (let n = 0; n < numbers.size; n += 1) {
      const one = Math.floor(draw() * numbers.size);
      times[one] = Number(times[one]) + 1;
    }
    drawn.push(aucs(Float64Array.from(deployer, (one) => Number(times[one]))));
  }
  const missed = 0.05 / CANDIDATES.length;
  process.stdout.write(`AUC without any of them: ${whole[0]?.toFixed(4)}\n`);
  for (const [n, [name]] of CANDIDATES.entries()) {
    const gains = drawn.map((one) => Number(one[n + 1]) - Number(one[0])).sort((a, b) => a - b);
    const at = (share: number) => gains[Math.round(share * (gains.length - 1))]?.toFixed(4);
    const gain = (Number(whole[n + 1]) - Number(whole[0])).toFixed(4);
    process.stdout.write(`${name}: ${gain} (${at(missed / 2)} to ${at(1 - missed / 2)})\n`);
  }
}

if (existsSync(EVM_LAUNCHES)) {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-bench-features-'));
  const file = join(folder, 'launches.csv');
  await writeFile(file, await evmLaunchLayout());
  await measure(file);
  await rm(folder, { recursive: true });
} else {
  process.stdout.write('No recorded launches: EXHIBIT_TEST_DATA names their folder.\n');
}
