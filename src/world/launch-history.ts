// The launches that the simulated world has seen on Ethereum, in the training layout of the rug
// model. They lie between fixed days and are drawn by the seed alone, so that the model trained on
// them is the same on every start. Like those of the live schedule, every third deployer loses all
// of its launches, and half of the others' live.

import { createHash } from 'node:crypto';
import { DAY_S, formatIsoDate, HOUR_S } from '../chain/time.ts';
import { inventAddress } from './made-up-address.ts';

const DEPLOYERS = 200;
const LAUNCHES_EACH = 8;
const FIRST = Date.UTC(2026, 0, 1) / 1_000;
const LAST = Date.UTC(2026, 8, 1) / 1_000;
const OBSERVED_UNTIL = Date.UTC(2026, 9, 1) / 1_000;
const LOSES_EVERY = 3;
/** US dollars on both sides of a pool at launch: at least so much, and less than so much more. */
const POOLED_USD = {
  dies: { least: 2_000, more: 12_000 },
  lives: { least: 3_000, more: 12_000 },
} as const;
/** Between two launches of a deployer lie so many seconds, drawn by their logarithm. */
const GAP_S = { least: 1_200, most: 4 * DAY_S };

/** The horizon in hours within which a dying launch dies here. */
export const WORLD_HORIZON_H = 4;

const COLUMNS = 'chain,token,deployer,launched_at,outcome,died_at,observed_until,liquidity_usd';

export function worldLaunchHistoryCsv(seed: string): string {
  const rows = Array.from({ length: DEPLOYERS }, (_, at) => launchesOf(seed, at)).flat();
  return `${[COLUMNS, ...rows].join('\n')}\n`;
}

function launchesOf(seed: string, at: number): string[] {
  const deployer = inventAddress(seed, 'evm', `history deployer ${at}`);
  const share = drawer(seed, `history of ${at}`);
  const until = formatIsoDate(OBSERVED_UNTIL);
  let launchedAt = FIRST + Math.floor(share() * (LAST - FIRST));
  return Array.from({ length: LAUNCHES_EACH }, (_, launch) => {
    const token = inventAddress(seed, 'evm', `history token ${at} ${launch}`);
    const lives = at % LOSES_EVERY !== 0 && share() < 1 / 2;
    const diedAt = Math.floor(launchedAt + HOUR_S / 4 + share() * 3 * HOUR_S);
    const fate = lives ? ['live', ''] : ['died', diedAt];
    const { least, more } = lives ? POOLED_USD.lives : POOLED_USD.dies;
    const pooled = least + share() * more;
    const told = [token, deployer, launchedAt, ...fate, until, Math.round(pooled)];
    const row = ['ethereum', ...told].join(',');
    launchedAt += Math.floor(GAP_S.least * (GAP_S.most / GAP_S.least) ** share());
    return row;
  });
}

/** Shares from 0 to below 1, one after the other, that a seed and a name always give. */
function drawer(seed: string, name: string): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    const hash = createHash('sha256').update(`${seed}\n${name}\n${drawn}`).digest();
    return hash.readUInt32BE(0) / 2 ** 32;
  };
}
