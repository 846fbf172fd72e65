// This file reads and parses; the rules are in the files beside it.

import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** A node of the syntax tree (ESTree with TypeScript's nodes); parentheses are left out. */
export type Node = { readonly type: string; readonly start: number; readonly end: number } & {
  readonly [key: string]: unknown;
};

/** One import or re-export: where from, and which names of it. `*` stands for all of them. */
export type Import = {
  readonly from: string;
  readonly names: readonly string[];
  readonly typeOnly: boolean;
  /** Loaded where the expression is evaluated, and not with the file. */
  readonly lazy: boolean;
  readonly line: number;
};

/** A parsed file. `path` is relative to the root of the repository. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly comments: readonly { readonly text: string; readonly line: number }[];
  readonly imports: readonly Import[];
  readonly program: Node;
};

/** One broken rule: which, where, and what is there. */
export type Violation = {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly what: string;
};

const CODE = /\.tsx?$/;

/** The TypeScript files under a folder, as paths relative to the root, in order. */
export function codeUnder(root: string, folder: string): string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => CODE.test(path))
    .map((path) => posix.join(folder, path))
    .sort();
}

/** Reads and parses a file. */
export function sourceAt(root: string, path: string): SourceFile {
  return parseFile(path, readFileSync(`${root}/${path}`, 'utf8'));
}

/** Parses a text as the file of that path. A text that does not parse is an error. */
export function parseFile(path: string, text: string): SourceFile {
  const result = parseSync(path, text, { preserveParens: false });
  const [fault] = result.errors;
  if (fault !== undefined) throw new Error(`${path}: ${fault.message}`);
  const program = nodeOf(result.program);
  if (program === null) throw new Error(`${path}: no program`);
  const found: Import[] = [];
  const comments = result.comments.map((comment) => ({
    text: comment.value,
    line: lineAt(text, comment.start),
  }));
  const source = { path, text, lines: text.split('\n'), comments, imports: found, program };
  walk(program, (node) => {
    const one = importOf(node, text);
    if (one !== null) found.push(one);
  });
  return source;
}

function importOf(node: Node, text: string): Import | null {
  const isImport =
    node.type === 'ImportDeclaration' ||
    node.type === 'ExportNamedDeclaration' ||
    node.type === 'ExportAllDeclaration' ||
    node.type === 'ImportExpression' ||
    node.type === 'TSImportType';
  if (!isImport) return null;
  const from = nodeAt(node, node.type === 'TSImportType' ? 'argument' : 'source');
  if (from === null) return null;
  const specifier = literalText(from);
  if (specifier === null) return null;
  const names = nodesAt(node, 'specifiers').map((one) => {
    const imported = nodeAt(one, one.type === 'ExportSpecifier' ? 'local' : 'imported');
    return imported === null ? '*' : nameOf(imported);
  });
  const kind = node['importKind'] === 'type' || node['exportKind'] === 'type';
  const typeOnly = kind || node.type === 'TSImportType' || onlyTypes(node);
  const all = node.type === 'ImportExpression' || node.type === 'ExportAllDeclaration';
  const lazy = node.type === 'ImportExpression';
  const line = lineAt(text, node.start);
  return { from: specifier, names: all ? ['*'] : names, typeOnly, lazy, line };
}

function onlyTypes(node: Node): boolean {
  const specifiers = nodesAt(node, 'specifiers');
  const kinds = specifiers.map((one) => one['importKind'] ?? one['exportKind']);
  return specifiers.length > 0 && kinds.every((kind) => kind === 'type');
}

function literalText(node: Node): string | null {
  const literal = node.type === 'TSLiteralType' ? nodeAt(node, 'literal') : node;
  const value = literal === null ? null : literal['value'];
  return typeof value === 'string' ? value : null;
}

/** The line, from 1, on which an offset stands. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  let at = text.indexOf('\n');
  while (at !== -1 && at < offset) {
    line += 1;
    at = text.indexOf('\n', at + 1);
  }
  return line;
}

/** A value as a node, or null where it is none. */
function nodeOf(value: unknown): Node | null {
  return isNode(value) ? value : null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The node in a field of another, or null. */
export function nodeAt(node: Node, field: string): Node | null {
  return nodeOf(node[field]);
}

/** The nodes in a list field of another. */
export function nodesAt(node: Node, field: string): Node[] {
  const list = node[field];
  return Array.isArray(list) ? list.filter(isNode) : [];
}

/** An identifier's name, or the text of a string used as a name; empty for any other node. */
export function nameOf(node: Node | null): string {
  if (node === null) return '';
  const name = node['name'] ?? node['value'];
  return typeof name === 'string' ? name : '';
}

/** Visits a node and all below it, each with those that it stands in, the nearest last. */
export function walk(node: Node, visit: (node: Node, above: readonly Node[]) => void): void {
  const above: Node[] = [];
  const enter = (one: Node): void => {
    visit(one, above);
    above.push(one);
    for (const field in one) {
      const value = one[field];
      if (typeof value !== 'object') continue;
      if (Array.isArray(value)) {
        for (const item of value) if (isNode(item)) enter(item);
      } else if (isNode(value)) enter(value);
    }
    above.pop();
  };
  enter(node);
}

/** Whether some node of a tree passes a test. */
export function holds(node: Node, test: (node: Node) => boolean): boolean {
  let found = false;
  walk(node, (one) => {
    if (!found && test(one)) found = true;
  });
  return found;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Whether a node is a function of any form. */
export function isFunction(node: Node): boolean {
  return FUNCTIONS.has(node.type);
}

/** Whether a node is `object.property` with that object and one of those properties. */
export function isMember(node: Node | null, object: string, ...properties: string[]): boolean {
  if (node === null || node.type !== 'MemberExpression') return false;
  return (
    nameOf(nodeAt(node, 'object')) === object &&
    properties.includes(nameOf(nodeAt(node, 'property')))
  );
}

/** Whether a node is a cast of either form. */
export function isCast(node: Node): boolean {
  return node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion';
}

/** The name of what a call calls: the last one, for a method. */
export function calledName(call: Node): string {
  const callee = nodeAt(call, 'callee');
  if (callee === null) return '';
  return nameOf(callee.type === 'MemberExpression' ? nodeAt(callee, 'property') : callee);
}

/** Whether a file is a test, a type test or a port's suite. */
export function isTest(path: string): boolean {
  return /\.(test|test-d|suite)\.tsx?$/.test(path);
}

/** Whether a path stands in a folder, or is that file. */
export function isWithin(path: string, folder: string): boolean {
  return folder.endsWith('/') ? path.startsWith(folder) : path === folder;
}
