// Finds the launches in a Solana transaction, and their signers. It reads the result of
// `getTransaction` under the encoding `json`: accounts by index, data in base58. An inconsistent
// transaction is rejected with the reason, never skipped.

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
  UnreadLaunch,
} from '../../ports/launches.ts';
import { outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import { attempt, type CallBudget, ProviderFault, readProvider } from '../http/provider.ts';
import {
  callMethod,
  checkMainnet,
  NodeError,
  type SolanaNode,
  TOKEN_PROGRAM_IDS,
} from './history.ts';

const place = z.number().int().nonnegative();
const instruction = outsideRow({
  programIdIndex: place,
  accounts: z.array(place),
  data: z.string(),
  stackHeight: z.number().int().positive().nullish(),
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

/** A pool as its transaction shows it. `maker`: who signed for it. */
export type FoundPool = Omit<SeenLaunch, 'deployer' | 'credited_by'> & { readonly maker: string };

export type FoundLaunches = {
  /** Mints that a launchpad made. */
  readonly launches: readonly SeenLaunch[];
  /** Pools that no launchpad made, each of a token that may be older. */
  readonly pools: readonly FoundPool[];
  /** The mints that it made, and who signed it beside each of them. */
  readonly made: ReadonlyMap<string, readonly string[]>;
};

/** The launches of a transaction; `rejected`: why it is none that holds together. */
export function launchesIn(value: unknown): FoundLaunches | { readonly rejected: string } {
  const read = transaction.safeParse(value);
  if (!read.success) return { rejected: 'it is no transaction of the encoding json' };
  const told = read.data;
  // A failed transaction changed nothing.
  if (told.meta.err !== null && told.meta.err !== undefined) return NOTHING;
  const { blockTime } = told;
  if (blockTime === null || blockTime === undefined) return { rejected: 'it has no block time' };
  const { accountKeys, header } = told.transaction.message;
  const loaded = told.meta.loadedAddresses;
  const keys = [...accountKeys, ...listOrNone(loaded?.writable), ...listOrNone(loaded?.readonly)];
  if (keys.some((key) => parseAddress(key)?.kind !== 'solana')) {
    return { rejected: 'one of its accounts is no key' };
  }
  const signers = keys.slice(0, header.numRequiredSignatures);
  const launches: SeenLaunch[] = [];
  const pools: FoundPool[] = [];
  const made = new Map<string, readonly string[]>();
  for (const { one, callers } of instructionsOf(told)) {
    const program = keys[one.programIdIndex];
    if (program === undefined || one.accounts.some((at) => keys[at] === undefined)) {
      return { rejected: 'an instruction names an account that it does not hold' };
    }
    const bytes = DECODED.has(program) ? decodeBase58(one.data) : null;
    if (bytes === null) continue;
    const mint = TOKEN_PROGRAMS.has(program) && MAKES_MINT.has(bytes[0]) ? one.accounts[0] : null;
    const isMade = mint === null || mint === undefined ? undefined : keys[mint];
    if (isMade !== undefined)
      made.set(
        isMade,
        signers.filter((key) => key !== isMade),
      );
    const layout = layoutOf(program, bytes);
    const found = layout === undefined ? null : poolOf(layout, one, { keys, told, blockTime });
    if (layout === undefined || found === null) continue;
    if (layout.makes === 'pool') {
      // A launchpad that moves its tokens to an exchange launches nothing, and neither does whoever
      // has it do so.
      if (!callers.some((at) => LAUNCHPADS.has(String(keys[at])))) pools.push(found);
    } else if (!isOfTheChain(found.maker)) {
      const { maker: deployer, ...launch } = found;
      launches.push({ ...launch, deployer, credited_by: 'creation' });
    }
  }
  return { launches, pools, made };
}

const NOTHING: FoundLaunches = { launches: [], pools: [], made: new Map() };

const TOKEN_PROGRAMS: ReadonlySet<string> = new Set(TOKEN_PROGRAM_IDS);
/** The first byte of `InitializeMint` and `InitializeMint2` in both token programs. */
const MAKES_MINT: ReadonlySet<number | undefined> = new Set([0, 20]);

type Called = { readonly one: Instruction; readonly callers: readonly number[] };

/** Every instruction, with the places of the programs that called it, itself or through others. */
function instructionsOf({ meta, transaction: { message } }: WireTransaction): Called[] {
  const called: Called[] = message.instructions.map((one) => ({ one, callers: [] }));
  for (const { index, instructions } of listOrNone(meta.innerInstructions)) {
    const top = message.instructions[index];
    let above: { readonly height: number; readonly program: number }[] = [];
    if (top !== undefined) above = [{ height: 1, program: top.programIdIndex }];
    for (const one of instructions) {
      const { stackHeight, programIdIndex: program } = one;
      // A node that does not tell the height shows no caller: any that came before may be one.
      const height = stackHeight === null || stackHeight === undefined ? Infinity : stackHeight;
      above = above.filter((caller) => caller.height < height || height === Infinity);
      called.push({ one, callers: above.map((caller) => caller.program) });
      above.push({ height, program });
    }
  }
  return called;
}

function layoutOf(program: string, bytes: Uint8Array): LaunchLayout | undefined {
  const hex = Buffer.from(bytes).toString('hex');
  return LAUNCH_LAYOUTS.find(
    (one) => one.program === program && bytes.length >= one.bytesMin && hex.startsWith(one.begins),
  );
}

type Within = {
  readonly keys: readonly string[];
  readonly told: WireTransaction;
  readonly blockTime: number;
};

/** The pooled mint of an instruction; `null` if it has no account at the index of its mint. */
function poolOf(
  { mints, signer, made_by }: LaunchLayout,
  { accounts }: Instruction,
  { keys, told, blockTime }: Within,
): FoundPool | null {
  const { message, signatures } = told.transaction;
  const keyAt = (at: number): string | undefined => {
    const index = accounts[at];
    return index === undefined ? undefined : keys[index];
  };
  const sides = mints.map(keyAt);
  if (sides.includes(undefined)) return null;
  // A pool of two quotes launches nothing, and of two other tokens nobody can tell which.
  const [mint, another] = sides.filter((key) => !QUOTE_MINTS.has(String(key)));
  if (mint === undefined || another !== undefined || isOfTheChain(mint)) return null;
  const named = accounts[signer];
  const signs = named !== undefined && named < message.header.numRequiredSignatures;
  // Where a program signs for somebody, whoever pays for the transaction has signed it.
  const maker = signs ? keys[named] : keys[0];
  const [signature] = signatures;
  if (maker === undefined || signature === undefined) return null;
  return { mint, maker, made_by, signature, slot: told.slot, launched_at: blockTime };
}

/** Whether it is the chain's own, and so nobody's. */
function isOfTheChain(key: string): boolean {
  const parsed = parseAddress(key);
  return parsed === null || isSystemAddress(parsed.address);
}

// Reads launches from a Solana node: the transactions of watched accounts, and the launches in
// each. A list is complete if it meets the transaction that it was requested from. A pool credits
// the signer for the mint itself, if the node still has that transaction.

const PORT = 'launch_feed';
const PAGE_SIGNATURES = 1_000;
const FINALIZED = { commitment: 'finalized' } as const;

/** The node of launches, and the budget of one request. */
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
        const launches = [...read.launches];
        const unread: UnreadLaunch[] = [];
        for (const pool of read.pools) {
          const { mint } = pool;
          if (launches.some((one) => one.mint === mint)) continue;
          const signers = read.made.get(mint);
          const from =
            signers === undefined ? await beginningOf(options, pool, budget) : { signers };
          if ('unread' in from) unread.push({ mint, reason: from.unread });
          const launch = creditOf(pool, from);
          if (launch !== null) launches.push(launch);
        }
        return { launches, unread };
      }),
  };
}

