// With whom did these Solana addresses exchange transfers, as a node tells it when asked now?
// It covers nothing, however far it reads: lamports of closed accounts and withdrawals are not
// read, and a node lists no closed token account. What it shows denies nothing.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { parseRawAmount } from '../../chain/amount.ts';
import { collect } from '../../evidence/measure.ts';
import {
  map,
  Part,
  type Partly,
  part,
  Read,
  read,
  rowsSeen,
  unread,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history.ts';
import { type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { type LiveHolding, mayHold, roughBytes, sharedReadings } from '../http/held-readings.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  attempt,
  BudgetSpent,
  type CallBudget,
  observation,
  ProviderFault,
  type ProviderGuard,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';

const PORT = 'raw_history';

type SolanaHistoryOptions = SolanaNode & {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
} & LiveHolding;

type AddressReading = Partly<Neighbourhood, RawHistoryPort>;
/** A reading of an address. `isFull`: its caller's budget was all for it, and came to its end. */
type HeldAddress = { readonly reading: AddressReading; readonly isFull: boolean };

const HELD = { entriesMax: 5_000, bytesMax: 32 * 2 ** 20 };

/** Transfer history of Solana read live from a node. */
export function solanaHistory(options: SolanaHistoryOptions): RawHistory {
  const { heldMs, nowMs } = options;
  const shared = sharedReadings<HeldAddress>({
    ...HELD,
    nowMs,
    // A busy address takes the whole budget of a request each time: such a part holds as well.
    holdMs: ({ reading, isFull }) =>
      isFull || (!isOfBudget(reading) && mayHold(reading)) ? heldMs : 0,
    bytesOf: ({ reading }) => roughBytes(reading),
    isCutShort: ({ reading }) => isOfBudget(reading),
  });
  return {
    chainsRead: async () => read(['solana'], { port: PORT, source: sourceOf(options) }),
    neighbourhoods: async (addresses, limits) => {
      const { timeMs, callsMax } = options;
      return withBudget({ timeMs, callsMax, signal: limits.signal }, async (budget) => {
        const readings = new Map<string, AddressReading>();
        let room = limits.batchRowsMax;
        for (const address of addresses) {
          const rowsMax = Math.min(limits.rowsMax, room);
          const asked = { ...limits, rowsMax };
          const { degreeMax, transfersPerCounterpartyMax } = limits;
          const key = [address, rowsMax, degreeMax, transfersPerCounterpartyMax].join(' ');
          const isFirst = readings.size === 0;
          const told = await attempt(BudgetSpent, () =>
            shared.ask(key, budget, async (of) => {
              const reading = await readAddress(options, address, asked, of);
              const isFull = isFirst && reading instanceof Part && !limits.signal.aborted;
              return { reading, isFull };
            }),
          );
          const reading =
            told instanceof BudgetSpent ? unread(PORT, whyOf(told, options)) : told.reading;
          readings.set(address, reading);
          const rows = rowsSeen(map(reading, ({ counterparties }) => counterparties));
          if (rows !== null) for (const { transfer_count } of rows) room -= transfer_count;
        }
        return readings;
      });
    },
  };
}

const OF_BUDGETS = ['time_budget', 'call_budget', 'signal_calls_spent'];

/** Whether a reading ended with a budget. */
function isOfBudget(reading: AddressReading): boolean {
  return !(reading instanceof Read) && OF_BUDGETS.includes(reading.why.code);
}

function sourceOf(options: SolanaHistoryOptions): Source {
  const { now, simulated } = options;
  return observation({ name: 'Solana JSON-RPC', url: originText(options.url), simulated }, now);
}

async function readAddress(
  options: SolanaHistoryOptions,
  address: string,
  limits: NeighbourhoodLimits,
  budget: CallBudget,
): Promise<Partly<Neighbourhood, RawHistoryPort>> {
  const parsed = parseAddress(address);
  if (parsed?.kind !== 'solana') {
    const kind = parsed === null ? 'no known form' : parsed.kind;
    return unread(PORT, why('not_walked_kind', { kind }));
  }
  if (budget.signal.aborted) return unread(PORT, why('time_budget'));
  const origin = { port: PORT, source: sourceOf(options) } as const;
  const gathered: Gathered = { transfers: new Map(), cut: null };
  const failed = await attempt(Error, () =>
    gather(options, address, limits.rowsMax, budget, gathered),
  );
  if (failed instanceof Error) {
    gathered.cut = whyOf(failed, options);
    if (gathered.transfers.size === 0) return unread(PORT, gathered.cut);
  }
  const value = neighbourhoodOf(address, gathered, limits);
  if (gathered.cut !== null) return part(value, origin, gathered.cut);
  return options.simulated ? part(value, origin, why('simulated')) : read(value, origin);
}

function whyOf(error: unknown, { url }: SolanaNode): Why {
  const provider = `Solana node ${originText(url)}`;
  return whyUnanswered(error, (fault) => why('provider_failed', { provider, fault }));
}

/** The results so far, by signature: a part keeps them when the rest fails. */
type Gathered = {
  readonly transfers: Map<string, readonly HistoryTransfer[]>;
  cut: Why | null;
};

const TOKEN_ACCOUNTS_MAX = 50;
const FINALIZED = { commitment: 'finalized' } as const;

async function gather(
  node: SolanaHistoryOptions,
  address: string,
  rowsMax: number,
  budget: CallBudget,
  gathered: Gathered,
): Promise<void> {
  await checkMainnet(node, budget);
  const slotOf = z.number().int().nonnegative();
  const first = await callMethod(node, 'getFirstAvailableBlock', [], slotOf, budget);
  const owned = await tokenAccountsOf(node, address, budget);
  const accounts = new Set([address, ...owned.slice(0, TOKEN_ACCOUNTS_MAX)]);
  let rows = 0;
  for (const account of accounts) {
    for await (const { signature, err } of signaturesOf(node, account, budget)) {
      const failed = err !== null && err !== undefined;
      if (gathered.transfers.has(signature) || failed) continue;
      const tx = await transactionOf(node, signature, budget);
      const transfers = transfersIn(tx, address);
      gathered.transfers.set(signature, transfers);
      rows += transfers.length;
      if (rows > rowsMax) {
        gathered.cut = why('row_cap', { address, limit: String(rowsMax) });
        return;
      }
      // A node lists no token account that was closed; its transactions still show it.
      for (const one of tokenAccountsIn(tx, address)) {
        if (accounts.size < TOKEN_ACCOUNTS_MAX) accounts.add(one);
      }
    }
  }
  if (first > 1) {
    const fault = `it keeps history from slot ${first} only, so that its lists just stop`;
    gathered.cut = whyOf(new ProviderFault(fault, 'lasting'), node);
  }
}

/** The token program and its successor. */
export const TOKEN_PROGRAM_IDS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const;
const ownedAccounts = outsideBody({ value: z.array(outsideRow({ pubkey: z.string() })) });

async function tokenAccountsOf(
  node: SolanaNode,
  address: string,
  budget: CallBudget,
): Promise<string[]> {
  const how = { encoding: 'jsonParsed', ...FINALIZED };
  const lists = TOKEN_PROGRAM_IDS.map((programId) => {
    const params = [address, { programId }, how];
    return callMethod(node, 'getTokenAccountsByOwner', params, ownedAccounts, budget);
  });
  return (await Promise.all(lists)).flatMap(({ value }) => value.map(({ pubkey }) => pubkey));
}

const PAGE_SIGNATURES = 1_000;
const PAGES_MAX = 100;
const signatures = z.array(outsideRow({ signature: z.string(), err: z.unknown().optional() }));

/** Every signature of an account, newest first; its list ends where a page is not full. */
async function* signaturesOf(
  node: SolanaNode,
  account: string,
  budget: CallBudget,
): AsyncGenerator<z.output<typeof signatures>[number]> {
  let before: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const from: { before?: string } = before === null ? {} : { before };
    const asked = { limit: PAGE_SIGNATURES, ...FINALIZED, ...from };
    const params = [account, asked];
    const page: z.output<typeof signatures> = await callMethod(
      node,
      'getSignaturesForAddress',
      params,
      signatures,
      budget,
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIGNATURES) return;
    before = last.signature;
  }
  throw new ProviderFault(`has over ${PAGES_MAX} pages of signatures of one account`, 'lasting');
}

const VERSION_NEWEST = 1;
const INVALID_PARAMS = -32602;

/**
 * A transaction, or `null` where the node does not know it; the newest version is asked for first,
 * which older nodes do not know.
 */
export async function fetchTransaction(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<ParsedTransaction | null> {
  const ask = (maxSupportedTransactionVersion: number) => {
    const how = { encoding: 'jsonParsed', maxSupportedTransactionVersion, ...FINALIZED };
    const schema = parsedTransaction.nullable();
    return callMethod(node, 'getTransaction', [signature, how], schema, budget);
  };
  const newest = await attempt(NodeError, () => ask(VERSION_NEWEST));
  if (newest instanceof NodeError && newest.code !== INVALID_PARAMS) throw newest;
  return newest instanceof NodeError ? await ask(0) : newest;
}

async function transactionOf(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<ParsedTransaction> {
  const tx = await fetchTransaction(node, signature, budget);
  if (tx !== null) return tx;
  throw new ProviderFault('does not know a transaction that it lists', 'passing');
}

function neighbourhoodOf(
  address: string,
  { transfers }: Gathered,
  { rowsMax, degreeMax, transfersPerCounterpartyMax }: NeighbourhoodLimits,
): Neighbourhood {
  const rows = [...transfers.values()].flat().sort((a, b) => b.at - a.at || b.block - a.block);
  const byOther = new Map<string, HistoryTransfer[]>();
  for (const row of rows.slice(0, rowsMax))
    collect(byOther, row.from === address ? row.to : row.from, row);
  const known = {
    address,
    degree: byOther.size,
    coverage: [],
    provenance: 'onchain',
  } as const;
  if (byOther.size > degreeMax) return { ...known, counterparties: [] };
  const counterparties = [...byOther].map(([other, list]) => {
    const shown = list.slice(0, transfersPerCounterpartyMax);
    return { address: other, transfers: shown, transfer_count: list.length };
  });
  return { ...known, counterparties };
}

// Each of its error codes means that something was not read; none of them is an empty answer.

/** A node. `url` may carry a key: it is asked and never shown. */
export type SolanaNode = { readonly url: URL; readonly guard: ProviderGuard };

const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 16 * 2 ** 20 };

/** The meaning of a node's codes (Agave's JSON-RPC server). */
const CODES: Readonly<Record<number, string>> = {
  [-32001]: 'the block was cleaned up',
  [-32004]: 'the block is not available',
  [-32005]: 'the node is unhealthy',
  [-32007]: 'the slot was skipped or is missing',
  [-32009]: 'the slot is missing in its long-term storage',
  [-32010]: 'the address is excluded from its index',
  [-32011]: 'it keeps no transaction history',
  [-32014]: 'the status is not available yet',
  [-32015]: 'the version of the transaction is not supported',
  [-32016]: 'it is behind the slot asked for',
  [-32019]: 'its long-term storage cannot be reached',
  [-32020]: 'it does not know the signature to go on from',
  [-32021]: 'it keeps no history of slots',
};
/** Codes after which the same question may soon be answered. */
const PASSING: ReadonlySet<number> = new Set([-32004, -32005, -32014, -32016, -32019]);

/** A node answered with an error; `code` is its own. */
export class NodeError extends ProviderFault {
  readonly code: number;
  constructor(method: string, code: number) {
    const meaning = CODES[code];
    const known = meaning === undefined ? '' : ` (${meaning})`;
    super(`answered error ${code} to ${method}${known}`, PASSING.has(code) ? 'passing' : 'lasting');
    this.name = 'NodeError';
    this.code = code;
  }
}

const answer = outsideBody({
  result: z.unknown().optional(),
  error: outsideRow({ code: z.number().int() }).nullish(),
});

/** Calls a method. Throws `NodeError`, `ProviderFault` or `BudgetSpent`. */
export async function callMethod<T>(
  { url, guard }: SolanaNode,
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<T>,
  budget: CallBudget,
): Promise<T> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return askJson({ guard, budget, url, body, limits: LIMITS, parse: exactJson }, (told) => {
    const read = answer.safeParse(told);
    if (!read.success) throw shapeless(method);
    const { error, result } = read.data;
    if (error !== undefined && error !== null) throw new NodeError(method, error.code);
    const known = schema.safeParse(result);
    if (known.success) return known.data;
    throw shapeless(method);
  });
}

/** The main network's genesis: a node of any other is no source. */
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

/** Throws `ProviderFault` where the node is of another network. */
export async function checkMainnet(node: SolanaNode, budget: CallBudget): Promise<void> {
  const genesis = await callMethod(node, 'getGenesisHash', [], z.string(), budget);
  if (genesis === MAINNET_GENESIS) return;
  throw new ProviderFault('is of another network: its genesis differs', 'lasting');
}

function shapeless(method: string): ProviderFault {
  return new ProviderFault(`answered JSON of another shape to ${method}`, 'passing');
}

// Transfers are read from instructions of the system and token programs. Programs can move lamports
// of accounts that they own without one, so that the found transfers are never all that there may
// be.

const amount = z.union([z.number().int().nonnegative(), z.string().regex(/^[0-9]{1,20}$/)]);
const instruction = outsideRow({ program: z.string().optional(), parsed: z.unknown().optional() });
const balance = outsideRow({
  accountIndex: z.number().int().nonnegative(),
  mint: z.string(),
  owner: z.string().optional(),
  uiTokenAmount: outsideRow({ decimals: z.number().int().min(0).max(255) }),
});

const accountKey = outsideRow({ pubkey: z.string() });

/** A transaction as `getTransaction` gives it with `jsonParsed`, as far as it is read. */
export const parsedTransaction = outsideRow({
  slot: z.number().int().nonnegative(),
  blockTime: z.number().int().nonnegative(),
  meta: outsideRow({
    err: z.unknown().optional(),
    preTokenBalances: z.array(balance).nullish(),
    postTokenBalances: z.array(balance).nullish(),
    innerInstructions: z.array(outsideRow({ instructions: z.array(instruction) })).nullish(),
  }),
  transaction: outsideRow({
    signatures: z.tuple([z.string()], z.string()),
    message: outsideRow({
      accountKeys: z.tuple([accountKey], accountKey),
      instructions: z.array(instruction),
    }),
  }),
});
export type ParsedTransaction = z.output<typeof parsedTransaction>;

const moved = outsideRow({
  type: z.enum(['transfer', 'transferWithSeed', 'createAccount', 'createAccountWithSeed']),
  info: outsideRow({
    source: z.string(),
    destination: z.string().optional(),
    newAccount: z.string().optional(),
    lamports: amount,
  }),
});
const tokenMoved = outsideRow({
  type: z.enum(['transfer', 'transferChecked', 'transferCheckedWithFee']),
  info: outsideRow({
    source: z.string(),
    destination: z.string(),
    amount: amount.optional(),
    mint: z.string().optional(),
    tokenAmount: outsideRow({ amount, decimals: z.number().int().min(0).max(255) }).optional(),
  }),
});

const TOKEN_PROGRAMS: ReadonlySet<string> = new Set(['spl-token', 'spl-token-2022']);

type Holder = { readonly owner: string; readonly mint: string; readonly decimals: number };

/** The transfers of a successful transaction from or to an address; a failed one has none. */
export function transfersIn(tx: ParsedTransaction, address: string): HistoryTransfer[] {
  const { meta, transaction } = tx;
  if (meta.err !== null && meta.err !== undefined) return [];
  const [signature] = transaction.signatures;
  const [payer] = transaction.message.accountKeys;
  const common = {
    chain: 'solana',
    tx: signature,
    block: tx.slot,
    at: tx.blockTime,
    symbol: null,
    usd: null,
    has_market: null,
    success: true,
    initiator: payer.pubkey,
  } as const;
  const holders = holdersOf(tx);
  const found: HistoryTransfer[] = [];
  const take = (one: z.output<typeof instruction>, kind: 'native' | 'internal'): void => {
    const what = one.program === 'system' ? lamportsIn(one.parsed, kind) : null;
    const token =
      one.program !== undefined && TOKEN_PROGRAMS.has(one.program)
        ? tokensIn(one.parsed, holders)
        : null;
    const told = what === null ? token : what;
    if (told !== null && told.from !== told.to) found.push({ ...common, ...told });
  };
  for (const one of transaction.message.instructions) take(one, 'native');
  const { innerInstructions } = meta;
  if (innerInstructions !== null && innerInstructions !== undefined) {
    for (const { instructions } of innerInstructions) {
      for (const one of instructions) take(one, 'internal');
    }
  }
  return found.filter(({ from, to }) => from === address || to === address);
}

type Movement = Pick<HistoryTransfer, 'kind' | 'token' | 'decimals' | 'raw_amount' | 'from' | 'to'>;

function lamportsIn(parsed: unknown, kind: 'native' | 'internal'): Movement | null {
  const read = moved.safeParse(parsed);
  if (!read.success) return null;
  const { source, destination, newAccount, lamports } = read.data.info;
  const to = destination === undefined ? newAccount : destination;
  const raw_amount = parseRawAmount(String(lamports));
  if (to === undefined || raw_amount === null) return null;
  return { kind, token: null, decimals: null, raw_amount, from: source, to };
}

/** Token accounts stand for their owners, where the transaction tells them. */
function tokensIn(parsed: unknown, holders: ReadonlyMap<string, Holder>): Movement | null {
  const read = tokenMoved.safeParse(parsed);
  if (!read.success) return null;
  const { source, destination, amount: plain, mint, tokenAmount } = read.data.info;
  const [giver, taker] = [holders.get(source), holders.get(destination)];
  const known = giver === undefined ? taker : giver;
  const token = mint === undefined ? known?.mint : mint;
  const raw = tokenAmount === undefined ? plain : tokenAmount.amount;
  const raw_amount = raw === undefined ? null : parseRawAmount(String(raw));
  if (token === undefined || raw_amount === null) return null;
  const decimals = tokenAmount === undefined ? known?.decimals : tokenAmount.decimals;
  return {
    kind: 'token',
    token,
    raw_amount,
    decimals: decimals === undefined ? null : decimals,
    from: giver === undefined ? source : giver.owner,
    to: taker === undefined ? destination : taker.owner,
  };
}

function holdersOf({ meta, transaction }: ParsedTransaction): Map<string, Holder> {
  const holders = new Map<string, Holder>();
  for (const list of [meta.preTokenBalances, meta.postTokenBalances]) {
    if (list === null || list === undefined) continue;
    for (const { accountIndex, mint, owner, uiTokenAmount } of list) {
      const account = transaction.message.accountKeys[accountIndex];
      if (account === undefined || owner === undefined) continue;
      holders.set(account.pubkey, { owner, mint, decimals: uiTokenAmount.decimals });
    }
  }
  return holders;
}

/** The token accounts that a transaction shows an address to own, closed ones too. */
export function tokenAccountsIn(tx: ParsedTransaction, address: string): string[] {
  return [...holdersOf(tx)].flatMap(([account, { owner }]) => (owner === address ? [account] : []));
}

// Lamports are JSON numbers of up to 20 digits. An integer of 16 digits or more becomes text, digit
// for digit; everything else is as `JSON.parse` gives it.

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
const WIDE_INTEGER = /^-?[0-9]{16,}$/;

/** Parses JSON without rounding an integer. Throws SyntaxError. */
export function exactJson(text: string): unknown {
  const exact = text.replace(TEXT_OR_NUMBER, (one) => (WIDE_INTEGER.test(one) ? `"${one}"` : one));
  const value: unknown = JSON.parse(exact);
  return value;
}
