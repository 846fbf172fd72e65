import { MS_PER_S } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, untilStopped } from '../../evidence/waiting.ts';
import type { LogWitness } from '../../ports/transparency-log.ts';
import { askWitnesses, type LogParts, type RoundEnd, signOnce } from './checkpoints.ts';

type Rounds = LogParts & {
  readonly witnesses: readonly LogWitness[];
  readonly everyS: number;
  /** The longest that the witnesses of one round may take. */
  readonly witnessMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFault: (why: Pick<Why, 'reason'>) => void;
  readonly onBug: (fault: unknown) => void;
};

/** Signs the log round after round until it is stopped. */
export function signRounds(parts: Rounds): BoundedTask {
  return untilStopped(async (signal) => {
    let before: string | null = null;
    const report = (reason: string | null): void => {
      // A lasting fault is logged once, not at every round.
      if (reason !== null && reason !== before) parts.onFault({ reason });
      before = reason;
    };
    while (!signal.aborted) {
      try {
        const end = await signOnce(parts);
        const refused = reasonOf(end);
        const timed = AbortSignal.any([signal, AbortSignal.timeout(parts.witnessMs)]);
        const faults = await askWitnesses(parts, parts.witnesses, timed);
        const all = refused === null ? faults : [refused, ...faults];
        report(all.length === 0 ? null : all.join(' '));
      } catch (error) {
        parts.onBug(error);
      }
      await parts.sleep(parts.everyS * MS_PER_S, signal);
    }
  });
}

function reasonOf(end: RoundEnd): string | null {
  return end.kind === 'frozen' || end.kind === 'unread' ? end.why.reason : null;
}
