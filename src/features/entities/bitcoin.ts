// (heuristic e) Inputs: Androulaki et al., "Evaluating User Privacy in Bitcoin", and Meiklejohn et
// al., "A Fistful of Bitcoins" (heuristic 1), both 2013. Change: heuristic 2 of the latter, with
// the signs of Kappos et al., "How to Peel a Million", 2022. It refuses what several people may
// have signed together, and change that it cannot be sure of.

import { listFrom, present, tally } from '../../evidence/measure.ts';
import { type Partly, Read, Unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type BitcoinCoin,
  type BitcoinTransaction,
  type BlockRange,
  type ClusterStore,
  type HeldTiesPort,
  type JoinedIn,
  type JointForm,
  type Objection,
  TIE_FORMS,
  type Tie,
} from '../../ports/entities.ts';
import { INPUT_ADDRESSES_MAX } from './evidence.ts';

/** From 2023 on coins are traded by half-signed transactions: nothing is told without witnesses. */
const WITNESS_NEEDED_FROM = Date.UTC(2023, 0, 1) / 1_000;
/** An inscribed coin carries this many satoshis at most as its postage. */
const POSTAGE_MAX = 10_000n;
/** People pay amounts that end in zeros; the rest of their coins does not. */
const ROUND = { paid: 100_000n, rest: 10_000n };

/** Whether the signatures of a transaction that needs them were told. */
export function isSignatureTold({ inputs, at }: BitcoinTransaction): boolean {
  return at < WITNESS_NEEDED_FROM || inputs.every(({ signed }) => signed !== null);
}

/** The ties of one transaction's inputs; none where several people may have made it. */
export function inputTies(transaction: BitcoinTransaction): Tie[] {
  const owners = ownersOf(transaction);
  if (owners.length < 2 || !isOneOwners(transaction, owners)) return [];
  const shared = isPayJoinForm(transaction) ? 'payjoin_form' : 'spent_together';
  const form = isWhirlpoolTx0(transaction) ? 'tx0' : shared;
  return owners.map((address) => {
    return { ...tieOf(transaction, address, null), heuristic: 'multi_input', form };
  });
}

/**
 * The ties of the inputs with their one-time change. `isNew`: the address was paid in no
 * transaction before this one, which only somebody who holds every block before it can say.
 */
export function changeTies(
  transaction: BitcoinTransaction,
  isNew: (address: string) => boolean,
): readonly Tie[] {
  const owners = ownersOf(transaction);
  if (owners.length === 0 || !isOneOwners(transaction, owners)) return [];
  const change = oneTimeChange(transaction, owners, isNew);
  return listFrom(change, ({ address: own, form }) =>
    [...owners, own].map((address): Tie => {
      return { ...tieOf(transaction, address, own), heuristic: 'change', form };
    }),
  );
}

/** The reasons for which the inputs of a transaction are not taken, or hardly taken, for one's. */
export function inputObjections(transaction: BitcoinTransaction): Objection[] {
  const owners = ownersOf(transaction);
  if (owners.length < 2 || owners.length > INPUT_ADDRESSES_MAX) return [];
  const { tx, block, at } = transaction;
  const objections = (kind: Objection['kind'], detail: string | null): Objection[] =>
    owners.map((address) => {
      return { chain: 'bitcoin', kind, key: tx, address, tx, block, at, detail };
    });
  const protocol = coinJoin(transaction);
  if (protocol !== null) return objections('coinjoin', protocol);
  if (isSignedInPart(transaction)) return objections('partial_signature', null);
  if (isTrade(transaction)) return objections('marketplace_trade', null);
  return isPayJoinForm(transaction) ? objections('payjoin_form', null) : [];
}

function isOneOwners(transaction: BitcoinTransaction, owners: readonly string[]): boolean {
  if (owners.length > INPUT_ADDRESSES_MAX || coinJoin(transaction) !== null) return false;
  if (!isSignatureTold(transaction) || isSignedInPart(transaction)) return false;
  return !isTrade(transaction);
}

function isSignedInPart({ inputs }: BitcoinTransaction): boolean {
  return inputs.length > 1 && inputs.some(({ signed }) => signed === 'in_part');
}

/**
 * Whether a coin of postage goes on to somebody else while the output at its own place pays its
 * owner: so a marketplace sets a seller's half-signed offer into a buyer's transaction.
 */
function isTrade({ inputs, outputs }: BitcoinTransaction): boolean {
  return inputs.some(({ address, value }, i) => {
    const paid = outputs[i];
    const isOffer = value <= POSTAGE_MAX && paid !== undefined && paid.value > value;
    const goesOn = outputs.some((one) => one.value === value && one.address !== address);
    return isOffer && goesOn && inputs.some((one) => one.address !== address);
  });
}

/**
 * Whether it has the form in which a payee may have added a coin of their own: two outputs, and an
 * input that neither of them needed (Ghesmati et al., "Unnecessary Input Heuristics", 2022).
 */
