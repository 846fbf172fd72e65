// Is what was read of an address all that there is, so that something may be denied on it?
// It stands outermost, around whatever holds or reads history, and lets nothing pass as whole whose
// chains are not held in full to a fresh tip, or of which counterparties were left out.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName, isEvmChain } from '../../chain/chain.ts';
import { PAYMENT_KINDS, type TransferKind } from '../../chain/transfer.ts';
import {
  map,
  mintAs,
  type Partly,
  Read,
  rowsSeen,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type CounterpartyRing,
  type CoverageGap,
  type CoverageRange,
  type CoveredNeighbourhood,
  type HistoryTransfer,
  type ListedHistories,
  type ListRequest,
  type MetRing,
  type Neighbourhood,
  type NeighbourhoodLimits,
  type RawHistory,
  type RawHistoryPort,
  type RawRing,
  type RingCoverage,
  type RingGap,
  type RingLack,
  type RingRequest,
  signerOf,
  signingOf,
  type TransferHistory,
  type TransferHistoryPort,
  UNPRICED,
  type Worths,
} from '../../ports/history.ts';

const PORT = 'transfer_history';

/**
 * The same history, each reading of which is whole only where it is covered. `worths` prices what a
 * walk shows; without it nothing is priced.
 */
export function coveredHistory(
  raw: RawHistory,
  tip: FreshTip,
  worths: Worths = UNPRICED,
): TransferHistory {
  return {
    worths,
    chainsRead: () => raw.chainsRead().then((chains) => mintAs(PORT, chains)),
    neighbourhoods: async (addresses, limits) => {
      const chains = await chainsToCover(raw, limits);
      const readings = await raw.neighbourhoods(addresses, limits);
      const told = [...readings].map(([address, reading]) => {
        return [address, coverAddress(address, reading, chains, limits, tip)] as const;
      });
      return new Map(told);
    },
  };
}

/** The chains asked, else all that are read; why they are not known, where they are not. */
async function chainsToCover(
  raw: RawHistory,
  { chains: asked }: NeighbourhoodLimits,
): Promise<readonly ChainName[] | Why> {
  if (asked !== undefined) return asked;
  const chains = await raw.chainsRead();
  return chains instanceof Read ? chains.value : chains.why;
}

function coverAddress(
  address: string,
  reading: Partly<Neighbourhood, RawHistoryPort>,
  chains: readonly ChainName[] | Why,
  { degreeMax }: NeighbourhoodLimits,
  { tipMaxAgeS, now }: FreshTip,
): Partly<CoveredNeighbourhood, TransferHistoryPort> {
  if ('code' in chains) {
    // Without the chains nothing says what is missing, so nothing is whole.
    const told = map(reading, (known) => {
      return { ...known, gaps: NONE_TOLD, nft_gaps: NONE_TOLD, signs_within: NOWHERE };
    });
    return mintAs(PORT, weaken(told, chains));
  }
  const parsed = parseAddress(address);
  const own = chains.filter((chain) => parsed !== null && CHAINS[chain].kind === parsed.kind);
  if (chains.length === 0) return unread(PORT, why('no_history'));
  if (own.length === 0) {
    const kind = parsed === null ? 'no known form' : parsed.kind;
    return unread(PORT, why('not_walked_kind', { kind }));
  }
  const needs = { chains: own, now: now(), tipMaxAgeS };
  // Where rows were cut off, transactions that the address signed may be among them.
  const uncut = reading instanceof Read || reading.why.code !== 'row_cap';
  const told = map(reading, (known) => {
    const signs_within = uncut ? signedRanges(known) : NOWHERE;
    const { coverage } = known;
    const nft_gaps = gapsIn(coverage, { ...needs, chains: own.filter(isEvmChain) }, ['nft']);
    return signersTold({ ...known, gaps: gapsIn(coverage, needs), nft_gaps, signs_within });
  });
  const missing = rowsSeen(
    map(told, (known) => {
      const { address, degree, counterparties, gaps } = known;
      if (gaps.length > 0) return [why('partial_history', { gaps: gapsText(address, gaps) })];
      if (degree <= degreeMax || counterparties.length >= degree) return [];
      return [why('high_degree', { degree: String(degree), limit: String(degreeMax) })];
    }),
  );
  return mintAs(PORT, missing === null ? told : weaken(told, missing[0]));
}

const NONE_TOLD: readonly CoverageGap[] = Object.freeze([]);

const NOWHERE: readonly CoverageRange[] = Object.freeze([]);

