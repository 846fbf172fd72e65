// The answer to a parsed request of a known caller, whichever way it came.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Admission, createGate } from '../access/gate.ts';
import { deriveSecrets, mintKey, mintSecret } from '../access/secret.ts';
import { badField, Refusal } from '../contract/refusals.ts';
import { type Caller, NOBODY, plainRoute } from '../contract/route.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { type AnyHandler, answersOf, parseInput } from './answer.ts';
import { createMeters } from './metrics.ts';

const NOW = 1_780_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);
const FREE: Admission = { kind: 'uncharged', caller: NOBODY };
const UNTIL_MIDNIGHT_S = 86_400 - (NOW % 86_400);
const INPUT = { params: {}, query: {}, body: undefined };
const QUESTION = {
  id: 'the-id',
  startedMs: 0,
  asked: { now: () => NOW, signal: new AbortController().signal },
};

const probe = plainRoute({
  name: 'probe',
  surface: 'web',
  method: 'GET',
  path: '/probe',
  summary: 'A route of the tests.',
  access: 'analyst',
  responses: {
    200: z.strictObject({ fine: z.boolean() }),
    404: z.strictObject({ error: z.string() }),
    409: z.strictObject({ error: z.string() }),
    503: z.strictObject({ error: z.string() }),
  },
});

const fresh = embeddedControl();

async function asked(
  handle: AnyHandler,
  route: typeof probe = probe,
  now: () => number = () => NOW,
) {
  const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1_000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const { text, stored } = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
  await keys.add(stored, 5);
  const gate = createGate({ keys, quota, secrets: SECRETS, durable: true }, now);
  const presented = {
    authorization: `Bearer ${text}`,
    serviceMembership: undefined,
    search: '',
    origin: undefined,
    opensToPages: false,
  };
  const member = await gate.admit(presented, 'analyst');
  if (member.kind === 'refused') throw new Error('was turned away');
  const used = async () => {
    const reading = await quota.usage('membership:mem_1', '2026-05-28');
    return reading.checked ? reading.value : null;
  };
  const logged: object[] = [];
  const keep = (facts: object) => logged.push(facts);
  const log = { info: keep, warn: keep, error: keep };
  const answers = answersOf([{ route, handle }], { gate, meters: createMeters([]), log });
  const door = answers.get('probe');
  if (door === undefined) throw new Error('nothing is mounted');
  const question = { ...QUESTION, asked: { ...QUESTION.asked, now } };
  const ask = (by: Admission, sent = INPUT) => door.ask(sent, by, question);
  return { ask, member, key_id: stored.id, used, logged };
}

const fine: AnyHandler = async () => probe.reply(200, { fine: true });

describe('says', () => {
  test('the bytes of the reply, charged to a caller on a plan', async () => {
    const { ask, member, used } = await asked(fine);
    const said = await ask(member);
    expect([said.status, said.bytes.toString()]).toEqual([200, '{"fine":true}']);
    expect(said.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'X-RateLimit-Remaining': '9999',
    });
    expect(await used()).toBe(1);
  });

  test('of a route that will go, since when that is said and until when it answers', async () => {
    const deprecated = { since: '2027-01-01', sunset: '2027-06-30', instead: 'Ask /other.' };
    const { headers } = await (await asked(fine, { ...probe, deprecated })).ask(FREE);
    expect(headers).toMatchObject({
      Deprecation: '@1798761600',
      Sunset: 'Wed, 30 Jun 2027 00:00:00 GMT',
      Link: '</docs/reference/versioning>; rel="deprecation"; type="text/html"',
    });
    const { headers: without } = await (await asked(fine)).ask(FREE);
    expect(Object.keys(without)).not.toContain('Deprecation');
  });

  test('the same to a caller whose answers are free, without an allowance', async () => {
    const { ask, used } = await asked(fine);
    const said = await ask(FREE);
    expect([said.status, said.bytes.toString()]).toEqual([200, '{"fine":true}']);
    expect(said.headers).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Authorization, x-service-membership, Origin',
    });
    expect(await used()).toBe(0);
  });
});

test.each<[string, number, AnyHandler]>([
  ['an answer', 200, fine],
  ['a refusal', 409, async () => probe.reply(409, { error: 'no' })],
  ['a fault', 500, () => Promise.reject(new Error('the inside'))],
])('the seconds until an allowance begins anew count from %s', async (_, status, handle) => {
  let clock = NOW;
  const slow: AnyHandler = (...given) => {
    clock += 100;
    return handle(...given);
  };
  const { ask, member } = await asked(slow, probe, () => clock);
  const said = await ask(member);
  expect(said.status).toBe(status);
  expect(said.headers['X-RateLimit-Reset']).toBe(String(UNTIL_MIDNIGHT_S - 100));
});

