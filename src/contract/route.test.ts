// Does a declaration make exactly the answers that it declares, with what they rest on?

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claim } from '../evidence/claim.ts';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { SIMULATED_CAVEAT, type Source } from '../evidence/source.ts';
import { Refusal } from './refusals.ts';
import { envelopeSchema, evidenceRoute, plainRoute } from './route.ts';
import { checkedFlag, negative } from './wire.ts';

const NOW = 1_000;
const WHY = why('no_history');

function source(change: Partial<Source> = {}): Source {
  return {
    name: 'A list',
    url: 'https://example.org',
    as_of: 500,
    kind: 'observation',
    simulated: false,
    ...change,
  };
}

function listRead(change: Partial<Source> = {}) {
  return read<readonly string[], 'list'>(['a'], { port: 'list', source: source(change) });
}

const facts = {
  surface: 'hosted',
  method: 'GET',
  path: '/a/{address}',
  summary: 'A screen.',
  access: 'open',
} as const;

const screen = evidenceRoute({
  ...facts,
  name: 'a_screen',
  data: z.strictObject({
    listed: negative(z.boolean(), { restsOn: ['list'] }),
    looked: checkedFlag({ restsOn: ['list'] }),
    caveat: z.string().min(1),
  }),
  absences: ['not_deployed', 'insufficient_evidence'],
  tool: null,
});

function answered(change: Partial<Source> = {}) {
  const listed = claim(listRead(change), (names) => names.length > 0);
  return screen.ok({ subject: 's', data: { listed, looked: false, caveat: 'A caveat.' } });
}

describe('ok', () => {
  test('with a long list leaves as the same bytes as its JSON, umlauts included', () => {
    const listing = evidenceRoute({
      ...facts,
      name: 'a_listing',
      data: z.strictObject({ rows: z.array(z.string()).min(1), caveat: z.string().min(1) }),
      absences: ['not_deployed'],
      tool: null,
    });
    const rows = Array.from({ length: 3_000 }, (_, i) => `${i} Ü € 🙂 ${'x'.repeat(50)}`);
    const said = { subject: 'ß', data: { rows, caveat: 'é' }, rests: [listRead()] } as const;
    const text = listing.ok(said).bytes(NOW).toString();
    const envelope: unknown = JSON.parse(text);
    expect(JSON.stringify(envelope)).toBe(text);
    expect(envelope).toMatchObject({ state: 'ok', subject: 'ß', data: said.data });
  });

  test('is the envelope with the plain data, the sources of its claims and their age', () => {
    expect(answered().envelope(NOW)).toEqual({
      state: 'ok',
      subject: 's',
      sources: [{ name: 'A list', url: 'https://example.org', as_of: 500 }],
      as_of: 500,
      simulated: false,
      data: { listed: true, looked: false, caveat: 'A caveat.' },
    });
  });

  test('names the readings that it also rests on, and is as old as the oldest observation', () => {
    const listed = claim(listRead({ as_of: 900 }), () => true);
    const answer = screen.ok({
      subject: 's',
      data: { listed, looked: false, caveat: 'c' },
      rests: [listRead({ name: 'Older', as_of: 400 }), listRead({ name: 'Table', kind: 'table' })],
    });
    const envelope = answer.envelope(NOW);
    expect(envelope.as_of).toBe(400);
    expect(envelope.sources.map((one) => one.name)).toEqual(['Older', 'Table', 'A list']);
  });

  test('that rests on tables alone is of the time at which it was asked', () => {
    expect(answered({ kind: 'table' }).envelope(NOW).as_of).toBe(NOW);
  });

  test('that rests on something made up says so in its source and in its caveat', () => {
    const envelope = answered({ simulated: true }).envelope(NOW);
    expect(envelope.simulated).toBe(true);
    expect(envelope.sources[0]?.name).toBe('A list (simulated)');
    expect(envelope.data).toMatchObject({ caveat: `${SIMULATED_CAVEAT}A caveat.` });
  });

  test('made up and observed under one name and date stay two sources', () => {
    const listed = claim(listRead(), () => true);
    const data = { listed, looked: false, caveat: 'c' } as const;
    const answer = screen.ok({ subject: 's', data, rests: [listRead({ simulated: true })] });
    const names = answer.envelope(NOW).sources.map((one) => one.name);
    expect(names).toEqual(['A list (simulated)', 'A list']);
  });

  test.each(['Grüße', '\u0100bc', '\u{1f600}', '\ud800 half'])(
    'says %s as it is, wherever it stands: in its data, its subject or its source',
    (name) => {
      const listed = (of: string) => claim(listRead({ name: of }), () => true);
      const plain = { looked: false as const, caveat: 'c' };
      const said = (subject: string, of: string, caveat: string) =>
        screen.ok({ subject, data: { ...plain, caveat, listed: listed(of) } }).envelope(NOW);
      expect(said(name, 'A list', 'c').subject).toBe(name);
      expect(said('s', name, 'c').sources[0]?.name).toBe(name);
      expect(said('s', 'A list', name).data).toMatchObject({ caveat: name });
    },
  );

  test('that rests on nothing is a bug, not an answer', () => {
    const route = evidenceRoute({
      ...facts,
      name: 'empty',
      data: z.strictObject({ note: z.string(), flag: checkedFlag({ restsOn: ['list'] }) }),
      absences: [],
      tool: null,
    });
    // @ts-expect-error the types refuse it; this is what is left where a cast has got past them
    const rests: [ReturnType<typeof listRead>] = [];
    const say = { subject: 's', data: { note: 'n', flag: false as const }, rests };
    expect(() => route.ok(say)).toThrow('rests on nothing');
  });

  test('that is not as declared is a bug, and the message names the field only', () => {
    const listed = claim(listRead(), () => true);
    const data = { listed, looked: false as const, caveat: '' };
    expect(() => screen.ok({ subject: 'secret', data })).toThrow(/^answer: .*caveat/);
    const more = { listed, looked: false as const, caveat: 'c', extra: 1 };
    expect(() => screen.ok({ subject: 'secret', data: more })).toThrow(/as the contract declares/);
  });
});

