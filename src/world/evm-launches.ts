// The schedule of launches on the simulated Ethereum, with their outcomes. A launch every twenty
// minutes, the same for the same seed. A wallet launches six times and is followed by another;
// every third loses all of its launches, and some of the others' live.

import { createHash } from 'node:crypto';
import { HOUR_S } from '../chain/time.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import type { WorldPool } from './venue-api.ts';

const LAUNCH_EACH_S = 1_200;
const LAUNCHES_OF_A_WALLET = 6;
const LOSES_EVERY = 3;
const LIVES_EVERY = 2;

/** A launch of the simulated Ethereum. */
export type EvmLaunch = {
  readonly n: number;
  readonly at: number;
  readonly address: string;
  readonly maker: string;
  readonly tx: string;
  /** When its liquidity is taken out; `null`: it lives on. */
  readonly diesAt: number | null;
  /** Its pool on the exchange, and the transaction in which its maker put ether in, in wei. */
  readonly pool: string;
  readonly poolTx: string;
  readonly poolWei: bigint;
};

/** The launch of a number, which is told from its time on. */
function launchOf(n: number): EvmLaunch {
  const known = MADE.get(n);
  if (known !== undefined) return known;
  const wallet = Math.floor(n / LAUNCHES_OF_A_WALLET);
  const at = n * LAUNCH_EACH_S;
  const lives = wallet % LOSES_EVERY !== 0 && draw(`lives ${n}`) % LIVES_EVERY === 0;
  const { least, more } = lives ? POOLED_GWEI.lives : POOLED_GWEI.dies;
  const made: EvmLaunch = {
    n,
    at,
    address: inventAddress(WORLD_SEED, 'evm', `launched contract ${n}`),
    maker: inventAddress(WORLD_SEED, 'evm', `contract launcher ${wallet}`),
    tx: `0x${digest(`tx ${n}`).toString('hex')}`,
    diesAt: lives ? null : at + HOUR_S / 4 + (draw(`dies ${n}`) % (3 * HOUR_S)),
    pool: inventAddress(WORLD_SEED, 'evm', `pool of launch ${n}`),
    poolTx: `0x${digest(`pool tx ${n}`).toString('hex')}`,
    poolWei: BigInt(least + (draw(`pooled ${n}`) % more)) * GWEI,
  };
  MADE.set(n, made);
  BY_ADDRESS.set(made.address, made);
  BY_TX.set(made.tx, made);
  BY_TX.set(made.poolTx, made);
  BY_POOL.set(made.pool, made);
  return made;
}

const MADE = new Map<number, EvmLaunch>();
const BY_ADDRESS = new Map<string, EvmLaunch>();
const BY_POOL = new Map<string, EvmLaunch>();
const BY_TX = new Map<string, EvmLaunch>();
/** Of the ether with which a pool begins: at least so much, and less than so much more. */
const POOLED_GWEI = {
  dies: { least: 500_000_000, more: 3_000_000_000 },
  lives: { least: 750_000_000, more: 3_000_000_000 },
} as const;
const GWEI = 10n ** 9n;

/** The launches after one time and up to another, oldest first. */
export function evmLaunchesIn(after: number, to: number): EvmLaunch[] {
  const first = Math.floor(after / LAUNCH_EACH_S) + 1;
  const count = Math.max(0, Math.floor(to / LAUNCH_EACH_S) - first + 1);
  return Array.from({ length: count }, (_, i) => launchOf(first + i));
}

/** A launch that was told of, by its contract in lower case. */
export function evmLaunchAt(address: string): EvmLaunch | undefined {
  return BY_ADDRESS.get(address);
}

/** A launch that was told of, by its pool in lower case. */
export function evmLaunchOfPool(pool: string): EvmLaunch | undefined {
  return BY_POOL.get(pool);
}

/** A launch that was told of, by the transaction that made it or filled its pool. */
export function evmLaunchOfTx(tx: string): EvmLaunch | undefined {
  return BY_TX.get(tx);
}

/** The pools of a launch at the simulated venue at a time. */
export function evmLaunchPools(
  { n, at, pool, diesAt }: EvmLaunch,
  now: number,
): readonly WorldPool[] {
  const isGone = diesAt !== null && diesAt <= now;
  const liquidityUsd = isGone ? draw(`left ${n}`) % 300 : 8_000 + (draw(`in ${n}`) % 120_000);
  const told = { side: 'base', liquidityUsd, volumeUsd24h: isGone ? 0 : 900.25 } as const;
  return [{ ...told, address: pool, createdAt: at }];
}

function digest(name: string): Buffer {
  return createHash('sha256').update(`${WORLD_SEED}\nevm launches\n${name}`).digest();
}

/** A number that a name always gives. */
function draw(name: string): number {
  return digest(name).readUInt32BE(0);
}
