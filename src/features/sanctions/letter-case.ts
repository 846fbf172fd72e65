// Which listed address differs from a text in letter case alone?
// A hint for people, never a match: in most forms another letter case is another address, or none.

import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';

/** What a text may have been meant to be; `null` where nothing listed is spelled alike. */
export type CaseHint = (text: string) => Promise<string | null>;

/** Looks among listed addresses, which are read when the first text is asked about. */
export function caseHint(listed: () => Promise<readonly ListEntry[] | null>): CaseHint {
  let held: Promise<ReadonlyMap<string, string>> | null = null;
  const read = async () => {
    const entries = await listed();
    const all = entries === null ? NOTHING : entries;
    return new Map(all.map(({ address }) => [address.toLowerCase(), address]));
  };
  return async (text) => {
    if (held === null) held = read();
    const found = (await held).get(text.toLowerCase());
    return found === undefined || found === text ? null : found;
  };
}

const NOTHING: readonly ListEntry[] = Object.freeze([]);
