// The same for the same seed, and growing with the clock: transfers among made-up wallets, address
// poisoning, an exchange, a hub, and wallets that stand one and two hops from a listed address.

import { createHash } from 'node:crypto';
import { CHAINS, EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import { DAY_S } from '../chain/time.ts';
import { SANDBOX_SCORED, WORLD_MIXER } from './account-state.ts';
import type { ExplorerRow, WorldChains } from './chain-types.ts';
import { deployerRows, launchRows } from './deployers.ts';
import { evmLaunchesIn } from './evm-launches.ts';
import { SANDBOX_LABELLED } from './labels.ts';
import { SANDBOX_PARTY, WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';

/** The first second of every simulated chain, which is its block 0. */
export const WORLD_GENESIS_S = Date.UTC(2026, 0, 1) / 1_000;

/** Seconds from block to block, and from one made-up event to the next. */
const PACE: Readonly<Record<EvmChainName, { readonly blockS: number; readonly eventS: number }>> = {
  ethereum: { blockS: 12, eventS: 3_600 },
  arbitrum: { blockS: 0.25, eventS: 14_400 },
  base: { blockS: 2, eventS: 14_400 },
  bsc: { blockS: 0.75, eventS: 14_400 },
  polygon: { blockS: 2, eventS: 14_400 },
  hyperevm: { blockS: 1, eventS: 14_400 },
};

function wallet(name: string): string {
  return inventAddress(WORLD_SEED, 'evm', name);
}

/** The wallets that the documentation names: what a walk of each comes to. */
export const SANDBOX_WALLETS = {
  /** Paid the listed sandbox address itself. */
  oneHop: wallet('sandbox one hop'),
  /** Was paid by one who paid the listed sandbox address. */
  twoHops: wallet('sandbox two hops'),
  between: wallet('sandbox between'),
  /** Dealt with three others who dealt with nobody else. */
  quiet: wallet('sandbox quiet'),
  /** Was made to seem to have paid the listed sandbox address, by another's worthless transfer. */
  poisoned: wallet('sandbox poisoned'),
  /** Paid so many others once that it links nobody. */
  hub: wallet('sandbox hub'),
  /** Paid a deposit address of the sandbox exchange, and was paid by its hot wallet. */
  depositor: wallet('sandbox depositor'),
  /** Passed on what it was paid to that hot wallet within minutes; no table names it. */
  deposit: wallet('sandbox deposit'),
  /** Sent coins and a token to bridges, and paid one of them for a message. */
  bridged: wallet('sandbox bridged'),
  /** Two wallets of one customer: both pay into one deposit address of the sandbox exchange. */
  customer: wallet('sandbox customer'),
  customersOther: wallet('sandbox customer, other wallet'),
  customersDeposit: wallet('sandbox customer, deposit'),
  /** Never sent or received anything. */
  unused: wallet('sandbox unused'),
} as const;

/** Real contracts of Ethereum, as the table of bridges names them. */
const BRIDGES = {
  celer: '0x5427fefa711eff984124bfbb1ab6fbf5e3da1820',
  wormhole: '0x3ee18b2214aff97000d974cf647e7c347e8fa585',
  wormholeCore: '0x98f3c9e6e3face36baad05fe09d375ef1464288b',
} as const;

/** Launches of the world's schedule reach back so far from its start. */
const LAUNCHES_SPAN_S = 2 * DAY_S;
const WALLETS = 300;
const TOKENS = 8;
const HUB_COUNTERPARTIES = 5_600;
const WEI = 10n ** 18n;

/** The simulated chains of a seed. `now` is Unix seconds. */
export function worldChains(now: () => number, seed: string): WorldChains {
  const chains = new Map(
    EVM_CHAINS.map((name) => [Number(CHAINS[name].chain_id), simulateChain(name, seed, now)]),
  );
  const chainOf = (chainId: number) => chains.get(chainId);
  return {
    headOf: (chainId) => Math.max(0, Number(chainOf(chainId)?.blockAt(now()))),
    timeOf: (chainId, block) => Number(chainOf(chainId)?.timeOf(block)),
    rowsOf: (chainId, address) => {
      const chain = chainOf(chainId);
      return chain === undefined ? [] : chain.rowsOf(address);
    },
    rowsOfToken: (chainId, token) => {
      const chain = chainOf(chainId);
      return chain === undefined ? [] : chain.rowsOfToken(token);
    },
    rowsIn: (chainId, from, to) => {
      const chain = chainOf(chainId);
      return chain === undefined ? [] : chain.rowsIn(from, to);
    },
  };
}

type Simulated = {
  readonly blockAt: (at: number) => number;
  readonly timeOf: (block: number) => number;
  readonly rowsOf: (address: string) => readonly ExplorerRow[];
  readonly rowsOfToken: (token: string) => readonly ExplorerRow[];
  readonly rowsIn: (from: number, to: number) => readonly ExplorerRow[];
};

function simulateChain(name: EvmChainName, seed: string, now: () => number): Simulated {
  const { blockS, eventS } = PACE[name];
  const byAddress: Lists = new Map();
  const byToken: Lists = new Map();
  const all: ExplorerRow[] = [];
  let events = 0;
  // Launches of its schedule from longer before its start are of no world: nobody asks for them.
  let launchedAt = now() - LAUNCHES_SPAN_S;
  const blockAt = (at: number) => Math.floor((at - WORLD_GENESIS_S) / blockS);
  const timeOf = (block: number) => Math.floor(WORLD_GENESIS_S + block * blockS);
  const file = (drafts: readonly Draft[]) => {
    for (const draft of drafts) {
      const block = blockAt(draft.at);
      const row = { ...draft, block, at: timeOf(block) };
      insert(all, row);
      for (const address of new Set([row.from, row.to])) insert(listOf(byAddress, address), row);
      if (row.token !== null) insert(listOf(byToken, row.token.address), row);
    }
  };
  const grow = () => {
    if (events === 0 && name === 'ethereum') file(sandboxRows(seed));
    const until = Math.floor((now() - WORLD_GENESIS_S) / eventS);
    for (; events < until; events += 1) {
      file(eventRows(seed, name, events, WORLD_GENESIS_S + (events + 1) * eventS));
    }
    if (name !== 'ethereum' || now() <= launchedAt) return;
    for (const launch of evmLaunchesIn(launchedAt, now())) file(launchRows(launch));
    launchedAt = now();
  };
  const rowsOf = (address: string) => {
    grow();
    return rowsUnder(byAddress, address);
  };
  const rowsOfToken = (token: string) => {
    grow();
    return rowsUnder(byToken, token);
  };
  const rowsIn = (from: number, to: number) => {
    grow();
    return all.slice(placeOf(all, from), placeOf(all, to + 1));
  };
  return { blockAt, timeOf, rowsOf, rowsOfToken, rowsIn };
}

type Lists = Map<string, ExplorerRow[]>;

function rowsUnder(lists: Lists, key: string): readonly ExplorerRow[] {
  const held = lists.get(key);
  return held === undefined ? [] : [...held];
}

function listOf(lists: Lists, key: string): ExplorerRow[] {
  const held = lists.get(key);
  if (held !== undefined) return held;
  const made: ExplorerRow[] = [];
  lists.set(key, made);
  return made;
}

/** Puts a row behind those of its block and of the blocks before it: most rows come last. */
function insert(rows: ExplorerRow[], row: ExplorerRow): void {
  const last = rows.at(-1);
  if (last === undefined || last.block <= row.block) rows.push(row);
  else rows.splice(placeOf(rows, row.block + 1), 0, row);
}

/** Where the first row of a block, or of a later one, stands among rows in the order of blocks. */
function placeOf(rows: readonly ExplorerRow[], block: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Number(rows[middle]?.block) < block) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Draft = Omit<ExplorerRow, 'block'>;

function digest(...parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(parts.join('\n')).digest();
}

function txOf(seed: string, chain: string, event: number | string): string {
  return `0x${digest(seed, chain, 'tx', event).toString('hex')}`;
}

/** The rows of one event of a chain; a digest decides its kind and its parties. */
function eventRows(seed: string, chain: EvmChainName, event: number, at: number): Draft[] {
  const drawn = digest(seed, chain, 'event', event);
  const [kind, size, token, fee] = drawn;
  const from = partyOf(seed, drawn.readUInt32BE(4));
  const to = partyOf(seed, drawn.readUInt32BE(8));
  const tx = txOf(seed, chain, event);
  const value = (WEI * BigInt(Number(size) + 1)) / 64n;
  const native: Draft = {
    kind: 'native',
    tx,
    at,
    from,
    to,
    value,
    token: null,
    success: Number(fee) >= 5,
  };
  if (Number(kind) < 110) return [native];
  const contract = tokenOf(seed, Number(token) % TOKENS);
  const called = { ...native, to: contract.address, value: 0n };
  if (Number(kind) < 150) {
    const inner: Draft = { ...native, kind: 'internal', from: contract.address };
    return native.success === true ? [called, inner] : [called];
  }
  if (Number(kind) < 240) {
    const moved: Draft = { ...native, kind: 'token', token: contract, value: value / 10n ** 12n };
    return native.success === true ? [called, moved] : [called];
  }
  return [poisonRow(seed, { ...native, token: contract }, to)];
}

/** A worthless transfer to an address that looks like one with whom the victim dealt. */
function poisonRow(seed: string, victim: Draft, imitated: string): Draft {
  const middle = digest(seed, 'lookalike', imitated).toString('hex').slice(0, 32);
  const to = `${imitated.slice(0, 6)}${middle}${imitated.slice(-4)}`;
  return { ...victim, kind: 'token', to, value: 0n, success: true };
}

const UINT32 = 2 ** 32;
const EXCHANGE_SHARE = 0.12;

/** A few wallets deal often and most of them seldom; one in eight deals with the exchange. */
function partyOf(seed: string, drawn: number): string {
  const share = drawn / UINT32;
  if (share < EXCHANGE_SHARE) return SANDBOX_LABELLED.hot;
  const spread = (share - EXCHANGE_SHARE) / (1 - EXCHANGE_SHARE);
  return inventAddress(seed, 'evm', `world wallet ${Math.floor(WALLETS * spread * spread)}`);
}

function tokenOf(seed: string, n: number): NonNullable<ExplorerRow['token']> {
  const address = inventAddress(seed, 'evm', `world token ${n}`);
  return { address, symbol: `MADE${n}`, decimals: n % 2 === 0 ? 6 : 18 };
}

/** The transfers of the sandbox wallets in the first days of the chain. */
function sandboxRows(seed: string): Draft[] {
  const listed = SANDBOX_PARTY.addresses.find(({ currency }) => currency === 'ETH');
  if (listed === undefined) throw new Error('the sandbox party holds no ether');
  const suspect = listed.address.toLowerCase();
  const { oneHop, twoHops, between, quiet, poisoned, hub, depositor, deposit } = SANDBOX_WALLETS;
  let n = 0;
  const pay = (from: string, to: string, value: bigint): Draft => {
    n += 1;
    const at = WORLD_GENESIS_S + DAY_S + n * 60;
    const tx = txOf(seed, 'ethereum', `sandbox ${n}`);
    return { kind: 'native', tx, at, from, to, value, token: null, success: true };
  };
  const friends = [1, 2, 3].map((i) => wallet(`sandbox quiet friend ${i}`));
  const crowd = Array.from({ length: HUB_COUNTERPARTIES }, (_, i) => wallet(`sandbox crowd ${i}`));
  const bait = { ...pay(poisoned, suspect, 0n), kind: 'token', token: tokenOf(seed, 0) } as const;
  return [
    pay(oneHop, suspect, 2n * WEI),
    pay(between, suspect, 3n * WEI),
    pay(between, twoHops, WEI / 2n),
    ...friends.map((friend) => pay(quiet, friend, WEI)),
    pay(wallet('sandbox payer'), poisoned, WEI),
    bait,
    ...crowd.map((other) => pay(hub, other, WEI / 100n)),
    pay(depositor, deposit, 2n * WEI),
    pay(deposit, SANDBOX_LABELLED.hot, (199n * WEI) / 100n),
    pay(SANDBOX_LABELLED.hot, depositor, WEI),
    ...bridgeRows(pay, tokenOf(seed, 0)),
    ...scoredRows(pay, suspect),
    ...customerRows(pay),
    ...deployerRows(WORLD_GENESIS_S + 2 * DAY_S),
  ];
}

type Pay = (from: string, to: string, value: bigint) => Draft;

/** The payments of one customer into one deposit address from two wallets. */
function customerRows(pay: Pay): Draft[] {
  const { customer, customersOther, customersDeposit } = SANDBOX_WALLETS;
  return [customer, customersOther].flatMap((from) => [
    pay(from, customersDeposit, WEI),
    pay(customersDeposit, SANDBOX_LABELLED.hot, (99n * WEI) / 100n),
  ]);
}

/** The funding and the payments of the scored wallet. */
function scoredRows(pay: Pay, suspect: string): Draft[] {
  const { scored, flagged, proxy } = SANDBOX_SCORED;
  return [
    pay(suspect, scored, 3n * WEI),
    pay(scored, WORLD_MIXER, WEI),
    pay(scored, flagged, WEI / 2n),
    pay(flagged, proxy, 0n),
  ];
}

/** The transfers of the bridged wallet to and from bridges, and the price of a message. */
function bridgeRows(pay: Pay, token: NonNullable<ExplorerRow['token']>): Draft[] {
  const { bridged } = SANDBOX_WALLETS;
  const { celer, wormhole, wormholeCore } = BRIDGES;
  return [
    pay(wallet('sandbox bridge payer'), bridged, 2n * WEI),
    pay(bridged, celer, WEI),
    { ...pay(bridged, wormhole, 250_000_000n), kind: 'token', token },
    { ...pay(celer, bridged, WEI / 3n), kind: 'internal' },
    pay(bridged, wormholeCore, WEI / 1_000n),
  ];
}
