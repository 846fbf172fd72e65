import { expect, test } from 'vitest';
import type { z } from 'zod';
import { exampleOf, jsonSchema, openapiDocument } from '../contract/openapi.ts';
import { publishedDocument } from '../contract/openapi-components.ts';
import { REFUSALS } from '../contract/refusals.ts';
import { defOf } from '../contract/writer.ts';
import { REASONS } from '../evidence/reasons.ts';
import type { PortFacts } from './feature.ts';
import { CONTRACTS, EVIDENCE_ROUTES, FEATURES, STREAMS } from './list.ts';

const DECLARED = [...CONTRACTS, ...STREAMS.map(({ route }) => route)];

const document = () =>
  openapiDocument(DECLARED, {
    title: 'Exhibit',
    version: '0.0.0',
    description: 'The document of the declared routes.',
    serverUrl: 'http://127.0.0.1:8080',
  });

test('docs/reference/openapi.json is made from the declarations as they are', async () => {
  const text = `${JSON.stringify(publishedDocument(document()), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/reference/openapi.json');
});

test('the example of each body that the reference page shows is one that the route takes', () => {
  const bodies = CONTRACTS.flatMap(({ name, body }) => (body === null ? [] : [{ name, body }]));
  expect(bodies.length).toBeGreaterThan(0);
  for (const { name, body } of bodies) {
    const shown = exampleOf(jsonSchema(body, 'input'), 'body');
    expect([name, body.safeParse(shown).success]).toEqual([name, true]);
  }
});

test('every route has its own name and path, and every tool its own name', () => {
  const names = DECLARED.map(({ name }) => name);
  const places = DECLARED.map(({ method, path }) => `${method} ${path}`);
  const tools = EVIDENCE_ROUTES.flatMap(({ tool }) =>
    tool === null || tool.when !== undefined ? [] : [tool.name],
  );
  for (const list of [names, places, tools]) expect(new Set(list).size).toBe(list.length);
});

/** The names of all fields of a schema, however deep. */
function fieldNames(schema: z.ZodType): string[] {
  const def = defOf(schema);
  const inner = [def.element, def.innerType, def.valueType, ...(def.options ?? [])];
  const within = inner.flatMap((one) => (one === undefined ? [] : fieldNames(one)));
  const shape = Object.entries(def.shape ?? {});
  return [...within, ...shape.flatMap(([name, field]) => [name, ...fieldNames(field)])];
}

test('no evidence route but the leaderboard declares a number that ranks an address', () => {
  const ranking = EVIDENCE_ROUTES.flatMap((route) => {
    const names = fieldNames(route.data);
    expect(names, `fields of ${route.name}`).toContain('caveat');
    const found = names.filter((name) => /score\b|risk|rank|rating|safe|clean/i.test(name));
    return found.map((name) => `${route.name}.${name}`);
  });
  // The output of the rug model, which names its model.
  expect(ranking).toEqual(['leaderboard.score']);
});

test('every evidence route carries its caveat inside data', () => {
  for (const route of EVIDENCE_ROUTES) expect(Object.keys(route.data.shape)).toContain('caveat');
});

const ADVICE = /\b(buy|sell|safe|clean|risk-free|recommend(?!ation to transact)\w*)\b/i;

test('no sentence of ours advises', () => {
  const sentences = [
    ...Object.values(REASONS).flatMap(({ sentence, means, next }) => [sentence, means, next]),
    ...Object.values(REFUSALS).map(({ means }) => means),
    ...DECLARED.flatMap(({ summary }) => summary),
    ...EVIDENCE_ROUTES.flatMap(({ tool }) => (tool === null ? [] : tool.description)),
  ];
  expect(sentences.length).toBeGreaterThan(30);
  expect(sentences.filter((sentence) => ADVICE.test(sentence))).toEqual([]);
});

test('every port has its own name, tag and title, so that none is taken for another', () => {
  const handed = FEATURES.flatMap(({ ports }) => Object.entries<PortFacts<never>>(ports));
  const names = handed.map(([name]) => name);
  const tags = handed.map(([, { tag }]) => tag);
  const titles = handed.map(([, { title }]) => title);
  for (const list of [names, tags, titles]) expect(new Set(list).size).toBe(handed.length);
  const shown = handed.flatMap(([, { freshness }]) =>
    freshness.kind === 'shown_with' ? [freshness.tag] : [],
  );
  expect(shown.filter((tag) => !tags.includes(tag))).toEqual([]);
});
