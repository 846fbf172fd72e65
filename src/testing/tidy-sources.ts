// Forbidden constructs of adapters, which no type and no test matrix sees: between the outside and
// a reading, a missing, truncated or failed part must not look as if it had been read.

import { emptyWhere, type Nothings, type Silent } from './tidy-readings.ts';
import {
  calledName,
  holds,
  isCast,
  isFunction,
  isMember,
  type Node,
  nameOf,
  nodeAt,
  nodesAt,
  walk,
} from './tidy-source.ts';

/** Whether a schema makes a value of what is absent or wrong. */
export function fillsIn(node: Node): boolean {
  if (node.type !== 'CallExpression' || nodeAt(node, 'callee')?.type !== 'MemberExpression') {
    return false;
  }
  const name = calledName(node);
  if (name === 'default' || name === 'prefault') return true;
  const [first] = nodesAt(node, 'arguments');
  if (name !== 'catch' || first === undefined) return false;
  // A promise is caught by a function; so may a schema be, whose chain begins with `z`.
  const isValue = !isFunction(first) && !['Identifier', 'CallExpression'].includes(first.type);
  return isValue || chainBegin(node) === 'z';
}

function chainBegin(node: Node): string {
  let one: Node | null = node;
  while (one !== null && one.type !== 'Identifier') {
    one = nodeAt(one, one.type === 'CallExpression' ? 'callee' : 'object');
  }
  return nameOf(one);
}

/**
 * Whether promises are awaited so that a rejection is one value among others. Where nothing is made
 * of the values, their ends are waited for and nothing else.
 */
export function dropsRejections(node: Node, above: readonly Node[]): boolean {
  if (node.type !== 'CallExpression' || calledName(node) !== 'allSettled') return false;
  const isAwaited = above.at(-1)?.type === 'AwaitExpression';
  return !(isAwaited && above.at(-2)?.type === 'ExpressionStatement');
}

/** Whether a row that was not understood is left out of a list as if it had not been there. */
export function dropsMalformed(node: Node): boolean {
  if (node.type !== 'CallExpression' || calledName(node) !== 'filter') return false;
  const [keeps] = nodesAt(node, 'arguments');
  return keeps !== undefined && holds(keeps, (one) => calledName(one) === 'safeParse');
}

/** Whether a schema silently drops the members that it does not name. */
export function strips(node: Node): boolean {
  return node.type === 'CallExpression' && isMember(nodeAt(node, 'callee'), 'z', 'object');
}

/**
 * Whether an empty list or map is what comes of an answer that was not understood, or of a fault:
 * where a schema refused it, where it is no list, where it failed, or for a status of failure.
 */
export function emptyForFault(node: Node, names: Nothings): boolean {
  return emptyWhere(node, names, faultSilence);
}

/** Statuses of HTTP up to the first bring an answer; from the second on the server failed. */
const CAME_MAX = 299;
const SERVER_FAILED = 500;

function faultSilence(test: Node): Silent {
  const [left, right] = [nodeAt(test, 'left'), nodeAt(test, 'right')];
  const understood = { held: false, failed: true };
  const failed = { held: true, failed: false };
  const neither = { held: false, failed: false };
  const isParsed =
    test.type === 'MemberExpression' &&
    ['success', 'ok'].includes(nameOf(nodeAt(test, 'property')));
  if (isParsed || isMember(nodeAt(test, 'callee'), 'Array', 'isArray')) return understood;
  if (test['operator'] === 'instanceof' && /(Fault|Error)$/.test(nameOf(right))) return failed;
  if (!/^status/.test(nameOf(left) || nameOf(left && nodeAt(left, 'property')))) return neither;
  // Which branch would take a server's failure?
  const status = Number(right?.['value']);
  switch (String(test['operator']).slice(0, 2)) {
    case '==':
      if (status >= SERVER_FAILED) return failed;
      return status <= CAME_MAX ? understood : neither;
    case '!=':
      return status >= SERVER_FAILED ? understood : failed;
    case '>':
    case '>=':
      return failed;
    case '<':
    case '<=':
      return understood;
    default:
      return neither;
  }
}

