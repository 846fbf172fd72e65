// Reads exchange-wallet labels from a file, and picks the leading label of an address. It keeps the
// source's words. A row that names no entity is no exchange label.

import { type AddressKind, isSystemAddress, matchKey, parseAddress } from '../../chain/address.ts';
import { formatIsoDate, parseIsoDate } from '../../chain/time.ts';
import { rowsUnder, textOrEmpty } from '../../evidence/measure.ts';
import type { ServiceMark } from '../../ports/entities.ts';
import {
  type ExchangeLabel,
  type ExchangeLabelsPort,
  LABEL_ROLES,
  type LabelLookUp,
  type LabelRole,
  type RawRow,
  type RefusedLine,
  type ShippedLabels,
  type TableLine,
} from '../../ports/tables.ts';
import {
  type Accepted,
  type ImportContext,
  type ImportedTable,
  isShowable,
  type RowRefused,
  refuseRow,
  rowRefusalText,
  rowsByAddress,
  valueIn,
} from './import-rows.ts';

/**
 * The rungs of GraphSense's confidence ladder by their published ids, the strongest first, each
 * with its published level (0 to 100): graphsense-tagpack-tool, src/tagpack/db/confidence.csv;
 * `ledger_immanent` stands in older packs.
 */
const LADDER = [
  ['override', 100],
  ['ownership', 100],
  ['ledger_immanent', 100],
  ['manual_transaction', 90],
  ['service_api', 70],
  ['authority_data', 60],
  ['trusted_provider', 50],
  ['service_data', 50],
  ['forensic', 50],
  ['untrusted_transaction', 40],
  ['web_crawl', 20],
  ['heuristic', 10],
  ['unknown', 5],
] as const;

/** The ids of the rungs, the strongest first. */
export const CONFIDENCE_LADDER = LADDER.map(([id]) => id);

const LEVELS: ReadonlyMap<string, number> = new Map(LADDER);

/** The published level of a rung, 0 to 100; `null` for a rung that the ladder does not know. */
export function confidenceLevel(confidence: string): number | null {
  const level = LEVELS.get(confidence);
  return level === undefined ? null : level;
}

const RUNGS: ReadonlyMap<string, number> = new Map(LADDER.map(([id], i) => [id, i]));

/** The rung of a row whose source states none: it was gathered from the web or a data dump. */
const CONFIDENCE_UNSTATED = 'web_crawl';

/**
 * The role that a label's own words name, whole words in any case: `Binance: Hot Wallet 6` is hot,
 * `Eth2 Depositor` is no deposit. Null where it names none.
 */
export function roleInText(text: string): LabelRole | null {
  const found = ROLE_WORDS.find(([, word]) => word.test(text));
  return found === undefined ? null : found[0];
}

const ROLE_WORDS: readonly (readonly [LabelRole, RegExp])[] = [
  ['hot', /\bhot\b/i],
  ['cold', /\bcold\b/i],
  ['deposit', /\bdeposits?\b/i],
  ['deployer', /\bdeployer\b/i],
  ['treasury', /\btreasury\b/i],
];

/**
 * Whether an address of this role links its users: only a deposit address belongs to one. A hot or
 * cold wallet is paid by many unrelated people, and of the other roles nothing is known.
 */
export function isClusterable(role: LabelRole): boolean {
  return role === 'deposit';
}

const CHAIN_NAMES: ReadonlyMap<string, { readonly chain: string; readonly kind: AddressKind }> =
  new Map([
    ...chainNames('ethereum', 'evm', ['ethereum', 'eth', 'erc20']),
    ...chainNames('arbitrum', 'evm', ['arbitrum', 'arb']),
    ...chainNames('base', 'evm', ['base']),
    ...chainNames('bsc', 'evm', ['bsc', 'bep20']),
    ...chainNames('polygon', 'evm', ['polygon', 'matic', 'pol']),
    ...chainNames('hyperevm', 'evm', ['hyperevm']),
    ...chainNames('solana', 'solana', ['solana', 'sol']),
    ...chainNames('bitcoin', 'bitcoin', ['bitcoin', 'btc', 'xbt']),
    ...chainNames('tron', 'tron', ['tron', 'trx', 'trc20']),
  ]);

