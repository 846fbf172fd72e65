// A fallback literal is forbidden between a source and an answer; each right one has a name here.

/** Counts a key, `more` times at once: counting begins at zero. */
export function tally<K>(counts: Map<K, number>, key: K, more = 1): void {
  const before = counts.get(key);
  counts.set(key, before === undefined ? more : before + more);
}

/** Adds to the list kept under a key, which begins with its first member. */
export function collect<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Adds to the set kept under a key, which begins with its first member. */
export function enlist<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

/** A list in slices of at most `size`, in its order. */
export function* slices<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

/** The rows of a table under a key; a complete table holds nothing under a missing key. */
export function rowsUnder<K, V>(table: ReadonlyMap<K, readonly V[]>, key: K): readonly V[] {
  const held = table.get(key);
  return held === undefined ? NONE_HELD : held;
}

const NONE_HELD: readonly never[] = Object.freeze([]);

/** Those of a list that are there: what came to nothing has no place in it. */
export function present<T>(list: readonly (T | null | undefined)[]): T[] {
  return list.filter((one) => one !== null && one !== undefined);
}

/** The list that a value gives; a value that is not there gives none. */
export function listFrom<T, U>(
  value: T | null | undefined,
  list: (value: T) => readonly U[],
): readonly U[] {
  return value === null || value === undefined ? NONE_HELD : list(value);
}

/** A list that its giver may leave out: one that was left out has no member. */
export function listOrNone<T>(list: readonly T[] | null | undefined): readonly T[] {
  return list === null || list === undefined ? NONE_HELD : list;
}

/** The value of a counter; a counter without a row has counted nothing. */
export function countOrZero(count: number | null | undefined): number {
  return count === null || count === undefined ? 0 : count;
}

/** A place in what is numbered from 0; whoever names no place means its beginning. */
export function placeOrBeginning(place: number | null | undefined): number {
  return place === null || place === undefined ? 0 : place;
}

/** The text for a cell, a header or a column; an absent one is empty. */
export function textOrEmpty(text: string | null | undefined): string {
  return text === null || text === undefined ? '' : text;
}

/** A rate with its denominator; `null` where nothing was measured. */
export function rate(hits: number, of: number): number | null {
  return of === 0 ? null : hits / of;
}
