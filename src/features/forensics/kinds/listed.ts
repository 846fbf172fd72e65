// What has the address to do with the published sanctions list, as far as its own transfers show?
// A contact is a fact about two addresses and designates neither; who signed stands beside it.

import { compareDecimals } from '../../../chain/amount.ts';
import { CHAINS } from '../../../chain/chain.ts';
import { listFrom, present } from '../../../evidence/measure.ts';
import { both, map } from '../../../evidence/reading.ts';
import { type HistoryTransfer, isSignedBy } from '../../../ports/history/transfer-history.ts';

import type { ListEntry, ListLookUp } from '../../../ports/sanctions/sanctions-list.ts';
import { fundingOf } from '../../history/address-history.ts';
import { entriesOf } from '../../sanctions/direct-check.ts';
import { endOf, stopsOf } from '../../sanctions/walk-path.ts';
import {
  draftSource,
  EVERY_KIND,
  type FindingDraft,
  type FindingKind,
  jointSource,
} from '../finding.ts';
import {
  anyOwn,
  byOther,
  carriedBy,
  countText,
  evidenceOf,
  sidesOf,
  wishText,
} from '../finding-evidence.ts';

/** Larger unsolicited payments are no dust: the dust of August 2022 was a tenth of an ether. */
const DUST_USD_MAX = '500';
/** What of an unpriced coin is small: a tenth of it, of Bitcoin's a thousandth. */
const DUST_PARTS = { bitcoin: 1_000n, others: 10n };

/** The address itself stands on the list. */
export const listedItself: FindingKind = {
  kind: 'listed_itself',
  title: 'Stands on the sanctions list',
  appliesTo: EVERY_KIND,
  ofHistory: false,
  find: ({ subject, listed }) =>
    map(listed, (look) =>
      entriesOf(look, subject.address).map((entry) => ({
        statement: `The list names this address under ${partyText(entry)}.`,
        evidence: [recordOf(entry)],
        evidence_count: 1,
        initiated_by_subject: null,
        ...draftSource(listed),
      })),
    ),
};

/** A counterparty of the address stands on the list. */
export const listedCounterparty: FindingKind = {
  kind: 'listed_counterparty',
  title: 'Listed counterparty within one hop',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ history, listed }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      return ofListed(seen.listed, byOther(address, kept), ([other, transfers, entry]) => ({
        statement:
          `${countText(address, transfers)} with ${other}, which the list names under ` +
          `${partyText(entry)}; ${wishText(address, transfers)}.`,
        ...carriedBy(address, transfers),
        ...draftSource(listed),
      }));
    }),
};

/** Transfers lead from the address to a listed one, past at most one other. */
export const wayToListed: FindingKind = {
  kind: 'way_to_listed',
  title: 'Shortest way to a listed address within two hops',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, walk }) =>
    map(walk, ({ found }) =>
      listFrom(found, ({ way, entry }) => {
        const hops = way.length === 1 ? '1 hop leads' : `${way.length} hops lead`;
        const transfers = way.map((hop) => hop.transfer);
        const evidence = [
          ...way.map(({ transfer, near }) => evidenceOf(address, transfer, near)),
          recordOf(entry),
        ];
        const statement =
          `${hops} from this address to ${endOf(way)}, which the list names under ` +
          `${partyText(entry)}: ${stopsOf(way).join(', ')}; ${wishText(address, transfers)}.`;
        const initiated_by_subject = anyOwn(address, transfers);
        const evidence_count = evidence.length;
        return [
          { statement, evidence, evidence_count, initiated_by_subject, ...jointSource(walk) },
        ];
      }),
    ),
};

/** The first coins of the address came from a listed one. */
export const fundedByListed: FindingKind = {
  kind: 'funded_by_listed',
  title: 'First funded by a listed address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ funding: fundingOf(history), listed }), (seen) =>
      listFrom(seen.funding, (funding) =>
        ofListed(seen.listed, new Map([[funding.from, [funding]]]), ([other, , entry]) => ({
          statement:
            `The first coins of this address came from ${other}, which the list names under ` +
            `${partyText(entry)}.`,
          ...carriedBy(address, [funding]),
          ...draftSource(listed),
        })),
      ),
    ),
};

/** A listed address sent it something small that it had not asked for. */
export const dustFromListed: FindingKind = {
  kind: 'dust_from_listed',
  title: 'Dust from a listed address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ history, listed }), (seen) => {
      const { kept, leftOut } = sidesOf(address, seen.history.transfers);
      const unwanted = new Set(leftOut.map(({ transfer }) => transfer));
      const dust = [...kept.filter(isSmall), ...unwanted].filter(
        (one) => one.to === address && isSignedBy(address, one) === false,
      );
      return ofListed(seen.listed, byOther(address, dust), ([other, transfers, entry]) => ({
        statement:
          `${other}, which the list names under ${partyText(entry)}, sent this address ` +
          `${dustText(transfers, unwanted)}; the address itself signed none of it.`,
        ...carriedBy(address, transfers),
        ...draftSource(listed),
      }));
    }),
};

type Contact = readonly [string, readonly HistoryTransfer[], ListEntry];

/** One draft for each counterparty that the list holds, by its first entry. */
function ofListed(
  look: ListLookUp,
  contacts: ReadonlyMap<string, readonly HistoryTransfer[]>,
  draft: (contact: Contact) => FindingDraft,
): FindingDraft[] {
  return [...contacts].flatMap(([other, transfers]) => {
    const [entry] = entriesOf(look, other);
    return entry === undefined ? [] : [draft([other, transfers, entry])];
  });
}

/** Worth little, or little of its chain's coin where nothing says what it is worth. */
function isSmall({ usd, kind, chain, raw_amount }: HistoryTransfer): boolean {
  if (usd !== null) return compareDecimals(usd, DUST_USD_MAX) <= 0;
  const parts = chain === 'bitcoin' ? DUST_PARTS.bitcoin : DUST_PARTS.others;
  const coin = 10n ** BigInt(CHAINS[chain].native.decimals);
  return kind !== 'token' && raw_amount * parts <= coin;
}

/** What was sent: small amounts, and what is left out of every contact, each as what it is. */
function dustText(
  transfers: readonly HistoryTransfer[],
  unwanted: ReadonlySet<HistoryTransfer>,
): string {
  const rest = transfers.filter((one) => unwanted.has(one)).length;
  const small = transfers.length - rest;
  const said = [
    small === 0 ? null : `something small ${timesText(small)}`,
    rest === 0 ? null : `something of no value or without a market ${timesText(rest)}`,
  ];
  return present(said).join(', and ');
}

function timesText(times: number): string {
  return times === 1 ? 'once' : `${times} times`;
}

/** The party of an entry. */
export function partyText({ entity, programs, uid }: ListEntry): string {
  const name = entity === null ? `entry ${uid}` : entity;
  return programs === null || programs.length === 0 ? name : `${name} (${programs.join(', ')})`;
}

/** An entry as evidence. */
export function recordOf({ uid, entity, address }: ListEntry) {
  const nowhere = { chain: null, tx: null, block: null, at: null };
  const value = `${entity === null ? '' : `${entity}, `}uid ${uid}, as ${address}`;
  return { evidence: 'record', ...nowhere, name: 'list_entry', value } as const;
}
