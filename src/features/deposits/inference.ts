// Infers the addresses that receive payments of users and pass them on to an exchange. A pure
// function over movements, under our own rule or the published one (Victor, Address clustering
// heuristics for Ethereum, FC 2020). Never names an address whose coins go to two exchanges, or an
// exchange's own wallet.

import { collect, rowsUnder } from '../../evidence/measure.ts';
import type { Weight } from '../../evidence/weight.ts';
import type { ReceiverRole } from '../tables/labels.ts';

/** One movement of an asset. Amounts are exact integers in the asset's smallest unit. */
export type Movement = {
  /** Names the asset and its chain: only movements of one asset are set against each other. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly raw_amount: bigint;
  /** Its place in time, in the unit of the rule's window: a block, or Unix seconds. */
  readonly when: number;
  /** The transaction; `null` where the source gives none. */
  readonly tx: string | null;
};

type Matching =
  /** Each receipt with each forward whose amount differs by at most this much, absolute. */
  | { readonly by: 'pair'; readonly toleranceOf: (asset: string) => bigint }
  /** Oldest receipt first, until at least this share (percent) of each asset is passed on. */
  | { readonly by: 'share'; readonly percentMin: bigint };

/** A rule of inference. */
export type DepositRule = {
  /** The longest time between a receipt and its forward, in the unit of `Movement.when`. */
  readonly windowMax: number;
  readonly matching: Matching;
  /** The unique target: the wallet that receives the coins, or the exchange that owns it. */
  readonly oneTarget: 'wallet' | 'exchange';
  /** The most receivers that are no wallet of an exchange; `null`: any number. */
  readonly otherReceiversMax: number | null;
};

/** A receipt and the forward that it is set against. */
export type Forward = {
  readonly asset: string;
  readonly user: string;
  readonly wallet: string;
  /** How much of the forward this receipt accounts for. */
  readonly raw_amount: bigint;
  /** In the unit of `Movement.when`. */
  readonly delay: number;
  readonly receivedIn: string | null;
  readonly forwardedIn: string | null;
};

/** How much of one asset came in, and how much of it was passed on in time. */
export type AssetFlow = {
  readonly asset: string;
  readonly received: bigint;
  readonly forwarded: bigint;
};

/** An inferred deposit address with what shows it. */
export type InferredDeposit = {
  readonly address: string;
  readonly exchange: string;
  readonly wallets: readonly string[];
  /** `hot` where a label says so of every wallet that it forwards to. */
  readonly receiverRole: Receiver['role'];
  /** At least one, oldest forward first. */
  readonly forwards: readonly Forward[];
  /** The assets that left it, at least one, by what came in and what was passed on in time. */
  readonly flows: readonly AssetFlow[];
  /** Assets received of which nothing was ever sent on: coins kept for fees, say. */
  readonly assetsKept: number;
  readonly otherReceivers: number;
};

type NotInferred =
  | 'exchange_wallet'
  | 'no_forward'
  | 'several_targets'
  | 'other_receivers'
  | 'share_too_small'
  | 'no_match_in_time';

/** The labelled wallets of exchanges. */
export type KnownExchanges = {
  /** The wallets that deposits are passed on to: the exchange that each belongs to. */
  readonly receivers: ReadonlyMap<string, Receiver>;
  /** Every address that is an exchange's, whatever its role: none of them is a user. */
  readonly owners: ReadonlyMap<string, string>;
};

/** A wallet of an exchange. `unstated`: its label tells no role, so it may be no hot wallet. */
export type Receiver = { readonly exchange: string; readonly role: ReceiverRole };

/** Our own rule with a window of 24 hours; times are Unix seconds. */
export const OWN_RULE: DepositRule = {
  windowMax: 86_400,
  matching: { by: 'share', percentMin: 90n },
  oneTarget: 'exchange',
  otherReceiversMax: 2,
};

/**
 * How often an address inferred by `OWN_RULE` is the exchange's: for hot wallets the lower end of
 * what was measured on a recorded network; for receivers of no told role assumed, as nothing that
 * was reached tells it. `docs/concepts/entities.md` has the numbers.
 */
