// What an instrument is, from what its venue tells now and has told before. One that does not move
// and pays no funding for a day is frozen, and one that was listed and is not any more was taken
// off: their prices and rates are unmeasured, not flat and not zero.

import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import type { InstrumentState, Listing, MarkPrice } from '../../ports/series.ts';

/** A listed instrument whose price stands still for so long, at a rate of zero, is frozen. */
export const FROZEN_AFTER_MS = DAY_S * MS_PER_S;

/** What was seen of an instrument up to now. */
export type Seen = {
  readonly state: Listing['state'];
  /** The last price that was told; `null`: none ever was. */
  readonly price: string | null;
  /** Since when it is that price, as far as is known, in milliseconds. */
  readonly unmoved_since: number;
};

/** What an instrument is now, given what was seen of it before; `null`: nothing was. */
export function judgeInstrument(told: InstrumentState, at: number, before: Seen | null): Seen {
  const price = told.price === null ? lastPrice(before) : told.price;
  const isUnmoved = before !== null && before.price === price;
  const unmoved_since = isUnmoved ? before.unmoved_since : at;
  return { state: stateOf(told, at - unmoved_since, before), price, unmoved_since };
}

function lastPrice(before: Seen | null): string | null {
  return before === null ? null : before.price;
}

function stateOf(
  { state, price, funding_rate }: InstrumentState,
  unmovedMs: number,
  before: Seen | null,
): Listing['state'] {
  // A venue may drop what it takes off from its list.
  if (state === 'absent') return isKnown(before) ? 'delisted' : 'absent';
  if (state !== 'trading') return state;
  if (price === null) return 'frozen';
  const isStill = unmovedMs >= FROZEN_AFTER_MS && Number(funding_rate) === 0;
  return isStill ? 'frozen' : 'trading';
}

function isKnown(before: Seen | null): boolean {
  return before !== null && before.state !== 'absent';
}

/** What was seen, from the last listing that is kept and the newest marks, in the order of time. */
export function recallSeen({ at, state, price }: Listing, marks: readonly MarkPrice[]): Seen {
  const last = marks.at(-1);
  // One that is frozen had stood still for long when it was called so.
  if (state === 'frozen') return { state, price, unmoved_since: at - FROZEN_AFTER_MS };
  if (state !== 'trading' || last === undefined) return { state, price, unmoved_since: at };
  const moved = marks.findLastIndex((one) => one.price !== last.price);
  const first = marks[moved + 1];
  return { state, price: last.price, unmoved_since: first === undefined ? last.at : first.at };
}
