// Does a refused input name what was wrong, and repeat nothing that could be a key?

import { expect, test } from 'vitest';
import { z } from 'zod';
import { mintSecret } from '../access/secret.ts';
import { Refusal } from '../contract/refusals.ts';
import { parseInput } from './answer.ts';

const declared = {
  params: z.strictObject({}),
  query: z.strictObject({ on: z.string().optional() }),
  body: z.strictObject({ items: z.array(z.string()).optional() }),
};

function saidOf(query: unknown, body: unknown): string {
  const said = parseInput(declared, { params: {}, query, body });
  if (!(said instanceof Refusal)) throw new Error('it was taken');
  return JSON.stringify(said.body);
}

test('a name that is not known is named, and those that are', () => {
  expect(saidOf({ no: '1', 'date-from': '2' }, {})).toContain(
    String.raw`unknown name \"no\", \"date-from\"; expected only on`,
  );
  expect(saidOf({}, { thing: 1 })).toContain(
    String.raw`body: unknown name \"thing\"; expected only items`,
  );
});

test.each([
  ['a key', mintSecret('sc')],
  ['a partner key', mintSecret('scp')],
  ['a token', mintSecret('sct')],
  ['the beginning of a key', 'sc_0123456'],
  ['a key that lost its beginning', mintSecret('sc').slice(3)],
  ['a token of another service', '3f2b8c1e-9d4a-4b7e-8f6a-1c2d3e4f5a6b'],
])('%s in the place of a name is not repeated', (_, secret) => {
  for (const said of [saidOf({ [secret]: '' }, {}), saidOf({}, { [secret]: 1 })]) {
    expect(said).not.toContain(secret);
    expect(said).toContain(`of ${secret.length} characters, not repeated here`);
  }
});
