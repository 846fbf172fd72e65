// Argument: --data DIR, the recorded token network; without it that part is left out, and said so.
// It prints precision, recall and their intervals, and exits 1 where a number of the table of
// weights is not the measured one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wilsonInterval } from '../src/evidence/statistics.ts';
import { type KnownExchanges, OWN_RULE } from '../src/features/deposits/inference.ts';
import {
  CALIBRATION,
  NETWORK,
  POPULATION_SEED,
  RECALL,
} from '../src/features/entities/calibration.ts';
import {
  accountMeasures,
  type FormMeasure,
  type Measures,
  networkMeasures,
  type Recall,
  walletMeasures,
} from '../src/testing/entity-measures.ts';
import { networkAt } from './clusters-data.ts';

/** The file has blocks and no times: 24 hours at 15 seconds a block. */
const DAY_BLOCKS = 5_760;
const DIGITS = 3;
const DIFFERS = '  DIFFERS from the table of weights';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function shown({ right, n }: FormMeasure): string {
  const interval = wilsonInterval(right, n);
  if (interval === null) return 'nothing drawn';
  const ends = [interval.low, interval.high].map((end) => end.toFixed(DIGITS)).join('–');
  return `precision ${right} of ${n} (${ends})`;
}

function recallText(recall: Recall | undefined): string {
  if (recall === undefined) return 'recall not told';
  const interval = wilsonInterval(recall.found, recall.of);
  if (interval === null) return 'nothing to find';
  const ends = [interval.low, interval.high].map((end) => end.toFixed(DIGITS)).join('–');
  return `recall ${recall.found} of ${recall.of} (${ends})`;
}

/** Prints what was measured beside the table of weights; how many numbers of it differ. */
function sayForms(title: string, { forms, recall }: Measures): number {
  say('');
  say(title);
  let wrong = 0;
  for (const [heuristic, found] of recall) {
    const told = RECALL.find((one) => one.heuristic === heuristic);
    const isSame = told?.found === found.found && told.of === found.of;
    if (!isSame) wrong += 1;
    say(`  ${heuristic}: ${recallText(found)}${isSame ? '' : DIFFERS}`);
  }
  for (const { form, weight, basis, measured } of CALIBRATION) {
    const count = forms.get(form);
    if (count === undefined) continue;
    const isSame = measured?.right === count.right && measured.n === count.n;
    if (!isSame) wrong += 1;
    say(`  ${form}: ${shown(count)}; weight ${weight} (${basis})${isSame ? '' : DIFFERS}`);
  }
  return wrong;
}

async function network(data: string): Promise<number> {
  const files = { transfers: join(data, 'bionic.csv'), traces: join(data, 'bionictx.csv') };
  const read = await networkAt(files, join(data, 'exchanges.csv'), null);
  const hot = [...read.hotWallets].map(([one, exchange]) => {
    return [one, { exchange, role: 'hot' }] as const;
  });
  const known: KnownExchanges = { receivers: new Map(hot), owners: read.exchanges };
  const rule = { ...OWN_RULE, windowMax: DAY_BLOCKS };
  const told = networkMeasures(read.movements, known, rule);
  const { inferred, shared, later, pairs } = told;
  say('');
  say(`token network: ${inferred} inferred deposit addresses, ${shared} with several payers`);
  say(`  inferred by the first four fifths, all else to that exchange later: ${shown(later)}`);
  say(`  pairs of payers: ${pairs.joined} deal with each other or share another account,`);
  say(`  ${pairs.parted} have accounts apart at the same exchange, ${pairs.open} show neither`);
  const either = { right: pairs.joined, n: pairs.joined + pairs.parted };
  say(`  of those that show either: ${shown(either)}`);
  const isSame = JSON.stringify(told) === JSON.stringify(NETWORK);
  if (!isSame) say(`${DIFFERS}: ${JSON.stringify(told)}`);
  return isSame ? 0 : 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { data: { type: 'string' } } });
  let wrong = sayForms('simulated wallets of Bitcoin', walletMeasures(POPULATION_SEED));
  wrong += sayForms('simulated accounts', await accountMeasures(POPULATION_SEED));
  if (values.data === undefined || !existsSync(values.data)) {
    say('token network: left out; name its folder with --data');
  } else wrong += await network(values.data);
  if (wrong > 0) {
    say(`${wrong} numbers differ from the table of weights`);
    process.exitCode = 1;
  }
}

await main();
