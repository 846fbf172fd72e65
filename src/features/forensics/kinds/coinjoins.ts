// In which transactions of Bitcoin that several people make together is the address spent or paid?
// The form of a transaction tells it: the finding says which form, not why anybody mixed coins, and
// not that whoever is paid is one of them: a maker of such a transaction may pay a stranger by it.

import { formatIsoTime } from '../../../chain/time.ts';
import { map } from '../../../evidence/reading.ts';
import type { JoinedIn, JointForm } from '../../../ports/entities/entity-clusters.ts';
import { type FindingDraft, type FindingKind, jointSource } from '../finding.ts';
import { EVIDENCE_SHOWN_MAX } from '../finding-evidence.ts';

/** Joint transactions that spent coins of the address or paid it. */
export const coinJoined: FindingKind = {
  kind: 'coinjoin',
  title: 'CoinJoins',
  appliesTo: ['bitcoin'],
  ofHistory: false,
  find: ({ coinJoins }) =>
    map(coinJoins, ({ forms, newest }): readonly FindingDraft[] => {
      if (forms.length === 0) return [];
      const evidence = newest.slice(0, EVIDENCE_SHOWN_MAX).map(recordOf);
      const counts = forms.map(({ form, transactions }) => `${transactions} of ${FORMS[form]}`);
      const evidence_count = forms.reduce((sum, { transactions }) => sum + transactions, 0);
      const statement =
        'It is spent from or paid in transactions that by their form several people make ' +
        `together, or that prepare one: ${counts.join(', ')}. Whoever is only paid in one may be ` +
        'a stranger to those who made it.';
      const initiated_by_subject = newest.some(({ spent }) => spent) ? true : null;
      return [
        { statement, evidence, evidence_count, initiated_by_subject, ...jointSource(coinJoins) },
      ];
    }),
};

const FORMS: Readonly<Record<JointForm, string>> = {
  joinmarket: 'JoinMarket’s form',
  wasabi_1_0: 'Wasabi 1.0',
  wasabi_1_1: 'Wasabi 1.1’s form',
  wasabi_2_0: 'Wasabi 2.0’s form (WabiSabi)',
  whirlpool: 'Whirlpool',
  whirlpool_tx0: 'Whirlpool’s preparation (Tx0)',
  equal_outputs: 'equal outputs, by a protocol that is not known',
};

function recordOf({ tx, block, at, form, spent, paid }: JoinedIn) {
  const both = spent && paid ? 'its coins were spent, and it was paid' : null;
  const one = spent ? 'its coins were spent' : 'it was paid';
  const place = { chain: 'bitcoin', tx, block, at: formatIsoTime(at) } as const;
  const value = `${FORMS[form]}: ${both === null ? one : both}`;
  return { evidence: 'record', ...place, name: 'coinjoin', value } as const;
}
