// What is said of one address of a bulk screen, and which readings may say it?

import type { EquivalentForm } from '../../chain/equivalent-form.ts';
import type { Claim } from '../../evidence/claim.ts';
import type { ScreenKind } from './screen-subject.ts';

export type ListPort = 'sanctions_list';
export type LabelsPort = 'exchange_labels';
export type CorpusPort = 'launch_corpus';

/** Another form of the same key or account that stands on the list. */
export type ListedForm = EquivalentForm & { listed: true };

/** What is said of an address that no table holds: nothing, until each of them was read. */
type Absent<P extends string> = Claim<'ok' | 'insufficient_evidence', 'not_deployed', P>;

/** The entries of one address in the tables that were read. */
export type ScreenResult = {
  address: string;
  kind: ScreenKind;
  state: 'ok' | 'not_deployed' | Absent<ListPort> | Absent<LabelsPort> | Absent<CorpusPort>;
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
  /** `null` where a table does not apply to the address, or was not asked about. */
  checked: {
    exchange_table: Claim<true, false, LabelsPort> | null;
    launch_corpus: Claim<true, false, CorpusPort> | null;
    sanctions_list: Claim<true, false, ListPort> | null;
  };
  reason?: string;
};
