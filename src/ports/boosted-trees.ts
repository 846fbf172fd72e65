// The trees of a model, as its artefact holds them.

import { z } from 'zod';

const TREES_MAX = 5_000;
const NODES_MAX = 1_024;
const count = z.int().nonnegative();

/**
 * A node of a tree. `rows` are the training rows that came to it. A split sends a value of
 * `at_most` or less to `left`, another to `right`, and a missing one as `missing` says; `feature`
 * is its place in the model's `features`.
 */
const node = z.union([
  z.strictObject({ leaf: z.number(), rows: count }),
  z.strictObject({
    feature: count,
    at_most: z.number(),
    missing: z.enum(['left', 'right']),
    left: count,
    right: count,
    rows: count,
    gain: z.number().nonnegative(),
  }),
]);
export type ModelNode = Readonly<z.output<typeof node>>;

/** A tree: its root first, each child behind its parent. */
const tree = z.array(node).min(1).max(NODES_MAX).readonly();
export type ModelTree = z.output<typeof tree>;

export const modelTrees = z.array(tree).max(TREES_MAX).readonly();
