// Coins are kept account of, so that every input spends what an output paid. How common a habit is
// on the chain is a guess; each stands in one table.

import type { BitcoinInput, BitcoinTransaction } from '../ports/entities.ts';
import { addressNamed } from './addresses.ts';
import { type Lottery, lotteryOf } from './lottery.ts';

/** The habits of the population, and how many have each. */
const HABITS = {
  owners: 400,
  steps: 6_000,
  /** Of the owners: who pays change to an address that was used before. */
  reusesChange: 0.15,
  /** Of the owners: who takes any coins rather than those that a payment needs. */
  spendsAtRandom: 0.35,
  /** Of the payments: to an address that was never used, as an invoice has. */
  paysFreshAddress: 0.4,
  paysRoundAmount: 0.5,
  /** Of the owners: who receives in another kind of script than they spend from. */
  mixesScripts: 0.1,
  /** Of the steps. */
  payJoin: 0.015,
  halfSignedTrade: 0.01,
  wholeSignedTrade: 0.004,
  pledge: 0.005,
  coinJoin: 0.02,
  batch: 0.03,
  gathers: 0.08,
} as const;

const START_AT = Date.UTC(2024, 0, 1) / 1_000;
const STEP_S = 600;
const COINS_PER_OWNER = 6;
const FEE = 1_500;
const DUST = 1_000;
const ROUND = 100_000;
const POSTAGE = 546;
const BATCH_CUSTOMERS = 8;
const JOIN = { participants: 12, size: 10_000_000 };
const FORMS = ['bitcoin', 'bitcoin_bech32', 'bitcoin_bech32', 'bitcoin_bech32'] as const;

type Coin = { readonly address: string; readonly value: number };
type Owner = {
  readonly id: number;
  readonly form: (typeof FORMS)[number];
  readonly reuses: boolean;
  readonly atRandom: boolean;
  readonly mixes: boolean;
  readonly coins: Coin[];
  readonly used: string[];
};

/** A transaction, and the output that is its maker's change (`null`: none). */
export type MadeTransaction = {
  readonly transaction: BitcoinTransaction;
  readonly change: string | null;
};

/** The transactions in order, and who owns each address. */
export type WalletPopulation = {
  readonly made: readonly MadeTransaction[];
  readonly ownerOf: ReadonlyMap<string, number>;
};

type World = {
  readonly draw: Lottery;
  readonly owners: readonly Owner[];
  readonly ownerOf: Map<string, number>;
  readonly made: MadeTransaction[];
  count: number;
};

/** The population of a seed. */
export function walletPopulation(seed: number): WalletPopulation {
  const draw = lotteryOf(seed);
  const owners = Array.from({ length: HABITS.owners }, (_, id): Owner => {
    return {
      id,
      form: draw.oneOf(FORMS),
      reuses: draw.happens(HABITS.reusesChange),
      atRandom: draw.happens(HABITS.spendsAtRandom),
      mixes: draw.happens(HABITS.mixesScripts),
      coins: [],
      used: [],
    };
  });
  const world: World = { draw, owners, ownerOf: new Map(), made: [], count: 0 };
  for (const owner of owners) {
    for (let n = 0; n < COINS_PER_OWNER; n += 1) mine(world, owner);
  }
  for (let step = 0; step < HABITS.steps; step += 1) act(world);
  return { made: world.made, ownerOf: world.ownerOf };
}

function mine(world: World, owner: Owner): void {
  const coin = { address: freshOf(world, owner), value: 2_000_000 + world.draw.below(90_000_000) };
  give(world, coin);
  put(world, [], [coin], null);
}

function act(world: World): void {
  const { draw } = world;
  const chance = draw.share();
  const owner = draw.oneOf(world.owners);
  let at: number = HABITS.payJoin;
  if (chance < at) {
    payJoin(world, owner);
    return;
  }
  at += HABITS.halfSignedTrade;
  if (chance < at) {
    trade(world, owner, 'in_part');
    return;
  }
  at += HABITS.wholeSignedTrade;
  if (chance < at) {
    trade(world, owner, 'whole');
    return;
  }
  at += HABITS.pledge;
  if (chance < at) {
    pledge(world);
    return;
  }
  at += HABITS.coinJoin;
  if (chance < at) {
    coinJoin(world);
    return;
  }
  at += HABITS.batch;
  if (chance < at) {
    batch(world, owner);
    return;
  }
  at += HABITS.gathers;
  if (chance < at) gather(world, owner);
  else pay(world, owner);
}

