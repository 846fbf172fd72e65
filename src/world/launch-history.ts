// Which launches has the simulated world seen on Ethereum, in the training layout of the rug model?
// They lie between fixed days and are drawn by the seed alone, so that the model that is trained on
// them is the same on every start. A third of the deployers let nearly every token die.

import { createHash } from 'node:crypto';
import { DAY_S, formatIsoDate, HOUR_S } from '../chain/time.ts';
import { madeUpAddress } from './made-up-address.ts';

const DEPLOYERS = 160;
const LAUNCHES_EACH_MAX = 9;
const FIRST = Date.UTC(2026, 0, 1) / 1_000;
const LAST = Date.UTC(2026, 8, 1) / 1_000;
const OBSERVED_UNTIL = Date.UTC(2026, 9, 1) / 1_000;
const RUGGER_EVERY = 3;

const COLUMNS = [
  ...['chain', 'token', 'deployer', 'launched_at', 'outcome', 'died_at', 'observed_until'],
  ...['liquidity_usd', 'holder_top10_share', 'owner_can_mint'],
];

/** The launches, as CSV. */
export function worldLaunchHistoryCsv(seed: string): string {
  const rows = Array.from({ length: DEPLOYERS }, (_, at) => launchesOf(seed, at)).flat();
  return `${[COLUMNS, ...rows].map((cells) => cells.join(',')).join('\n')}\n`;
}

function launchesOf(seed: string, at: number): (string | number)[][] {
  const deployer = madeUpAddress(seed, 'evm', `history deployer ${at}`);
  const share = drawer(seed, `history of ${at}`);
  const count = 1 + Math.floor(share() * LAUNCHES_EACH_MAX);
  const rugs = at % RUGGER_EVERY === 0;
  return Array.from({ length: count }, (_, launch) => {
    const token = madeUpAddress(seed, 'evm', `history token ${at} ${launch}`);
    const launchedAt = FIRST + Math.floor(share() * (LAST - FIRST));
    const liquidity = Math.round(2_000 * 10 ** (2 * share()));
    const top10 = (0.1 + 0.8 * share()).toFixed(2);
    const mints = share() < 0.3;
    const chance = rugs ? 0.95 : 0.15 + (liquidity < 10_000 ? 0.35 : 0) + (mints ? 0.2 : 0);
    const died = share() < chance;
    const diedAt = launchedAt + Math.floor(HOUR_S + share() ** 3 * 14 * DAY_S);
    const fate = died ? ['died', diedAt] : ['live', ''];
    const until = formatIsoDate(OBSERVED_UNTIL);
    return ['ethereum', token, deployer, launchedAt, ...fate, until, liquidity, top10, `${mints}`];
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
