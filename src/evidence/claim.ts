// A claim is the only thing that a negative field takes, and `claim` is its only maker.

import { basis, type Partly, Read } from './reading.ts';
import type { Why } from './reasons.ts';
import type { Source } from './source.ts';

type Basis = { readonly ports: ReadonlySet<string>; readonly sources: readonly Source[] };
type Answer<R, U> =
  | { readonly looked: true; readonly value: R }
  | { readonly looked: false; readonly value: U };

let make: <R, U, P extends string>(said: Answer<R, U>, from: Basis) => Claim<R, U, P>;

/**
 * A value with the reading that it rests on: `R` is what it says when the reading was read,
 * `U` what it says when it was not. The client sees the plain value.
 */
export class Claim<out R, out U, in P extends string> {
  declare protected readonly restsOn: (port: P) => void;
  readonly #said: Answer<R, U>;
  readonly #from: Basis;
  private constructor(said: Answer<R, U>, from: Basis) {
    this.#said = said;
    this.#from = from;
  }
  /** Whether the reading behind it came to its end. */
  get looked(): boolean {
    return this.#said.looked;
  }
  /** The plain value that the client will see. */
  get shown(): R | U {
    return this.#said.value;
  }
  /** The ports whose readings stand behind the value. */
  get ports(): ReadonlySet<string> {
    return this.#from.ports;
  }
  /** The sources of those readings; none where nothing was read. */
  get sources(): readonly Source[] {
    return this.#from.sources;
  }
  static {
    make = (said, from) => new Claim(said, from);
  }
}

/** Says a value because a reading was read, or another because it was not. */
export function claim<T, R, P extends string>(
  reading: Read<T, P>,
  whenRead: (value: T) => R,
): Claim<R, never, P>;
export function claim<T, R, U, P extends string>(
  reading: Partly<T, P>,
  whenRead: (value: T) => R,
  whenUnread: (why: Why) => U,
): Claim<R, U, P>;
export function claim<T, R, U, P extends string>(
  reading: Partly<T, P>,
  whenRead: (value: T) => R,
  whenUnread?: (why: Why) => U,
): Claim<R, U, P> {
  const from = basis(reading);
  if (reading instanceof Read) {
    return make<R, U, P>({ looked: true, value: whenRead(reading.value) }, from);
  }
  if (whenUnread === undefined) throw new Error('claim: a silent reading has nothing to say');
  return make<R, U, P>({ looked: false, value: whenUnread(reading.why) }, from);
}

/** Whether a reading came to its end: `true` rests on it, `false` denies nothing. */
export function claimWhole<P extends string>(reading: Partly<unknown, P>): Claim<true, false, P> {
  return claim(
    reading,
    () => true,
    () => false,
  );
}

/** The value of a complete reading, otherwise `null`. */
export function claimOrNull<T, R, P extends string>(
  reading: Partly<T, P>,
  whenRead: (value: T) => R,
): Claim<R, null, P> {
  return claim(reading, whenRead, () => null);
}
