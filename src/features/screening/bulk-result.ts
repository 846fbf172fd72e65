// What is said of one address of a bulk screen, and which readings may say it?

import type { EquivalentForm } from '../../chain/address.ts';
import type { Claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import type { DatedBy } from '../../evidence/source.ts';
import type { LabelLookUp } from '../../ports/labels/exchange-labels.ts';
import type { CorpusLookUp } from '../../ports/launches/launches.ts';
import type { OtherListsPort } from '../../ports/lists/other-lists.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';
import { leadingLabel } from '../tables/labels.ts';
import { launchAnswer } from '../tables/launches.ts';
import type { ScreenKind } from './screen-subject.ts';

export type ListPort = 'sanctions_list';
export type LabelsPort = 'exchange_labels';
export type CorpusPort = 'launch_corpus';

/** Another form of the same key or account that stands on a list. */
export type ListedForm = EquivalentForm & { listed: true };

/** What one list of another authority says of an address. */
export type ListingElsewhere = {
  list: string;
  /** Whether an entry of the address itself has not ended; `null` where a miss is no answer. */
  listed: Claim<boolean, null, OtherListsPort>;
  /** Whom its entries name, those of other forms and those that ended included. */
  entity: string | null;
  /** Those of its other forms that stand on this list. */
  equivalent_forms: Claim<ListedForm[], null, OtherListsPort>;
  as_of: number;
  dated_by: DatedBy;
  /** Why a miss is no answer. */
  reason: string | null;
};

/** What is said of an address that no table holds: nothing, until each of them was read. */
type Absent<P extends string> = Claim<'ok' | 'insufficient_evidence', 'not_deployed', P>;

/** The entries of one address in the tables that were read. */
export type ScreenResult = {
  address: string;
  kind: ScreenKind;
  state:
    | 'ok'
    | 'not_deployed'
    | Absent<ListPort>
    | Absent<LabelsPort>
    | Absent<CorpusPort>
    | Absent<OtherListsPort>;
  exchange: {
    label: string;
    entity: string;
    role: string;
    confidence: string;
    clusterable: boolean;
  } | null;
  launches: { answer: 'flagged' | 'record'; launches_settled: number; died: number } | null;
  sanctions: {
    listed: Claim<boolean, never, ListPort>;
    /** `null` where the list leaves the programme of an entry open. */
    programs: Claim<string[] | null, never, ListPort>;
    list_published: string;
  } | null;
  /** Those of its other forms that stand on the list; `null` where the list was not read. */
  equivalent_forms: Claim<ListedForm[], never, ListPort> | null;
  /** List by list; `null` where they were not read, or none was ever imported. */
  other_lists: ListingElsewhere[] | null;
  /** `null` where a table does not apply to the address, or was not asked about. */
  checked: {
    exchange_table: Claim<true, false, LabelsPort> | null;
    launch_corpus: Claim<true, false, CorpusPort> | null;
    other_lists: Claim<true, false, OtherListsPort> | null;
    sanctions_list: Claim<true, false, ListPort> | null;
  };
  reason?: string;
};

/** Whom the leading label of an address names. */
export function exchangeOf(look: LabelLookUp, address: string): ScreenResult['exchange'] {
  const leading = leadingLabel(heldUnder(look.found, address));
  if (leading === null) return null;
  const { label, entity, role, confidence, clusterable } = leading;
  return { label, entity, role, confidence, clusterable };
}

/** What became of the launches of an address. */
export function launchesOf(look: CorpusLookUp, address: string): ScreenResult['launches'] {
  const count = look.found.get(address);
  if (count === undefined) return null;
  const { launches_settled, died } = count;
  return { answer: launchAnswer(count), launches_settled, died };
}

/** The programmes of entries; `null` where the list leaves that of one open. */
export function programsOf(entries: readonly ListEntry[]): string[] | null {
  const programmes = new Set<string>();
  for (const { programs } of entries) {
    if (programs === null) return null;
    for (const programme of programs) programmes.add(programme);
  }
  return [...programmes];
}
