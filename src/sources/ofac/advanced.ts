// Answers one question: what does the publisher's SDN advanced XML say.
// The file shows its completeness by its inner references: every profile has an entry on the
// list named "SDN List" and every entry a profile. One that is missing refuses the whole file.

import { dayPlace, SDN_LIST, type SdnEntry, sanctionsEntries } from './advanced-entries.ts';
import { type AddressedParty, distinctParties, type Parties } from './advanced-parties.ts';
import { referenceTables } from './advanced-tables.ts';
import { holdsAddress } from './printed-address.ts';
import { type Document, type ListedAddress, leftOpen, quoted, Refused } from './publication.ts';
import { type DocumentReader, leaves, type Place, passed, places } from './xml-walk.ts';

/** The root element of the format. */
export const ADVANCED_ROOT = 'Sanctions';
/** Its namespaces: the current one, and the one used until 2024-05-07. */
export const ADVANCED_NAMESPACES: readonly string[] = [
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML',
  'http://www.un.org/sanctions/1.0',
];

/** The elements that lead to an address. */
const CARRIERS = new Set([
  'DistinctParties',
  'DistinctParty',
  'Profile',
  'Feature',
  'FeatureVersion',
  'VersionDetail',
]);

/** Reads one document of the advanced format. */
export function advancedReader(): DocumentReader {
  let published: string | null = null;
  const { tables, place: referenceValueSets } = referenceTables();
  const { parties, place: distinct } = distinctParties(tables);
  const { entries, place: sanctions } = sanctionsEntries(tables, parties);
  const within = places({
    DateOfIssue: {
      ...dayPlace((day) => {
        published = day;
      }),
      once: true,
    },
    ReferenceValueSets: referenceValueSets,
    DistinctParties: distinct,
    SanctionsEntries: sanctions,
    IDRegDocuments: { within: places({ IDRegDocument: documentPlace() }) },
    ...passed('Locations', 'ProfileRelationships', 'SanctionsEntryLinks'),
  });
  return {
    root: { within },
    carriers: CARRIERS,
    holdsAddress,
    finish: () => finished(published, parties, entries),
  };
}

/** A registered document of a party, whose number is no address. */
function documentPlace(): Place {
  const number = leaves((text) => {
    if (!holdsAddress(text)) return;
    throw new Refused('changed_schema', `a registered document is an address: ${quoted(text)}`);
  });
  return {
    within: places({
      IDRegistrationNo: number,
      ...passed('Comment', 'IssuingAuthority', 'DocumentDate', 'IDRegDocumentMention'),
    }),
  };
}

function finished(
  published: string | null,
  parties: Parties,
  entries: ReadonlyMap<string, SdnEntry>,
): Document {
  if (published === null) {
    throw new Refused('no_publication_date', 'it has no DateOfIssue that names a day');
  }
  for (const [uid, listed] of parties.onSdnList) {
    if (listed) continue;
    const reason = `profile ${uid} has no entry on the list "${SDN_LIST}"`;
    throw new Refused('dangling_reference', reason);
  }
  const addresses = [...parties.addressed].flatMap(([uid, party]) => rowsOf(uid, party, entries));
  const count = parties.onSdnList.size;
  return { format: 'sdn_advanced_xml', published, record_count: count, parties: count, addresses };
}

function rowsOf(
  uid: string,
  party: AddressedParty,
  entries: ReadonlyMap<string, SdnEntry>,
): ListedAddress[] {
  const entry = entries.get(uid);
  if (entry === undefined) {
    throw new Refused('dangling_reference', `party ${uid} lists an address and has no entry`);
  }
  const { programs, listed_on } = entry;
  const { entity, type, open } = party;
  const unsaid = leftOpen(programs === null ? [...open, 'the programme'] : open);
  return party.features.map(({ currency, address, note }) => {
    const notes = [note, party.note].filter((text) => text !== null);
    const remarks = notes.length === 0 ? null : notes.join('; ');
    return { address, currency, entity, type, programs, uid, remarks, listed_on, note: unsaid };
  });
}
