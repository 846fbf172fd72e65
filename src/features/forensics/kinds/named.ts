// Do the tables name anybody whom the facts of an address name: its owner, admin, code or maker?
// Power over a contract is no transfer; it is a fact of the chain at one moment.

import { matchKey } from '../../../chain/address.ts';
import { given, heldUnder, present } from '../../../evidence/measure.ts';
import { basis, both, map, type Partly, Read, seen } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { FlaggedLookUp } from '../../../ports/flags/flagged-addresses.ts';
import { entriesOf } from '../../sanctions/direct-check.ts';
import { leadingLabel } from '../../tables/labels.ts';
import {
  type FindingDraft,
  type FindingKind,
  jointSource,
  type RecordEvidence,
} from '../finding.ts';
import { NAMED_AS, namedKey } from '../named-by-facts.ts';
import type { NamedByFact, SetByOf } from '../read-of-chains.ts';
import { recordOf as flaggedRecord, tagText } from './flagged.ts';
import { recordOf as listRecord, partyText } from './listed.ts';

/** The sanctions list names somebody whom a fact names. */
export const listedInFacts: FindingKind = {
  kind: 'listed_in_facts',
  title: 'Facts name a listed address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, listed, setBy }) =>
    map(both({ named, listed }), (seen) => {
      const drafts = seen.named.map((one) => {
        const [entry] = entriesOf(seen.listed, one.address);
        if (entry === undefined) return null;
        const said = `which the list names under ${partyText(entry)}`;
        return draftOf(one, said, listRecord(entry), { setBy, rests: both({ listed, named }) });
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
  find: ({ named, flagged, setBy }) =>
    map(both({ named, flagged }), (seen) => {
      const drafts = seen.named.map((one) => {
        const row = flagOf(seen.flagged, one);
        if (row === null) return null;
        const rests = both({ flagged, named });
        return draftOf(one, row.said, flaggedRecord(row.row), { setBy, rests });
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
  find: ({ named, labels, setBy }) =>
    map(both({ named, labels }), (seen) => {
      const drafts = seen.named.map((one) => {
        const label = leadingLabel(heldUnder(seen.labels.found, matchKey(one.address)));
        if (label === null) return null;
        const { entity, role, source } = label;
        const said = `which ${source} labels “${label.label}” of ${entity} (${role})`;
        const value = `${one.address}: ${label.label}, ${entity} (${role})`;
        const row = { evidence: 'record', ...NOWHERE, name: 'label', value } as const;
        return draftOf(one, said, row, { setBy, rests: both({ labels, named }) });
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

type Beside = { readonly setBy: SetByOf; readonly rests: Partly<unknown, never> };

function draftOf(
  one: NamedByFact,
  said: string,
  row: RecordEvidence,
  { setBy, rests }: Beside,
): FindingDraft {
  const { chain, fact, address } = one;
  const record = { evidence: 'record', chain, at: null, name: fact, value: address } as const;
  const evidence = [{ ...record, ...placeOf(one, setBy) }, row];
  return {
    named_by: [namedKey(one), row.name, row.value].join(' '),
    statement: `On ${chain} its ${NAMED_AS[fact]} is ${address}, ${said}.`,
    evidence,
    evidence_count: evidence.length,
    initiated_by_subject: null,
    ...jointSource(rests),
  };
}

/** The transaction that made the fact name this address, or why it is not known. */
function placeOf(one: NamedByFact, setBy: SetByOf) {
  const { tx, block } = one;
  const reading = setBy.get(namedKey(one));
  if (tx !== null || reading === undefined) {
    return tx === null ? { tx, block, tx_reason: why('set_by_unasked').reason } : { tx, block };
  }
  const [set] = given(seen(map(reading, (found) => present([found]))));
  if (set !== undefined) return { tx: set.tx, block: set.block };
  const source = given(basis(reading).sources.map(({ name }) => name)).join('; ');
  const tx_reason = reading instanceof Read ? why('set_by_unseen', { source }) : reading.why;
  return { tx, block, tx_reason: tx_reason.reason };
}
