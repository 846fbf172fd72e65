// The twin of flagged launches and flagged addresses: in memory, planted and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { flaggedAddresses } from '../../features/tables/flagged-rows.ts';
import type {
  FlaggedAddresses,
  FlaggedRow,
  FlagWindow,
  LaunchFlag,
  LaunchWatch,
  RugFlags,
  ScoredChain,
  WatchedSource,
} from '../../ports/rug-flags.ts';
import type { KeptModel, PublishedModels } from '../../ports/rug-model.ts';
import { evm } from '../addresses.ts';
import { STILL_NOW } from '../clock.ts';
import { NO_FATES, SMALL_MODEL } from '../rug-models.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';
import { memoryTable } from './tables.ts';

/** The contents of the memory for every window. */
export type MemoryRugFlags = Dated & FlagWindow;

export function memoryRugFlags({ chains, flags, ...dated }: MemoryRugFlags): RugFlags {
  const source = memorySource('Rug scorer', 'observation', dated);
  return { inWindow: async () => read({ chains, flags }, { port: 'rug_flags', source }) };
}

/** The unwatched parts of each source, in words; none for a source that is left out. */
export type MemoryWatch = Dated & {
  readonly gaps: { readonly [source in WatchedSource]?: readonly string[] };
};

export function memoryLaunchWatch({ gaps, ...dated }: MemoryWatch): LaunchWatch {
  const source = memorySource('Watch over launches', 'observation', dated);
  return {
    gapsOf: async (of) => read(gaps[of] ?? [], { port: 'launch_watch', source }),
  };
}

/** Every source was watched until now. */
export const WATCHED: MemoryWatch = { as_of: STILL_NOW, simulated: false, gaps: {} };

/** The version of the one model that the memory holds. */
export const KEPT_VERSION = 'rug-2-0123456789ab';

/** A model that was published a minute ago, under its version alone. */
export function memoryPublishedModels(): Pick<PublishedModels, 'find'> {
  const at = STILL_NOW - 60;
  const source = memorySource('Rug model', 'table', { as_of: at, simulated: false });
  const kept: KeptModel = {
    version: KEPT_VERSION,
    model: SMALL_MODEL,
    text: '',
    published_at: at,
    in_force: true,
    withdrawn: null,
    fates: NO_FATES,
  };
  const origin = { port: 'published_model', source } as const;
  return { find: async (version) => read(version === KEPT_VERSION ? kept : null, origin) };
}

/** The contents of a memory. `null`: no import of the table has completed. */
export type MemoryFlagged = Dated & { readonly rows: readonly FlaggedRow[] | null };

export function memoryFlaggedAddresses({ rows, ...dated }: MemoryFlagged): FlaggedAddresses {
  return memoryTable(flaggedAddresses, rows, dated);
}

/** Left out: no scorer has ever written, no table was imported. */
export type FlagsHeld = {
  readonly rugFlags?: MemoryRugFlags;
  /** Left out: every source was watched. */
  readonly launchWatch?: MemoryWatch;
  readonly flagged?: MemoryFlagged;
};

export type FlagsPorts = {
  readonly rugFlags: RugFlags;
  readonly launchWatch: LaunchWatch;
  readonly publishedModels: Pick<PublishedModels, 'find'>;
  readonly flaggedAddresses: FlaggedAddresses;
};

export function memoryFlags(held: FlagsHeld): FlagsPorts {
  return {
    rugFlags: memoryRugFlags(held.rugFlags ?? { ...UNDATED, chains: [], flags: [] }),
    launchWatch: memoryLaunchWatch(held.launchWatch ?? WATCHED),
    publishedModels: memoryPublishedModels(),
    flaggedAddresses: memoryFlaggedAddresses(held.flagged ?? { ...UNDATED, rows: null }),
  };
}

export function silentFlags(cause: Why): FlagsPorts {
  return {
    rugFlags: { inWindow: async () => unread('rug_flags', cause) },
    launchWatch: { gapsOf: async () => unread('launch_watch', cause) },
    publishedModels: { find: async () => unread('published_model', cause) },
    flaggedAddresses: { lookUp: async () => unread('flagged_addresses', cause) },
  };
}

/** The flags that a world may plant. */
export type PlantedFlags = {
  readonly flagged?: readonly FlaggedRow[];
  /** Launches that the rug model flags. */
  readonly rugFlags?: readonly LaunchFlag[];
  /** What a source of the watch did not see of the window. */
  readonly unwatched?: MemoryWatch['gaps'];
};

export function plantedFlags(planted: PlantedFlags): FlagsPorts {
  const { flagged = [], rugFlags = [], unwatched = {} } = planted;
  return memoryFlags({
    rugFlags: { ...PLANTED, chains: [SCORED], flags: rugFlags },
    launchWatch: { ...WATCHED, gaps: unwatched },
    flagged: { ...PLANTED, rows: [flaggedRow(evm('flagged elsewhere')), ...flagged] },
  });
}

/** A chain of which twelve launches were scored, a minute ago last. */
export const SCORED: ScoredChain = {
  chain: 'ethereum',
  last_scored_at: STILL_NOW - 60,
  model_version: 'rug-1',
  scored: 12,
  suppressed: 0,
  unscored: 0,
  waiting: 0,
};

/** A row of the table of flagged addresses. */
export function flaggedRow(address: string, over: Partial<FlaggedRow> = {}): FlaggedRow {
  return {
    address,
    chain: null,
    tag: 'Fake_Phishing1',
    category: 'phish-hack',
    is_contract: false,
    creator: null,
    creation_tx: null,
    source: 'tests',
    source_url: null,
    first_seen: '2026-01-01',
    ...over,
  };
}
