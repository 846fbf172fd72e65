// What do the tests of the import import into, and from where?
// A store that keeps each transfer once, as the port promises, and a folder that is cleared away.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { numberTransfers } from '../../../chain/transfer.ts';
import { read, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { BulkImportOrder, BulkImportOutcome } from '../../../ports/indexing/bulk-import.ts';
import type {
  BlockFact,
  HeldCreation,
  HeldRange,
  TransactionFact,
  TransferFact,
  TransferStorePort,
} from '../../../ports/indexing/transfer-store.ts';
import { bulkImporter } from './bulk-import.ts';
import type { ImportStore } from './write-blocks.ts';

/** A store in memory; `failAt` is the call to append, from 1, at which it does not answer. */
export class KeptFacts implements ImportStore {
  readonly transfers = new Map<string, TransferFact>();
  readonly creations = new Map<string, HeldCreation>();
  readonly blocks = new Map<number, BlockFact>();
  readonly transactions = new Map<string, TransactionFact>();
  readonly ranges: HeldRange[] = [];
  appends = 0;
  failAt: number | null = null;
  /** How many transfers of each append the store says it holds another fork of. */
  ofAnotherFork = 0;

  readonly appendImported: ImportStore['appendImported'] = async (facts) => {
    this.appends += 1;
    for (const { transfer, identity, n } of numberTransfers(facts.transfers)) {
      const fact = facts.transfers.find((one) => one === transfer);
      if (fact !== undefined) this.transfers.set(`${identity} ${n}`, fact);
    }
    for (const one of facts.creations) this.creations.set(one.created, one);
    for (const one of facts.blocks) this.blocks.set(one.number, one);
    for (const one of facts.transactions) this.transactions.set(one.tx_hash, one);
    // It fails after it has written: that is the crash which must change nothing.
    if (this.appends === this.failAt) {
      return unread('transfer_store', why('store_unreadable', { what: 'It', fault: 'down' }));
    }
    const counts = { transfers: facts.transfers.length, creations: facts.creations.length };
    return read({ ...counts, of_another_fork: this.ofAnotherFork }, ORIGIN);
  };

  readonly recordCoverage: ImportStore['recordCoverage'] = async (ranges) => {
    this.ranges.push(...ranges);
    return read(true, ORIGIN);
  };

  readonly blockTimes: ImportStore['blockTimes'] = async (_, numbers) => {
    const held = [...this.blocks.values()].filter(({ number }) => numbers.includes(number));
    return read(new Map(held.map(({ number, time }) => [number, time])), ORIGIN);
  };

  /** What would be served: transfers that did not fail, in an order of their own. */
  served(): readonly TransferFact[] {
    const kept = [...this.transfers].filter(([, one]) => one.success !== false);
    return kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  }

  /** `from → to: amount kind success` of each, sorted. */
  lines(): readonly string[] {
    const line = (one: TransferFact) =>
      `${one.from.slice(0, 6)} → ${one.to.slice(0, 6)}: ${one.raw_amount} ${one.kind} ${one.success}`;
    return this.served().map(line).sort();
  }
}

const ORIGIN = {
  port: 'transfer_store' satisfies TransferStorePort,
  source: { name: 'memory', url: 'urn:memory', kind: 'table', simulated: false, as_of: 0 },
} as const;

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** A folder for one test. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-import-'));
  folders.push(folder);
  return folder;
}

/** What an import of paths into a store came to, with what it told on the way. */
type Imported = {
  readonly outcome: BulkImportOutcome;
  readonly notes: readonly string[];
  readonly phases: readonly string[];
};

type How = Partial<BulkImportOrder> & {
  readonly folder: string;
  readonly chunkRows?: number;
  readonly signal?: AbortSignal;
};

/** Imports paths as observed files of Ethereum, unless it is said otherwise. */
export async function imported(
  store: ImportStore,
  paths: readonly string[],
  { folder, chunkRows, signal, ...said }: How,
): Promise<Imported> {
  const notes: string[] = [];
  const phases: string[] = [];
  const order = { chain: 'ethereum', origin: 'observed', declared: null } as const;
  const run = bulkImporter(store, join(folder, 'imports'), chunkRows);
  const outcome = await run(
    { ...order, failed_excluded: false, ...said, paths },
    {
      onNote: (line) => void notes.push(line),
      onProgress: ({ phase }) => void phases.push(phase),
      signal: signal === undefined ? new AbortController().signal : signal,
    },
  );
  return { outcome, notes, phases };
}

/** The record of an import that completed, or the reason why it did not as an error. */
export function recordOf({ outcome }: Imported) {
  if (outcome.outcome === 'completed') return outcome.record;
  throw new Error(outcome.outcome === 'unread' ? outcome.why.reason : outcome.outcome);
}
