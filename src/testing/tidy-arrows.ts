// Answers one question: does an import follow one of the arrows of the house.
// And: can every file be reached from where the product begins.

import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { type Import, isTest, isWithin, type Source, type Violation } from './tidy-source.ts';

/**
 * One row of the table. `of` names files by path prefix or end (`*.contract.ts`); `may` names
 * folders (`src/evidence/`) or files, `types:` before one that only types may come from.
 */
export type Arrows = {
  readonly of: string;
  readonly may: readonly string[];
  /** Packages from outside; `types:` before one that only types may come from. */
  readonly outside: readonly string[];
  /** Closed to `node:` built-ins. */
  readonly sealed?: true;
};

/** Everything that the walls are made of. */
export type House = {
  readonly arrows: readonly Arrows[];
  /** What a test may import beside what its own file may. */
  readonly tests: { readonly may: readonly string[]; readonly outside: readonly string[] };
  /** One driver for each technology: the packages, and the files that may hold them. */
  readonly drivers: { readonly [name: string]: readonly string[] };
};

/** Whether a path is of a row: that file, below that folder, or as a pattern with `*` says. */
export function isOf(path: string, of: string): boolean {
  if (!of.includes('*')) return isWithin(path, of);
  const pattern = of.split('*').map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${pattern.join('.*')}$`).test(path);
}

/** The imports of a file that no arrow allows. */
export function arrowViolations(source: Source, house: House): Violation[] {
  const row = house.arrows.find((one) => isOf(source.path, one.of));
  if (row === undefined) return [violation(source, { line: 1, from: 'a folder without a row' })];
  return source.imports
    .filter((one) => !allowed(source.path, one, row, house))
    .map((one) => violation(source, one));
}

function violation(source: Source, one: Pick<Import, 'line' | 'from'>): Violation {
  return { rule: 'import arrow', path: source.path, line: one.line, what: one.from };
}

function allowed(path: string, one: Import, row: Arrows, house: House): boolean {
  const test = isTest(path);
  if (one.from.startsWith('.')) {
    const target = targetOf(path, one.from);
    const more = test ? house.tests.may : [];
    return (
      isNear(path, target, row) || [...row.may, ...more].some((may) => meets(may, target, one))
    );
  }
  if (one.from.startsWith('node:')) return row.sealed !== true || test;
  if (isBuiltin(one.from)) return false;
  const name = packageOf(one.from);
  const drivers = house.drivers[name];
  if (drivers?.some((driver) => isWithin(path, driver)) === true) return true;
  if (one.typeOnly && row.outside.includes(`types:${name}`)) return true;
  return row.outside.includes(name) || (test && house.tests.outside.includes(name));
}

/** A file's own folder is open to it; a route's is not, but for its own contract. */
function isNear(path: string, target: string, row: Arrows): boolean {
  if (row.of.includes('*')) return false;
  if (row.of === 'src/routes/') return isOwn(path, target);
  return isWithin(target, row.of);
}

/** `x.ts`, `x.contract.ts` and `x.test.ts` are one route. */
function isOwn(path: string, target: string): boolean {
  const stem = (file: string) => file.replace(/(\.[a-z-]+)*\.tsx?$/, '');
  return stem(path) === stem(target);
}

function meets(may: string, target: string, one: Import): boolean {
  if (may.startsWith('types:')) return one.typeOnly && isOf(target, may.slice('types:'.length));
  return isOf(target, may);
}

/** The path that a relative import names, from the root of the repository. */
export function targetOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from);
}

function packageOf(from: string): string {
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/');
}

/** The files that cannot be reached, by imports, from those that the product begins with. */
export function deadFiles(sources: readonly Source[], roots: readonly string[]): string[] {
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
