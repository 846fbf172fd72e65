// Answers one question: which parties does an SDN advanced XML describe, and with what addresses.
// It keeps the id of each party, and name and features only of one that carries an address.
// A party that cannot be told apart, named or typed is refused, not skipped.

import { resolved, type Tables, typeOfParty } from './advanced-tables.ts';
import { kept, type PartyType, quoted, Refused } from './publication.ts';
import { type Attributes, leaf, type Place, places, required, saysTrue } from './xml-walk.ts';

/** An address feature of a party, with the publisher's note on it. */
export type AddressFeature = {
  readonly currency: string;
  readonly address: string;
  readonly note: string | null;
};

/** A party that carries at least one address. */
export type AddressedParty = {
  readonly entity: string;
  readonly type: PartyType;
  readonly note: string | null;
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
type Feature = { readonly currency: string | null; readonly versions: Version[] };

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
        subTypeId: required(attributes, 'PartySubTypeID', where),
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
      const where = `a NamePartGroup of party ${draft().fixedRef}`;
      const id = required(attributes, 'ID', where);
      draft().groups.set(id, required(attributes, 'NamePartTypeID', where));
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
      const where = `a NamePartValue of party ${draft().fixedRef}`;
      part = { groupId: required(attributes, 'NamePartGroupID', where), text: '' };
      name.parts.push(part);
    },
    ...leaf((text) => {
      part.text = text;
    }),
  };
  const documented: Place = {
    opens: (attributes) => {
      const where = `a DocumentedName of party ${draft().fixedRef}`;
      name = { statusId: required(attributes, 'DocNameStatusID', where), parts: [] };
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
  let feature: Feature = { currency: null, versions: [] };
  let version: Version = { note: '', details: [] };
  const versionPlace: Place = {
    opens: () => {
      version = { note: '', details: [] };
      feature.versions.push(version);
    },
    within: places({
      Comment: leaf((text) => {
        version.note = text;
      }),
      VersionDetail: leaf((text) => version.details.push(text)),
    }),
  };
  return {
    opens: (attributes) => {
      feature = { currency: currencyOfFeature(tables, attributes, draft()), versions: [] };
    },
    within: places({ FeatureVersion: versionPlace }),
    closes: () => {
      if (feature.currency !== null) addAddresses(draft(), feature.currency, feature.versions);
    },
  };
}

function currencyOfFeature(tables: Tables, attributes: Attributes, draft: Draft): string | null {
  const where = `a Feature of party ${draft.fixedRef}`;
  return resolved(tables.currencies, required(attributes, 'FeatureTypeID', where), where);
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
  const type = typeOfParty(tables, profile.subTypeId, where);
  const entity = primaryName(draft, tables, where);
  parties.addressed.set(uid, { entity, type, note: noteOf(draft.note), features: draft.features });
}

function primaryName(draft: Draft, tables: Tables, where: string): string {
  const [names, another] = draft.aliases;
  if (names === undefined || another !== undefined) {
    const reason = `${where} lists an address and has ${draft.aliases.length} primary names`;
    throw new Refused('dangling_reference', reason);
  }
  const printed = names.filter(
    ({ statusId }) => resolved(tables.nameStatuses, statusId, where) === PRIMARY_NAME,
  );
  const [name, second] = printed;
  if (name === undefined || second !== undefined) {
    const reason = `${where} lists an address and has ${printed.length} names in Latin letters`;
    throw new Refused('dangling_reference', reason);
  }
  const parts = name.parts.map(({ groupId, text }) => {
    const kind = resolved(tables.nameParts, resolved(draft.groups, groupId, where), where);
    return { text, leads: LEADING_PARTS.has(kind) };
  });
  const first = parts.filter(({ leads }) => leads);
  const rest = parts.filter(({ leads }) => !leads);
  const entity = [...first, ...rest].map(({ text }) => text);
  if (entity.length === 0 || entity.includes('')) {
    throw new Refused('dangling_reference', `${where} lists an address and has an empty name`);
  }
  return kept(entity.join(', '));
}