function chainNames(chain: string, kind: AddressKind, names: readonly string[]) {
  return names.map((name) => [name, { chain, kind }] as const);
}

/** Chains that spell some of their addresses exactly as Bitcoin does, though others hold them. */
const SPELLED_LIKE_BITCOIN: ReadonlySet<string> = new Set([
  'bch',
  'bitcoin_cash',
  'bitcoin-cash',
  'bitcoincash',
  'bsv',
  'bitcoin_sv',
  'bitcoin-sv',
  'bitcoinsv',
  'ecash',
  'xec',
  'litecoin',
  'ltc',
]);

const ENTITY_CHARS_MAX = 100;
const LABEL_CHARS_MAX = 200;
const CHAIN_CHARS_MAX = 40;
const LINK_CHARS_MAX = 500;

/** The exchange-wallet table: rows of different sources stand side by side, also in conflict. */
export const exchangeLabels: ImportedTable<ExchangeLabel, ExchangeLabelsPort, LabelLookUp> = {
  name: 'exchange_labels',
  port: 'exchange_labels',
  title: 'Exchange wallet table',
  ages: 'table',
  what: 'the exchange-wallet table',
  columns: {
    address: 'text',
    chain: 'text',
    label: 'text',
    entity: 'text',
    role: 'text',
    confidence: 'text',
    clusterable: 'flag',
    source: 'text',
    source_url: 'text',
    first_seen: 'day',
  },
  keys: { match_key: 'address' },
  counting: { which: 'newest import' },
  // At about 330 bytes each.
  held: { max: 500_000, of: 'rows', beyond: 'ask' },
  index: () => {
    const labels = rowsByAddress<ExchangeLabel>();
    return {
      add: (label) => labels.add(label.address, label),
      size: labels.size,
      answer: (table_rows, addresses) => ({ table_rows, found: labels.under(addresses) }),
    };
  },
  judge: (told) => {
    const today = formatIsoDate(told.imported_at);
    return (raw, layout) => {
      const isTag = layout === 'tagpack';
      const said = isTag ? readTag(raw) : readColumns(raw);
      return 'code' in said ? said : labelRow(said, told, today, isTag ? TAG_FIELDS : COLUMNS);
    };
  },
  words: {
    command: 'labels import',
    summary: 'Fill the exchange-wallet table from a file of labels.',
    nouns: ['label', 'labels'],
    example:
      'binance.yaml --source graphsense-binance ' +
      '--source-url https://github.com/graphsense/graphsense-tagpacks',
    file: [
      'GraphSense TagPack (.yaml), CSV (.csv), JSON lines (.jsonl), or a JSON list',
      '(.json); columns address, entity and, where known, chain, label, role,',
      'confidence, source_url, first_seen',
    ],
    sourceOption: 'source',
    source: 'whose rows these are; a later import of the same name replaces them all',
    unnamed: null,
    linked: true,
    datable: false,
    otherwise: { option: 'role', words: LABEL_ROLES },
    notes: [],
  },
};

type LabelWords = Readonly<
  Record<
    'address' | 'chain' | 'entity' | 'label' | 'role' | 'confidence' | 'link' | 'day',
    string | null
  >
>;

/** What a format calls the values that a row can be refused for. */
const COLUMNS = { entity: 'entity', link: 'source_url', day: 'first_seen' } as const;
const TAG_FIELDS = { entity: 'actor or label', link: 'source', day: 'lastmod' } as const;

function readColumns(raw: RawRow): LabelWords {
  return {
    address: valueIn(raw, 'address'),
    chain: valueIn(raw, 'chain'),
    entity: valueIn(raw, 'entity'),
    label: valueIn(raw, 'label'),
    role: valueIn(raw, 'role'),
    confidence: valueIn(raw, 'confidence'),
    link: valueIn(raw, 'source_url'),
    day: valueIn(raw, 'first_seen'),
  };
}

