// Answers one question: which parties stand on the list named "SDN List", since when, under what.
// Entries of the publisher's other lists are checked for whom they name and then left aside.

import type { Parties } from './advanced-parties.ts';
import { resolved, type Tables } from './advanced-tables.ts';
import { isoDay, kept, Refused } from './publication.ts';
import { leaf, type Place, passed, places, required, told } from './xml-walk.ts';

/** The list that alone makes an address sanctioned. */
export const SDN_LIST = 'SDN List';
const PROGRAMME_MEASURE = 'Program';

/** What the SDN list says of a party that carries an address. */
export type SdnEntry = {
  /** `null` where the entry names none, or one that cannot be read. */
  readonly programs: readonly string[] | null;
  /** The earliest day of an entry event; `null` where none names a day. */
  readonly listed_on: string | null;
};

type Draft = {
  readonly profileId: string;
  readonly list: string;
  readonly programs: string[];
  /** Whether a measure is of a type that the tables do not hold: it may be a programme. */
  unknownMeasure: boolean;
  listedOn: string | null;
};
type Day = { year: string; month: string; day: string };

/** The SDN entries by uid, and the place of `SanctionsEntries` that fills them. */
export function sanctionsEntries(
  tables: Tables,
  parties: Parties,
): { readonly entries: ReadonlyMap<string, SdnEntry>; readonly place: Place } {
  const entries = new Map<string, SdnEntry>();
  let draft = emptyDraft('', '');
  const place: Place = {
    opens: (attributes) => {
      const profileId = required(attributes, 'ProfileID', 'a SanctionsEntry');
      const where = `the sanctions entry of profile ${profileId}`;
      const list = resolved(tables.lists, required(attributes, 'ListID', where), where);
      draft = emptyDraft(profileId, list);
    },
    within: places({
      EntryEvent: {
        within: places({ Date: dayPlace((day) => noteDay(draft, day)), ...passed('Comment') }),
      },
      SanctionsMeasure: measurePlace(tables, () => draft),
    }),
    closes: () => judge(draft, parties, entries),
  };
  return { entries, place: { within: places({ SanctionsEntry: place }) } };
}

function emptyDraft(profileId: string, list: string): Draft {
  return { profileId, list, programs: [], unknownMeasure: false, listedOn: null };
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
      const type = tables.measures.get(told(attributes, 'SanctionsTypeID'));
      if (type === undefined) draft().unknownMeasure = true;
      isProgramme = type === PROGRAMME_MEASURE;
    },
    within: places({
      ...passed('DatePeriod'),
      Comment: leaf((text) => {
        if (isProgramme) draft().programs.push(kept(text));
      }),
    }),
  };
}

function judge(draft: Draft, parties: Parties, entries: Map<string, SdnEntry>): void {
  const { profileId, list, programs, unknownMeasure, listedOn } = draft;
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
  const unsaid = programs.length === 0 || programs.includes('') || unknownMeasure;
  entries.set(uid, { programs: unsaid ? null : programs, listed_on: listedOn });
}
