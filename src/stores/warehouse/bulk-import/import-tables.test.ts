import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ImportedRange, RANGES_MAX, without, withRange } from './import-tables.ts';

const NUMBERS = fc.uniqueArray(fc.integer({ min: 0, max: 60 }));
const ascending = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);

/** Every block of some ranges, in their order. */
function blocksOf(ranges: readonly { from_block: number; to_block: number }[]): number[] {
  return ranges.flatMap(({ from_block, to_block }) =>
    Array.from({ length: to_block - from_block + 1 }, (_, at) => from_block + at),
  );
}

const one = (kind: ImportedRange['kind'], block: number): ImportedRange => {
  return { kind, from_block: block, to_block: block, to_time: block };
};

describe('ranges of blocks', () => {
  test('hold the blocks that were proved and no other, each kind for itself', () => {
    fc.assert(
      fc.property(NUMBERS, NUMBERS, (native, internal) => {
        const ranges: ImportedRange[] = [];
        for (let block = 0; block <= 60; block += 1) {
          if (native.includes(block)) withRange(ranges, one('native', block));
          if (internal.includes(block)) withRange(ranges, one('internal', block));
        }
        const of = (kind: string) => ranges.filter((range) => range.kind === kind);
        expect(blocksOf(of('native'))).toEqual(ascending(native));
        expect(blocksOf(of('internal'))).toEqual(ascending(internal));
        expect(ranges.every(({ to_block, to_time }) => to_block === to_time)).toBe(true);
      }),
    );
  });

  test('that were declared lose each block with a refused row, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), fc.nat(30), NUMBERS, (from, more, holes) => {
        const range = { from_block: from, to_block: from + more };
        const kept = blocksOf([range]).filter((block) => !holes.includes(block));
        expect(blocksOf(without(range, ascending(holes)))).toEqual(kept);
      }),
    );
  });

  test('are bounded in number: what is over the bound is not said to be held', () => {
    const ranges: ImportedRange[] = [];
    for (let at = 0; at < RANGES_MAX + 10; at += 1) withRange(ranges, one('native', at * 2));
    expect(ranges).toHaveLength(RANGES_MAX);
  });
});
