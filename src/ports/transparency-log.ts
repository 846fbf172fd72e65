// Statements that stay said: each is a leaf of one tree, and whoever keeps a root can ask for proof
// that what was in it still stands where it stood.

/**
 * The kinds of statement, by the byte that begins their leaf. The hash of a signal is its call
 * hash, and of a status the Keccak of its canonical object.
 */
export const LEAF_KINDS = {
  signal: 1,
  signal_status: 2,
  call: 3,
  provider_call: 4,
  outcome_rule: 5,
  version: 6,
} as const;
export type LeafKind = keyof typeof LEAF_KINDS;

/** A statement that becomes a leaf. */
export type NewLeaf = {
  readonly kind: LeafKind;
  /** `0x` and 64 hex digits in lower case. */
  readonly hash: string;
  /** What the statement is called where it is shown. */
  readonly id: string;
  /** When it became true, in Unix seconds. */
  readonly at: number;
};
