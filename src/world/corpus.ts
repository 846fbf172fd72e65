// The launches that the simulated world has seen on Solana, as JSON lines in the importer's format.
// The same for the same seed and hour; they move with the clock, so that some are never settled.
// About a third of the wallets have lost every token, the rest have a mixed record.

import { createHash } from 'node:crypto';
import { DAY_S, formatIsoTime, HOUR_S } from '../chain/time.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';

const WALLETS = 800;
const LAUNCHES_PER_WALLET_MAX = 12;
/** Launches reach back so far. */
const SPAN_S = 60 * DAY_S;
/** Every third wallet has lost every token that it launched. */
const FLAGGED_EVERY = 3;
/** Of four settled launches of the other wallets one is still listed; each has one such. */
const LISTED_EVERY = 4;
/** The share of launches whose listing was never found out, one in so many. */
const UNKNOWN_EVERY = 40;

/** The first launch of the wallets of the sandbox, in Unix seconds. */
const SANDBOX_LAUNCHED = Date.UTC(2026, 0, 15) / 1_000;

/** The wallets that the documentation names, and what stands on record of them. */
export const SANDBOX_LAUNCHERS = {
  /** Every settled launch died. */
  flagged: inventAddress(WORLD_SEED, 'solana', 'sandbox launcher flagged'),
  /** Some settled launches are still listed. */
  record: inventAddress(WORLD_SEED, 'solana', 'sandbox launcher record'),
  /** Launched an hour ago: nothing has settled. */
  unsettled: inventAddress(WORLD_SEED, 'solana', 'sandbox launcher unsettled'),
} as const;

/** The launch corpus of the simulated world at a time (Unix seconds), one JSON object a line. */
export function worldCorpusLines(now: number, seed: string): string {
  const hour = Math.floor(now / HOUR_S) * HOUR_S;
  const { flagged, record, unsettled } = SANDBOX_LAUNCHERS;
  const newest = mintOf(WORLD_SEED, unsettled, `of hour ${hour}`);
  const lines = [
    ...sandboxLines(flagged, [false, false, false], hour),
    ...sandboxLines(record, [false, true, false, false], hour),
    line(newest, unsettled, hour - HOUR_S, null, hour),
    ...Array.from({ length: WALLETS }, (_, i) => walletLines(seed, i, hour)).flat(),
  ];
  return `${lines.join('\n')}\n`;
}

/** Hours for which the venue is asked about the sandbox launcher's tokens, and a few more. */
const WAITING_HOURS = 80;

/** Whether a mint is one of the sandbox launcher whose launches never settle. */
export function waitsForEver(mint: string, now: number): boolean {
  const hour = Math.floor(now / HOUR_S) * HOUR_S;
  return Array.from({ length: WAITING_HOURS }, (_, i) => hour - i * HOUR_S).some(
    (at) => mint === mintOf(WORLD_SEED, SANDBOX_LAUNCHERS.unsettled, `of hour ${at}`),
  );
}

function sandboxLines(wallet: string, listed: readonly boolean[], hour: number): string[] {
  return listed.map((one, i) =>
    line(mintOf(WORLD_SEED, wallet, `${i}`), wallet, SANDBOX_LAUNCHED + i * DAY_S, one, hour),
  );
}

function walletLines(seed: string, wallet: number, hour: number): string[] {
  const deployer = inventAddress(seed, 'solana', `launcher ${wallet}`);
  const count = 1 + (draw(seed, `launches of ${wallet}`) % LAUNCHES_PER_WALLET_MAX);
  return Array.from({ length: count }, (_, i) => {
    const ago = draw(seed, `launch ${wallet} ${i}`) % SPAN_S;
    // A launch grows older hour by hour; past the span another token takes its place.
    const launched = hour - ((ago + hour) % SPAN_S);
    const mint = mintOf(seed, deployer, `${i} of ${Math.floor((ago + hour) / SPAN_S)}`);
    const known = draw(seed, `known ${wallet} ${i}`) % UNKNOWN_EVERY !== 0;
    const settled = hour - launched >= DAY_S;
    const listed = wallet % FLAGGED_EVERY !== 0 && i % LISTED_EVERY === 0;
    return line(mint, deployer, launched, known && settled ? listed : null, hour);
  });
}

function mintOf(seed: string, deployer: string, launch: string): string {
  return inventAddress(seed, 'solana', `mint ${deployer} ${launch}`);
}

function line(
  mint: string,
  deployer: string,
  launched: number,
  listed_after_window: boolean | null,
  checked: number,
): string {
  const launched_at = formatIsoTime(launched);
  const known = Math.min(checked, launched + SETTLED_AFTER_S);
  const last_checked_at = formatIsoTime(listed_after_window === null ? checked : known);
  return JSON.stringify({ mint, deployer, launched_at, listed_after_window, last_checked_at });
}

/** How long after its launch it is known what became of a token. */
const SETTLED_AFTER_S = DAY_S + HOUR_S;

/** A number that a seed and a name always give. */
function draw(seed: string, name: string): number {
  return createHash('sha256').update(`${seed}\n${name}`).digest().readUInt32BE(0);
}
