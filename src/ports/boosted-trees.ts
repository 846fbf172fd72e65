// What artefacts of every kind of model hold: trees, figures with their intervals, and a version
// that is made of their own bytes.

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

/** A figure with its interval at 95%; the ends are `null` where none can be told. */
export const figure = z.strictObject({
  value: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type Figure = Readonly<z.output<typeof figure>>;

/** What of every model its file is held to. */
export type StoredModel = {
  readonly features: readonly string[];
  readonly trees: readonly ModelTree[];
  readonly card: { readonly data: { readonly to: number; readonly simulated: boolean } };
};

/** The kind of a model: the format of its file, and how its versions are named. */
export type ModelFormat<M extends StoredModel> = {
  readonly schema: string;
  readonly version: (sha256: string) => string;
  readonly shape: z.ZodType<M>;
};

/** An artefact: a model with its version, and its file's text to the byte. */
export type Artefact<M extends StoredModel> = {
  readonly version: string;
  readonly model: M;
  readonly text: string;
};
