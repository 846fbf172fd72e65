// Is the house as its plan says: who may import whom, and what nobody may write?
// The tables stand here; the rules are in src/testing/tidy-*.ts, each with a fixture that it
// catches.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type Arrows,
  arrowViolations,
  circles,
  deadFiles,
  featureOf,
  type House,
  isOf,
} from './testing/tidy-arrows.ts';
import {
  ARROWS_ALLOWED,
  ARROWS_REFUSED,
  type Fixture,
  RULE_FIXTURES,
  SHAPE_FIXTURES,
} from './testing/tidy-fixtures.ts';
import { type Exceptions, mintViolations, ruleViolations } from './testing/tidy-rules.ts';
import { shapeViolations } from './testing/tidy-shape.ts';
import { codeUnder, isTest, parsed, sourceAt, type Violation } from './testing/tidy-source.ts';

const EVIDENCE = 'src/evidence/';
const CHAIN = 'src/chain/';
const CONTRACT = 'src/contract/';
const PORTS = 'src/ports/';
const ACCESS = 'src/access/';
const SOURCES = 'src/sources/';
const STORES = 'src/stores/';
const FEATURES = 'src/features/';
const COMMAND = 'src/command/';
const DOSSIER = 'src/features/dossier/';
const MCP = 'src/mcp/';
const CLIENT = 'src/client/';
const CONFIG = ['src/config.ts', 'src/config/'];
const BELOW = [EVIDENCE, CHAIN];
const CHAIN_ON = ['hash-wasm', '@noble/hashes', '@scure/base', 'ox'];

/** Which features' engines a feature's files may import beside their own. No circle. */
const FEATURES_REST_ON: { readonly [feature: string]: readonly string[] } = {
  access: [],
  health: [],
  tables: [],
  history: [],
  indexing: [],
  integrations: [],
  launches: ['tables'],
  sanctions: ['history', 'tables'],
  bridges: ['history', 'tables'],
  deployers: ['tables'],
  deposits: ['history', 'tables'],
  screening: ['tables'],
  entities: ['deposits', 'history', 'tables'],
  exchanges: ['deposits', 'history', 'tables'],
  dossier: [],
  'flag-stream': [],
  forensics: ['deployers', 'history', 'sanctions', 'tables'],
  partner: [],
  receipts: [],
  records: [],
  'rug-model': [],
  rugs: ['rug-model'],
  watchlist: ['history', 'sanctions', 'tables'],
};

