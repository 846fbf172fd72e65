// The published document passes the rules that the field knows: those that redocly recommends, and
// those of spectral's ruleset for OpenAPI, which are written out here because its packages report
// each installation to their maker.

import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonSchema, OpenapiDocument, Operation } from './contract/openapi.ts';
import { enlist } from './evidence/measure.ts';

const FILE = new URL('../docs/reference/openapi.json', import.meta.url);
const TEXT = readFileSync(FILE, 'utf8');
const READ: unknown = JSON.parse(TEXT);
const DOCUMENT = READ as OpenapiDocument;

test('redocly finds nothing to warn of', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    // The address of whoever runs it is not known to the document in the repository.
    rules: { 'no-server-example.com': 'off' },
  });
  const found = await lintFromString({ source: TEXT, absoluteRef: 'openapi.json', config });
  // The interface names both, and no id of a signal is "verify".
  const both = '`/api/signals/{id}/evidence` and `/api/signals/verify/{id}`';
  const unnamed = found.filter(({ message }) => !message.includes(both));
  expect(
    unnamed.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
  ).toEqual([]);
});

type Placed = { readonly path: string; readonly one: Operation };
const OPERATIONS: readonly Placed[] = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.values(methods).map((one) => ({ path, one })),
);

/** Every object of the document with its place. */
function* nodesOf(node: unknown, at: string): Generator<{ at: string; node: object }> {
  if (typeof node !== 'object' || node === null) return;
  yield { at, node };
  for (const [name, inner] of Object.entries(node)) yield* nodesOf(inner, `${at}/${name}`);
}

test('spectral’s rules of operations hold: ids, tags, descriptions, parameters and statuses', () => {
  const { info, tags } = DOCUMENT;
  expect([info.contact.url, info.license.identifier, info.description].every(Boolean)).toBe(true);
  expect(tags.every(({ description }) => description !== '')).toBe(true);
  const ids = OPERATIONS.map(({ one }) => one.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, one } of OPERATIONS) {
    expect([path, one.tags.every((tag) => tags.some(({ name }) => name === tag))]).toEqual([
      path,
      true,
    ]);
    expect([path, one.description === '', one.summary === '']).toEqual([path, false, false]);
    expect([path, Object.keys(one.responses).some((status) => /^[23]/.test(status))]).toEqual([
      path,
      true,
    ]);
    const parameters = one.parameters ?? [];
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`);
    expect(inPath).toEqual([...path.matchAll(/\{\w+\}/g)].map(([text]) => text));
    for (const { name, description } of parameters) {
      expect([path, name, description === name]).toEqual([path, name, false]);
    }
  }
});

test('every reference leads to a name, every name is used, and none has two meanings', () => {
  const schemas = z.record(z.string(), z.unknown()).parse(DOCUMENT.components['schemas']);
  const used = new Set<string>();
  for (const { at, node } of nodesOf(DOCUMENT, '')) {
    const reference: unknown = Reflect.get(node, '$ref');
    if (typeof reference !== 'string') continue;
    expect([at, reference]).toEqual([
      at,
      expect.stringMatching(/^#\/components\/(schemas|headers)\/[\w-]+$/),
    ]);
    used.add(String(reference.split('/').at(-1)));
  }
  expect(Object.keys(schemas).filter((name) => !used.has(name))).toEqual([]);
  const texts = Object.values(schemas).map((schema) => JSON.stringify(schema));
  expect(new Set(texts).size).toBe(texts.length);
  expect(texts.length).toBeGreaterThan(100);
});

test('no name is numbered, and a shape of several routes has a name of its own', () => {
  const schemas = z.record(z.string(), z.unknown()).parse(DOCUMENT.components['schemas']);
  const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));
  const ids = operations.map(({ operationId }) => pascal(operationId));
  const used = new Map<string, Set<string>>();
  const follow = (text: string, id: string): void => {
    for (const [, name] of text.matchAll(/#\/components\/schemas\/([\w-]+)/g)) {
      // A section of the partner scan is the answer of another route.
      if (
        name === undefined ||
        (ids.includes(name.replace(/Answer$/, '')) && name !== `${id}Answer`)
      ) {
        continue;
      }
      if (used.get(name)?.has(id) === true) continue;
      enlist(used, name, id);
      follow(JSON.stringify(schemas[name]), id);
    }
  };
  for (const one of operations) follow(JSON.stringify(one), pascal(one.operationId));
  expect(Object.keys(schemas).filter((name) => /\d/.test(name))).toEqual([]);
  const shared = [...used].filter(([, routes]) => routes.size > 1).map(([name]) => name);
  expect(shared).toContain('WatchFinding');
  expect(shared.filter((name) => ids.some((id) => name.startsWith(id)))).toEqual([]);
});

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());
}

test('no shape is left without a name, and every field of a body says what it means', () => {
  const nameless = OPERATIONS.flatMap(({ one }) => [
    ...Object.values({ ...one.requestBody?.content }),
    ...Object.values(one.responses).flatMap(({ content }) => Object.values({ ...content })),
  ]).filter(({ schema }) => schema.properties !== undefined || schema.oneOf !== undefined);
  expect(nameless).toEqual([]);
  const schemas = Object.entries(Object(DOCUMENT.components['schemas']) as object);
  const bodies = schemas.filter(([name]) => name.includes('Request'));
  expect(bodies.length).toBeGreaterThan(4);
  for (const [name, schema] of bodies) {
    for (const [field, one] of Object.entries({ ...(schema as JsonSchema).properties })) {
      expect([name, field, typeof one.description]).toEqual([name, field, 'string']);
    }
  }
});

test('every example is one that its schema takes', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(DOCUMENT, 'doc:');
  let tried = 0;
  for (const { path, one } of OPERATIONS) {
    const bodies = Object.values({ ...one.requestBody?.content });
    for (const { schema, example } of [...(one.parameters ?? []), ...bodies]) {
      if (example === undefined) continue;
      const { $ref } = schema;
      const fits = ajv.validate($ref === undefined ? schema : { $ref: `doc:${$ref}` }, example);
      expect([path, example, fits]).toEqual([path, example, true]);
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(40);
});