/** Where an address's own transactions are all told: where its native history is, uncut. */
function signedRanges({
  degree,
  counterparties,
  coverage,
}: Neighbourhood): readonly CoverageRange[] {
  const shown = counterparties.every((one) => one.transfers.length === one.transfer_count);
  if (!shown || counterparties.length < degree) return NOWHERE;
  return coverage.filter(({ chain, kind }) => kind === 'native' && isEvmChain(chain));
}

function signersTold(known: CoveredNeighbourhood): CoveredNeighbourhood {
  const { address } = known;
  const isTold = (transfer: HistoryTransfer) => signerOf(transfer) !== null;
  if (known.counterparties.every(({ transfers }) => transfers.every(isTold))) return known;
  const isSigned = signingOf(known);
  const withSigner = (transfer: HistoryTransfer): HistoryTransfer => {
    const signed = isTold(transfer) ? null : isSigned(transfer);
    if (signed === null) return transfer;
    return signed ? { ...transfer, initiator: address } : { ...transfer, unsigned_by: address };
  };
  const counterparties = known.counterparties.map((one) => {
    return one.transfers.every(isTold) ? one : { ...one, transfers: one.transfers.map(withSigner) };
  });
  return { ...known, counterparties };
}

// Is the ring all of those who dealt with a listed address, so that a miss may be said?
// As with the history of one address: whole only where each listed address is held on every chain
// asked to a fresh tip. It refuses to take one that no chain covers for one without dealings.

const RING_PORT = 'counterparty_ring';
/** Listed addresses that a reason names; the rest are counted. */
const NAMED_MAX = 3;

/** The same ring, each reading of which is whole only where it is covered. */
export function coveredRing(raw: RawRing, tip: FreshTip): CounterpartyRing {
  const gapsOf = rememberedGaps(tip);
  return {
    meet: async (asked) => {
      const reading = await raw.meet(asked);
      const told = map(reading, ({ meetings, coverage }) => {
        const { lack, ...gaps } = gapsOf(coverage, asked);
        return { met: { meetings, ...gaps }, lack };
      });
      const lacks = rowsSeen(map(told, ({ lack }) => (lack === null ? [] : [lack])));
      const met = map(told, (one): MetRing => one.met);
      if (lacks === null || lacks[0] === undefined) return mintAs(RING_PORT, met);
      return mintAs(RING_PORT, weaken(met, lacks[0]));
    },
  };
}

/** The gaps, and why they make a ring no whole one; `null` where there are none. */
type Gaps = Pick<MetRing, 'gaps' | 'nft_gapped'> & { readonly lack: Why | null };
type GapsOf = (coverage: RingCoverage, asked: RingRequest) => Gaps;

/**
 * The gaps of the listed addresses, chain by chain: in all kinds that a negative needs, or in
 * these.
 */
export function ringGaps(
  { ofChains, ofListed }: RingCoverage,
  { listed, chains }: Pick<RingRequest, 'listed' | 'chains'>,
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
    const gaps = ringGaps(coverage, asked, tip);
    const lack = gaps.length === 0 ? null : why('ring_partial', { gaps: ringGapsText(gaps) });
    const told = { gaps, nft_gapped: [...new Set(nft)], lack };
    last = { key, told };
    return told;
  };
}

export function ringGapsText(gaps: readonly RingGap[]): string {
  const addresses = [...new Set(gaps.map(({ listed }) => listed))];
  const named = addresses.slice(0, NAMED_MAX).flatMap((listed) => {
    const own = gaps.filter((gap) => gap.listed === listed);
    return own.slice(0, 1).map(({ chain, kind, held }) => `${listed}: ${chain} ${kind} ${held}`);
  });
  const rest = addresses.length - named.length;
  return `${named.join('; ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

// Finds the gaps of an address's history in the kinds that a negative needs. A chain counts as read
// only if its native, token and internal transfers were all read, from the first block (or the
// address's proven first activity) to a fresh tip.

/** The requirements on coverage. `now` is Unix seconds. */
type CoverageNeeds = {
  readonly chains: readonly ChainName[];
  readonly now: number;
  readonly tipMaxAgeS: number;
};

/** The maximum age of a tip, in seconds. `now` gives Unix seconds. */
export type FreshTip = { readonly tipMaxAgeS: number; readonly now: () => number };

/** Everything that is missing of one address's history. */
export function gapsIn(
  coverage: readonly CoverageRange[],
  needs: CoverageNeeds,
  kinds: readonly TransferKind[] = PAYMENT_KINDS,
): CoverageGap[] {
  const gaps: CoverageGap[] = [];
  for (const chain of needs.chains) {
    for (const kind of kinds) {
      const ranges = coverage.filter((range) => range.chain === chain && range.kind === kind);
      const held = shortfall(ranges, needs);
      if (held !== null) gaps.push({ chain, kind, held });
    }
  }
  return gaps;
}

/** A clock that is further behind a block tells no age: what it calls new may be old. */
const CLOCK_BEHIND_MAX_S = 900;

function shortfall(ranges: readonly CoverageRange[], needs: CoverageNeeds): string | null {
  const ordered = inOrder(ranges);
  const [lowest] = ordered;
  if (lowest === undefined) return 'none held';
  const reach = reachOf(ordered);
  if (reach === null) return `held from block ${lowest.from_block}, not from the first`;
  const ageS = needs.now - reach.to_time;
  if (ageS < -CLOCK_BEHIND_MAX_S) {
    const at = new Date(reach.to_time * 1_000).toISOString();
    return `held to block ${reach.to_block} of ${at}, far ahead of this machine's clock`;
  }
  if (ageS < needs.tipMaxAgeS) return null;
  const beyond = ordered.some((range) => range.to_block > reach.to_block);
  if (beyond) return `held to block ${reach.to_block}, then a hole`;
  const at = new Date(reach.to_time * 1_000).toISOString();
  return `held to block ${reach.to_block} of ${at}, over ${spanText(needs.tipMaxAgeS)} ago`;
}

