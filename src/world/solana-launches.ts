// The schedule of launches on the simulated Solana, with their outcomes. One launch every two
// minutes, the same for the same seed: most are gone within hours, some of each wallet's live on,
// and a third of the wallets lose all of their launches.

import { createHash } from 'node:crypto';
import { DAY_S, HOUR_S } from '../chain/time.ts';
import { waitsForEver } from './corpus.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import type { WorldPool } from './venue-api.ts';

/** Seconds between two launches. */
export const LAUNCH_EACH_S = 120;
/** Launches reach back so far; the venue forgets what is older. */
export const LAUNCHES_SPAN_S = 26 * HOUR_S;
const KNOWN_SPAN_S = 3 * DAY_S;
const WALLETS = 60;
/** Every third wallet loses all that it launches; of the others' launches every fourth lives. */
const FLAGGED_EVERY = 3;
const LIVES_EVERY = 4;

/** The instructions that the world's wallets launch with. */
export const LAUNCH_KINDS = [
  'pump_create',
  'pump_create_v2',
  'raydium_v4',
  'raydium_cpmm',
  'meteora_damm_v2',
  'meteora_dlmm',
] as const;
export type LaunchKind = (typeof LAUNCH_KINDS)[number];

/** A launch of the simulated Solana. */
export type WorldLaunch = {
  readonly n: number;
  readonly kind: LaunchKind;
  readonly at: number;
  readonly mint: string;
  readonly deployer: string;
  readonly signature: string;
  /** When its liquidity is taken out; `null`: it lives on. */
  readonly diesAt: number | null;
};

/** The launch of a number: that of the two minutes which begin at its time. */
export function worldLaunch(n: number): WorldLaunch {
  const known = MADE.get(n);
  if (known !== undefined) return known;
  const wallet = draw(`wallet ${n}`) % WALLETS;
  const at = n * LAUNCH_EACH_S;
  const lives = wallet % FLAGGED_EVERY !== 0 && draw(`lives ${n}`) % LIVES_EVERY === 0;
  const made: WorldLaunch = {
    n,
    kind: kindOf(draw(`kind ${n}`)),
    at,
    mint: inventAddress(WORLD_SEED, 'solana', `launched mint ${n}`),
    deployer: inventAddress(WORLD_SEED, 'solana', `launcher ${wallet}`),
    signature: signatureOf(n),
    diesAt: lives ? null : at + HOUR_S + (draw(`dies ${n}`) % (20 * HOUR_S)),
  };
  if (MADE.size >= KEPT_MAX) MADE.clear();
  MADE.set(n, made);
  return made;
}

const MADE = new Map<number, WorldLaunch>();
const KEPT_MAX = 20_000;

/** The launches between two times, the newest first. */
export function worldLaunchesIn(from: number, to: number): WorldLaunch[] {
  const launches: WorldLaunch[] = [];
  const first = Math.ceil(from / LAUNCH_EACH_S);
  for (let n = Math.floor(to / LAUNCH_EACH_S); n >= first; n -= 1) launches.push(worldLaunch(n));
  return launches;
}

/** The pools of a mint at the simulated venue at a time. */
export function launchPoolsAt(mint: string, now: number): readonly WorldPool[] {
  const found = worldLaunchesIn(now - KNOWN_SPAN_S, now).find((one) => one.mint === mint);
  if (found === undefined) {
    const untold: WorldPool = {
      side: 'base',
      liquidityUsd: null,
      volumeUsd24h: null,
      dex: 'raydium',
    };
    return waitsForEver(mint, now) ? [untold] : [];
  }
  const { kind, diesAt, n } = found;
  const curve = kind === 'pump_create' || kind === 'pump_create_v2';
  const isGone = diesAt !== null && diesAt <= now;
  // A launchpad's curve stays listed, and the venue tells no liquidity of it.
  const began: WorldPool[] = curve
    ? [{ side: 'base', liquidityUsd: null, volumeUsd24h: 0, dex: 'pumpfun' }]
    : [];
  if (isGone && curve) return began;
  const liquidityUsd = isGone ? draw(`left ${n}`) % 400 : 4_000 + (draw(`in ${n}`) % 90_000);
  const dex = curve ? 'pumpswap' : String(kind.split('_')[0]);
  return [...began, { side: 'base', liquidityUsd, volumeUsd24h: isGone ? 0 : 1_250.5, dex }];
}

function kindOf(drawn: number): LaunchKind {
  // Two of three are pump.fun's, as on the real chain most are.
  const kind = LAUNCH_KINDS[drawn % 3 === 0 ? 2 + (drawn % 4) : drawn % 2];
  if (kind === undefined) throw new Error('a launch without a kind');
  return kind;
}

const SIGNATURE_CHARS = 87;

function signatureOf(n: number): string {
  const halves = ['a', 'b'].map((half) => inventAddress(WORLD_SEED, 'solana', `tx ${n} ${half}`));
  return halves.join('').padEnd(SIGNATURE_CHARS, '1');
}

/** A number that a name always gives. */
function draw(name: string): number {
  return createHash('sha256').update(`${WORLD_SEED}\nlaunches\n${name}`).digest().readUInt32BE(0);
}
