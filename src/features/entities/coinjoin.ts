// Which protocol, if any, let several people make this Bitcoin transaction together?
// After Stockinger et al., "Pinpointing and Measuring Wasabi and Samourai CoinJoins", 2021, and,
// for equal outputs, Goldfeder et al., "When the cookie meets the blockchain", PETS 2018.
// Where it may be one it says so: a false yes loses a link, a false no makes a wrong one.

import { present, tally } from '../../evidence/measure.ts';
import type { BitcoinCoin, BitcoinTransaction } from '../../ports/entities/bitcoin-blocks.ts';
import type { JoinedIn, JointForm } from '../../ports/entities/entity-clusters.ts';

/** The protocol of a transaction that several wallets make. */
type CoinJoin = Exclude<JointForm, 'whirlpool_tx0'>;

const COIN = 100_000_000n;
/** Outputs of dust or of a colour that a payment protocol, not a mixer, repeats. */
const MARKER_VALUES: ReadonlySet<bigint> = new Set([546n, 2_730n]);
/** The pools of Samourai's Whirlpool and of those who run it after them, in satoshis. */
const POOLS: readonly bigint[] = [
  ...[50_000n, 100_000n, 1_000_000n, 2_500_000n],
  ...[5_000_000n, 25_000_000n, 50_000_000n],
];
const WHIRLPOOL = { coinsMin: 5, coinsMax: 10 };
/** What a premix coin brings for its miner's fee, and the coordinator's share of a pool's size. */
const TX0 = { feeMax: 100_000n, coordinatorParts: 20n };
const WASABI_1 = { equalMin: 10, base: COIN / 10n, away: COIN / 50n };
/** The address to which the rounds of Wasabi 1.0 paid their coordinator. */
const WASABI_1_COORDINATOR = 'bc1qs604c7jv6amk4cxqlnvuxv26hv3e48cds4m0ew';
/** zkSNACKs asked for fifty inputs; coordinators that followed begin rounds with far fewer. */
const WASABI_2 = { inputsMin: 10, standardMin: 10, valueMin: 5_000n, valueMax: 137_438_953_472n };
const REPEATING = { inputsMin: 50, repeatedMin: 20 };
const PARTICIPANTS_MIN = { joinmarket: 3, any: 2 };

/** The protocol of the joint transaction that this one is; `null` where it is none. */
export function coinJoin(transaction: BitcoinTransaction): CoinJoin | null {
  const { inputs, outputs, coinbase } = transaction;
  const owners = new Set(inputs.map(({ address }) => address));
  if (coinbase || owners.size < 2 || outputs.length < 2) return null;
  const cut = walletsOfTx0(transaction);
  if (cut !== null) return cut === 1 ? null : 'whirlpool';
  const counts = new Map<bigint, number>();
  for (const { value } of outputs) tally(counts, value);
  const [value, equal] = mostFrequent(counts);
  if (inputs.length === outputs.length && equal === outputs.length) {
    const { coinsMin, coinsMax } = WHIRLPOOL;
    if (equal >= coinsMin && equal <= coinsMax && POOLS.includes(value)) return 'whirlpool';
  }
  if (isWabiSabi(transaction, counts)) return 'wasabi_2_0';
  if (equal >= WASABI_1.equalMin && inputs.length >= equal) return ofWasabi1(transaction, value);
  if (MARKER_VALUES.has(value) || !isEqualOutputs(outputs.length, owners.size, equal)) return null;
  return equal >= PARTICIPANTS_MIN.joinmarket ? 'joinmarket' : 'equal_outputs';
}

/** Whether one wallet cuts its coins here for a Whirlpool pool, and no second one with it. */
export function isWhirlpoolTx0(transaction: BitcoinTransaction): boolean {
  return walletsOfTx0(transaction) === 1;
}

/** Every address in a joint transaction; nobody's where it is none. */
export function joinedIn(transaction: BitcoinTransaction): (JoinedIn & { address: string })[] {
  const joint = coinJoin(transaction);
  const form = joint === null && isWhirlpoolTx0(transaction) ? 'whirlpool_tx0' : joint;
  return form === null ? [] : everyoneIn(transaction, form);
}

