// And: can every file be reached from where the product begins.

import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { type Import, isTest, isWithin, type SourceFile, type Violation } from './tidy-source.ts';

/**
 * One row of the table. `of` names files by path prefix or end (`*.route.ts`); `may` names
 * folders (`src/evidence/`) or files, `types:` before one that only types may come from.
 */
export type Arrows = {
  readonly of: string;
  readonly may: readonly string[];
  /** Packages from outside; `types:` before one that only types may come from. */
  readonly outside: readonly string[];
  /** Closed to `node:` built-ins. */
  readonly sealed?: true;
  /** Each folder below is apart: a file sees its own, and others only where `may` names them. */
  readonly apart?: true;
};

/** Everything that the walls are made of. */
export type House = {
  readonly arrows: readonly Arrows[];
  /** The features whose engines each feature rests on. */
  readonly features: { readonly [feature: string]: readonly string[] };
  /** The further imports of a test, beside those of the tested file. */
  readonly tests: { readonly may: readonly string[]; readonly outside: readonly string[] };
  /** Where built-ins that do IO may be imported; the others are open to all that is not sealed. */
  readonly io: readonly string[];
  /** One driver for each technology: the packages, and the files that may hold them. */
  readonly drivers: { readonly [name: string]: readonly string[] };
  /** Files whose code only some files may import. */
  readonly kept: { readonly [path: string]: readonly string[] };
};