/**
 * The beginning of a mint: by a launchpad, which launched it then; by a transaction with these
 * signers; so long ago that a pool of it launches nothing; or unread with the reason.
 */
type Beginning =
  | { readonly launch: SeenLaunch }
  | { readonly signers: readonly string[] }
  | { readonly established: true }
  | { readonly unread: string };

/** The launch of a pool, by how its mint began; `null` where it launches nothing of anybody's. */
function creditOf({ maker, ...pool }: FoundPool, from: Beginning): SeenLaunch | null {
  if ('launch' in from) return from.launch;
  if (!('signers' in from)) return null;
  const [only, another] = from.signers;
  // Of several who signed for the mint nobody can tell whose it is, but for who made the pool too.
  const deployer = from.signers.includes(maker) ? maker : another === undefined ? only : undefined;
  if (deployer === undefined || isOfTheChain(deployer)) return null;
  return { ...pool, deployer, credited_by: 'first_transaction' };
}

/** A mint is established that more transactions name than are listed, some so long before. */
const ESTABLISHED_S = 30 * DAY_S;
/** How many transactions may name a mint before it is made: anybody can send to its address. */
const NAMED_BEFORE_MAX = 5;

/** Lists what names a mint, from its pool back, and reads the oldest until one makes the mint. */
async function beginningOf(
  options: FeedOptions,
  { mint, signature, launched_at }: FoundPool,
  budget: CallBudget,
): Promise<Beginning> {
  let oldest: readonly string[] = [];
  let [before, at]: [string, number | null | undefined] = [signature, null];
  for (let pages = 0; ; pages += 1) {
    if (pages >= options.pagesMax) {
      if (typeof at === 'number' && at <= launched_at - ESTABLISHED_S) return { established: true };
      return { unread: `over ${pages * PAGE_SIGNATURES} transactions name it before its pool` };
    }
    const page = await pageOf(options, mint, before, budget);
    const stood = page.filter(({ err }) => err === null || err === undefined);
    oldest = [...oldest, ...stood.map((one) => one.signature)].slice(-NAMED_BEFORE_MAX);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIGNATURES) break;
    [before, at] = [last.signature, last.blockTime];
  }
  for (const named of oldest.toReversed()) {
    const read = launchesIn(await transactionOf(options, named, budget));
    if ('rejected' in read) return { unread: `a broken transaction: ${read.rejected}` };
    const launch = read.launches.find((one) => one.mint === mint);
    if (launch !== undefined) return { launch };
    const signers = read.made.get(mint);
    if (signers !== undefined) return { signers };
  }
  return { unread: 'the node lists no transaction that made it' };
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

// The instructions that launch a token on Solana, with the indexes of mint and signer. pump.fun:
// `idl/pump.json` of pump-fun/pump-public-docs. Raydium and Meteora: the decoders of
// sevenlabs-hq/carbon, made from the programs' own IDLs. A discriminator of eight bytes is the
// beginning of SHA-256 of `global:NAME` (Anchor); Raydium's AMM v4 has a tag of one byte.

/** A program's instruction that launches a token. Places count from 0 in the instruction's list. */
export type LaunchLayout = {
  readonly program: string;
  /** The instruction as records name it. */
  readonly made_by: string;
  /** The first bytes of its data, in hex. */
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

/** The programs that make a token and its first market themselves. */
const LAUNCHPADS: ReadonlySet<string> = new Set(
  LAUNCH_LAYOUTS.flatMap(({ program, makes }) => (makes === 'token' ? [program] : [])),
);
/** The programs whose instructions are looked into. */
const DECODED: ReadonlySet<string> = new Set([
  ...LAUNCH_LAYOUTS.map(({ program }) => program),
  ...TOKEN_PROGRAMS,
]);

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

/** The quote mints of pools: wrapped SOL, USDC, USDT and USD1. */
export const QUOTE_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  'USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB',
]);
