// Answers one question: may one more request be under way now, for the process and for whom it is.
// It counts and never waits: one too many is refused at once, and told when to come again.

import type { Admission, Gate } from '../access/gate.ts';
import { quotaSpent } from '../access/quota.ts';
import { Refusal } from '../contract/refusals.ts';

/** Requests under way at once in one server, whoever asks. */
export const REQUESTS_MAX = 2_048;
/** Of them, with one allowance, however much of it is left. */
export const OF_ONE_ALLOWANCE_MAX = 256;
/** Of them, of one route, where no allowance bounds them. */
export const UNCHARGED_OF_ONE_ROUTE_MAX = 256;

/** The requests under way. What has begun must end, once. */
export type UnderWay = {
  /** Begins one of a route, or says why not. */
  readonly begin: (by: Admission, route: string) => Refusal | null;
  readonly end: (by: Admission, route: string) => void;
};

/** Counts the requests under way of one server. */
export function requestsUnderWay(gate: Gate | null): UnderWay {
  let all = 0;
  const counts = new Map<string, number>();

  const begin = (by: Admission, route: string): Refusal | null => {
    const name = nameOf(by, route);
    const counted = counts.get(name);
    const mine = counted === undefined ? NONE : counted;
    const refusal = refusalOf(by, gate, all, mine);
    if (refusal !== null) return refusal;
    all += 1;
    counts.set(name, mine + 1);
    return null;
  };

  const end = (by: Admission, route: string): void => {
    const name = nameOf(by, route);
    const mine = counts.get(name);
    if (mine === undefined) throw new Error(`${route}: ended, and was not under way`);
    all -= 1;
    if (mine === 1) counts.delete(name);
    else counts.set(name, mine - 1);
  };

  return { begin, end };
}

const NONE = 0;

// An allowance is named with a colon inside, a route never.
function nameOf(by: Admission, route: string): string {
  return by.kind === 'admitted' ? by.credential.allowance.allowance.subject : route;
}

function refusalOf(by: Admission, gate: Gate | null, all: number, mine: number): Refusal | null {
  if (all >= REQUESTS_MAX) return overloaded(BUSY);
  if (by.kind === 'uncharged') return mine < UNCHARGED_OF_ONE_ROUTE_MAX ? null : overloaded(BUSY);
  if (mine >= OF_ONE_ALLOWANCE_MAX) return overloaded(asManyAs(mine));
  // Each of them may be charged: no more begin than can be paid for.
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  const left = gate.left(by);
  if (mine < left) return null;
  return left === 0 ? quotaSpent(by.credential.allowance) : overloaded(spokenFor(left));
}

const BUSY = 'Too many requests at once; try again in a second.';

function asManyAs(count: number): string {
  return `${count} requests with this allowance are under way at once; try again in a second.`;
}

function spokenFor(left: number): string {
  return (
    `The ${left} requests that this allowance has left are under way; try again in a second. ` +
    'Nothing was charged.'
  );
}

function overloaded(error: string): Refusal {
  return new Refusal('overloaded', { error }, { 'retry-after': '1' });
}
