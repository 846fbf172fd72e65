// Each rule looks at one form; `tidy-fixtures.ts` has the form and its right twin.

import {
  choosesNamedNothing,
  choosesNothing,
  decidesBlindly,
  isFallback,
  joinsNothing,
  nothingsIn,
  returnsNothing,
} from './tidy-readings.ts';
import {
  calledName,
  holds,
  isCast,
  isFunction,
  isMember,
  isTest,
  isWithin,
  lineAt,
  type Node,
  nameOf,
  nodeAt,
  nodesAt,
  type SourceFile,
  type Violation,
  walk,
} from './tidy-source.ts';
import {
  clocksIn,
  dropsMalformed,
  dropsRejections,
  emptyForFault,
  failsSilently,
  fillsIn,
  isDatedByClock,
  saysOnEveryPath,
  strips,
} from './tidy-sources.ts';

/** Where each rule does not hold, and what it knows by name. */
export type Exceptions = {
  /** May cast `as unknown as`. */
  readonly doubleCasts: readonly string[];
  /** May cast to the evidence types, because they make them or imitate a liar. */
  readonly evidenceCasts: readonly string[];
  /** May mint readings. */
  readonly mints: readonly string[];
  /** Lie on purpose, so that what looks for lies can be seen to find them. */
  readonly liars: readonly string[];
  /** May make answers. */
  readonly answerMakers: readonly string[];
  /** May read the environment. */
  readonly environment: readonly string[];
  /** Run in a browser or at a user's, or asks as they do, where `fetch` is the only way out. */
  readonly browser: readonly string[];
  /** Stand between a source and an answer: no literal fallback here. */
  readonly noFallbacks: readonly string[];
  /** Calls that say a failure to whoever waits for the answer. */
  readonly saysFailure: readonly string[];
  /** Speak to another process, where a failure is a message. */
  readonly failureMessages: readonly string[];
  /** Between an outside or a store and an answer. */
  readonly readings: readonly string[];
  /** Adapters: where an outside's answer becomes a reading. */
  readonly adapters: readonly string[];
  /** The one file of them that may name a schema that drops what it does not name. */
  readonly dropping: readonly string[];
  /** May give a value for a failure: what it gives cannot be taken for an answer. */
  readonly failureAsValue: readonly string[];
};

type Rule = (
  node: Node,
  above: readonly Node[],
  source: SourceFile,
  but: Exceptions,
) => string | null;

const within = (path: string, folders: readonly string[]) =>
  folders.some((folder) => isWithin(path, folder));

/** The forbidden constructs of a file. */
export function ruleViolations(source: SourceFile, but: Exceptions): Violation[] {
  const found: Violation[] = [];
  const rules = Object.entries(RULES);
  walk(source.program, (node, above) => {
    for (const [rule, holdsFor] of rules) {
      const what = holdsFor(node, above, source, but);
      if (what === null) continue;
      found.push({ rule, path: source.path, line: lineAt(source.text, node.start), what });
    }
  });
  return found;
}

function textOf(source: SourceFile, node: Node): string {
  return source.text.slice(node.start, node.end).split('\n').join(' ').slice(0, 80);
}

/** The types that only their makers may make, by the file that exports them. */
const EVIDENCE_TYPES: { readonly [file: string]: readonly string[] } = {
  'evidence/reading.ts': ['Read', 'Part', 'Unread', 'Reading', 'Partly', 'Silent'],
  'evidence/claim.ts': ['Claim'],
  'contract/answer.ts': ['Answer', 'Reply'],
  'chain/address.ts': [
    ...['Address', 'EvmAddress', 'SolanaAddress', 'BitcoinAddress', 'TronAddress'],
    ...['ParsedAddress'],
  ],
};

