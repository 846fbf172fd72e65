// Answers one question: which parties does an SDN advanced XML describe, and with what addresses.
// It keeps the id of each party, and name and features only of one that carries an address.
// A party that cannot be told apart refuses the file; a name or type that cannot be read is left
// open, with a note, since it loses no address.

import { written } from '../../evidence/measure.ts';
import { resolved, type Tables, typeOfParty } from './advanced-tables.ts';
import { holdsAddress, printedValue } from './printed-address.ts';
import { currencyOf, kept, type PartyType, quoted, Refused } from './publication.ts';
import { leaf, leaves, type Place, passed, places, required, saysTrue, told } from './xml-walk.ts';

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
  /** What could not be read of the party. */
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

/** What is gathered of one party before it can be judged. */
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
      draft = emptyDraft(required(attributes, 'FixedRef', 'a DistinctParty'));
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
        id: required(attributes, 'ID', where),
        subTypeId: told(attributes, 'PartySubTypeID'),
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
      draft().groups.set(told(attributes, 'ID'), told(attributes, 'NamePartTypeID'));
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
      part = { groupId: told(attributes, 'NamePartGroupID'), text: '' };
      name.parts.push(part);
    },
    ...leaves((text) => {
      part.text = text;
    }),
  };
  const documented: Place = {
    opens: (attributes) => {
      name = { statusId: told(attributes, 'DocNameStatusID'), parts: [] };
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
      ...passed('DatePeriod', 'VersionLocation'),
    }),
  };
  return {
    closed: true,
    opens: (attributes) => {
      const where = `a Feature of party ${draft().fixedRef}`;
      const label = resolved(tables.features, required(attributes, 'FeatureTypeID', where), where);
      feature = { label, currency: currencyOf(label), versions: [] };
    },
    within: places({ FeatureVersion: versionPlace, ...passed('IdentityReference') }),
    closes: () => {
      if (feature.currency !== null) addAddresses(draft(), feature.currency, feature.versions);
      else refuseAddresses(draft(), feature);
    },
  };
}

/** Refuses a file that prints an address under a type of feature that names none. */
function refuseAddresses({ fixedRef }: Draft, { label, versions }: Feature): void {
  if (!versions.some(({ details }) => details.some(holdsAddress))) return;
  const reason = `a feature of party ${fixedRef} of type ${quoted(label)} is an address`;
  throw new Refused('changed_schema', reason);
}

function addAddresses(draft: Draft, currency: string, versions: readonly Version[]): void {
  const empty = versions.some(({ details }) => details.length === 0 || details.includes(''));
  if (versions.length === 0 || empty) {
    const reason = `an address of party ${draft.fixedRef} under ${currency} is empty`;
    throw new Refused('dangling_reference', reason);
  }
  for (const { note, details } of versions) {
    for (const address of details) {
      draft.features.push({ currency, address: kept(address), note: noteOf(note) });
    }
  }
}

function noteOf(text: string): string | null {
  return text === '' ? null : kept(text);
}

function judge(draft: Draft, tables: Tables, parties: Parties): void {
  const where = `party ${draft.fixedRef}`;
  const [profile, another] = draft.profiles;
  if (profile === undefined || another !== undefined) {
    const reason = `${where} has ${draft.profiles.length} profiles, not one`;
    throw new Refused('dangling_reference', reason);
  }
  if (profile.id !== draft.fixedRef) {
    throw new Refused('dangling_reference', `${where} has the profile ${quoted(profile.id)}`);
  }
  const uid = kept(profile.id);
  if (parties.onSdnList.has(uid)) {
    throw new Refused('dangling_reference', `the profile ${uid} stands twice`);
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
    const kind = tables.nameParts.get(written(draft.groups.get(groupId)));
    return { text, kind, leads: kind !== undefined && LEADING_PARTS.has(kind) };
  });
  const first = parts.filter(({ leads }) => leads);
  const rest = parts.filter(({ leads }) => !leads);
  const broken = parts.some(({ kind, text }) => kind === undefined || text === '');
  if (broken || parts.length === 0) return null;
  return kept([...first, ...rest].map(({ text }) => text).join(', '));
}