const OF_OTHERS = { may: [CONTRACT, ...BELOW, 'src/features/*.contract.ts'], outside: ['zod'] };
/** Who may import whom. The first row that a file is of holds for it; its own folder is open. */
const ARROWS: readonly Arrows[] = [
  { of: EVIDENCE, may: [], outside: [], sealed: true },
  { of: CHAIN, may: [], outside: CHAIN_ON, sealed: true },
  { of: CONTRACT, may: BELOW, outside: ['zod'], sealed: true },
  { of: PORTS, may: BELOW, outside: [] },
  // A scan, a record and a dossier hold the answers of other routes.
  { of: 'src/features/partner/*.contract.ts', ...OF_OTHERS },
  { of: 'src/features/records/*.contract.ts', ...OF_OTHERS },
  { of: DOSSIER, may: [...OF_OTHERS.may, 'src/pages/'], outside: ['preact', 'zod'] },
  { of: 'src/features/*.contract.ts', may: [CONTRACT, ...BELOW], outside: ['zod'] },
  // Browsers and the payment platform are told from forgeries before they are answered.
  { of: 'src/features/access/*.route.ts', may: [CONTRACT, PORTS, ACCESS, ...BELOW], outside: [] },
  { of: 'src/features/*.route.ts', may: [CONTRACT, PORTS, ...BELOW], outside: ['types:zod'] },
  { of: 'src/features/*.job.ts', may: [PORTS, ACCESS, ...BELOW], outside: [] },
  {
    // A command works on services, which it declares in the types of ports.
    of: 'src/features/*.command.ts',
    may: [COMMAND, PORTS, ACCESS, ...BELOW, ...CONFIG, 'src/client/stream.ts'],
    outside: ['undici', 'zod'],
  },
  { of: 'src/features/*.page.tsx', may: ['src/pages/', CHAIN], outside: ['preact'] },
  { of: FEATURES, may: [PORTS, ...BELOW], outside: [] },
  {
    // An explorer passes on the calls of a node.
    of: 'src/sources/explorer/',
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/evm/'],
    outside: ['zod'],
  },
  {
    of: SOURCES,
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/files/'],
    outside: ['zod'],
    apart: true,
  },
  {
    of: STORES,
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/files/'],
    outside: ['zod'],
    apart: true,
  },
  { of: ACCESS, may: [PORTS, CONTRACT, ...BELOW], outside: [] },
  {
    of: 'src/transport/',
    may: [CONTRACT, ACCESS, EVIDENCE, `types:${PORTS}work/`],
    outside: ['fastify', 'prom-client', 'ws', 'types:zod'],
  },
  {
    // Tools over HTTP stand beside the routes; over stdio they are a command that asks a service.
    of: MCP,
    may: [CONTRACT, EVIDENCE, ACCESS, 'src/transport/', COMMAND, ...CONFIG],
    outside: ['@modelcontextprotocol/node', '@modelcontextprotocol/server', 'zod'],
  },
  {
    of: 'src/pages/',
    may: [CONTRACT, CHAIN, 'src/evidence/measure.ts', `types:${ACCESS}`],
    outside: ['markdown-it', 'preact', 'preact-render-to-string'],
  },
  {
    of: COMMAND,
    may: [PORTS, ...BELOW, ...CONFIG],
    outside: ['undici', 'zod'],
  },
  {
    of: 'src/operator/',
    may: [COMMAND, PORTS, EVIDENCE, ...CONFIG, 'src/sources/http/json-text.ts'],
    outside: ['zod'],
  },
  { of: 'src/world/', may: [CHAIN], outside: [] },
  { of: 'src/config.ts', may: [CHAIN, 'src/config/'], outside: [] },
  { of: 'src/config/', may: [CHAIN, 'src/config.ts'], outside: [] },
  { of: 'src/compose/', may: ['src/'], outside: ['pino', 'zod'] },
  {
    // What ships to a browser: of the declarations it takes the types.
    of: CLIENT,
    may: [`types:${CONTRACT}`, 'types:src/features/*.contract.ts'],
    outside: ['types:zod'],
    sealed: true,
  },
  { of: 'src/main.ts', may: ['src/compose/', 'src/operator/', COMMAND, ...CONFIG], outside: [] },
  {
    of: 'src/testing/',
    may: [
      ...[PORTS, ACCESS, CONTRACT, ...BELOW, SOURCES, STORES],
      'src/world/',
      FEATURES,
      COMMAND,
      'src/operator/',
      'src/compose/',
      'src/transport/',
    ],
    outside: [
      ...['zod', 'oxc-parser', 'vitest', 'fast-check', 'ox', 'types:playwright-core'],
      ...['@modelcontextprotocol/client', '@modelcontextprotocol/sdk'],
    ],
  },
  // The tests of the house, which look at all of it.
  { of: 'src/*.test.ts', may: ['src/', 'examples/'], outside: ['zod'] },
  // A program to copy stands alone, beside what it would install.
  { of: 'examples/', may: [], outside: ['exhibit'] },
  { of: 'bench/', may: ['src/'], outside: ['undici', 'zod', 'pg', 'ws', '@duckdb/node-api'] },
];

/** What any test may import beside what its own file may. */
const TESTS: House['tests'] = {
  may: [PORTS, CONTRACT, ...BELOW, 'src/testing/', 'src/world/'],
  outside: ['vitest', 'fast-check', 'ajv', 'playwright-core', 'ws', 'zod', 'csv-parse'],
};

/** One driver for each technology, and the only places that hold it. */
const DRIVERS: House['drivers'] = {
  '@electric-sql/pglite': ['src/stores/control/engine/'],
  pg: ['src/stores/control/engine/', 'src/testing/postgres.ts'],
  chdb: ['src/stores/warehouse/engine/', 'src/testing/warehouse-front.ts'],
  '@clickhouse/client': ['src/stores/warehouse/engine/'],
  saxes: ['src/sources/ofac/'],
  yauzl: ['src/sources/ofac/'],
  '@redis/client': ['src/stores/bus/'],
  ws: ['src/transport/', 'src/testing/', 'bench/'],
  undici: ['src/command/'],
  'markdown-it': ['src/pages/markdown.ts'],
  yaml: ['src/sources/files/', 'src/deploy.test.ts'],
  'csv-parse': ['src/sources/files/'],
  '@modelcontextprotocol/node': [MCP],
  '@modelcontextprotocol/server': [MCP],
};

