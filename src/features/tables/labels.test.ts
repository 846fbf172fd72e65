import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSystemAddress } from '../../chain/address.ts';
import {
  type ExchangeLabel,
  type FileLayout,
  LABEL_ROLES,
  type TableLine,
} from '../../ports/tables.ts';
import type { ImportContext } from './import-rows.ts';
import {
  CONFIDENCE_LADDER,
  exchangeLabels,
  isClusterable,
  isPublicLink,
  leadingLabel,
  namesInLabels,
  roleInText,
  SHIPPED_LABEL_COLUMNS,
  validateShippedLabels,
} from './labels.ts';

const TOLD: ImportContext = {
  source: 'one',
  source_url: 'https://example.org/',
  otherwise: null,
  imported_at: Date.UTC(2026, 10, 21) / 1_000,
};
const EVM = '0x28C6c06298d514Db089934071355E5743bf21d60';
const SOLANA = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const BITCOIN = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';
const BECH32 = 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4';
const TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

type Fields = { readonly [name: string]: string };

function judged(fields: Fields, layout: FileLayout = 'rows', more: Partial<ImportContext> = {}) {
  const verdict = exchangeLabels.judge({ ...TOLD, ...more })(
    { line: 1, fields: new Map(Object.entries(fields)) },
    layout,
  );
  return 'code' in verdict ? verdict : verdict.row;
}

const row = (more: Fields) => judged({ address: EVM, entity: 'exemplar', ...more });

describe('a row in columns', () => {
  test('of address and entity alone is a label, with what is not said filled in', () => {
    expect(judged({ address: ` ${EVM} `, entity: 'exemplar' })).toEqual({
      address: EVM.toLowerCase(),
      chain: null,
      label: 'exemplar',
      entity: 'exemplar',
      role: 'other',
      confidence: 'web_crawl',
      clusterable: false,
      source: 'one',
      source_url: 'https://example.org/',
      first_seen: '2026-11-21',
    });
  });

  test('keeps what it says', () => {
    expect(
      judged({
        address: SOLANA,
        entity: 'exemplar',
        chain: 'SOL',
        label: 'Exemplar: Deposit 7',
        role: 'Treasury',
        confidence: 'ownership',
        source_url: 'https://example.com/page?id=1',
        first_seen: '2025-02-03T10:00:00Z',
      }),
    ).toMatchObject({
      address: SOLANA,
      chain: 'solana',
      role: 'treasury',
      confidence: 'ownership',
      source_url: 'https://example.com/page?id=1',
      first_seen: '2025-02-03',
    });
  });

  test.each<[name: string, more: Fields, code: string, about: string | null]>([
    ['no address', { address: ' ' }, 'missing_field', 'address'],
    ['no entity', { entity: '' }, 'missing_field', 'entity'],
    ['an address of no known form', { address: 'rEb8TK3gBgk5auZkwc6s' }, 'bad_address', null],
    ['an EVM address on Bitcoin', { chain: 'bitcoin' }, 'wrong_form_for_chain', 'bitcoin'],
    [
      'a Tron address on Ethereum',
      { address: TRON, chain: 'eth' },
      'wrong_form_for_chain',
      'ethereum',
    ],
    [
      'a Bitcoin form on Litecoin',
      { address: BITCOIN, chain: 'LTC' },
      'chain_not_told_apart',
      'ltc',
    ],
    ['the null address', { address: `0x${'0'.repeat(40)}` }, 'system_address', null],
    ['the system program', { address: '1'.repeat(32) }, 'system_address', null],
    ['a role that is none', { role: 'warm' }, 'unknown_role', null],
    ['a rung that is none', { confidence: 'certain' }, 'unknown_confidence', null],
    ['an over-long entity', { entity: 'e'.repeat(101) }, 'bad_text', 'entity'],
    ['a label that hides text', { label: 'Exemplar\u202e' }, 'bad_text', 'label'],
    ['a chain that is no word', { chain: 'c'.repeat(41) }, 'bad_text', 'chain'],
    ['a link with a password', { source_url: 'https://a:b@example.org' }, 'bad_link', 'source_url'],
    ['a link that runs', { source_url: 'javascript:alert(1)' }, 'bad_link', 'source_url'],
    ['a day that is none', { first_seen: '2026-02-30' }, 'bad_time', 'first_seen'],
  ])('is refused for %s', (_name, more, code, about) => {
    expect(row(more)).toEqual({ code, about });
  });

  test.each([
    ['eth', EVM, 'ethereum'],
    ['BEP20', EVM, 'bsc'],
    ['matic', EVM, 'polygon'],
    ['avax', EVM, 'avax'],
    ['TON', EVM, 'ton'],
    ['trx', TRON, 'tron'],
    ['BTC', BITCOIN, 'bitcoin'],
    ['btc', BECH32, 'bitcoin'],
  ])(
    'on %s keeps the chain by our name, or by its own where it is not served here',
    (chain, address, ours) => {
      expect(row({ chain, address })).toMatchObject({ chain: ours });
    },
  );
});

