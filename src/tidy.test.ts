// Is the house as its plan says: who may import whom, and what nobody may write?
// The tables stand in src/testing/house.ts; the rules are in src/testing/tidy-*.ts, each with a
// fixture that it catches.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  ARROWS,
  BEGINNINGS,
  CHILD_ENTRIES,
  DRIVERS,
  EXCEPTIONS,
  FEATURES_REST_ON,
  FOR_TESTS,
  HOUSE,
  TESTS,
} from './testing/house.ts';
import {
  arrowViolations,
  circles,
  deadFiles,
  featureOf,
  featuresSeen,
  filesLoaded,
  isOf,
  keptViolations,
} from './testing/tidy-arrows.ts';
import {
  ARROWS_ALLOWED,
  ARROWS_REFUSED,
  type Fixture,
  RULE_FIXTURES,
  SHAPE_FIXTURES,
} from './testing/tidy-fixtures.ts';
import { mintViolations, ruleViolations } from './testing/tidy-rules.ts';
import { shapeViolations } from './testing/tidy-shape.ts';
import { codeUnder, isTest, parseFile, sourceAt, type Violation } from './testing/tidy-source.ts';
import {
  overTheirNumber,
  refuseFunctionName,
  refuseTypeName,
  sharedNames,
  wordViolations,
} from './testing/tidy-words.ts';

const FILES_EXAMINED_MIN = 150;

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const paths = ['src', 'bench', 'examples'].flatMap((folder) => codeUnder(ROOT, folder));
const sources = paths.map((path) => sourceAt(ROOT, path));

function written(violations: readonly Violation[]): string[] {
  return violations.map(({ rule, path, line, what }) => `${path}:${line} ${rule}: ${what}`);
}

function check(fixture: Fixture, text: string): string[] {
  const source = parseFile(fixture.path, text);
  const rules = [...ruleViolations(source, EXCEPTIONS), ...mintViolations(source, EXCEPTIONS)];
  return [...rules, ...shapeViolations(source)].map((one) => one.rule);
}