/** An address of an owner that was never used. */
function freshOf(world: World, owner: Owner): string {
  world.count += 1;
  const form = owner.mixes && world.draw.happens(0.5) ? 'bitcoin' : owner.form;
  const address = addressNamed(form, `${owner.id} ${world.count}`);
  world.ownerOf.set(address, owner.id);
  owner.used.push(address);
  return address;
}

function ownerOf(world: World, address: string): Owner {
  const id = world.ownerOf.get(address);
  const owner = id === undefined ? undefined : world.owners[id];
  if (owner === undefined) throw new Error('population: an address without an owner');
  return owner;
}

function give(world: World, coin: Coin): void {
  ownerOf(world, coin.address).coins.push(coin);
}

/** Takes coins of an owner for an amount; `null` where they do not suffice. */
function take(world: World, owner: Owner, amount: number): Coin[] | null {
  const sorted = owner.atRandom
    ? owner.coins.map((coin) => ({ coin, by: world.draw.share() })).sort((a, b) => a.by - b.by)
    : owner.coins.map((coin) => ({ coin, by: coin.value })).sort((a, b) => b.by - a.by);
  const taken: Coin[] = [];
  let sum = 0;
  for (const { coin } of sorted) {
    if (sum >= amount) break;
    taken.push(coin);
    sum += coin.value;
  }
  if (sum < amount) return null;
  for (const coin of taken) owner.coins.splice(owner.coins.indexOf(coin), 1);
  return taken;
}

type Input = readonly [coin: Coin, signed: BitcoinInput['signed']];

function put(
  world: World,
  inputs: readonly Input[],
  outputs: readonly { readonly address: string | null; readonly value: number }[],
  change: string | null,
): void {
  const n = world.made.length;
  const transaction: BitcoinTransaction = {
    tx: `made ${n}`,
    block: n,
    at: START_AT + n * STEP_S,
    coinbase: inputs.length === 0,
    inputs: inputs.map(([{ address, value }, signed]) => {
      return { address, value: BigInt(value), signed };
    }),
    outputs: outputs.map(({ address, value }) => ({ address, value: BigInt(value) })),
  };
  world.made.push({ transaction, change });
}

const whole = (coins: readonly Coin[]): Input[] => coins.map((coin) => [coin, 'whole']);
const sumOf = (coins: readonly Coin[]) => coins.reduce((sum, { value }) => sum + value, 0);

function amountOf({ draw }: World): number {
  const amount = 200_000 + draw.below(9_000_000);
  return draw.happens(HABITS.paysRoundAmount) ? Math.ceil(amount / ROUND) * ROUND : amount;
}

function payeeOf(world: World, payer: Owner): string {
  const { draw } = world;
  const payee = draw.oneOf(world.owners.filter((one) => one !== payer));
  const isFresh = draw.happens(HABITS.paysFreshAddress) || payee.used.length === 0;
  return isFresh ? freshOf(world, payee) : draw.oneOf(payee.used);
}

function changeOf(world: World, owner: Owner): string {
  return owner.reuses ? world.draw.oneOf(owner.used) : freshOf(world, owner);
}

/** Pays outputs, gives them to their owners, and the rest to the payer as change. */
function settle(world: World, payer: Owner, coins: readonly Coin[], paid: readonly Coin[]): void {
  const rest = sumOf(coins) - sumOf(paid) - FEE;
  const change = rest > DUST ? { address: changeOf(world, payer), value: rest } : null;
  const outputs = change === null ? [...paid] : [...paid, change];
  if (world.draw.happens(0.5)) outputs.reverse();
  for (const coin of outputs) give(world, coin);
  put(world, whole(coins), outputs, change === null ? null : change.address);
}

function pay(world: World, owner: Owner): void {
  const amount = amountOf(world);
  const coins = take(world, owner, amount + FEE);
  if (coins === null) {
    mine(world, owner);
    return;
  }
  settle(world, owner, coins, [{ address: payeeOf(world, owner), value: amount }]);
}

