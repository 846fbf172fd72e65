// Which lists of listed addresses are to be read, so that the ring becomes whole and stays so?
// What was never read comes first, then what is held to the oldest block. It
// asks for nothing that the chain's own coverage, of blocks imported or followed, holds already.

import type { ChainName } from '../../chain/chain.ts';
import type {
  LackingList,
  ListedHistories,
  RingCoverage,
  RingLack,
} from '../../ports/history/counterparty-ring.ts';

import { type FreshTip, gapsIn, heldReach } from './coverage.ts';

/** Which part of the age that a tip may have goes by before a list is read on. */
const READ_ON_AT = 2 / 3;

/** What is asked: the listed addresses of EVM chains, and the chains that are read. */
type LackAsked = {
  readonly listed: readonly string[];
  readonly chains: readonly ChainName[];
  readonly kinds: ListedHistories['kinds'];
};

/** The lists that lack something. */
export function ringLack(
  { ofChains, ofListed }: RingCoverage,
  { listed, chains, kinds }: LackAsked,
  { now, tipMaxAgeS }: FreshTip,
): RingLack {
  const due = { now: now(), tipMaxAgeS: tipMaxAgeS * READ_ON_AT };
  const told = [...kinds].filter(([chain]) => chains.includes(chain));
  const lacking: (LackingList & { readonly heldTo: number })[] = [];
  for (const address of listed) {
    const own = ofListed.get(address);
    const coverage = own === undefined ? ofChains : [...ofChains, ...own];
    for (const [chain, each] of told) {
      for (const kind of each) {
        if (gapsIn(coverage, { ...due, chains: [chain] }, [kind]).length === 0) continue;
        const reach = heldReach(coverage, chain, kind);
        const from_block = reach === null ? FIRST_BLOCK : reach.to_block + 1;
        const heldTo = reach === null ? NEVER : reach.to_time;
        lacking.push({ chain, address, kind, from_block, heldTo });
      }
    }
  }
  return {
    lacking: lacking.sort((a, b) => a.heldTo - b.heldTo),
    of: listed.length * told.reduce((sum, [, each]) => sum + each.length, 0),
  };
}

const FIRST_BLOCK = 0;
const NEVER = Number.NEGATIVE_INFINITY;