/** Where built-ins that do IO may be imported, beside tests. */
const IO = [
  ...[SOURCES, STORES, COMMAND, 'src/features/*.command.ts', 'src/transport/', 'src/operator/'],
  MCP,
  ...['src/compose/', 'src/world/', 'src/testing/', 'src/main.ts', 'bench/', 'examples/'],
  ...CONFIG,
];

const HOUSE: House = {
  arrows: ARROWS,
  features: FEATURES_REST_ON,
  tests: TESTS,
  io: IO,
  drivers: DRIVERS,
};

const EXCEPTIONS: Exceptions = {
  doubleCasts: [CONTRACT],
  evidenceCasts: [EVIDENCE, CONTRACT, 'src/chain/address.ts', 'src/testing/planted-leaks.ts'],
  mints: [EVIDENCE, SOURCES, STORES, 'src/ports/accounts/readings.ts', 'src/testing/'],
  liars: ['src/testing/'],
  answerMakers: ['src/contract/route.ts', 'src/contract/reply.ts'],
  environment: ['src/config.ts', 'src/testing/', 'examples/'],
  browser: ['examples/', CLIENT],
  noFallbacks: [FEATURES, SOURCES, STORES, COMMAND, 'src/compose/', 'src/pages/', ACCESS, MCP],
  // `faulty` makes an unread reading of a file's fault, `unreadFor` of the warehouse's failures,
  // `unreadable` a refused document of a fault;
  // `reject` tells the caller who waits, `onBug` whoever keeps the process.
  saysFailure: ['unread', 'faulty', 'unreadable', 'unreadFor', 'silent', 'reject', 'onBug'],
  failureMessages: ['src/operator/owner-protocol.ts', 'src/stores/control/engine/pglite-worker.ts'],
};

/** Files that start a process of their own: nothing imports them, another file names them. */
const CHILD_ENTRIES = [
  'src/stores/control/engine/pglite-create.ts',
  'src/stores/control/engine/pglite-worker.ts',
  'src/stores/warehouse/engine/embedded-child.ts',
  'src/sources/ofac/reading-child.ts',
  'src/compose/follow-child.ts',
];
/** Where the product begins, and the tests of the house. */
const BEGINNINGS = [
  ...['src/main.ts', 'src/client/client.ts', 'src/client/stream.ts', ...CHILD_ENTRIES],
  ...['bench/', 'examples/', 'vitest.config.ts'],
  ...['src/tidy.test.ts', 'src/silence.test.ts', 'src/contract/reference.test.ts'],
  'src/testing/suite-setup.ts',
];
/** What only tests use: any test keeps it alive. */
const FOR_TESTS = /^src\/testing\/|\.suite\.ts$/;

const FILES_EXAMINED_MIN = 150;

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const paths = ['src', 'bench', 'examples'].flatMap((folder) => codeUnder(ROOT, folder));
const sources = paths.map((path) => sourceAt(ROOT, path));

function written(violations: readonly Violation[]): string[] {
  return violations.map(({ rule, path, line, what }) => `${path}:${line} ${rule}: ${what}`);
}

function check(fixture: Fixture, text: string): string[] {
  const source = parsed(fixture.path, text);
  const rules = [...ruleViolations(source, EXCEPTIONS), ...mintViolations(source, EXCEPTIONS)];
  return [...rules, ...shapeViolations(source)].map((one) => one.rule);
}

