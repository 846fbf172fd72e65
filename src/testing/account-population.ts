// Friends, employers, faucets, relayers, bundlers and popular contracts are put in, since those are
// what joins strangers. How common each is on a chain is a guess; each stands in one table.

import type { Creation } from '../ports/accounts.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import type { ExchangeLabel } from '../ports/tables.ts';
import { evm } from './addresses.ts';
import { type Lottery, lotteryOf } from './lottery.ts';
import { memoryTransfer } from './twins/history.ts';

/** The habits of the population, and how many have each. */
const HABITS = {
  owners: 160,
  accountsMax: 4,
  /** Of the owners with several accounts: who begins the others from the first one. */
  fundsOwn: 0.6,
  /** Of the owners: who begins a stranger's account as well, on the same day. */
  fundsFriend: 0.1,
  /** Of the owners with several accounts: whose accounts act alike. */
  actsAlike: 0.3,
  /** Of the payments into accounts at exchanges: into a friend's. */
  paysFriendsDeposit: 0.08,
  employers: 6,
  employees: 5,
  faucetRecipients: 60,
  relayed: 40,
  merchants: 4,
  merchantPayers: 6,
  traders: 20,
  deploys: 0.3,
  bundled: 30,
} as const;

const DAY_S = 86_400;
const HOUR_S = 3_600;
const DAYS = 200;
const DEPOSITS_EACH = 2;
const ACTS = 6;
const VISITORS = 40;
const EXCHANGES = ['Alpha', 'Beta', 'Gamma'] as const;

/** The transfers, the owner of each account, and the labels. */
export type AccountPopulation = {
  readonly transfers: readonly HistoryTransfer[];
  readonly creations: readonly Creation[];
  readonly labels: readonly ExchangeLabel[];
  readonly ownerOf: ReadonlyMap<string, string>;
};

type Owner = { readonly name: string; readonly accounts: readonly string[]; readonly born: number };
type World = {
  readonly draw: Lottery;
  readonly owners: readonly Owner[];
  readonly ownerOf: Map<string, string>;
  readonly transfers: HistoryTransfer[];
  readonly creations: Creation[];
};

const walletOf = (exchange: string) => evm(`hot wallet of ${exchange}`);

/** The population of a seed. */
export function accountPopulation(seed: number): AccountPopulation {
  const draw = lotteryOf(seed);
  const owners = Array.from({ length: HABITS.owners }, (_, n): Owner => {
    const size = 1 + draw.below(HABITS.accountsMax);
    const accounts = Array.from({ length: size }, (_one, i) => evm(`account ${n} ${i}`));
    return { name: `owner ${n}`, accounts, born: draw.below(DAYS) * DAY_S };
  });
  const ownerOf = new Map(owners.flatMap(({ name, accounts }) => accounts.map((a) => [a, name])));
  const world: World = { draw, owners, ownerOf, transfers: [], creations: [] };
  for (const owner of owners) begin(world, owner);
  for (const owner of owners) live(world, owner);
  strangers(world);
  const labels = EXCHANGES.map(labelOf);
  return { transfers: world.transfers, creations: world.creations, labels, ownerOf };
}

function labelOf(entity: string): ExchangeLabel {
  return {
    entity,
    address: walletOf(entity),
    chain: null,
    label: `${entity}: Hot`,
    role: 'hot',
    confidence: 'service_data',
    clusterable: false,
    source: 'population',
    source_url: null,
    first_seen: '2026-01-01',
  };
}

type Change = Parameters<typeof memoryTransfer>[3];

/** A transfer at a second of the population's time; its number makes its transaction. */
function pay(world: World, at: number, from: string, to: string, change: Change = {}): void {
  const { transfers } = world;
  const one = memoryTransfer(at, from, to, change);
  const tx = `0x${transfers.length.toString(16).padStart(64, '0')}`;
  transfers.push({ ...one, tx });
}

/** First coins: from an exchange, or from the owner's first account. */
function begin(world: World, { accounts, born }: Owner): void {
  const { draw } = world;
  const [main, ...others] = accounts;
  if (main === undefined) throw new Error('population: an owner without accounts');
  pay(world, born, walletOf(draw.oneOf(EXCHANGES)), main);
  const isOwn = draw.happens(HABITS.fundsOwn);
  for (const [i, other] of others.entries()) {
    const at = born + HOUR_S * (i + 1) * (draw.happens(0.8) ? 1 : 60);
    pay(world, at, isOwn ? main : walletOf(draw.oneOf(EXCHANGES)), other);
  }
  if (!draw.happens(HABITS.fundsFriend)) return;
  const friend = evm(`friend of ${main}`);
  world.ownerOf.set(friend, `friend of ${main}`);
  pay(world, born + HOUR_S, main, friend);
  pay(world, born + DAY_S, friend, evm('corner shop'));
}