/** A TagPack tag with what it inherits. Only a tag of an exchange, and of no abuse, is one. */
function readTag(raw: RawRow): LabelWords | RowRefused {
  const category = valueIn(raw, 'category');
  const concepts = valueIn(raw, 'concepts');
  const kinds = category === null ? concepts?.split(' ') : [category];
  if (kinds?.includes('exchange') !== true || valueIn(raw, 'abuse') !== null) {
    return refuseRow('not_an_exchange', null);
  }
  const [actor, label] = [valueIn(raw, 'actor'), valueIn(raw, 'label')];
  return {
    address: valueIn(raw, 'address'),
    chain: chainOfTag(raw),
    // Packs without actors name the exchange in the label.
    entity: actor === null ? label : actor,
    label,
    role: null,
    confidence: valueIn(raw, 'confidence'),
    link: valueIn(raw, 'source'),
    day: valueIn(raw, 'lastmod'),
  };
}

/** A tag's network, else its currency where that is a chain's own coin and not a token's symbol. */
export function chainOfTag(raw: RawRow): string | null {
  const network = valueIn(raw, 'network');
  const currency = valueIn(raw, 'currency');
  const stated = network === null ? currency : network;
  if (stated === null) return null;
  const name = stated.toLowerCase();
  const served = CHAIN_NAMES.get(name);
  if (served !== undefined) return served.chain;
  return network !== null || SPELLED_LIKE_BITCOIN.has(name) ? name : null;
}

function labelRow(
  said: LabelWords,
  told: ImportContext,
  today: string,
  fields: typeof COLUMNS | typeof TAG_FIELDS,
): Accepted<ExchangeLabel> | RowRefused {
  if (said.address === null) return refuseRow('missing_field', 'address');
  if (said.entity === null) return refuseRow('missing_field', fields.entity);
  const placed = placeAddress(said.address, said.chain);
  if ('code' in placed) return placed;
  const label = said.label === null ? said.entity : said.label;
  if (!isShowable(said.entity, ENTITY_CHARS_MAX)) return refuseRow('bad_text', fields.entity);
  if (!isShowable(label, LABEL_CHARS_MAX)) return refuseRow('bad_text', 'label');
  const role = roleOf(said.role, label, told.otherwise);
  if (role === null) return refuseRow('unknown_role', null);
  const confidence = said.confidence === null ? CONFIDENCE_UNSTATED : said.confidence;
  if (rungOf(confidence) === null) return refuseRow('unknown_confidence', null);
  if (said.link !== null && !isPublicLink(said.link)) return refuseRow('bad_link', fields.link);
  // A time begins with its day.
  const dated_at = said.day === null ? null : parseIsoDate(said.day.slice(0, ISO_DAY_CHARS));
  if (said.day !== null && dated_at === null) return refuseRow('bad_time', fields.day);
  const row: ExchangeLabel = {
    ...placed,
    label,
    entity: said.entity,
    role,
    confidence,
    clusterable: isClusterable(role),
    source: told.source,
    source_url: said.link === null ? told.source_url : said.link,
    first_seen: dated_at === null ? today : formatIsoDate(dated_at),
  };
  return { row, dated_at };
}

/**
 * The address in its normal form, and the chain by our name for it. A chain that is not served
 * here keeps its source's name; the form of the address decides then.
 */
function placeAddress(
  text: string,
  chainText: string | null,
): Pick<ExchangeLabel, 'address' | 'chain'> | RowRefused {
  if (chainText !== null && !isShowable(chainText, CHAIN_CHARS_MAX)) {
    return refuseRow('bad_text', 'chain');
  }
  const name = chainText === null ? null : chainText.toLowerCase();
  const served = name === null ? undefined : CHAIN_NAMES.get(name);
  const parsed = parseAddress(text);
  if (parsed === null) return refuseRow('bad_address', null);
  const { address, kind } = parsed;
  if (served !== undefined && served.kind !== kind) {
    return refuseRow('wrong_form_for_chain', served.chain);
  }
  if (kind === 'bitcoin' && name !== null && SPELLED_LIKE_BITCOIN.has(name)) {
    return refuseRow('chain_not_told_apart', name);
  }
  if (isSystemAddress(address)) return refuseRow('system_address', null);
  return { address, chain: served === undefined ? name : served.chain };
}

