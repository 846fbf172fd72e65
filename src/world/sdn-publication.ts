// The simulated publisher writes the publisher's SDN XML and SDN advanced XML, in their current
// namespaces and with their line structure, and zips them. The same input gives the same bytes.

import { crc32, deflateRawSync } from 'node:zlib';

/** A party of the simulated list. */
export type WorldParty = {
  /** A whole number, as the publisher's entry uids are. */
  readonly uid: string;
  readonly type: 'Individual' | 'Entity' | 'Vessel' | 'Aircraft';
  readonly name: { readonly last: string; readonly first?: string };
  readonly programs: readonly string[];
  readonly remarks?: string;
  /** Day of the listing, `YYYY-MM-DD`; the day of publication where it is not given. */
  readonly listed_on?: string;
  readonly addresses: readonly { readonly currency: string; readonly address: string }[];
};

/** A whole issue of the list. */
export type WorldPublication = {
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  readonly parties: readonly WorldParty[];
};

const EXPORTS = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports';
const DECLARATION = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>';
const INSTANCE = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const LABEL = 'Digital Currency Address - ';
const LINE_END = '\r\n';

/** The legacy format, `SDN.XML`. */
export function sdnXml({ published, parties }: WorldPublication): string {
  const { year, month, day } = partsOf(published);
  const lines = [
    DECLARATION,
    `<sdnList ${INSTANCE} xmlns="${EXPORTS}/XML">`,
    '  <publshInformation>',
    `    <Publish_Date>${month}/${day}/${year}</Publish_Date>`,
    `    <Record_Count>${parties.length}</Record_Count>`,
    '  </publshInformation>',
    ...parties.flatMap(legacyEntry),
    '</sdnList>',
  ];
  return lines.join(LINE_END) + LINE_END;
}

function legacyEntry({ uid, type, name, programs, remarks, addresses }: WorldParty): string[] {
  const ids = addresses.flatMap(({ currency, address }, at) => [
    '      <id>',
    `        <uid>${Number(uid) * 1000 + at}</uid>`,
    `        <idType>${escapeXml(LABEL + currency)}</idType>`,
    `        <idNumber>${escapeXml(address)}</idNumber>`,
    '      </id>',
  ]);
  return [
    '  <sdnEntry>',
    `    <uid>${escapeXml(uid)}</uid>`,
    ...(name.first === undefined ? [] : [`    <firstName>${escapeXml(name.first)}</firstName>`]),
    `    <lastName>${escapeXml(name.last)}</lastName>`,
    `    <sdnType>${type}</sdnType>`,
    ...(remarks === undefined ? [] : [`    <remarks>${escapeXml(remarks)}</remarks>`]),
    '    <programList>',
    ...programs.map((program) => `      <program>${escapeXml(program)}</program>`),
    '    </programList>',
    ...(ids.length === 0 ? [] : ['    <idList>', ...ids, '    </idList>']),
    '  </sdnEntry>',
  ];
}

/** The numbers that stand for things in the advanced format: readers look them up. */
const SDN_LIST = 1550;
const OTHER_LIST = 91512;
const BLOCK = 1705;
const PROGRAMME = 1;
const FIRST_CURRENCY_FEATURE = 344;
const SUB_TYPES = { Vessel: 1, Aircraft: 2, Entity: 3, Individual: 4 } as const;
const NAME_PARTS = { Individual: 1520, Aircraft: 1524, Entity: 1525, Vessel: 1526 } as const;
const FIRST_NAME = 1521;
const LATIN = 'ScriptID="215" ScriptStatusID="1" Acronym="false"';