describe('a tag of a TagPack', () => {
  const TAG = {
    address: EVM,
    currency: 'ETH',
    category: 'exchange',
    actor: 'exemplar',
    label: 'Exemplar reserves',
    confidence: 'service_data',
    source: 'https://example.org/pack',
    lastmod: '2023-08-16 12:18:52.619444',
  };

  test('of an exchange is a label of its actor', () => {
    expect(judged(TAG, 'tagpack')).toMatchObject({
      chain: 'ethereum',
      entity: 'exemplar',
      label: 'Exemplar reserves',
      confidence: 'service_data',
      source_url: 'https://example.org/pack',
      first_seen: '2023-08-16',
    });
  });

  test('may say its kind as a concept, and its chain as a network', () => {
    const { category: _, ...rest } = TAG;
    const tag = { ...rest, concepts: 'hosted_wallet exchange', network: 'BSC', currency: 'USDT' };
    expect(judged(tag, 'tagpack')).toMatchObject({ chain: 'bsc' });
  });

  test('filed under a token’s symbol names no chain', () => {
    expect(judged({ ...TAG, currency: 'USDT' }, 'tagpack')).toMatchObject({ chain: null });
    expect(judged({ ...TAG, currency: 'TRX' }, 'tagpack')).toEqual({
      code: 'wrong_form_for_chain',
      about: 'tron',
    });
  });

  test.each<[name: string, more: Fields]>([
    ['of another kind', { category: 'mixing_service' }],
    ['of another kind, whatever its concepts', { category: 'user', concepts: 'exchange' }],
    ['of an abuse', { abuse: 'service_hack' }],
    ['of no kind', { category: '' }],
  ])('%s is no exchange label', (_name, more) => {
    expect(judged({ ...TAG, ...more }, 'tagpack')).toEqual({
      code: 'not_an_exchange',
      about: null,
    });
  });

  test('without an actor is of the exchange that its label names', () => {
    expect(judged({ ...TAG, actor: '' }, 'tagpack')).toMatchObject({
      entity: 'Exemplar reserves',
      label: 'Exemplar reserves',
    });
  });

  test.each<[name: string, more: Fields, refused: object]>([
    ['actor or label', { actor: '', label: '' }, { code: 'missing_field' }],
    ['source', { source: 'ftp://x' }, { code: 'bad_link' }],
    ['lastmod', { lastmod: 'once' }, { code: 'bad_time' }],
  ])('is refused by the field that a pack has: %s', (about, more, refused) => {
    expect(judged({ ...TAG, ...more }, 'tagpack')).toEqual({ ...refused, about });
  });
});

describe('the role', () => {
  test.each([
    ['Binance: Hot Wallet 6', 'hot'],
    ['COSS Old Hot Wallet', 'hot'],
    ['bitfinex EOS/EOS Tokens cold/wallet', 'cold'],
    ['Wintermute: Binance Deposit', 'deposit'],
    ['CoinMetro Treasury', 'treasury'],
    ['Exemplar: Deployer', 'deployer'],
    ['Binance Eth2 Depositor', null],
    ['Hotbit 3', null],
    ['Coldstone 1', null],
    ['Binance 14', null],
  ])('that the words of %j name is %s', (label, role) => {
    expect(roleInText(label)).toBe(role);
  });

  test('is the row’s own, else its words’, else what the operator says, else other', () => {
    const asked = { otherwise: 'treasury' };
    const base = { address: EVM, entity: 'e' };
    const roles = [
      judged({ ...base, label: 'Hot', role: 'cold' }, 'rows', asked),
      judged({ ...base, label: 'Hot' }, 'rows', asked),
      judged({ ...base, label: '1' }, 'rows', asked),
      judged({ ...base, label: '1' }),
    ].map((one) => ('role' in one ? one.role : null));
    expect(roles).toEqual(['cold', 'hot', 'treasury', 'other']);
  });

  test('links users only where it is a deposit address', () => {
    expect(LABEL_ROLES.filter(isClusterable)).toEqual(['deposit']);
  });
});

