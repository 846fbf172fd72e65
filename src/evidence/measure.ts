// Answers one question: when is a literal empty or zero the right thing to write.
// A fallback literal is forbidden between a source and an answer; each right one has a name here.

/** The count so far of a key that has not been met: counting begins at zero. */
export function tally<K>(counts: Map<K, number>, key: K): void {
  const before = counts.get(key);
  counts.set(key, before === undefined ? 1 : before + 1);
}

/** Adds to the list kept under a key, which begins with its first member. */
export function collect<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** What a table that was read holds under a key: a table holds nothing under a key it lacks. */
export function heldUnder<K, V>(table: ReadonlyMap<K, readonly V[]>, key: K): readonly V[] {
  const held = table.get(key);
  return held === undefined ? NONE_HELD : held;
}

const NONE_HELD: readonly never[] = Object.freeze([]);

/** A rate with its denominator; `null` where nothing was measured. */
export function rate(hits: number, of: number): number | null {
  return of === 0 ? null : hits / of;
}
