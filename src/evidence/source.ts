// Where a reading comes from, and how old it is. A source holds nothing that could carry a
// credential: URLs are public pages, or scheme and host.

/**
 * The origin of a reading. `as_of` is Unix seconds: when the source was observed.
 * An `observation` ages the answer that rests on it; a `table` has a date and does not expire.
 */
export type Source = {
  readonly name: string;
  readonly url: string;
  readonly as_of: number;
  readonly kind: 'observation' | 'table';
  readonly simulated: boolean;
};

/** A source as the interface shows it: `{name, url, as_of}`. */
export type WireSource = { name: string; url: string; as_of: number };

/** The label that every simulated source carries at the end of its name. */
const SIMULATED_SUFFIX = ' (simulated)';
/** The start of every simulated caveat. */
export const SIMULATED_CAVEAT = 'Simulated: this answer rests on made-up data. ';

/** Turns a source into its wire form; a simulated one says so in its name. */
export function wireSource(source: Source): WireSource {
  const name = source.simulated ? source.name + SIMULATED_SUFFIX : source.name;
  return { name, url: source.url, as_of: source.as_of };
}

/** Whether any of the sources is made up. */
export function restsOnSimulated(sources: Iterable<Source>): boolean {
  for (const { simulated } of sources) if (simulated) return true;
  return false;
}

/** Each source once, as the interface shows it, in the order in which they were first met. */
export function distinct(sources: Iterable<Source>): Source[] {
  const byKey = new Map<string, Source>();
  for (const source of sources) {
    const key = `${source.simulated} ${source.as_of} ${source.url} ${source.name}`;
    if (!byKey.has(key)) byKey.set(key, source);
  }
  return [...byKey.values()];
}

/**
 * The age of an answer: the oldest observation that it rests on, in Unix seconds.
 * `null` where it rests on tables or on nothing; the time of the answer stands in then.
 */
export function oldestObservation(sources: readonly Source[]): number | null {
  let oldest: number | null = null;
  for (const source of sources) {
    if (source.kind !== 'observation') continue;
    if (oldest === null || source.as_of < oldest) oldest = source.as_of;
  }
  return oldest;
}

/** Whether the rows were observed or made up. It is said at import, never read from a file. */
export const IMPORT_ORIGINS = ['observed', 'simulated'] as const;
export type ImportOrigin = (typeof IMPORT_ORIGINS)[number];

/** The origin of an import's date: its rows, its importer, or the time of the import. */
export const DATED_BY = ['file', 'operator', 'import'] as const;
export type DatedBy = (typeof DATED_BY)[number];
