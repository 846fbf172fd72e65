import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { ModelTree } from '../../ports/boosted-trees.ts';
import {
  type Boosted,
  type BoostingLimits,
  boost,
  type Examples,
  logisticObjective,
} from './boost.ts';
import { binValues, grownTree } from './grow.ts';
import { leafOf, marginOf } from './trees.ts';

vi.setConfig({ testTimeout: 60_000 });

const LIMITS: BoostingLimits = {
  treesMax: 12,
  depthMax: 3,
  leavesMax: null,
  lambda: 1,
  hessianMin: 0.5,
  rowsMin: 0,
  shrinkage: 0.3,
  rowShare: 1,
  binsMax: 32,
  patience: 5,
  seed: 1,
};
const FREE = [0, 0] as const;

const value = fc.option(fc.integer({ min: 0, max: 9 }), { nil: Number.NaN });
const anyRows = fc.array(fc.tuple(value, value, fc.boolean()), { minLength: 8, maxLength: 60 });
type Rows = readonly (readonly [number, number, boolean])[];

function examplesOf(rows: Rows): Examples {
  return {
    columns: [0, 1].map((at) => Float64Array.from(rows, (row) => Number(row[at]))),
    objective: logisticObjective(Uint8Array.from(rows, ([, , died]) => Number(died))),
  };
}

function lossOf({ base, trees }: Boosted, rows: Rows): number {
  const losses = rows.map(([a, b, died]) => {
    const margin = marginOf(base, trees, [a, b]);
    return Math.log1p(Math.exp(died ? -margin : margin));
  });
  return losses.reduce((sum, one) => sum + one, 0) / rows.length;
}

function gainsOf(tree: ModelTree): number[] {
  return tree.flatMap((node) => ('feature' in node ? [node.gain] : []));
}

