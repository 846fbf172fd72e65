// Which row of a file lists an address, and what of it can be shown?
// Only what could lose an address refuses a row: what else cannot be shown is null, with a note.

import { matchKey, parseKnownAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import type {
  OtherList,
  OtherListEntry,
  OtherListsLookUp,
  OtherListsPort,
} from '../../ports/lists/other-lists.ts';
import type { RawRow, TableImport } from '../../ports/tables/table-import.ts';
import {
  type Accepted,
  type ImportedTable,
  type ImportTold,
  isShowable,
  type Judge,
  type Refused,
  refused,
  valueIn,
} from './import-rows.ts';
import { isPublicLink } from './labels.ts';
import { rowsByAddress } from './rows-by-address.ts';

/** An address that is no known form is compared as it is printed, as on the SDN list. */
const LITERAL = /^[\x21-\x7e]{1,128}$/;
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff]/gu;
const TEXT_CHARS_MAX = 500;

/** The table of other lists: each import's source is the list's name. */
export const otherLists: ImportedTable<OtherListEntry, OtherListsPort, OtherListsLookUp> = {
  name: 'other_lists',
  port: 'other_lists',
  title: 'Other lists',
  what: 'the table of other lists',
  columns: {
    address: 'text',
    currency: 'text',
    entity: 'text',
    entity_type: 'text',
    programs: 'text',
    entry_id: 'text',
    source_url: 'text',
    listed_at: 'day',
    ended_at: 'day',
    note: 'text',
    source: 'text',
  },
  keys: { match_key: 'address' },
  counting: { which: 'newest import' },
  // At about 500 bytes each; a larger table is asked by key.
  held: { max: 300_000, of: 'rows', beyond: 'ask' },
  index: (imports) => {
    const own = rowsByAddress<OtherListEntry>();
    return {
      add: (row) => own.add(row.address, row),
      size: own.size,
      answer: (_, asked) => ({ lists: imports.map(listOf), found: own.under(asked) }),
    };
  },
  judge,
  leastShare: 0.8,
  words: {
    command: 'lists import',
    summary: 'Take in a list of another authority, beside the SDN list.',
    nouns: ['listed address', 'listed addresses'],
    example: 'entities.ftm.json --list eu-fsf',
    file: [
      'FollowTheMoney entities, a line each, as OpenSanctions publishes them (.json,',
      '.jsonl), or CSV (.csv) or JSON lines (.jsonl) with the column address and, where',
      'known, entity, entity_type, currency, programs, entry_id, source_url, listed_at,',
      'ended_at, note',
    ],
    sourceOption: 'list',
    source: 'the name of the list; a later import of the same name replaces it',
    unnamed: null,
    linked: true,
    otherwise: null,
    notes: ['A match is shown in other_lists; sanctioned is about the SDN list alone.'],
  },
};

function listOf({
  source,
  as_of,
  rows_accepted,
  sha256,
  source_url,
  origin,
}: TableImport): OtherList {
  const simulated = origin === 'simulated';
  return { name: source, as_of, rows: rows_accepted, sha256, source_url, simulated };
}

function judge(told: ImportTold): Judge<OtherListEntry> {
  return (raw) => entryIn(raw, told);
}

function entryIn(
  raw: RawRow,
  { source, source_url }: ImportTold,
): Accepted<OtherListEntry> | Refused {
  const printed = valueIn(raw, 'address');
  if (printed === null) return refused('missing_field', 'address');
  const address = addressIn(printed);
  if (address === null) return refused('bad_address', null);
  const lost: string[] = [];
  const text = (field: string): string | null => {
    const said = valueIn(raw, field);
    if (said === null || isShowable(said, TEXT_CHARS_MAX)) return said;
    lost.push(field);
    return null;
  };
  const day = (field: string): string | null => {
    const said = valueIn(raw, field);
    if (said === null || parseIsoDate(said) !== null) return said;
    lost.push(field);
    return null;
  };
  const link = valueIn(raw, 'source_url');
  const isLink = link !== null && isPublicLink(link);
  if (link !== null && !isLink) lost.push('source_url');
  const facts = {
    currency: text('currency'),
    entity: text('entity'),
    entity_type: text('entity_type'),
    programs: text('programs'),
    entry_id: text('entry_id'),
    listed_at: day('listed_at'),
    ended_at: day('ended_at'),
  };
  const note = text('note');
  const unshown = lost.length === 0 ? null : `cannot be shown as published: ${lost.join(', ')}`;
  const notes = [note, unshown].filter((one) => one !== null);
  const row: OtherListEntry = {
    address,
    ...facts,
    source_url: isLink ? link : source_url,
    note: notes.length === 0 ? null : notes.join('; '),
    source,
  };
  // A list is as old as its import: the days of its entries say nothing of when it was published.
  return { row, dated_at: null };
}

/** The address that a value prints, of a known form or literally; `null` where it is none. */
function addressIn(printed: string): string | null {
  const text = printed.replace(INVISIBLE, '');
  const known = parseKnownAddress(text);
  if (known !== null) return known.address;
  return LITERAL.test(text) ? matchKey(text) : null;
}