function batch(world: World, owner: Owner): void {
  const paid = Array.from({ length: BATCH_CUSTOMERS }, () => {
    return { address: payeeOf(world, owner), value: amountOf(world) };
  });
  const coins = take(world, owner, sumOf(paid) + FEE);
  if (coins === null) {
    mine(world, owner);
    return;
  }
  settle(world, owner, coins, paid);
}

function gather(world: World, owner: Owner): void {
  const coins = owner.coins.splice(0);
  if (coins.length === 0) {
    mine(world, owner);
    return;
  }
  const all = { address: freshOf(world, owner), value: sumOf(coins) - FEE };
  give(world, all);
  put(world, whole(coins), [all], null);
}

/** The payee adds a coin of their own, and takes it back with what was paid. */
function payJoin(world: World, owner: Owner): void {
  const payee = world.draw.oneOf(world.owners.filter((one) => one !== owner));
  const amount = amountOf(world);
  const coins = take(world, owner, amount + FEE);
  if (coins === null) {
    mine(world, owner);
    return;
  }
  const [added] = payee.coins.splice(0, 1);
  const own = added === undefined ? [] : [added];
  const paid = { address: freshOf(world, payee), value: amount + sumOf(own) };
  settle(world, owner, [...coins, ...own], [paid]);
}

/** A buyer takes an inscribed coin of a seller's, and pays for it in the same transaction. */
function trade(world: World, buyer: Owner, signed: 'in_part' | 'whole'): void {
  const seller = world.draw.oneOf(world.owners.filter((one) => one !== buyer));
  const price = amountOf(world);
  const coins = take(world, buyer, price + FEE);
  if (coins === null) {
    mine(world, buyer);
    return;
  }
  const offered = { address: freshOf(world, seller), value: POSTAGE };
  const bought = { address: freshOf(world, buyer), value: POSTAGE };
  const paid = { address: freshOf(world, seller), value: price };
  const rest = { address: changeOf(world, buyer), value: sumOf(coins) - price - FEE };
  // Marketplaces set the offer where its own output pays the seller; others set it anywhere.
  const isInPlace = signed === 'in_part' || world.draw.happens(0.5);
  const outputs = isInPlace ? [bought, paid, rest] : [paid, rest, bought];
  const [first, ...more] = whole(coins);
  if (first === undefined) throw new Error('population: a buyer without coins');
  put(world, [first, [offered, signed], ...more], outputs, rest.address);
  for (const coin of outputs) give(world, coin);
}

function pledge(world: World): void {
  const pledged = world.owners
    .filter(() => world.draw.happens(0.01))
    .flatMap((owner) => owner.coins.splice(0, 1));
  const payee = world.draw.oneOf(world.owners);
  if (pledged.length < 2) {
    mine(world, payee);
    return;
  }
  const paid = { address: freshOf(world, payee), value: sumOf(pledged) - FEE };
  give(world, paid);
  put(
    world,
    pledged.map((coin) => [coin, 'in_part']),
    [paid],
    null,
  );
}

/** A round of equal outputs, or of many denominations. */
function coinJoin(world: World): void {
  const { draw } = world;
  const ready = world.owners.filter(({ coins }) =>
    coins.some(({ value }) => value > JOIN.size * 2),
  );
  if (ready.length < JOIN.participants) {
    mine(world, draw.oneOf(world.owners));
    return;
  }
  const start = draw.below(ready.length - JOIN.participants + 1);
  const isEqual = draw.happens(0.5);
  const inputs: Coin[] = [];
  const outputs: Coin[] = [];
  for (const owner of ready.slice(start, start + JOIN.participants)) {
    const own = take(world, owner, JOIN.size * 2);
    if (own === null) throw new Error('population: a participant without coins');
    inputs.push(...own);
    const pieces = isEqual ? [JOIN.size] : [2 ** 23, 2 ** 22, 3 ** 14, 5_000_000];
    outputs.push(...pieces.map((value) => ({ address: freshOf(world, owner), value })));
    const rest = sumOf(own) - pieces.reduce((sum, value) => sum + value, 0) - FEE;
    outputs.push({ address: freshOf(world, owner), value: rest });
  }
  for (const coin of outputs) give(world, coin);
  put(world, whole(inputs), outputs, null);
}