describe('the house', () => {
  test('is examined whole', () => {
    expect(sources.length).toBeGreaterThan(FILES_EXAMINED_MIN);
    expect(paths).toContain('src/evidence/reading.ts');
    for (const row of ARROWS.filter((one) => one.of !== 'bench/')) {
      expect(
        paths.some((path) => isOf(path, row.of)),
        `${row.of} has files`,
      ).toBe(true);
    }
  });

  test('imports only along its arrows', () => {
    expect(written(sources.flatMap((source) => arrowViolations(source, HOUSE)))).toEqual([]);
  });

  test('writes no forbidden form', () => {
    expect(written(sources.flatMap((source) => ruleViolations(source, EXCEPTIONS)))).toEqual([]);
  });

  test('mints readings in sources and stores only, and answers in their route only', () => {
    expect(written(sources.flatMap((source) => mintViolations(source, EXCEPTIONS)))).toEqual([]);
  });

  test('keeps its names, sizes and comments', () => {
    expect(written(sources.flatMap(shapeViolations))).toEqual([]);
  });

  test('holds no file that nothing reaches', () => {
    const whole = [...sources, sourceAt(ROOT, 'vitest.config.ts')];
    const ofProduct = deadFiles(whole, BEGINNINGS).filter((path) => !/\.test(-d)?\./.test(path));
    const ofTests = deadFiles(whole, [...BEGINNINGS, ...paths.filter(isTest)]);
    const dead = ofProduct.filter((path) => !FOR_TESTS.test(path) || ofTests.includes(path));
    expect(dead).toEqual([]);
  });

  test('names each file that starts a process in the file that starts it', () => {
    for (const entry of CHILD_ENTRIES) {
      expect(existsSync(`${ROOT}/${entry}`), entry).toBe(true);
      const stem = entry.replace(/^.*\//, '').replace(/\.ts$/, '');
      const named = sources.some((one) => one.path !== entry && one.text.includes(stem));
      expect(named, `${entry} is named somewhere`).toBe(true);
    }
  });

  test('has each package that its tables name', () => {
    const { dependencies, devDependencies } = packages();
    const known = { ...dependencies, ...devDependencies, exhibit: 'the package itself' };
    const named = [
      ...ARROWS.flatMap((row) => row.outside.map((name) => name.replace('types:', ''))),
      ...TESTS.outside,
      ...Object.keys(DRIVERS),
    ];
    expect(named.filter((name) => !(name in known))).toEqual([]);
  });
});

type Packages = { readonly dependencies: object; readonly devDependencies: object };

function packages(): Packages {
  const read: unknown = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));
  if (typeof read !== 'object' || read === null) throw new Error('package.json is no object');
  const of = (name: string) => {
    const held: unknown = Reflect.get(read, name);
    if (typeof held !== 'object' || held === null) throw new Error(`package.json has no ${name}`);
    return held;
  };
  return { dependencies: of('dependencies'), devDependencies: of('devDependencies') };
}

describe('a forbidden form is caught, its right twin is not', () => {
  test.each(RULE_FIXTURES)('$rule in $path: $wrong', (fixture) => {
    expect(check(fixture, fixture.wrong)).toContain(fixture.rule);
    expect(check(fixture, fixture.right)).not.toContain(fixture.rule);
  });

  test.each(SHAPE_FIXTURES)('$rule: $path', (fixture) => {
    expect(check(fixture, fixture.wrong)).toContain(fixture.rule);
    const sameText = fixture.right === fixture.wrong;
    const twin = sameText ? { ...fixture, path: 'src/chain/amount.ts' } : fixture;
    expect(check(twin, fixture.right)).not.toContain(fixture.rule);
  });
});

describe('an arrow against the plan is caught', () => {
  const arrow = (path: string, from: string) =>
    arrowViolations(parsed(path, `import { a } from '${from}';`), HOUSE).length;

  test.each(ARROWS_REFUSED)('%s may not import %s', (path, from) => {
    expect(arrow(path, from)).toBe(1);
  });

  test.each(ARROWS_ALLOWED)('%s may import %s', (path, from) => {
    expect(arrow(path, from)).toBe(0);
  });
});

describe('the graph', () => {
  test('has no circle of imports, types included', () => {
    expect(circles(sources)).toEqual([]);
  });

  test('of features has none either, and a row for each folder', () => {
    const folders = new Set(paths.flatMap((path) => featureOf(path) ?? []));
    expect([...folders].sort()).toEqual(Object.keys(FEATURES_REST_ON).sort());
    for (const feature of folders) expect(restsOn(feature), feature).not.toContain(feature);
  });

  function restsOn(feature: string): string[] {
    const direct = FEATURES_REST_ON[feature] ?? [];
    return [...direct, ...direct.flatMap(restsOn)];
  }

  test('a circle is found, a chain is none', () => {
    const files = [
      parsed('src/a.ts', "import type { B } from './b.ts';"),
      parsed('src/b.ts', "export { c } from './c.ts';"),
      parsed('src/c.ts', "import './a.ts';"),
      parsed('src/d.ts', "import './a.ts';"),
    ];
    expect(circles(files)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts']]);
  });
});

test('a file that nothing imports is dead, one that is reached through others is not', () => {
  const file = (path: string, text: string) => parsed(path, text);
  const house = [
    file('src/main.ts', "import './a.ts';"),
    file('src/a.ts', "export { b } from './b.ts';"),
    file('src/b.ts', "const c = import('./c.ts');"),
    file('src/c.ts', ''),
    file('src/d.ts', "import './e.ts';"),
    file('src/e.ts', "import './d.ts';"),
  ];
  expect(deadFiles(house, ['src/main.ts'])).toEqual(['src/d.ts', 'src/e.ts']);
});
