// Relates an address to exchanges by the label table, the clusters and transfer history. A miss
// means that no label is held, not that the address belongs to no exchange. Activity is denied only
// if the histories of the address and of the addresses that it pays were read completely.

import { type AddressKind, matchKey, type ParsedAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, CHAINS } from '../../chain/chain.ts';
import { listOrNone, rowsUnder } from '../../evidence/measure.ts';
import {
  both,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  some,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { EntityCluster, EntityClusters, EntityClustersPort } from '../../ports/entities.ts';
import type { TransferHistoryPort } from '../../ports/history.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  ExchangeLabelsPort,
  LabelLookUp,
} from '../../ports/tables.ts';
import { type ExchangeActivity, exchangeActivity } from '../deposits/activity.ts';
import {
  type Deposits,
  type DepositsPorts,
  depositsAround,
  valueAsRead,
} from '../deposits/around.ts';
import {
  type AddressHistory,
  addressHistory,
  causesText,
  type HistoryRequest,
} from '../history/address-history.ts';
import { leadingLabel } from '../tables/labels.ts';

export type AttributionPorts = DepositsPorts & { readonly entityClusters: EntityClusters };

type LinkedPort = EntityClustersPort | ExchangeLabelsPort;
type ActivityPort = ExchangeLabelsPort | TransferHistoryPort;

type LinkedLabel = {
  readonly label: ExchangeLabel;
  readonly cluster: Pick<EntityCluster, 'cluster_id' | 'confidence' | 'basis'>;
};

/** The dealings with exchanges, and which deposit addresses it shows. */
export type Activity = ExchangeActivity &
  Deposits & { readonly provenance: AddressHistory['provenance'] };

export type Attribution = {
  /** The rows of the subject itself, from a table that was read. */
  readonly look: Read<LabelLookUp, ExchangeLabelsPort>;
  /** All rows that name the subject, the leading one first; where sources disagree, several. */
  readonly own: readonly ExchangeLabel[];
  readonly linked: Partly<readonly LinkedLabel[], LinkedPort>;
  /** The subject's own history with exchanges; the second hop left out. */
  readonly history: Partly<AddressHistory, TransferHistoryPort>;
  readonly activity: Partly<Activity, ActivityPort>;
  /** Set where the table answered for the subject, but not for all that was asked after it. */
  readonly tableSilent: Unread<ExchangeLabelsPort> | null;
};

/** Attributes an address; where the table was not read, there is nothing to attribute by. */
export async function attribution(
  subject: ParsedAddress,
  ports: AttributionPorts,
  asked: HistoryRequest,
): Promise<Attribution | Unread<ExchangeLabelsPort>> {
  let tableSilent: Attribution['tableSilent'] = null;
  const lookUp: ExchangeLabels['lookUp'] = async (addresses) => {
    const answer = await ports.exchangeLabels.lookUp(addresses);
    if (answer instanceof Unread) tableSilent = answer;
    return answer;
  };
  const { address, kind } = subject;
  const look = await lookUp([address]);
  if (!(look instanceof Read)) return look;
  const watched = { ...ports, exchangeLabels: { lookUp } };
  const [linked, history] = await Promise.all([
    findLinked(subject, watched, asked.signal),
    chainsOf(kind).length > 0
      ? addressHistory(ports.transferHistory, address, asked)
      : unread('transfer_history' as const, why('not_walked_kind', { kind })),
  ]);
  const activity = await activityOf(subject, look, history, watched, asked);
  const rows = rowsUnder(look.value.found, matchKey(address));
  const leading = leadingLabel(rows);
  const own = leading === null ? rows : [leading, ...rows.filter((one) => one !== leading)];
  return { look, own, linked, history, activity, tableSilent };
}

function chainsOf(kind: AddressKind) {
  return CHAIN_NAMES.filter((chain) => CHAINS[chain].kind === kind);
}

