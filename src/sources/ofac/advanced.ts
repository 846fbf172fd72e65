// The file shows its completeness by its inner references: every profile has an entry on the
// list named "SDN List" and every entry a profile. One that is missing refuses the whole file.

import { textOrEmpty } from '../../evidence/measure.ts';
import {
  copyText,
  currencyOf,
  type Document,
  dayIn,
  holdsAddress,
  type ListedAddress,
  ListRefused,
  leftOpen,
  type PartyType,
  partyType,
  printedValue,
  quoteText,
} from './publication.ts';
import {
  type Attributes,
  attributeText,
  type DocumentReader,
  leaf,
  leaves,
  type Place,
  passPlaces,
  places,
  requireAttribute,
  saysTrue,
} from './xml-walk.ts';

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
    ...passPlaces('Locations', 'ProfileRelationships', 'SanctionsEntryLinks'),
  });
  return {
    root: { within },
    carriers: CARRIERS,
    holdsAddress,
    finish: () => finishDocument(published, parties, entries),
  };
}

/** A registered document of a party, whose number is no address. */
function documentPlace(): Place {
  const number = leaves((text) => {
    if (!holdsAddress(text)) return;
    throw new ListRefused(
      'changed_schema',
      `a registered document is an address: ${quoteText(text)}`,
    );
  });
  return {
    within: places({
      IDRegistrationNo: number,
      ...passPlaces('Comment', 'IssuingAuthority', 'DocumentDate', 'IDRegDocumentMention'),
    }),
  };
}

