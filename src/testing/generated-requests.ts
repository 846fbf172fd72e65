// What is sent to a route, drawn from its own schema in the OpenAPI document: what it takes, what
// it nearly takes, and what nobody should send.

import type { JsonSchema, Operation } from '../contract/openapi.ts';
import { listOrNone } from '../evidence/measure.ts';
import type { Lottery } from './lottery.ts';

/** One request, as text: a path with its query, a body where there is one, and its type. */
export type GeneratedRequest = {
  readonly url: string;
  readonly body: string | null;
  readonly contentType: string | null;
};

/** What stands in the place of an address, valid values first, and the shapes that have a name. */
export type Pools = {
  readonly addresses: readonly string[];
  readonly schemas: ReadonlyMap<string, JsonSchema>;
};

type Mood = 'valid' | 'near' | 'hostile';
const MOODS: readonly Mood[] = ['valid', 'valid', 'near', 'near', 'hostile'];

const HOSTILE: readonly unknown[] = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  'tail\udfff',
  '',
  ' ',
  "' OR 1=1; --",
  '"><script>',
  '../../etc/passwd',
  '%00',
  '%s%n',
  '\u202eabc',
  '😀'.repeat(20),
  'x'.repeat(129),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  -1,
  0,
  1.5,
  1e308,
  9_007_199_254_740_992,
  2_147_483_648,
  true,
  null,
  [],
  {},
  [[[[[[[[1]]]]]]]],
  { a: { b: {} } },
];

const NEAR_DAYS = [
  '2026-11-31',
  '2026-02-29',
  '2026-13-01',
  '0000-01-01',
  '2026-1-1',
  '9999-12-31',
];
const DAYS = ['2026-01-15', '2024-02-29', '2026-11-20', '2019-05-05'];

/** One request of an operation. */
export function generateRequest(
  path: string,
  operation: Operation,
  pools: Pools,
  lottery: Lottery,
): GeneratedRequest {
  // Most requests have one thing wrong: what has several is refused for the first.
  const moodOf = () => (lottery.happens(0.7) ? 'valid' : lottery.oneOf(MOODS));
  let filled = path;
  const query = new URLSearchParams();
  for (const { name, in: where, required, schema } of listOrNone(operation.parameters)) {
    if (where === 'header' || (!required && lottery.happens(0.4))) continue;
    const drawn = draw(schema, name, moodOf(), pools, lottery);
    const text = typeof drawn === 'string' ? drawn : JSON.stringify(drawn);
    if (where === 'path') filled = filled.replace(`{${name}}`, pathSegment(text));
    else query.append(name, text);
    if (where === 'query' && lottery.happens(0.02)) query.append(name, text);
  }
  if (lottery.happens(0.03)) query.append('unknown', '1');
  const url = query.size === 0 ? filled : `${filled}?${query}`;
  return { url, ...bodyOf(operation, pools, lottery) };
}

function bodyOf({ requestBody }: Operation, pools: Pools, lottery: Lottery) {
  const json = 'application/json';
  if (requestBody === undefined) {
    return { body: null, contentType: lottery.happens(0.2) ? json : null };
  }
  const schema = requestBody.content[json]?.schema;
  if (schema === undefined) throw new Error('a body that is no JSON');
  if (lottery.happens(0.03)) return { body: '', contentType: json };
  if (lottery.happens(0.02)) return { body: '{"a":', contentType: json };
  if (lottery.happens(0.02)) return { body: '['.repeat(50_000), contentType: json };
  if (lottery.happens(0.02)) return { body: '{}', contentType: 'text/plain' };
  const mood = lottery.happens(0.6) ? 'valid' : lottery.oneOf(MOODS);
  return { body: JSON.stringify(draw(schema, 'body', mood, pools, lottery)), contentType: json };
}

// A lone half of a character has no form in a URL but the bytes that nobody may send.
function pathSegment(text: string): string {
  if (/\p{Cs}/u.test(text)) return '%ED%A0%80';
  return text === '' ? '%20' : encodeURIComponent(text);
}

function draw(
  schema: JsonSchema,
  name: string,
  mood: Mood,
  pools: Pools,
  lottery: Lottery,
): unknown {
  if (mood === 'hostile' && lottery.happens(0.5)) return lottery.oneOf(HOSTILE);
  if (schema.$ref !== undefined) {
    const named = pools.schemas.get(schema.$ref);
    if (named === undefined) throw new Error(`the document has no shape ${schema.$ref}`);
    return draw(named, name, mood, pools, lottery);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) {
    const one = lottery.oneOf(schema.enum);
    return mood === 'near' ? `${String(one).toUpperCase()} ` : one;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return draw(lottery.oneOf(choices), name, mood, pools, lottery);
  const type =
    typeof schema.type === 'string' ? schema.type : lottery.oneOf(listOrNone(schema.type));
  switch (type) {
    case 'object': {
      const drawn = Object.entries({ ...schema.properties }).flatMap(([field, one]) => {
        const isLeft = !listOrNone(schema.required).includes(field) && lottery.happens(0.4);
        return isLeft ? [] : [[field, draw(one, field, mood, pools, lottery)] as const];
      });
      const more = mood === 'near' && lottery.happens(0.3) ? [['more', 1] as const] : [];
      return Object.fromEntries([...drawn, ...more]);
    }
    case 'array': {
      const { items, minItems = 0, maxItems = 3 } = schema;
      if (items === undefined) return [];
      const most = Math.min(maxItems, minItems + 3);
      const off =
        mood === 'near' ? lottery.oneOf([-1, maxItems < 600 ? maxItems + 1 - most : 0]) : 0;
      const length = Math.max(0, lottery.oneOf([minItems, most]) + off);
      return Array.from({ length }, () => draw(items, name, mood, pools, lottery));
    }
    case 'integer':
    case 'number':
      return drawNumber(schema, mood, lottery);
    case 'boolean':
      return lottery.happens(0.5);
    default:
      return drawText(schema, name, mood, pools, lottery);
  }
}

function drawNumber(
  { minimum = 0, maximum = 1_000, exclusiveMinimum }: JsonSchema,
  mood: Mood,
  lottery: Lottery,
): unknown {
  const least = exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1;
  if (mood === 'valid') return lottery.oneOf([least, Math.min(least + 3, maximum), maximum]);
  return lottery.oneOf<unknown>([
    least - 1,
    maximum + 1,
    least + 0.5,
    String(least),
    '',
    '1e2',
    '0x1',
  ]);
}

function drawText(
  { minLength = 0, maxLength = 40, format }: JsonSchema,
  name: string,
  mood: Mood,
  { addresses }: Pools,
  lottery: Lottery,
): unknown {
  if (format === 'date') return lottery.oneOf(mood === 'valid' ? DAYS : NEAR_DAYS);
  const one = ADDRESS_FIELDS.has(name) ? lottery.oneOf(addresses) : `${name}_${lottery.below(100)}`;
  if (mood === 'valid') return one;
  return lottery.oneOf<unknown>([
    one.slice(1),
    one.toUpperCase(),
    `${one}\n`,
    `${one}é`,
    'x'.repeat(maxLength + 1),
    'x'.repeat(Math.max(minLength - 1, 0)),
    'x'.repeat(maxLength),
    `sc_${'a'.repeat(49)}`,
    NEAR_DAYS[0],
  ]);
}

const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['address', 'addresses', 'explain']);