function everyoneIn({ tx, block, at, inputs, outputs }: BitcoinTransaction, form: JointForm) {
  const spent = addressesIn(inputs);
  const paid = addressesIn(outputs);
  return [...new Set([...spent, ...paid])].map((address) => {
    return { address, tx, block, at, form, spent: spent.has(address), paid: paid.has(address) };
  });
}

function addressesIn(coins: readonly BitcoinCoin[]): ReadonlySet<string> {
  return new Set(present(coins.map(({ address }) => address)));
}

/**
 * How many wallets a Tx0 has: premix outputs of a pool's size and a share of the fees, one output
 * to the coordinator, an `OP_RETURN`, at most one rest. Two wallets that make one together leave
 * two equal rests. `null`: it is no Tx0.
 */
function walletsOfTx0({ outputs, coinbase }: BitcoinTransaction): 1 | 2 | null {
  const notes = outputs.filter(({ address, value }) => address === null && value === 0n);
  if (coinbase || notes.length !== 1) return null;
  for (const pool of POOLS) {
    const margin = pool < TX0.feeMax ? pool : TX0.feeMax;
    const premix = outputs.filter(({ value }) => value > pool && value <= pool + margin);
    const rest = outputs.filter((one) => !premix.includes(one) && !notes.includes(one));
    const fees = rest.filter(({ value }) => value <= pool / TX0.coordinatorParts);
    const [left, right, ...more] = rest.filter((one) => !fees.includes(one));
    const isEven = new Set(premix.map(({ value }) => value)).size === 1;
    if (!isEven || fees.length !== 1 || more.length > 0) continue;
    if (right === undefined) return 1;
    if (left?.value === right.value) return 2;
  }
  return null;
}

function ofWasabi1({ outputs }: BitcoinTransaction, value: bigint): CoinJoin {
  if (outputs.some(({ address }) => address === WASABI_1_COORDINATOR)) return 'wasabi_1_0';
  const { base, away } = WASABI_1;
  return value >= base - away && value <= base + away ? 'wasabi_1_1' : 'equal_outputs';
}

function isWabiSabi(
  { inputs, outputs }: BitcoinTransaction,
  counts: ReadonlyMap<bigint, number>,
): boolean {
  const repeated = [...counts.values()].filter((count) => count > 1).reduce((sum, n) => sum + n, 0);
  if (inputs.length >= REPEATING.inputsMin && repeated >= REPEATING.repeatedMin) return true;
  const standard = outputs.filter(({ value }) => STANDARD.has(value)).length;
  const { inputsMin, standardMin } = WASABI_2;
  return inputs.length >= inputsMin && standard >= standardMin && standard * 2 >= outputs.length;
}

/** The values into which WabiSabi rounds break coins: powers and their small multiples. */
const STANDARD: ReadonlySet<bigint> = new Set(
  (
    [
      [2n, 1n],
      [3n, 1n],
      [3n, 2n],
      [10n, 1n],
      [10n, 2n],
      [10n, 5n],
    ] as const
  ).flatMap(([root, times]) => powersOf(root, times)),
);

function powersOf(root: bigint, times: bigint): bigint[] {
  const values: bigint[] = [];
  const { valueMin, valueMax } = WASABI_2;
  for (let value = times; value <= valueMax; value *= root) {
    if (value >= valueMin) values.push(value);
  }
  return values;
}

// Each participant takes one equal output and at most one change, and brings at least one input.
function isEqualOutputs(outputs: number, owners: number, equal: number): boolean {
  const participants = Math.max(PARTICIPANTS_MIN.any, Math.ceil(outputs / 2));
  return outputs >= 3 && equal >= participants && owners >= equal;
}

function mostFrequent(
  counts: ReadonlyMap<bigint, number>,
): readonly [value: bigint, count: number] {
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
}