/** Whether a path is of a row: that file, below that folder, or as a pattern with `*` says. */
export function isOf(path: string, of: string): boolean {
  if (!of.includes('*')) return isWithin(path, of);
  const pattern = of.split('*').map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${pattern.join('.*')}$`).test(path);
}

/** The imports of a file that no arrow allows. */
export function arrowViolations(source: SourceFile, house: House): Violation[] {
  const row = rowOf(source.path, house);
  if (row === undefined) return [violation(source, { line: 1, from: 'a folder without a row' })];
  return source.imports
    .filter((one) => !mayImport(source.path, one, row, house))
    .map((one) => {
      const own = featureOf(source.path);
      const to = featureOf(targetOf(source.path, one.from));
      const isOther = own !== null && to !== null && own !== to;
      const rest = `${one.from} (${own} sees what its feature.ts or FEATURES_REST_ON names)`;
      return violation(source, isOther ? { line: one.line, from: rest } : one);
    });
}

/** The features whose engines each feature sees: by its row, and by what its `feature.ts` opens. */
export function featuresSeen(
  sources: readonly SourceFile[],
  rows: House['features'],
): House['features'] {
  const seen = new Map(Object.entries(rows));
  for (const { path, imports } of sources) {
    const own = featureOf(path);
    if (own === null || !path.endsWith('/feature.ts')) continue;
    const opened = imports.flatMap(
      ({ from }) => /^\.\.\/([^/]+)\/feature\.ts$/.exec(from)?.[1] ?? [],
    );
    const before = seen.get(own);
    seen.set(own, [...new Set([...(before === undefined ? [] : before), ...opened])]);
  }
  return Object.fromEntries(seen);
}

/** A test is of the row that its own file is of. */
function rowOf(path: string, { arrows }: House): Arrows | undefined {
  const tested = path.replace(/\.(test|test-d|suite)(?=\.tsx?$)/, '');
  return arrows.find((one) => isOf(path, one.of) || isOf(tested, one.of));
}

function violation(source: SourceFile, one: Pick<Import, 'line' | 'from'>): Violation {
  return { rule: 'import arrow', path: source.path, line: one.line, what: one.from };
}

function mayImport(path: string, one: Import, row: Arrows, house: House): boolean {
  const test = isTest(path);
  if (one.from.startsWith('.')) {
    const target = targetOf(path, one.from);
    const more = test ? house.tests.may : [];
    return (
      isNear(path, target, row, house) ||
      [...row.may, ...more].some((may) => meets(may, target, one))
    );
  }
  if (one.from.startsWith('node:')) return test || mayTake(path, one.from, row, house);
  if (isBuiltin(one.from)) return false;
  const name = packageOf(one.from);
  const drivers = house.drivers[name];
  if (drivers?.some((driver) => isWithin(path, driver)) === true) return true;
  if (one.typeOnly && row.outside.includes(`types:${name}`)) return true;
  return row.outside.includes(name) || (test && house.tests.outside.includes(name));
}

const DOES_IO =
  /^node:(fs|net|tls|dgram|http|https|http2|dns|child_process|worker_threads|cluster)(\/|$)/;

function mayTake(path: string, builtin: string, row: Arrows, house: House): boolean {
  if (row.sealed === true) return false;
  return !DOES_IO.test(builtin) || house.io.some((may) => isOf(path, may));
}

/** A file's own folder is open to it; inside a feature its role says what of it. */
function isNear(path: string, target: string, row: Arrows, house: House): boolean {
  const feature = featureOf(path);
  if (feature !== null) return isOfFeature(path, target, feature, house);
  if (row.of.includes('*')) return false;
  return isWithin(target, row.apart === true && !isTest(path) ? folderBelow(path, row.of) : row.of);
}

/** `src/sources/evm/` for a file below it, where each folder of `src/sources/` is apart. */
function folderBelow(path: string, of: string): string {
  return `${of}${path.slice(of.length).split('/', 1)[0]}/`;
}

/** The feature that a file is of: the folder below `src/features/`; `null` for any other file. */
export function featureOf(path: string): string | null {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** The role of a feature's file, by the end of its name; one without a role is an engine. */
type Role =
  | 'shapes'
  | 'contract'
  | 'store'
  | 'route'
  | 'command'
  | 'job'
  | 'page'
  | 'feature'
  | 'engine';

function roleOf(path: string): Role {
  const name = posix.basename(path).replace(/\.(test|test-d|suite)\.tsx?$/, '.ts');
  if (name === 'shapes.ts') return 'shapes';
  // Its commands with what they need, apart from what only its routes need.
  if (name === 'feature.ts' || name === 'local.ts') return 'feature';
  const role = /\.(contract|store|route|command|job|page)\.tsx?$/.exec(name)?.[1];
  return role === undefined ? 'engine' : (role as Role);
}

/** Which roles of its own feature a file may import. */
const SEES: { readonly [role in Role]: readonly Role[] } = {
  shapes: ['shapes'],
  engine: ['engine', 'shapes'],
  contract: ['contract', 'shapes'],
  store: ['store', 'shapes'],
  route: ['route', 'contract', 'page', 'engine', 'shapes'],
  job: ['job', 'engine', 'shapes'],
  command: ['command', 'contract', 'route', 'engine', 'shapes'],
  page: ['page', 'contract', 'route', 'shapes'],
  feature: ['shapes', 'contract', 'store', 'route', 'command', 'job', 'page', 'feature', 'engine'],
};

function isOfFeature(path: string, target: string, feature: string, house: House): boolean {
  const to = featureOf(target);
  if (to === null) return false;
  const role = roleOf(target);
  if (to === feature) return isTest(path) || SEES[roleOf(path)].includes(role);
  const rests = house.features[feature]?.includes(to) === true;
  const thinks = isTest(path) || ['engine', 'shapes', 'route', 'job'].includes(roleOf(path));
  return rests && thinks && (role === 'engine' || role === 'shapes');
}

function meets(may: string, target: string, one: Import): boolean {
  if (may.startsWith('types:')) return one.typeOnly && isOf(target, may.slice('types:'.length));
  return isOf(target, may);
}

/** The path that a relative import names, from the root of the repository. */
function targetOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from);
}

function packageOf(from: string): string {
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/');
}

/** The files that a process loads; `kept` are those that a command alone loads, when it runs. */
export function filesLoaded(
  sources: readonly SourceFile[],
  roots: readonly string[],
  kept: House['kept'],
): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const loaded = new Set<string>();
  const next = [...roots];
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    const source = byPath.get(path);
    if (source === undefined || loaded.has(path)) continue;
    loaded.add(path);
    for (const { from, typeOnly, lazy } of source.imports) {
      if (!from.startsWith('.') || typeOnly) continue;
      const target = targetOf(path, from);
      if (!lazy || kept[target] === undefined) next.push(target);
    }
  }
  return loaded;
}

/** The imports of files that only some may import: types aside. */
export function keptViolations(source: SourceFile, kept: House['kept']): Violation[] {
  const isOwn = (path: string) => isTest(source.path) || source.path === path;
  return source.imports
    .filter(({ from, typeOnly }) => {
      const target = targetOf(source.path, from);
      const may = kept[target];
      if (!from.startsWith('.') || typeOnly || may === undefined || isOwn(target)) return false;
      return !may.some((of) => isOf(source.path, of));
    })
    .map((one) => ({ ...violation(source, one), rule: 'kept apart' }));
}

/** The files that cannot be reached, by imports, from those that the product begins with. */
export function deadFiles(sources: readonly SourceFile[], roots: readonly string[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const next = sources
    .map((source) => source.path)
    .filter((path) => roots.some((root) => isOf(path, root)));
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const one of source.imports) {
      if (one.from.startsWith('.')) next.push(targetOf(path, one.from));
    }
  }
  return sources.map((source) => source.path).filter((path) => !reached.has(path));
}

/**
 * The circles of imports, types included: each as the paths in it, in order. Tarjan's algorithm
 * finds them in one walk (Depth-first search and linear graph algorithms, 1972).
 */
export function circles(sources: readonly SourceFile[]): string[][] {
  const below = new Map(
    sources.map(({ path, imports }) => {
      const near = imports.filter(({ from }) => from.startsWith('.'));
      return [path, near.map(({ from }) => targetOf(path, from))];
    }),
  );
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (path: string): number => {
    const at = order.size;
    order.set(path, at);
    let low = at;
    stack.push(path);
    for (const next of below.get(path) ?? []) {
      if (!below.has(next)) continue;
      const known = order.get(next);
      if (known === undefined) low = Math.min(low, visit(next));
      else if (!lowest.has(next)) low = Math.min(low, known);
    }
    if (low < at) return low;
    const circle = stack.splice(stack.indexOf(path));
    for (const one of circle) lowest.set(one, at);
    const isCircle = circle.length > 1 || below.get(path)?.includes(path) === true;
    if (isCircle) found.push(circle.sort());
    return low;
  };
  for (const path of below.keys()) if (!order.has(path)) visit(path);
  return found;
}
