// Are sources named once, dated by what was observed, and labelled where they are made up?

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distinct, oldestObservation, type Source, wireSource } from './source.ts';

const source: fc.Arbitrary<Source> = fc.record({
  name: fc.constantFrom('a', 'b'),
  url: fc.constantFrom('https://a.example', 'https://b.example'),
  as_of: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom('observation', 'table'),
  simulated: fc.boolean(),
});

describe('sources', () => {
  test('a simulated one says so in its name, another does not', () => {
    const real: Source = { name: 'A', url: 'u', as_of: 1, kind: 'table', simulated: false };
    expect(wireSource(real)).toEqual({ name: 'A', url: 'u', as_of: 1 });
    expect(wireSource({ ...real, simulated: true }).name).toBe('A (simulated)');
  });

  test('distinct names each wire form once and loses none', () => {
    fc.assert(
      fc.property(fc.array(source), (sources) => {
        const wire = (list: readonly Source[]) =>
          list.map((one) => JSON.stringify(wireSource(one)));
        const kept = wire(distinct(sources));
        expect(new Set(kept).size).toBe(kept.length);
        expect(new Set(kept)).toEqual(new Set(wire(sources)));
      }),
    );
  });

  test('an answer is as old as its oldest observation; tables do not age it', () => {
    fc.assert(
      fc.property(fc.array(source), (sources) => {
        const dates = sources.filter((one) => one.kind === 'observation').map((one) => one.as_of);
        expect(oldestObservation(sources)).toBe(dates.length === 0 ? null : Math.min(...dates));
      }),
    );
  });
});