describe('boosted trees', () => {
  test('only split where it gains, and each tree lowers the loss over what it learnt from', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { base, trees } = boost(examplesOf(rows), null, FREE, LIMITS);
        let before = lossOf({ base, trees: [] }, rows);
        for (const [at, tree] of trees.entries()) {
          expect(gainsOf(tree).every((gain) => gain > 0)).toBe(true);
          const after = lossOf({ base, trees: trees.slice(0, at + 1) }, rows);
          expect(after).toBeLessThanOrEqual(before + 1e-12);
          before = after;
        }
      }),
    );
  });

  test('split first where no other split of any feature gains more', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { columns } = examplesOf(rows);
        const died = Uint8Array.from(rows, (row) => Number(row[2]));
        const { gradients, hessians, tree } = firstTree(columns, died);
        const [root] = tree;
        const best = bestByHand(columns, gradients, hessians);
        if (root === undefined || !('feature' in root)) expect(best).toBeLessThan(1e-8);
        else expect(root.gain).toBeCloseTo(best, 9);
      }),
    );
  });

  test('are the same, to the last bit, for rows in any order', () => {
    fc.assert(
      fc.property(anyRows, fc.nat(), (rows, by) => {
        const turned = rows.map((_, at) => rows[(at + by) % rows.length]) as Rows;
        const here = boost(examplesOf(rows), null, FREE, LIMITS);
        expect(boost(examplesOf(turned), null, FREE, LIMITS)).toEqual(here);
      }),
    );
  });

  test('of rows of one fate alone have no split', () => {
    fc.assert(
      fc.property(anyRows, fc.boolean(), (rows, died) => {
        const alike = rows.map(([a, b]) => [a, b, died] as const);
        const { base, trees } = boost(examplesOf(alike), null, FREE, LIMITS);
        expect(trees.flatMap(gainsOf)).toEqual([]);
        expect(Math.sign(base)).toBe(died ? 1 : -1);
      }),
    );
  });

  test('rise with a feature that they may only rise with, whatever the rows say', () => {
    fc.assert(
      fc.property(anyRows, value, (rows, other) => {
        const { base, trees } = boost(examplesOf(rows), null, [1, 0], LIMITS);
        const margins = Array.from({ length: 12 }, (_, at) => marginOf(base, trees, [at, other]));
        for (const [at, margin] of margins.entries()) {
          expect(margin).toBeGreaterThanOrEqual((margins[at - 1] ?? -Infinity) - 1e-12);
        }
      }),
    );
  });

  test('have no leaf of fewer rows than a leaf may have', () => {
    const pairs = fc.tuple(anyRows, fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(pairs, ([rows, rowsMin]) => {
        const limits = { ...LIMITS, hessianMin: 0, rowsMin };
        const { trees } = boost(examplesOf(rows), null, FREE, limits);
        for (const tree of trees) {
          const found = rows.map(([a, b]) => leafOf(tree, [a, b]));
          const counts = found.map((leaf) => found.filter((one) => one === leaf).length);
          if (tree.length > 1) expect(Math.min(...counts)).toBeGreaterThanOrEqual(rowsMin);
        }
      }),
    );
  });

  test('learn what it means that a value is missing', () => {
    const rows: Rows = Array.from({ length: 80 }, (_, at) => {
      const missing = at % 4 === 0;
      // Of the second feature nothing tells but whether it was measured.
      return [at % 7, missing ? Number.NaN : 1, missing] as const;
    });
    const { base, trees } = boost(examplesOf(rows), null, FREE, LIMITS);
    expect(marginOf(base, trees, [0, Number.NaN])).toBeGreaterThan(1);
    for (const measured of [0, 1, 2]) expect(marginOf(base, trees, [0, measured])).toBeLessThan(-1);
  });

  test('end where a later part is told no better', () => {
    const told: Rows = Array.from({ length: 60 }, (_, at) => [at % 6, 1, at % 6 > 2] as const);
    const turned: Rows = told.map(([a, b, died]) => [a, b, !died] as const);
    const limits = { ...LIMITS, treesMax: 60 };
    const same = boost(examplesOf(told), examplesOf(told), FREE, limits);
    const against = boost(examplesOf(told), examplesOf(turned), FREE, limits);
    expect(same.trees.length).toBeGreaterThan(10);
    expect(against.trees).toEqual([]);
  });
});

function firstTree(columns: readonly Float64Array[], died: Uint8Array) {
  const share = died.reduce((sum, one) => sum + one, 0) / died.length;
  const gradients = Float64Array.from(died, (one) => share - one);
  const hessians = new Float64Array(died.length).fill(share * (1 - share));
  const features = columns.map((column) => {
    const { cuts, bins } = binValues(column, LIMITS.binsMax);
    return { cuts, bins, monotone: 0 as const };
  });
  const rows = Uint32Array.from(died, (_, at) => at);
  const limits = { ...LIMITS, depthMax: 1 };
  return {
    gradients,
    hessians,
    tree: grownTree({ features, gradients, hessians, limits }, rows),
  };
}

/** The best gain of one split, by trying each value of a feature, missing left or right. */
function bestByHand(
  columns: readonly Float64Array[],
  gradients: Float64Array,
  hessians: Float64Array,
): number {
  const score = (rows: readonly number[]) => {
    const g = rows.reduce((sum, row) => sum + Number(gradients[row]), 0);
    const h = rows.reduce((sum, row) => sum + Number(hessians[row]), 0);
    return h < LIMITS.hessianMin ? Number.NaN : (g * g) / (h + LIMITS.lambda);
  };
  const all = [...gradients.keys()];
  const whole = all.reduce((sum, row) => sum + Number(gradients[row]), 0);
  const weight = all.reduce((sum, row) => sum + Number(hessians[row]), 0);
  let best = 0;
  for (const column of columns) {
    for (const cut of new Set(column)) {
      for (const missingLeft of [true, false]) {
        const left = all.filter((row) => {
          const one = Number(column[row]);
          return Number.isNaN(one) ? missingLeft : one <= cut;
        });
        const right = all.filter((row) => !left.includes(row));
        if (right.length === 0 || Number.isNaN(cut)) continue;
        const gain = (score(left) + score(right) - (whole * whole) / (weight + LIMITS.lambda)) / 2;
        if (gain > best) best = gain;
      }
    }
  }
  return best;
}

