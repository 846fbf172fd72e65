// Whether a literal is right cannot be seen from its form: each right one has a name in
// `evidence/measure.ts`.

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

/** The names that a file gives to nothing: a constant bound to it is the literal itself. */
export type Nothings = ReadonlySet<string>;

/** A name from another file is judged by itself. */
const NAMES_NOTHING = /^(NO|NONE|NOTHING|NIL|EMPTY|ZERO)(_|$)/;
const CONSTANT_NAME = /^[A-Z0-9_]+$/;

/** The constants of a file that are bound to nothing, and imported ones that are called so. */
export function nothingsIn(program: Node): Nothings {
  const names = new Set<string>();
  walk(program, (node, above) => {
    if (node.type === 'ImportSpecifier' && NAMES_NOTHING.test(nameOf(nodeAt(node, 'imported')))) {
      names.add(nameOf(nodeAt(node, 'local')));
    }
    if (node.type !== 'VariableDeclarator' || above.at(-1)?.['kind'] !== 'const') return;
    const name = nameOf(nodeAt(node, 'id'));
    const value = nodeAt(node, 'init');
    if (!isEmptyLiteral(value, names)) return;
    // A list or map made inside a function is there to be filled.
    const isFixed = !above.some(isFunction) || CONSTANT_NAME.test(name) || !isFillable(value);
    if (name !== '' && isFixed) names.add(name);
  });
  return names;
}

function isFillable(value: Node | null): boolean {
  if (value?.type === 'TSSatisfiesExpression') return isFillable(nodeAt(value, 'expression'));
  if (value !== null && isCast(value)) {
    const type = nodeAt(nodeAt(value, 'typeAnnotation') ?? value, 'typeName');
    return nameOf(type) !== 'const' && isFillable(nodeAt(value, 'expression'));
  }
  return ['ArrayExpression', 'ObjectExpression', 'NewExpression'].includes(String(value?.type));
}

/** Whether a node is nothing: `0`, `''`, `[]`, `{}`, `false`, an empty map or set, or its name. */
function isEmptyLiteral(node: Node | null, names: Nothings): boolean {
  if (node === null) return false;
  if (node.type === 'Identifier') return names.has(nameOf(node));
  if (isCast(node) || node.type === 'TSSatisfiesExpression') {
    return isEmptyLiteral(nodeAt(node, 'expression'), names);
  }
  if (node.type === 'UnaryExpression') return isEmptyLiteral(nodeAt(node, 'argument'), names);
  if (node.type === 'ArrayExpression') return nodesAt(node, 'elements').length === 0;
  if (node.type === 'ObjectExpression') return nodesAt(node, 'properties').length === 0;
  if (node.type === 'TemplateLiteral')
    return nodesAt(node, 'expressions').length === 0 && isBlank(node);
  if (node.type === 'NewExpression' || isMember(nodeAt(node, 'callee'), 'Object', 'freeze')) {
    return nodesAt(node, 'arguments').every((one) => isEmptyLiteral(one, names));
  }
  if (node.type !== 'Literal') return false;
  const { value } = node;
  return value === 0 || value === '' || value === false || value === 0n || value === '0';
}

function isBlank(template: Node): boolean {
  return nodesAt(template, 'quasis').every((part) => {
    const value = part['value'];
    return typeof value === 'object' && value !== null && 'raw' in value && value.raw === '';
  });
}

/** The immediate result of a function: its expression, or its only return. */
function answersEmpty(node: Node | null, names: Nothings): boolean {
  if (node === null || !isFunction(node)) return false;
  const body = nodeAt(node, 'body');
  if (body === null || body.type !== 'BlockStatement') return isEmptyLiteral(body, names);
  return holds(
    body,
    (one) => one.type === 'ReturnStatement' && isEmptyLiteral(nodeAt(one, 'argument'), names),
  );
}

/** Whether a literal that is nothing stands in for what was absent or failed. */
export function isFallback(node: Node, names: Nothings): boolean {
  const operator = node['operator'];
  if (node.type === 'LogicalExpression') {
    return (operator === '??' || operator === '||') && isEmptyLiteral(nodeAt(node, 'right'), names);
  }
  if (node.type === 'AssignmentExpression') {
    return (
      (operator === '??=' || operator === '||=') && isEmptyLiteral(nodeAt(node, 'right'), names)
    );
  }
  if (node.type === 'AssignmentPattern') return isEmptyLiteral(nodeAt(node, 'right'), names);
  if (node.type !== 'CallExpression') return false;
  const method = nameOf(nodeAt(nodeAt(node, 'callee') ?? node, 'property'));
  const [first, second] = nodesAt(node, 'arguments');
  if (method === 'catch') return answersEmpty(first ?? null, names);
  return method === 'then' && answersEmpty(second ?? null, names);
}

/** Whether a test holds, or fails, where a reading came to no end or a value is absent. */
export type Silent = { readonly held: boolean; readonly failed: boolean };
const NEITHER: Silent = { held: false, failed: false };
const HELD: Silent = { held: true, failed: false };
const FAILED: Silent = { held: false, failed: true };

type Leaf = (test: Node) => Silent;

/** The meaning of a test for silence, by the meaning of one comparison in it. */
function silence(test: Node | null, leaf: Leaf): Silent {
  if (test === null) return NEITHER;
  if (test.type === 'UnaryExpression' && test['operator'] === '!') {
    const { held, failed } = silence(nodeAt(test, 'argument'), leaf);
    return { held: failed, failed: held };
  }
  if (test.type !== 'LogicalExpression') return leaf(test);
  const left = silence(nodeAt(test, 'left'), leaf);
  const right = silence(nodeAt(test, 'right'), leaf);
  return { held: left.held || right.held, failed: left.failed || right.failed };
}

