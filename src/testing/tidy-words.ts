// Holds the words of names: functions that act begin with an imperative verb, types bear no word
// of the private dialect, and one exported name stands in one file. What is left to rename is a
// number for each folder in words-left.txt, which may only go down.

import {
  isFunction,
  isTest,
  lineAt,
  type Node,
  nameOf,
  nodeAt,
  nodesAt,
  type SourceFile,
  type Violation,
  walk,
} from './tidy-source.ts';

/** Words that say nothing to an engineer: result, request, dependencies, view say it. */
const DIALECT: ReadonlySet<string> = new Set('asked told given said shown drawn desk'.split(' '));
/** Past participles that do not end in -ed. */
const IRREGULAR: ReadonlySet<string> = new Set(
  (
    'begun bought broken brought built caught chosen done found frozen gone grown heard held ' +
    'hung kept known laid left lost made met paid proven seen sent sold sought spent ' +
    'spoken stood taken torn written'
  ).split(' '),
);
const PARTICIPLE = /[a-z]{2}ed$/;
/** Words that end in -ed and are none: verbs and nouns. */
const NOT_PARTICIPLES: ReadonlySet<string> = new Set(
  'embed exceed feed hundred need proceed seed speed'.split(' '),
);
/**
 * Particles that turn a participle into a phrase without a noun: `heldIn`, `sentBy`, `walkedOnce`.
 */
const PARTICLES: ReadonlySet<string> = new Set(
  (
    'a about after again all and apart around as at before between by elsewhere for from here in ' +
    'into lately near now of on once only or out over since so the there through to too under ' +
    'until up via where with without'
  ).split(' '),
);
const PRODUCT = /^src\/(?!testing\/)/;
/** A folder of the count: a capability, a provider, an engine, else the folder under src. */
const FOLDER =
  /^src\/(?:(?:compose\/)?features|ports|sources|stores)\/[^/]+(?=\/)|^src\/[^/]+(?=\/)|^src/;

/** The words of a name in lower case: `walkedOnce` is walked, once. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).map((one) => one.toLowerCase());
}

/** Whether a word is a past participle. */
function isParticiple(word: string): boolean {
  return IRREGULAR.has(word) || (PARTICIPLE.test(word) && !NOT_PARTICIPLES.has(word));
}

/** Why a function may not be called so, or null where it may. */
export function refuseFunctionName(name: string, acts: boolean): string | null {
  const [first = '', second] = wordsOf(name);
  if (DIALECT.has(first)) return 'a word of the private dialect: name the action or the value';
  if (first === 'of') return 'begins with a preposition: name the value';
  if (/^[A-Z]/.test(name) || !isParticiple(first)) return null;
  if (second === undefined || PARTICLES.has(second)) return 'a participle names neither';
  return acts ? 'acts and begins with a participle: use the imperative verb' : null;
}

/** Why a type may not be called so, or null where it may. */
export function refuseTypeName(name: string): string | null {
  const words = wordsOf(name);
  const wrong = words.find((word) => DIALECT.has(word)) ?? (words[0] === 'draw' ? 'draw' : null);
  return wrong === null ? null : `a type named with ${wrong}`;
}

/** Whether a function acts, as far as its declaration says: it is async, or answers no value. */
function acts(node: Node): boolean {
  if (node['async'] === true) return true;
  const annotation = nodeAt(node, 'returnType');
  const type = annotation === null ? null : nodeAt(annotation, 'typeAnnotation');
  if (type === null) return false;
  if (type.type === 'TSVoidKeyword' || type.type === 'TSNeverKeyword') return true;
  return type.type === 'TSTypeReference' && nameOf(nodeAt(type, 'typeName')) === 'Promise';
}

/** The wrong words of one file: its functions, and its types where it is no test. */
export function wordViolations(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  const note = (node: Node, name: string, why: string | null) => {
    if (why === null) return;
    const line = lineAt(source.text, node.start);
    found.push({ rule: 'words', path: source.path, line, what: `${name}: ${why}` });
  };
  if (isTest(source.path)) return [];
  walk(source.program, (node, above) => {
    const declared = node.type === 'FunctionDeclaration' ? node : above.at(-1);
    if (isFunction(node) && (declared === node || declared?.type === 'VariableDeclarator')) {
      const name = nameOf(nodeAt(declared, 'id'));
      note(node, name, refuseFunctionName(name, acts(node)));
    }
    if (node.type === 'TSTypeAliasDeclaration' || node.type === 'TSInterfaceDeclaration') {
      const name = nameOf(nodeAt(node, 'id'));
      note(node, name, refuseTypeName(name));
    }
  });
  return found;
}

/** The names that more than one file of the product exports, once for each file. */
export function sharedNames(sources: readonly SourceFile[]): Violation[] {
  const exported = new Map<string, Violation[]>();
  for (const source of sources) {
    if (!PRODUCT.test(source.path) || isTest(source.path)) continue;
    for (const { name, line } of exportsOf(source)) {
      const before = exported.get(name) ?? [];
      if (before.some((one) => one.path === source.path)) continue;
      const one = { rule: 'one name', path: source.path, line, what: name };
      exported.set(name, [...before, one]);
    }
  }
  return [...exported.values()]
    .filter((list) => list.length > 1)
    .flatMap((list) =>
      list.map((one) => {
        const others = list.filter((other) => other !== one).map((other) => other.path);
        return { ...one, what: `${one.what} is also exported by ${others.join(', ')}` };
      }),
    );
}

function exportsOf(source: SourceFile): { readonly name: string; readonly line: number }[] {
  return nodesAt(source.program, 'body').flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const declaration = nodeAt(statement, 'declaration');
    if (declaration === null) return [];
    const many = declaration.type === 'VariableDeclaration';
    const declared = many ? nodesAt(declaration, 'declarations') : [declaration];
    const line = lineAt(source.text, statement.start);
    return declared.map((one) => ({ name: nameOf(nodeAt(one, 'id')), line }));
  });
}

/** Each folder that has more wrong words than its number in words-left.txt, with all of them. */
export function overTheirNumber(violations: readonly Violation[], left: string): string[] {
  const allowed = new Map<string, number>();
  for (const line of left.split('\n')) {
    const row = /^(src\S*) (\d+)$/.exec(line);
    if (row?.[1] !== undefined) allowed.set(row[1], Number(row[2]));
  }
  const folders = new Map<string, Violation[]>();
  for (const one of violations) {
    const folder = FOLDER.exec(one.path)?.[0];
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), one]);
  }
  return [...folders].flatMap(([folder, list]) => {
    const most = allowed.get(folder);
    if (most !== undefined && list.length <= most) return [];
    const each = list.map(({ path, line, what }) => `${path}:${line} ${what}`);
    return [`${folder}: ${list.length} wrong words, ${most ?? 'none'} allowed`, ...each];
  });
}
