// Reads the listed addresses of a file. A row is refused only if an address could be lost: other
// unreadable fields are null, with a note.

import { addHolder, matchKey, parseKnownAddress } from '../../chain/address.ts';
import { AddressMap } from '../../chain/address-map.ts';
import { MS_PER_S, parseIsoDate } from '../../chain/time.ts';
import type {
  OtherList,
  OtherListEntry,
  OtherListsLookUp,
  OtherListsPort,
  RawRow,
  TableImport,
} from '../../ports/tables.ts';
import {
  type Accepted,
  type ImportContext,
  type ImportedTable,
  isShowable,
  type RowRefused,
  refuseRow,
  rowsByAddress,
  valueIn,
} from './import-rows.ts';
import { isPublicLink } from './labels.ts';

/** Texts of no known form that can stand on a list, where they are compared as they are printed. */
export const LITERAL_PATTERN = /^[\x21-\x7e]{1,128}$/;
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff]/gu;
const TEXT_CHARS_MAX = 500;

/** The table of other lists: each import's source is the list's name. */
export const otherLists: ImportedTable<OtherListEntry, OtherListsPort, OtherListsLookUp> = {
  name: 'other_lists',
  port: 'other_lists',
  title: 'Other lists',
  ages: 'observation',
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
    const holders = new AddressMap<string | null>();
    return {
      add: (row) => {
        own.add(row.address, row);
        addHolder(holders, matchKey(row.address));
      },
      size: own.size,
      answer: (_, asked) => ({ lists: imports.map(listOf), found: own.under(asked) }),
      holders,
    };
  },
  judge: (told) => (raw, layout) => entryIn(layout === 'tagpack' ? tagAsEntry(raw) : raw, told),
  leastShare: 0.8,
  words: {
    command: 'lists import',
    summary: 'Take in a list of another authority, beside the SDN list.',
    nouns: ['listed address', 'listed addresses'],
    example: 'entities.ftm.json --list eu-fsf',
    file: [
      'FollowTheMoney entities, a line each, as OpenSanctions publishes them (.json,',
      '.jsonl), a GraphSense TagPack (.yaml), which dates itself by its lastmod, or CSV',
      '(.csv) or JSON lines (.jsonl) with the column address and, where',
      'known, entity, entity_type, currency, programs, entry_id, source_url, listed_at,',
      'ended_at, note, seen_at (when its maker last saw the entry)',
    ],
    sourceOption: 'list',
    source: 'the name of the list; a later import of the same name replaces it',
    unnamed: null,
    linked: true,
    datable: true,
    otherwise: null,
    notes: ['A match is shown in other_lists; sanctioned is about the SDN list alone.'],
  },
};

function listOf(one: TableImport): OtherList {
  return {
    name: one.source,
    as_of: one.as_of,
    dated_by: one.dated_by,
    imported_at: one.completed_at,
    rows: one.rows_accepted,
    rows_lost: one.rows_lost,
    sha256: one.sha256,
    source_url: one.source_url,
    simulated: one.origin === 'simulated',
  };
}

/** The fields of a tag of a GraphSense TagPack, by our names. */
const TAG_COLUMNS = [
  ['address', 'address'],
  ['currency', 'currency'],
  ['category', 'entity_type'],
  ['abuse', 'programs'],
  ['source', 'source_url'],
  ['lastmod', 'seen_at'],
] as const;

/** A tag as a row: its actor is the entity, and its label then a note. */
function tagAsEntry({ line, fields }: RawRow): RawRow {
  const own = new Map<string, string>();
  for (const [field, column] of TAG_COLUMNS) {
    const value = fields.get(field);
    if (value !== undefined) own.set(column, value);
  }
  const [actor, label] = [fields.get('actor'), fields.get('label')];
  if (actor !== undefined && label !== undefined) own.set('note', label);
  const entity = actor === undefined ? label : actor;
  if (entity !== undefined) own.set('entity', entity);
  return { line, fields: own };
}

function entryIn(
  raw: RawRow,
  { source, source_url }: ImportContext,
): Accepted<OtherListEntry> | RowRefused {
  const printed = valueIn(raw, 'address');
  if (printed === null) {
    const isAccount = valueIn(raw, 'account') !== null;
    return isAccount ? refuseRow('account_only', null) : refuseRow('missing_field', 'address');
  }
  const address = addressIn(printed);
  if (address === null) return refuseRow('bad_address', null);
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
  // The days of its entries say nothing of when a list was published; when one was seen last does.
  const seen = valueIn(raw, 'seen_at');
  return { row, dated_at: seen === null ? null : timeIn(seen) };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME_WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** The Unix seconds of a day or a time, which is UTC where it names no zone; `null` for no time. */
function timeIn(text: string): number | null {
  if (DAY.test(text)) return parseIsoDate(text);
  if (parseIsoDate(text.slice(0, ISO_DAY_CHARS)) === null) return null;
  const ms = Date.parse(TIME_WITHOUT_ZONE.test(text) ? `${text.replace(' ', 'T')}Z` : text);
  return Number.isNaN(ms) ? null : Math.floor(ms / MS_PER_S);
}

const ISO_DAY_CHARS = 10;

/** The address that a value prints, of a known form or literally; `null` where it is none. */
function addressIn(printed: string): string | null {
  const text = printed.replace(INVISIBLE, '');
  const known = parseKnownAddress(text);
  if (known !== null) return known.address;
  return LITERAL_PATTERN.test(text) ? matchKey(text) : null;
}