/** The advanced format, `SDN_ADVANCED.XML`. */
export function sdnAdvancedXml({ published, parties }: WorldPublication): string {
  const codes = parties.flatMap(({ addresses }) => addresses.map(({ currency }) => currency));
  const currencies = new Map(
    [...new Set(codes)].map((code, at) => [code, FIRST_CURRENCY_FEATURE + at]),
  );
  const namespace = `${EXPORTS}/ADVANCED_XML`;
  const schema = `xsi:schemaLocation="${namespace} ${namespace}.xsd"`;
  const lines = [
    DECLARATION,
    `<Sanctions ${INSTANCE} Version="3" ${schema} xmlns="${namespace}">`,
    '  <DateOfIssue CalendarTypeID="1">',
    ...dayLines(published, '    '),
    '  </DateOfIssue>',
    ...referenceLines(currencies),
    '  <Locations />',
    '  <IDRegDocuments />',
    '  <DistinctParties>',
    ...parties.flatMap((party) => partyLines(party, currencies)),
    '  </DistinctParties>',
    '  <ProfileRelationships />',
    '  <SanctionsEntries>',
    ...parties.flatMap((party) => entryLines(party, published)),
    '  </SanctionsEntries>',
    '  <SanctionsEntryLinks />',
    '</Sanctions>',
  ];
  return lines.join(LINE_END) + LINE_END;
}

function referenceLines(currencies: ReadonlyMap<string, number>): string[] {
  const features = [...currencies].map(([code, id]) => {
    const label = escapeXml(LABEL + code);
    return `      <FeatureType ID="${id}" FeatureTypeGroupID="1">${label}</FeatureType>`;
  });
  return [
    '  <ReferenceValueSets>',
    ...table('DocNameStatus', { 1: 'Primary Latin', 2: 'Others' }),
    '    <FeatureTypeValues>',
    '      <FeatureType ID="8" FeatureTypeGroupID="1">Birthdate</FeatureType>',
    ...features,
    '    </FeatureTypeValues>',
    ...table('List', { [SDN_LIST]: 'SDN List', [OTHER_LIST]: 'Consolidated List' }),
    ...table('NamePartType', {
      1520: 'Last Name',
      1521: 'First Name',
      1524: 'Aircraft Name',
      1525: 'Entity Name',
      1526: 'Vessel Name',
    }),
    '    <PartySubTypeValues>',
    '      <PartySubType ID="1" PartyTypeID="4">Vessel</PartySubType>',
    '      <PartySubType ID="2" PartyTypeID="4">Aircraft</PartySubType>',
    '      <PartySubType ID="3" PartyTypeID="2">Unknown</PartySubType>',
    '      <PartySubType ID="4" PartyTypeID="1">Unknown</PartySubType>',
    '    </PartySubTypeValues>',
    ...table('PartyType', { 1: 'Individual', 2: 'Entity', 4: 'Transport' }),
    ...table('SanctionsType', { [PROGRAMME]: 'Program', [BLOCK]: 'Block' }),
    '  </ReferenceValueSets>',
  ];
}

function table(name: string, rows: Readonly<Record<number, string>>): string[] {
  const lines = Object.entries(rows).map(
    ([id, text]) => `      <${name} ID="${id}">${text}</${name}>`,
  );
  return [`    <${name}Values>`, ...lines, `    </${name}Values>`];
}

function partyLines(party: WorldParty, currencies: ReadonlyMap<string, number>): string[] {
  const { uid, type, name, remarks, addresses } = party;
  const parts = [
    { text: name.last, type: NAME_PARTS[type] },
    ...(name.first === undefined ? [] : [{ text: name.first, type: FIRST_NAME }]),
  ].map((part, at) => ({ ...part, group: Number(uid) * 10 + at }));
  return [
    `    <DistinctParty FixedRef="${uid}">`,
    comment('      ', remarks),
    `      <Profile ID="${uid}" PartySubTypeID="${SUB_TYPES[type]}">`,
    `        <Identity ID="${uid}" FixedRef="${uid}" Primary="true" False="false">`,
    `          <Alias FixedRef="${uid}" AliasTypeID="1403" Primary="true" LowQuality="false">`,
    `            <DocumentedName ID="${uid}" FixedRef="${uid}" DocNameStatusID="1">`,
    ...parts.flatMap(({ text, group }) => [
      '              <DocumentedNamePart>',
      `                <NamePartValue NamePartGroupID="${group}" ${LATIN}>` +
        `${escapeXml(text)}</NamePartValue>`,
      '              </DocumentedNamePart>',
    ]),
    '            </DocumentedName>',
    '          </Alias>',
    '          <NamePartGroups>',
    ...parts.flatMap((part) => [
      '            <MasterNamePartGroup>',
      `              <NamePartGroup ID="${part.group}" NamePartTypeID="${part.type}" />`,
      '            </MasterNamePartGroup>',
    ]),
    '          </NamePartGroups>',
    '        </Identity>',
    ...addresses.flatMap((row, at) => featureLines(party, row, at, currencies)),
    '      </Profile>',
    '    </DistinctParty>',
  ];
}

