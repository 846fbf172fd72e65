// What must a reader of one exchange attribution be told beside its fields, and of a miss?
// Product text with a stable code for each sentence. It refuses to deny anything: a sentence says
// what was seen, what was left unseen, or what a field does not mean.

import { map, Read, seen, Unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { type Attribution, activityReason } from './attribution.ts';

/** The sentences of an attribution's caveat. `{name}` marks what a sentence is filled with. */
const EXCHANGE_CAVEATS = {
  of_a_table: 'Labels come from published tables; that none is held does not say whose it is.',
  role: 'An exchange’s hot and cold wallets are paid by many unrelated people and link nobody.',
  conflict: 'Sources disagree about this address; all of their labels are shown.',
  inferred:
    'A deposit address is inferred from what it passed on: at least 90 % of each asset within 24 ' +
    'hours, to wallets of one exchange. It is no label.',
  role_unstated:
    'Where `receiver_role` is `unstated`, the label of a receiving wallet tells no role: it may ' +
    'be no hot wallet, and `weight` is lower.',
  kind_unknown: 'Nothing read shows whether an inferred address is a contract.',
  incomplete: 'An inferred address whose history was not read to its end may prove otherwise.',
  left_out: 'Transfers that are poisoning or spam make no activity; they are counted apart.',
  unpriced: 'USD sums are over the priced transfers alone.',
  shown: 'The newest {shown} transactions of each exchange are shown.',
  unchecked: 'Activity was not checked to its end, and while it is not, nothing is ruled out.',
} as const;

type Code = keyof typeof EXCHANGE_CAVEATS;

/** The caveat of an attribution; `shownMax` is how many transactions of one exchange are shown. */
export function exchangeCaveat({ own, activity }: Attribution, shownMax: number): string {
  const codes: Code[] = ['of_a_table'];
  if (own.some(({ clusterable }) => !clusterable)) codes.push('role');
  if (conflictsIn(own).length > 0) codes.push('conflict');
  const met = seen(map(activity, (one) => [one]));
  if (met !== null) {
    const [{ contacts, deposits, leftOut }] = met;
    if (deposits.length > 0) codes.push('inferred');
    if (deposits.some(({ inferred }) => inferred.receiverRole === 'unstated')) {
      codes.push('role_unstated');
    }
    if (deposits.some(({ externallyOwned }) => externallyOwned === null))
      codes.push('kind_unknown');
    if (deposits.some(({ whole }) => !whole)) codes.push('incomplete');
    if (leftOut.zero_value + leftOut.no_market_token > 0) codes.push('left_out');
    if (contacts.some((one) => one.unpriced_transfers > 0)) codes.push('unpriced');
    if (contacts.some((one) => one.transfers.length > shownMax)) codes.push('shown');
  }
  if (!(activity instanceof Read)) codes.push('unchecked');
  const sentences = codes.map((code) =>
    EXCHANGE_CAVEATS[code].replace('{shown}', String(shownMax)),
  );
  return sentences.join(' ');
}

/** Of an address's labels those that do not say what the leading one says. */
export function conflictsIn(own: Attribution['own']): Attribution['own'] {
  const [leading, ...others] = own;
  if (leading === undefined) return own;
  return others.filter((one) => !agree(one, leading));
}

type Label = Attribution['own'][number];

// A source that names no role agrees with one that does.
function agree(one: Label, leading: Label): boolean {
  const names = one.entity.trim().toLowerCase() === leading.entity.trim().toLowerCase();
  const roles = one.role === 'other' || leading.role === 'other' || one.role === leading.role;
  return names && roles;
}

/** Why a miss is no more than a miss: what was checked, and what was not. */
export function missOf({ look, linked, activity }: Attribution): Why {
  const links =
    linked instanceof Read
      ? 'No labelled address was found in its cluster.'
      : `Its cluster was not checked: ${linked.why.reason}`;
  const moves =
    activity instanceof Read
      ? 'Its transfer history was read, and none of it is with a labelled exchange wallet.'
      : `Its activity was not checked: ${activityReason(activity)}`;
  const rows = String(look.value.table_rows);
  return why('no_exchange_held', { rows, rest: `${links} ${moves}` });
}

/** Whether something was seen that answers: a label, a linked label, or activity. */
export function isAnswered({ own, linked, activity }: Attribution): boolean {
  const links = linked instanceof Unread ? null : seen(linked);
  const met = seen(map(activity, (one) => [...one.contacts, ...one.deposits]));
  return own.length > 0 || links !== null || met !== null;
}
