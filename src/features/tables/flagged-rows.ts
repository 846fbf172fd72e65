// Reads flags from the rows of a file. The columns identify three published layouts and one of our
// own. A row that names neither a tag nor a category flags nothing.

import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { parseChain } from '../../chain/chain.ts';
import { formatIsoDate, parseIsoDate } from '../../chain/time.ts';
import { textOrEmpty } from '../../evidence/measure.ts';
import type { FlaggedAddressesPort, FlaggedLookUp, FlaggedRow } from '../../ports/rug-flags.ts';
import type { RawRow } from '../../ports/tables.ts';
import {
  type Accepted,
  flagIn,
  type ImportContext,
  type ImportedTable,
  isShowable,
  type RowRefused,
  refuseRow,
  rowsByAddress,
  valueIn,
} from './import-rows.ts';
import { chainOfTag, isPublicLink } from './labels.ts';

const TAG_CHARS_MAX = 200;
const CATEGORY_CHARS_MAX = 60;
const CHAIN_CHARS_MAX = 40;
const HASH = /^0x[0-9a-f]{64}$/;

/** The table of flagged addresses. Rows of different sources stand side by side. */
export const flaggedAddresses: ImportedTable<FlaggedRow, FlaggedAddressesPort, FlaggedLookUp> = {
  name: 'flagged_addresses',
  port: 'flagged_addresses',
  title: 'Flagged address table',
  ages: 'table',
  what: 'the table of flagged addresses',
  columns: {
    address: 'text',
    chain: 'text',
    tag: 'text',
    category: 'text',
    is_contract: 'flag',
    creator: 'text',
    creation_tx: 'text',
    source: 'text',
    source_url: 'text',
    first_seen: 'day',
  },
  keys: { match_key: 'address', creator_key: 'creator' },
  counting: { which: 'newest import' },
  // At about 500 bytes each; the published tables have tens of thousands.
  held: { max: 500_000, of: 'rows', beyond: 'refuse' },
  index: () => {
    const own = rowsByAddress<FlaggedRow>();
    const made = rowsByAddress<FlaggedRow>();
    return {
      add: (row) => {
        own.add(row.address, row);
        if (row.creator !== null) made.add(row.creator, row);
      },
      size: own.size,
      answer: (table_rows, asked) => {
        return { table_rows, found: own.under(asked), created: made.under(asked) };
      },
    };
  },
  judge: (told) => {
    const today = formatIsoDate(told.imported_at);
    return (raw, layout) => {
      const isTag = layout === 'tagpack';
      const said = isTag ? readAbuseTag(raw) : readFlagWords(raw);
      return 'code' in said ? said : flaggedRow(said, told, today, isTag ? TAG_FIELDS : COLUMNS);
    };
  },
  words: {
    command: 'findings import',
    summary: 'Fill the table of flagged addresses from a published file.',
    nouns: ['flagged row', 'flagged rows'],
    example:
      'phishing_scams.csv --source forta-phishing ' +
      '--source-url https://github.com/forta-network/labelled-datasets',
    file: [
      'CSV (.csv), JSON lines (.jsonl) or a JSON list (.json); the layouts of the',
      'Forta labelled data sets, or columns address, tag and, where known,',
      'category, chain, is_contract, creator, creation_tx, source_url, first_seen;',
      'or a GraphSense TagPack (.yaml), of which the tags of abuse are taken',
    ],
    sourceOption: 'source',
    source: 'whose rows these are; a later import of the same name replaces them all',
    unnamed: null,
    linked: true,
    datable: false,
    otherwise: null,
    notes: [],
  },
};

const SAYS_NOTHING = {
  address: null,
  chain: null,
  tag: null,
  category: null,
  contract: null,
  creator: null,
  creationTx: null,
  link: null,
  day: null,
};
type FlagWords = Readonly<Record<keyof typeof SAYS_NOTHING, string | null>>;

/** What a format calls the values that a row can be refused for. */
const COLUMNS = {
  tag: 'tag',
  category: 'category',
  link: 'source_url',
  day: 'first_seen',
} as const;
const TAG_FIELDS = { tag: 'label', category: 'abuse', link: 'source', day: 'lastmod' } as const;

/**
 * Concepts of the taxonomy that GraphSense and INTERPOL publish for abuse, which newer packs name
 * instead of the field `abuse`: graphsense-tagpack-tool, src/tagpack/db/concepts.yaml.
 */
const ABUSES: ReadonlySet<string> = new Set([
  'abuse',
  'blackmail',
  'csam',
  'dark_web',
  'extortion',
  'hack',
  'phishing',
  'ponzi_scheme',
  'pyramid_scheme',
  'ransomware',
  'sanction',
  'scam',
  'service_hack',
  'sextortion',
  'shop_scam',
  'terrorism',
]);

