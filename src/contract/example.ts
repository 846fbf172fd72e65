// Answers one question: what could be sent where a schema stands, for somebody who reads about it.
// It is made from the schema alone, so that a route's example cannot be another route's.

import type { JsonSchema } from './json-schema.ts';

/** A well-known contract that nobody lists. */
const ADDRESS = '0x00000000219ab540356cbb839cbe05303d7705fa';
/** What stands in texts of which not every one is taken, by the field. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['address', ADDRESS],
  ['addresses', ADDRESS],
  ['on', '2026-01-15'],
]);

/** A value that the schema takes. `name` is the field in which it stands. */
export function exampleOf(schema: JsonSchema, name: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  const chosen = choices?.find(({ type }) => type !== 'null');
  if (chosen !== undefined) return exampleOf(chosen, name);
  const [type] = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? NO_TYPES);
  switch (type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return schema.items === undefined ? [] : itemsOf(schema, schema.items, name);
    case 'integer':
    case 'number':
      return lowest(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textOf(schema, name);
  }
}

const NO_TYPES: readonly string[] = [];

function objectOf({ properties }: JsonSchema): object {
  if (properties === undefined) return {};
  const shown = Object.entries(properties).map(([name, one]) => [name, exampleOf(one, name)]);
  return Object.fromEntries(shown);
}

function itemsOf({ minItems }: JsonSchema, item: JsonSchema, name: string): unknown[] {
  const length = minItems === undefined ? 1 : Math.max(minItems, 1);
  return Array.from({ length }, () => exampleOf(item, name));
}

function lowest({ minimum, exclusiveMinimum }: JsonSchema): number {
  if (exclusiveMinimum !== undefined) return exclusiveMinimum + 1;
  return minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? 1 : minimum;
}

function textOf({ minLength }: JsonSchema, name: string): string {
  const text = TEXTS.get(name);
  if (text !== undefined) return text;
  return minLength === undefined ? name : name.padEnd(minLength, 'x');
}
