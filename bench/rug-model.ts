// Without the recorded launches there is nothing to measure, and it says so.

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startOfDay } from '../src/chain/time.ts';
import { cardLines } from '../src/command/model-card-text.ts';
import { tally } from '../src/evidence/measure.ts';
import { artefactOf } from '../src/features/rug-model/artefact.ts';
import { trainingFile } from '../src/features/rug-model/examples.ts';
import { DEFAULTS, trainModel } from '../src/features/rug-model/train.ts';
import { localTableFiles } from '../src/sources/files/files.ts';
import { evmLaunchLayout } from '../src/testing/evm-launch-layout.ts';
import { EVM_LAUNCHES, readLaunches, STATED } from '../src/testing/evm-launches.ts';
import { shuffleFates } from '../src/testing/rug-models.ts';

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

async function measure(file: string, shuffles: number): Promise<void> {
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
  options: { layout: { type: 'string' }, shuffles: { type: 'string' } },
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
  await measure(file, values.shuffles === undefined ? 0 : Number(values.shuffles));
  await rm(folder, { recursive: true });
}
