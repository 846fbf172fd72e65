// Texts, never run. What the rules look for in a whole line is put together from two halves.

/**
 * A form as it would stand in a file of that path: `wrong` breaks the rule, `right` breaks none.
 */
export type Fixture = {
  readonly rule: string;
  readonly path: string;
  readonly wrong: string;
  readonly right: string;
};

const ENGINE = 'src/features/sanctions/walk.ts';
const ADAPTER = 'src/stores/control/labels.ts';
const SOURCE = 'src/sources/evm/node.ts';
const ROUTE = 'src/features/screening/screen.route.ts';
const CONTRACT = 'src/features/sanctions/wallet-ofac.route.ts';
const HEAD = '// What is this?\n';

function form(rule: string, path: string, wrong: string, right: string): Fixture {
  return { rule, path, wrong: HEAD + wrong, right: HEAD + right };
}

type Pair = readonly [wrong: string, right: string];

/** Everywhere between a source and an answer, and where an answer is shown. */
const EVERYWHERE = [
  ENGINE,
  ADAPTER,
  ROUTE,
  'src/sources/evm/node.ts',
  'src/command/output.ts',
  'src/features/bridges/feature.ts',
  'src/pages/reference.tsx',
  'src/access/gate.ts',
];

function everywhere(rule: string, pairs: readonly Pair[]): Fixture[] {
  return pairs.flatMap(([wrong, right]) =>
    EVERYWHERE.map((path) => form(rule, path, wrong, right)),
  );
}

const READING = "import { type Read, read } from '../../evidence/reading.ts';\n";
const LONG_BODY = 'work();\n'.repeat(100);