test('the handler is told who asks: a member and its plan, or whom a door vouches for', async () => {
  const callers: Caller[] = [];
  const { ask, member, key_id } = await asked(async (_input, _asked, caller) => {
    callers.push(caller);
    return probe.reply(200, { fine: true });
  });
  const partner = { kind: 'partner', partner: 'acme', key_id: 'key_1' } as const;
  await ask(member);
  await ask({ kind: 'uncharged', caller: partner });
  await ask(FREE);
  const known = { kind: 'member', membership_id: 'mem_1', plan: 'desk', key_id };
  expect(callers).toEqual([known, partner, { kind: 'nobody' }]);
});

describe('refuses', () => {
  test('what the route does not declare, before the handler, and charges nothing', async () => {
    const { ask, member, used } = await asked(() => Promise.reject(new Error('was asked')));
    const said = await ask(member, { params: {}, query: { colour: 'red' }, body: undefined });
    const says = 'unknown name "colour"; expected no fields here';
    expect([said.status, said.bytes.toString()]).toEqual([
      400,
      JSON.stringify({ error: says, fields: [{ path: [], says }] }),
    ]);
    expect(await used()).toBe(0);
  });

  test.each<[string, AnyHandler, number]>([
    ['what the handler refuses', async () => badField('q', 'no'), 400],
    ['what is not there', async () => probe.reply(404, { error: 'no' }), 404],
    ['what cannot be done', async () => probe.reply(409, { error: 'no' }), 409],
    ['what could not be read', async () => probe.reply(503, { error: 'no' }), 503],
    ['a fault', () => Promise.reject(new Error('the inside')), 500],
    ['what no route has made', async () => ({ fine: true }), 500],
    // @ts-expect-error the types refuse it; this is what is left where a cast has got past them
    ['what is not as declared', async () => probe.reply(200, { fine: 1 }), 500],
  ])('%s, and charges nothing', async (_, handle, status) => {
    const { ask, member, used, logged } = await asked(handle);
    const said = await ask(member);
    expect(said.status).toBe(status);
    expect(said.headers['X-RateLimit-Remaining']).toBe('10000');
    expect(said.bytes.toString()).not.toContain('the inside');
    expect(logged.length).toBe(status === 500 ? 1 : 0);
    expect(await used()).toBe(0);
  });

  test('more than 256 requests at once whose answers are free, and takes them again later', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { ask, member } = await asked(async () => {
      await held;
      return probe.reply(200, { fine: true });
    });
    const running = Array.from({ length: 256 }, () => ask(FREE));
    const shed = await ask(FREE);
    expect([shed.status, shed.headers['retry-after']]).toEqual([503, '1']);
    const charged = ask(member);
    release();
    expect((await charged).status).toBe(200);
    for (const said of await Promise.all(running)) expect(said.status).toBe(200);
    expect((await ask(FREE)).status).toBe(200);
  });
});

// Does a refused input name what was wrong, and repeat nothing that could be a key?

const declared = {
  params: z.strictObject({}),
  query: z.strictObject({ on: z.string().optional() }),
  body: z.strictObject({
    items: z.array(z.string().min(1)).max(3).optional(),
    size: z.int().max(8).optional(),
    kind: z.enum(['first', 'second']).optional(),
    either: z.union([z.string(), z.int()]).optional(),
  }),
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
    String.raw`body: unknown name \"thing\"; expected only items, size, kind, either`,
  );
});

test.each([
  [{ on: ['2026-01-01', '2026-01-02'] }, {}, 'on: expected text'],
  [{}, undefined, 'body: expected an object, and nothing was sent'],
  [{}, { items: ['a', 7] }, 'items[1]: expected text'],
  [{}, { items: 'a' }, 'items: expected a list'],
  [{}, { items: ['', 'b', 'c'] }, 'items[0]: expected at least 1 character'],
  [{}, { items: ['a', 'b', 'c', 'd'] }, 'items: expected at most 3 entries'],
  [{}, { size: 1.5 }, 'size: expected a whole number'],
  [{}, { size: 9 }, 'size: expected at most 8'],
  [{}, { kind: 'third' }, 'kind: expected one of first, second'],
  [{}, { either: true }, 'either: expected text or a number'],
  [{ on: 'a\u0000b' }, {}, 'on: expected text of whole Unicode characters, without NUL'],
  [{}, { items: ['a', '\ud800'] }, 'items[1]: expected text of whole Unicode characters'],
])('what is not as declared is refused in our words: %j %j', (query, body, said) => {
  expect(saidOf(query, body)).toContain(said);
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