describe('an absence', () => {
  test('carries its reason, no data, and the sources that were consulted', () => {
    const say = { subject: 's', why: WHY, consulted: [listRead()] } as const;
    expect(screen.absent.insufficient_evidence(say).envelope(NOW)).toEqual({
      state: 'insufficient_evidence',
      subject: 's',
      sources: [{ name: 'A list', url: 'https://example.org', as_of: 500 }],
      as_of: 500,
      simulated: false,
      data: null,
      reason: WHY.reason,
    });
  });

  test('not_deployed takes the reason of the silent reading unless it is told another', () => {
    const silent = unread('list', WHY);
    const own = screen.absent.not_deployed({ subject: 's', silent });
    expect(own.envelope(NOW)).toMatchObject({ reason: WHY.reason, sources: [], as_of: NOW });
    const told = why('form_not_recognised');
    const other = screen.absent.not_deployed({ subject: 's', silent, why: told });
    expect(other.envelope(NOW).reason).toBe(told.reason);
  });

  test('that is not declared has no maker at run time either', () => {
    expect(Object.keys(screen.absent)).toEqual(['insufficient_evidence', 'not_deployed']);
  });
});

describe('the envelope as a schema', () => {
  const schema = envelopeSchema(screen);
  const envelope = answered().envelope(NOW);

  test('takes what the route makes', () => {
    expect(schema.safeParse(envelope).success).toBe(true);
    const absent = screen.absent.not_deployed({ subject: 's', silent: unread('list', WHY) });
    expect(schema.safeParse(absent.envelope(NOW)).success).toBe(true);
  });

  test.each<[string, object]>([
    ['an ok without a source', { ...envelope, sources: [] }],
    ['an ok with a reason', { ...envelope, reason: 'r' }],
    ['an ok without data', { ...envelope, data: null }],
    ['an undeclared absence', { ...envelope, state: 'not_supported', data: null, reason: 'r' }],
    ['an absence with data', { ...envelope, state: 'not_deployed', reason: 'r' }],
    ['an absence without a reason', { ...envelope, state: 'not_deployed', data: null }],
    ['a field that is not declared', { ...envelope, score: 1 }],
  ])('refuses %s', (_, value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});

describe('a plain route', () => {
  const status = plainRoute({
    ...facts,
    name: 'a_status',
    responses: {
      200: z.strictObject({ held: negative(z.int(), { restsOn: ['list'] }) }),
      503: z.strictObject({ error: z.string() }),
    },
  });

  test('replies with a declared status and the plain body', () => {
    const reply = status.reply(200, { held: claim(listRead(), (names) => names.length) });
    expect([reply.status, reply.body]).toEqual([200, { held: 1 }]);
    expect(status.reply(503, { error: 'down' }).status).toBe(503);
  });

  test('refuses a body that is not as declared, and a claim said by hand', () => {
    // @ts-expect-error the types refuse it; this is what is left where a cast has got past them
    expect(() => status.reply(200, { held: 0 })).toThrow('without the reading');
    // @ts-expect-error so is this
    expect(() => status.reply(503, { error: 1 })).toThrow();
  });
});

test('a declaration with an unknown kind of schema stops the start, not a request', () => {
  const data = z.strictObject({ names: z.array(z.string()).default([]) });
  const declare = (): void => {
    evidenceRoute({ ...facts, name: 'x', data, absences: [], tool: null });
  };
  expect(declare).toThrow('contract: x.names: no writer knows the schema kind "default"');
});

test('a refusal is a row of the table and takes its status from it', () => {
  const refusal = new Refusal('not_found', { error: 'no such route' });
  expect([refusal.code, refusal.status, refusal.headers]).toEqual(['not_found', 404, {}]);
});
