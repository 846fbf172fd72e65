// Do the tables name anybody whom the facts of an address name: its owner, admin, code or maker?
// Power over a contract is no transfer; it is a fact of the chain at one moment.

import { matchKey } from '../../../chain/address.ts';
import { heldUnder, present } from '../../../evidence/measure.ts';
import { both, map, type Partly } from '../../../evidence/reading.ts';
import type { FlaggedLookUp } from '../../../ports/flags/flagged-addresses.ts';
import { entriesOf } from '../../sanctions/direct-check.ts';
import { leadingLabel } from '../../tables/labels.ts';
import {
  type FindingDraft,
  type FindingKind,
  jointSource,
  type RecordEvidence,
} from '../finding.ts';
import { NAMED_AS } from '../named-by-facts.ts';
import type { NamedByFact } from '../read-of-chains.ts';
import { recordOf as flaggedRecord, tagText } from './flagged.ts';
import { recordOf as listRecord, partyText } from './listed.ts';

/** The sanctions list names somebody whom a fact names. */
export const listedInFacts: FindingKind = {
  kind: 'listed_in_facts',
  title: 'Facts name a listed address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, listed }) =>
    map(both({ named, listed }), (seen) => {
      const drafts = seen.named.map((one) => {
        const [entry] = entriesOf(seen.listed, one.address);
        if (entry === undefined) return null;
        const said = `which the list names under ${partyText(entry)}`;
        return draftOf(one, said, listRecord(entry), both({ listed, named }));
      });
      return present(drafts);
    }),
};

/** An imported table flags somebody whom a fact names, or a contract that this one made. */
export const flaggedInFacts: FindingKind = {
  kind: 'flagged_in_facts',
  title: 'Facts name a flagged address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, flagged }) =>
    map(both({ named, flagged }), (seen) => {
      const drafts = seen.named.map((one) => {
        const row = flagOf(seen.flagged, one);
        if (row === null) return null;
        return draftOf(one, row.said, flaggedRecord(row.row), both({ flagged, named }));
      });
      return present(drafts);
    }),
};

/** The label table names somebody whom a fact names. */
export const labelledInFacts: FindingKind = {
  kind: 'labelled_in_facts',
  title: 'Facts name a labelled address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, labels }) =>
    map(both({ named, labels }), (seen) => {
      const drafts = seen.named.map((one) => {
        const label = leadingLabel(heldUnder(seen.labels.found, matchKey(one.address)));
        if (label === null) return null;
        const { entity, role, source } = label;
        const said = `which ${source} labels “${label.label}” of ${entity} (${role})`;
        const value = `${one.address}: ${label.label}, ${entity} (${role})`;
        const row = { evidence: 'record', ...NOWHERE, name: 'label', value } as const;
        return draftOf(one, said, row, both({ labels, named }));
      });
      return present(drafts);
    }),
};

const NOWHERE = { chain: null, tx: null, block: null, at: null } as const;

/** What the tables say of one: the row that flags it, or one of a contract that it made. */
function flagOf({ found, created }: FlaggedLookUp, { fact, address }: NamedByFact) {
  const [row] = heldUnder(found, matchKey(address));
  if (row !== undefined) return { row, said: `which ${row.source} flags as ${tagText(row)}` };
  const [made] = fact === 'creator' ? heldUnder(created, matchKey(address)) : [];
  if (made === undefined) return null;
  const said = `which ${made.source} names as the maker of ${made.address}, flagged as`;
  return { row: made, said: `${said} ${tagText(made)}` };
}

function draftOf(
  { chain, fact, address, tx, block }: NamedByFact,
  said: string,
  row: RecordEvidence,
  readings: Partly<unknown, never>,
): FindingDraft {
  const record = { evidence: 'record', chain, tx, block, at: null, name: fact } as const;
  const evidence = [{ ...record, value: address }, row];
  return {
    statement: `On ${chain} its ${NAMED_AS[fact]} is ${address}, ${said}.`,
    evidence,
    evidence_count: evidence.length,
    initiated_by_subject: null,
    ...jointSource(readings),
  };
}
