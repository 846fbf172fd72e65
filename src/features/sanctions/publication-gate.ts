// Pure rules of date and size; those of size come last. The gate does not read, store or override:
// an operator may accept a file that only a rule of size refuses.

import { DAY_S, formatIsoDate, type UnixSeconds } from '../../chain/time.ts';
import type {
  LastGood,
  ListEntry,
  ListRefusal,
  PublicationGate,
  PublishedList,
} from '../../ports/sanctions.ts';

type Baseline = Pick<LastGood, 'published' | 'distinct_addresses'>;

/** The list of 2026-09-23, as recorded with this release. */
export const BASELINE: Baseline = { published: '2026-09-23', distinct_addresses: 1043 };

export const SHARES = { minAddressShare: 0.8, minPartyShare: 0.9 };

/** The codes of refusals; a file that only its size speaks against can be accepted. */
export const GATE_CODES = {
  no_addresses: 'content',
  below_floor: 'content',
  older_publication: 'date',
  future_publication: 'date',
  too_few_addresses: 'size',
  too_few_parties: 'size',
  same_day_removal: 'size',
} as const;
type GateCode = keyof typeof GATE_CODES;

/** The gate with this deployment's floor, in distinct addresses. */
export function publicationGate(floor: number): PublicationGate {
  return {
    rules: `floor ${floor}`,
    absolute: (list) => absoluteGate(list, { floor }),
    relative: (list, last, now) => {
      const ahead = clockGate(list, now);
      if (ahead !== null) return ahead;
      // In force while a clock was wrong, a list of a day to come is older than no other.
      const dated = last === null || clockGate(last, now) === null;
      const compared = dated ? last : { ...last, published: list.published };
      return relativeGate(list, compared, BASELINE, SHARES);
    },
    sameDay: sameDayGate,
  };
}

/**
 * The rule between two files of one day from two sources: a source that lags would take away what
 * the publisher's second issue of the day listed.
 */
export function sameDayGate(
  list: Pick<PublishedList, 'addresses'>,
  inForce: readonly ListEntry[],
): ListRefusal | null {
  const held = new Set(list.addresses.map(({ address }) => address));
  const gone = new Set(inForce.map(({ address }) => address).filter((one) => !held.has(one)));
  if (gone.size === 0) return null;
  const lacks = `it lacks ${gone.size} of the addresses`;
  const reason = `${lacks} of the list in force, which is of the same day and another source`;
  return refusal('same_day_removal', reason);
}

/** The rules that need no history, in force for every file; `null` where it passes. */
export function absoluteGate(
  publication: Pick<PublishedList, 'distinct_addresses'>,
  { floor }: { readonly floor: number },
): ListRefusal | null {
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
  { published }: Pick<LastGood, 'published'>,
  now: UnixSeconds,
): ListRefusal | null {
  if (published <= formatIsoDate(now + AHEAD_MAX_S)) return null;
  const reason = `it is of ${published}, over a day ahead of the clock (${formatIsoDate(now)})`;
  return refusal('future_publication', reason);
}

/** The rules that compare with the last good list, or without one with the baseline. */
export function relativeGate(
  publication: LastGood,
  last: LastGood | null,
  baseline: Baseline,
  { minAddressShare, minPartyShare }: typeof SHARES,
): ListRefusal | null {
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
  publication: LastGood,
  before: Baseline,
  share: number,
  name: string,
): ListRefusal | null {
  const { distinct_addresses: addresses } = publication;
  if (addresses >= before.distinct_addresses * share) return null;
  const least = `${percent(share)} of the ${before.distinct_addresses} of ${name}`;
  const reason = `it holds ${addresses} distinct addresses, under ${least}`;
  return refusal('too_few_addresses', reason);
}

function refusal(code: GateCode, reason: string): ListRefusal {
  return { refused: true, code, reason, size: GATE_CODES[code] === 'size' };
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