/** Each forbidden form of code. */
export const RULE_FIXTURES: readonly Fixture[] = [
  form('any', ENGINE, 'let x: any;', 'let x: unknown;'),
  form('any', ENGINE, 'const x = y as Array<any>;', 'const x: unknown[] = y;'),
  form('as never', ENGINE, 'f(x as never);', 'f(x);'),
  form('as never', ENGINE, 'f(<never>x);', 'const x: never = f();'),
  form('as unknown as', ENGINE, 'f(x as unknown as Y);', 'f(x as unknown);'),
  form('as unknown as', ENGINE, 'f((x as unknown) as Y);', 'f(x as Y);'),
  form(
    'cast to evidence',
    ADAPTER,
    `${READING}f(x as Read<string, 'a'>);`,
    `${READING}f(x satisfies Read<string, 'a'>);`,
  ),
  form(
    'cast to evidence',
    ROUTE,
    "import type { Claim as Said } from '../../evidence/claim.ts';\nf(x as Promise<Said>[]);",
    "import type { Claim } from '../other/claim-form.ts';\nf(x as Promise<Claim>[]);",
  ),
  form(
    'cast to evidence',
    ENGINE,
    "import type { EvmAddress } from '../chain/address.ts';\nf(<EvmAddress>x);",
    "import { parseAddress } from '../chain/address.ts';\nf(parseAddress(x));",
  ),
  form(
    'borrowed prototype',
    ADAPTER,
    'f(Object.create(Read.prototype));',
    'f(Object.create(null));',
  ),
  form('borrowed prototype', ENGINE, 'Object.setPrototypeOf(x, y);', 'Object.getPrototypeOf(x);'),
  form(
    'unchecked JSON.parse',
    ADAPTER,
    'const x = JSON.parse(t);',
    'const x: unknown = JSON.parse(t);',
  ),
  form('unchecked JSON.parse', ADAPTER, 'f(JSON.parse(t));', 'schema.safeParse(JSON.parse(t));'),
  form('unchecked JSON.parse', ADAPTER, 'f(JSON.parse(t) as Row);', 'f(JSON.parse(t) as unknown);'),
  form(
    'unchecked JSON.parse',
    ADAPTER,
    'function f(t: string) { return JSON.parse(t); }',
    'function f(t: string): unknown { return JSON.parse(t); }',
  ),
  form(
    'unchecked JSON.parse',
    ADAPTER,
    'const f = (t: string): Row => JSON.parse(t);',
    'const f = (t: string): unknown => JSON.parse(t);',
  ),
  form(
    'unchecked JSON.parse',
    ADAPTER,
    'let x; x = JSON.parse(t);',
    'let x: unknown; x = JSON.parse(t);',
  ),
  form(
    'unchecked JSON.parse',
    ENGINE,
    'const { a } = JSON.parse(t);',
    'const a = schema.parse(t);',
  ),
  form('untyped container', ENGINE, 'const m = new Map();', 'const m = new Map<string, number>();'),
  form('untyped container', ENGINE, 'class A { m = new Map(); }', 'class A { m: M = new Map(); }'),
  ...everywhere('literal fallback', [
    ['f(x ?? 0);', 'f(x ?? null);'],
    ['f(x ?? []);', 'f(x ?? [first]);'],
    ["f(x ?? '');", "f(x ?? 'unknown');"],
    ['f(x ?? ``);', 'f(x ?? `none`);'],
    ['f(x || []);', 'f(x || y);'],
    ['f(x || false);', 'f(x || true);'],
    ['f(x ?? {});', 'f(x ?? { a });'],
    ['f(x ?? 0n);', 'f(x ?? 1n);'],
    ['f(x ?? -0);', 'f(x ?? -1);'],
    ['f(x ?? new Map());', 'f(x ?? new Map(rows));'],
    ['f(x ?? new Set<string>());', 'f(x ?? new Set([1]));'],
    ['f(x ?? ([] as string[]));', 'f(x && []);'],
    ['f(x ?? Object.freeze([]));', 'f(x ?? Object.freeze([1]));'],
    ['x ??= [];', 'x ??= y;'],
    ['x ||= 0;', 'x &&= 0;'],
    ['function f(x = []) {}', 'function f(x: X) {}'],
    ["const f = (x = '') => x;", 'const f = (x = y) => x;'],
    ['const { x = 0 } = y;', 'const { x } = y;'],
    ['p.catch(() => []);', 'p.catch((error) => unread(port, faultOf(error)));'],
    ['p.catch(() => { log(); return false; });', 'p.catch(() => { log(); throw fault; });'],
    ['p.then(f, () => 0);', 'p.then(() => 0);'],
    // A constant that is bound to nothing is the literal.
    ['const ZERO = 0; f(x ?? ZERO);', 'const ONE = 1; f(x ?? ONE);'],
    ['const first = 0n; f(x ?? first);', 'let first = 0n; f(first ?? x);'],
    ['const NONE = []; f(x ?? NONE);', 'const NONE = [first]; f(x ?? NONE);'],
    ['const rows = Object.freeze([]); f(x || rows);', 'const rows = []; f(rows || x);'],
    [
      'const NOBODY = {} as const; x ??= NOBODY;',
      'const NOBODY = { kind } as const; x ??= NOBODY;',
    ],
    ['const held = new Map<K, V>(); f(x ?? held);', 'const held = new Map<K, V>(); f(held ?? x);'],
    [
      'function g() { const NO_ROWS = []; f(x ?? NO_ROWS); }',
      'function g() { const rows = []; f(x ?? rows); }',
    ],
    ["const NO = ''; function g(x = NO) {}", "const NO = 'no'; function g(x = NO) {}"],
    ['const NONE = []; p.catch(() => NONE);', 'const NONE = []; p.then(() => NONE);'],
    [
      "import { NO_ROWS } from './rows.ts'; f(x ?? NO_ROWS);",
      "import { rows } from './rows.ts'; f(x ?? rows);",
    ],
    [
      "import { EMPTY as e } from './rows.ts'; f(x ?? e);",
      "import { FULL as e } from './rows.ts'; f(x ?? e);",
    ],
  ]),
  ...everywhere('empty for silence', [
    ['f(r instanceof Read ? r.value : []);', 'f(r instanceof Read ? r.value : null);'],
    ['f(r instanceof Unread ? 0 : r.value);', 'f(r instanceof Unread ? r.why : 0);'],
    ['f(r instanceof Part ? {} : g(r));', 'f(r instanceof Error ? {} : g(r));'],
    ["f(r.checked ? r.value : '');", "f(r.checked ? '' : r.why);"],
    ['f(!r.checked ? false : r.value);', 'f(!r.checked ? null : r.value);'],
    ['f(r.checked === false ? 0n : r.value);', 'f(r.checked === true ? 0n : r.why);'],
    ['f(r !== null && r.checked ? r.value : new Map());', 'f(r !== null && a ? b : new Map());'],
    ['f(x === undefined ? [] : x);', 'f(x === undefined ? [] : [x]);'],
    ['f(x !== null ? x : 0);', 'f(x !== null ? 0 : x);'],
    [
      'function g() { if (!(r instanceof Read)) return []; }',
      'function g() { if (!(r instanceof Read)) return r; }',
    ],
    [
      'function g() { if (r.checked === false) return 0; }',
      'function g() { if (r.checked === true) return 0; }',
    ],
    [
      'function g() { if (r instanceof Unread) { log(); return new Set(); } }',
      'function g() { if (r instanceof Unread) return r; }',
    ],
    [
      'function g() { if (r.checked) f(r); else return false; }',
      'function g() { if (r.checked) return false; else f(r); }',
    ],
    [
      'function g() { if (x === undefined) return []; }',
      'function g() { if (x === undefined) return null; }',
    ],
    [
      "function g() { if (x == null || y > 1) return ''; }",
      "function g() { if (y > 1) return ''; }",
    ],
    [
      'const ZERO = 0; f(r.checked ? r.value : ZERO);',
      'const ONE = 1; f(r.checked ? r.value : ONE);',
    ],
    ['const NONE = []; f(x === null ? NONE : x);', 'const NONE = []; f(x === null ? NONE : y);'],
    [
      'const NONE = []; function g() { if (x === undefined) return NONE; }',
      'const NONE = []; function g() { if (y > 1) return NONE; }',
    ],
  ]),
  ...everywhere('blind decision', [
    ['f(decide(r, () => true));', 'f(decide(r, (rows) => rows.length > 0));'],
    ['f(decide(r, () => false));', 'f(decide(r, isSomething));'],
    ['f(decide(r, (rows) => known));', 'f(decide(r, ({ found }) => found.has(known)));'],
    ['f(decide(r, ({ found }) => known));', 'f(decide(r, ({ found: [first] }) => g(first)));'],
    ['f(all([]));', 'f(all([r]));'],
    ['f(some([]));', 'f(rows.some([]));'],
    ['f(both({}));', 'f(both({ r }));'],
  ]),
  ...everywhere('swallowed failure', [
    ['try { f(); } catch {}', 'try { f(); } catch (e) { throw e; }'],
    [
      'async function g() { try { return await f(); } catch { return new Rows(0); } }',
      "async function g() { try { return await f(); } catch (e) { return unread('a', why(e)); } }",
    ],
  ]),
  ...['default(0)', 'default([])', 'prefault(0)', 'catch(0)', 'catch([])', 'catch(() => [])'].map(
    (filled) =>
      form(
        'filled in',
        SOURCE,
        `const a = z.number().${filled};`,
        'const a = z.number().nullish();',
      ),
  ),
  form('filled in', SOURCE, 'const a = row.default(NONE);', 'p.catch(unread);'),
  ...[SOURCE, ROUTE, ADAPTER].flatMap((path) => [
    form(
      'dropped rejection',
      path,
      'const all = await Promise.allSettled(pages);',
      'const all = await Promise.all(pages);',
    ),
    form(
      'dropped rejection',
      path,
      'f((await Promise.allSettled(pages)).filter(isKept));',
      'await Promise.allSettled(pages);',
    ),
  ]),
  form(
    'stripping schema',
    SOURCE,
    'const a = z.object({ id });',
    'const a = z.strictObject({ id });',
  ),
  form('stripping schema', SOURCE, 'const a = z\n  .object({ id });', 'const a = rowOf({ id });'),
  ...[
    ['f({ name, as_of: now() });', "f({ name, as_of: now(), kind: 'observation' });"],
    ["f({ as_of: options.now(), kind: 'table' });", "f({ as_of: list.published, kind: 'table' });"],
    ["const at = now(); f({ as_of: at, kind: 'table' });", 'const at = now(); f({ at });'],
    ["const as_of = Math.floor(Date.now() / 1_000); f({ as_of, kind: 'table' });", 'f({ as_of });'],
    [
      "f({ as_of: new Date().getTime() / 1_000, kind: 'table' });",
      "f({ as_of: new Date(day).getTime() / 1_000, kind: 'table' });",
    ],
    [
      "function g(as_of) { return { as_of, kind: 'table' }; } g(now());",
      "function g(as_of) { return { as_of, kind: 'observation' }; } g(now());",
    ],
    [
      "function g(id, day) { return { as_of: day, kind: 'table' }; } g(id, now());",
      "function g(id, day) { return { as_of: day, kind: 'table' }; } g(now(), day);",
    ],
  ].map(([wrong = '', right = '']) => form('dated by the clock', SOURCE, wrong, right)),
  form(
    'named nothing',
    SOURCE,
    'const NONE = []; f(isWhole ? rows : NONE);',
    'const NONE = []; f(isWhole ? rows : null);',
  ),
  ...[
    ['if (!Array.isArray(told)) return [];', 'if (!Array.isArray(told)) throw odd();'],
    [
      'const NO_ROWS = []; if (!parsed.success) { return NO_ROWS; }',
      'if (!parsed.success) return false;',
    ],
    ['rows.flatMap((one) => (r.success ? [r.data] : []));', 'rows.map((one) => shaped(one));'],
    ['rows.filter((one) => row.safeParse(one).success);', 'rows.filter((one) => one.is_out);'],
    [
      'const pools = told instanceof ProviderFault ? [] : told;',
      'told instanceof ProviderFault ? told : f(told);',
    ],
    ['if (status >= 500) return new Map();', 'if (status === 404) return new Map();'],
    ['if (answer.status !== 200) return [];', 'if (answer.status === 404) return [];'],
    ['return answer.status === 200 ? rows : [];', 'return answer.status === 404 ? [] : rows;'],
    [
      'if (status < 300) return rows; else return [];',
      'if (status < 300) return rows; throw odd();',
    ],
    ['if (!answer.ok) return [];', 'if (!answer.ok) return unread(P, w);'],
  ].map(([wrong = '', right = '']) =>
    form('empty for a fault', SOURCE, `function g() { ${wrong} }`, `function g() { ${right} }`),
  ),
  ...[
    ['log(e);', 'throw e;'],
    ['if (e instanceof Late) return unread(P, w); return [];', 'return unread(P, w);'],
    ['if (isKnown(e)) return REFUSED; throw e;', 'if (isKnown(e)) return e; throw e;'],
    ['return e.late ? unread(P, w) : NONE;', 'return e.late ? unread(P, w) : unread(P, v);'],
    ['if (e.late) throw e;', 'if (e.late) throw e; else return unread(P, w);'],
    ['return { rows: [], more: false };', 'return { again: e.fault };'],
    ['return rowsOf(e);', 'return unread(P, whyOf(e));'],
    ['return { lookUp: () => [] };', 'const u = unread(P, w); return { lookUp: () => u };'],
  ].map(([wrong, right]) =>
    form(
      'silent path',
      SOURCE,
      `function g() { try { f(); } catch (e) { ${wrong} } }`,
      `function g() { try { f(); } catch (e) { ${right} } }`,
    ),
  ),
  ...[
    ['p.catch(() => null);', 'p.catch(() => unread(P, w));'],
    ['p.catch((e) => { if (e.late) return null; throw e; });', 'p.catch((e) => { throw e; });'],
    ['p.catch(noop);', 'p.catch(reject);'],
    ['p.then(f, () => NOTHING);', 'p.then(f, (e) => unread(P, whyOf(e)));'],
  ].map(([wrong = '', right = '']) => form('silent path', SOURCE, wrong, right)),
  ...['any()', 'unknown()', 'custom(f)', 'transform(f)', 'preprocess(f, z.string())'].map((loose) =>
    form(
      'loose schema',
      CONTRACT,
      `const a = { data: z.${loose} };`,
      'const a = { data: z.string() };',
    ),
  ),
  ...['transform(f)', 'catch(0)', 'default(0)', 'prefault(0)'].map((loose) =>
    form(
      'loose schema',
      CONTRACT,
      `const rows = z.number().${loose};`,
      `const a = { query: z.strictObject({ limit: z.int().${loose} }) };`,
    ),
  ),
  form('environment', ENGINE, 'f(process.env);', 'f(config.env);'),
  form('environment', ADAPTER, "f(process.env['HOME']);", 'f(process.argv);'),
  form(
    'environment',
    ADAPTER,
    "import { env } from 'node:process';",
    "import { argv } from 'node:process';",
  ),
  form('global fetch', ADAPTER, 'await fetch(url);', 'await outside.fetch(url);'),
  form(
    'global fetch',
    ADAPTER,
    'const f = globalThis.fetch;',
    'async function f(fetch: Fetch) { await fetch(url); }',
  ),
  form('spread of a literal', ENGINE, 'f({ ...{ a, b }, c });', 'f({ ...(a ? {} : { b }), c });'),
  form('spread of a literal', 'src/chain/a.test.ts', 'f({ ...{ a: 1 } });', 'f({ ...a });'),
  form('default export', ENGINE, 'export default function f() {}', 'export function f() {}'),
  form('weak test', 'src/chain/a.test.ts', "test.only('a', f);", "test('a', f);"),
  form('weak test', 'src/chain/a.test.ts', "vi.mock('./b.ts');", 'vi.waitFor(() => f());'),
  form(
    'minting',
    ENGINE,
    "import { read } from '../evidence/reading.ts';",
    "import { unread } from '../evidence/reading.ts';",
  ),
  form(
    'minting',
    ROUTE,
    "import { part as p } from '../../evidence/reading.ts';",
    "import type { Part } from '../../evidence/reading.ts';",
  ),
  form(
    'minting',
    ENGINE,
    "import { mintAs } from '../evidence/reading.ts';",
    "import { weaken } from '../evidence/reading.ts';",
  ),
  form(
    'minting',
    ENGINE,
    "import * as r from '../evidence/reading.ts';",
    "import type * as r from '../evidence/reading.ts';",
  ),
  form(
    'minting',
    ENGINE,
    "const r = await import('../evidence/reading.ts');",
    "import { map } from '../evidence/reading.ts';",
  ),
  form(
    'minting',
    ENGINE,
    "export { read } from '../evidence/reading.ts';",
    "export { all } from '../evidence/reading.ts';",
  ),
  form(
    'minting',
    ROUTE,
    "import { makeAnswer } from '../../contract/answer.ts';",
    "import { Answer } from '../../contract/answer.ts';",
  ),
  form(
    'minting',
    'src/contract/wire.ts',
    "import { makeReply } from './answer.ts';",
    "import { Reply } from './answer.ts';",
  ),
];

