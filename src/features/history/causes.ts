// Why was a walk not taken to its end? Gathers every cause, so that none hides another.
// It refuses to grow with the walk: of causes of one code the first is told and the rest counted.

import type { ReasonCode, Why } from '../../evidence/reasons.ts';

/** One kind of cause: the first that was met, and how many there were. */
export type Cause = { readonly why: Why; readonly count: number };

/** The causes of one walk, in the order in which their codes were first met. */
export type Causes = Map<ReasonCode, Cause>;

/** Adds a cause. */
export function addCause(causes: Causes, why: Why): void {
  const before = causes.get(why.code);
  causes.set(why.code, before === undefined ? { why, count: 1 } : again(before));
}

function again({ why, count }: Cause): Cause {
  return { why, count: count + 1 };
}

/** The causes as one text for people. */
export function causesText(causes: readonly Cause[]): string {
  return causes
    .map(({ why, count }) =>
      count === 1 ? why.reason : `${why.reason} (and ${count - 1} more so)`,
    )
    .join(' ');
}
