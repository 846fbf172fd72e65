// A reading was read to its end (Read), stopped early (Part) or was not read (Unread).
// Only the first has a value that can be taken, so only the first can carry a negative.

import type { Why } from './reasons.ts';
import type { Source } from './source.ts';

type Basis = { readonly ports: ReadonlySet<string>; readonly sources: readonly Source[] };

/** The origin of a reading, from the adapter: its port and its source. */
export type Origin<P extends string> = { readonly port: P; readonly source: Source };

let makeRead: <T, P extends string>(value: T, basis: Basis) => Read<T, P>;
let makePart: <T, P extends string>(value: T, basis: Basis, why: Why) => Part<T, P>;
let peek: <T>(part: Part<T, never>) => T;
let basisOf: (reading: Read<unknown, never> | Part<unknown, never>) => Basis;

/**
 * A reading that came to its end. The port tag is contravariant: two ports serve one, not the
 * reverse.
 */
export class Read<out T, in P extends string> {
  readonly checked = true as const;
  declare protected readonly restsOn: (port: P) => void;
  readonly #value: T;
  readonly #basis: Basis;
  private constructor(value: T, basis: Basis) {
    this.#value = value;
    this.#basis = basis;
  }
  /** The complete value. */
  get value(): T {
    return this.#value;
  }
  static {
    makeRead = (value, basis) => new Read(value, basis);
    basisOf = (reading) => (reading instanceof Read ? reading.#basis : partBasis(reading));
  }
}

let partBasis: (part: Part<unknown, never>) => Basis;

/**
 * A reading that stopped early: it can convict (`decide`), it can never acquit. Its value cannot
 * be taken.
 */
export class Part<out T, in P extends string> {
  readonly checked = false as const;
  readonly why: Why;
  declare protected readonly restsOn: (port: P) => void;
  readonly #value: T;
  readonly #basis: Basis;
  private constructor(value: T, basis: Basis, why: Why) {
    this.#value = value;
    this.#basis = basis;
    this.why = why;
  }
  static {
    makePart = (value, basis, why) => new Part(value, basis, why);
    peek = (part) => part.#value;
    partBasis = (part) => part.#basis;
  }
}

/** Not read. It has no value to misread, only the reason. */
export class Unread<in P extends string> {
  readonly checked = false as const;
  readonly why: Why;
  declare protected readonly restsOn: (port: P) => void;
  readonly #ports: ReadonlySet<string>;
  constructor(ports: Iterable<P>, why: Why) {
    this.#ports = new Set(ports);
    this.why = why;
  }
  /** The ports that were silent. */
  get ports(): ReadonlySet<string> {
    return this.#ports;
  }
}

/** The result of a port method that does not page. */
export type Reading<T, P extends string> = Read<T, P> | Unread<P>;
/** The result of a port method that pages. */
export type Partly<T, P extends string> = Reading<T, P> | Part<T, P>;
/** A reading without a value to take. */
export type Silent<P extends string> = Part<unknown, P> | Unread<P>;

/** Mints a reading that came to its end. For adapters only (`tidy.test.ts` holds that). */
export function read<T, P extends string>(value: T, origin: Origin<P>): Read<T, P> {
  return makeRead(value, { ports: only(origin.port), sources: [origin.source] });
}

/** Mints a reading that stopped early. For adapters only. */
export function part<T, P extends string>(value: T, origin: Origin<P>, why: Why): Part<T, P> {
  return makePart(value, { ports: only(origin.port), sources: [origin.source] }, why);
}

/**
 * Mints a reading of one port from that of another: for an adapter that answers for what another
 * read, once it has seen to what its own port promises. For adapters only.
 */
export function mintAs<T, P extends string>(port: P, reading: Reading<T, never>): Reading<T, P>;
export function mintAs<T, P extends string>(port: P, reading: Partly<T, never>): Partly<T, P>;
export function mintAs<T, P extends string>(port: P, reading: Partly<T, never>): Partly<T, P> {
  if (reading instanceof Unread) return unread(port, reading.why);
  const under = { ports: only(port), sources: basisOf(reading).sources };
  if (reading instanceof Read) return makeRead(reading.value, under);
  return makePart(peek(reading), under, reading.why);
}

// The set of one port, made once: ports are few, and readings of each are minted all the time.
function only(port: string): ReadonlySet<string> {
  const known = PORTS_ALONE.get(port);
  if (known !== undefined) return known;
  const alone = new Set([port]);
  PORTS_ALONE.set(port, alone);
  return alone;
}

const PORTS_ALONE = new Map<string, ReadonlySet<string>>();

/** Says that a port was not read. Silence may be said anywhere. */
export function unread<P extends string>(port: P, why: Why): Unread<P> {
  return new Unread([port], why);
}

/** The sources of a reading, and the ports that it rests on. An unread one has no source. */
export function basis(reading: Partly<unknown, never>): Basis {
  if (reading instanceof Unread) return { ports: reading.ports, sources: [] };
  return basisOf(reading);
}

/** The same reading of something derived from its value. */
export function map<T, U, P extends string>(reading: Read<T, P>, f: (value: T) => U): Read<U, P>;
export function map<T, U, P extends string>(
  reading: Reading<T, P>,
  f: (value: T) => U,
): Reading<U, P>;
export function map<T, U, P extends string>(
  reading: Partly<T, P>,
  f: (value: T) => U,
): Partly<U, P>;
export function map<T, U, P extends string>(
  reading: Partly<T, P>,
  f: (value: T) => U,
): Partly<U, P> {
  if (reading instanceof Unread) return reading;
  if (reading instanceof Read) return makeRead(f(reading.value), basisOf(reading));
  return makePart(f(peek(reading)), basisOf(reading), reading.why);
}

/** A partial reading becomes whole only where nothing further could change the answer. */
export function decide<T, P extends string>(
  reading: Partly<T, P>,
  test: (value: T) => boolean,
): Reading<T, P> {
  if (!(reading instanceof Part)) return reading;
  const value = peek(reading);
  if (test(value)) return makeRead(value, basisOf(reading));
  return new Unread(basisOf(reading).ports, reading.why);
}

/** The rows seen so far, if any: never an empty list, so never a negative. */
export function rowsSeen<T, P extends string>(
  reading: Partly<readonly T[], P>,
): readonly [T, ...T[]] | null {
  if (reading instanceof Unread) return null;
  const [first, ...rest] = reading instanceof Read ? reading.value : peek(reading);
  return first === undefined ? null : [first, ...rest];
}

/**
 * A reading that was read becomes one that stopped early: for what is stale, simulated or cut. One
 * that stopped early keeps its reason, unless that is only that it is made up.
 */
export function weaken<T, P extends string>(reading: Partly<T, P>, why: Why): Partly<T, P> {
  if (reading instanceof Unread) return reading;
  if (reading instanceof Read) return makePart(reading.value, basisOf(reading), why);
  return isOnlyMadeUp(reading) ? makePart(peek(reading), basisOf(reading), why) : reading;
}

/** Whether a part came to its end, and is one for being made up: any other reason says more. */
function isOnlyMadeUp({ why: { code } }: Part<unknown, never>): boolean {
  return code === 'simulated';
}

function joinBasis(readings: readonly (Read<unknown, never> | Part<unknown, never>)[]): Basis {
  const ports = new Set<string>();
  const sources = new Set<Source>();
  for (const reading of readings) {
    const from = basisOf(reading);
    for (const port of from.ports) ports.add(port);
    for (const source of from.sources) sources.add(source);
  }
  return { ports, sources: [...sources] };
}

type ValuesOf<R> = { [K in keyof R]: R[K] extends Partly<infer T, never> ? T : never };
type PortsOf<R> = { [K in keyof R]: R[K] extends Partly<unknown, infer P> ? P : never }[keyof R] &
  string;
type AnyPart<R> = { [K in keyof R]: R[K] extends Reading<unknown, never> ? never : K }[keyof R];
type Joined<T, P extends string, Cut> = [Cut] extends [never] ? Reading<T, P> : Partly<T, P>;

/** Several readings as one, by name: one unread makes all unread, one partial makes all partial. */
export function both<R extends { [name: string]: Partly<unknown, never> }>(
  readings: R,
): Joined<ValuesOf<R>, PortsOf<R>, AnyPart<R>> {
  const names = Object.keys(readings);
  const joinedList = all(Object.values(readings));
  const named = map(joinedList, (values) =>
    Object.fromEntries(names.map((name, i) => [name, values[i]])),
  );
  return named as Joined<ValuesOf<R>, PortsOf<R>, AnyPart<R>>;
}

/**
 * A list of readings of one port as one reading: one unread makes all unread, one part makes a
 * part.
 */
export function all<T, P extends string>(readings: readonly Reading<T, P>[]): Reading<T[], P>;
export function all<T, P extends string>(readings: readonly Partly<T, P>[]): Partly<T[], P>;
export function all<T, P extends string>(readings: readonly Partly<T, P>[]): Partly<T[], P> {
  const had: (Read<T, P> | Part<T, P>)[] = [];
  for (const reading of readings) {
    if (reading instanceof Unread) return reading;
    had.push(reading);
  }
  return partIfAnyIs(had);
}

function partIfAnyIs<T, P extends string>(had: (Read<T, P> | Part<T, P>)[]): Partly<T[], P> {
  const values = had.map((one) => (one instanceof Read ? one.value : peek(one)));
  const cut = had.filter((one) => one instanceof Part);
  const [first] = [...cut.filter((one) => !isOnlyMadeUp(one)), ...cut];
  if (first === undefined) return makeRead(values, joinBasis(had));
  return makePart(values, joinBasis(had), first.why);
}

/** Those of a list of readings that were read: a part unless all of them were read to their end. */
export function some<T, P extends string>(readings: readonly Partly<T, P>[]): Partly<T[], P> {
  const had: (Read<T, P> | Part<T, P>)[] = [];
  let silent: Unread<P> | null = null;
  for (const reading of readings) {
    if (reading instanceof Unread) silent = silent === null ? reading : silent;
    else had.push(reading);
  }
  if (silent === null) return partIfAnyIs(had);
  if (had.length === 0) return silent;
  const values = had.map((one) => (one instanceof Read ? one.value : peek(one)));
  return makePart(values, joinBasis(had), silent.why);
}
