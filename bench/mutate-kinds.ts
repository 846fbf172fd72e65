// Each way to spoil a file changes the text at a place that the random numbers choose. What it
// cannot change in a format it leaves out.

/** Random numbers from 0 to 1, 1 left out. The same seed gives the same ones. */
export type Random = () => number;

/** A way to spoil a file, and the text after it; `null` where it has no place there. */
export type Mutation = {
  readonly group: string;
  readonly name: string;
  readonly of: (text: string, random: Random) => string | null;
};

/** One of some. */
export function oneOf<T>(of: readonly T[], random: Random): T | undefined {
  return of[Math.floor(random() * of.length)];
}

type Change = (found: string, random: Random) => string;

function at(pattern: RegExp, change: Change): Mutation['of'] {
  return (text, random) => {
    const found = oneOf([...text.matchAll(pattern)], random);
    if (found === undefined) return null;
    const [whole] = found;
    return (
      text.slice(0, found.index) + change(whole, random) + text.slice(found.index + whole.length)
    );
  };
}

function everywhere(pattern: RegExp, by: string): Mutation['of'] {
  return (text) => {
    const changed = text.replace(pattern, by);
    return changed === text ? null : changed;
  };
}

function swapped(pattern: RegExp): Mutation['of'] {
  return (text, random) => {
    const all = [...text.matchAll(pattern)];
    const [a, b] = [oneOf(all, random), oneOf(all, random)];
    if (a === undefined || b === undefined || a[0] === b[0]) return null;
    const [first, second] = a.index < b.index ? [a, b] : [b, a];
    return (
      text.slice(0, first.index) +
      second[0] +
      text.slice(first.index + first[0].length, second.index) +
      first[0] +
      text.slice(second.index + second[0].length)
    );
  };
}

const gone: Change = () => '';
const twice: Change = (found) => found + found;
const renamed =
  (to: string): Change =>
  (found) =>
    found.replace(/^<\w+/, `<${to}`).replace(/<\/\w+>$/, `</${to}>`);
const within =
  (opens: string, closes: string): Change =>
  (found) =>
    opens + found + closes;
const other =
  (pattern: RegExp, by: string): Change =>
  (found) =>
    found.replace(pattern, by);

function group(name: string, ways: { readonly [way: string]: Mutation['of'] }): Mutation[] {
  return Object.entries(ways).map(([way, of]) => ({ group: name, name: way, of }));
}

const PARTY = /<DistinctParty [\s\S]*?<\/DistinctParty>|<sdnEntry>[\s\S]*?<\/sdnEntry>/g;
const ENTRY = /<SanctionsEntry [\s\S]*?<\/SanctionsEntry>/g;
/** An address as both formats print it: the text between two tags, without white space. */
const PRINTED = '[A-Za-z0-9:]{25,}';
const IN_DETAIL = `<VersionDetail DetailTypeID="1432">${PRINTED}</VersionDetail>`;
const DETAIL = new RegExp(`${IN_DETAIL}|<idNumber>${PRINTED}</idNumber>`, 'g');
/** A feature or an id that holds an address. */
const FEATURE = new RegExp(
  `<Feature [^>]*>\\s*<FeatureVersion [^>]*>\\s*<Comment ?/>\\s*${IN_DETAIL}[\\s\\S]*?</Feature>` +
    '|<id>(?:(?!</id>)[\\s\\S])*Digital Currency(?:(?!</id>)[\\s\\S])*</id>',
  'g',
);
const ADDRESS = new RegExp(`(?<=DetailTypeID="1432">|<idNumber>)${PRINTED}(?=<)`, 'g');
const LABEL = /(?<=>)Digital Currency Address - \w+(?=<)/g;
const TYPE_OF_FEATURE = /(?<=<Feature ID="\d+" FeatureTypeID=")\d+(?=")/g;
const DATE = /<DateOfIssue[\s\S]*?<\/DateOfIssue>|<Publish_Date>[^<]*<\/Publish_Date>/g;
const REFERRING = [
  'ProfileID|FixedRef|NamePartGroupID|PartySubTypeID|FeatureTypeID|SanctionsTypeID|ListID',
  'NamePartTypeID|DocNameStatusID|Profile ID|List ID|FeatureType ID|SanctionsType ID',
].join('|');
const REFERENCE = new RegExp(`(?<=(?:${REFERRING})=")\\d+(?=")|(?<=<uid>)\\d+`, 'g');
const TABLES = 'FeatureType|List|SanctionsType|NamePartType|DocNameStatus|PartyType|PartySubType';
const TABLE_ROW = new RegExp(`<(${TABLES}) ID[^>]*>[^<]*</\\1>`, 'g');
const WORD = /(?<=>)[^<>\s][^<>]*(?=<)/g;

