// How does each part of a dossier stand? Found, looked for in vain, or not checked, in a sentence.
// A sentence that denies something is said on the flags of the answer alone: what was not read to
// its end is never one.

import type {
  BridgesData,
  EntityData,
  EvidenceData,
  ExchangesData,
  LaunchesData,
  ListsData,
  PartOf,
} from './dossier.contract.ts';

/** How something stands. `open`: not read, or not to its end, and nothing was seen of it so far. */
export type Verdict = {
  readonly tone: 'hit' | 'seen' | 'none' | 'open';
  readonly says: string;
};

const NAMED_MAX = 3;

function verdict<D>(part: PartOf<D>, of: (data: D) => Verdict): Verdict {
  return part.state === 'ok' ? of(part.data) : open(part.reason);
}

/** Said of what another visit may read: what was read by then is kept. */
export const NOT_IN_TIME = 'It was not read to its end in the time that a page has.';

function open(reason: string | null): Verdict {
  if (reason === null) return { tone: 'open', says: 'It was not read to its end.' };
  const says = reason.startsWith('time_budget') ? NOT_IN_TIME : withoutCode(reason);
  return { tone: 'open', says };
}

/** A reason without the code that some begin with, as a sentence. */
export function withoutCode(reason: string): string {
  const text = reason.replace(/^[a-z]+(_[a-z]+)+: /, '');
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(first) ? first : `${first}.`;
}

function seen(says: string): Verdict {
  return { tone: 'seen', says };
}

function hit(says: string): Verdict {
  return { tone: 'hit', says };
}

function none(says: string): Verdict {
  return { tone: 'none', says };
}

/** The first few names, and how many more there are. */
function named(names: readonly (string | null)[]): string {
  const known = [
    ...new Set(names.map((name) => (name === null ? 'an entry without a name' : name))),
  ];
  const more = known.length - NAMED_MAX;
  const first = known.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** How several stand together: what was found, then what is not known, counts before the rest. */
export function strongest(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const rank = ['hit', 'seen', 'open', 'none'];
  return verdicts.reduce((one, other) => {
    return rank.indexOf(other.tone) < rank.indexOf(one.tone) ? other : one;
  });
}

/** The sanctions list. */
export function listVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ sanctioned, matches, list, equivalent_forms: forms }) => {
    if (sanctioned) return hit(`Listed: ${named(matches.map(({ entity }) => entity))}.`);
    const others = forms.filter(({ listed }) => listed === true);
    if (others.length > 0) return hit(`Another form of it is listed: ${others[0]?.address}.`);
    return none(`No entry on the ${list.name} published ${list.published}.`);
  });
}

/** The lists of other authorities. */
export function otherListsVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ other_lists: lists, other_lists_reason: reason }) => {
    if (lists === null) return open(reason);
    const hits = lists.filter(
      ({ listed, equivalent_matches: others }) =>
        listed === true || (others !== null && others.length > 0),
    );
    if (hits.length > 0) return hit(`Listed on ${named(hits.map(({ list }) => list))}.`);
    const unread = lists.filter(({ checked, listed }) => !checked || listed === null);
    if (unread.length > 0) return open(unread[0]?.reason === undefined ? null : unread[0].reason);
    return none(`No entry on ${named(lists.map(({ list }) => list))}.`);
  });
}

/** The walk to a listed address. */
export function pathVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ proximity: { found, checked, hops, entity, reason } }) => {
    if (found === true) {
      return hit(
        `${hops === 1 ? 'One hop' : 'Two hops'} from a listed address: ${named([entity])}.`,
      );
    }
    if (found === false && checked) return none('No path of two hops leads to a listed address.');
    return open(reason);
  });
}

/** What was observed. */
export function evidenceVerdict(part: PartOf<EvidenceData>): Verdict {
  return verdict(part, ({ findings, findings_found, findings_checked, findings_coverage }) => {
    if (findings.length > 0) return seen(`${named(findings.map(({ title }) => title))}.`);
    if (findings_found === false && findings_checked) {
      return none('Each kind of finding was looked for, and none was seen.');
    }
    const missing = findings_coverage.find(({ checked }) => !checked);
    return open(missing === undefined ? null : missing.reason);
  });
}

/** Who shares its controller. */
export function entityVerdict(part: PartOf<EntityData>): Verdict {
  return verdict(part, ({ members, checked, reason, related_wallets_total: total, labels }) => {
    if (members.length > 0) {
      const names = labels.length === 0 ? '' : `, of ${named(labels.map(({ entity }) => entity))}`;
      return seen(`Tied to ${total - 1} other ${total === 2 ? 'address' : 'addresses'}${names}.`);
    }
    return checked ? none('No evidence ties it to another address.') : open(reason);
  });
}

/** Exchanges: labels and dealings. */
export function exchangesVerdict(part: PartOf<ExchangesData>): Verdict {
  return verdict(part, ({ direct, linked, activity }) => {
    if (direct !== null) return seen(`Labelled ${direct.label}.`);
    const { exchanges, inferred_deposit_addresses: deposits, checked, reason } = activity;
    if (exchanges !== null && exchanges.length > 0) {
      return seen(`Transfers with ${named(exchanges.map(({ entity }) => entity))}.`);
    }
    if (deposits !== null && deposits.length > 0) {
      return seen(`Deposit addresses of ${named(deposits.map(({ entity }) => entity))}.`);
    }
    if (linked !== null && linked.length > 0) {
      return seen(`Tied to a wallet of ${named(linked.map(({ entity }) => entity))}.`);
    }
    return checked
      ? none('No label is held, and no transfer with a labelled wallet.')
      : open(reason);
  });
}

/** Bridges on one chain. */
export function bridgesVerdict(part: PartOf<BridgesData>): Verdict {
  return verdict(part, ({ bridges, coverage, chain }) => {
    if (bridges.length > 0) return seen(`${named(bridges.map(({ name }) => name))} on ${chain}.`);
    if (!coverage.checked) return open(coverage.reason);
    return none(`No contract of the registry was touched on ${chain}.`);
  });
}

const RECORDS = {
  all_died: 'Every listed launch has died.',
  mixed: 'Some listed launches live.',
  no_listed_launch: 'It launched tokens, and no venue ever listed one.',
  unchecked: 'It launched tokens; whether one is listed could not be checked.',
} as const;

/** What became of its launches. */
export function launchesVerdict(part: PartOf<LaunchesData>): Verdict {
  // What was walked or collected was read and credits it with nothing. Launches that wait to be
  // settled are an absence too, and no such answer.
  const isNoRecord = part.state === 'insufficient_evidence' && part.reason.startsWith('no_record');
  if (isNoRecord) return none(withoutCode(part.reason));
  return verdict(part, (data) => {
    if (data.chain === 'ethereum') return seen(RECORDS[data.record.state]);
    return seen(
      data.wallet.answer === 'flagged'
        ? 'Every settled launch has died.'
        : 'At least one settled launch survived.',
    );
  });
}