const SEEN = featuresSeen(sources, FEATURES_REST_ON);

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
    const house = { ...HOUSE, features: SEEN };
    expect(written(sources.flatMap((source) => arrowViolations(source, house)))).toEqual([]);
  });

  test('keeps the evaluator of policies with their callers: nothing that serves loads it', () => {
    expect(written(sources.flatMap((source) => keptViolations(source, HOUSE.kept)))).toEqual([]);
    const server = filesLoaded(sources, ['src/main.ts', ...CHILD_ENTRIES], HOUSE.kept);
    expect(server.size).toBeGreaterThan(FILES_EXAMINED_MIN);
    expect(server).toContain('src/command/policy-file.ts');
    for (const path of Object.keys(HOUSE.kept)) {
      expect(paths).toContain(path);
      expect(server).not.toContain(path);
    }
    const leak = "import { decide } from '../../client/policy.ts';";
    const planted = [
      ['src/features/policy/policy.route.tsx', leak],
      ['src/features/policy/feature.ts', leak.replace('import', 'export')],
      ['src/transport/http.ts', "const one = import('../client/policy.ts');"],
    ] as const;
    for (const [path, text] of planted) {
      expect(keptViolations(parseFile(path, text), HOUSE.kept)).toHaveLength(1);
    }
    const spread = sources.map((one) => {
      const isEager = one.path === 'src/command/policy-file.ts';
      return isEager ? parseFile(one.path, "import '../client/policy.ts';") : one;
    });
    expect(filesLoaded(spread, ['src/main.ts'], HOUSE.kept)).toContain('src/client/policy.ts');
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
    const starters = sources.filter(({ path }) => path !== 'src/testing/house.ts');
    for (const entry of CHILD_ENTRIES) {
      expect(existsSync(`${ROOT}/${entry}`), entry).toBe(true);
      const stem = entry.replace(/^.*\//, '').replace(/\.ts$/, '');
      const named = starters.some((one) => one.path !== entry && one.text.includes(stem));
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

describe('names', () => {
  test('say what a function does or gives, and each stands in one file', () => {
    const violations = [...sources.flatMap(wordViolations), ...sharedNames(sources)];
    const left = readFileSync(`${ROOT}/src/testing/words-left.txt`, 'utf8');
    expect(overTheirNumber(violations, left)).toEqual([]);
  });

  test.each([
    ...['trained', 'heldIn', 'walkedOnce', 'toldOf', 'shownPage', 'Asked', 'ofKind', 'sent'],
  ])('a function is not called %s', (name) => {
    expect(refuseFunctionName(name, false)).not.toBeNull();
  });

  test('one that acts does not begin with a participle, one that gives a value may', () => {
    expect(refuseFunctionName('importedFiles', true)).not.toBeNull();
    expect(refuseFunctionName('importedFiles', false)).toBeNull();
    const file = (text: string) => wordViolations(parseFile('src/a.ts', text)).length;
    expect(file('async function importedFiles() {}')).toBe(1);
    expect(file('const importedFiles = (): Promise<void> => read();')).toBe(1);
    expect(file('function importedFiles(): string[] { return []; }')).toBe(0);
  });

  test.each([
    ...['importFiles', 'feedRow', 'needOf', 'readings', 'isListed', 'openEmbedded', 'token'],
  ])('a function may be called %s', (name) => {
    expect(refuseFunctionName(name, false)).toBeNull();
  });

  test('a type bears no word of a private dialect', () => {
    const wrong = [
      'Asked',
      'StreamAsked',
      'GivenHeaders',
      'PaymentDesk',
      'DrawSettings',
      'TableDrawn',
    ];
    expect(wrong.filter((name) => refuseTypeName(name) === null)).toEqual([]);
    expect(['Request', 'Drawing', 'Desktop', 'Result'].map(refuseTypeName)).toEqual(
      Array(4).fill(null),
    );
  });

  test('a name that two files of the product export is found, in each of them', () => {
    const files = [
      parseFile('src/a.ts', 'export const admit = 1;'),
      parseFile('src/b.ts', 'export function admit() {}'),
      parseFile('src/b.test.ts', 'export const admit = 1;'),
      parseFile('src/testing/c.ts', 'export type Admit = 1;'),
    ];
    expect(sharedNames(files).map((one) => one.path)).toEqual(['src/a.ts', 'src/b.ts']);
  });

  test('a folder may have fewer wrong words than its number, not more', () => {
    const files = [parseFile('src/pages/a.ts', 'function told() {} function asked() {}')];
    const violations = files.flatMap(wordViolations);
    expect(overTheirNumber(violations, 'src/pages 3')).toEqual([]);
    expect(overTheirNumber(violations, 'src/pages 2')).toEqual([]);
    expect(overTheirNumber(violations, 'src/pages 1')).toHaveLength(3);
    expect(overTheirNumber(violations, '')).toHaveLength(3);
  });
});

describe('an arrow against the plan is caught', () => {
  const arrow = (path: string, from: string) =>
    arrowViolations(parseFile(path, `import { a } from '${from}';`), HOUSE).length;

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

  test('of features has none either, and its rows are of folders', () => {
    const folders = new Set(paths.flatMap((path) => featureOf(path) ?? []));
    expect([...folders]).toEqual(expect.arrayContaining(Object.keys(FEATURES_REST_ON)));
    for (const feature of folders) expect(restsOn(feature), feature).not.toContain(feature);
  });

  function restsOn(feature: string): string[] {
    const direct = SEEN[feature] ?? [];
    return [...direct, ...direct.flatMap(restsOn)];
  }

  test('a feature sees the engines of the features that its feature.ts opens', () => {
    const text = "import { a } from '../a/feature.ts';\nimport { b } from '../b/shapes.ts';";
    const files = [
      parseFile('src/features/c/feature.ts', text),
      parseFile('src/features/c/c.ts', "import { d } from '../d/feature.ts';"),
    ];
    expect(featuresSeen(files, { c: ['e'] })).toEqual({ c: ['e', 'a'] });
  });

  test('a circle is found, a chain is none', () => {
    const files = [
      parseFile('src/a.ts', "import type { B } from './b.ts';"),
      parseFile('src/b.ts', "export { c } from './c.ts';"),
      parseFile('src/c.ts', "import './a.ts';"),
      parseFile('src/d.ts', "import './a.ts';"),
    ];
    expect(circles(files)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts']]);
  });
});

test('a file that nothing imports is dead, one that is reached through others is not', () => {
  const file = (path: string, text: string) => parseFile(path, text);
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