/**
 * Whether a source is dated by the clock although it is no observation: a table, a file or a list
 * has a date of its own.
 */
export function isDatedByClock(node: Node, program: Node, clocks: Clocks): boolean {
  if (node.type === 'CallExpression') return datesByArgument(node, program, clocks);
  const asOf = node.type === 'ObjectExpression' ? memberOf(node, 'as_of') : null;
  return asOf !== null && !isObservation(node) && tellsTime(asOf, clocks);
}

function memberOf(object: Node, name: string): Node | null {
  const found = nodesAt(object, 'properties').find((one) => nameOf(nodeAt(one, 'key')) === name);
  return found === undefined ? null : nodeAt(found, 'value');
}

function isObservation(object: Node): boolean {
  return nameOf(memberOf(object, 'kind')) === 'observation';
}

/** Whether a function of the file is handed the clock for the date of its source. */
function datesByArgument(call: Node, program: Node, clocks: Clocks): boolean {
  const at = nodesAt(call, 'arguments').findIndex((one) => tellsTime(one, clocks));
  if (at === -1 || nodeAt(call, 'callee')?.type !== 'Identifier') return false;
  return holds(program, (one) => {
    if (one.type !== 'FunctionDeclaration' || nameOf(nodeAt(one, 'id')) !== calledName(call)) {
      return false;
    }
    const param = nameOf(nodesAt(one, 'params')[at] ?? null);
    return holds(
      one,
      (inner) =>
        inner.type === 'ObjectExpression' &&
        !isObservation(inner) &&
        param !== '' &&
        nameOf(memberOf(inner, 'as_of')) === param,
    );
  });
}

function tellsTime(node: Node, clocks: Clocks): boolean {
  if (node.type === 'Identifier') return clocks.has(nameOf(node));
  return !isFunction(node) && holds(node, readsClock);
}

function readsClock(node: Node): boolean {
  const isDate = node.type === 'NewExpression' && nameOf(nodeAt(node, 'callee')) === 'Date';
  if (isDate) return nodesAt(node, 'arguments').length === 0;
  return node.type === 'CallExpression' && calledName(node) === 'now';
}

/** The names that a file gives to what the clock tells. */
export type Clocks = ReadonlySet<string>;

/** The names of a file that are bound to the time. */
export function clocksIn(program: Node): Clocks {
  const names = new Set<string>();
  walk(program, (node) => {
    const value = node.type === 'VariableDeclarator' ? nodeAt(node, 'init') : null;
    if (value === null || holds(value, isFunction) || !holds(value, readsClock)) return;
    names.add(nameOf(nodeAt(node, 'id')));
  });
  return names;
}

/** The end of a path through statements: it reported the failure, or it did not; it may go on. */
type Paths = { readonly silent: boolean; readonly goesOn: boolean };
const TOLD: Paths = { silent: false, goesOn: false };
const GOES_ON: Paths = { silent: false, goesOn: true };

/**
 * Whether every path through the handler of a failure throws, says it, or gives the failure itself
 * as a value, which the types of whoever asked then name. `names` are the calls that say it.
 */
export function saysOnEveryPath(handler: Node, names: readonly string[]): boolean {
  const body = nodeAt(handler, 'body');
  if (body === null) return false;
  const param = nodeAt(handler, 'param') ?? nodesAt(handler, 'params')[0];
  const says = new Set([...names, ...(param === undefined ? [] : [`${FAILURE}${nameOf(param)}`])]);
  if (body.type !== 'BlockStatement') return saysIt(body, says);
  const { silent, goesOn } = pathsOf(nodesAt(body, 'body'), says);
  return !silent && !goesOn;
}

/** The calls that say a failure, after `=` the names whose value does, and the failure itself. */
type Says = Set<string>;
/** Stands before the name of the failure itself, which says nothing where a log is handed it. */
const FAILURE = 'failure ';

function withoutFailure(says: Says): Says {
  return new Set([...says].filter((one) => !one.startsWith(FAILURE)));
}

