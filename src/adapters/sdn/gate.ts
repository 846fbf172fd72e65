// Answers one question: may this publication replace the list in force.
// Pure rules of date and size. It does not know how to read, store or override: a caller that lets
// an operator accept a file asks `isSizeRule` of the refusal, which comes after all other rules.

import { DAY_S, formatIsoDate, type UnixSeconds } from '../../chain/time.ts';
import { type Publication, type Refusal, type RefusalCode, refusal } from './publication.ts';

/** What the gate looks at: a publication has it, and so has a stored record of one. */
export type Weighed = Pick<Publication, 'published' | 'distinct_addresses' | 'parties'>;

/** The list that the release knew of, for a start without a last good list. */
export type Baseline = Pick<Publication, 'published' | 'distinct_addresses'>;

/** The list of 2026-09-23, as recorded with this release. */
export const BASELINE: Baseline = { published: '2026-09-23', distinct_addresses: 1043 };

/** What share of the last good list a new one must hold. */
export type Shares = { readonly minAddressShare: number; readonly minPartyShare: number };
export const SHARES: Shares = { minAddressShare: 0.8, minPartyShare: 0.9 };

const SIZE_RULES: ReadonlySet<RefusalCode> = new Set(['too_few_addresses', 'too_few_parties']);

/** Whether an operator may accept a file that only this rule refuses. */
export function isSizeRule(refused: Refusal): boolean {
  return SIZE_RULES.has(refused.code);
}

/** The rules that need no history, in force for every file; `null` where it passes. */
export function absoluteGate(
  publication: Weighed,
  { floor }: { readonly floor: number },
): Refusal | null {
  const { distinct_addresses: addresses } = publication;
  if (addresses === 0) return refusal('no_addresses', 'it holds no digital currency address');
  if (addresses < floor) {
    return refusal('below_floor', `it holds ${addresses} distinct addresses, under ${floor}`);
  }
  return null;
}

/** How far a date may be ahead of the clock, which may be slow or in another zone than the date. */
const AHEAD_MAX_S = DAY_S;

/**
 * The rule that compares with the clock. In force, a list of a day that is not yet would keep out
 * every true one until then, as older than it.
 */
export function clockGate(
  { published }: Pick<Weighed, 'published'>,
  now: UnixSeconds,
): Refusal | null {
  if (published <= formatIsoDate(now + AHEAD_MAX_S)) return null;
  const reason = `it is of ${published}, over a day ahead of the clock (${formatIsoDate(now)})`;
  return refusal('future_publication', reason);
}

/** The rules that compare with the last good list, or without one with the baseline. */
export function relativeGate(
  publication: Weighed,
  last: Weighed | null,
  baseline: Baseline,
  { minAddressShare, minPartyShare }: Shares,
): Refusal | null {
  if (last === null) {
    if (publication.published < baseline.published) return null;
    return tooFewAddresses(publication, baseline, minAddressShare, 'the baseline');
  }
  if (publication.published < last.published) {
    const reason = `it is of ${publication.published}, older than the list of ${last.published}`;
    return refusal('older_publication', reason);
  }
  const fewAddresses = tooFewAddresses(publication, last, minAddressShare, 'the last good list');
  if (fewAddresses !== null) return fewAddresses;
  if (publication.parties < last.parties * minPartyShare) {
    const least = `${percent(minPartyShare)} of the ${last.parties} of the last good list`;
    return refusal('too_few_parties', `it holds ${publication.parties} parties, under ${least}`);
  }
  return null;
}

function tooFewAddresses(
  publication: Weighed,
  before: Baseline,
  share: number,
  name: string,
): Refusal | null {
  const { distinct_addresses: addresses } = publication;
  if (addresses >= before.distinct_addresses * share) return null;
  const least = `${percent(share)} of the ${before.distinct_addresses} of ${name}`;
  const reason = `it holds ${addresses} distinct addresses, under ${least}`;
  return refusal('too_few_addresses', reason);
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
