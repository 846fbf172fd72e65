// Which of these addresses dealt with a listed one? Asked of the ring: every counterparty of every
// listed address, as far as the warehouse holds their histories. What a store tells of it is raw:
// only a ring that was held against the chains may deny that somebody dealt with a listed address.

import type { ChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';
import type { Counterparty, CoverageRange, Gap } from './transfer-history.ts';

/** The name of the ring in readings and contracts. */
export type CounterpartyRingPort = 'counterparty_ring';
/** The name of the raw ring in readings; no contract rests on it. */
export type RawRingPort = 'raw_ring';

/** What is asked: addresses in the form that `parseAddress` gives. */
export type RingAsked = {
  readonly addresses: readonly string[];
  /** The listed addresses of their kind, and the chains that are read of it. */
  readonly listed: readonly string[];
  readonly chains: readonly ChainName[];
  /** The most transfers between one address and those who are listed. */
  readonly rowsMax: number;
  readonly signal: AbortSignal;
};

/**
 * By address, the listed ones that it exchanged transfers with, each with the transfers between the
 * two. Who is missing exchanged none with a listed address, as far as those are held.
 */
export type Meetings = ReadonlyMap<string, readonly Counterparty[]>;

/** What is held of the listed addresses: of whole chains, and of single ones beside it. */
export type RingCoverage = {
  readonly ofChains: readonly CoverageRange[];
  readonly ofListed: ReadonlyMap<string, readonly CoverageRange[]>;
};

/** What is told of a ring. `coverage` was read before the transfers that it vouches for. */
export type HeldRing = { readonly meetings: Meetings; readonly coverage: RingCoverage };

/** What the ring lacks of one listed address; none lack where the ring is whole. */
export type RingGap = Gap & { readonly listed: string };

/** The same, held against the chains. */
export type MetRing = {
  readonly meetings: Meetings;
  readonly gaps: readonly RingGap[];
  /** Chains of which the NFTs of a listed address were not all read: no ring needs them. */
  readonly nft_gapped: readonly ChainName[];
};

type RingOf<T, P extends string> = {
  /** A ring is never older than the call: what the store held by then is in it. */
  readonly meet: (asked: RingAsked) => Promise<Partly<T, P>>;
};

/** The ring as a store tells it. */
export type RawRing = RingOf<HeldRing, RawRingPort>;

/**
 * The ring that answers are made from. It is whole only where each listed address is held on each
 * chain asked, from its first block to a fresh tip.
 */
export type CounterpartyRing = RingOf<MetRing, CounterpartyRingPort>;