/** Each wrong shape of a file. */
export const SHAPE_FIXTURES: readonly Fixture[] = [
  { rule: 'file name', path: 'src/chain/bigAmount.ts', wrong: HEAD, right: HEAD },
  { rule: 'file name', path: 'src/chain/amount.spec.ts', wrong: HEAD, right: HEAD },
  { rule: 'banned name', path: 'src/chain/utils.ts', wrong: HEAD, right: HEAD },
  { rule: 'banned name', path: 'src/helpers/amount.ts', wrong: HEAD, right: HEAD },
  { rule: 'banned name', path: 'src/chain/index.ts', wrong: HEAD, right: HEAD },
  { rule: 'folder name', path: 'src/bigChain/amount.ts', wrong: HEAD, right: HEAD },
  { rule: 'depth', path: 'src/stores/control/engine/tables/rows.ts', wrong: HEAD, right: HEAD },
  { rule: 'file length', path: ENGINE, wrong: `${HEAD}f();\n`.repeat(401), right: HEAD.repeat(1) },
  form(
    'function length',
    ENGINE,
    `function f() {\n${LONG_BODY}}`,
    `function f() {\n${LONG_BODY.slice(16)}}`,
  ),
  form('function length', ENGINE, `const f = () => {\n${LONG_BODY}};`, LONG_BODY),
  { rule: 'head comment', path: ENGINE, wrong: HEAD.repeat(6), right: HEAD.repeat(5) },
  form('columns', ENGINE, `f('${'x'.repeat(95)}');`, `f('${'x'.repeat(94)}');`),
  form('unfinished', ENGINE, `// ${'TO'}${'DO'}: later`, "f('to do');"),
  form('silenced check', ENGINE, `// ${'@ts'}-ignore\nf();`, '// ts is not ignored\nf();'),
  form('silenced check', ENGINE, `// ${'@ts'}-expect-error no\nf();`, 'f();'),
  form('machine path', ENGINE, `f('/${'tmp'}/a');`, "f('/template/a');"),
  form('machine path', ENGINE, `// see /${'work'}/main`, '// see docs/work/main'),
  form('machine path', ENGINE, `f('/${'home'}/op/a');`, "f('homes/op/a');"),
  form('machine path', 'src/chain/a.test.ts', `f('/${'tmp'}/a');`, `f('/${'home'}/op/a');`),
];

