// Which requests a service is asked: all that its OpenAPI document declares, of every address of
// the simulated world and of addresses that are none, with good and bad values of each parameter.

import type { Request } from './answers-recorder.ts';

const MONERO_BEGINS = '42FcoCvqSYbgw7c1YXuxcPSKntR2sqEkKCUEkx2kmwnBLPZa';
const MONERO_ENDS = 'psJbisTp3unbwzzZV1voeKQrJDK2UaqEZRNCDuyp72y4SHt';

/** The addresses of docs/guides/simulated-world.md, by what they are there for. */
export const ADDRESSES = {
  'listed-evm': '0x64144967c175997FC8526ba694021ae36965331c',
  'listed-evm-lower': '0x64144967c175997fc8526ba694021ae36965331c',
  'listed-solana': 'H39ksuUUtqnoA86MD3eLiGBiTr8uVyEFQbcUizrddwzi',
  'listed-bitcoin': '1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSf',
  'listed-bech32': 'bc1qyqdw0y8qd550xhp87u6fqsw5lg5wmnvunhdesv',
  'listed-bech32-upper': 'BC1QYQDW0Y8QD550XHP87U6FQSW5LG5WMNVUNHDESV',
  'listed-tron': 'TRtiYdiniAv5rBy7qDA3Lecqe7zvvaZhJz',
  'listed-monero': `${MONERO_BEGINS}${MONERO_ENDS}`,
  unlisted: '0x00000000219ab540356cbb839cbe05303d7705fa',
  'one-hop': '0x519fd00c8018b07b726454b57bef4bed9c88b930',
  'two-hops': '0xe26b26315c8bd4dd48e9fa95cedbb0dd9592d3a9',
  between: '0xed6bfcde6bc50899c1ec97610a40735bc52d1c3b',
  poisoned: '0xcade28ea696ddeb44dcd7e31355ba47697a98b4a',
  quiet: '0xbd6b3a97bb1b662e495ff714b0a156f29af7dd99',
  hub: '0x748d40591365d61c33749b05afd74d7861de3da1',
  bridger: '0x5c678b0ca7d7721ee34d15d19b8ab1552e945064',
  unused: '0xc0dc8be03f5cb39ee654d982509d002a39159f86',
  cex: '0xbfd50890e1a5f21bdec24e1cd38f967d09207606',
  deposit: '0x1e1da1c48bbb49f0f131f109e8d0f42a1a71b16c',
  inferred: '0xfc77f382f4ab0428c42a07d13b0be6f27102e561',
  proxy: '0x5758a71720ea206acdbf8c241e39a15d313f5462',
  flagged: '0x1b84dcac608042858a14697b3648cf2411ee1734',
  entity: '0xcfd1a3933818e29cfa6186bd5df2ef2c4a297f2b',
  'entity-other': '0x3174bb872db8bc77258f172d5b354b8043f33c14',
  'entity-deposit': '0xa4cc68443def62272e26b0c812c56cb1c0c4131f',
  'deployer-died': '0x1031a8a496f27c2067ced440a1542daf2bdedd15',
  'deployer-mixed': '0x5cb89a7ac49772f7b02e58bc636004a666545f5a',
  'deployer-unlisted': '0x0104d74192d2daea309ee14e143299e34bfeb68b',
  'deployer-none': '0x92dc94e05c7a2bd302eea6025de73ac67b866be5',
  'deployer-unwalked': '0x1be5a8eb641f95b816d7cb394a282d5633f36d0d',
  'exchange-hot': '0x7e79ee7ec46dd9b84841e6068521ea9233470e79',
  'exchange-cold': '1Pxpz9GFgz6GjaEM1UtyNmJmTjjZstntBj',
  'exchange-deposit': '0xe2c58a9e4a915c18caa9c356ebe13f0c715ab633',
  'launcher-flagged': 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS',
  'launcher-record': 'CFk7uGwK6o6KfvzT1Fj5eSPpn7HcxvABZWEeZBZ1tGka',
  'launcher-unsettled': '6ur3GRoYztppdeC2HvuviPFk2x8o7JimV9dgkLJnZg15',
} as const;

/** Texts that are no address, and addresses that nobody in that world has. */
const OTHER_ADDRESSES = {
  'unknown-solana': 'So11111111111111111111111111111111111111112',
  'unknown-bitcoin': '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  'unknown-taproot': 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
  'unknown-tron': 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  'unknown-litecoin': 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9',
  'unknown-cashaddr': 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
  'unknown-ripple': 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  'zero-address': '0x0000000000000000000000000000000000000000',
  'dead-address': '0x000000000000000000000000000000000000dEaD',
  'bad-checksum': '0x64144967C175997FC8526ba694021ae36965331c',
  'bad-short': '0x64144967c175997fc8526ba694021ae3696533',
  'bad-hex': '0x64144967c175997fc8526ba694021ae36965331g',
  'bad-solana': 'H39ksuUUtqnoA86MD3eLiGBiTr8uVyEFQbcUizrddwz0',
  'bad-bitcoin': '1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSg',
  'bad-bech32': 'bc1qyqdw0y8qd550xhp87u6fqsw5lg5wmnvunhdesq',
  'bad-tron': 'TRtiYdiniAv5rBy7qDA3Lecqe7zvvaZhJq',
  name: 'vitalik.eth',
  blank: ' ',
  markup: '<b>x</b>',
  long: 'x'.repeat(129),
} as const;

