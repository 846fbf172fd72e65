// Does a reading stay what it was: read to its end, stopped early, or not read?
// Properties over every combination of the three, beside the cases that have a name.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  all,
  basis,
  both,
  decide,
  map,
  Part,
  type Partly,
  part,
  Read,
  read,
  rowsSeen,
  some,
  Unread,
  unread,
  weaken,
} from './reading.ts';
import { type Why, why } from './reasons.ts';
import type { Source } from './source.ts';

const PORT = 'list';
const CUT: Why = why('timed_out', { what: 'The list', limit: '1 s' });

function sourceOf(name: string): Source {
  return { name, url: 'https://example.org', as_of: 1, kind: 'table', simulated: false };
}

function silent(name: string): Why {
  return why('not_configured', { what: name });
}

type Outcome = { readonly kind: 'read' | 'part' | 'unread'; readonly value: number };
const outcome: fc.Arbitrary<Outcome> = fc.record({
  kind: fc.constantFrom('read', 'part', 'unread'),
  value: fc.integer(),
});

/** The n-th reading of a list; its source and its reason carry its number. */
function reading({ kind, value }: Outcome, n: number): Partly<number, typeof PORT> {
  const origin = { port: PORT, source: sourceOf(`source ${n}`) } as const;
  if (kind === 'unread') return unread(PORT, silent(`${n}`));
  return kind === 'read' ? read(value, origin) : part(value, origin, silent(`${n}`));
}

/** The contents of a reading, through `decide`, the only access to a part. */
function held<T, P extends string>(one: Partly<T, P>): T | null {
  const opened = decide(one, () => true);
  return opened instanceof Read ? opened.value : null;
}

function kindOf(one: Partly<unknown, never>): Outcome['kind'] {
  if (one instanceof Read) return 'read';
  return one instanceof Part ? 'part' : 'unread';
}

describe('a list of readings', () => {
  test('all: one unread makes all unread, else one part makes a part, else it is read', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        const joined = all(outcomes.map(reading));
        const kinds = outcomes.map((one) => one.kind);
        const expected = kinds.includes('unread')
          ? 'unread'
          : kinds.includes('part')
            ? 'part'
            : 'read';
        expect(kindOf(joined)).toBe(expected);
        if (expected !== 'unread') expect(held(joined)).toEqual(outcomes.map((one) => one.value));
      }),
    );
  });

  test('all: the first that was unread gives the reason', () => {
    const joined = all([
      reading({ kind: 'part', value: 1 }, 0),
      reading({ kind: 'unread', value: 2 }, 1),
      reading({ kind: 'unread', value: 3 }, 2),
    ]);
    expect(joined).toBeInstanceOf(Unread);
    if (joined instanceof Unread) expect(joined.why).toEqual(silent('1'));
  });

  test('some: it is read only where every one was read, and unread only where none was', () => {
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1 }), (outcomes) => {
        const joined = some(outcomes.map(reading));
        const had = outcomes.filter((one) => one.kind !== 'unread');
        const whole = outcomes.every((one) => one.kind === 'read');
        expect(kindOf(joined)).toBe(whole ? 'read' : had.length > 0 ? 'part' : 'unread');
        if (had.length > 0) expect(held(joined)).toEqual(had.map((one) => one.value));
      }),
    );
  });

  test('the sources of what was read are joined, each once; an unread one has none', () => {
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1 }), (outcomes) => {
        const joined = some(outcomes.map(reading));
        const names = basis(joined).sources.map((one) => one.name);
        const expected = outcomes.flatMap((one, n) =>
          one.kind === 'unread' ? [] : [`source ${n}`],
        );
        expect(names).toEqual(expected);
      }),
    );
  });

  test('an empty list rests on no port and has no source, so no claim can stand on it', () => {
    const nothing = all<number, typeof PORT>([]);
    expect(basis(nothing)).toEqual({ ports: new Set(), sources: [] });
  });
});