type Arrow = readonly [path: string, from: string];

/** Imports against the plan. */
export const ARROWS_REFUSED: readonly Arrow[] = [
  ['src/evidence/a.ts', '../chain/amount.ts'],
  ['src/evidence/a.ts', 'node:fs'],
  ['src/evidence/a.ts', 'zod'],
  ['src/chain/a.ts', '../evidence/reading.ts'],
  ['src/ports/labels/a.ts', '../../contract/wire.ts'],
  ['src/features/sanctions/a.ts', '../../stores/control/labels.ts'],
  ['src/features/sanctions/a.ts', '../../contract/route.ts'],
  ['src/features/sanctions/a.ts', 'zod'],
  ['src/features/sanctions/a.ts', './a.route.ts'],
  ['src/features/sanctions/a.ts', '../entities/forest.ts'],
  ['src/features/history/a.ts', '../sanctions/walk.ts'],
  ['src/features/sanctions/shapes.ts', './walk.ts'],
  ['src/features/sanctions/a.route.ts', '../tables/label-changes.route.ts'],
  ['src/features/sanctions/a.route.ts', '../../stores/control/labels.ts'],
  ['src/features/sanctions/a.route.ts', '../../access/gate.ts'],
  ['src/features/sanctions/a.page.tsx', './walk.ts'],
  ['src/features/sanctions/a.command.ts', '../tables/labels.ts'],
  ['src/sources/evm/a.ts', '../../features/sanctions/walk.ts'],
  ['src/sources/evm/a.ts', '../explorer/rows.ts'],
  ['src/stores/control/a.ts', '../../features/sanctions/walk.ts'],
  ['src/stores/control/labels.ts', 'pg'],
  ['src/stores/control/engine/postgres.ts', 'chdb'],
  ['src/transport/http.ts', '../features/sanctions/walk.ts'],
  ['src/transport/http.ts', '../features/sanctions/wallet-ofac.route.ts'],
  ['src/features/indexing/a.job.ts', '../../stores/control/leases.ts'],
  ['src/world/a.ts', '../evidence/reading.ts'],
  ['src/command/a.ts', '../stores/control/labels.ts'],
  ['src/features/sanctions/a.test.ts', '../../compose/stores.ts'],
  ['src/features/sanctions/a.ts', 'fs'],
  ['src/features/sanctions/a.ts', 'node:fs'],
  ['src/features/sanctions/a.route.ts', 'node:fs/promises'],
  ['src/features/indexing/a.job.ts', 'node:worker_threads'],
  ['src/ports/labels/a.ts', 'node:http'],
  ['src/access/a.ts', 'node:net'],
  ['src/pages/a.tsx', 'node:child_process'],
  ['src/client/a.ts', 'node:https'],
  ['src/chain/a.ts', 'node:crypto'],
  ['src/contract/a.ts', 'node:util'],
  ['src/nowhere/a.ts', './b.ts'],
];