function featureLines(
  { uid }: WorldParty,
  { currency, address }: WorldParty['addresses'][number],
  at: number,
  currencies: ReadonlyMap<string, number>,
): string[] {
  const id = Number(uid) * 1000 + at;
  return [
    `        <Feature ID="${id}" FeatureTypeID="${currencies.get(currency)}">`,
    `          <FeatureVersion ID="${id}" ReliabilityID="1">`,
    '            <Comment />',
    `            <VersionDetail DetailTypeID="1432">${escapeXml(address)}</VersionDetail>`,
    '          </FeatureVersion>',
    `          <IdentityReference IdentityID="${uid}" IdentityFeatureLinkTypeID="1" />`,
    '        </Feature>',
  ];
}

function entryLines({ uid, programs, listed_on }: WorldParty, published: string): string[] {
  return [
    `    <SanctionsEntry ID="${uid}" ProfileID="${uid}" ListID="${SDN_LIST}">`,
    `      <EntryEvent ID="${uid}" EntryEventTypeID="1" LegalBasisID="1849">`,
    '        <Comment />',
    '        <Date CalendarTypeID="1">',
    ...dayLines(listed_on === undefined ? published : listed_on, '          '),
    '        </Date>',
    '      </EntryEvent>',
    ...measure(Number(uid) * 100, BLOCK, null),
    ...programs.flatMap((program, at) => measure(Number(uid) * 100 + at + 1, PROGRAMME, program)),
    '    </SanctionsEntry>',
  ];
}

function measure(id: number, typeId: number, program: string | null): string[] {
  return [
    `      <SanctionsMeasure ID="${id}" SanctionsTypeID="${typeId}">`,
    ...(program === null ? [] : [comment('        ', program)]),
    '        <DatePeriod CalendarTypeID="1" YearFixed="true" MonthFixed="true" DayFixed="true" />',
    '      </SanctionsMeasure>',
  ];
}

function comment(indent: string, text: string | undefined): string {
  return text === undefined
    ? `${indent}<Comment />`
    : `${indent}<Comment>${escapeXml(text)}</Comment>`;
}

function dayLines(iso: string, indent: string): string[] {
  const { year, month, day } = partsOf(iso);
  return [
    `${indent}<Year>${year}</Year>`,
    `${indent}<Month>${Number(month)}</Month>`,
    `${indent}<Day>${Number(day)}</Day>`,
  ];
}

function partsOf(iso: string): { year: string; month: string; day: string } {
  return { year: iso.slice(0, 4), month: iso.slice(5, 7), day: iso.slice(8, 10) };
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const DEFLATED = 8;
const ZIP_VERSION = 20;
/** 1980-01-01, the first day that the archive format can tell. */
const ZIP_DAY = 0x21;

/** An archive with one deflated member. */
export function zipFile(name: string, bytes: Uint8Array): Buffer {
  const label = Buffer.from(name, 'ascii');
  const packed = deflateRawSync(bytes);
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(ZIP_VERSION, 0);
  shared.writeUInt16LE(DEFLATED, 4);
  shared.writeUInt16LE(ZIP_DAY, 8);
  shared.writeUInt32LE(crc32(bytes), 10);
  shared.writeUInt32LE(packed.byteLength, 14);
  shared.writeUInt32LE(bytes.byteLength, 18);
  shared.writeUInt16LE(label.byteLength, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, label, packed]);
  const made = Buffer.alloc(2);
  made.writeUInt16LE(ZIP_VERSION, 0);
  // Comment length, disk, internal and external attributes and offset are all zero.
  const rest = Buffer.alloc(14);
  const central = Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, shared, rest, label]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.byteLength, 8);
  end.writeUInt32LE(local.byteLength, 12);
  return Buffer.concat([local, central, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
