// Is the house as its plan says: who may import whom, and what nobody may write?
// The tables stand here; the rules are in src/testing/tidy-*.ts, each with a fixture that it
// catches.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type Arrows,
  arrowViolations,
  deadFiles,
  type House,
  isOf,
} from './testing/tidy-arrows.ts';
import { type Fixture, RULE_FIXTURES, SHAPE_FIXTURES } from './testing/tidy-fixtures.ts';
import { type Exceptions, mintViolations, ruleViolations } from './testing/tidy-rules.ts';
import { shapeViolations } from './testing/tidy-shape.ts';
import { codeUnder, isTest, parsed, sourceAt, type Violation } from './testing/tidy-source.ts';

const EVIDENCE = 'src/evidence/';
const CHAIN = 'src/chain/';
const CONTRACT = 'src/contract/';
const PORTS = 'src/ports/';
const ACCESS = 'src/access/';
const ENGINES = 'src/engines/';
const ROUTES = 'src/routes/';
const DECLARED = 'src/routes/*.contract.ts';
const BELOW = [EVIDENCE, CHAIN];

/** Who may import whom. The first row that a file is of holds for it; its own folder is open. */
const ARROWS: readonly Arrows[] = [
  { of: EVIDENCE, may: [], outside: [], sealed: true },
  { of: CHAIN, may: [], outside: ['hash-wasm', '@noble/hashes', '@scure/base'], sealed: true },
  { of: CONTRACT, may: BELOW, outside: ['zod'], sealed: true },
  { of: PORTS, may: BELOW, outside: [] },
  { of: ENGINES, may: [PORTS, ...BELOW], outside: [] },
  { of: ACCESS, may: [PORTS, CONTRACT, ...BELOW], outside: [] },
  { of: DECLARED, may: [CONTRACT, ...BELOW], outside: ['zod'] },
  { of: 'src/routes/contracts.ts', may: [DECLARED], outside: [] },
  {
    of: 'src/routes/handlers.ts',
    may: ['types:src/routes/contracts.ts', ROUTES, CONTRACT, PORTS],
    outside: [],
  },
  {
    of: ROUTES,
    may: [CONTRACT, ENGINES, PORTS, ...BELOW, `types:${ACCESS}`],
    outside: ['types:zod'],
  },
  { of: 'src/adapters/', may: [PORTS, ...BELOW], outside: ['zod'] },
  {
    of: 'src/transport/',
    may: [ROUTES, CONTRACT, ACCESS, EVIDENCE],
    outside: ['fastify', 'prom-client', 'types:zod'],
  },
  {
    of: 'src/pages/',
    may: [DECLARED, CONTRACT, CHAIN, `types:${ACCESS}`],
    outside: ['preact', 'preact-render-to-string'],
  },
  { of: 'src/jobs/', may: [ENGINES, PORTS, ACCESS, ...BELOW], outside: [] },
  { of: 'src/client/', may: [CONTRACT, DECLARED, 'src/routes/contracts.ts'], outside: [] },
  { of: 'src/world/', may: [CHAIN], outside: [] },
  { of: 'src/config.ts', may: [CHAIN, 'src/config/'], outside: ['zod', 'yaml'] },
  { of: 'src/config/', may: [CHAIN, 'src/config.ts'], outside: ['zod'] },
  { of: 'src/compose/', may: ['src/'], outside: ['pino', 'zod'] },
  {
    // A command works on the ports that compose fills.
    of: 'src/cli/',
    may: ['src/compose/', 'src/client/', 'src/config.ts', 'src/config/', PORTS, ACCESS, EVIDENCE],
    outside: ['undici', 'zod'],
  },
  {
    of: 'src/main.ts',
    may: ['src/compose/', 'src/cli/', 'src/config.ts', 'src/config/'],
    outside: [],
  },
  {
    of: 'src/testing/',
    may: [PORTS, CONTRACT, ...BELOW, 'src/adapters/', 'src/world/', ROUTES, 'src/cli/'],
    outside: ['zod', 'oxc-parser', 'vitest', 'fast-check'],
  },
  // The tests of the house, which look at all of it.
  { of: 'src/*.test.ts', may: ['src/'], outside: ['zod'] },
  { of: 'bench/', may: ['src/'], outside: ['undici', 'zod', 'pg', '@duckdb/node-api'] },
];

/** What any test may import beside what its own file may. */
const TESTS: House['tests'] = {
  may: [
    ...[PORTS, CONTRACT, ...BELOW, 'src/testing/', 'src/world/'],
    ...['src/adapters/memory.ts', 'src/adapters/silent.ts', 'src/adapters/*/memory*.ts'],
  ],
  outside: ['vitest', 'fast-check', 'ajv', 'playwright-core', 'zod', 'csv-parse'],
};

/** One driver for each technology, and the only places that hold it. */
const DRIVERS: House['drivers'] = {
  '@electric-sql/pglite': ['src/adapters/control/'],
  pg: ['src/adapters/control/', 'src/testing/postgres.ts'],
  chdb: ['src/adapters/warehouse/', 'src/testing/warehouse-front.ts'],
  '@clickhouse/client': ['src/adapters/warehouse/'],
  saxes: ['src/adapters/sdn/'],
  yauzl: ['src/adapters/sdn/'],
  undici: ['src/adapters/fetch-json.ts'],
  yaml: ['src/adapters/exchange-labels/', 'src/adapters/table-import/'],
  'csv-parse': ['src/adapters/table-import/', 'src/cli/screen.ts'],
};