async function findLinked(
  { address, kind }: ParsedAddress,
  { entityClusters, exchangeLabels }: AttributionPorts,
  signal: AbortSignal,
): Promise<Attribution['linked']> {
  const chains = chainsOf(kind);
  if (chains.length === 0) {
    return unread<LinkedPort>('entity_clusters', why('not_walked_kind', { kind }));
  }
  const asked = chains.map((chain) => entityClusters.clusterOf(chain, address));
  const answers = await inTime(() => Promise.all(asked), signal);
  if (answers === OUT_OF_TIME) return unread<LinkedPort>('entity_clusters', STOPPED_BY_TIME);
  const held = some(answers);
  const met = rowsSeen(map(held, (found) => found.filter((one) => one !== null)));
  const clusterOf = new Map<string, EntityCluster>();
  for (const cluster of listOrNone(met)) {
    for (const member of cluster.members) if (member !== address) clusterOf.set(member, cluster);
  }
  const look = await exchangeLabels.lookUp([...clusterOf.keys()]);
  return map(both({ held, look }), ({ look: { found } }) =>
    [...clusterOf].flatMap(([member, cluster]) => {
      const label = leadingLabel(rowsUnder(found, matchKey(member)));
      return label === null ? [] : [{ label, cluster }];
    }),
  );
}

async function activityOf(
  { address }: ParsedAddress,
  look: Read<LabelLookUp, ExchangeLabelsPort>,
  history: Partly<AddressHistory, TransferHistoryPort>,
  ports: AttributionPorts,
  asked: HistoryRequest,
): Promise<Attribution['activity']> {
  if (history instanceof Unread) return unread<ActivityPort>('transfer_history', history.why);
  const [{ transfers, provenance }] = valueAsRead(history);
  const met = new Set(transfers.flatMap(({ from, to }) => [from, to]));
  const labels: Reading<LabelLookUp, ExchangeLabelsPort> = await ports.exchangeLabels.lookUp([
    ...met,
  ]);
  if (labels instanceof Unread) return unread<ActivityPort>('exchange_labels', labels.why);
  const rows = labels.value.found;
  const labelOf = (one: string) => leadingLabel(rowsUnder(rows, matchKey(one)));
  const isLabelled = (one: string) =>
    rows.has(matchKey(one)) || look.value.found.has(matchKey(one));
  const own = exchangeActivity(address, transfers, labelOf);
  const around = await depositsAround(history, isLabelled, ports, asked);
  // A second hop that gave no answer leaves the first as it is, and the whole a part.
  const none = (why: Why): Deposits => ({
    deposits: [],
    candidates: 0,
    causes: [{ why, count: 1 }],
  });
  const hop =
    around instanceof Unread
      ? weaken(
          map(both({ history, labels }), () => none(around.why)),
          around.why,
        )
      : around;
  return map(both({ labels, hop }), ({ hop: more }) => ({ ...own, ...more, provenance }));
}

/** Why activity was not read to its end: every cause, in words. */
export function activityReason(activity: Exclude<Attribution['activity'], Read<Activity, never>>) {
  const causes = rowsSeen(map(activity, (one) => one.causes));
  return causes === null ? activity.why.reason : causesText(causes);
}

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
  const met = rowsSeen(map(activity, (one) => [one]));
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
  const entity = leading.entity.trim().toLowerCase();
  return others.filter((one) => {
    if (one.entity.trim().toLowerCase() !== entity) return true;
    // A source that names no role agrees with one that does.
    return one.role !== leading.role && one.role !== 'other' && leading.role !== 'other';
  });
}

/** Why a miss is no more than a miss: what was checked, and what was not. */
export function explainMiss({ look, linked, activity }: Attribution): Why {
  const links =
    linked instanceof Read
      ? 'No labelled address was found in its cluster.'
      : `Its cluster was not checked: ${linked.why.reason}`;
  const moves =
    activity instanceof Read
      ? 'Its transfer history was read, and none of it is with a labelled exchange wallet.'
      : `Its activity was not checked: ${activityReason(activity)}`;
  const rows = String(look.value.table_rows);
  const said = { rows, rest: `${links} ${moves}` };
  const isWhole = linked instanceof Read && activity instanceof Read;
  return isWhole ? why('no_exchange_held', said) : why('no_exchange_held_partly', said);
}

/** Whether something was seen that answers: a label, a linked label, or activity. */
export function isAnswered({ own, linked, activity }: Attribution): boolean {
  const links = linked instanceof Unread ? null : rowsSeen(linked);
  const met = rowsSeen(map(activity, (one) => [...one.contacts, ...one.deposits]));
  return own.length > 0 || links !== null || met !== null;
}