/** A tag of a GraphSense TagPack. Only one of abuse flags an address. */
function readAbuseTag(raw: RawRow): FlagWords | RowRefused {
  const cell = (field: string) => valueIn(raw, field);
  const kinds = [cell('category'), ...textOrEmpty(cell('concepts')).split(' ')];
  const concept = kinds.find((one) => one !== null && ABUSES.has(one));
  const abuse = firstOf(cell('abuse'), concept === undefined ? null : concept);
  if (abuse === null) return refuseRow('no_abuse', null);
  const day = cell('lastmod');
  return {
    ...SAYS_NOTHING,
    address: cell('address'),
    chain: chainOfTag(raw),
    tag: firstOf(cell('label'), cell('actor')),
    category: abuse,
    link: cell('source'),
    // A time begins with its day.
    day: day === null ? null : day.slice(0, ISO_DAY_CHARS),
  };
}

const ISO_DAY_CHARS = 10;

/** The layout is told by the column that holds the address. */
function readFlagWords(raw: RawRow): FlagWords {
  const cell = (field: string) => valueIn(raw, field);
  const maliciousContract = cell('contract_address');
  if (maliciousContract !== null) {
    // Forta's malicious_smart_contracts.csv: a contract without a tag of its own bears its maker's.
    return {
      ...SAYS_NOTHING,
      address: maliciousContract,
      tag: firstOf(cell('contract_tag'), cell('contract_creator_tag'), cell('notes')),
      category: cell('contract_creator_etherscan_label'),
      contract: 'true',
      creator: cell('contract_creator'),
      creationTx: cell('contract_creation_tx'),
    };
  }
  const banned = cell('banned_address');
  if (banned !== null) {
    // Forta's etherscan_malicious_labels.csv.
    const [tag, category] = [cell('wallet_tag'), cell('data_source')];
    return { ...SAYS_NOTHING, address: banned, tag, category };
  }
  return {
    address: cell('address'),
    chain: cell('chain'),
    // Forta's phishing_scams.csv names its columns after their source.
    tag: firstOf(cell('tag'), cell('etherscan_tag')),
    category: firstOf(cell('category'), cell('etherscan_labels')),
    contract: cell('is_contract'),
    creator: cell('creator'),
    creationTx: cell('creation_tx'),
    link: cell('source_url'),
    day: cell('first_seen'),
  };
}

function firstOf(...texts: readonly (string | null)[]): string | null {
  const found = texts.find((text) => text !== null);
  return found === undefined ? null : found;
}

function flaggedRow(
  said: FlagWords,
  { source, source_url }: ImportContext,
  today: string,
  fields: typeof COLUMNS | typeof TAG_FIELDS,
): Accepted<FlaggedRow> | RowRefused {
  if (said.address === null) return refuseRow('missing_field', 'address');
  const tag = firstOf(said.tag, said.category);
  const category = firstOf(said.category, said.tag);
  if (tag === null || category === null) return refuseRow('missing_field', fields.tag);
  if (!isShowable(tag, TAG_CHARS_MAX)) return refuseRow('bad_text', fields.tag);
  if (!isShowable(category, CATEGORY_CHARS_MAX)) return refuseRow('bad_text', fields.category);
  const parsed = parseAddress(said.address);
  if (parsed === null) return refuseRow('bad_address', null);
  if (isSystemAddress(parsed.address)) return refuseRow('system_address', null);
  if (said.chain !== null && !isShowable(said.chain, CHAIN_CHARS_MAX)) {
    return refuseRow('bad_text', 'chain');
  }
  const made = creationOf(said);
  if ('code' in made) return made;
  const isContract = flagIn(said.contract);
  if (isContract === undefined) return refuseRow('bad_flag', 'is_contract');
  if (said.link !== null && !isPublicLink(said.link)) return refuseRow('bad_link', fields.link);
  const dated_at = said.day === null ? null : parseIsoDate(said.day);
  if (said.day !== null && dated_at === null) return refuseRow('bad_time', fields.day);
  const chain = said.chain === null ? null : said.chain.toLowerCase();
  const known = chain === null ? null : parseChain(chain);
  const row: FlaggedRow = {
    address: parsed.address,
    tag,
    category,
    chain: known === null ? chain : known,
    is_contract: isContract,
    source,
    ...made,
    source_url: said.link === null ? source_url : said.link,
    first_seen: dated_at === null ? today : formatIsoDate(dated_at),
  };
  return { row, dated_at };
}

function creationOf({
  creator,
  creationTx,
}: FlagWords): Pick<FlaggedRow, 'creator' | 'creation_tx'> | RowRefused {
  const tx = creationTx === null ? null : creationTx.toLowerCase();
  if (tx !== null && !HASH.test(tx)) return refuseRow('bad_text', 'creation_tx');
  if (creator === null) return { creator: null, creation_tx: tx };
  const parsed = parseAddress(creator);
  if (parsed === null) return refuseRow('bad_address', 'creator');
  if (isSystemAddress(parsed.address)) return refuseRow('system_address', 'creator');
  return { creator: parsed.address, creation_tx: tx };
}
