// What is missing of an address's history, of what a negative needs?
// It refuses to count a chain as read unless its native, token and internal transfers were all
// read, from the first block (or the address's proven first activity) to a fresh tip.

import type { ChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { CoverageRange, Gap } from '../../ports/history/transfer-history.ts';

/** The kinds of transfer without which a chain was not read. NFTs have a coverage of their own. */
const KINDS: readonly TransferKind[] = ['native', 'token', 'internal'];

/** What the coverage is held against. `now` is Unix seconds. */
type CoverageNeeds = {
  readonly chains: readonly ChainName[];
  readonly now: number;
  readonly tipMaxAgeS: number;
};

/** How young a tip must be, in seconds. `now` gives Unix seconds. */
export type FreshTip = { readonly tipMaxAgeS: number; readonly now: () => number };

/** Everything that is missing of one address's history. */
export function gapsIn(
  coverage: readonly CoverageRange[],
  needs: CoverageNeeds,
  kinds: readonly TransferKind[] = KINDS,
): Gap[] {
  const gaps: Gap[] = [];
  for (const chain of needs.chains) {
    for (const kind of kinds) {
      const ranges = coverage.filter((range) => range.chain === chain && range.kind === kind);
      const held = shortfall(ranges, needs);
      if (held !== null) gaps.push({ chain, kind, held });
    }
  }
  return gaps;
}

function shortfall(ranges: readonly CoverageRange[], needs: CoverageNeeds): string | null {
  const ordered = inOrder(ranges);
  const [lowest] = ordered;
  if (lowest === undefined) return 'none held';
  const reach = reachOf(ordered);
  if (reach === null) return `held from block ${lowest.from_block}, not from the first`;
  if (needs.now - reach.to_time < needs.tipMaxAgeS) return null;
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
  return first === undefined ? null : ordered.reduce(extended, first);
}

/** How far a range reaches with one that begins inside it or right behind it. */
function extended(reach: CoverageRange, range: CoverageRange): CoverageRange {
  const adjoins = range.from_first || range.from_block <= reach.to_block + 1;
  return adjoins && range.to_block > reach.to_block ? range : reach;
}

/** The most gaps that a reason names; the rest are counted. */
const GAPS_NAMED_MAX = 4;

/** The gaps of one address in words. */
export function gapsText(address: string, gaps: readonly Gap[]): string {
  const named = gaps.slice(0, GAPS_NAMED_MAX).map((gap) => `${gap.chain} ${gap.kind} ${gap.held}`);
  const rest = gaps.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}, for ${address}`;
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