const splice =
  (cut: (length: number, random: Random) => number, change: Change): Mutation['of'] =>
  (text, random) => {
    const from = Math.floor(random() * text.length);
    const until = Math.min(text.length, from + cut(text.length, random));
    return text.slice(0, from) + change(text.slice(from, until), random) + text.slice(until);
  };

const some = (_: number, random: Random) => 1 + Math.floor(random() * 2_000);
const one = () => 1;
const byte: Change = (_, random) => String.fromCharCode(32 + Math.floor(random() * 95));

/** Every way to spoil a file. */
export const MUTATIONS: readonly Mutation[] = [
  ...group('parties', {
    'taken out': at(PARTY, gone),
    'printed twice': at(PARTY, twice),
    'under another element': at(PARTY, renamed('Person')),
    'inside an unknown element': at(PARTY, within('<More>', '</More>')),
    'in another namespace': at(PARTY, other(/^<(\w+)/, '<$1 xmlns="urn:other"')),
    'two in each other’s place': swapped(PARTY),
    'without its name': at(PARTY, other(/<Alias [\s\S]*<\/Alias>|<lastName>.*<\/lastName>/, '')),
    'without its type': at(PARTY, other(/ PartySubTypeID="\d+"|<sdnType>.*<\/sdnType>/, '')),
  }),
  ...group('entries', {
    'taken out': at(ENTRY, gone),
    'printed twice': at(ENTRY, twice),
    'under another element': at(ENTRY, renamed('Entry')),
    'of another list': at(ENTRY, other(/ListID="\d+"/, 'ListID="91512"')),
    'without a programme': at(ENTRY, other(/<Comment>[^<]*<\/Comment>/g, '<Comment/>')),
    'two in each other’s place': swapped(ENTRY),
  }),
  ...group('features', {
    'taken out': at(FEATURE, gone),
    'printed twice': at(FEATURE, twice),
    'under another element': at(FEATURE, renamed('Wallet')),
    'every one under another element': everywhere(/<(\/?)(Feature|idList)(?=[ >])/g, '<$1Wallets'),
    'inside an unknown element': at(FEATURE, within('<Wallets>', '</Wallets>')),
    'inside a comment': at(FEATURE, within('<!--', '-->')),
    'inside another': at(FEATURE, (found) => found.replace(/(<\/(?:Feature|id)>)$/, `${found}$1`)),
    'in another namespace': at(FEATURE, other(/^<(\w+)/, '<$1 xmlns="urn:other"')),
    'of another type': at(
      FEATURE,
      other(/FeatureTypeID="\d+"|Digital Currency Address - \w+/, 'FeatureTypeID="8"'),
    ),
    'without an address': at(DETAIL, gone),
    'with an empty address': at(ADDRESS, gone),
    'with two addresses': at(DETAIL, twice),
    'with an address in an attribute': at(DETAIL, (found) =>
      found.replace(/>([^<]*)<\/\w+>/, ' Value="$1"/>'),
    ),
    'with an address in an inner element': at(ADDRESS, within('<V>', '</V>')),
    'with an address under another element': at(DETAIL, renamed('Value')),
    'with text around the address': at(ADDRESS, within('wallet ', ' (primary)')),
    'with an invisible character': at(
      ADDRESS,
      (found) => `${found.slice(0, 7)}\u200b${found.slice(7)}`,
    ),
    'with a break in the address': at(
      ADDRESS,
      (found) => `${found.slice(0, 9)}\n ${found.slice(9)}`,
    ),
    'with a comment in the address': at(
      ADDRESS,
      (found) => `${found.slice(0, 9)}<!-- -->${found.slice(9)}`,
    ),
    'with a letter changed': at(ADDRESS, (found) => `${found.slice(0, -3)}7${found.slice(-2)}`),
    'two addresses in each other’s place': swapped(ADDRESS),
  }),
  ...group('references', {
    'to something else': at(REFERENCE, (found) => String(Number(found) + 1)),
    'to another that exists': swapped(REFERENCE),
    'to nothing': at(REFERENCE, gone),
    'a type of feature to another': swapped(TYPE_OF_FEATURE),
    'a table without a row': at(TABLE_ROW, gone),
    'a table with a row twice': at(TABLE_ROW, twice),
    'two rows in each other’s place': swapped(TABLE_ROW),
    'without the tables': everywhere(/<ReferenceValueSets>[\s\S]*<\/ReferenceValueSets>/, ''),
  }),
  ...group('dates', {
    'taken out': at(DATE, gone),
    'printed twice': at(DATE, twice),
    'another year': at(DATE, other(/20\d\d/, '2031')),
    'an earlier year': at(DATE, other(/20\d\d/, '2019')),
    'no day': at(DATE, other(/\d+(?=<\/Day>)|^<Publish_Date>\d+/, '99')),
    'of a listing': at(/<EntryEvent [\s\S]*?<\/EntryEvent>/g, other(/<Year>\d+/, '<Year>1066')),
  }),
  ...group('namespaces', {
    'of the root, another': everywhere(/ xmlns="[^"]*"/, ' xmlns="urn:other"'),
    'of the root, gone': everywhere(/ xmlns="[^"]*"/, ''),
    'of the root, the former': everywhere(
      / xmlns="[^"]*ADVANCED_XML"/,
      ' xmlns="http://www.un.org/sanctions/1.0"',
    ),
    'of the parties': everywhere(
      /<DistinctParties>|<idList>/,
      '<DistinctParties xmlns="urn:other">',
    ),
    'of an element': at(
      /<(?:Profile|Feature|FeatureVersion|Identity|id|idNumber)(?=[ >])/g,
      (found) => `${found} xmlns="urn:other"`,
    ),
  }),
  ...group('words', {
    'a label: crypto wallet': at(LABEL, other(/^.* -/, 'Crypto Wallet -')),
    'a label: digital asset': at(LABEL, other(/^.* -/, 'Digital Asset Address:')),
    'a label: virtual currency': at(LABEL, other(/^Digital/, 'Virtual')),
    'a label in capitals': at(LABEL, (found) => found.toUpperCase()),
    'a label with a dash': at(LABEL, other(/ - /, ' – ')),
    'a label of something else': at(LABEL, () => 'Website'),
    'a label of another code': at(LABEL, other(/\w+$/, 'NEW')),
    'the name of the list': everywhere(/>SDN List</, '>Sanctions List<'),
    'any word gone': at(WORD, gone),
    'any word another': at(WORD, () => 'something else'),
    'two words in each other’s place': swapped(WORD),
  }),
  ...group('bytes', {
    'one changed': splice(one, byte),
    'one taken out': splice(one, gone),
    'one put in': splice(() => 0, byte),
    'some taken out': splice(some, gone),
    'some printed twice': splice(some, twice),
    'the end cut off': (text, random) => text.slice(0, Math.floor(random() * text.length)),
    'the end of another answer': (text, random) =>
      `${text.slice(0, Math.floor(random() * text.length))}<html><body>504</body></html>`,
    'a tag taken out': at(/<\/?\w[^>]*>/g, gone),
    'a line taken out': at(/\n[^\n]*(?=\n)/g, gone),
  }),
];
