// Answers one question: does a form let silence, or what is absent, become an empty answer.
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
} from './tidy-source.ts';

/** The literals that are nothing: `0`, `''`, `[]`, `{}`, `false`, an empty map or set. */
function isEmptyLiteral(node: Node | null): boolean {
  if (node === null) return false;
  if (isCast(node) || node.type === 'TSSatisfiesExpression') {
    return isEmptyLiteral(nodeAt(node, 'expression'));
  }
  if (node.type === 'UnaryExpression') return isEmptyLiteral(nodeAt(node, 'argument'));
  if (node.type === 'ArrayExpression') return nodesAt(node, 'elements').length === 0;
  if (node.type === 'ObjectExpression') return nodesAt(node, 'properties').length === 0;
  if (node.type === 'TemplateLiteral')
    return nodesAt(node, 'expressions').length === 0 && isBlank(node);
  if (node.type === 'NewExpression' || isMember(nodeAt(node, 'callee'), 'Object', 'freeze')) {
    return nodesAt(node, 'arguments').every(isEmptyLiteral);
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

/** What a function answers at once: its expression, or the only thing that it returns. */
function answersEmpty(node: Node | null): boolean {
  if (node === null || !isFunction(node)) return false;
  const body = nodeAt(node, 'body');
  if (body === null || body.type !== 'BlockStatement') return isEmptyLiteral(body);
  return holds(
    body,
    (one) => one.type === 'ReturnStatement' && isEmptyLiteral(nodeAt(one, 'argument')),
  );
}

/** Whether a literal that is nothing stands in for what was absent or failed. */
export function isFallback(node: Node): boolean {
  const operator = node['operator'];
  if (node.type === 'LogicalExpression') {
    return (operator === '??' || operator === '||') && isEmptyLiteral(nodeAt(node, 'right'));
  }
  if (node.type === 'AssignmentExpression') {
    return (operator === '??=' || operator === '||=') && isEmptyLiteral(nodeAt(node, 'right'));
  }
  if (node.type === 'AssignmentPattern') return isEmptyLiteral(nodeAt(node, 'right'));
  if (node.type !== 'CallExpression') return false;
  const method = nameOf(nodeAt(nodeAt(node, 'callee') ?? node, 'property'));
  const [first, second] = nodesAt(node, 'arguments');
  if (method === 'catch') return answersEmpty(first ?? null);
  return method === 'then' && answersEmpty(second ?? null);
}

/** Whether a test holds, or fails, where a reading came to no end or a value is absent. */
type Silent = { readonly held: boolean; readonly failed: boolean };
const NEITHER: Silent = { held: false, failed: false };
const HELD: Silent = { held: true, failed: false };
const FAILED: Silent = { held: false, failed: true };

type Leaf = (test: Node) => Silent;

/** What a test says of silence, by what one comparison in it says. */
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
function ofReading(test: Node): Silent {
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
function ofAbsence(test: Node): Silent {
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
export function choosesNothing(node: Node, text: string): boolean {
  if (node.type !== 'ConditionalExpression') return false;
  const [held, failed] = [nodeAt(node, 'consequent'), nodeAt(node, 'alternate')];
  const test = nodeAt(node, 'test');
  const reading = silence(test, ofReading);
  if ((reading.held && isEmptyLiteral(held)) || (reading.failed && isEmptyLiteral(failed))) {
    return true;
  }
  const written = (one: Node | null) => (one === null ? null : text.slice(one.start, one.end));
  const value = test === null ? null : written(nodeAt(test, 'left'));
  const absent = test === null ? NEITHER : ofAbsence(test);
  if (absent.held) return isEmptyLiteral(held) && written(failed) === value;
  return absent.failed && isEmptyLiteral(failed) && written(held) === value;
}

/** Whether a branch for a silent reading, or for an absent value, returns nothing. */
export function returnsNothing(node: Node): boolean {
  if (node.type !== 'IfStatement') return false;
  const { held, failed } = silence(nodeAt(node, 'test'), (leaf) =>
    ofAbsence(leaf) === NEITHER ? ofReading(leaf) : ofAbsence(leaf),
  );
  const inHeld = held && endsInNothing(nodeAt(node, 'consequent'));
  return inHeld || (failed && endsInNothing(nodeAt(node, 'alternate')));
}

function endsInNothing(statement: Node | null): boolean {
  if (statement === null) return false;
  if (statement.type === 'ReturnStatement') return isEmptyLiteral(nodeAt(statement, 'argument'));
  if (statement.type !== 'BlockStatement') return false;
  return endsInNothing(nodesAt(statement, 'body').at(-1) ?? null);
}

/** Whether a part is taken for decided by a test that does not look at it. */
export function decidesBlindly(node: Node): boolean {
  if (node.type !== 'CallExpression' || calledName(node) !== 'decided') return false;
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
export function joinsNothing(node: Node): boolean {
  if (node.type !== 'CallExpression' || nodeAt(node, 'callee')?.type !== 'Identifier') return false;
  const [first] = nodesAt(node, 'arguments');
  return JOINS.has(calledName(node)) && first !== undefined && isEmptyLiteral(first);
}