describe('readings by name', () => {
  test('both: it is as weak as the weakest, and rests on the ports of all', () => {
    fc.assert(
      fc.property(outcome, outcome, (left, right) => {
        const labels = right.kind === 'unread' ? unread('labels', CUT) : relabelled(right);
        const joined = both({ list: reading(left, 0), labels });
        const order = ['read', 'part', 'unread'] as const;
        const weakest = Math.max(order.indexOf(left.kind), order.indexOf(right.kind));
        expect(kindOf(joined)).toBe(order[weakest]);
        if (joined instanceof Unread) return;
        expect(held(joined)).toEqual({ list: left.value, labels: right.value });
        expect(basis(joined).ports).toEqual(new Set(['list', 'labels']));
      }),
    );
  });

  function relabelled({ kind, value }: Outcome): Partly<number, 'labels'> {
    const origin = { port: 'labels', source: sourceOf('labels') } as const;
    return kind === 'part' ? part(value, origin, CUT) : read(value, origin);
  }
});

describe('one reading', () => {
  test('map keeps what it is, its reason and what it rests on', () => {
    fc.assert(
      fc.property(outcome, (one) => {
        const before = reading(one, 0);
        const after = map(before, (value) => `${value}`);
        expect(kindOf(after)).toBe(one.kind);
        expect(basis(after)).toEqual(basis(before));
        if (!(before instanceof Read) && !(after instanceof Read))
          expect(after.why).toBe(before.why);
        if (one.kind !== 'unread') expect(held(after)).toBe(`${one.value}`);
      }),
    );
  });

  test('decided makes a part whole only where the test holds, and else unread', () => {
    fc.assert(
      fc.property(outcome, fc.boolean(), (one, holds) => {
        const before = reading(one, 0);
        const after = decide(before, () => holds);
        if (one.kind !== 'part') expect(after).toBe(before);
        else expect(kindOf(after)).toBe(holds ? 'read' : 'unread');
        if (after instanceof Unread) expect(after.why).toEqual(silent('0'));
        expect(basis(after).ports).toEqual(new Set([PORT]));
      }),
    );
  });

  test('what is only made up is no reason where anything else is one', () => {
    const origin = { port: PORT, source: sourceOf('made up') } as const;
    const madeUp = part(1, origin, why('simulated'));
    const cut = part(2, origin, CUT);
    for (const one of [all([madeUp, cut]), all([cut, madeUp]), some([madeUp, cut])]) {
      expect(one).toMatchObject({ why: CUT });
    }
    expect(both({ madeUp, cut })).toMatchObject({ why: CUT });
    expect(weaken(madeUp, CUT)).toMatchObject({ why: CUT });
    expect(held(weaken(madeUp, CUT))).toBe(1);
    expect(weaken(cut, why('simulated'))).toBe(cut);
    expect(all([madeUp, read(3, origin)])).toMatchObject({ why: { code: 'simulated' } });
  });

  test('weaken leaves nothing read, and keeps the reason of what was weak before', () => {
    fc.assert(
      fc.property(outcome, (one) => {
        const before = reading(one, 0);
        const after = weaken(before, CUT);
        if (before instanceof Read) {
          expect(after).toBeInstanceOf(Part);
          if (after instanceof Part) expect(after.why).toBe(CUT);
          expect(basis(after)).toEqual(basis(before));
        } else expect(after).toBe(before);
      }),
    );
  });

  test('seen never shows an empty list', () => {
    const origin = { port: PORT, source: sourceOf('list') } as const;
    expect(rowsSeen(read([], origin))).toBeNull();
    expect(rowsSeen(part([], origin, CUT))).toBeNull();
    expect(rowsSeen(unread(PORT, CUT))).toBeNull();
    expect(rowsSeen(part(['a'], origin, CUT))).toEqual(['a']);
    expect(rowsSeen(read(['a', 'b'], origin))).toEqual(['a', 'b']);
  });

  test('at run time a cast literal is no reading, and a borrowed prototype has no value', () => {
    const literal: unknown = { checked: true, value: [] };
    expect(literal instanceof Read).toBe(false);
    const borrowed: Read<unknown, 'list'> = Object.create(Read.prototype);
    expect(() => borrowed.value).toThrow(TypeError);
  });

  test('what is printed of a reading or a part does not show its value', () => {
    const origin = { port: PORT, source: sourceOf('list') } as const;
    expect(JSON.stringify(part(['secret'], origin, CUT))).not.toContain('secret');
    expect(JSON.stringify(read(['secret'], origin))).not.toContain('secret');
  });

  test('a whole of no readings rests on no port and no source: it carries no claim', () => {
    for (const whole of [all([]), some([]), both({})]) {
      expect(basis(whole)).toEqual({ ports: new Set(), sources: [] });
    }
  });
});
