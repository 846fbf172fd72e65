// What does a Solana node tell of launches: which transactions watched accounts have, and what each
// of them launched? A list proves that it lacks nothing by meeting the transaction that it was
// asked from. A pool launches a token only where nobody knew the token a day before.

import { z } from 'zod';
import { DAY_S } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  LaunchFeed,
  LaunchFeedPort,
  ListedTransaction,
  Listing,
  ReadTransaction,
} from '../../ports/launches/launch-feed.ts';
import { outsideRow } from '../http/forms.ts';
import { shownAddress } from '../http/outbound-call.ts';
import {
  attempt,
  type CallBudget,
  observation,
  ProviderFault,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import { type FoundLaunch, launchesIn } from './launches.ts';
import { called, checkMainnet, NodeError, type SolanaNode } from './node.ts';

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
  const { url, now, simulated, timeMs, callsMax } = options;
  const shown = shownAddress(url);
  const asked = async <T>(
    signal: AbortSignal,
    question: (budget: CallBudget) => Promise<T>,
  ): Promise<Reading<T, LaunchFeedPort>> => {
    try {
      const value = await withBudget({ timeMs, callsMax, signal }, question);
      const named = { name: 'Solana JSON-RPC', url: shown, simulated };
      return read(value, { port: PORT, source: observation(named, now) });
    } catch (error) {
      const provider = `Solana node ${shown}`;
      return unread(
        PORT,
        whyUnanswered(error, (fault) => why('provider_failed', { provider, fault })),
      );
    }
  };
  return {
    listed: (account, after, signal) =>
      asked(signal, async (budget) => {
        await checkMainnet(options, budget);
        return listingOf(options, account, after, budget);
      }),
    launchesOf: (signature, signal) =>
      asked(signal, async (budget): Promise<ReadTransaction> => {
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
  return called(node, 'getSignaturesForAddress', params, signatures, budget);
}

/** The newest first page by page, until the one that was asked from or the bound. */
async function listingOf(
  options: FeedOptions,
  account: string,
  after: string | null,
  budget: CallBudget,
): Promise<Listing> {
  const asked_at = options.now();
  const newestFirst: ListedTransaction[] = [];
  const pagesMax = after === null ? 1 : options.pagesMax;
  const told = (met: boolean): Listing => {
    return { transactions: newestFirst.reverse(), met, asked_at };
  };
  for (let pages = 0, before: string | null = null; pages < pagesMax; pages += 1) {
    const page: Signatures = await pageOf(options, account, before, budget);
    for (const { signature, blockTime, err } of page) {
      if (signature === after) return told(true);
      const at = blockTime === undefined ? null : blockTime;
      newestFirst.push({ signature, at, failed: err !== null && err !== undefined });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIGNATURES) break;
    before = last.signature;
  }
  return told(after === null);
}

const VERSION_NEWEST = 1;
const INVALID_PARAMS = -32602;

/** A transaction in the encoding `json`; the newest version is asked for first. */
async function transactionOf(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<unknown> {
  const asked = (maxSupportedTransactionVersion: number) => {
    const how = { encoding: 'json', maxSupportedTransactionVersion, ...FINALIZED };
    return called(node, 'getTransaction', [signature, how], z.unknown(), budget);
  };
  const newest = await attempt(NodeError, () => asked(VERSION_NEWEST));
  if (newest instanceof NodeError && newest.code !== INVALID_PARAMS) throw newest;
  const told = newest instanceof NodeError ? await asked(0) : newest;
  if (told !== null && told !== undefined) return told;
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