/** The range that ends where a kind is held to from the first block; `null`: nowhere. */
export function heldReach(
  coverage: readonly CoverageRange[],
  chain: ChainName,
  kind: TransferKind,
): CoverageRange | null {
  const ranges = coverage.filter((range) => range.chain === chain && range.kind === kind);
  return reachOf(inOrder(ranges));
}

function inOrder(ranges: readonly CoverageRange[]): readonly CoverageRange[] {
  return [...ranges].sort((a, b) => a.from_block - b.from_block);
}

/** How far ranges reach from the first block on; `null` where none of them begins there. */
function reachOf(ordered: readonly CoverageRange[]): CoverageRange | null {
  const first = ordered.find((range) => range.from_first);
  return first === undefined
    ? null
    : ordered.reduce((reach, range) => {
        const adjoins = range.from_first || range.from_block <= reach.to_block + 1;
        return adjoins && range.to_block > reach.to_block ? range : reach;
      }, first);
}

/** The most gaps that a reason names; the rest are counted. */
const GAPS_NAMED_MAX = 4;

/** The gaps of one address in words. */
export function gapsText(address: string, gaps: readonly CoverageGap[]): string {
  const texts = new Set(
    gaps.map(({ chain, kind, held }) => `${chain} ${wordOf(chain, kind)} ${held}`),
  );
  const named = [...texts].slice(0, GAPS_NAMED_MAX);
  const rest = texts.size - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}, for ${address}`;
}

/** Bitcoin has no tokens and no calls with coins: whatever is paid there is one kind. */
function wordOf(chain: ChainName, kind: TransferKind): string {
  return CHAINS[chain].kind === 'bitcoin' ? 'payments' : kind;
}

const HOUR_S = 3_600;
const MINUTE_S = 60;

/** A limit in its largest whole unit: `1 hour`, `90 minutes`, `20 seconds`. */
export function spanText(seconds: number): string {
  const units = [
    [HOUR_S, 'hour'],
    [MINUTE_S, 'minute'],
    [1, 'second'],
  ] as const;
  for (const [unit, name] of units) {
    const count = seconds / unit;
    if (count >= 1 && Number.isInteger(count)) return `${count} ${name}${count === 1 ? '' : 's'}`;
  }
  return `${seconds} seconds`;
}

// Selects the lists of listed addresses to read, so that the ring becomes and stays complete.
// Unread lists come first, then those held to the oldest block. Nothing is selected that the
// chain's own coverage, of imported or followed blocks, holds already.

/** Which part of the age that a tip may have goes by before a list is read on. */
const READ_ON_AT = 2 / 3;

/** The request: the listed addresses of EVM chains, and the chains that are read. */
type LackRequest = {
  readonly listed: readonly string[];
  readonly chains: readonly ChainName[];
  readonly kinds: ListedHistories['kinds'];
};

/** The lists that lack something. */
export function ringLack(
  { ofChains, ofListed }: RingCoverage,
  { listed, chains, kinds }: LackRequest,
  { now, tipMaxAgeS }: FreshTip,
): RingLack {
  const due = { now: now(), tipMaxAgeS: tipMaxAgeS * READ_ON_AT };
  const told = [...kinds].filter(([chain]) => chains.includes(chain));
  const lacking: (ListRequest & { readonly heldTo: number })[] = [];
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