function isPayJoinForm({ inputs, outputs }: BitcoinTransaction): boolean {
  if (inputs.length < 2 || outputs.length !== 2) return false;
  const values = inputs.map(({ value }) => value);
  const spare = values.reduce((sum, value) => sum + value, 0n) - values.reduce(lesser);
  return outputs.every(({ value }) => value < spare);
}

type Change = { readonly address: string; readonly form: (typeof TIE_FORMS)['change'][number] };

/**
 * Of two outputs the one that nobody was paid at before, where the other is known and neither is
 * an input's own. Each further sign counts; one that points at the other output takes it back. More
 * outputs than two are a batch, whose one new customer looks the same.
 */
function oneTimeChange(
  { inputs, outputs }: BitcoinTransaction,
  owners: readonly string[],
  isNew: (address: string) => boolean,
): Change | null {
  const paid = outputs.filter(({ value }) => value > 0n);
  if (paid.length !== 2 || outputs.length > paid.length) return null;
  if (paid.some(({ address }) => address === null || owners.includes(address))) return null;
  const fresh = paid.filter(({ address }) => address !== null && isNew(address));
  const [change] = fresh;
  const payment = paid.find((one) => one !== change);
  if (fresh.length !== 1 || change === undefined || payment === undefined) return null;
  if (change.address === null) return null;
  const signs = [scriptSign, roundSign, sizeSign].map((sign) => sign(inputs, change, payment));
  if (signs.includes('against')) return null;
  const more = signs.filter((sign) => sign === 'for').length;
  return { address: change.address, form: TIE_FORMS.change[more] ?? 'three_signs' };
}

type Sign = 'for' | 'against' | null;
type SignOf = (inputs: readonly BitcoinCoin[], change: BitcoinCoin, payment: BitcoinCoin) => Sign;

// A wallet pays its change to the kind of script that it spends from.
const scriptSign: SignOf = (inputs, change, payment) => {
  const spent = new Set(inputs.map(({ address }) => scriptOf(address)));
  const [own] = spent;
  if (spent.size !== 1 || scriptOf(change.address) === scriptOf(payment.address)) return null;
  if (scriptOf(change.address) === own) return 'for';
  return scriptOf(payment.address) === own ? 'against' : null;
};

const roundSign: SignOf = (_inputs, change, payment) => {
  const isRound = (coin: BitcoinCoin) => coin.value % ROUND.paid === 0n;
  const isRest = (coin: BitcoinCoin) => coin.value % ROUND.rest !== 0n;
  if (isRound(payment) && isRest(change)) return 'for';
  return isRound(change) && isRest(payment) ? 'against' : null;
};

// A wallet takes no coin that its payment does not need, so that change is below each of them.
const sizeSign: SignOf = (inputs, change, payment) => {
  if (inputs.length < 2) return null;
  const least = inputs.map(({ value }) => value).reduce(lesser);
  if (change.value < least && payment.value >= least) return 'for';
  return payment.value < least && change.value >= least ? 'against' : null;
};

function scriptOf(address: string | null): string | null {
  if (address === null) return null;
  if (address.startsWith('bc1q')) return address.length > P2WPKH_CHARS ? 'p2wsh' : 'p2wpkh';
  if (address.startsWith('bc1')) return 'p2tr';
  return address.startsWith('3') ? 'p2sh' : 'p2pkh';
}

const P2WPKH_CHARS = 42;

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function ownersOf({ inputs, coinbase }: BitcoinTransaction): string[] {
  if (coinbase) return [];
  const owners = new Set<string>();
  for (const { address } of inputs) if (address !== null) owners.add(address);
  return [...owners];
}

function tieOf({ tx, block, at }: BitcoinTransaction, address: string, rests_on: string | null) {
  return { chain: 'bitcoin', key: tx, address, tx, block, at, rests_on, whole: true } as const;
}

// Inputs need every block from the first to a fresh tip, with its signatures; change needs them
// taken in from the first.

type RunTime = { readonly now: () => number; readonly tipMaxAgeS: number };
type Ran = Partly<unknown, HeldTiesPort>;
type BlockRun = { readonly heuristic: 'multi_input' | 'change'; readonly ran: Ran };

