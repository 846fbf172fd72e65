import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { evidenceRoute } from '../contract/route.ts';
import { toolsOf } from './tools.ts';

const spec = {
  name: 'probe',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/probe/{address}',
  summary: 'A route of the tests.',
  access: 'analyst',
  params: z.strictObject({ address: z.string() }),
  data: z.strictObject({ caveat: z.string() }),
  absences: ['not_deployed'],
  tool: { name: 'probe', description: 'Probes an address.' },
} as const;

test('the tools are those routes that name one', () => {
  const none = evidenceRoute({ ...spec, name: 'other', tool: null });
  expect([...toolsOf([none, evidenceRoute(spec)]).keys()]).toEqual(['probe']);
});

describe('a declaration that cannot be a tool is refused by name', () => {
  test('two routes of one name', () => {
    expect(() => toolsOf([evidenceRoute(spec), evidenceRoute(spec)])).toThrow('probe: two routes');
  });

  test('two arguments of one name', () => {
    const twice = evidenceRoute({ ...spec, query: z.strictObject({ address: z.string() }) });
    expect(() => toolsOf([twice])).toThrow('probe: two arguments are called address');
  });

  test('an answer without a caveat', () => {
    const bare = evidenceRoute({ ...spec, data: z.strictObject({ fine: z.string() }) });
    expect(() => toolsOf([bare])).toThrow('probe: a tool says its caveat');
  });
});

test('an argument by a name of every object is refused by that name, like any other', () => {
  const given = z.record(z.string(), z.unknown()).parse(
    Object.fromEntries([
      ['address', '0xabc'],
      ['constructor', 2],
    ]),
  );
  const sent = toolsOf([evidenceRoute(spec)])
    .get('probe')
    ?.sentOf(given);
  expect(sent?.params).toEqual({ address: '0xabc' });
  expect(Object.keys(Object(sent?.query))).toEqual(['constructor']);
});