test('a link is public where it is http or https without user or password', () => {
  expect(['https://a.example/x?y', 'http://a.example'].every(isPublicLink)).toBe(true);
  const odd = [
    'ftp://a.example',
    'https://u@a.example',
    'a.example',
    '',
    'https://a.example/\u0000',
  ];
  expect(odd.some(isPublicLink)).toBe(false);
});

describe('of several labels', () => {
  const label = (more: Partial<ExchangeLabel>): ExchangeLabel => ({
    address: EVM.toLowerCase(),
    chain: null,
    label: 'l',
    entity: 'e',
    role: 'other',
    confidence: 'web_crawl',
    clusterable: false,
    source: 'm',
    source_url: null,
    first_seen: '2026-01-01',
    ...more,
  });

  test('none speaks for an address without labels', () => {
    expect(leadingLabel([])).toBeNull();
  });

  test('the strongest rung speaks, then one that names a role, then the sources in order', () => {
    const strong = label({ confidence: 'ownership', source: 'z' });
    const hot = label({ role: 'hot', source: 'y' });
    const first = label({ source: 'a' });
    expect(leadingLabel([first, hot, strong])).toBe(strong);
    expect(leadingLabel([first, hot])).toBe(hot);
    expect(leadingLabel([label({}), first])).toBe(first);
  });

  test('which one speaks does not hang on the order in which they are held', () => {
    const labels = fc.array(
      fc.record({
        confidence: fc.constantFrom(...CONFIDENCE_LADDER, 'a rung of tomorrow'),
        role: fc.constantFrom(...LABEL_ROLES),
        source: fc.constantFrom('a', 'b', 'c', 'd'),
      }),
      { minLength: 1, maxLength: 6 },
    );
    const key = (one: ExchangeLabel | null) => [
      one?.confidence,
      one?.role === 'other',
      one?.source,
    ];
    fc.assert(
      fc.property(labels, (some) => {
        const held = some.map(label);
        expect(key(leadingLabel(held.toReversed()))).toEqual(key(leadingLabel(held)));
      }),
    );
  });
});

// Where labels disagree whose a wallet is, entities say what the rest of the house says.

const WALLET = '0x28c6c06298d514db089934071355e5743bf21d60';

function label(more: Partial<ExchangeLabel>): ExchangeLabel {
  return {
    address: WALLET,
    chain: 'ethereum',
    label: 'one',
    entity: 'One',
    role: 'hot',
    confidence: 'web_crawl',
    clusterable: false,
    source: 'a',
    source_url: null,
    first_seen: '2026-11-21',
    ...more,
  };
}

const named = (...rows: ExchangeLabel[]) =>
  namesInLabels({ table_rows: rows.length, found: new Map([[WALLET, rows]]) });

describe('a hot wallet that two sources give to two exchanges', () => {
  const proven = label({ entity: 'Proven', confidence: 'ownership', source: 'z' });
  const crawled = label({ entity: 'Crawled' });

  test.each([
    ['first', [proven, crawled]],
    ['last', [crawled, proven]],
  ] as const)('is of the one whose label is the strongest, be it told %s', (_, rows) => {
    expect(leadingLabel(rows)?.entity).toBe('Proven');
    expect(named(...rows).exchanges.get(WALLET)).toBe('Proven');
    expect(named(...rows).receivers).toEqual(named(proven).receivers);
  });
});

test('a deposit address is no wallet of the exchange, however sure its label is', () => {
  const deposit = label({ role: 'deposit', entity: 'Other', confidence: 'ownership' });
  expect(named(deposit).exchanges.size).toBe(0);
  const both = named(deposit, label({ entity: 'Own' }));
  expect(both.exchanges.get(WALLET)).toBe('Own');
  expect(both.isService(WALLET)).toBe(true);
});

