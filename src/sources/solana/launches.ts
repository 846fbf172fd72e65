// Which launches does a transaction of Solana hold, and who signed them?
// It reads what `getTransaction` gives under the encoding `json`: accounts by place, data in
// base58. A transaction that does not hold together is rejected with the reason, never skipped.

import { z } from 'zod';
import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { decodeBase58 } from '../../chain/coin-address.ts';
import { DAY_S } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  AccountPage,
  LaunchFeed,
  ListedTransaction,
  ReadTransaction,
  SeenLaunch,
} from '../../ports/launches.ts';
import { outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import { attempt, type CallBudget, ProviderFault, readProvider } from '../http/provider.ts';
import { callMethod, checkMainnet, NodeError, type SolanaNode } from './history.ts';

const place = z.number().int().nonnegative();
const instruction = outsideRow({
  programIdIndex: place,
  accounts: z.array(place),
  data: z.string(),
});
const transaction = outsideRow({
  slot: z.number().int().nonnegative(),
  blockTime: z.number().int().positive().nullish(),
  meta: outsideRow({
    err: z.unknown(),
    innerInstructions: z
      .array(outsideRow({ index: place, instructions: z.array(instruction) }))
      .nullish(),
    loadedAddresses: outsideRow({
      writable: z.array(z.string()),
      readonly: z.array(z.string()),
    }).nullish(),
  }),
  transaction: outsideRow({
    signatures: z.array(z.string()).min(1),
    message: outsideRow({
      accountKeys: z.array(z.string()).min(1),
      header: outsideRow({ numRequiredSignatures: z.number().int().positive() }),
      instructions: z.array(instruction),
    }),
  }),
});

type WireTransaction = z.output<typeof transaction>;
type Instruction = z.output<typeof instruction>;

/** A launch, and whether its mint was made with it. */
export type FoundLaunch = SeenLaunch & { readonly makes: LaunchLayout['makes'] };

/** The launches of a transaction; `rejected`: why it is none that holds together. */
export function launchesIn(
  value: unknown,
): { readonly launches: readonly FoundLaunch[] } | { readonly rejected: string } {
  const read = transaction.safeParse(value);
  if (!read.success) return { rejected: 'it is no transaction of the encoding json' };
  const told = read.data;
  // What failed has changed nothing.
  if (told.meta.err !== null && told.meta.err !== undefined) return { launches: NONE };
  const { blockTime } = told;
  if (blockTime === null || blockTime === undefined) return { rejected: 'it has no block time' };
  const keys = keysOf(told);
  const stranger = keys.find((key) => parseAddress(key)?.kind !== 'solana');
  if (stranger !== undefined) return { rejected: 'one of its accounts is no key' };
  const launches: FoundLaunch[] = [];
  for (const one of instructionsOf(told)) {
    const program = keys[one.programIdIndex];
    if (program === undefined || one.accounts.some((at) => keys[at] === undefined)) {
      return { rejected: 'an instruction names an account that it does not hold' };
    }
    const layout = layoutOf(program, one);
    const found = layout === undefined ? null : launchOf(layout, one, { keys, told, blockTime });
    if (found !== null) launches.push(found);
  }
  return { launches };
}

const NONE: readonly FoundLaunch[] = Object.freeze([]);

function keysOf({ meta, transaction: { message } }: WireTransaction): string[] {
  const loaded = meta.loadedAddresses;
  return [...message.accountKeys, ...listOrNone(loaded?.writable), ...listOrNone(loaded?.readonly)];
}

function instructionsOf({ meta, transaction: { message } }: WireTransaction): Instruction[] {
  const inner = listOrNone(meta.innerInstructions).flatMap(({ instructions }) => instructions);
  return [...message.instructions, ...inner];
}

function layoutOf(program: string, { data }: Instruction): LaunchLayout | undefined {
  const known = LAUNCH_LAYOUTS.filter((one) => one.program === program);
  if (known.length === 0) return undefined;
  const bytes = decodeBase58(data);
  if (bytes === null) return undefined;
  const hex = Buffer.from(bytes).toString('hex');
  return known.find(({ begins, bytesMin }) => bytes.length >= bytesMin && hex.startsWith(begins));
}

type Within = {
  readonly keys: readonly string[];
  readonly told: WireTransaction;
  readonly blockTime: number;
};

/** The launch of an instruction; `null` where it has no account in the place of its mint. */
function launchOf(
  { mints, signer, made_by, makes }: LaunchLayout,
  { accounts }: Instruction,
  { keys, told, blockTime }: Within,
): FoundLaunch | null {
  const { message, signatures } = told.transaction;
  const keyAt = (at: number): string | undefined => {
    const index = accounts[at];
    return index === undefined ? undefined : keys[index];
  };
  const sides = mints.map(keyAt);
  if (sides.includes(undefined)) return null;
  // A pool of two quotes launches nothing, and of two other tokens nobody can tell which.
  const [mint, another] = sides.filter((key) => !QUOTE_MINTS.has(String(key)));
  if (mint === undefined || another !== undefined) return null;
  const named = accounts[signer];
  const signs = named !== undefined && named < message.header.numRequiredSignatures;
  // Where a program signs for somebody, whoever pays for the transaction has signed it.
  const deployer = signs ? keys[named] : keys[0];
  const [signature] = signatures;
  if (deployer === undefined || signature === undefined || isOfTheChain(deployer, mint))
    return null;
  return { mint, deployer, made_by, signature, slot: told.slot, launched_at: blockTime, makes };
}

/** Whether one of these is the chain's own, and so nobody's. */
function isOfTheChain(...keys: readonly string[]): boolean {
  return keys.some((key) => {
    const parsed = parseAddress(key);
    return parsed === null || isSystemAddress(parsed.address);
  });
}

// What does a Solana node tell of launches: which transactions watched accounts have, and what each
// of them launched? A list proves that it lacks nothing by meeting the transaction that it was
// asked from. A pool launches a token only where nobody knew the token a day before.

const PORT = 'launch_feed';
const PAGE_SIGNATURES = 1_000;
const FINALIZED = { commitment: 'finalized' } as const;

/** How a node is asked for launches, and what one question may spend. */
export type FeedOptions = SolanaNode & {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  /** Pages of a thousand transactions that are listed of an account at once. */
  readonly pagesMax: number;
  readonly simulated: boolean;
};

/** The launches that a node shows. */
export function solanaLaunchFeed(options: FeedOptions): LaunchFeed {
  const { url, timeMs, callsMax } = options;
  const shown = originText(url);
  const provider = {
    name: 'Solana JSON-RPC',
    url: shown,
    simulated: options.simulated,
    now: options.now,
    toReason: (fault: string) =>
      why('provider_failed', { provider: `Solana node ${shown}`, fault }),
  };
  const ask = <T>(signal: AbortSignal, question: (budget: CallBudget) => Promise<T>) =>
    readProvider(PORT, provider, { timeMs, callsMax, signal }, question);
  return {
    listed: (account, after, signal) =>
      ask(signal, async (budget) => {
        await checkMainnet(options, budget);
        return listingOf(options, account, after, budget);
      }),
    launchesOf: (signature, signal) =>
      ask(signal, async (budget): Promise<ReadTransaction> => {
        const read = launchesIn(await transactionOf(options, signature, budget));
        if ('rejected' in read) return read;
        const launches: FoundLaunch[] = [];
        for (const one of read.launches) {
          if (one.makes === 'token' || (await isYoung(options, one, budget))) launches.push(one);
        }
        return { launches: launches.map(({ makes: _, ...launch }) => launch) };
      }),
  };
}

const seconds = z.number().int().positive().nullish();
const signatures = z.array(
  outsideRow({ signature: z.string().min(1), blockTime: seconds, err: z.unknown().optional() }),
);
type Signatures = z.output<typeof signatures>;

function pageOf(
  node: SolanaNode,
  account: string,
  before: string | null,
  budget: CallBudget,
): Promise<Signatures> {
  const from: { before?: string } = before === null ? {} : { before };
  const params = [account, { limit: PAGE_SIGNATURES, ...FINALIZED, ...from }];
  return callMethod(node, 'getSignaturesForAddress', params, signatures, budget);
}

/** The newest first page by page, until the one that was asked from or the bound. */
async function listingOf(
  options: FeedOptions,
  account: string,
  after: string | null,
  budget: CallBudget,
): Promise<AccountPage> {
  const asked_at = await newestBlockAt(options, budget);
  const newestFirst: ListedTransaction[] = [];
  const pagesMax = after === null ? 1 : options.pagesMax;
  const listing = (met: boolean): AccountPage => {
    return { transactions: newestFirst.reverse(), met, asked_at };
  };
  for (let pages = 0, before: string | null = null; pages < pagesMax; pages += 1) {
    const page: Signatures = await pageOf(options, account, before, budget);
    for (const { signature, blockTime, err } of page) {
      if (signature === after) return listing(true);
      const at = blockTime === undefined ? null : blockTime;
      newestFirst.push({ signature, at, failed: err !== null && err !== undefined });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIGNATURES) break;
    before = last.signature;
  }
  return listing(after === null);
}

/**
 * When the newest finalized block of the node was made, in Unix seconds: a node that lags lists as
 * if nothing had happened since. It is asked before the list, which shows at least as much.
 */
async function newestBlockAt(options: FeedOptions, budget: CallBudget): Promise<number> {
  const slot = await callMethod(options, 'getSlot', [FINALIZED], place, budget);
  const time = z.number().int().positive();
  const at = await callMethod(options, 'getBlockTime', [slot], time, budget);
  return Math.min(at, options.now());
}

const VERSION_NEWEST = 1;
const INVALID_PARAMS = -32602;

/** A transaction in the encoding `json`; the newest version is asked for first. */
async function transactionOf(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<unknown> {
  const ask = (maxSupportedTransactionVersion: number) => {
    const how = { encoding: 'json', maxSupportedTransactionVersion, ...FINALIZED };
    return callMethod(
      node,
      'getTransaction',
      [signature, how],
      z.record(z.string(), z.unknown()).nullable(),
      budget,
    );
  };
  const newest = await attempt(NodeError, () => ask(VERSION_NEWEST));
  if (newest instanceof NodeError && newest.code !== INVALID_PARAMS) throw newest;
  const told = newest instanceof NodeError ? await ask(0) : newest;
  if (told !== null) return told;
  throw new ProviderFault('does not know a transaction that it lists', 'passing');
}

/**
 * Whether a mint was unknown a day before its pool. A token with a whole page of transactions
 * before it is established: whoever makes a pool of it has not launched it.
 */
async function isYoung(
  node: SolanaNode,
  { mint, signature, launched_at }: FoundLaunch,
  budget: CallBudget,
): Promise<boolean> {
  const before = await pageOf(node, mint, signature, budget);
  const oldest = before.at(-1);
  if (oldest === undefined) return true;
  if (before.length === PAGE_SIGNATURES) return false;
  const { blockTime } = oldest;
  if (blockTime === null || blockTime === undefined) {
    throw new ProviderFault('does not tell when a transaction was', 'lasting');
  }
  return blockTime > launched_at - DAY_S;
}

// Which instructions launch a token on Solana, and where in them stand its mint and its signer?
// pump.fun: `idl/pump.json` of pump-fun/pump-public-docs. Raydium and Meteora: the decoders of
// sevenlabs-hq/carbon, made from the programs' own IDLs. A discriminator of eight bytes is the
// beginning of SHA-256 of `global:NAME` (Anchor); Raydium's AMM v4 has a tag of one byte.

/** A program's instruction that launches a token. Places count from 0 in the instruction's list. */
export type LaunchLayout = {
  readonly program: string;
  /** The instruction as records name it. */
  readonly made_by: string;
  /** How its data begins, in hex. */
  readonly begins: string;
  /** Its data is no shorter than this, in bytes. */
  readonly bytesMin: number;
  /** Where the mint stands, or the mints of both sides of a pool. */
  readonly mints: readonly [number] | readonly [number, number];
  readonly signer: number;
  /** A pool can be made of any token, a launchpad makes the token itself. */
  readonly makes: 'token' | 'pool';
};

const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const RAYDIUM_V4 = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
const RAYDIUM_CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C';
const RAYDIUM_CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK';
const RAYDIUM_LAUNCHLAB = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj';
const METEORA_DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo';
const METEORA_DAMM_V2 = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG';
const METEORA_DBC = 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN';
const METEORA_POOLS = 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB';

type Rest = Pick<LaunchLayout, 'mints' | 'signer'>;

function anchor(makes: 'token' | 'pool', program: string, venue: string) {
  return (instruction: string, begins: string, { mints, signer }: Rest): LaunchLayout => {
    return {
      program,
      made_by: `${venue}.${instruction}`,
      begins,
      bytesMin: 8,
      mints,
      signer,
      makes,
    };
  };
}

const pump = anchor('token', PUMP, 'pump');
const cpmm = anchor('pool', RAYDIUM_CPMM, 'raydium_cpmm');
const clmm = anchor('pool', RAYDIUM_CLMM, 'raydium_clmm');
const launchlab = anchor('token', RAYDIUM_LAUNCHLAB, 'raydium_launchlab');
const dlmm = anchor('pool', METEORA_DLMM, 'meteora_dlmm');
const damm = anchor('pool', METEORA_DAMM_V2, 'meteora_damm_v2');
const dbc = anchor('token', METEORA_DBC, 'meteora_dbc');
const pools = anchor('pool', METEORA_POOLS, 'meteora_pools');

/** Every instruction that is read as a launch. */
export const LAUNCH_LAYOUTS: readonly LaunchLayout[] = [
  pump('create', '181ec828051c0777', { mints: [0], signer: 7 }),
  pump('create_v2', 'd6904cec5f8b31b4', { mints: [0], signer: 5 }),
  {
    program: RAYDIUM_V4,
    made_by: 'raydium_v4.initialize2',
    begins: '01',
    bytesMin: 26,
    mints: [8, 9],
    signer: 17,
    makes: 'pool',
  },
  cpmm('initialize', 'afaf6d1f0d989bed', { mints: [4, 5], signer: 0 }),
  cpmm('initialize_with_permission', '3f37fe4131b25979', { mints: [5, 6], signer: 0 }),
  clmm('create_pool', 'e992d18ecf6840bc', { mints: [3, 4], signer: 0 }),
  launchlab('initialize', 'afaf6d1f0d989bed', { mints: [6], signer: 0 }),
  launchlab('initialize_v2', '4399af27da102620', { mints: [6], signer: 0 }),
  launchlab('initialize_with_token_2022', '25be7ede2c9aab11', { mints: [6], signer: 0 }),
  dlmm('initialize_lb_pair', '2d9aedd2dd0fa65c', { mints: [2, 3], signer: 8 }),
  dlmm('initialize_lb_pair2', '493b2478ed536cc6', { mints: [2, 3], signer: 8 }),
  dlmm('initialize_customizable_permissionless_lb_pair', '2e2729876fb7c840', {
    mints: [2, 3],
    signer: 8,
  }),
  dlmm('initialize_customizable_permissionless_lb_pair2', 'f349817e3313f16b', {
    mints: [2, 3],
    signer: 8,
  }),
  damm('initialize_pool', '5fb40aac54aee828', { mints: [8, 9], signer: 3 }),
  damm('initialize_customizable_pool', '14a1f118bdddb402', { mints: [7, 8], signer: 3 }),
  damm('initialize_pool_with_dynamic_config', '955248c5fdfc440f', { mints: [9, 10], signer: 3 }),
  dbc('initialize_virtual_pool_with_spl_token', '8c55d7b06636684f', { mints: [3], signer: 10 }),
  dbc('initialize_virtual_pool_with_token2022', 'a976334e916edc9b', { mints: [3], signer: 8 }),
  pools('initialize_permissionless_pool', '76ad299dad486167', { mints: [2, 3], signer: 17 }),
  pools('initialize_permissionless_pool_with_fee_tier', '06874493e552a971', {
    mints: [2, 3],
    signer: 17,
  }),
  pools('initialize_permissionless_constant_product_pool_with_config', '07a68aabceabecf4', {
    mints: [3, 4],
    signer: 18,
  }),
  pools('initialize_permissionless_constant_product_pool_with_config2', '3095dc823d0b09b2', {
    mints: [3, 4],
    signer: 18,
  }),
  pools('initialize_customizable_permissionless_constant_product_pool', '9118acc2db7d03be', {
    mints: [2, 3],
    signer: 17,
  }),
];

/**
 * The accounts whose transactions are listed. One that stands in launches alone is far cheaper than
 * its program: pump.fun's mint authority, and the accounts that take Raydium's fee for a new pool.
 */
export const WATCHED_ACCOUNTS = [
  'TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM',
  '7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5',
  'DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8',
  RAYDIUM_LAUNCHLAB,
  METEORA_DBC,
  METEORA_DAMM_V2,
  METEORA_DLMM,
  METEORA_POOLS,
  RAYDIUM_CLMM,
] as const;

/** What pools are priced in: wrapped SOL, USDC, USDT and USD1. */
export const QUOTE_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  'USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB',
]);