describe('bins', () => {
  test('keep the order of values, and missing ones apart', () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1 }),
        fc.integer({ min: 2, max: 6 }),
        (list, max) => {
          const values = Float64Array.from(list);
          const { cuts, bins } = binValues(values, max);
          expect(cuts.length).toBeLessThan(max);
          for (const [at, one] of values.entries()) {
            const bin = Number(bins[at]);
            if (Number.isNaN(one)) expect(bin).toBe(cuts.length + 1);
            else expect(bin).toBe(cuts.filter((cut) => cut < one).length);
          }
        },
      ),
    );
  });
});

test('a leaf is found by the way of each value', () => {
  const tree: ModelTree = [
    { feature: 0, at_most: 2, missing: 'right', left: 1, right: 2, rows: 2, gain: 1 },
    { leaf: -1, rows: 1 },
    { leaf: 1, rows: 1 },
  ];
  expect([2, 2.1, Number.NaN].map((one) => leafOf(tree, [one]))).toEqual([-1, 1, 1]);
});

describe('trees that grow by their gain', () => {
  const BY_GAIN = { ...LIMITS, leavesMax: 4, depthMax: 8 };

  test('have so many leaves at most, and lower the loss with each tree', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { base, trees } = boost(examplesOf(rows), null, FREE, BY_GAIN);
        let before = lossOf({ base, trees: [] }, rows);
        for (const [at, tree] of trees.entries()) {
          expect(tree.filter((node) => 'leaf' in node).length).toBeLessThanOrEqual(4);
          expect(childrenOf(tree)).toEqual(tree.map((_, node) => node).slice(1));
          const after = lossOf({ base, trees: trees.slice(0, at + 1) }, rows);
          expect(after).toBeLessThanOrEqual(before + 1e-12);
          before = after;
        }
      }),
    );
  });

  test('are the trees by levels where a tree may have all of the leaves of its depth', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const levels = boost(examplesOf(rows), null, FREE, LIMITS);
        const free = { ...LIMITS, leavesMax: 2 ** LIMITS.depthMax };
        const byGain = boost(examplesOf(rows), null, FREE, free);
        for (const [a, b] of rows) {
          const [one, other] = [levels, byGain].map(({ base, trees }) =>
            marginOf(base, trees, [a, b]),
          );
          expect(one).toBe(other);
        }
      }),
    );
  });

  test('split where it gains most, and not level by level', () => {
    // The left half is told apart by much, four times; the right one by little.
    const rows: Rows = Array.from({ length: 160 }, (_, at) => {
      const died = at < 80 ? Math.floor(at / 20) % 2 === 0 : at % 4 === 0;
      return [at, 0, died] as const;
    });
    const { trees } = boost(examplesOf(rows), null, FREE, { ...BY_GAIN, treesMax: 1 });
    const depths = depthsOf(trees[0] as ModelTree);
    expect(Math.max(...depths) - Math.min(...depths)).toBeGreaterThan(1);
  });
});

function childrenOf(tree: ModelTree): number[] {
  return tree
    .flatMap((node) => ('feature' in node ? [node.left, node.right] : []))
    .sort((a, b) => a - b);
}

/** How deep each leaf lies. */
function depthsOf(tree: ModelTree, at = 0, depth = 0): number[] {
  const node = tree[at];
  if (node === undefined) throw new Error('no node');
  if (!('feature' in node)) return [depth];
  return [node.left, node.right].flatMap((child) => depthsOf(tree, child, depth + 1));
}