const TABLE = new URL('../../../registry/exchange-wallets.csv', import.meta.url);

const GOOD = {
  chain: 'ethereum',
  address: '0x2222222222222222222222222222222222222223',
  entity: 'Exemplar',
  label: 'Exemplar: Hot Wallet',
  role: 'hot',
  confidence: 'service_data',
  source: 'A pack',
  source_url: 'https://example.org/wallets',
  first_seen: '2022-11-16',
  reviewed: '2026-11-22',
};
type Row = { [C in (typeof SHIPPED_LABEL_COLUMNS)[number]]: string };

function table(...rows: Partial<Row>[]): readonly TableLine[] {
  const lines = rows.map((change) => {
    const row: Row = { ...GOOD, ...change };
    return SHIPPED_LABEL_COLUMNS.map((name) => row[name]);
  });
  return numbered([SHIPPED_LABEL_COLUMNS, ...lines]);
}

function numbered(lines: readonly (readonly string[])[]): readonly TableLine[] {
  return lines.map((cells, i) => ({ line: i + 1, cells }));
}

describe('the table that comes with the product', () => {
  const { rows, refused } = validateShippedLabels(numbered(parse(readFileSync(TABLE))));

  test('holds no row that the rules of an import refuse', () => {
    expect(refused).toEqual([]);
    expect(rows).toHaveLength(422);
  });

  test('names of each row a source with its page and day, and nobody’s address', () => {
    for (const row of rows) {
      expect(row.source).toMatch(/^GraphSense TagPacks: \S+\.yaml$/);
      expect(row.source_url).toMatch(/^https:/);
      expect(row.first_seen < row.reviewed).toBe(true);
      expect(isSystemAddress(row.address)).toBe(false);
    }
  });

  test('names one entity for each address, and links nobody by one', () => {
    const entities = new Map(rows.map(({ address, entity }) => [address, entity]));
    expect(rows.filter(({ address, entity }) => entities.get(address) !== entity)).toEqual([]);
    expect(rows.filter(({ clusterable }) => clusterable)).toEqual([]);
  });
});

describe('a row is refused', () => {
  test.each([
    ['system_address', { address: '0x0000000000000000000000000000000000000000' }],
    ['bad_address', { address: '0x12' }],
    ['wrong_form_for_chain', { chain: 'bitcoin' }],
    ['unknown_role', { role: 'vault' }],
    ['unknown_confidence', { confidence: 'certain' }],
    ['bad_link', { source_url: 'a page' }],
    ['bad_time', { first_seen: '2022-02-30' }],
    ['bad_time', { reviewed: 'today' }],
    ['bad_text', { source: 'x'.repeat(101) }],
    ['bad_text', { label: 'Hot\u202ewallet' }],
    ...SHIPPED_LABEL_COLUMNS.map((name) => ['missing_field', { [name]: ' ' }] as const),
  ] as const)('as %s: %o', (code, change) => {
    const { rows, refused } = validateShippedLabels(table(change));
    expect(rows).toEqual([]);
    expect(refused).toEqual([expect.objectContaining({ line: 2, code })]);
  });

  test('that repeats the address of an earlier one on its chain, in whatever case', () => {
    const capitals = GOOD.address.toUpperCase().replace('0X', '0x');
    const twice = table({}, { address: capitals }, { chain: 'bsc' });
    const { rows, refused } = validateShippedLabels(twice);
    expect(rows.map(({ chain }) => chain)).toEqual(['ethereum', 'bsc']);
    expect(refused).toMatchObject([{ line: 3, chain: 'ethereum', code: 'duplicate' }]);
  });

  test('with a value too few; another heading is no such table', () => {
    const short = [SHIPPED_LABEL_COLUMNS, Object.values(GOOD).slice(1)];
    expect(validateShippedLabels(numbered(short)).refused).toMatchObject([
      { line: 2, code: 'unreadable_row' },
    ]);
    expect(() => validateShippedLabels([])).toThrow(RangeError);
    expect(() => validateShippedLabels(numbered([['chain', 'address']]))).toThrow(RangeError);
  });
});
