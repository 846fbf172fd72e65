// What the world's GoPlus and RugCheck hold of its launches. GoPlus knows nearly always which die;
// RugCheck cries wolf, and warns of nearly every launch.

import { createHash } from 'node:crypto';
import { evmLaunchAt } from './evm-launches.ts';
import { WORLD_SEED } from './listed-parties.ts';
import type { RiskOpinion } from './token-risk-api.ts';

/** GoPlus is wrong of one launch in so many, and knows nothing of one in so many. */
const WRONG_EVERY = 7;
const UNKNOWN_EVERY = 11;
/** RugCheck is calm about one launch in so many. */
const CALM_EVERY = 10;

export const WORLD_OPINIONS = {
  goplus: (contract: string): RiskOpinion => {
    const launch = evmLaunchAt(contract);
    if (launch === undefined || draw(contract) % UNKNOWN_EVERY === 0) return 'unknown';
    const dies = launch.diesAt !== null;
    return dies !== (draw(contract) % WRONG_EVERY === 0) ? 'bad' : 'good';
  },
  rugcheck: (mint: string): RiskOpinion => (draw(mint) % CALM_EVERY === 0 ? 'good' : 'bad'),
};

/** A number that a name always gives. */
function draw(name: string): number {
  return createHash('sha256').update(`${WORLD_SEED}\nopinions\n${name}`).digest().readUInt32BE(0);
}
