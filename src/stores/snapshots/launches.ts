// How many settled launches of these wallets are on record, answered from memory?
// A corpus of too many wallets for memory is asked by wallet. It counts only what has settled.

import { Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { CorpusLookUp, LaunchCorpus, LaunchCount } from '../../ports/launches/launches.ts';
import type { CorpusTable } from '../../ports/launches/table.ts';
import { tableSource } from '../../sources/files/table-source.ts';
import { type Holding, heldTable, type Imports } from './held-table.ts';

const PORT = 'launch_corpus';
/** The name of the corpus as a source. */
export const CORPUS_TITLE = 'Solana launch corpus';
const WHAT = 'the Solana launch corpus';
/** Wallets held in memory, at about 200 bytes each; more are asked by wallet. */
export const WALLETS_IN_MEMORY_MAX = 500_000;
/** Wallets read at once while loading. */
const PAGE_ROWS = 5_000;

/** What a snapshot needs. */
type CorpusSnapshotOptions = {
  readonly table: CorpusTable;
  readonly pollMs: number;
  /** `WALLETS_IN_MEMORY_MAX` but for tests. */
  readonly walletsInMemoryMax: number;
  /** Told whenever a poll could not read the store. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. Else it ends the process. */
  readonly onBug?: (error: unknown) => void;
};

/** Launch counts served from memory. */
export type CorpusSnapshot = {
  readonly corpus: LaunchCorpus;
  /** Asks the store once; never throws for weather. */
  readonly poll: () => Promise<void>;
  /** Loads, then polls until stopped. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

type ByWallet = ReadonlyMap<string, LaunchCount>;
/** `byWallet` is `null` where the corpus is too large for memory. */
type Loaded = {
  readonly settled: number;
  readonly byWallet: ByWallet | null;
  readonly source: Source;
};

/** Makes a snapshot; nothing is read before `start` or `poll`. */
export function corpusSnapshot(options: CorpusSnapshotOptions): CorpusSnapshot {
  const { table, pollMs, onFault, onBug, walletsInMemoryMax } = options;
  const { holding, ...held } = heldTable<Loaded>({
    what: WHAT,
    inForce: table.inForce,
    load: (imports) => load(table, imports, walletsInMemoryMax),
    pollMs,
    onFault,
    onBug,
  });
  return { ...held, corpus: { lookUp: (wallets) => lookUp(holding(), table, wallets) } };
}

async function lookUp(
  holding: Holding<Loaded>,
  table: CorpusTable,
  wallets: readonly string[],
): Promise<Reading<CorpusLookUp, typeof PORT>> {
  if (!holding.loaded) return unread(PORT, holding.why);
  const { settled, byWallet, source } = holding.value;
  const origin = { port: PORT, source } as const;
  if (byWallet !== null) {
    return read({ settled_launches: settled, found: ofWallets(byWallet, wallets) }, origin);
  }
  const counts = await table.countsOf([...new Set(wallets)]);
  if (!(counts instanceof Read)) return unread(PORT, counts.why);
  return read({ settled_launches: settled, found: byDeployer(counts.value) }, origin);
}

/** The counts of these wallets; a wallet without settled launches has none. */
export function ofWallets(byWallet: ByWallet, wallets: readonly string[]): ByWallet {
  const found = new Map<string, LaunchCount>();
  for (const wallet of wallets) {
    const count = byWallet.get(wallet);
    if (count !== undefined) found.set(wallet, count);
  }
  return found;
}

/** Counts by their wallet. */
function byDeployer(counts: Iterable<LaunchCount>): Map<string, LaunchCount> {
  const byWallet = new Map<string, LaunchCount>();
  for (const count of counts) byWallet.set(count.deployer, count);
  return byWallet;
}

async function load(
  table: CorpusTable,
  imports: Imports,
  walletsInMemoryMax: number,
): Promise<Holding<Loaded>> {
  const settled = await table.settled();
  if (!(settled instanceof Read)) return { loaded: false, why: settled.why };
  if (settled.value === 0) return { loaded: false, why: nothingSettled() };
  const source = tableSource(CORPUS_TITLE, imports, settled.value);
  const byWallet = new Map<string, LaunchCount>();
  let counted = 0;
  for (let after = ''; counted < settled.value; ) {
    const page = await table.counts(after, PAGE_ROWS);
    if (!(page instanceof Read)) return { loaded: false, why: page.why };
    const last = page.value.at(-1);
    if (last === undefined) return { loaded: false, why: changed() };
    for (const count of page.value) {
      byWallet.set(count.deployer, count);
      counted += count.launches_settled;
    }
    if (byWallet.size > walletsInMemoryMax) {
      return { loaded: true, value: { settled: settled.value, byWallet: null, source } };
    }
    after = last.deployer;
  }
  if (counted !== settled.value) return { loaded: false, why: changed() };
  return { loaded: true, value: { settled: settled.value, byWallet, source } };
}

/** Why a corpus without a settled launch answers nothing: it can deny nothing. */
export function nothingSettled(): Why {
  return why('table_never_imported', { what: `${WHAT} with a settled launch` });
}

function changed(): Why {
  return why('store_unreadable', { what: WHAT, fault: 'it changed while it was read' });
}