const HOUSE: House = { arrows: ARROWS, tests: TESTS, drivers: DRIVERS };

const EXCEPTIONS: Exceptions = {
  doubleCasts: [CONTRACT],
  evidenceCasts: [EVIDENCE, CONTRACT, 'src/chain/address.ts', 'src/testing/planted-leaks.ts'],
  mints: [EVIDENCE, 'src/adapters/', 'src/testing/'],
  answerMakers: ['src/contract/route.ts'],
  environment: ['src/config.ts', 'src/testing/'],
  browser: [],
  noFallbacks: [ENGINES, 'src/adapters/', ROUTES],
  // `faulty` makes an unread reading of a file's fault, `unreadFor` of the warehouse's weather,
  // `unreadable` a refused document of a fault;
  // `reject` tells the caller who waits.
  saysFailure: ['unread', 'faulty', 'unreadable', 'unreadFor', 'reject'],
  failureMessages: [
    'src/adapters/control/owner-protocol.ts',
    'src/adapters/control/pglite-worker.ts',
  ],
};

/** Files that start a process of their own: nothing imports them, another file names them. */
const CHILD_ENTRIES = [
  'src/adapters/control/pglite-create.ts',
  'src/adapters/control/pglite-worker.ts',
  'src/adapters/warehouse/embedded-child.ts',
  'src/adapters/sdn/reading-child.ts',
];
/** Where the product begins, and the tests of the house. */
const BEGINNINGS = [
  ...['src/main.ts', 'src/client/client.ts', 'bench/', 'vitest.config.ts', ...CHILD_ENTRIES],
  ...['src/tidy.test.ts', 'src/silence.test.ts', 'src/contract/reference.test.ts'],
  'src/testing/suite-setup.ts',
];
/** What only tests use: any test keeps it alive. */
const FOR_TESTS =
  /^src\/testing\/|\.suite\.ts$|^src\/adapters\/(.*\/)?(memory(-[a-z]+)*|silent)\.ts$/;

/** Fewer files than this were not the whole house. */
const FILES_EXAMINED_MIN = 150;

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const paths = ['src', 'bench'].flatMap((folder) => codeUnder(ROOT, folder));
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
    for (const row of ARROWS.filter((one) => one.of !== 'bench/' && one.of !== 'src/client/')) {
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

  test('mints readings in adapters only, and answers in their route only', () => {
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
    const known = { ...dependencies, ...devDependencies };
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
  const typed = (path: string, from: string) =>
    arrowViolations(parsed(path, `import type { A } from '${from}';`), HOUSE).length;

  test.each([
    ['src/evidence/a.ts', '../chain/amount.ts'],
    ['src/evidence/a.ts', 'node:fs'],
    ['src/evidence/a.ts', 'zod'],
    ['src/chain/a.ts', '../evidence/reading.ts'],
    ['src/ports/a.ts', '../contract/wire.ts'],
    ['src/engines/a.ts', '../adapters/memory.ts'],
    ['src/engines/a.ts', '../contract/route.ts'],
    ['src/engines/a.ts', 'zod'],
    ['src/routes/hosted/a.contract.ts', '../../engines/walk.ts'],
    ['src/routes/hosted/a.ts', './b.contract.ts'],
    ['src/routes/hosted/a.ts', '../../adapters/labels/store.ts'],
    ['src/routes/hosted/a.ts', '../../access/plan.ts'],
    ['src/adapters/labels/store.ts', '../../engines/walk.ts'],
    ['src/adapters/labels/store.ts', 'pg'],
    ['src/adapters/control/postgres.ts', 'chdb'],
    ['src/transport/http.ts', '../engines/walk.ts'],
    ['src/jobs/a.ts', '../adapters/memory.ts'],
    ['src/world/a.ts', '../evidence/reading.ts'],
    ['src/client/client.ts', '../routes/hosted/wallet-ofac.ts'],
    ['src/cli/a.ts', '../adapters/memory.ts'],
    ['src/engines/a.test.ts', '../compose/stores.ts'],
    ['src/engines/a.ts', 'fs'],
    ['src/nowhere/a.ts', './b.ts'],
  ])('%s may not import %s', (path, from) => {
    expect(arrow(path, from)).toBe(1);
  });

  test.each([
    ['src/evidence/a.ts', './reading.ts'],
    ['src/contract/a.ts', 'zod'],
    ['src/engines/a.ts', 'node:crypto'],
    ['src/routes/hosted/a.ts', './a.contract.ts'],
    ['src/adapters/control/postgres.ts', 'pg'],
    ['src/adapters/labels/store.ts', '../control/database.ts'],
    ['src/engines/a.test.ts', '../adapters/memory.ts'],
    ['src/engines/a.test.ts', '../adapters/labels/memory.ts'],
    ['src/evidence/a.test.ts', 'vitest'],
    ['src/compose/a.ts', '../adapters/labels/store.ts'],
    ['src/silence.test.ts', './compose/stores.ts'],
  ])('%s may import %s', (path, from) => {
    expect(arrow(path, from)).toBe(0);
  });

  test('types of access may come to a route, values may not', () => {
    expect(typed('src/routes/hosted/a.ts', '../../access/plan.ts')).toBe(0);
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