export const ALL_ADDRESSES: readonly (readonly [name: string, address: string])[] = [
  ...Object.entries(ADDRESSES),
  ...Object.entries(OTHER_ADDRESSES),
];

const OTHERS_SHOWN = ['unknown-solana', 'unknown-bitcoin', 'bad-checksum', 'bad-solana', 'markup'];

/** Those that every page and every scan is made for, which takes more than one route. */
export const SHOWN_ADDRESSES = ALL_ADDRESSES.filter(
  ([name]) => name in ADDRESSES || OTHERS_SHOWN.includes(name),
);

/** The addresses of which parameters beside the address are tried. */
const SAMPLED = ['listed-evm', 'bridger', 'listed-solana'] as const;
const CHAIN_WORDS = 'ethereum arbitrum base bsc polygon hyperevm solana bitcoin ETHEREUM nowhere';
const BAD_NUMBERS = ['-1', '1.5', '501', 'x', ''];
const DAYS = ['2026-11-23', '2026-11-20', '2026-01-01', '2027-01-01', '2026-02-30', 'x', ''];

/** Values of each parameter of a query, good and bad. */
const QUERY_VALUES: { readonly [name: string]: readonly string[] } = {
  on: DAYS,
  from: DAYS,
  to: DAYS,
  chain: [...CHAIN_WORDS.split(' '), ''],
  chains: ['solana,ethereum', 'base', 'nowhere', ''],
  explain: [ADDRESSES['entity-other'], ADDRESSES.unlisted, 'x', ''],
  before: ['0', '1', '3', '1000000', ...BAD_NUMBERS],
  limit: ['0', '1', '3', '50', ...BAD_NUMBERS],
  since: ['0', '1', '999999', ...BAD_NUMBERS],
  after: ['', 'x', 'wch_00'],
  list: ['eu-fsf', 'x', ''],
  q: ['deposit', 'zzzz', ADDRESSES['two-hops'], ''],
  token: ['x', ''],
  address: [
    ...SAMPLED.map((name) => ADDRESSES[name]),
    ...Object.values(OTHER_ADDRESSES).filter((address) => !address.startsWith('unknown')),
  ],
};

/** Values of parameters of a path beside the address. */
const PATH_VALUES: { readonly [name: string]: readonly string[] } = {
  chain: CHAIN_WORDS.split(' '),
  id: ['unknown', 'x'.repeat(65)],
  chat_platform: ['slack', 'discord', 'telegram', 'nowhere'],
};

/** The credentials of each security scheme in the document. */
export type Credentials = {
  readonly key: string;
  readonly token: string;
  readonly partner: string;
};

type Parameter = { readonly name: string; readonly in: string };
export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly scheme: string | null;
  readonly parameters: readonly Parameter[];
};

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The operations of an OpenAPI document. */
export function operationsOf(document: unknown): Operation[] {
  return Object.entries(Object(fieldOf(document, 'paths'))).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(([method, operation]) => {
      const [first] = listOf(fieldOf(operation, 'security'));
      const [scheme] = first === undefined ? [] : Object.keys(Object(first));
      return {
        id: String(fieldOf(operation, 'operationId')),
        method: method.toUpperCase(),
        path,
        scheme: scheme ?? null,
        parameters: listOf(fieldOf(operation, 'parameters')).map((one) => ({
          name: String(fieldOf(one, 'name')),
          in: String(fieldOf(one, 'in')),
        })),
      };
    }),
  );
}

export function headersOf(
  scheme: string | null,
  credentials: Credentials,
): { [name: string]: string } {
  const held = new Map<string, string>(Object.entries(credentials));
  const text = scheme === null ? undefined : held.get(scheme);
  return text === undefined ? {} : { authorization: `Bearer ${text}` };
}

function fillPath(path: string, values: { readonly [name: string]: string }): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(values[name] ?? 'ethereum'),
  );
}

