// What a changed schema would lose refuses the file; what else is amiss is kept, with a note.

import { describe, expect, test } from 'vitest';
import { advanced, altered, EVM, legacy, readText } from '../../testing/sdn-recordings.ts';

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
    expect(await readText(altered(legacy, part, by))).toMatchObject(NEW_SCHEMA);
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
    expect(await readText(altered(advanced, part, by))).toMatchObject(NEW_SCHEMA);
  });

  test('no unknown element that holds nothing like an address', async () => {
    const more = altered(legacy, '</idList>', '</idList><genderInfo><g>Male</g></genderInfo>');
    expect(await readText(more)).toEqual(await readText(legacy));
    const other = altered(advanced, '</Profile>', '<Note xmlns="urn:x">A wallet.</Note></Profile>');
    expect(await readText(other)).toEqual(await readText(advanced));
    const unused = altered(
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
    const read = await readText(altered(legacy, part, by));
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
    const read = await readText(altered(advanced, part, by));
    expect(read).toMatchObject({ addresses: [{ ...ROW, ...field, note: OPEN(what) }, {}, {}, {}] });
  });

  test('several at once, in one note', async () => {
    const bare = altered(
      altered(legacy, '<lastName>MARSHFIELD</lastName>', ''),
      '>Individual<',
      '><',
    );
    const note = OPEN('the type (the list says "") and the name');
    expect(await readText(bare)).toMatchObject({ addresses: [{ ...ROW, note }, {}, {}, {}] });
  });

  test('an address with invisible characters and white space of any kind around it', async () => {
    const dirty = `\u00a0\u200b${EVM.slice(0, 9)}\u00ad${EVM.slice(9)}\ufeff\u2003`;
    expect(await readText(altered(legacy, EVM, dirty))).toEqual(await readText(legacy));
    expect(await readText(altered(advanced, EVM, dirty))).toEqual(await readText(advanced));
  });
});