export const DEPOSIT_WEIGHTS: {
  readonly [R in Receiver['role']]: Weight;
} = {
  hot: { weight: 0.75, basis: 'measured' },
  unstated: { weight: 0.5, basis: 'assumed' },
};

/** The published window in blocks, and the published tolerance: one hundredth of a whole token. */
export const PUBLISHED_BLOCKS_MAX = 3_200;
const PUBLISHED_TOLERANCE_PARTS = 100n;

/** The published rule; `when` is a block. `decimalsOf` gives the decimals of an asset. */
export function publishedRule(decimalsOf: (asset: string) => number): DepositRule {
  return {
    windowMax: PUBLISHED_BLOCKS_MAX,
    matching: {
      by: 'pair',
      toleranceOf: (asset) => 10n ** BigInt(decimalsOf(asset)) / PUBLISHED_TOLERANCE_PARTS,
    },
    oneTarget: 'wallet',
    otherReceiversMax: null,
  };
}

/** One movement with its place in the order of the input, which settles equal times. */
type Placed = Movement & { readonly n: number };
type Sides = { readonly incoming: readonly Placed[]; readonly outgoing: readonly Placed[] };

/** The deposit addresses that these movements show, in the order of their addresses. */
export function inferDeposits(
  movements: readonly Movement[],
  known: KnownExchanges,
  rule: DepositRule,
): InferredDeposit[] {
  const incoming = new Map<string, Placed[]>();
  const outgoing = new Map<string, Placed[]>();
  for (const [n, movement] of movements.entries()) {
    const { from, to, raw_amount } = movement;
    if (from === to || raw_amount === 0n) continue;
    collect(incoming, to, { ...movement, n });
    collect(outgoing, from, { ...movement, n });
  }
  const inferred: InferredDeposit[] = [];
  for (const address of [...outgoing.keys()].sort()) {
    const sides = {
      incoming: rowsUnder(incoming, address),
      outgoing: rowsUnder(outgoing, address),
    };
    const one = inferenceOf(address, sides, known, rule);
    if (typeof one !== 'string') inferred.push(one);
  }
  return inferred;
}

/** The deposit address that one address's movements show, or why it is not taken for one. */
export function inferDeposit(
  address: string,
  movements: readonly Movement[],
  known: KnownExchanges,
  rule: DepositRule,
): InferredDeposit | NotInferred {
  const moved = movements.filter(({ from, to, raw_amount }) => from !== to && raw_amount > 0n);
  const placed = moved.map((movement, n) => ({ ...movement, n }));
  const incoming = placed.filter(({ to }) => to === address);
  const outgoing = placed.filter(({ from }) => from === address);
  return inferenceOf(address, { incoming, outgoing }, known, rule);
}

function inferenceOf(
  address: string,
  sides: Sides,
  known: KnownExchanges,
  rule: DepositRule,
): InferredDeposit | NotInferred {
  if (known.owners.has(address)) return 'exchange_wallet';
  const targets = new Map<string, Receiver>();
  const exchanges = new Set<string>();
  const others = new Set<string>();
  for (const { to } of sides.outgoing) {
    const receiver = known.receivers.get(to);
    const owner = known.owners.get(to);
    // Any wallet of a second exchange speaks against it, also one that takes no deposits.
    if (owner !== undefined) exchanges.add(owner);
    if (receiver === undefined) others.add(to);
    else targets.set(to, receiver);
  }
  const [target] = targets.values();
  if (target === undefined || exchanges.size === 0) return 'no_forward';
  const one = rule.oneTarget === 'wallet' ? targets : exchanges;
  if (one.size > 1) return 'several_targets';
  if (rule.otherReceiversMax !== null && others.size > rule.otherReceiversMax) {
    return 'other_receivers';
  }
  // A transfer from an exchange is a withdrawal or a fee: it is nobody's deposit.
  const received = sides.incoming.filter(({ from }) => !known.owners.has(from)).sort(inTime);
  const moved = new Set(sides.outgoing.map(({ asset }) => asset));
  const passed = sides.outgoing.filter(({ to }) => targets.has(to)).sort(inTime);
  const matched = matchFlows(rule, received, passed, moved);
  if (typeof matched === 'string') return matched;
  const kept = new Set(received.map(({ asset }) => asset).filter((asset) => !moved.has(asset)));
  return {
    address,
    exchange: target.exchange,
    ...matched,
    wallets: [...targets.keys()].sort(),
    receiverRole: [...targets.values()].every(({ role }) => role === 'hot') ? 'hot' : 'unstated',
    assetsKept: kept.size,
    otherReceivers: others.size,
  };
}

