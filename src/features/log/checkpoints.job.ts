import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import type { LogWitness } from '../../ports/transparency-log.ts';
import { askWitnesses, type LogParts, type RoundEnd, signOnce } from './checkpoints.ts';

type Rounds = LogParts &
  RoundPace<Pick<Why, 'reason'>> & {
    readonly witnesses: readonly LogWitness[];
    /** The longest that the witnesses of one round may take. */
    readonly witnessMs: number;
  };

/** Signs the log round after round until it is stopped. */
export function signRounds(parts: Rounds): BoundedTask {
  return repeatRounds(parts, async (signal) => {
    const refused = reasonOf(await signOnce(parts));
    const timed = AbortSignal.any([signal, AbortSignal.timeout(parts.witnessMs)]);
    const faults = await askWitnesses(parts, parts.witnesses, timed);
    const all = refused === null ? faults : [refused, ...faults];
    return all.length === 0 ? null : { reason: all.join(' ') };
  });
}

function reasonOf(end: RoundEnd): string | null {
  return end.kind === 'frozen' || end.kind === 'unread' ? end.why.reason : null;
}
