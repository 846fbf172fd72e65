// The requirements of a readable document, and the faults that refuse it: both formats, from
// recordings.

import { describe, expect, test } from 'vitest';
import {
  advanced,
  alterRecording,
  EVM,
  legacy,
  readBytes,
  readText,
} from '../../testing/sdn-recordings.ts';

const SONS = 'HOLLOW LANTERN EXCHANGE & SONS, LTD.';

describe('says', () => {
  test('the legacy file: each address with its entry, stripped of outer white space', async () => {
    const person = {
      entity: 'MARSHFIELD, Oberon Quill',
      type: 'Individual',
      programs: ['CYBER2', 'RUSSIA-EO14024'],
      uid: '90001',
      remarks: '(Linked To: HOLLOW LANTERN EXCHANGE)',
      listed_on: null,
      note: null,
    };
    const firm = {
      entity: SONS,
      type: 'Entity',
      programs: ['DPRK3'],
      uid: '90002',
      remarks: null,
      listed_on: null,
      note: null,
    };
    expect(await readText(legacy)).toEqual({
      format: 'sdn_xml',
      published: '2026-10-07',
      record_count: 4,
      parties: 4,
      addresses: [
        { address: EVM, currency: 'ETH', ...person },
        { address: '1MadeUpAddressForTestsOnly11111111', currency: 'XBT', ...person },
        { address: 'made-up-address-of-no-known-form', currency: 'QQQ', ...firm },
        { address: EVM, currency: 'USDT', ...firm },
      ],
    });
  });

  test('the advanced file: primary Latin name, SDN programmes only, earliest day', async () => {
    const person = {
      entity: 'MARSHFIELD, Oberon, Quill',
      type: 'Individual',
      programs: ['CYBER2', 'RUSSIA-EO14024'],
      uid: '90001',
      listed_on: '2024-11-30',
      note: null,
    };
    const firm = {
      entity: SONS,
      type: 'Entity',
      programs: ['DPRK3'],
      uid: '90002',
      remarks: null,
      listed_on: '2026-10-06',
      note: null,
    };
    const note = 'Keeper of the lantern.';
    expect(await readText(advanced)).toEqual({
      format: 'sdn_advanced_xml',
      published: '2026-10-07',
      record_count: 4,
      parties: 4,
      addresses: [
        { address: EVM, currency: 'ETH', ...person, remarks: note },
        {
          address: '1MadeUpAddressForTestsOnly11111111',
          currency: 'XBT',
          ...person,
          remarks: `No forks.; ${note}`,
        },
        { address: 'made-up-address-of-no-known-form', currency: 'QQQ', ...firm },
        { address: EVM, currency: 'USDT', ...firm },
      ],
    });
  });

  test.each([1, 2, 3, 7, 511, 512, 513])('the same whatever the chunks: %i bytes', async (size) => {
    expect(await readText(advanced, size)).toEqual(await readText(advanced));
    expect(await readText(legacy, size)).toEqual(await readText(legacy));
  });

  test('the same with the namespace that either format had before', async () => {
    const old = alterRecording(
      legacy,
      /xmlns="https[^"]*"/,
      'xmlns="http://tempuri.org/sdnList.xsd"',
    );
    expect(await readText(old)).toEqual(await readText(legacy));
    const older = alterRecording(
      advanced,
      /xmlns="https[^"]*"/,
      'xmlns="http://www.un.org/sanctions/1.0"',
    );
    expect(await readText(older)).toEqual(await readText(advanced));
  });

  test('the same with a byte order mark, other line ends, a prefixed namespace', async () => {
    expect(await readText(`\uFEFF${advanced}`)).toEqual(await readText(advanced));
    expect(await readText(advanced.replaceAll('\n', '\r\n'))).toEqual(await readText(advanced));
    const prefixed = legacy
      .replaceAll(/<(\/?)([A-Za-z])/g, '<$1p:$2')
      .replace('xmlns=', 'xmlns:p=');
    expect(await readText(prefixed)).toEqual(await readText(legacy));
  });

  test('an address in a CDATA section whole, and none from a comment', async () => {
    const parted = alterRecording(legacy, 'made-up-address-of-', 'made-up<![CDATA[-address]]>-of-');
    const noted = alterRecording(parted, '<idList />', '<!-- <idList><id/></idList> -->');
    expect(await readText(noted)).toEqual(await readText(legacy));
  });

  test('last names first, whatever the order of the parts', async () => {
    const swapped = alterRecording(
      alterRecording(
        advanced,
        'ID="65450" NamePartTypeID="1520"',
        'ID="65450" NamePartTypeID="1521"',
      ),
      'ID="65451" NamePartTypeID="1521"',
      'ID="65451" NamePartTypeID="1520"',
    );
    const read = await readText(swapped);
    expect(read).toMatchObject({
      addresses: [{ entity: 'Oberon, MARSHFIELD, Quill' }, {}, {}, {}],
    });
  });

  test('the type of ships and aircraft from the sub-type', async () => {
    const ship = alterRecording(
      advanced,
      'ID="90001" PartySubTypeID="4"',
      'ID="90001" PartySubTypeID="1"',
    );
    expect(await readText(ship)).toMatchObject({ addresses: [{ type: 'Vessel' }, {}, {}, {}] });
  });
});

