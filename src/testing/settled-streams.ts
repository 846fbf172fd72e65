// Launches as they settle, one after the other, and after which of them the flags of their model
// are withdrawn: what the control store counts, counted in memory.

import { tally } from '../evidence/measure.ts';
import { sharesFrom } from '../evidence/random.ts';
import { driftReason } from '../features/rugs/scoring.ts';
import {
  DRIFT_DEPLOYERS,
  DRIFT_FLAGS,
  DRIFT_FLAGS_OF_ONE,
  type FlagFates,
  type FlagLevel,
} from '../ports/rug-model.ts';

/** A launch whose horizon has passed. */
export type SettledLaunch = {
  readonly deployer: number;
  readonly flagged: boolean;
  readonly died: boolean;
};

/** What is counted once so many of these have settled, the oldest first. */
export function fatesOf(stream: readonly SettledLaunch[], until = stream.length): FlagFates {
  const flags: SettledLaunch[] = [];
  const ofOne = new Map<number, number>();
  const [flagged, passed] = [new Map<number, boolean>(), new Map<number, boolean>()];
  for (let at = until - 1; at >= 0; at -= 1) {
    const one = stream[at];
    if (one === undefined || flagged.size === DRIFT_DEPLOYERS) break;
    const { deployer, died } = one;
    if (one.flagged) {
      tally(ofOne, deployer);
      if (Number(ofOne.get(deployer)) <= DRIFT_FLAGS_OF_ONE && flags.length < DRIFT_FLAGS)
        flags.push(one);
    }
    const side = one.flagged ? flagged : flagged.size > 0 ? passed : null;
    if (side !== null && !side.has(deployer)) side.set(deployer, died);
  }
  const countDied = (fates: readonly boolean[]) => {
    return { settled: fates.length, died: fates.filter(Boolean).length };
  };
  return {
    ...countDied(flags.map(({ died }) => died)),
    unknown: 0,
    deployers: {
      flagged: countDied([...flagged.values()]),
      passed: countDied([...passed.values()]),
    },
  };
}

/** After how many flags those of a model are withdrawn; `null`: after none of these. */
export function withdrawnAfter(
  level: FlagLevel,
  stream: readonly SettledLaunch[],
): { readonly flags: number; readonly reason: string } | null {
  let flags = 0;
  for (const [at, { flagged }] of stream.entries()) {
    if (!flagged) continue;
    flags += 1;
    if (flags < DRIFT_FLAGS) continue;
    const reason = driftReason('rug-2-a', level, fatesOf(stream, at + 1));
    if (reason !== null) return { flags, reason };
  }
  return null;
}

/** The same launches with the flags of one another: those of a model no better than chance. */
export function shuffleFlags(stream: readonly SettledLaunch[], seed: number): SettledLaunch[] {
  const draw = sharesFrom(seed);
  const order = stream.map((_, at) => [draw(), at] as const).sort(([a], [b]) => a - b);
  return stream.map((one, at) => {
    return { ...one, flagged: stream[Number(order[at]?.[1])]?.flagged === true };
  });
}

/** Launches of which flagged and passed ones die with these chances, mostly of one deployer. */
export function inventStream(
  flags: number,
  { flagged: often, passed: seldom }: { readonly flagged: number; readonly passed: number },
  seed: number,
): SettledLaunch[] {
  const draw = sharesFrom(seed);
  const stream: SettledLaunch[] = [];
  for (let count = 0, deployer = 0; count < flags; ) {
    if (draw() < 0.8) deployer += 1;
    const flagged = draw() < 0.57;
    if (flagged) count += 1;
    stream.push({ deployer, flagged, died: draw() < (flagged ? often : seldom) });
  }
  return stream;
}
