// Without the recorded launches there is nothing to measure, and it says so.

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startOfDay } from '../src/chain/time.ts';
import { cardLines } from '../src/command/model-card-text.ts';
import { collect, tally } from '../src/evidence/measure.ts';
import { sharesFrom } from '../src/evidence/random.ts';
import { artefactOf } from '../src/features/rug-model/artefact.ts';
import { evaluateModel } from '../src/features/rug-model/evaluation.ts';
import {
  deployerOf,
  examplesOf,
  type Lesson,
  lessonsOf,
  type TrainingRow,
  trainingFile,
} from '../src/features/rug-model/examples.ts';
import { logOddsOf, rowOf, sigmoid } from '../src/features/rug-model/predict.ts';
import { DEFAULTS, trainModel } from '../src/features/rug-model/train.ts';
import type { RugModel } from '../src/ports/rug-model.ts';
import { localTableFiles } from '../src/sources/files/files.ts';
import { evmLaunchLayout } from '../src/testing/evm-launch-layout.ts';
import { EVM_LAUNCHES, readLaunches, STATED } from '../src/testing/evm-launches.ts';
import { shuffleFates } from '../src/testing/rug-models.ts';
import {
  type SettledLaunch,
  shuffleFlags,
  withdrawnAfter,
} from '../src/testing/settled-streams.ts';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The outcomes that follow from the reserve beside the file's own verdict. */
async function sayOutcomes(): Promise<void> {
  const rows = await readLaunches();
  const cells = new Map<string, number>();
  for (const { launch, isRugpull } of rows) {
    tally(cells, `${launch.outcome === 'died' ? 'died' : 'live'} ${isRugpull}`);
  }
  const { ethUsd, exitLiquidityUsd } = STATED;
  say(
    `${rows.length} launches at ${ethUsd} USD for an ether and a level of ${exitLiquidityUsd} USD`,
  );
  say('by the reserve at the snapshot   is_rugpull   not is_rugpull');
  for (const outcome of ['died', 'live']) {
    const [rug, not] = ['true', 'false'].map((said) => Number(cells.get(`${outcome} ${said}`)));
    say(`${outcome}${String(rug).padStart(39)}${String(not).padStart(17)}`);
  }
}

/**
 * Draws deployers of the test part anew for a card and for what comes after it, and looks how often
 * the flags of such a model, and of one that flags as many by chance, are withdrawn.
 */
async function sayWithdrawals(
  model: RugModel,
  rows: readonly TrainingRow[],
  draws: number,
): Promise<void> {
  const { level, target } = model.card;
  if (level === null) return;
  const all = await examplesOf(rows, target.horizon_h);
  const later = all.filter(({ row }) => row.scored_at >= SPLIT);
  const byDeployer = new Map<string, (SettledLaunch & { readonly lesson: Lesson })[]>();
  for (const lesson of lessonsOf(later, target).lessons) {
    const score = sigmoid(logOddsOf(model, rowOf(model.features, lesson.features)));
    const flagged = score >= level.score_from;
    const one = { deployer: 0, flagged, died: lesson.died, lesson };
    collect(byDeployer, deployerOf(lesson.row), one);
  }
  const own = [...byDeployer.values()];
  const inTime = <T extends { readonly at: number }>(stream: readonly T[]): T[] =>
    [...stream].sort((a, b) => a.at - b.at);
  const recorded = inTime(
    own.flatMap((of, deployer) =>
      of.map((one) => ({ ...one, deployer, at: one.lesson.row.scored_at })),
    ),
  );
  const held = withdrawnAfter(level, recorded);
  say(`The test part itself: ${held === null ? 'the flags stand' : held.reason}`);
  const share = sharesFrom(1);
  // The same deployers at times of their own: then nothing changes with time.
  const drawn = (flags: number) => {
    const stream = Array.from({ length: own.length }, (_, deployer) => {
      const of = own[Math.floor(share() * own.length)] ?? [];
      const at = share();
      return of.map((one, nth) => ({ ...one, deployer, at: at + nth * 1e-6 }));
    }).flat();
    let left = flags;
    return inTime(stream).filter(({ flagged }) => {
      const isLeft = left > 0;
      left -= Number(flagged);
      return isLeft;
    });
  };
  const ended = { good: 0, chance: 0 };
  for (let trial = 0; trial < draws; trial += 1) {
    const lessons = drawn(Infinity).map(({ lesson, deployer }) => {
      return { ...lesson, row: { ...lesson.row, deployer: String(deployer) } };
    });
    const judged = { model, baseRate: 0.5, flagsFrom: level.score_from, seed: 1 };
    const { level: card } = await evaluateModel({ ...judged, resamples: 1 }, lessons);
    if (card === null) throw new Error('a card without a level');
    const stream = drawn(FLAGS_LATER);
    ended.good += Number(withdrawnAfter(card, stream) !== null);
    ended.chance += Number(withdrawnAfter(card, shuffleFlags(stream, trial)) !== null);
  }
  say(
    `Of ${draws} draws, over ${FLAGS_LATER} flags with a look after each: ${ended.good} models ` +
      `as good as their cards are withdrawn, and ${ended.chance} that flag as many by chance.`,
  );
}

/** Flags after which a model that stands is held to be one that does. */
const FLAGS_LATER = 1_000;

async function measure(file: string, shuffles: number, draws: number): Promise<void> {
  await sayOutcomes();
  const read = await trainingFile(localTableFiles(), file);
  if (read.end !== 'read') throw new Error(`the layout is not read: ${JSON.stringify(read)}`);
  const order = { ...DEFAULTS, splitAt: SPLIT, simulated: false, codeVersion: 'bench' };
  const begun = process.cpuUsage();
  const model = await trainModel(read.rows, order);
  const { user, system } = process.cpuUsage(begun);
  say('');
  for (const line of cardLines(artefactOf(model), { colour: false })) say(line);
  say(`Trained and tested in ${((user + system) / 1e6).toFixed(1)} s of processor time.`);
  await sayWithdrawals(model, read.rows, draws);
  if (shuffles === 0) return;
  let levels = 0;
  for (let trial = 0; trial < shuffles; trial += 1) {
    const { card } = await trainModel(shuffleFates(read.rows, 1_000 + trial), order);
    if (card.level !== null) levels += 1;
  }
  say(`Of ${shuffles} shuffles of the fates ${levels} give a level.`);
}

/** The last two months of the file are the test. */
const SPLIT = startOfDay('2021-05-01');

const { values } = parseArgs({
  options: {
    layout: { type: 'string' },
    shuffles: { type: 'string', default: '0' },
    draws: { type: 'string', default: '0' },
  },
});
if (!existsSync(EVM_LAUNCHES)) {
  say('No recorded launches: EXHIBIT_TEST_DATA names the folder that has launches-evm/.');
} else if (values.layout !== undefined) {
  await writeFile(values.layout, await evmLaunchLayout());
  say(`Written to ${values.layout}.`);
} else {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-bench-model-'));
  const file = join(folder, 'launches.csv');
  await writeFile(file, await evmLaunchLayout());
  await measure(file, Number(values.shuffles), Number(values.draws));
  await rm(folder, { recursive: true });
}
