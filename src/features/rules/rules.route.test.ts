// A rule is parsed for whoever wrote it, and evaluated nowhere in the service.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Reply } from '../../contract/answer.ts';
import { NOBODY } from '../../contract/route.ts';
import { parseRule } from '../../contract/rules.ts';
import { startRouteServer } from '../../testing/route-server.ts';
import { edgeRules, rulesPageHandler } from './rules.route.tsx';
import { CALL_FIELDS } from './shapes.ts';

async function askRule(rule: string) {
  const server = await startRouteServer(
    () => ({}),
    () => 0,
  );
  try {
    const answer = await fetch(`${server.base}/edge/rules.json?rule=${encodeURIComponent(rule)}`);
    return { status: answer.status, body: (await answer.json()) as unknown };
  } finally {
    await server.close();
  }
}

const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const ASKED = { now: () => 0, signal: new AbortController().signal };

async function drawPage(query: { readonly rule?: string }): Promise<string> {
  const draw = rulesPageHandler({}, FACTS);
  const reply = await draw({ params: {}, query, body: undefined }, ASKED, NOBODY);
  if (!(reply instanceof Reply)) throw new Error('a page was refused');
  return String(reply.body);
}

describe('says', () => {
  test('the tree of a rule, with what of a unit was assumed', async () => {
    const rule = 'not (kind in (funding,liq)) and funding>0.05 or asset = BTC and price<9usd';
    expect(await askRule(rule)).toEqual({
      status: 200,
      body: {
        ok: true,
        rule: 'not kind in (funding, liq) and funding > 0.05 or asset = BTC and price < 9usd',
        nodes: [
          {
            op: 'in',
            field: 'kind',
            values: [
              { type: 'word', value: 'funding' },
              { type: 'word', value: 'liq' },
            ],
          },
          { op: 'not', of: [0] },
          {
            op: 'compare',
            field: 'funding',
            is: '>',
            value: { type: 'number', value: '0.05', unit: '%/8h', assumed: true },
          },
          { op: 'and', of: [1, 2] },
          {
            op: 'compare',
            field: 'asset',
            is: '=',
            value: { type: 'name', value: 'BTC' },
          },
          {
            op: 'compare',
            field: 'price',
            is: '<',
            value: { type: 'number', value: '9', unit: 'usd', assumed: false },
          },
          { op: 'and', of: [4, 5] },
          { op: 'or', of: [3, 6] },
        ],
        caveat:
          'A rule is parsed here and evaluated by whoever wrote it. Where `assumed` is true, a ' +
          'part of the unit was left out: a number of funding alone is per cent of eight hours.',
      },
    });
  });

  test('where a text is no rule, under status 200', async () => {
    expect(await askRule('kind = funding\nand \u202easset = BTC')).toEqual({
      status: 200,
      body: {
        ok: false,
        error: {
          message: 'U+202E stands here, which a reader cannot see.',
          line: 2,
          column: 5,
          expected: ['a visible character'],
        },
      },
    });
    expect(await askRule('constructor = BTC')).toMatchObject({
      status: 200,
      body: { ok: false, error: { column: 1, expected: [...CALL_FIELDS.keys()] } },
    });
  });

  test('the same on the page, for whoever runs no script', async () => {
    const parsed = await drawPage({ rule: 'funding > 0.05' });
    expect(parsed).toContain('It parses as: funding > 0.05');
    expect(parsed).toContain('%/8h (assumed)');
    const refused = await drawPage({ rule: 'price > x' });
    expect(refused).toContain('Line 1, column 9: Found x; expected a number.');
    expect(await drawPage({})).not.toContain('It parses as');
  });
});

describe('refuses', () => {
  test('a request without a rule', () => {
    expect(edgeRules.query.safeParse({}).success).toBe(false);
    expect(edgeRules.query.safeParse({ rule: '' }).success).toBe(true);
  });
});

test('every unit of a field is written once, and a number alone means one of them', () => {
  for (const [name, field] of CALL_FIELDS) {
    if (field.type !== 'number') continue;
    const written = field.units.map((unit) => unit.written);
    expect(new Set(written).size, name).toBe(written.length);
    expect(written, name).toContain('');
    for (const unit of written) {
      expect(parseRule(`${name} > 1${unit}`, CALL_FIELDS), unit).toMatchObject({ ok: true });
    }
  }
});

/** The modules that may know rules: the grammar, and the route with its editor. */
const KNOW_RULES = [
  'contract/rules.ts',
  'features/rules/rules.route.tsx',
  'features/rules/shapes.ts',
];

test('no other module of the service takes a rule, so that none evaluates one', () => {
  const src = new URL('../../', import.meta.url);
  const modules = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|test-d|suite)\.tsx?$/.test(path))
    // Callers evaluate their rules themselves.
    .filter((path) => !path.startsWith('client/'));
  expect(modules.length).toBeGreaterThan(400);
  const takes = modules.filter((path) => {
    const text = readFileSync(new URL(path, src), 'utf8');
    return path === 'contract/rules.ts' || /from '[^']*\/contract\/rules\.ts'/.test(text);
  });
  expect(takes.sort()).toEqual(KNOW_RULES);
  // What the grammar exports parses, prints and bounds.
  const grammar = readFileSync(new URL('contract/rules.ts', src), 'utf8');
  const made = [...grammar.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name);
  expect(made).toEqual(['RULE_LIMITS', 'COMPARISONS', 'PLAIN_TYPES', 'parseRule', 'printRule']);
  const evaluates = modules.filter((path) => {
    const text = readFileSync(new URL(path, src), 'utf8');
    return /\beval\(|new Function\(|from 'node:vm'/.test(text);
  });
  expect(evaluates).toEqual([]);
});