function inTime(a: Placed, b: Placed): number {
  return a.when - b.when || a.n - b.n;
}

const WHOLE_PERCENT = 100n;

type Matched = Pick<InferredDeposit, 'forwards' | 'flows'>;

/** Every asset that left is compared, also one of which nothing went to the exchange. */
function matchFlows(
  { matching, windowMax }: DepositRule,
  received: readonly Placed[],
  passed: readonly Placed[],
  moved: ReadonlySet<string>,
): Matched | NotInferred {
  const forwards: Forward[] = [];
  const flows: AssetFlow[] = [];
  const receipts = byAsset(received);
  const sends = byAsset(passed);
  for (const asset of moved) {
    const got = rowsUnder(receipts, asset);
    const sent = rowsUnder(sends, asset);
    const pairs =
      matching.by === 'pair'
        ? pairsOf(got, sent, windowMax, matching.toleranceOf(asset))
        : oldestFirstPairs(got, sent, windowMax);
    const flow = { asset, received: total(got), forwarded: total(pairs) };
    if (matching.by === 'share') {
      const { received: took, forwarded: gave } = flow;
      const isMost = took > 0n && gave * WHOLE_PERCENT >= took * matching.percentMin;
      if (!isMost) return 'share_too_small';
    }
    forwards.push(...pairs);
    flows.push(flow);
  }
  return forwards.length === 0 ? 'no_match_in_time' : { forwards, flows };
}

function byAsset(movements: readonly Placed[]): Map<string, Placed[]> {
  const assets = new Map<string, Placed[]>();
  for (const one of movements) collect(assets, one.asset, one);
  return assets;
}

function total(amounts: readonly { readonly raw_amount: bigint }[]): bigint {
  return amounts.reduce((sum, { raw_amount }) => sum + raw_amount, 0n);
}

/** Every receipt with every forward of about its amount that left within the window after it. */
function pairsOf(
  received: readonly Placed[],
  passed: readonly Placed[],
  windowMax: number,
  tolerance: bigint,
): Forward[] {
  const pairs: Forward[] = [];
  let oldest = 0;
  for (const sent of passed) {
    for (let i = oldest; i < received.length; i += 1) {
      const got = received[i];
      if (got === undefined || got.when > sent.when) break;
      if (sent.when - got.when > windowMax) {
        oldest = i + 1;
        continue;
      }
      const difference = got.raw_amount - sent.raw_amount;
      if (difference <= tolerance && -difference <= tolerance) {
        pairs.push(forwardOf(got, sent, sent.raw_amount));
      }
    }
  }
  return pairs;
}

/** Each forward taken from the oldest receipts that are still within the window and not used up. */
function oldestFirstPairs(
  received: readonly Placed[],
  passed: readonly Placed[],
  windowMax: number,
): Forward[] {
  const left = received.map(({ raw_amount }) => raw_amount);
  const pairs: Forward[] = [];
  let oldest = 0;
  for (const sent of passed) {
    let wanting = sent.raw_amount;
    for (let i = oldest; i < received.length && wanting > 0n; i += 1) {
      const got = received[i];
      const rest = left[i];
      if (got === undefined || rest === undefined || got.when > sent.when) break;
      const over = rest === 0n || sent.when - got.when > windowMax;
      // A receipt that is used up or too old for this forward is so for every later one.
      if (over && i === oldest) oldest += 1;
      if (over) continue;
      const taken = lesser(rest, wanting);
      left[i] = rest - taken;
      wanting -= taken;
      pairs.push(forwardOf(got, sent, taken));
    }
  }
  return pairs;
}

function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function forwardOf(got: Placed, sent: Placed, raw_amount: bigint): Forward {
  return {
    asset: sent.asset,
    user: got.from,
    wallet: sent.to,
    raw_amount,
    delay: sent.when - got.when,
    receivedIn: got.tx,
    forwardedIn: sent.tx,
  };
}
