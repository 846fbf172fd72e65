import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelNode, ModelTree } from '../../ports/boosted-trees.ts';
import { type Features, RUG_FEATURES } from '../../ports/rug-model.ts';
import { lotteryOf } from '../../testing/lottery.ts';
import { SMALL_MODEL } from '../../testing/rug-models.ts';
import { logOddsOf, predict, rowOf, sigmoid } from './predict.ts';

const NOTHING = Object.fromEntries(RUG_FEATURES.map(({ name }) => [name, null])) as {
  [name in keyof Features]: number | null;
};

const WEEK = { horizon_h: 168 };

function featuresWith(values: Partial<Features>): Features {
  return { ...NOTHING, ...values };
}

describe('a prediction', () => {
  test('says its score, and the strongest evidence for it in words and numbers', () => {
    const features = featuresWith({
      deployer_death_rate_before: 0.75,
      deployer_settled_before: 4,
      deployer_died_before: 3,
      liquidity_usd: 900,
    });
    const { score, contributions, strongest } = predict(SMALL_MODEL, features, WEEK);
    expect(score).toBeCloseTo(sigmoid(0.9 * (0.2 + 1.2 + 0.3) + 0.1), 12);
    expect(contributions.map(({ feature }) => feature)).toEqual([
      'deployer_death_rate_before',
      'liquidity_usd',
    ]);
    expect(strongest).toEqual({
      feature: 'deployer_death_rate_before',
      value: 0.75,
      contribution: expect.closeTo(0.666, 9),
      statement:
        '3 of 4 earlier launches by its deployer whose fate was known had died (75.0%), which ' +
        'raises the log-odds of its death within 7 days of launch by 0.67 and the score by 11.2 points.',
    });
  });

  test('takes no feature that was not measured for evidence', () => {
    const byLiquidity = { ...SMALL_MODEL, trees: SMALL_MODEL.trees.slice(1) };
    const { contributions, strongest } = predict(byLiquidity, featuresWith({}), WEEK);
    expect(contributions.some(({ contribution }) => contribution > 0)).toBe(true);
    expect(contributions.map(({ value }) => value)).toEqual([null, null]);
    expect(strongest).toBeNull();
    expect(contributions[0]?.statement).toMatch(/^Not measured: /);
  });

  test('tells a missing value from zero', () => {
    const score = (liquidity_usd: number | null) =>
      predict(SMALL_MODEL, featuresWith({ liquidity_usd }), WEEK).score;
    expect(score(null)).not.toBe(score(0));
  });
});

/** A tree of random splits over three features, its counts of rows as they must be. */
const anyTree: fc.Arbitrary<ModelTree> = fc.integer({ min: 0, max: 2 ** 30 }).map((seed) => {
  const nodes: ModelNode[] = [];
  const { below } = lotteryOf(seed);
  const grow = (rows: number, depth: number): number => {
    const at = nodes.length;
    nodes.push({ leaf: below(2_001) / 1_000 - 1, rows });
    if (depth === 4 || rows < 2 || below(5) === 0) return at;
    const leftRows = 1 + below(rows - 1);
    nodes[at] = {
      feature: below(3),
      at_most: below(5),
      missing: below(2) === 0 ? 'left' : 'right',
      left: grow(leftRows, depth + 1),
      right: grow(rows - leftRows, depth + 1),
      rows,
      gain: 1,
    };
    return at;
  };
  grow(64, 0);
  return nodes;
});

const FEATURES = ['deployer_launches_before', 'deployer_died_before', 'liquidity_usd'] as const;
const value = fc.option(fc.integer({ min: 0, max: 6 }), { nil: null });
const anyModel = fc
  .array(anyTree, { minLength: 1, maxLength: 4 })
  .map((trees) => ({ ...SMALL_MODEL, features: [...FEATURES], trees }));

/**
 * The expected output of trees if only some features are known: the others by the rows on either
 * side.
 */
function expectedOf(tree: ModelTree, row: readonly number[], told: ReadonlySet<number>): number {
  const visit = (at: number): number => {
    const node = tree[at];
    if (node === undefined) throw new Error('no node');
    if (!('feature' in node)) return node.leaf;
    const value = Number(row[node.feature]);
    if (told.has(node.feature)) {
      const left = Number.isNaN(value) ? node.missing === 'left' : value <= node.at_most;
      return visit(left ? node.left : node.right);
    }
    const leftRows = Number(tree[node.left]?.rows);
    const rightRows = Number(tree[node.right]?.rows);
    return (leftRows * visit(node.left) + rightRows * visit(node.right)) / node.rows;
  };
  return visit(0);
}

describe('contributions', () => {
  test('add up to the log-odds of the score, with or without missing values', () => {
    fc.assert(
      fc.property(anyModel, fc.tuple(value, value, value), (model, [a, b, c]) => {
        const features = featuresWith({
          deployer_launches_before: a,
          deployer_died_before: b,
          liquidity_usd: c,
        });
        const { base, contributions, score } = predict(model, features, WEEK);
        const sum = contributions.reduce((all, one) => all + one.contribution, base);
        expect(sum).toBeCloseTo(logOddsOf(model, rowOf(model.features, features)), 9);
        expect(score).toBeCloseTo(sigmoid(sum), 9);
      }),
    );
  });

  test('are the Shapley values: the mean over all orders in which features are told', () => {
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    fc.assert(
      fc.property(anyModel, fc.tuple(value, value, value), (model, values) => {
        const [a, b, c] = values;
        const features = featuresWith({
          deployer_launches_before: a,
          deployer_died_before: b,
          liquidity_usd: c,
        });
        const row = rowOf(model.features, features);
        const means = [0, 0, 0];
        for (const order of orders) {
          const told = new Set<number>();
          for (const feature of order) {
            const before = model.trees.reduce((sum, one) => sum + expectedOf(one, row, told), 0);
            told.add(feature);
            const after = model.trees.reduce((sum, one) => sum + expectedOf(one, row, told), 0);
            means[feature] = Number(means[feature]) + (after - before) / orders.length;
          }
        }
        const { contributions } = predict(model, features, WEEK);
        for (const [at, name] of FEATURES.entries()) {
          const found = contributions.find(({ feature }) => feature === name);
          expect(found?.contribution).toBeCloseTo(0.9 * Number(means[at]), 9);
        }
      }),
    );
  });
});
