// With whom did these Solana addresses exchange transfers, as a node tells it when asked now?
// It covers nothing, however far it reads: lamports of closed accounts and withdrawals are not
// read, and a node lists no closed token account. What it shows denies nothing.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { map, type Partly, part, read, seen, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history/transfer-history.ts';
import { outsideBody, outsideRow } from '../http/forms.ts';
import { shownAddress } from '../http/outbound-call.ts';
import {
  attempt,
  type CallBudget,
  observation,
  ProviderFault,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import { called, checkMainnet, NodeError, type SolanaNode } from './node.ts';
import {
  type ParsedTransaction,
  parsedTransaction,
  tokenAccountsIn,
  transfersIn,
} from './transfers.ts';

const PORT = 'raw_history';

/** What is read live, and what one request may spend on it. */
type SolanaHistoryOptions = SolanaNode & {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

/** Transfer history of Solana read live from a node. */
export function solanaHistory(options: SolanaHistoryOptions): RawHistory {
  return {
    chainsRead: async () => read(['solana'], { port: PORT, source: sourceOf(options) }),
    neighbourhoods: async (addresses, limits) => {
      const { timeMs, callsMax } = options;
      return withBudget({ timeMs, callsMax, signal: limits.signal }, async (budget) => {
        const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
        let room = limits.batchRowsMax;
        for (const address of addresses) {
          const rowsMax = Math.min(limits.rowsMax, room);
          const reading = await ofAddress(options, address, { ...limits, rowsMax }, budget);
          readings.set(address, reading);
          const rows = seen(map(reading, ({ counterparties }) => counterparties));
          if (rows !== null) for (const { transfer_count } of rows) room -= transfer_count;
        }
        return readings;
      });
    },
  };
}

function sourceOf(options: SolanaHistoryOptions): Source {
  const { now, simulated } = options;
  return observation({ name: 'Solana JSON-RPC', url: shownAddress(options.url), simulated }, now);
}

async function ofAddress(
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
  if (options.simulated) return part(value, origin, why('simulated'));
  return gathered.cut === null ? read(value, origin) : part(value, origin, gathered.cut);
}

function whyOf(error: unknown, { url }: SolanaNode): Why {
  const provider = `Solana node ${shownAddress(url)}`;
  return whyUnanswered(error, (fault) => why('provider_failed', { provider, fault }));
}

/** What was read so far, by signature: a part keeps it when the rest fails. */
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
  const first = await called(node, 'getFirstAvailableBlock', [], slotOf, budget);
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
const TOKEN_PROGRAM_IDS = [
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
    return called(node, 'getTokenAccountsByOwner', params, ownedAccounts, budget);
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
    const page: z.output<typeof signatures> = await called(
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

/** A transaction; the newest version is asked for first, which older nodes do not know. */
async function transactionOf(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<ParsedTransaction> {
  const asked = (maxSupportedTransactionVersion: number) => {
    const how = { encoding: 'jsonParsed', maxSupportedTransactionVersion, ...FINALIZED };
    const schema = parsedTransaction.nullable();
    return called(node, 'getTransaction', [signature, how], schema, budget);
  };
  const newest = await attempt(NodeError, () => asked(VERSION_NEWEST));
  if (newest instanceof NodeError && newest.code !== INVALID_PARAMS) throw newest;
  const tx = newest instanceof NodeError ? await asked(0) : newest;
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