function finishDocument(
  published: string | null,
  parties: Parties,
  entries: ReadonlyMap<string, SdnEntry>,
): Document {
  if (published === null) {
    throw new ListRefused('no_publication_date', 'it has no DateOfIssue that names a day');
  }
  for (const [uid, listed] of parties.onSdnList) {
    if (listed) continue;
    const reason = `profile ${uid} has no entry on the list "${SDN_LIST}"`;
    throw new ListRefused('dangling_reference', reason);
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
    throw new ListRefused('dangling_reference', `party ${uid} lists an address and has no entry`);
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

// Entries of the publisher's other lists are checked for whom they name and then left aside.

/** The list that alone makes an address sanctioned. */
export const SDN_LIST = 'SDN List';
const PROGRAMME_MEASURE = 'Program';

/** The SDN entry of a party with an address. */
export type SdnEntry = {
  /** `null` where the entry names none, or one that cannot be read. */
  readonly programs: readonly string[] | null;
  /** The earliest day of an entry event; `null` where none names a day. */
  readonly listed_on: string | null;
};

type EntryDraft = {
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
  let draft = emptyEntry('', '');
  const place: Place = {
    opens: (attributes) => {
      const profileId = requireAttribute(attributes, 'ProfileID', 'a SanctionsEntry');
      const where = `the sanctions entry of profile ${profileId}`;
      const list = resolve(tables.lists, requireAttribute(attributes, 'ListID', where), where);
      draft = emptyEntry(profileId, list);
    },
    within: places({
      EntryEvent: {
        within: places({ Date: dayPlace((day) => noteDay(draft, day)), ...passPlaces('Comment') }),
      },
      SanctionsMeasure: measurePlace(tables, () => draft),
    }),
    closes: () => judgeEntry(draft, parties, entries),
  };
  return { entries, place: { within: places({ SanctionsEntry: place }) } };
}

function emptyEntry(profileId: string, list: string): EntryDraft {
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
    closes: () => says(dayIn(parts.year, parts.month, parts.day)),
  };
}

function noteDay(draft: EntryDraft, day: string | null): void {
  if (day === null) return;
  if (draft.listedOn === null || day < draft.listedOn) draft.listedOn = day;
}

function measurePlace(tables: Tables, draft: () => EntryDraft): Place {
  let isProgramme = false;
  return {
    opens: (attributes) => {
      const type = tables.measures.get(attributeText(attributes, 'SanctionsTypeID'));
      if (type === undefined) draft().unknownMeasure = true;
      isProgramme = type === PROGRAMME_MEASURE;
    },
    within: places({
      ...passPlaces('DatePeriod'),
      Comment: leaf((text) => {
        if (isProgramme) draft().programs.push(copyText(text));
      }),
    }),
  };
}

function judgeEntry(draft: EntryDraft, parties: Parties, entries: Map<string, SdnEntry>): void {
  const { profileId, list, programs, unknownMeasure, listedOn } = draft;
  const seen = parties.onSdnList.get(profileId);
  if (seen === undefined) {
    const reason = `a sanctions entry names profile ${profileId}, which the file does not hold`;
    throw new ListRefused('dangling_reference', reason);
  }
  if (list !== SDN_LIST) return;
  if (seen) {
    const reason = `profile ${profileId} has two entries on the list "${SDN_LIST}"`;
    throw new ListRefused('dangling_reference', reason);
  }
  const uid = copyText(profileId);
  parties.onSdnList.set(uid, true);
  if (!parties.addressed.has(uid)) return;
  const unsaid = programs.length === 0 || programs.includes('') || unknownMeasure;
  entries.set(uid, { programs: unsaid ? null : programs, listed_on: listedOn });
}

// The reader keeps the id of each party, and name and features only of one that carries an address.
// A party that cannot be told apart refuses the file; a name or type that cannot be read is left
// open, with a note, since it loses no address.

/** An address feature of a party, with the publisher's note on it. */
export type AddressFeature = {
  readonly currency: string;
  readonly address: string;
  readonly note: string | null;
};

/** A party that carries at least one address. */
export type AddressedParty = {
  readonly entity: string | null;
  readonly type: PartyType | null;
  readonly note: string | null;
  /** The unreadable facts of the party. */
  readonly open: readonly string[];
  readonly features: readonly AddressFeature[];
};

/** Each uid with whether the SDN list was seen to hold it, and the parties with addresses. */
export type Parties = {
  readonly onSdnList: Map<string, boolean>;
  readonly addressed: Map<string, AddressedParty>;
};

type NamePart = { readonly groupId: string; text: string };
type Name = { readonly statusId: string; readonly parts: NamePart[] };
type Version = { note: string; readonly details: string[] };
type Feature = {
  readonly label: string;
  readonly currency: string | null;
  readonly versions: Version[];
};

/** The collected facts of one party before it is validated. */
type Draft = {
  readonly fixedRef: string;
  note: string;
  readonly profiles: { readonly id: string; readonly subTypeId: string }[];
  /** The documented names of each primary alias of each primary identity. */
  readonly aliases: Name[][];
  readonly groups: Map<string, string>;
  readonly features: AddressFeature[];
};

const PRIMARY_NAME = 'Primary Latin';
/** The parts that the list prints first; the others follow in the order of the file. */
const LEADING_PARTS = new Set(['Last Name', 'Entity Name', 'Vessel Name', 'Aircraft Name']);

/** The parties, and the place of `DistinctParties` that fills them. */
export function distinctParties(tables: Tables): { parties: Parties; place: Place } {
  const parties: Parties = { onSdnList: new Map(), addressed: new Map() };
  let draft = emptyDraft('');
  const place: Place = {
    opens: (attributes) => {
      draft = emptyDraft(requireAttribute(attributes, 'FixedRef', 'a DistinctParty'));
    },
    within: places({
      Comment: leaf((text) => {
        draft.note = text;
      }),
      Profile: profilePlace(tables, () => draft),
    }),
    closes: () => judge(draft, tables, parties),
  };
  return { parties, place: { within: places({ DistinctParty: place }) } };
}

function emptyDraft(fixedRef: string): Draft {
  return { fixedRef, note: '', profiles: [], aliases: [], groups: new Map(), features: [] };
}

function profilePlace(tables: Tables, draft: () => Draft): Place {
  return {
    opens: (attributes) => {
      const where = `a Profile of party ${draft().fixedRef}`;
      draft().profiles.push({
        id: requireAttribute(attributes, 'ID', where),
        subTypeId: attributeText(attributes, 'PartySubTypeID'),
      });
    },
    within: places({
      Identity: identityPlace(draft),
      Feature: featurePlace(tables, draft),
    }),
  };
}

function identityPlace(draft: () => Draft): Place {
  let primaryIdentity = false;
  const group: Place = {
    opens: (attributes) => {
      draft().groups.set(
        attributeText(attributes, 'ID'),
        attributeText(attributes, 'NamePartTypeID'),
      );
    },
  };
  const master: Place = { within: places({ NamePartGroup: group }) };
  return {
    opens: (attributes) => {
      primaryIdentity = saysTrue(attributes, 'Primary');
    },
    within: places({
      Alias: aliasPlace(draft, () => primaryIdentity),
      NamePartGroups: { within: places({ MasterNamePartGroup: master }) },
    }),
  };
}

function aliasPlace(draft: () => Draft, primaryIdentity: () => boolean): Place {
  let names: Name[] = [];
  let name: Name = { statusId: '', parts: [] };
  let part: NamePart = { groupId: '', text: '' };
  const value: Place = {
    opens: (attributes) => {
      part = { groupId: attributeText(attributes, 'NamePartGroupID'), text: '' };
      name.parts.push(part);
    },
    ...leaves((text) => {
      part.text = text;
    }),
  };
  const documented: Place = {
    opens: (attributes) => {
      name = { statusId: attributeText(attributes, 'DocNameStatusID'), parts: [] };
      names.push(name);
    },
    within: places({ DocumentedNamePart: { within: places({ NamePartValue: value }) } }),
  };
  return {
    opens: (attributes) => {
      names = [];
      if (primaryIdentity() && saysTrue(attributes, 'Primary')) draft().aliases.push(names);
    },
    within: places({ DocumentedName: documented }),
  };
}

function featurePlace(tables: Tables, draft: () => Draft): Place {
  let feature: Feature = { label: '', currency: null, versions: [] };
  let version: Version = { note: '', details: [] };
  const versionPlace: Place = {
    closed: true,
    opens: () => {
      version = { note: '', details: [] };
      feature.versions.push(version);
    },
    within: places({
      Comment: leaf((text) => {
        version.note = text;
      }),
      VersionDetail: leaves((text) => version.details.push(printedValue(text))),
      ...passPlaces('DatePeriod', 'VersionLocation'),
    }),
  };
  return {
    closed: true,
    opens: (attributes) => {
      const where = `a Feature of party ${draft().fixedRef}`;
      const label = resolve(
        tables.features,
        requireAttribute(attributes, 'FeatureTypeID', where),
        where,
      );
      feature = { label, currency: currencyOf(label), versions: [] };
    },
    within: places({ FeatureVersion: versionPlace, ...passPlaces('IdentityReference') }),
    closes: () => {
      if (feature.currency !== null) addAddresses(draft(), feature.currency, feature.versions);
      else refuseAddresses(draft(), feature);
    },
  };
}

/** Refuses a file that prints an address under a type of feature that names none. */
function refuseAddresses({ fixedRef }: Draft, { label, versions }: Feature): void {
  if (!versions.some(({ details }) => details.some(holdsAddress))) return;
  const reason = `a feature of party ${fixedRef} of type ${quoteText(label)} is an address`;
  throw new ListRefused('changed_schema', reason);
}

function addAddresses(draft: Draft, currency: string, versions: readonly Version[]): void {
  const empty = versions.some(({ details }) => details.length === 0 || details.includes(''));
  if (versions.length === 0 || empty) {
    const reason = `an address of party ${draft.fixedRef} under ${currency} is empty`;
    throw new ListRefused('dangling_reference', reason);
  }
  for (const { note, details } of versions) {
    for (const address of details) {
      draft.features.push({ currency, address: copyText(address), note: noteOf(note) });
    }
  }
}

function noteOf(text: string): string | null {
  return text === '' ? null : copyText(text);
}

function judge(draft: Draft, tables: Tables, parties: Parties): void {
  const where = `party ${draft.fixedRef}`;
  const [profile, another] = draft.profiles;
  if (profile === undefined || another !== undefined) {
    const reason = `${where} has ${draft.profiles.length} profiles, not one`;
    throw new ListRefused('dangling_reference', reason);
  }
  if (profile.id !== draft.fixedRef) {
    throw new ListRefused(
      'dangling_reference',
      `${where} has the profile ${quoteText(profile.id)}`,
    );
  }
  const uid = copyText(profile.id);
  if (parties.onSdnList.has(uid)) {
    throw new ListRefused('dangling_reference', `the profile ${uid} stands twice`);
  }
  parties.onSdnList.set(uid, false);
  if (draft.features.length === 0) return;
  const type = typeOfParty(tables, profile.subTypeId);
  const entity = primaryName(draft, tables);
  const open: string[] = [];
  if (entity === null) open.push('the name');
  if (type === null) open.push('the type');
  const { features } = draft;
  parties.addressed.set(uid, { entity, type, note: noteOf(draft.note), open, features });
}

/** The one primary name in Latin letters; `null` where there is not exactly one, whole. */
function primaryName(draft: Draft, tables: Tables): string | null {
  const [names, another] = draft.aliases;
  if (names === undefined || another !== undefined) return null;
  const printed = names.filter(
    ({ statusId }) => tables.nameStatuses.get(statusId) === PRIMARY_NAME,
  );
  const [name, second] = printed;
  if (name === undefined || second !== undefined) return null;
  const parts = name.parts.map(({ groupId, text }) => {
    const kind = tables.nameParts.get(textOrEmpty(draft.groups.get(groupId)));
    return { text, kind, leads: kind !== undefined && LEADING_PARTS.has(kind) };
  });
  const first = parts.filter(({ leads }) => leads);
  const rest = parts.filter(({ leads }) => !leads);
  const broken = parts.some(({ kind, text }) => kind === undefined || text === '');
  if (broken || parts.length === 0) return null;
  return copyText([...first, ...rest].map(({ text }) => text).join(', '));
}

// No number is known beforehand: each is looked up in the file's own reference tables.

type SubType = { readonly name: string; readonly partyTypeId: string };

/** The reference tables that the reader relies on, by id. */
export type Tables = {
  /** The label of a feature type. */
  readonly features: Map<string, string>;
  readonly lists: Map<string, string>;
  readonly measures: Map<string, string>;
  readonly nameParts: Map<string, string>;
  readonly nameStatuses: Map<string, string>;
  readonly partyTypes: Map<string, string>;
  readonly partySubTypes: Map<string, SubType>;
};

/** The tables, and the place of `ReferenceValueSets` that fills them. */
export function referenceTables(): { readonly tables: Tables; readonly place: Place } {
  const tables: Tables = {
    features: new Map(),
    lists: new Map(),
    measures: new Map(),
    nameParts: new Map(),
    nameStatuses: new Map(),
    partyTypes: new Map(),
    partySubTypes: new Map(),
  };
  const within = places({
    FeatureTypeValues: rows('FeatureType', tables.features, copyText),
    ListValues: rows('List', tables.lists, copyText),
    SanctionsTypeValues: rows('SanctionsType', tables.measures, copyText),
    NamePartTypeValues: rows('NamePartType', tables.nameParts, copyText),
    DocNameStatusValues: rows('DocNameStatus', tables.nameStatuses, copyText),
    PartyTypeValues: rows('PartyType', tables.partyTypes, copyText),
    PartySubTypeValues: rows('PartySubType', tables.partySubTypes, (name, attributes) => ({
      name: copyText(name),
      partyTypeId: copyText(attributeText(attributes, 'PartyTypeID')),
    })),
  });
  return { tables, place: { within } };
}

function rows<T>(
  element: string,
  table: Map<string, T>,
  value: (text: string, attributes: Attributes) => T,
): Place {
  let attributes: Attributes | null = null;
  const row: Place = {
    opens: (found) => {
      attributes = found;
    },
    ...leaves((text) => {
      if (attributes === null) throw new Error(`the text of a ${element} precedes its element`);
      const id = copyText(requireAttribute(attributes, 'ID', `a ${element}`));
      if (table.has(id))
        throw new ListRefused('dangling_reference', `${element} ${id} stands twice`);
      table.set(id, value(text, attributes));
    }),
  };
  return { within: places({ [element]: row }) };
}

/** The row of a table under an id; refused if there is none. `where` names the referrer. */
export function resolve<T>(table: ReadonlyMap<string, T>, id: string, where: string): T {
  const found = table.get(id);
  if (found === undefined) {
    throw new ListRefused(
      'dangling_reference',
      `${where} refers to ${quoteText(id)}, which the reference tables do not hold`,
    );
  }
  return found;
}

/**
 * The type of a party, `null` if the tables do not give it. Ships and aircraft are sub-types of
 * transport; the others are types.
 */
export function typeOfParty(tables: Tables, subTypeId: string): PartyType | null {
  const subType = tables.partySubTypes.get(subTypeId);
  if (subType === undefined) return null;
  const bySubType = partyType(subType.name);
  if (bySubType !== null) return bySubType;
  const parent = tables.partyTypes.get(subType.partyTypeId);
  return parent === undefined ? null : partyType(parent);
}