/** How far each heuristic of Bitcoin came for an address. `now` is Unix seconds. */
export async function blockRuns(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  { now, tipMaxAgeS }: RunTime,
): Promise<readonly BlockRun[]> {
  const blocks = await store.blocksHeld();
  const ran = (missing: Why | null): Ran => {
    return blocks instanceof Unread || missing === null ? blocks : weaken(blocks, missing);
  };
  if (!(blocks instanceof Read)) {
    return [
      { heuristic: 'multi_input', ran: blocks },
      { heuristic: 'change', ran: blocks },
    ];
  }
  const gaps = missingOf(blocks.value, now() - tipMaxAgeS, address);
  const unsigned = blocks.value.find(({ signatures }) => !signatures);
  const missing =
    gaps === null && unsigned !== undefined
      ? why('blocks_without_signatures', rangeText(unsigned))
      : gaps;
  const untold = blocks.value.find(({ change }) => !change);
  const unchanged = untold === undefined ? null : why('blocks_without_change', rangeText(untold));
  return [
    { heuristic: 'multi_input', ran: ran(missing) },
    { heuristic: 'change', ran: ran(missing === null ? unchanged : missing) },
  ];
}

/** Every block as one reading, whatever is told of signatures and change. */
export async function everyBlock(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  { now, tipMaxAgeS }: RunTime,
): Promise<Ran> {
  const blocks = await store.blocksHeld();
  if (!(blocks instanceof Read)) return blocks;
  const missing = missingOf(blocks.value, now() - tipMaxAgeS, address);
  return missing === null ? blocks : weaken(blocks, missing);
}

/** Both heuristics as one reading. */
export async function blocksReading(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  asked: RunTime,
): Promise<Ran> {
  return leastIn(await blockRuns(store, address, asked));
}

/** The first of them that was cut; where none was, any. */
export function leastIn(runs: readonly BlockRun[]): Ran {
  const [first] = runs;
  const cut = runs.find(({ ran }) => !(ran instanceof Read));
  if (first === undefined) throw new Error('blocks: no heuristic reads them');
  return cut === undefined ? first.ran : cut.ran;
}

function rangeText({ from_block, to_block }: BlockRange): {
  readonly from: string;
  readonly to: string;
} {
  return { from: String(from_block), to: String(to_block) };
}

function missingOf(ranges: readonly BlockRange[], oldest: number, address: string): Why | null {
  const gaps = (held: string) =>
    why('partial_history', { gaps: `bitcoin blocks ${held}, for ${address}` });
  const [lowest] = ranges;
  if (lowest === undefined) return gaps('none held');
  if (lowest.from_block > 0) {
    return gaps(`held from block ${lowest.from_block}, not from the first`);
  }
  let reach = lowest;
  for (const range of ranges) if (range.from_block === reach.to_block + 1) reach = range;
  if (reach.to_time > oldest) return null;
  const hole = ranges.some(({ to_block }) => to_block > reach.to_block);
  return gaps(`held to block ${reach.to_block}, ${hole ? 'then a hole' : 'not to a fresh tip'}`);
}

// After Stockinger et al., "Pinpointing and Measuring Wasabi and Samourai CoinJoins", 2021, and,
// for equal outputs, Goldfeder et al., "When the cookie meets the blockchain", PETS 2018. Where it
// may be one it says so: a false yes loses a link, a false no makes a wrong one.

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
/** The part of a premix coin for the miner's fee, and the coordinator's share of a pool's size. */
const TX0 = { feeMax: 100_000n, coordinatorParts: 20n };
const WASABI_1 = { equalMin: 10, base: COIN / 10n, away: COIN / 50n };
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
  const [value, equal] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
  if (inputs.length === outputs.length && equal === outputs.length) {
    const { coinsMin, coinsMax } = WHIRLPOOL;
    if (equal >= coinsMin && equal <= coinsMax && POOLS.includes(value)) return 'whirlpool';
  }
  if (isWabiSabi(transaction, counts)) return 'wasabi_2_0';
  if (equal >= WASABI_1.equalMin && inputs.length >= equal) return wasabi1Form(transaction, value);
  if (MARKER_VALUES.has(value) || !isEqualOutputs(outputs.length, owners.size, equal)) return null;
  return equal >= PARTICIPANTS_MIN.joinmarket ? 'joinmarket' : 'equal_outputs';
}

/** Whether one wallet cuts its coins here for a Whirlpool pool, and no second one with it. */
export function isWhirlpoolTx0(transaction: BitcoinTransaction): boolean {
  return walletsOfTx0(transaction) === 1;
}

/** Every address in a joint transaction; nobody's where it is none. */
export function coinJoinParties(
  transaction: BitcoinTransaction,
): readonly (JoinedIn & { address: string })[] {
  const joint = coinJoin(transaction);
  const form = joint === null && isWhirlpoolTx0(transaction) ? 'whirlpool_tx0' : joint;
  const { tx, block, at, inputs, outputs } = transaction;
  const spent = addressesIn(inputs);
  const paid = addressesIn(outputs);
  return listFrom<JointForm, JoinedIn & { address: string }>(form, (known) =>
    [...new Set([...spent, ...paid])].map((address) => {
      const took = { spent: spent.has(address), paid: paid.has(address) };
      return { address, tx, block, at, form: known, ...took };
    }),
  );
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

function wasabi1Form({ outputs }: BitcoinTransaction, value: bigint): CoinJoin {
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