/** `x instanceof Read`, `x.checked` and their like. */
function readingName(test: Node): Silent {
  if (isFlag(test)) return FAILED;
  const right = nodeAt(test, 'right');
  if (test['operator'] === 'instanceof') {
    if (nameOf(right) === 'Read') return FAILED;
    return ['Unread', 'Part'].includes(nameOf(right)) ? HELD : NEITHER;
  }
  if (!isFlag(nodeAt(test, 'left')) || typeof right?.['value'] !== 'boolean') return NEITHER;
  return isSame(test) === right['value'] ? FAILED : HELD;
}

/** `x === undefined` and its like. */
function absenceName(test: Node): Silent {
  if (test.type !== 'BinaryExpression' || !isAbsent(nodeAt(test, 'right'))) return NEITHER;
  return isSame(test) ? HELD : FAILED;
}

function isSame(comparison: Node): boolean {
  return String(comparison['operator']).startsWith('=');
}

function isFlag(node: Node | null): boolean {
  return node?.type === 'MemberExpression' && nameOf(nodeAt(node, 'property')) === 'checked';
}

function isAbsent(node: Node | null): boolean {
  if (node === null) return false;
  return nameOf(node) === 'undefined' || (node.type === 'Literal' && node['raw'] === 'null');
}

/** Whether a choice has nothing for a silent reading, or for a value that it gives where it is. */
export function choosesNothing(node: Node, text: string, names: Nothings): boolean {
  if (node.type !== 'ConditionalExpression') return false;
  const [held, failed] = [nodeAt(node, 'consequent'), nodeAt(node, 'alternate')];
  const test = nodeAt(node, 'test');
  const reading = silence(test, readingName);
  const nothing = (one: Node | null) => isEmptyLiteral(one, names);
  if ((reading.held && nothing(held)) || (reading.failed && nothing(failed))) return true;
  const textOf = (one: Node | null) => (one === null ? null : text.slice(one.start, one.end));
  const value = test === null ? null : textOf(nodeAt(test, 'left'));
  const absent = test === null ? NEITHER : absenceName(test);
  if (absent.held) return nothing(held) && textOf(failed) === value;
  return absent.failed && nothing(failed) && textOf(held) === value;
}

/** Whether a branch for a silent reading, or for an absent value, returns nothing. */
export function returnsNothing(node: Node, names: Nothings): boolean {
  if (node.type !== 'IfStatement') return false;
  const { held, failed } = silence(nodeAt(node, 'test'), (leaf) =>
    absenceName(leaf) === NEITHER ? readingName(leaf) : absenceName(leaf),
  );
  const inHeld = held && endsInNothing(nodeAt(node, 'consequent'), names);
  return inHeld || (failed && endsInNothing(nodeAt(node, 'alternate'), names));
}

function endsInNothing(statement: Node | null, names: Nothings): boolean {
  return isEmptyLiteral(lastValue(statement), names);
}

/** The value that a branch returns at its end; `null` if it returns nothing there. */
function lastValue(statement: Node | null): Node | null {
  if (statement?.type === 'ReturnStatement') return nodeAt(statement, 'argument');
  if (statement?.type !== 'BlockStatement') return null;
  return lastValue(nodesAt(statement, 'body').at(-1) ?? null);
}

/** Whether a choice or a branch gives an empty list or map where `leaf` says it fails. */
export function emptyWhere(node: Node, names: Nothings, leaf: Leaf): boolean {
  const isBranch = node.type === 'IfStatement';
  if (!isBranch && node.type !== 'ConditionalExpression') return false;
  const { held, failed } = silence(nodeAt(node, 'test'), leaf);
  const isEmpty = (side: Node | null) => {
    // A `false` answers the question whether it was understood.
    const value = isBranch ? lastValue(side) : side;
    return value?.type !== 'Literal' && isEmptyLiteral(value, names);
  };
  const inHeld = held && isEmpty(nodeAt(node, 'consequent'));
  return inHeld || (failed && isEmpty(nodeAt(node, 'alternate')));
}

/** Whether a choice has a named nothing on one of its sides, whatever it asks. */
export function choosesNamedNothing(node: Node, names: Nothings): boolean {
  if (node.type !== 'ConditionalExpression') return false;
  const sides = [nodeAt(node, 'consequent'), nodeAt(node, 'alternate')];
  return sides.some((one) => one?.type === 'Identifier' && names.has(nameOf(one)));
}

/** Whether a part is taken for decided by a test that does not look at it. */
export function decidesBlindly(node: Node): boolean {
  if (node.type !== 'CallExpression' || calledName(node) !== 'decide') return false;
  const test = nodesAt(node, 'arguments')[1];
  if (test === undefined || !isFunction(test)) return false;
  const [param] = nodesAt(test, 'params');
  const names = param === undefined ? [] : namesBound(param);
  const body = nodeAt(test, 'body');
  return body === null || !holds(body, (one) => names.includes(nameOf(one)));
}

function namesBound(param: Node): string[] {
  if (param.type === 'Identifier') return [nameOf(param)];
  const inner = [...nodesAt(param, 'properties'), ...nodesAt(param, 'elements')];
  const value = nodeAt(param, 'value');
  return value === null ? inner.flatMap(namesBound) : namesBound(value);
}

const JOINS: ReadonlySet<string> = new Set(['all', 'some', 'both']);

/** Whether readings are joined where there are none: what looks read was never asked for. */
export function joinsNothing(node: Node, names: Nothings): boolean {
  if (node.type !== 'CallExpression' || nodeAt(node, 'callee')?.type !== 'Identifier') return false;
  const [first] = nodesAt(node, 'arguments');
  return JOINS.has(calledName(node)) && first !== undefined && isEmptyLiteral(first, names);
}