/** The names by which a file knows the types of evidence; an alias imported is flagged as it is. */
function evidenceNames(source: SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source.program, (node) => {
    if (node.type !== 'ImportDeclaration') return;
    const from = nameOf(nodeAt(node, 'source'));
    const file = Object.keys(EVIDENCE_TYPES).find((one) =>
      from.endsWith(one.replace(/^.*\//, '/')),
    );
    const types = file === undefined ? undefined : EVIDENCE_TYPES[file];
    for (const one of nodesAt(node, 'specifiers')) {
      if (types?.includes(nameOf(nodeAt(one, 'imported'))) === true) {
        names.add(nameOf(nodeAt(one, 'local')));
      }
    }
  });
  return names;
}

/** Computes a value for a file once, however many of its nodes need it. */
function oncePerFile<T>(find: (source: SourceFile) => T): (source: SourceFile) => T {
  const known = new WeakMap<SourceFile, { readonly found: T }>();
  return (source) => {
    const before = known.get(source);
    if (before !== undefined) return before.found;
    const found = find(source);
    known.set(source, { found });
    return found;
  };
}

const namesIn = oncePerFile(evidenceNames);
const clocksOf = oncePerFile(({ program }) => clocksIn(program));
const nothingsOf = oncePerFile(({ program }) => nothingsIn(program));

/** Whether the value of `JSON.parse` at once becomes `unknown`, or goes through a schema. */
function isCheckedParse(node: Node, above: readonly Node[], source: SourceFile): boolean {
  const parent = above.at(-1);
  if (parent === undefined) return false;
  const hasType = (one: Node | null) =>
    one !== null && /^\s*(Promise<)?unknown\b/.test(source.text.slice(one.start + 1, one.end));
  if (isCast(parent)) return nodeAt(parent, 'typeAnnotation')?.type === 'TSUnknownKeyword';
  if (parent.type === 'VariableDeclarator') {
    return hasType(nodeAt(nodeAt(parent, 'id') ?? parent, 'typeAnnotation'));
  }
  if (parent.type === 'AssignmentExpression') {
    return isDeclaredUnknown(nameOf(nodeAt(parent, 'left')), source);
  }
  if (parent.type === 'CallExpression')
    return isSchemaCall(parent) || isExpectation(parent, source);
  if (parent.type !== 'ReturnStatement' && parent !== above.findLast(isFunction)) return false;
  return hasType(nodeAt(above.findLast(isFunction) ?? node, 'returnType'));
}

function isSchemaCall(call: Node): boolean {
  const callee = nodeAt(call, 'callee');
  const method = callee === null ? '' : nameOf(nodeAt(callee, 'property'));
  return (
    ['parse', 'safeParse', 'parseAsync'].includes(method) && !isMember(callee, 'JSON', 'parse')
  );
}

function isExpectation(call: Node, source: SourceFile): boolean {
  return isTest(source.path) && nameOf(nodeAt(call, 'callee')) === 'expect';
}

function isDeclaredUnknown(name: string, source: SourceFile): boolean {
  return new RegExp(`\\b(let|const)\\s+${name}\\s*:\\s*unknown\\b`).test(source.text);
}

/** A `catch` that says the failure: it throws, or returns what stands for one. */
function saysFailure(block: Node, says: readonly string[]): boolean {
  return holds(block, (one) => {
    if (one.type === 'ThrowStatement') return true;
    if (one.type === 'CallExpression') return says.includes(calledName(one));
    return one.type === 'NewExpression' && nameOf(nodeAt(one, 'callee')) === 'Unread';
  });
}

const UNTYPED: ReadonlySet<string> = new Set(['Map', 'WeakMap', 'Array', 'Promise']);

function isUntyped(node: Node, parent: Node | undefined): boolean {
  if (node.type !== 'NewExpression' || !UNTYPED.has(nameOf(nodeAt(node, 'callee')))) return false;
  if (nodeAt(node, 'typeArguments') !== null || nodesAt(node, 'arguments').length > 0) return false;
  if (parent?.type === 'VariableDeclarator') {
    return nodeAt(nodeAt(parent, 'id') ?? parent, 'typeAnnotation') === null;
  }
  return parent?.type === 'PropertyDefinition' && nodeAt(parent, 'typeAnnotation') === null;
}

/** Schemas that take anything, or make of what is wrong something else. */
const TAKES_ANYTHING = ['any', 'unknown', 'custom'];
const MAKES_ANOTHER = ['transform', 'preprocess', 'catch', 'default', 'prefault'];

function isLoose(node: Node): boolean {
  const callee = node.type === 'CallExpression' ? nodeAt(node, 'callee') : null;
  if (callee === null || callee.type !== 'MemberExpression') return false;
  return isMember(callee, 'z', ...TAKES_ANYTHING) || MAKES_ANOTHER.includes(calledName(node));
}

/** Whether a node is what a request may say, which nobody takes for evidence. */
function isAsked(node: Node): boolean {
  return (
    node.type === 'Property' && ['query', 'params', 'body'].includes(nameOf(nodeAt(node, 'key')))
  );
}

const RULES: { readonly [rule: string]: Rule } = {
  any: (node) => (node.type === 'TSAnyKeyword' ? 'any' : null),

  'as never': (node, _, source) =>
    isCast(node) && nodeAt(node, 'typeAnnotation')?.type === 'TSNeverKeyword'
      ? textOf(source, node)
      : null,

  'as unknown as': (node, _, source, but) => {
    if (!isCast(node) || within(source.path, but.doubleCasts)) return null;
    const inner = nodeAt(node, 'expression');
    const twice = inner !== null && isCast(inner);
    const through = twice && nodeAt(inner, 'typeAnnotation')?.type === 'TSUnknownKeyword';
    return through ? textOf(source, node) : null;
  },

  'cast to evidence': (node, _, source, but) => {
    const type = isCast(node) ? nodeAt(node, 'typeAnnotation') : null;
    if (type === null || within(source.path, but.evidenceCasts)) return null;
    const names = namesIn(source);
    const named = holds(type, (one) => one.type === 'Identifier' && names.has(nameOf(one)));
    return named ? textOf(source, node) : null;
  },

  'borrowed prototype': (node, _, source) => {
    if (isTest(source.path) || node.type !== 'CallExpression') return null;
    const callee = nodeAt(node, 'callee');
    const [first] = nodesAt(node, 'arguments');
    if (isMember(callee, 'Reflect', 'construct', 'set')) return textOf(source, node);
    if (isMember(callee, 'Object', 'setPrototypeOf')) return textOf(source, node);
    const ofNothing = first?.type === 'Literal' && first['value'] === null;
    return isMember(callee, 'Object', 'create') && !ofNothing ? textOf(source, node) : null;
  },

  'unchecked JSON.parse': (node, above, source) =>
    node.type === 'CallExpression' &&
    isMember(nodeAt(node, 'callee'), 'JSON', 'parse') &&
    !isCheckedParse(node, above, source)
      ? textOf(source, above.at(-1) ?? node)
      : null,

  'untyped container': (node, above, source) =>
    isUntyped(node, above.at(-1)) ? textOf(source, above.at(-1) ?? node) : null,

  'literal fallback': (node, _, source, but) =>
    within(source.path, but.noFallbacks) &&
    !isTest(source.path) &&
    isFallback(node, nothingsOf(source))
      ? textOf(source, node)
      : null,

  'empty for silence': (node, _, source, but) =>
    within(source.path, but.noFallbacks) &&
    !isTest(source.path) &&
    (choosesNothing(node, source.text, nothingsOf(source)) ||
      returnsNothing(node, nothingsOf(source)))
      ? textOf(source, node)
      : null,

  'blind decision': (node, _, source, but) =>
    !isTest(source.path) &&
    !within(source.path, but.liars) &&
    (decidesBlindly(node) || joinsNothing(node, nothingsOf(source)))
      ? textOf(source, node)
      : null,

  'loose schema': (node, above, source) =>
    /\.(contract\.ts|route\.tsx?)$|\/shapes\.ts$/.test(source.path) &&
    isLoose(node) &&
    !above.some(isAsked)
      ? textOf(source, node)
      : null,

  'swallowed failure': (node, _, source, but) => {
    if (node.type !== 'CatchClause' || isTest(source.path)) return null;
    if (!within(source.path, but.noFallbacks)) return null;
    if (within(source.path, but.failureMessages)) return null;
    const body = nodeAt(node, 'body');
    return body !== null && saysFailure(body, but.saysFailure) ? null : textOf(source, node);
  },

  'filled in': (node, _, source, but) =>
    isAdapter(source, but) && fillsIn(node) ? textOf(source, node) : null,

  'dropped rejection': (node, above, source, but) =>
    isReading(source, but) && dropsRejections(node, above) ? textOf(source, node) : null,

  'stripping schema': (node, _, source, but) =>
    isAdapter(source, but) && !within(source.path, but.dropping) && strips(node)
      ? textOf(source, node)
      : null,

  'dated by the clock': (node, _, source, but) =>
    isAdapter(source, but) && isDatedByClock(node, source.program, clocksOf(source))
      ? textOf(source, node)
      : null,

  'named nothing': (node, _, source, but) =>
    isAdapter(source, but) && choosesNamedNothing(node, nothingsOf(source))
      ? textOf(source, node)
      : null,

  'empty for a fault': (node, _, source, but) =>
    isAdapter(source, but) && (emptyForFault(node, nothingsOf(source)) || dropsMalformed(node))
      ? textOf(source, node)
      : null,

  'silent path': (node, _, source, but) => {
    if (!isAdapter(source, but) || within(source.path, but.failureAsValue)) return null;
    const isSilent =
      node.type === 'CatchClause'
        ? !saysOnEveryPath(node, but.saysFailure)
        : failsSilently(node, but.saysFailure);
    return isSilent ? textOf(source, node) : null;
  },

  environment: (node, _, source, but) => {
    if (isTest(source.path) || within(source.path, but.environment)) return null;
    const takesIt =
      node.type === 'ImportDeclaration' && /process$/.test(nameOf(nodeAt(node, 'source')));
    const imported = takesIt && nodesAt(node, 'specifiers').some(isEnvSpecifier);
    return isMember(node, 'process', 'env') || imported ? textOf(source, node) : null;
  },

  'global fetch': (node, _, source, but) => {
    if (isTest(source.path) || within(source.path, but.browser)) return null;
    if (isMember(node, 'globalThis', 'fetch')) return textOf(source, node);
    if (node.type !== 'CallExpression') return null;
    const callee = nodeAt(node, 'callee');
    const named = callee?.type === 'Identifier' && nameOf(callee) === 'fetch';
    return named && !/\b(function|const|let)\s+fetch\b|[({,]\s*fetch\s*[,:)}]/.test(source.text)
      ? textOf(source, node)
      : null;
  },

  'spread of a literal': (node, _, source) =>
    node.type === 'SpreadElement' && nodeAt(node, 'argument')?.type === 'ObjectExpression'
      ? textOf(source, node)
      : null,

  'default export': (node, _, source) =>
    node.type === 'ExportDefaultDeclaration' ? textOf(source, node) : null,

  'weak test': (node, _, source) => {
    if (!isTest(source.path) || node.type !== 'MemberExpression') return null;
    const only = ['describe', 'test', 'it'].some((name) => isMember(node, name, 'only', 'todo'));
    const mocked = isMember(node, 'vi', 'mock', 'fn', 'spyOn', 'hoisted', 'stubGlobal');
    return only || mocked ? textOf(source, node) : null;
  },
};

function isReading(source: SourceFile, but: Exceptions): boolean {
  return within(source.path, but.readings) && !isTest(source.path);
}

function isAdapter(source: SourceFile, but: Exceptions): boolean {
  return within(source.path, but.adapters) && !isTest(source.path);
}

function isEnvSpecifier(one: Node): boolean {
  return one.type === 'ImportSpecifier' && nameOf(nodeAt(one, 'imported')) === 'env';
}

/** Names that a file may not import: mints outside sources and stores, answers outside routes. */
export function mintViolations(source: SourceFile, but: Exceptions): Violation[] {
  const makers = [
    { file: '/reading.ts', names: ['read', 'part', 'mintAs', '*'], may: but.mints, tests: true },
    {
      file: '/answer.ts',
      names: ['makeAnswer', 'makeReply', '*'],
      may: but.answerMakers,
      tests: false,
    },
  ];
  const found: Violation[] = [];
  for (const one of source.imports) {
    for (const { file, names, may, tests } of makers) {
      const taken = one.names.filter((name) => names.includes(name));
      if (taken.length === 0 || one.typeOnly || !isMaker(source.path, one.from, file)) continue;
      if (within(source.path, may) || (tests && isTest(source.path))) continue;
      found.push({ rule: 'minting', path: source.path, line: one.line, what: taken.join(', ') });
    }
  }
  return found;
}

function isMaker(path: string, from: string, file: string): boolean {
  const folder = file === '/reading.ts' ? 'evidence' : 'contract';
  return from.endsWith(`${folder}${file}`) || (from === `.${file}` && path.includes(`/${folder}/`));
}
