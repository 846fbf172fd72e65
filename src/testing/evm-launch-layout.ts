// Converts the recorded Uniswap launches into the training layout of the rug model, at a stated
// price of ether and a stated level. Only the liquidity at launch is known of a launch; its block
// gives a time at or before the true one, so that no death is seen too early.

import { readFile } from 'node:fs/promises';
import { DAY_S, startOfDay } from '../chain/time.ts';
import { csvLines } from '../sources/files/csv.ts';
import { EVM_LAUNCHES, STATED } from './evm-launches.ts';

/** Fewer seconds than blocks took in any of the months of the file: 13 and more. */
const BLOCK_S = 12.5;
/** The day on which the pools of the file were looked at last. */
const SNAPSHOT_DAY = '2021-11-15';
const ETHER_DIGITS = 18;
const COLUMNS = [
  ...['deployer', 'token', 'created_block', 'created_date', 'first_eth_liquidity'],
  ...['last_tx_ts', 'reserve_eth_at_snapshot', 'rug_ts', 'eth_after'],
] as const;

/** The file in the training layout, as CSV. */
export async function evmLaunchLayout(): Promise<string> {
  const [heading, ...lines] = csvLines(await readFile(EVM_LAUNCHES, 'utf8'));
  const places = COLUMNS.map((name) => Number(heading?.cells.indexOf(name)));
  const rows = lines.map(({ cells }) => places.map((at) => String(cells[at])) as Cells);
  const first = new Map<string, number>();
  for (const [, , block, day] of rows) {
    const before = first.get(day);
    first.set(day, Math.min(before === undefined ? Infinity : before, Number(block)));
  }
  const written = rows.map((cells) => {
    const [deployer, token, block, day, eth] = cells;
    const into = Math.floor(BLOCK_S * (Number(block) - Number(first.get(day))));
    const launchedAt = startOfDay(day) + Math.min(into, DAY_S - 1);
    const { outcome, diedAt } = fateOf(cells);
    const liquidity = 2 * Number(eth) * STATED.ethUsd;
    // Some amounts stand as powers of ten.
    const ether = eth.includes('e') ? Number(eth).toFixed(ETHER_DIGITS) : eth;
    const told = [token, deployer, launchedAt, liquidity, ether, outcome, diedAt, SNAPSHOT_DAY];
    return ['ethereum', ...told].join(',');
  });
  const columns =
    'token,deployer,launched_at,liquidity_usd,ether_pooled,outcome,died_at,observed_until';
  return `${[`chain,${columns}`, ...written].join('\n')}\n`;
}

type Cells = [
  deployer: string,
  token: string,
  block: string,
  day: string,
  eth: string,
  lastTx: string,
  reserve: string,
  rugAt: string,
  after: string,
];

/** The outcome follows from the reserve at the snapshot; the death is dated by what emptied it. */
function fateOf([, , , , , lastTx, reserve, rugAt, after]: Cells) {
  const outcome = isUnder(reserve) ? 'died' : 'live';
  if (rugAt !== '0' && isUnder(after)) return { outcome, diedAt: rugAt };
  // After its last transaction a pool holds what it holds at the snapshot.
  return { outcome, diedAt: outcome === 'died' ? lastTx : '' };
}

/** Both sides of a pool are worth the same. */
function isUnder(eth: string): boolean {
  return 2 * Number(eth) * STATED.ethUsd < STATED.exitLiquidityUsd;
}
