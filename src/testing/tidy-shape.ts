// Names, sizes, comments: nothing here asks what the code does.

import { basename, dirname } from 'node:path';
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

/** The house's sizes. */
const FOLDERS_DEEP_MAX = 4;
const LINES_A_FILE_MAX = 800;
const LINES_A_FUNCTION_MAX = 100;
const COLUMNS_MAX = 100;
const HEAD_LINES_MAX = 5;

const ROLES = 'contract|store|route|command|job|page';
const FILE_NAME = new RegExp(
  `^[a-z0-9]+(-[a-z0-9]+)*(\\.(${ROLES}))?(\\.(test|test-d|suite))?\\.tsx?$`,
);
const FOLDER_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const BANNED_NAMES: ReadonlySet<string> = new Set(
  'utils util helpers helper services common shared misc index lib'.split(' '),
);
const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b/;
const SILENCED = /^\s*@ts-(ignore|nocheck)|^\s*(eslint|oxlint)-disable/;
const EXPECTED_ERROR = /^\s*@ts-expect-error/;
// Made-up paths of an operator may stand in tests; those of a workshop stand nowhere.
const WORKSHOP_PATH = /(^|[\s'"`(=:,])(file:\/\/)?\/(work|tmp)\/[A-Za-z0-9_.$-]/;
const MACHINE_PATH = /(^|[\s'"`(=:,])(file:\/\/)?\/(home|root|Users|mnt)\/[A-Za-z0-9_.$-]/;
/** A line may be longer where it holds an address of the web, which cannot be broken. */
const UNBREAKABLE = /https?:\/\/\S{40,}/;
/** In a test it may hold one long text: a title or an expected sentence reads best in one piece. */
const LONG_TEXT = /'[^']{50,}'|"[^"]{50,}"|`[^`]{50,}`/;
const TEST_CALLS: ReadonlySet<string> = new Set([
  'describe',
  'test',
  'it',
  'beforeAll',
  'afterAll',
]);

/** The faults of a file's name, size and comments. */
export function shapeViolations(source: SourceFile): Violation[] {
  return [
    ...checkNames(source),
    ...checkSize(source),
    ...checkComments(source),
    ...functionsSized(source),
    ...linesOf(source),
  ];
}

function violation(source: SourceFile, rule: string, line: number, what: string): Violation {
  return { rule, path: source.path, line, what };
}

function checkNames(source: SourceFile): Violation[] {
  const name = basename(source.path);
  const stem = name.replace(/\..*$/, '');
  const folders = dirname(source.path).split('/');
  const found: Violation[] = [];
  if (!FILE_NAME.test(name)) found.push(violation(source, 'file name', 1, name));
  for (const one of [stem, ...folders]) {
    if (BANNED_NAMES.has(one)) found.push(violation(source, 'banned name', 1, one));
  }
  for (const folder of folders) {
    if (!FOLDER_NAME.test(folder)) found.push(violation(source, 'folder name', 1, folder));
  }
  if (folders.length > FOLDERS_DEEP_MAX) found.push(violation(source, 'depth', 1, source.path));
  return found;
}

function checkSize(source: SourceFile): Violation[] {
  const count = source.lines.at(-1) === '' ? source.lines.length - 1 : source.lines.length;
  return count > LINES_A_FILE_MAX ? [violation(source, 'file length', count, `${count}`)] : [];
}

function checkComments(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  const head = headLines(source.lines);
  if (head > HEAD_LINES_MAX) found.push(violation(source, 'head comment', head, `${head} lines`));
  for (const { text, line } of source.comments) {
    if (UNFINISHED.test(text)) found.push(violation(source, 'unfinished', line, text.trim()));
    if (SILENCED.test(text)) found.push(violation(source, 'silenced check', line, text.trim()));
    if (EXPECTED_ERROR.test(text) && !isTest(source.path)) {
      found.push(violation(source, 'silenced check', line, text.trim()));
    }
  }
  return found;
}

/** How many lines of comment a file begins with; a line for the interpreter does not count. */
function headLines(lines: readonly string[]): number {
  const from = lines[0]?.startsWith('#!') === true ? 1 : 0;
  const rest = lines.slice(from);
  if (rest[0]?.startsWith('/*') === true) return rest.findIndex((line) => line.includes('*/')) + 1;
  const end = rest.findIndex((line) => !line.startsWith('//'));
  return end === -1 ? rest.length : end;
}

function functionsSized(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  walk(source.program, (node, above) => {
    if (!isFunction(node) || groupsTests(node, above.at(-1))) return;
    const first = lineAt(source.text, node.start);
    const length = lineAt(source.text, node.end) - first + 1;
    if (length > LINES_A_FUNCTION_MAX) {
      found.push(violation(source, 'function length', first, `${length} lines`));
    }
  });
  return found;
}

/** Whether a function only groups tests: it is handed to `describe`, or declares tests itself. */
function groupsTests(node: Node, parent: Node | undefined): boolean {
  if (parent !== undefined && calledName(parent) === 'describe') return true;
  const body = nodeAt(node, 'body');
  if (body === null) return false;
  return nodesAt(body, 'body').some((statement) => {
    const expression = nodeAt(statement, 'expression');
    return expression !== null && TEST_CALLS.has(calledName(expression));
  });
}

/** The name that a call calls: `describe` for `describe(…)`, `describe.each(…)(…)` and the like. */
function calledName(node: Node): string {
  if (node.type !== 'CallExpression') return '';
  let callee = nodeAt(node, 'callee');
  while (callee !== null && callee.type !== 'Identifier') {
    callee = nodeAt(callee, callee.type === 'CallExpression' ? 'callee' : 'object');
  }
  return nameOf(callee);
}

function linesOf(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  const test = isTest(source.path);
  source.lines.forEach((text, at) => {
    const unbreakable = UNBREAKABLE.test(text) || (test && LONG_TEXT.test(text));
    if (text.length > COLUMNS_MAX && !unbreakable) {
      found.push(violation(source, 'columns', at + 1, `${text.length}`));
    }
    if (WORKSHOP_PATH.test(text) || (!test && MACHINE_PATH.test(text))) {
      found.push(violation(source, 'machine path', at + 1, text.trim()));
    }
  });
  return found;
}
