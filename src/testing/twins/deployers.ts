// The twin of the records of deployers and of wallets that launched: in memory, planted and silent.
// Whoever has no record was walked, and made nothing.

import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { holdOutOf, ownSplit } from '../../features/launches/hold-out.ts';
import {
  type Collection,
  type CommittedRecord,
  type CorpusState,
  type DeployerRecords,
  type DeployerWalk,
  type MintLaunch,
  WALLET_ENTRIES_MAX,
  type WalletLaunches,
} from '../../ports/deployers.ts';
import type { Launch } from '../../ports/launches.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';
import { type MemoryCorpus, type PlantedLaunches, plantedCorpus } from './launches.ts';

/** The contents of the memory. `as_of` is Unix seconds. */
export type MemoryDeployers = Dated & {
  readonly records: readonly CommittedRecord[];
};

/** A walk that met nothing. */
export function emptyWalk(address: string, captured_at: number): DeployerWalk {
  return {
    address,
    captured_at,
    exit_liquidity_usd: 1_000,
    launches: [],
    skipped: [],
    direct_creations: 0,
    factories_walked: 0,
    truncated: false,
    truncated_factories: [],
    providers: ['memory'],
    pairs_unread: null,
  };
}

/** The records in memory. */
export function memoryDeployerRecords(held: MemoryDeployers): DeployerRecords {
  const { records, as_of, simulated } = held;
  const recordOf: DeployerRecords['heldOf'] = async (address) => {
    const found = records.find((one) => one.address === address);
    const none = { ...emptyWalk(address, as_of), failed: null };
    const record = found === undefined ? none : found;
    return read(record, {
      port: 'deployer_records',
      source: memorySource('Deployer walk', 'observation', {
        as_of: record.captured_at,
        simulated,
      }),
    });
  };
  return { recordOf, heldOf: recordOf };
}

const WALLET_LAUNCHES = 'wallet_launches';

/** The contents of the memory beside the corpus. */
export type MemoryLaunches = MemoryCorpus & {
  /** Left out: nothing was collected, so that every launch came by import. */
  readonly collection?: Collection;
  /** The transactions of launches that were collected, by mint. */
  readonly signatures?: ReadonlyMap<string, string>;
};

/** The launches of wallets in memory. */
export function memoryWalletLaunches(held: MemoryLaunches): WalletLaunches {
  const { launches, collection = null, signatures } = held;
  const settled = launches?.filter((one) => one.settled);
  if (launches === null || settled === undefined || settled.length === 0) {
    const never = why('table_never_imported', { what: 'the Solana launch corpus' });
    const silent = unread(WALLET_LAUNCHES, never);
    return { of: async () => silent, launchOf: async () => silent };
  }
  const split = ownSplit(settled);
  const corpus: CorpusState = {
    settled_launches: settled.length,
    collection,
    hold_out: split === null ? null : holdOutOf(settled, split),
  };
  const source = memorySource('Solana launch corpus', 'table', held);
  return {
    of: async (wallet) => {
      const own = settled
        .filter(({ deployer }) => deployer === wallet)
        .sort((a, b) => b.launched_at - a.launched_at || (a.mint < b.mint ? -1 : 1));
      const unsettled = launches.filter((one) => !one.settled && one.deployer === wallet);
      const waiting = unsettled.map(({ mint }) => mint);
      const died = own.filter(({ listed_after_window }) => listed_after_window === false).length;
      const entries = own.slice(0, WALLET_ENTRIES_MAX).map((one) => {
        const { mint, launched_at, last_checked_at: settled_at } = one;
        const listed_after_window = one.listed_after_window === true;
        return { mint, launched_at, settled_at, listed_after_window };
      });
      const record = { corpus, settled: own.length, died, waiting, entries };
      return read(record, { port: WALLET_LAUNCHES, source });
    },
    launchOf: async (mint) => {
      const found = launches.find((one) => one.mint === mint);
      const launch = found === undefined ? null : launchIn(found, signatures);
      return read({ corpus, launch }, { port: WALLET_LAUNCHES, source });
    },
  };
}

function launchIn(
  { mint, deployer, launched_at }: Launch,
  signatures: ReadonlyMap<string, string> | undefined,
): MintLaunch {
  const signature = signatures?.get(mint);
  return { deployer, launched_at, signature: signature === undefined ? null : signature };
}

export type DeployersHeld = {
  readonly corpus: MemoryLaunches;
  /** Left out: everybody was walked, and made nothing. */
  readonly deployers?: MemoryDeployers;
};

export type DeployersPorts = {
  readonly walletLaunches: WalletLaunches;
  readonly deployerRecords: DeployerRecords;
};

export function memoryDeployers({ corpus, deployers }: DeployersHeld): DeployersPorts {
  return {
    walletLaunches: memoryWalletLaunches(corpus),
    deployerRecords: memoryDeployerRecords(deployers ?? { ...UNDATED, records: [] }),
  };
}

export function silentDeployers(cause: Why): DeployersPorts {
  const launches = unread(WALLET_LAUNCHES, cause);
  const records = unread('deployer_records', cause);
  return {
    walletLaunches: { of: async () => launches, launchOf: async () => launches },
    deployerRecords: { recordOf: async () => records, heldOf: async () => records },
  };
}

/** The facts of deployers that a world may plant, beside launches. */
export type PlantedDeployers = { readonly deployers?: readonly CommittedRecord[] };

export function plantedDeployers({
  deployers = [],
  ...planted
}: PlantedDeployers & PlantedLaunches) {
  const corpus = { ...PLANTED, launches: plantedCorpus(planted) };
  return memoryDeployers({ corpus, deployers: { ...PLANTED, records: deployers } });
}
