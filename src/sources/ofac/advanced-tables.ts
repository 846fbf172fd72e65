// Answers one question: what do the numbers in an SDN advanced XML stand for in this issue.
// No number is known beforehand: each is looked up in the file's own reference tables.

import { kept, type PartyType, partyType, quoted, Refused } from './publication.ts';
import { type Attributes, leaves, type Place, places, required, told } from './xml-walk.ts';

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
    FeatureTypeValues: rows('FeatureType', tables.features, kept),
    ListValues: rows('List', tables.lists, kept),
    SanctionsTypeValues: rows('SanctionsType', tables.measures, kept),
    NamePartTypeValues: rows('NamePartType', tables.nameParts, kept),
    DocNameStatusValues: rows('DocNameStatus', tables.nameStatuses, kept),
    PartyTypeValues: rows('PartyType', tables.partyTypes, kept),
    PartySubTypeValues: rows('PartySubType', tables.partySubTypes, (name, attributes) => ({
      name: kept(name),
      partyTypeId: kept(told(attributes, 'PartyTypeID')),
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
      const id = kept(required(attributes, 'ID', `a ${element}`));
      if (table.has(id)) throw new Refused('dangling_reference', `${element} ${id} stands twice`);
      table.set(id, value(text, attributes));
    }),
  };
  return { within: places({ [element]: row }) };
}

/** What a table holds under an id; refused where it holds nothing. `where` names who refers. */
export function resolved<T>(table: ReadonlyMap<string, T>, id: string, where: string): T {
  const found = table.get(id);
  if (found === undefined) {
    throw new Refused(
      'dangling_reference',
      `${where} refers to ${quoted(id)}, which the reference tables do not hold`,
    );
  }
  return found;
}

/**
 * What a party is, `null` where the tables do not tell. Ships and aircraft are sub-types of
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