const CSV_ROW =
  '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n';
const EXPORTS = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports';
const ENHANCED = `<sanctionsData xmlns="${EXPORTS}/ENHANCED_XML"><entities/></sanctionsData>`;

describe('refuses what is not one of the two formats, by name', () => {
  test.each([
    ['enhanced_file', ENHANCED],
    ['delimited_file', CSV_ROW],
    ['delimited_file', '36@"AEROCARIBBEAN AIRLINES"@-0- @"CUBA"@\n'],
    ['delimited_file', '36|"AEROCARIBBEAN AIRLINES"|-0- |"CUBA"|\n'],
    ['not_xml', '<!DOCTYPE html><html><body>403 Forbidden</body></html>'],
    ['not_xml', '<html><body>Request blocked</body></html>'],
    ['not_xml', '{"error":"no such publication"}'],
    ['not_xml', 'Service unavailable'],
    ['not_xml', ''],
    ['not_xml', '   \r\n'],
    ['not_xml', '<?xml version="1.0"?>'],
    ['not_xml', '<!DOCTYPE sdnList [<!ENTITY a "b">]><sdnList/>'],
    ['not_xml', '<?xml version="1.0" encoding="utf-16"?><sdnList/>'],
    ['unknown_root', '<rss version="2.0"/>'],
    ['unknown_root', alterRecording(advanced, /(<\/?)Sanctions(?=[ >])/, '$1SanctionsData')],
    ['unknown_namespace', alterRecording(legacy, '/exports/XML"', '/exports/XML2"')],
    ['unknown_namespace', alterRecording(legacy, '/exports/XML"', '/exports/ADVANCED_XML"')],
    ['unknown_namespace', alterRecording(advanced, /xmlns="https[^"]*"/, '')],
  ])('%s, case %#', async (code, text) => {
    expect(await readText(text)).toMatchObject({ refused: true, code });
    expect(await readText(text, 5)).toMatchObject({ refused: true, code });
  });

  test('a file in another encoding', async () => {
    const utf16 = Buffer.from(`\uFEFF${legacy}`, 'utf16le');
    expect(await readBytes(utf16, 1000)).toMatchObject({ refused: true, code: 'not_xml' });
  });
});

describe('refuses a file that does not come to its end', () => {
  test.each([
    ['legacy', legacy],
    ['advanced', advanced],
  ])('cut anywhere: %s', async (_name, text) => {
    const whole = text.trimEnd();
    for (let at = 400; at < whole.length; at += 97) {
      const outcome = await readText(whole.slice(0, at));
      expect(outcome, `cut at ${at}`).toHaveProperty('refused', true);
    }
    expect(await readText(whole.slice(0, -1))).toMatchObject({ code: 'truncated' });
  });

  test('cut and continued as an HTML page, or inside a letter', async () => {
    const half = advanced.slice(0, advanced.indexOf('<SanctionsEntries>'));
    expect(await readText(`${half}<html><body>504</body></html>`)).toMatchObject({
      code: 'truncated',
    });
    const letter = Buffer.from(advanced, 'utf8').indexOf('沼') + 1;
    const bytes = Buffer.from(advanced, 'utf8').subarray(0, letter);
    expect(await readBytes(bytes, 1000)).toMatchObject({ code: 'truncated' });
  });

  test('an endless text, and endless nesting', async () => {
    const endless = alterRecording(legacy, 'PAPER ALBATROSS', 'A'.repeat(1_300_000));
    expect(await readText(endless, 65_536)).toMatchObject({ code: 'too_large' });
    const deep = alterRecording(legacy, '<vesselInfo>', '<vesselInfo>'.repeat(100));
    expect(await readText(deep)).toMatchObject({ code: 'too_large' });
  });
});

describe('refuses a legacy file that is not whole in itself', () => {
  test.each([
    ['no_publication_date', /<Publish_Date>.*<\/Publish_Date>/, ''],
    ['no_publication_date', '10/07/2026', ''],
    ['no_publication_date', '10/07/2026', '13/32/2026'],
    ['no_publication_date', '10/07/2026', '2026-10-07'],
    ['record_count_mismatch', '<Record_Count>4<', '<Record_Count>5<'],
    ['record_count_mismatch', '<Record_Count>4</Record_Count>', ''],
    ['record_count_mismatch', '<Record_Count>4<', '<Record_Count>four<'],
    ['record_count_mismatch', /<sdnEntry>\s*<uid>90003[\s\S]*?<\/sdnEntry>/, ''],
    ['no_addresses', /<id>\s*<uid>100[2356]<[\s\S]*?<\/id>/g, ''],
    ['dangling_reference', '<uid>90003</uid>', '<uid>90001</uid>'],
    ['dangling_reference', '<uid>90003</uid>', ''],
    ['dangling_reference', `<idNumber>${EVM}</idNumber>`, '<idNumber> </idNumber>'],
    ['dangling_reference', `<idNumber>${EVM}</idNumber>`, ''],
    ['dangling_reference', `<idNumber>${EVM}</idNumber>`, '<idNumber>\u200b</idNumber>'],
    ['dangling_reference', '<idType>Passport</idType>', ''],
  ])('%s: %s → %s', async (code, part, by) => {
    expect(await readText(alterRecording(legacy, part, by))).toMatchObject({ refused: true, code });
  });
});

const NEW_PARTY =
  '<DistinctParty FixedRef="5"><Profile ID="5" PartySubTypeID="4"/></DistinctParty>';
const PARTY_90003 = /FixedRef="90003">\s*<Comment \/>\s*<Profile ID="90003"/;
const NO_ENTRY = (uid: string) => `profile ${uid} has no entry on the list "SDN List"`;
const UNHELD = (who: string, id: string) =>
  `${who} refers to "${id}", which the reference tables do not hold`;
const EMPTY = 'an address of party 90001 under ETH is empty';

describe('refuses an advanced file that is not whole in itself', () => {
  test.each([
    ['no_publication_date', /<DateOfIssue[\s\S]*?<\/DateOfIssue>/, ''],
    ['no_publication_date', '<Month>10</Month>', '<Month>14</Month>'],
    ['no_publication_date', '<Day>7</Day>', ''],
    ['no_addresses', /<Feature ID="317[\s\S]*?<\/Feature>/g, ''],
  ])('%s: %s', async (code, part, by) => {
    expect(await readText(alterRecording(advanced, part, by))).toMatchObject({
      refused: true,
      code,
    });
  });

  test.each([
    [NO_ENTRY('5'), '</DistinctParties>', `${NEW_PARTY}</DistinctParties>`],
    [NO_ENTRY('90003'), /<SanctionsEntry ID="90003"[\s\S]*?<\/SanctionsEntry>/, ''],
    [NO_ENTRY('90001'), /<SanctionsEntries>[\s\S]*<\/SanctionsEntries>/, ''],
    [NO_ENTRY('90001'), '>SDN List<', '>Some Other List<'],
    [NO_ENTRY('90003'), 'ProfileID="90003" ListID="1550"', 'ProfileID="90003" ListID="91512"'],
    [
      'a sanctions entry names profile 90004, which the file does not hold',
      /<DistinctParty FixedRef="90004"[\s\S]*?<\/DistinctParty>/,
      '',
    ],
    [
      'a sanctions entry names profile 90009, which the file does not hold',
      'ProfileID="90003"',
      'ProfileID="90009"',
    ],
    [
      'a sanctions entry names profile 90009, which the file does not hold',
      'ProfileID="90002" ListID="91512"',
      'ProfileID="90009" ListID="91512"',
    ],
    [
      'profile 90002 has two entries on the list "SDN List"',
      'ProfileID="90002" ListID="91512"',
      'ProfileID="90002" ListID="1550"',
    ],
    [
      UNHELD('the sanctions entry of profile 90003', '9'),
      'ProfileID="90003" ListID="1550"',
      'ProfileID="90003" ListID="9"',
    ],
    ['a SanctionsEntry has no ProfileID', 'ProfileID="90003" ', ''],
    ['party 90003 has the profile "90002"', 'Profile ID="90003"', 'Profile ID="90002"'],
    ['a DistinctParty has no FixedRef', 'DistinctParty FixedRef="90003"', 'DistinctParty'],
    ['the profile 90002 stands twice', PARTY_90003, 'FixedRef="90002"><Profile ID="90002"'],
    ['party 90003 has 0 profiles, not one', /<Profile ID="90003"[\s\S]*?<\/Profile>/, ''],
    [UNHELD('a Feature of party 90001', '345'), 'ID="345" FeatureType', 'ID="346" FeatureType'],
    ['FeatureType 344 stands twice', 'ID="345" FeatureType', 'ID="344" FeatureType'],
    [UNHELD('a Feature of party 90003', '3'), 'FeatureTypeID="2"', 'FeatureTypeID="3"'],
    [EMPTY, `>${EVM}</VersionDetail>`, '></VersionDetail>'],
    [EMPTY, `<VersionDetail DetailTypeID="1432">${EVM}</VersionDetail>`, ''],
    [EMPTY, /<FeatureVersion ID="29462"[\s\S]*?<\/FeatureVersion>/, ''],
    [
      UNHELD('a Feature of party 90001', '8'),
      /<ReferenceValueSets>[\s\S]*<\/ReferenceValueSets>/,
      '',
    ],
  ])('dangling_reference: %s (%#)', async (reason, part, by) => {
    expect(await readText(alterRecording(advanced, part, by))).toEqual({
      refused: true,
      code: 'dangling_reference',
      reason: expect.stringContaining(reason),
      published: null,
    });
  });
});

// A changed schema that would lose an address refuses the file; any other fault is kept, with a
// note.

const NEW_SCHEMA = { refused: true, code: 'changed_schema' };
const SECOND_NUMBER = '<idNumber>made-up-second</idNumber></id>';
const DETAIL =
  '<VersionDetail DetailTypeID="1432">made-up-address-of-no-known-form</VersionDetail>';
const NESTED = `<Feature FeatureTypeID="345"><FeatureVersion>${DETAIL}</FeatureVersion></Feature>`;
const QQQ = 'Digital Currency Address - QQQ';

describe('refuses what could lose an address: the publisher changed the schema', () => {
  test.each([
    ['a second number in an id', /(<idType>Passport[\s\S]*?)<\/id>/, `$1${SECOND_NUMBER}`],
    ['a second type in an id', '<idType>Passport<', '<idType>Gender</idType><idType>Passport<'],
    ['a renamed idList', /<(\/?)idList>/g, '<$1identifiers>'],
    ['a renamed id', /<(\/?)id>/g, '<$1identifier>'],
    ['an id outside of its list', '</idList>', '</idList><id><uid>7</uid></id>'],
    ['an unknown element beside the ids', '</idList>', '<more/></idList>'],
    ['an unknown element in an id', '<idCountry>Utopia', '<chain/><idCountry>Utopia'],
    ['entries under an unknown element', /<sdnEntry>([\s\S]*)<\/sdnEntry>/, '<a>$&</a>'],
    ['an element inside a number', 'made-up-address-', 'made-up-<b/>address-'],
    ['two record counts', '<Record_Count>4<', '<Record_Count>5</Record_Count><Record_Count>4<'],
    ['two uids in an entry', '<uid>90003</uid>', '<uid>90005</uid><uid>90003</uid>'],
    ['a label in other words', QQQ, 'Crypto Wallet - QQQ'],
    ['a label in another case', QQQ, 'DIGITAL CURRENCY ADDRESS - QQQ'],
    ['a label with another dash', QQQ, 'Digital Currency Address – QQQ'],
    ['a label without a code', QQQ, 'Digital Currency Address -'],
    ['a digital asset', QQQ, 'Digital Asset Account: QQQ'],
    ['an address of a known form under another type', 'Digital Currency Address - ETH', 'Website'],
    ['a label in an unknown element', '</idList>', `</idList><x><y>${QQQ}</y></x>`],
    ['an address in an unknown element', '</idList>', `</idList><x>${EVM}</x>`],
    ['an address in an unknown attribute', '</idList>', `</idList><x y="${EVM}"/>`],
    ['ids in another namespace', '<idList>', '<idList xmlns="urn:other">'],
  ])('legacy: %s', async (_what, part, by) => {
    expect(await readText(alterRecording(legacy, part, by))).toMatchObject(NEW_SCHEMA);
  });

  test.each([
    ['a feature inside a feature', '<IdentityReference Iden', `${NESTED}<IdentityReference Iden`],
    ['a feature beside the profile', '</Profile>', `</Profile>${NESTED}`],
    ['a feature in an unknown element', '</Profile>', `<Wallets>${NESTED}</Wallets></Profile>`],
    ['a feature where places are passed', '<LocationPart ', `${NESTED}<LocationPart `],
    ['a renamed feature', /<(\/?)Feature(?=[ >])/g, '<$1Characteristic'],
    ['a renamed version', /<(\/?)FeatureVersion(?=[ >])/g, '<$1Version'],
    ['a renamed list of parties', /<(\/?)DistinctParties>/g, '<$1Parties>'],
    ['an unknown element in a version', DETAIL, `${DETAIL}<Network>QQQ</Network>`],
    ['an element inside an address', '-of-no-known-form<', '-of<b/>-no-known-form<'],
    ['two days of issue', /<DateOfIssue[\s\S]*?<\/DateOfIssue>/, '$&$&'],
    ['two years in a date', '<Year>2025</Year>', '<Year>2024</Year><Year>2025</Year>'],
    ['a label in other words', QQQ, 'Virtual Asset Wallet - QQQ'],
    ['a label in another case', QQQ, 'Digital currency address - QQQ'],
    [
      'an address of a known form under another type',
      '"31723" FeatureTypeID="345"',
      '"31723" FeatureTypeID="2"',
    ],
    ['an address as a registered document', '>X0000000<', `>${EVM}<`],
    ['a table of labels elsewhere', '<EntryLinkTypeValues />', `<T><U>${QQQ}</U></T>`],
    ['parties in another namespace', '<DistinctParties>', '<DistinctParties xmlns="urn:other">'],
  ])('advanced: %s', async (_what, part, by) => {
    expect(await readText(alterRecording(advanced, part, by))).toMatchObject(NEW_SCHEMA);
  });

  test('no unknown element that holds nothing like an address', async () => {
    const more = alterRecording(
      legacy,
      '</idList>',
      '</idList><genderInfo><g>Male</g></genderInfo>',
    );
    expect(await readText(more)).toEqual(await readText(legacy));
    const other = alterRecording(
      advanced,
      '</Profile>',
      '<Note xmlns="urn:x">A wallet.</Note></Profile>',
    );
    expect(await readText(other)).toEqual(await readText(advanced));
    const unused = alterRecording(
      advanced,
      'VESSEL TYPE</FeatureType>',
      '$&<FeatureType ID="5">Wallet</FeatureType>',
    );
    expect(await readText(unused)).toEqual(await readText(advanced));
  });
});

const OPEN = (what: string) => `The publisher's file leaves open ${what}`;
const ROW = { address: EVM, currency: 'ETH', uid: '90001' };

describe('keeps the address where something else of its party is amiss, with a note', () => {
  test.each([
    ['the name', { entity: null }, '<lastName>MARSHFIELD</lastName>', ''],
    ['the name', { entity: null }, '<lastName>MARSHFIELD<', '<lastName><'],
    ['the type (the list says "Ghost")', { type: null }, '>Individual<', '>Ghost<'],
    ['the programme', { programs: null }, '<program>CYBER2</program>', '<program />'],
    ['the programme', { programs: null }, /<programList>[\s\S]*?<\/programList>/, ''],
  ])('legacy: %s (%#)', async (what, field, part, by) => {
    const read = await readText(alterRecording(legacy, part, by));
    expect(read).toMatchObject({ addresses: [{ ...ROW, ...field, note: OPEN(what) }, {}, {}, {}] });
  });

  test.each([
    ['the name', { entity: null }, 'ID="1403" Primary="true"', 'ID="1403" Primary="false"'],
    ['the name', { entity: null }, 'ID="1400" Primary="false"', 'ID="1400" Primary="true"'],
    ['the name', { entity: null }, 'DocNameStatusID="1"', 'DocNameStatusID="2"'],
    ['the name', { entity: null }, 'DocNameStatusID="2"', 'DocNameStatusID="1"'],
    ['the name', { entity: null }, 'DocNameStatusID="1"', 'DocNameStatusID="77"'],
    ['the name', { entity: null }, '>Oberon<', '><'],
    ['the name', { entity: null }, '"65450" NamePartTypeID="1520"', '"65450" NamePartTypeID="15"'],
    ['the name', { entity: null }, '<NamePartGroup ID="65450" NamePartTypeID="1520" />', ''],
    ['the type', { type: null }, '"90001" PartySubTypeID="4"', '"90001" PartySubTypeID="8"'],
    ['the type', { type: null }, '"90001" PartySubTypeID="4"', '"90001"'],
    ['the type', { type: null }, '<PartyType ID="1">Individual', '<PartyType ID="1">Spirit'],
    ['the programme', { programs: null }, '<Comment>CYBER2</Comment>', '<Comment />'],
    [
      'the programme',
      { programs: null },
      /<SanctionsMeasure ID="15174[45]"[\s\S]*?<\/SanctionsMeasure>/g,
      '',
    ],
    [
      'the programme',
      { programs: null },
      'ID="151744" SanctionsTypeID="1"',
      'ID="151744" SanctionsTypeID="7"',
    ],
  ])('advanced: %s (%#)', async (what, field, part, by) => {
    const read = await readText(alterRecording(advanced, part, by));
    expect(read).toMatchObject({ addresses: [{ ...ROW, ...field, note: OPEN(what) }, {}, {}, {}] });
  });

  test('several at once, in one note', async () => {
    const bare = alterRecording(
      alterRecording(legacy, '<lastName>MARSHFIELD</lastName>', ''),
      '>Individual<',
      '><',
    );
    const note = OPEN('the type (the list says "") and the name');
    expect(await readText(bare)).toMatchObject({ addresses: [{ ...ROW, note }, {}, {}, {}] });
  });

  test('an address with invisible characters and white space of any kind around it', async () => {
    const dirty = `\u00a0\u200b${EVM.slice(0, 9)}\u00ad${EVM.slice(9)}\ufeff\u2003`;
    expect(await readText(alterRecording(legacy, EVM, dirty))).toEqual(await readText(legacy));
    expect(await readText(alterRecording(advanced, EVM, dirty))).toEqual(await readText(advanced));
  });
});
