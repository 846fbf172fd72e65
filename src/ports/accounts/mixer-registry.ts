// Answers one question: which of these addresses are contracts of a mixer, and who says so.
// The registry is partial by construction: a miss clears nobody.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type MixerRegistryPort = 'mixer_registry';

/** One row of the registry. */
export type MixerContract = {
  readonly protocol: string;
  readonly chain: EvmChainName;
  /** In the form that `parseAddress` gives. */
  readonly address: string;
  readonly role: 'pool' | 'router';
  readonly name: string;
  /** The first block in which it stood; `null` where no source was read for it. */
  readonly valid_from_block: number | null;
  readonly source: string;
  readonly source_url: string;
  /** Another source that names the same contract; `null` where one alone does. */
  readonly second_source: string | null;
  /** ISO 8601 day of the last review. */
  readonly reviewed: string;
};

/** What a look-up found, by the address asked; one address may stand for several chains. */
export type MixerLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly MixerContract[]>;
};

/** The registry of mixers. */
export type MixerRegistry = {
  readonly lookUp: (
    addresses: readonly string[],
  ) => Promise<Reading<MixerLookUp, MixerRegistryPort>>;
};
