// Is the ring all of those who dealt with a listed address, so that a miss may be said?
// As with the history of one address: whole only where each listed address is held on every chain
// asked to a fresh tip. It refuses to take one that no chain covers for one without dealings.

import { isEvmChain } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import { map, mintAs, type Partly, seen, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  CounterpartyRing,
  CounterpartyRingPort,
  HeldRing,
  MetRing,
  RawRing,
  RawRingPort,
  RingAsked,
  RingCoverage,
  RingGap,
} from '../../ports/history/counterparty-ring.ts';
import { type FreshTip, gapsIn } from './coverage.ts';

const PORT = 'counterparty_ring';
/** Listed addresses that a reason names; the rest are counted. */
const NAMED_MAX = 3;

/** The same ring, each reading of which is whole only where it is covered. */
export function coveredRing(raw: RawRing, tip: FreshTip): CounterpartyRing {
  const gapsOf = rememberedGaps(tip);
  return {
    meet: async (asked) => {
      const reading = await raw.meet(asked);
      return covered(reading, asked, gapsOf);
    },
  };
}

function covered(
  reading: Partly<HeldRing, RawRingPort>,
  asked: RingAsked,
  gapsOf: GapsOf,
): Partly<MetRing, CounterpartyRingPort> {
  const told = map(reading, ({ meetings, coverage }): MetRing => {
    return { meetings, ...gapsOf(coverage, asked) };
  });
  const gaps = seen(map(told, (one) => one.gaps));
  if (gaps === null || gaps.length === 0) return mintAs(PORT, told);
  return mintAs(PORT, weaken(told, why('ring_partial', { gaps: ringGapsText(gaps) })));
}

type Gaps = Pick<MetRing, 'gaps' | 'nft_gapped'>;
type GapsOf = (coverage: RingCoverage, asked: RingAsked) => Gaps;

/** What is missing of the listed addresses, chain by chain: of what a negative needs, or these. */
export function ringGaps(
  { ofChains, ofListed }: RingCoverage,
  { listed, chains }: Pick<RingAsked, 'listed' | 'chains'>,
  { now, tipMaxAgeS }: FreshTip,
  kinds?: readonly TransferKind[],
): RingGap[] {
  const needs = { chains, now: now(), tipMaxAgeS };
  const ofAll = gapsIn(ofChains, needs, kinds);
  if (ofAll.length === 0) return [];
  return listed.flatMap((address) => {
    const own = ofListed.get(address);
    const gaps = own === undefined ? ofAll : gapsIn([...ofChains, ...own], needs, kinds);
    return gaps.map((gap) => ({ ...gap, listed: address }));
  });
}

/**
 * The last answer is kept while nothing that it follows from has changed: a walk asks the same as
 * the one before it, and there are some thousand listed addresses.
 */
function rememberedGaps(tip: FreshTip): GapsOf {
  let last: { key: readonly unknown[]; told: Gaps } | null = null;
  return (coverage, asked) => {
    const { ofChains, ofListed } = coverage;
    const key = [ofChains, ofListed, asked.listed, asked.chains.join(), tip.now()];
    if (last?.key.every((one, i) => one === key[i])) return last.told;
    const ofEvm = { ...asked, chains: asked.chains.filter(isEvmChain) };
    const nft = ringGaps(coverage, ofEvm, tip, ['nft']).map(({ chain }) => chain);
    const told = { gaps: ringGaps(coverage, asked, tip), nft_gapped: [...new Set(nft)] };
    last = { key, told };
    return told;
  };
}

/** The gaps of a ring in words. */
export function ringGapsText(gaps: readonly RingGap[]): string {
  const addresses = [...new Set(gaps.map(({ listed }) => listed))];
  const named = addresses.slice(0, NAMED_MAX).flatMap((listed) => {
    const own = gaps.filter((gap) => gap.listed === listed);
    return own.slice(0, 1).map(({ chain, kind, held }) => `${listed}: ${chain} ${kind} ${held}`);
  });
  const rest = addresses.length - named.length;
  return `${named.join('; ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
