// In which ways is one line of code changed, so that a test should notice?
// Each place is of the syntax tree, so that a change parses and, but for rare cases, type-checks.

import { type Node, nameOf, nodeAt, type SourceFile, walk } from '../src/testing/tidy-source.ts';

/** One change of one line. */
export type Mutant = {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly by: string;
};

const SWAPPED = new Map<string, readonly [kind: string, by: string]>([
  ['<', ['boundary', '<=']],
  ['<=', ['boundary', '<']],
  ['>', ['boundary', '>=']],
  ['>=', ['boundary', '>']],
  ['===', ['equality', '!==']],
  ['!==', ['equality', '===']],
  ['&&', ['logic', '||']],
  ['||', ['logic', '&&']],
  ['+', ['arithmetic', '-']],
  ['-', ['arithmetic', '+']],
  ['*', ['arithmetic', '/']],
  ['/', ['arithmetic', '*']],
]);

/** Methods of lists with their opposites. */
const OPPOSITES = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);

type Place = Omit<Mutant, 'path' | 'line'>;

function isTextual(node: Node | null): boolean {
  return node !== null && (node.type === 'TemplateLiteral' || typeof node['value'] === 'string');
}

/** A condition with its opposite in its place. */
function negate(condition: Node | null, text: string): Place[] {
  if (condition === null || condition.type === 'BinaryExpression') return [];
  const { start, end } = condition;
  return [{ kind: 'condition', start, end, by: `!(${text.slice(start, end)})` }];
}

function placesAt(node: Node, parent: Node | undefined, text: string): Place[] {
  const { start, end } = node;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const [left, right] = [nodeAt(node, 'left'), nodeAt(node, 'right')];
      const operator = String(node['operator']);
      const swap = SWAPPED.get(operator);
      if (left === null || right === null || swap === undefined) return [];
      if (operator === '+' && (isTextual(left) || isTextual(right))) return [];
      const at = text.indexOf(operator, left.end);
      if (at === -1 || at >= right.start) return [];
      return [{ kind: swap[0], start: at, end: at + operator.length, by: swap[1] }];
    }
    case 'UnaryExpression':
      if (node['operator'] !== '!') return [];
      return [{ kind: 'negation', start, end: start + 1, by: '' }];
    case 'IfStatement':
    case 'ConditionalExpression':
      return negate(nodeAt(node, 'test'), text);
    case 'ExpressionStatement': {
      const isCall = nodeAt(node, 'expression')?.type === 'CallExpression';
      return isCall ? [{ kind: 'statement', start, end, by: ';' }] : [];
    }
    case 'Literal': {
      const { value } = node;
      if (parent?.type === 'TSLiteralType') return [];
      if (typeof value === 'boolean') return [{ kind: 'constant', start, end, by: String(!value) }];
      if (typeof value !== 'number') return [];
      return [{ kind: 'constant', start, end, by: `${value + 1}` }];
    }
    case 'CallExpression': {
      const callee = nodeAt(node, 'callee');
      const method = callee === null ? null : nodeAt(callee, 'property');
      const opposite = OPPOSITES.get(nameOf(method));
      if (method === null || opposite === undefined) return [];
      return [{ kind: 'method', start: method.start, end: method.end, by: opposite }];
    }
    default:
      return [];
  }
}

/** Every change of one line that a file offers: inside functions, where code decides something. */
export function mutantsOf({ path, text, program }: SourceFile): Mutant[] {
  const found: Mutant[] = [];
  walk(program, (node, above) => {
    if (!above.some(({ type }) => type.includes('Function'))) return;
    for (const place of placesAt(node, above.at(-1), text)) {
      if (text.slice(place.start, place.end).includes('\n')) continue;
      const line = text.slice(0, place.start).split('\n').length;
      found.push({ path, line, ...place });
    }
  });
  return found;
}

/** The text of a file with the change made. */
export function mutate(text: string, { start, end, by }: Mutant): string {
  return text.slice(0, start) + by + text.slice(end);
}
