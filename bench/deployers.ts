import { tally } from '../src/evidence/measure.ts';
import { recordFields } from '../src/features/deployers/record.ts';
import { readLaunches, STATED, walksOf } from '../src/testing/evm-launches.ts';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function count(value: number): string {
  return value.toLocaleString('en').padStart(8);
}

const rows = await readLaunches();
const cells = new Map<string, number>();
for (const { launch, isRugpull } of rows) tally(cells, `${launch.outcome} ${isRugpull}`);
const states = new Map<string, number>();
let listed = 0;
let died = 0;
for (const walk of walksOf(rows).values()) {
  const record = recordFields({ ...walk, failed: null }, walk.captured_at);
  tally(states, record.state);
  listed += record.listed_launches;
  died += record.died;
}

const cell = (outcome: string, verdict: boolean): number => {
  const held = cells.get(`${outcome} ${verdict}`);
  return held === undefined ? 0 : held;
};
const agree = cell('died', true) + cell('live', false);

say(`${rows.length} launches of ${walksOf(rows).size} deployers.`);
say(
  `Rule: died where 2 x reserve_eth_at_snapshot x ${STATED.ethUsd} USD is below ` +
    `${STATED.exitLiquidityUsd} USD. The file's is_rugpull decides nothing.`,
);
say('');
say('          is_rugpull      not');
say(`died      ${count(cell('died', true))} ${count(cell('died', false))}`);
say(`live      ${count(cell('live', true))} ${count(cell('live', false))}`);
say('');
say(`Agreement ${agree} of ${rows.length} (${((100 * agree) / rows.length).toFixed(2)}%).`);
say(`Deaths    ${died} of ${listed} listed launches (death_rate ${(died / listed).toFixed(4)}).`);
for (const [state, deployers] of [...states].sort())
  say(`${state.padEnd(9)} ${count(deployers)} deployers`);
