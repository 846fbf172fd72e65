// A crypto address is an `id` whose type begins with the address label. A file whose declared
// record count differs from its entries is refused: that count is how this format shows its end.
// What could lose an address refuses the file; what else an entry lacks is left open, with a note.

import { listOrNone } from '../../evidence/measure.ts';
import {
  copyText,
  currencyOf,
  type Document,
  dayIn,
  holdsAddress,
  type ListedAddress,
  ListRefused,
  leftOpen,
  partyType,
  printedValue,
  quoteText,
} from './publication.ts';
import { type DocumentReader, leaf, leaves, type Place, passPlaces, places } from './xml-walk.ts';

/** The root element of the format. */
export const LEGACY_ROOT = 'sdnList';
/** Its namespaces: the current one, and the one used until 2024-05-07. */
export const LEGACY_NAMESPACES: readonly string[] = [
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML',
  'http://tempuri.org/sdnList.xsd',
];

type Fields = { idType: string | null; idNumber: string | null };
type Entry = {
  uid: string | null;
  first: string | null;
  last: string | null;
  type: string | null;
  remarks: string | null;
  readonly programs: string[];
  readonly addresses: { readonly currency: string; readonly address: string }[];
};

/** The elements that lead to an address. */
const CARRIERS = new Set(['sdnEntry', 'idList', 'id', 'idType', 'idNumber']);

/** Reads one document of the legacy format. */
export function legacyReader(): DocumentReader {
  const uids = new Set<string>();
  const addresses: ListedAddress[] = [];
  let published: string | null = null;
  let declared: number | null = null;
  let entry = emptyEntry();
  let id: Fields = { idType: null, idNumber: null };

  const idPlace: Place = {
    opens: () => {
      id = { idType: null, idNumber: null };
    },
    closed: true,
    within: places({
      ...passPlaces('uid', 'idCountry', 'issueDate', 'expirationDate'),
      idType: leaf((text) => {
        id.idType = text;
      }),
      idNumber: leaf((text) => {
        id.idNumber = text;
      }),
    }),
    closes: () => addAddress(entry, id),
  };
  const entryPlace: Place = {
    opens: () => {
      entry = emptyEntry();
    },
    within: places({
      uid: leaf((text) => {
        entry.uid = copyText(text);
      }),
      firstName: leaf((text) => {
        entry.first = text;
      }),
      lastName: leaf((text) => {
        entry.last = text;
      }),
      sdnType: leaf((text) => {
        entry.type = text;
      }),
      remarks: leaf((text) => {
        entry.remarks = copyText(text);
      }),
      programList: {
        within: places({ program: leaves((text) => entry.programs.push(copyText(text))) }),
      },
      idList: { closed: true, within: places({ id: idPlace }) },
      ...passPlaces('akaList', 'addressList', 'nationalityList', 'citizenshipList', 'vesselInfo'),
      ...passPlaces('dateOfBirthList', 'placeOfBirthList', 'title'),
    }),
    closes: () => {
      addresses.push(...rowsOf(entry, uids));
    },
  };
  const information = places({
    Publish_Date: leaf((text) => {
      published = usDay(text);
    }),
    Record_Count: leaf((text) => {
      declared = /^\d{1,9}$/.test(text) ? Number(text) : null;
    }),
  });
  return {
    root: { within: places({ publshInformation: { within: information }, sdnEntry: entryPlace }) },
    carriers: CARRIERS,
    holdsAddress,
    finish: () => finishDocument(published, declared, uids.size, addresses),
  };
}

function emptyEntry(): Entry {
  const unsaid = { uid: null, first: null, last: null, type: null, remarks: null };
  return { ...unsaid, programs: [], addresses: [] };
}

function addAddress(entry: Entry, id: Fields): void {
  if (id.idType === null) {
    throw new ListRefused('dangling_reference', `an id of entry ${entry.uid} has no idType`);
  }
  const currency = currencyOf(id.idType);
  const value = id.idNumber === null ? '' : printedValue(id.idNumber);
  if (currency === null) {
    if (!holdsAddress(value)) return;
    const reason = `an id of entry ${entry.uid} of type ${quoteText(id.idType)} is an address`;
    throw new ListRefused('changed_schema', reason);
  }
  if (value === '') {
    throw new ListRefused('dangling_reference', `an address of entry ${entry.uid} is empty`);
  }
  entry.addresses.push({ currency, address: copyText(value) });
}

function rowsOf(entry: Entry, uids: Set<string>): ListedAddress[] {
  const { uid, first, last, remarks, programs } = entry;
  if (uid === null || uid === '')
    throw new ListRefused('dangling_reference', 'an sdnEntry has no uid');
  if (uids.has(uid))
    throw new ListRefused('dangling_reference', `the uid ${quoteText(uid)} stands twice`);
  uids.add(uid);
  if (entry.addresses.length === 0) return [];
  const said = remarks === '' ? null : remarks;
  const open: string[] = [];
  const type = partyType(entry.type);
  if (type === null) open.push(`the type (the list says ${quoteText(String(entry.type))})`);
  const named = last !== null && last !== '';
  if (!named) open.push('the name');
  const entity = named
    ? copyText(first === null || first === '' ? last : `${last}, ${first}`)
    : null;
  const programmes = programs.length === 0 || programs.includes('') ? null : programs;
  if (programmes === null) open.push('the programme');
  const party = { entity, type, programs: programmes, uid, remarks: said, listed_on: null };
  return entry.addresses.map((row) => ({ ...row, ...party, note: leftOpen(open) }));
}

function usDay(text: string): string | null {
  const parts = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text);
  const [, month, day, year] = listOrNone(parts);
  if (month === undefined || day === undefined || year === undefined) return null;
  return dayIn(year, month, day);
}

function finishDocument(
  published: string | null,
  declared: number | null,
  parties: number,
  addresses: readonly ListedAddress[],
): Document {
  if (published === null) {
    throw new ListRefused('no_publication_date', 'it has no Publish_Date that names a day');
  }
  if (declared === null) {
    throw new ListRefused('record_count_mismatch', 'it declares no Record_Count');
  }
  if (declared !== parties) {
    const reason = `it declares ${declared} records and holds ${parties}`;
    throw new ListRefused('record_count_mismatch', reason);
  }
  return { format: 'sdn_xml', published, record_count: declared, parties, addresses };
}