/** The GET requests of an operation: each address, each value of each parameter. */
export function readingRequests(operation: Operation, credentials: Credentials): Request[] {
  const { id, path, scheme, parameters } = operation;
  const headers = headersOf(scheme, credentials);
  const hasAddress = path.includes('{address}');
  const own = parameters.filter((one) => one.in === 'path' && one.name !== 'address');
  const query = parameters.filter((one) => one.in === 'query');
  const folder = `api/${id}`;
  const whole: Request[] = hasAddress
    ? ALL_ADDRESSES.map(([name, address]) => ({
        name: `${folder}/${name}`,
        path: fillPath(path, { address }),
        headers,
      }))
    : own.length > 0
      ? []
      : [{ name: `${folder}/plain`, path, headers }];
  const sampled = hasAddress ? SAMPLED : (['none'] as const);
  const varied = sampled.flatMap((who) => {
    const address = who === 'none' ? '' : ADDRESSES[who];
    const base = fillPath(path, { address, id: 'unknown' });
    const inPath = own.flatMap(({ name }) =>
      (PATH_VALUES[name] ?? []).map((value) => ({
        name: `${folder}/${who}@${name}=${value}`,
        path: fillPath(path, { address, [name]: value }),
        headers,
      })),
    );
    const inQuery = query.flatMap(({ name }) =>
      (QUERY_VALUES[name] ?? ['x']).map((value) => ({
        name: `${folder}/${who}@${name}=${value}`,
        path: `${base}?${name}=${encodeURIComponent(value)}`,
        headers,
      })),
    );
    const [first] = query;
    const odd = ['unknown=1', ...(first === undefined ? [] : [`${first.name}=1&${first.name}=2`])];
    return [
      ...inPath,
      ...inQuery,
      ...odd.map((search) => ({
        name: `${folder}/${who}@odd-${search}`,
        path: `${base}?${search}`,
        headers,
      })),
    ];
  });
  return /^\/(ws|sse)\//.test(path) ? varied.slice(0, STREAM_REQUESTS) : [...whole, ...varied];
}

/** Each stream is read until it is quiet, which takes seconds. */
const STREAM_REQUESTS = 6;

/** Requests that are refused before a handler sees them: credentials, methods, bodies. */
export function refusedRequests(operation: Operation, credentials: Credentials): Request[] {
  const { id, path, method, scheme } = operation;
  const at = fillPath(path, { address: ADDRESSES.unlisted, id: 'unknown', chat_platform: 'slack' });
  const folder = `refused/${id}`;
  const headers = headersOf(scheme, credentials);
  const sent = method === 'POST' ? { body: '{}' } : {};
  const json = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const wrong: readonly (readonly [string, { readonly [name: string]: string }])[] = [
    ['nothing', {}],
    ['wrong-key', { authorization: `Bearer sc_${'0'.repeat(48)}` }],
    ['wrong-token', { authorization: `Bearer sct_${'0'.repeat(48)}` }],
    ['wrong-scheme', { authorization: 'Basic eDp5' }],
    [
      'other-kind',
      { authorization: `Bearer ${scheme === 'token' ? credentials.key : credentials.token}` },
    ],
    ['service-membership', { 'x-service-membership': 'mem_simulated_demo' }],
  ];
  const methods = ['PUT', 'PATCH', 'HEAD', 'OPTIONS', method === 'GET' ? 'POST' : 'GET'];
  const bodies: readonly (readonly [string, string, string | undefined])[] = [
    ['no-body', 'application/json', undefined],
    ['cut', 'application/json', '{'],
    ['list', 'application/json', '[]'],
    ['null', 'application/json', 'null'],
    ['text', 'application/json', '"x"'],
    ['empty', 'application/json', '{}'],
    ['unknown-field', 'application/json', '{"zzz":1}'],
    ['plain', 'text/plain', 'x'],
    ['no-type', '', '{}'],
    ['too-large', 'application/json', JSON.stringify({ address: 'x'.repeat(400_000) })],
  ];
  return [
    ...wrong.map(([name, own]) => ({
      name: `${folder}/by-${name}`,
      path: at,
      method,
      headers: { ...json, ...own },
      ...sent,
    })),
    ...methods.map((other) => ({
      name: `${folder}/method-${other}`,
      path: at,
      method: other,
      headers,
    })),
    ...(method === 'POST' ? bodies : []).map(([name, type, body]) => ({
      name: `${folder}/body-${name}`,
      path: at,
      method,
      headers: { ...headers, ...(type === '' ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body }),
    })),
  ];
}

/** Paths that no route has, and those that are no paths. */
export function strayRequests({ key }: Credentials): Request[] {
  const paths = [
    '/nothing',
    '/api/v1/nothing',
    '/api/v1/wallet//ofac',
    '/api/v1/wallet/x/ofac/',
    `/api/v1/wallet/${ADDRESSES.unlisted}/nothing`,
    '/api/wallet/x/nothing',
    '/%zz',
    `/${'x'.repeat(300)}`,
    '/docs/nothing',
    '/docs/api/nothing',
    '/address/',
    '/receipts/nothing',
    '/screens',
    '/mcp',
    '/metrics',
    '/ready',
  ];
  return paths.flatMap((path, at) => [
    { name: `refused/stray/${at}-open`, path },
    { name: `refused/stray/${at}-key`, path, headers: { authorization: `Bearer ${key}` } },
  ]);
}
