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
    ?.askedBy(given).sent;
  expect(sent?.params).toEqual({ address: '0xabc' });
  expect(Object.keys(Object(sent?.query))).toEqual(['constructor']);
});

describe('a route that stands in for a tool where an argument has a value', () => {
  const main = evidenceRoute({
    ...spec,
    path: '/api/v1/probe/{chain}/{address}',
    params: z.strictObject({ chain: z.string(), address: z.string() }),
  });
  const standIn = evidenceRoute({
    ...spec,
    name: 'moon_probe',
    path: '/api/v1/moon/{address}',
    tool: {
      name: 'probe',
      description: 'Of the moon.',
      when: { argument: 'chain', is: 'moon', means: 'Earth or `moon`.' },
    },
  });

  test('is asked then, without that argument, whichever is declared first', () => {
    for (const routes of [
      [main, standIn],
      [standIn, main],
    ]) {
      const tool = toolsOf(routes).get('probe');
      expect(tool?.askedBy({ chain: 'moon', address: 'a' })).toMatchObject({
        route: { name: 'moon_probe' },
        sent: { params: { address: 'a' }, query: {} },
      });
      expect(tool?.askedBy({ chain: 'earth', address: 'a' })).toMatchObject({
        route: { name: 'probe' },
        sent: { params: { chain: 'earth', address: 'a' } },
      });
      expect(tool?.listed.description).toBe('Probes an address. Of the moon.');
      expect(tool?.listed.outputSchema).toMatchObject({ anyOf: { length: 3 } });
      const { properties } = Object(tool?.listed.inputSchema);
      expect(properties.chain.description).toBe('Earth or `moon`.');
    }
  });

  test('needs a tool to stand in for', () => {
    expect(() => toolsOf([standIn])).toThrow('probe: no route of its own is this tool');
  });
});
