// Did several people make this Bitcoin transaction together?
// Equal outputs: Goldfeder et al., "When the cookie meets the blockchain", PETS 2018 (as BlockSci
// has it); rounds of services: Stockinger et al., "Pinpointing and Measuring Wasabi and Samourai
// CoinJoins in the Bitcoin Ecosystem", 2021, and the published rules of GraphSense.
// Where it may be one it says so: a false yes loses a link, a false no makes a wrong one.

import { tally } from '../../evidence/measure.ts';
import type { BitcoinTransaction } from '../../ports/entities/bitcoin-blocks.ts';

/** Which form of joint transaction it has. */
type CoinJoin = 'equal_outputs' | 'whirlpool' | 'wasabi' | 'wabisabi';

/** Outputs of dust or of a colour that a payment protocol, not a mixer, repeats. */
const MARKER_VALUES: ReadonlySet<bigint> = new Set([546n, 2_730n]);
const WHIRLPOOL = { coinsMin: 5, coinsMax: 10 };
const WASABI = { equalMin: 10 };
const WABISABI = { inputsMin: 50, repeatedMin: 20 };

/** The form of joint transaction that this one has; `null` where it has none. */
export function coinJoin(transaction: BitcoinTransaction): CoinJoin | null {
  const { inputs, outputs, coinbase } = transaction;
  const owners = new Set(inputs.map(({ address }) => address));
  if (coinbase || owners.size < 2 || outputs.length < 2) return null;
  const counts = new Map<bigint, number>();
  for (const { value } of outputs) tally(counts, value);
  const [value, equal] = mostFrequent(counts);
  const { coinsMin, coinsMax } = WHIRLPOOL;
  const even = inputs.length === outputs.length && equal === outputs.length;
  if (even && equal >= coinsMin && equal <= coinsMax) return 'whirlpool';
  if (equal >= WASABI.equalMin && inputs.length >= equal) return 'wasabi';
  const repeated = [...counts.values()].filter((count) => count > 1).reduce((sum, n) => sum + n, 0);
  if (inputs.length >= WABISABI.inputsMin && repeated >= WABISABI.repeatedMin) return 'wabisabi';
  return isEqualOutputs(outputs.length, owners.size, equal) && !MARKER_VALUES.has(value)
    ? 'equal_outputs'
    : null;
}

// Each participant takes one equal output and at most one change, and brings at least one input.
function isEqualOutputs(outputs: number, owners: number, equal: number): boolean {
  const participants = Math.ceil(outputs / 2);
  return outputs >= 3 && equal >= Math.max(2, participants) && owners >= equal;
}

function mostFrequent(
  counts: ReadonlyMap<bigint, number>,
): readonly [value: bigint, count: number] {
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
}