function pathsOf(statements: readonly Node[], says: Says): Paths {
  let silent = false;
  for (const statement of statements) {
    const paths = pathsIn(statement, says);
    silent ||= paths.silent;
    if (!paths.goesOn) return { silent, goesOn: false };
  }
  return { silent, goesOn: true };
}

function pathsIn(node: Node, says: Says): Paths {
  if (node.type === 'ThrowStatement') return TOLD;
  if (node.type === 'BlockStatement') return pathsOf(nodesAt(node, 'body'), says);
  if (node.type === 'ReturnStatement') {
    const value = nodeAt(node, 'argument');
    return { silent: value === null || !saysIt(value, says), goesOn: false };
  }
  if (node.type === 'ExpressionStatement') {
    const value = nodeAt(node, 'expression');
    return value !== null && saysIt(value, says) ? TOLD : GOES_ON;
  }
  if (node.type === 'VariableDeclaration' && node['kind'] === 'const') {
    for (const one of nodesAt(node, 'declarations')) {
      const value = nodeAt(one, 'init');
      if (value !== null && saysIt(value, says)) says.add(`=${nameOf(nodeAt(one, 'id'))}`);
    }
  }
  if (node.type !== 'IfStatement') return GOES_ON;
  const [yes, no] = [nodeAt(node, 'consequent'), nodeAt(node, 'alternate')];
  const left = yes === null ? GOES_ON : pathsIn(yes, says);
  const right = no === null ? GOES_ON : pathsIn(no, says);
  return { silent: left.silent || right.silent, goesOn: left.goesOn || right.goesOn };
}

/** Whether a value says the failure, whichever of its branches is taken. */
function saysIt(node: Node, says: Says): boolean {
  const all = (...fields: string[]) =>
    fields.every((field) => {
      const one = nodeAt(node, field);
      return one !== null && saysIt(one, says);
    });
  switch (node.type) {
    case 'Identifier':
      return says.has(`=${nameOf(node)}`) || says.has(FAILURE + nameOf(node));
    case 'MemberExpression':
      return all('object');
    case 'ConditionalExpression':
      return all('consequent', 'alternate');
    case 'LogicalExpression':
      return all('left', 'right');
    case 'ArrowFunctionExpression':
      return all('body');
    case 'AwaitExpression':
    case 'YieldExpression':
    case 'SpreadElement':
      return all('argument');
    case 'Property':
      return all('value');
    case 'CallExpression':
    case 'NewExpression':
      return (
        isNamed(node, says) ||
        nodesAt(node, 'arguments').some((one) => saysIt(one, withoutFailure(says)))
      );
    case 'ObjectExpression':
      return nodesAt(node, 'properties').some((one) => saysIt(one, says));
    case 'ArrayExpression':
      return nodesAt(node, 'elements').some((one) => saysIt(one, says));
    default:
      return isCast(node) && all('expression');
  }
}

/** Whether a call is of one of those that say a failure, or of what such a call makes. */
function isNamed(call: Node, says: Says): boolean {
  const callee = nodeAt(call, 'callee');
  if (callee?.type === 'CallExpression') return isNamed(callee, says);
  return says.has(calledName(call));
}

/** The handler of a failed promise, by `catch` or the second function of `then`. */
export function failureHandler(node: Node): Node | null {
  if (node.type !== 'CallExpression' || nodeAt(node, 'callee')?.type !== 'MemberExpression') {
    return null;
  }
  const [first, second] = nodesAt(node, 'arguments');
  const handler = calledName(node) === 'catch' ? first : second;
  return ['catch', 'then'].includes(calledName(node)) ? (handler ?? null) : null;
}

/** Whether a promise's failure is handled so that some path says nothing of it. */
export function failsSilently(node: Node, names: readonly string[]): boolean {
  const handler = failureHandler(node);
  if (handler === null) return false;
  if (isFunction(handler)) return !saysOnEveryPath(handler, names);
  if (handler.type === 'CallExpression') return !isNamed(handler, new Set(names));
  return handler.type === 'Identifier' && !names.includes(nameOf(handler));
}