/** The acts of an owner with new accounts: deposits, calls, deployments. */
function live(world: World, owner: Owner): void {
  const { draw } = world;
  const { accounts, born, name } = owner;
  const friend = draw.oneOf(world.owners);
  const own = evm(`deposit address of ${name}`);
  for (const [i, account] of accounts.entries()) {
    pay(world, born + 3 * DAY_S + i, account, evm(`shop ${draw.below(60)}`));
    for (let n = 0; n < DEPOSITS_EACH; n += 1) {
      const at = born + (10 + draw.below(40)) * DAY_S;
      const isFriends = friend !== owner && draw.happens(HABITS.paysFriendsDeposit);
      const deposit = isFriends ? evm(`deposit address of ${friend.name}`) : own;
      pay(world, at, account, deposit);
      pay(
        world,
        at + HOUR_S,
        deposit,
        walletOf(isFriends ? exchangeOf(friend) : exchangeOf(owner)),
      );
    }
  }
  const [first, second] = accounts;
  if (first !== undefined && second !== undefined && draw.happens(HABITS.actsAlike)) {
    alike(world, born + 60 * DAY_S, first, second, (n) => evm(`niche ${name} ${n}`));
  }
  if (first === undefined || !draw.happens(HABITS.deploys)) return;
  for (let n = 0; n < 2; n += 1) {
    const created = evm(`contract ${name} ${n}`);
    world.ownerOf.set(created, name);
    create(world, born + 5 * DAY_S + n, created, first, first);
  }
}

function exchangeOf({ name }: Owner): string {
  const digit = Number(name.slice(-1)) % EXCHANGES.length;
  const exchange = EXCHANGES[digit];
  if (exchange === undefined) throw new Error('population: an owner without an exchange');
  return exchange;
}

/** Two accounts that send to each other, and act on the same targets within a minute. */
function alike(
  world: World,
  at: number,
  a: string,
  b: string,
  targetOf: (n: number) => string,
): void {
  pay(world, at, a, b);
  pay(world, at + HOUR_S, b, a);
  for (let n = 0; n < ACTS; n += 1) {
    const moment = at + (n + 1) * 3 * DAY_S;
    pay(world, moment, a, targetOf(n));
    pay(world, moment + 60, b, targetOf(n));
  }
}

function create(world: World, at: number, created: string, creator: string, signer: string): void {
  const { tx, block, at: time } = memoryTransfer(at, signer, created);
  const name = `${tx.slice(0, -6)}c${String(world.creations.length).padStart(5, '0')}`;
  world.creations.push({ chain: 'ethereum', created, creator, signer, tx: name, block, at: time });
}

/** Links between people who have nothing to do with each other. */
function strangers(world: World): void {
  const { draw } = world;
  const someone = (name: string): string => {
    const account = evm(name);
    world.ownerOf.set(account, name);
    return account;
  };
  const beginAccount = (name: string, from: string, at: number, change: Change = {}) => {
    const account = someone(name);
    pay(world, at, from, account, change);
    pay(world, at + DAY_S, account, evm(`shop ${draw.below(60)}`));
  };
  for (let n = 0; n < HABITS.employers; n += 1) {
    for (let i = 0; i < HABITS.employees; i += 1) {
      beginAccount(`employee ${n} ${i}`, evm(`employer ${n}`), n * 20 * DAY_S + i * HOUR_S);
    }
  }
  for (let n = 0; n < HABITS.faucetRecipients; n += 1) {
    beginAccount(`visitor of a faucet ${n}`, evm('faucet'), n * DAY_S);
  }
  for (let n = 0; n < HABITS.relayed; n += 1) {
    const change = { kind: 'internal', initiator: evm('relayer') } as const;
    beginAccount(`withdrawer ${n}`, evm('pool of a mixer'), n * HOUR_S, change);
  }
  for (let n = 0; n < HABITS.merchants; n += 1) {
    const deposit = evm(`deposit address of merchant ${n}`);
    for (let i = 0; i < HABITS.merchantPayers; i += 1) {
      const at = (20 + n + i) * DAY_S;
      pay(world, at, someone(`customer ${n} ${i}`), deposit);
      pay(world, at + HOUR_S, deposit, walletOf(EXCHANGES[0]));
    }
  }
  for (let n = 0; n < HABITS.traders; n += 1) {
    const pair = [someone(`maker ${n}`), someone(`taker ${n}`)] as const;
    alike(world, DAY_S * 30, ...pair, (i) => evm(`claim ${i}`));
  }
  for (let n = 0; n < ACTS; n += 1) {
    for (let i = 0; i < VISITORS; i += 1) {
      const at = DAY_S * 30 + (n + 1) * 3 * DAY_S + draw.below(HOUR_S);
      pay(world, at, someone(`claimant ${i}`), evm(`claim ${n}`));
    }
  }
  for (let n = 0; n < HABITS.bundled; n += 1) {
    const account = someone(`smart account ${n}`);
    create(world, (40 + n) * DAY_S, account, evm('account factory'), evm('bundler'));
  }
}
