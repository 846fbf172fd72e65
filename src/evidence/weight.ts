// An inference is told with its weight, and a weight with what it rests on.

/**
 * The basis of a weight. `assumed`: no measurement shows how often an inference of its form is
 * right on a chain.
 */
export const WEIGHT_BASES = ['measured', 'assumed'] as const;
export type WeightBasis = (typeof WEIGHT_BASES)[number];

/** How likely an inference is right, 1 at most. */
export type Weight = { readonly weight: number; readonly basis: WeightBasis };

const DIGITS = 2;

/** `weight 0.50, assumed`. */
export function weightText(by: Weight): string {
  return `weight ${shareText(by)}`;
}

/** `0.50, assumed`. */
export function shareText({ weight, basis }: Weight): string {
  return `${weight.toFixed(DIGITS)}, ${basis}`;
}