function roleOf(stated: string | null, label: string, otherwise: string | null): LabelRole | null {
  if (stated !== null) return parseRole(stated.toLowerCase());
  const inText = roleInText(label);
  if (inText !== null) return inText;
  return otherwise === null ? 'other' : parseRole(otherwise);
}

function parseRole(word: string): LabelRole | null {
  const role = LABEL_ROLES.find((known) => known === word);
  return role === undefined ? null : role;
}

function rungOf(confidence: string): number | null {
  const rung = RUNGS.get(confidence);
  return rung === undefined ? null : rung;
}

/** Whether a link may be published: plain http or https, without user or password. */
export function isPublicLink(text: string): boolean {
  if (!isShowable(text, LINK_CHARS_MAX) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username + password === '';
}

const ISO_DAY_CHARS = 10;

/**
 * The label that speaks for an address where sources disagree: the strongest rung first, then one
 * that names a role, then the order of the sources' names. Null where there is none.
 */
export function leadingLabel(labels: readonly ExchangeLabel[]): ExchangeLabel | null {
  if (labels.length === 0) return null;
  const [first, ...others] = labels;
  if (first === undefined) return null;
  return others.reduce((best, label) => (leads(label, best) ? label : best), first);
}

function leads(label: ExchangeLabel, best: ExchangeLabel): boolean {
  const [mine, theirs] = [weight(label), weight(best)];
  return mine === theirs ? label.source < best.source : mine < theirs;
}

// A rung outweighs any role; a rung unknown to the ladder stands below all of it.
function weight({ confidence, role }: ExchangeLabel): number {
  const rung = rungOf(confidence);
  const height = rung === null ? CONFIDENCE_LADDER.length : rung;
  return 2 * height + (role === 'other' ? 1 : 0);
}

// Finds labelled addresses, and those whose label forbids links. Many unrelated people pay a hot or
// cold wallet; a deposit address belongs to one customer.

/** Of a wallet that may take deposits: its label calls it hot, or tells no role. */
export const RECEIVER_ROLES = ['hot', 'unstated'] as const;
export type ReceiverRole = (typeof RECEIVER_ROLES)[number];

/** The names in the labels of some addresses. */
export type LabelledNames = {
  readonly isLabelled: (address: string) => boolean;
  /** Whether it is an exchange's own: any labelled wallet but a customer's deposit address. */
  readonly isService: (address: string) => boolean;
  /** The wallets that may take deposits, by the exchange of each: hot ones, and of no told role. */
  readonly receivers: ReadonlyMap<string, { exchange: string; role: ReceiverRole }>;
  /** Every labelled address, and the exchange that its strongest label names. */
  readonly owners: ReadonlyMap<string, string>;
  /** The exchanges of those, as their labels spell them. */
  readonly names: ReadonlyMap<string, string>;
  readonly services: readonly ServiceMark[];
  /** Every labelled wallet but deposit addresses, with the exchange as its label spells it. */
  readonly exchanges: ReadonlyMap<string, string>;
  readonly labelsOf: (address: string) => readonly ExchangeLabel[];
};

/** The same for the spellings of one exchange's name by different sources. */
export function exchangeKey(entity: string): string {
  return entity.normalize('NFKC').trim().toLowerCase();
}

/** The names in a look-up of labels. */
export function namesInLabels({ found }: LabelLookUp): LabelledNames {
  const receivers = new Map<string, { exchange: string; role: ReceiverRole }>();
  const owners = new Map<string, string>();
  const names = new Map<string, string>();
  const exchanges = new Map<string, string>();
  const services: ServiceMark[] = [];
  for (const rows of found.values()) {
    // Where sources disagree the strongest label says whose it is, as it does everywhere.
    const hot = leadingLabel(rows.filter(({ role }) => role === 'hot'));
    const own = leadingLabel(rows.filter(({ role }) => role !== 'deposit'));
    const any = leadingLabel(rows);
    const receiver = hot === null ? labelWithoutRole(rows) : hot;
    for (const { address, clusterable } of rows) {
      if (receiver !== null) {
        const role = receiver === hot ? 'hot' : 'unstated';
        receivers.set(address, { exchange: exchangeKey(receiver.entity), role });
        names.set(exchangeKey(receiver.entity), receiver.entity);
      }
      const owner = receiver === null ? any : receiver;
      if (owner !== null) owners.set(address, exchangeKey(owner.entity));
      if (own !== null) exchanges.set(address, own.entity);
      if (!clusterable) services.push({ address, why: 'label' });
    }
  }
  const labelsOf = (address: string) => rowsUnder(found, matchKey(address));
  const isLabelled = (address: string) => labelsOf(address).length > 0;
  return {
    receivers,
    owners,
    names,
    exchanges,
    services,
    labelsOf,
    isLabelled,
    isService: (address) => labelsOf(address).some(({ role }) => role !== 'deposit'),
  };
}

/** The label of an address of which no label tells the role; one that tells another is no such. */
function labelWithoutRole(rows: readonly ExchangeLabel[]): ExchangeLabel | null {
  return rows.every(({ role }) => role === 'other') ? leadingLabel(rows) : null;
}

// Validates the exchange-wallet table that ships with the product. Each row passes the rules of an
// import, and also names its source, the source's page and day, and the day of its review.

/** The columns of the file, in their order. No cell of a row is empty. */
export const SHIPPED_LABEL_COLUMNS = [
  'chain',
  'address',
  'entity',
  'label',
  'role',
  'confidence',
  'source',
  'source_url',
  'first_seen',
  'reviewed',
] as const;

const SOURCE_CHARS_MAX = 100;

type Label = ShippedLabels['rows'][number];

/** Validates the lines of a file. Throws `RangeError` where the file is no table of this kind. */
export function validateShippedLabels([heading, ...lines]: readonly TableLine[]): ShippedLabels {
  if (heading?.cells.join() !== SHIPPED_LABEL_COLUMNS.join()) {
    throw new RangeError(`the columns are ${SHIPPED_LABEL_COLUMNS.join(', ')}`);
  }
  const rows: Label[] = [];
  const refusals: RefusedLine[] = [];
  const met = new Set<string>();
  for (const { line, cells } of lines) {
    const verdict = judgeShipped(line, cells, met);
    if (!('code' in verdict)) {
      rows.push(verdict.row);
      continue;
    }
    const [chain, address] = [cellText(cells, 0), cellText(cells, 1)];
    const { code } = verdict;
    refusals.push({ line, chain, address, code, reason: rowRefusalText(verdict) });
  }
  return { rows, refused: refusals };
}

function judgeShipped(
  line: number,
  cells: readonly string[],
  met: Set<string>,
): Accepted<Label> | RowRefused {
  if (cells.length !== SHIPPED_LABEL_COLUMNS.length) {
    return refuseRow('unreadable_row', `${cells.length} values`);
  }
  const fields = new Map<string, string>();
  for (const [i, name] of SHIPPED_LABEL_COLUMNS.entries()) fields.set(name, String(cells[i]));
  const raw: RawRow = { line, fields };
  const missing = SHIPPED_LABEL_COLUMNS.find((name) => valueIn(raw, name) === null);
  if (missing !== undefined) return refuseRow('missing_field', missing);
  const source = String(valueIn(raw, 'source'));
  if (!isShowable(source, SOURCE_CHARS_MAX)) return refuseRow('bad_text', 'source');
  const reviewed = parseIsoDate(String(valueIn(raw, 'reviewed')));
  if (reviewed === null) return refuseRow('bad_time', 'reviewed');
  const told = { source, source_url: null, otherwise: null, imported_at: reviewed };
  const verdict = exchangeLabels.judge(told)(raw, 'rows');
  if ('code' in verdict) return verdict;
  const key = `${verdict.row.chain} ${verdict.row.address}`;
  if (met.has(key)) return refuseRow('duplicate', null);
  met.add(key);
  return { ...verdict, row: { ...verdict.row, reviewed: formatIsoDate(reviewed) } };
}

function cellText(cells: readonly string[], at: number): string {
  return textOrEmpty(cells[at]);
}