/** Their right twins. */
export const ARROWS_ALLOWED: readonly Arrow[] = [
  ['src/evidence/a.ts', './reading.ts'],
  ['src/contract/a.ts', 'zod'],
  ['src/features/sanctions/a.ts', '../history/coverage.ts'],
  ['src/features/sanctions/a.route.ts', './shapes.ts'],
  ['src/features/sanctions/a.route.ts', './walk.ts'],
  ['src/features/sanctions/a.route.ts', '../history/limits.ts'],
  ['src/features/sanctions/a.test.ts', './wallet-ofac.route.ts'],
  ['src/features/sanctions/a.ts', 'node:crypto'],
  ['src/features/screening/a.command.ts', 'node:fs/promises'],
  ['src/sources/http/a.ts', 'node:net'],
  ['src/transport/a.ts', 'node:http'],
  ['src/features/sanctions/a.test.ts', 'node:fs'],
  ['src/stores/control/engine/postgres.ts', 'pg'],
  ['src/stores/control/labels.ts', './engine/database.ts'],
  ['src/stores/snapshots/labels.ts', '../../sources/files/csv.ts'],
  ['src/sources/evm/a.ts', '../http/json-rpc.ts'],
  ['src/features/sanctions/a.test.ts', '../../testing/twins/ports.ts'],
  ['src/evidence/a.test.ts', 'vitest'],
  ['src/compose/a.ts', '../stores/control/labels.ts'],
  ['src/silence.test.ts', './compose/stores.ts'],
];
