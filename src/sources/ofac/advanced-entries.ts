// Answers one question: which parties stand on the list named "SDN List", since when, under what.
// Entries of the publisher's other lists are checked for whom they name and then left aside.

import type { Parties } from './advanced-parties.ts';
import { resolved, type Tables } from './advanced-tables.ts';
import { isoDay, kept, Refused } from './publication.ts';
import { leaf, type Place, places, required } from './xml-walk.ts';

/** The list that alone makes an address sanctioned. */
export const SDN_LIST = 'SDN List';
const PROGRAMME_MEASURE = 'Program';

/** What the SDN list says of a party that carries an address. */
export type SdnEntry = {
  readonly programs: readonly string[];
  /** The earliest day of an entry event; `null` where none names a day. */
  readonly listed_on: string | null;
};

type Draft = {
  readonly profileId: string;
  readonly list: string;
  readonly programs: string[];
  listedOn: string | null;
};
type Day = { year: string; month: string; day: string };

/** The SDN entries by uid, and the place of `SanctionsEntries` that fills them. */
export function sanctionsEntries(
  tables: Tables,
  parties: Parties,
): { readonly entries: ReadonlyMap<string, SdnEntry>; readonly place: Place } {
  const entries = new Map<string, SdnEntry>();
  let draft: Draft = { profileId: '', list: '', programs: [], listedOn: null };
  const place: Place = {
    opens: (attributes) => {
      const profileId = required(attributes, 'ProfileID', 'a SanctionsEntry');
      const where = `the sanctions entry of profile ${profileId}`;
      const list = resolved(tables.lists, required(attributes, 'ListID', where), where);
      draft = { profileId, list, programs: [], listedOn: null };
    },
    within: places({
      EntryEvent: { within: places({ Date: dayPlace((day) => noteDay(draft, day)) }) },
      SanctionsMeasure: measurePlace(tables, () => draft),
    }),
    closes: () => judge(draft, parties, entries),
  };
  return { entries, place: { within: places({ SanctionsEntry: place }) } };
}

/** A place of `Year`, `Month` and `Day`. It says the day, or `null` where they name none. */
export function dayPlace(says: (day: string | null) => void): Place {
  let parts: Day = { year: '', month: '', day: '' };
  return {
    opens: () => {
      parts = { year: '', month: '', day: '' };
    },
    within: places({
      Year: leaf((text) => {
        parts.year = text;
      }),
      Month: leaf((text) => {
        parts.month = text;
      }),
      Day: leaf((text) => {
        parts.day = text;
      }),
    }),
    closes: () => says(isoDay(parts.year, parts.month, parts.day)),
  };
}

function noteDay(draft: Draft, day: string | null): void {
  if (day === null) return;
  if (draft.listedOn === null || day < draft.listedOn) draft.listedOn = day;
}

function measurePlace(tables: Tables, draft: () => Draft): Place {
  let isProgramme = false;
  return {
    opens: (attributes) => {
      const where = `a measure on profile ${draft().profileId}`;
      const typeId = required(attributes, 'SanctionsTypeID', where);
      isProgramme = resolved(tables.measures, typeId, where) === PROGRAMME_MEASURE;
    },
    within: places({
      Comment: leaf((text) => {
        if (isProgramme) draft().programs.push(kept(text));
      }),
    }),
  };
}

function judge(draft: Draft, parties: Parties, entries: Map<string, SdnEntry>): void {
  const { profileId, list, programs, listedOn } = draft;
  const seen = parties.onSdnList.get(profileId);
  if (seen === undefined) {
    const reason = `a sanctions entry names profile ${profileId}, which the file does not hold`;
    throw new Refused('dangling_reference', reason);
  }
  if (list !== SDN_LIST) return;
  if (seen) {
    const reason = `profile ${profileId} has two entries on the list "${SDN_LIST}"`;
    throw new Refused('dangling_reference', reason);
  }
  const uid = kept(profileId);
  parties.onSdnList.set(uid, true);
  if (!parties.addressed.has(uid)) return;
  if (programs.length === 0 || programs.includes('')) {
    const reason = `party ${uid} lists an address and its entry names no programme`;
    throw new Refused('dangling_reference', reason);
  }
  entries.set(uid, { programs, listed_on: listedOn });
}
