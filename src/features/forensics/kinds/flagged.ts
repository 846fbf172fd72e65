// What has the address to do with what imported tables flag (phishing, exploits), by their words?
// A tag is the source's claim and is shown as such, with the source; no judgement is added.

import { isSystemAddress, matchKey } from '../../../chain/address.ts';
import { heldUnder, listFrom, present } from '../../../evidence/measure.ts';
import { both, map } from '../../../evidence/reading.ts';
import type { FlaggedLookUp, FlaggedRow } from '../../../ports/flags/flagged-addresses.ts';
import { fundingOf } from '../../history/address-history.ts';
import {
  draftSource,
  EVERY_KIND,
  type FindingDraft,
  type FindingKind,
  type RecordEvidence,
} from '../finding.ts';
import {
  byOther,
  carriedBy,
  countText,
  EVIDENCE_SHOWN_MAX,
  sidesOf,
  wishText,
} from '../finding-evidence.ts';

/** An imported table flags the address itself. */
export const flaggedItself: FindingKind = {
  kind: 'flagged_itself',
  title: 'Flagged by an imported table',
  appliesTo: EVERY_KIND,
  ofHistory: false,
  find: ({ subject, flagged }) =>
    map(flagged, (look) => {
      const rows = rowsOf(look, subject.address);
      return rows.map((row) => ({
        statement: `${row.source} flags this address as ${tagText(row)}.`,
        evidence: [recordOf(row)],
        evidence_count: 1,
        initiated_by_subject: null,
        ...whose(row, flagged),
      }));
    }),
};

/** The address exchanged transfers with one that a table flags. */
export const flaggedCounterparty: FindingKind = {
  kind: 'flagged_counterparty',
  title: 'Interaction with a flagged address or contract',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, flagged }) =>
    map(both({ history, flagged }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      const drafts = [...byOther(address, kept)].map(([other, transfers]) => {
        const [row] = rowsOf(seen.flagged, other);
        if (row === undefined) return null;
        const statement =
          `${countText(address, transfers)} with ${other}, which ${row.source} flags as ` +
          `${tagText(row)}; ${wishText(address, transfers)}.`;
        return { statement, ...carriedBy(address, transfers), ...whose(row, flagged) };
      });
      return present(drafts);
    }),
};

/** The first coins of the address came from a flagged one, or from the maker of a flagged one. */
export const fundedByFlagged: FindingKind = {
  kind: 'funded_by_flagged',
  title: 'First funded by a flagged address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, flagged }) =>
    map(both({ funding: fundingOf(history), flagged }), (seen) =>
      listFrom(seen.funding, (funding): readonly FindingDraft[] => {
        if (isSystemAddress(funding.from)) return [];
        const first = `The first coins of this address came from ${funding.from}, which`;
        const carried = carriedBy(address, [funding]);
        const [row] = rowsOf(seen.flagged, funding.from);
        if (row !== undefined) {
          const statement = `${first} ${row.source} flags as ${tagText(row)}.`;
          return [{ statement, ...carried, ...whose(row, flagged) }];
        }
        return madeBy(seen.flagged, funding.from)
          .slice(0, 1)
          .map((made) => {
            const tag = tagText(made);
            const statement =
              `${first} ${made.source} names as the maker of ${made.address}, ` +
              `flagged as ${tag}.`;
            return { statement, ...carried, ...whose(made, flagged) };
          });
      }),
    ),
};

/** A table names the address as the maker of contracts that it flags. */
export const createdFlaggedContract: FindingKind = {
  kind: 'created_flagged_contract',
  title: 'Created a flagged contract or token',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ subject, flagged }) =>
    map(flagged, (look) => {
      const made = madeBy(look, subject.address);
      const noun = made.length === 1 ? 'a contract' : `${made.length} contracts`;
      return made.slice(0, 1).map((first) => ({
        statement: `${first.source} names this address as the maker of ${noun} that it flags.`,
        evidence: made.slice(0, EVIDENCE_SHOWN_MAX).map(recordOf),
        evidence_count: made.length,
        // The maker of a contract is the signer of the transaction that made it.
        initiated_by_subject: true,
        ...whose(first, flagged),
      }));
    }),
};

function rowsOf({ found }: FlaggedLookUp, address: string): readonly FlaggedRow[] {
  return heldUnder(found, matchKey(address));
}

function madeBy({ created }: FlaggedLookUp, address: string): readonly FlaggedRow[] {
  return heldUnder(created, matchKey(address));
}

/** What a row calls its address. */
export function tagText({ tag, category }: FlaggedRow): string {
  return tag === category ? `“${tag}”` : `“${tag}” (${category})`;
}

/** The row's own source, at the date of the table that holds it. */
function whose(
  { source }: FlaggedRow,
  table: Parameters<typeof draftSource>[0],
): Pick<FindingDraft, 'source' | 'as_of'> {
  return { source, as_of: draftSource(table).as_of };
}

/** A row as evidence. */
export function recordOf({
  chain,
  creation_tx,
  tag,
  category,
  address,
}: FlaggedRow): RecordEvidence {
  const value = `${address}: ${tag} (${category})`;
  return {
    evidence: 'record',
    chain,
    tx: creation_tx,
    block: null,
    at: null,
    name: 'flagged_row',
    value,
  };
}
