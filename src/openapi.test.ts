// The served document holds: what leaves the server over the worlds of the silence test, refusals
// included, is what the document says, by a validator that knows nothing of our schemas.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { createGate } from './access/gate.ts';
import { deriveSecrets, mintKey } from './access/secret.ts';
import { CONTRACTS, EVIDENCE_ROUTES, handlerOf } from './compose/list.ts';
import { parseConfig } from './config.ts';
import { answerPointer, type OpenapiDocument, openapiDocument } from './contract/openapi.ts';
import { publishedDocument } from './contract/openapi-components.ts';
import type { AccessRule, Method } from './contract/route.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { createTestHttp } from './testing/http-server.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { asksOf } from './testing/silence-asks.ts';
import { WORLDS } from './testing/worlds.ts';
import type { Mounted } from './transport/answer.ts';

const DOCUMENT: OpenapiDocument = publishedDocument(
  openapiDocument(CONTRACTS, {
    title: 'Exhibit',
    version: '0.0.0',
    description: 'Checked against live answers.',
    serverUrl: 'http://127.0.0.1',
  }),
);
const SECRETS = deriveSecrets('a root secret of the tests', null);
const AJV = new Ajv2020({ strict: false, validateFormats: false }).addSchema(DOCUMENT, 'doc:');
const validators = new Map<string, ValidateFunction>();

function validatorOf(path: string, method: Method, status: number): ValidateFunction {
  const key = `${method} ${path} ${status}`;
  const held = validators.get(key);
  if (held !== undefined) return held;
  const made = AJV.compile({ $ref: `doc:#${answerPointer({ path, method }, status)}` });
  validators.set(key, made);
  return made;
}

const fresh = embeddedControl();

async function served(world: World) {
  const { memberships, keys, quota } = accessIn(fresh(), () => world.now * 1000);
  const at = world.now;
  await memberships.record({ membership_id: 'mem_1', plan: 'enterprise', status: 'active', at });
  const key = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, at);
  const partner = { kind: 'scp', partner: 'acme', monthly_budget: 100_000 } as const;
  const partners = mintKey(partner, SECRETS, at);
  for (const one of [key, partners]) await keys.add(one.stored, 1);
  const given = { ...world.ports, service: TEST_SERVICE };
  const mounted = EVIDENCE_ROUTES.map((route): Mounted => {
    return { route, handle: handlerOf(route.name, given) };
  });
  const app = createTestHttp({
    mounted,
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, () => at),
    now: () => at,
    budgetMs: 5_000,
  });
  const authorizationFor = (access: AccessRule) =>
    `Bearer ${(access === 'partner' ? partners : key).text}`;
  return { app, authorizationFor };
}

type Sent = { readonly url: string; readonly body: unknown };

function sentOf(path: string, input: { params: unknown; query: unknown; body: unknown }): Sent {
  const params = Object.entries(Object(input.params)).map(([name, value]) => [name, String(value)]);
  const filled = params.reduce(
    (url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  );
  const query = new URLSearchParams(Object(input.query)).toString();
  return { url: query === '' ? filled : `${filled}?${query}`, body: input.body };
}

test('every answer over every world is what the document says', async () => {
  const seen = new Map<string, number>();
  for (const world of WORLDS) {
    const { app, authorizationFor } = await served(world);
    for (const route of EVIDENCE_ROUTES) {
      const answered = asksOf(route, world).map(async ({ input }) => {
        const { url, body } = sentOf(route.path, input);
        const reply = await app.inject({
          method: route.method === 'POST' ? 'POST' : 'GET',
          url,
          headers: {
            authorization: authorizationFor(route.access),
            'content-type': 'application/json',
          },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
        const validate = validatorOf(route.path, route.method, reply.statusCode);
        const fits = validate(reply.json());
        expect({ url, fits, errors: validate.errors }).toEqual({ url, fits: true, errors: null });
        const key = `${route.name} ${reply.statusCode}`;
        seen.set(key, Number(seen.get(key) ?? 0) + 1);
      });
      // Together, so that their charges share statements.
      await Promise.all(answered);
    }
    await app.close();
  }
  // A route that takes addresses of one chain alone is asked in fewer worlds.
  for (const route of EVIDENCE_ROUTES) expect(seen.get(`${route.name} 200`)).toBeGreaterThan(10);
});

const REFUSED: readonly (readonly [string, object, number])[] = [
  ['no key', { headers: {} }, 402],
  ['broken JSON', { payload: '{' }, 400],
  ['another content type', { headers: { 'content-type': 'text/plain' }, payload: 'x' }, 415],
  ['a body too large', { payload: 'x'.repeat(9 * 1024 * 1024) }, 413],
  ['501 addresses', { payload: JSON.stringify({ addresses: Array(501).fill('0x') }) }, 400],
  ['no address', { payload: '{"addresses":[]}' }, 400],
  ['a wrong method', { method: 'GET', payload: '' }, 405],
];

test.each(REFUSED)('the refusal of %s is what the document says', async (_, over, status) => {
  const [world] = WORLDS;
  if (world === undefined) throw new Error('there is no world');
  const { app, authorizationFor } = await served(world);
  const headers = { authorization: authorizationFor('desk'), 'content-type': 'application/json' };
  const method = 'POST' as const;
  const url = '/api/v1/bulk/wallet-screen';
  const given =
    'headers' in over && status === 415 ? { headers: { ...headers, ...Object(over.headers) } } : {};
  const reply = await app.inject({ method, url, headers, ...over, ...given });
  expect(reply.statusCode).toBe(status);
  const validate = validatorOf(url, 'POST', status);
  expect([validate(reply.json()), validate.errors]).toEqual([true, null]);
  const declared = DOCUMENT.paths[url]?.['post']?.responses[String(status)]?.headers;
  const names = Object.keys({ ...declared });
  expect(names).toContain('X-RateLimit-Remaining');
  for (const name of names) expect(reply.headers).toHaveProperty(name.toLowerCase());
  await app.close();
});

test('every operation says that it may be overloaded, and when to come again', () => {
  const all = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));
  expect(all.length).toBeGreaterThan(5);
  for (const { operationId, responses } of all) {
    expect([operationId, Object.keys({ ...responses[503]?.headers })]).toEqual([
      operationId,
      expect.arrayContaining(['Retry-After']),
    ]);
  }
});

test('a validator of the document would notice: an absence with data is refused', () => {
  const validate = validatorOf('/api/v1/wallet/{address}/ofac', 'GET', 200);
  const absent = {
    state: 'not_deployed',
    subject: 'x',
    sources: [],
    as_of: 1,
    simulated: false,
    data: null,
  };
  expect(validate({ ...absent, reason: 'The list is not there.' })).toBe(true);
  expect(validate({ ...absent, reason: 'The list is not there.', data: {} })).toBe(false);
  expect(validate(absent)).toBe(false);
});

test('every surface that EXHIBIT_SURFACES can name has a route in the document, but for tools', () => {
  const configured = parseConfig({}, { cwd: '/' });
  if (!configured.ok) throw new Error(configured.problems.join('; '));
  const ofRoutes = configured.config.surfaces.filter((name) => name !== 'mcp');
  expect(DOCUMENT.tags.map(({ name }) => name).sort()).toEqual(ofRoutes);
});
