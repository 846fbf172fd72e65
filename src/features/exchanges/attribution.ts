// What do the label table, the clusters and transfer history tell of an address and exchanges?
// A miss says that no label is held, not that the address is no exchange's. It refuses to say of
// activity that there is none unless the address's history, and that of the addresses that it pays,
// was read to its end.

import { type AddressKind, matchKey, type ParsedAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, CHAINS } from '../../chain/chain.ts';
import { given, heldUnder } from '../../evidence/measure.ts';
import {
  both,
  map,
  type Partly,
  Read,
  type Reading,
  seen,
  some,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type { EntityClusters, EntityClustersPort } from '../../ports/entities/entity-clusters.ts';
import type { TransferHistory, TransferHistoryPort } from '../../ports/history/transfer-history.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  ExchangeLabelsPort,
  LabelLookUp,
} from '../../ports/labels/exchange-labels.ts';
import { type ExchangeActivity, exchangeActivity } from '../deposits/activity.ts';
import { type Deposits, depositsAround, seenIn } from '../deposits/around.ts';
import {
  type AddressHistory,
  addressHistory,
  causesText,
  type HistoryAsked,
} from '../history/address-history.ts';

import { leadingLabel } from '../tables/labels.ts';

/** The ports that an attribution reads. */
type AttributionPorts = {
  readonly labels: ExchangeLabels;
  readonly clusters: EntityClusters;
  readonly history: TransferHistory;
  readonly facts: ChainFacts;
};

type LinkedPort = EntityClustersPort | ExchangeLabelsPort;
type ActivityPort = ExchangeLabelsPort | TransferHistoryPort;

/** A labelled address of the same cluster, and the cluster that holds both. */
export type LinkedLabel = { readonly label: ExchangeLabel; readonly cluster_id: string };

/** The dealings with exchanges, and which deposit addresses it shows. */
export type Activity = ExchangeActivity &
  Deposits & { readonly provenance: AddressHistory['provenance'] };

/** An attribution. */
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
  asked: HistoryAsked,
): Promise<Attribution | Unread<ExchangeLabelsPort>> {
  let tableSilent: Attribution['tableSilent'] = null;
  const lookUp: ExchangeLabels['lookUp'] = async (addresses) => {
    const answer = await ports.labels.lookUp(addresses);
    if (answer instanceof Unread) tableSilent = answer;
    return answer;
  };
  const look = await lookUp([subject.address]);
  if (!(look instanceof Read)) return look;
  const watched = { ...ports, labels: { lookUp } };
  const [linked, history] = await Promise.all([
    linkedTo(subject, watched, asked.signal),
    historyOf(subject, ports, asked),
  ]);
  const activity = await activityOf(subject, look, history, watched, asked);
  const rows = heldUnder(look.value.found, matchKey(subject.address));
  return { look, own: leadingFirst(rows), linked, history, activity, tableSilent };
}

async function historyOf(
  { address, kind }: ParsedAddress,
  { history }: AttributionPorts,
  asked: HistoryAsked,
): Promise<Attribution['history']> {
  if (chainsOf(kind).length > 0) return addressHistory(history, address, asked);
  return unread('transfer_history', why('not_walked_kind', { kind }));
}

function chainsOf(kind: AddressKind) {
  return CHAIN_NAMES.filter((chain) => CHAINS[chain].kind === kind);
}

function leadingFirst(rows: readonly ExchangeLabel[]): readonly ExchangeLabel[] {
  const leading = leadingLabel(rows);
  return leading === null ? rows : [leading, ...rows.filter((one) => one !== leading)];
}

async function linkedTo(
  { address, kind }: ParsedAddress,
  { clusters, labels }: AttributionPorts,
  signal: AbortSignal,
): Promise<Attribution['linked']> {
  const chains = chainsOf(kind);
  if (chains.length === 0) {
    return unread<LinkedPort>('entity_clusters', why('not_walked_kind', { kind }));
  }
  const asked = chains.map((chain) => clusters.clusterOf(chain, address));
  const answers = await inTime(() => Promise.all(asked), signal);
  if (answers === OUT_OF_TIME) return unread<LinkedPort>('entity_clusters', STOPPED_BY_TIME);
  const held = some(answers);
  const met = seen(map(held, (found) => found.filter((one) => one !== null)));
  const clusterOf = new Map<string, string>();
  for (const { cluster_id, members } of given(met)) {
    for (const member of members) if (member !== address) clusterOf.set(member, cluster_id);
  }
  const look = await labels.lookUp([...clusterOf.keys()]);
  return map(both({ held, look }), ({ look: { found } }) =>
    [...clusterOf].flatMap(([member, cluster_id]) => {
      const label = leadingLabel(heldUnder(found, matchKey(member)));
      return label === null ? [] : [{ label, cluster_id }];
    }),
  );
}

async function activityOf(
  { address }: ParsedAddress,
  look: Read<LabelLookUp, ExchangeLabelsPort>,
  history: Partly<AddressHistory, TransferHistoryPort>,
  ports: AttributionPorts,
  asked: HistoryAsked,
): Promise<Attribution['activity']> {
  if (history instanceof Unread) return unread<ActivityPort>('transfer_history', history.why);
  const [{ transfers, provenance }] = seenIn(history);
  const met = new Set(transfers.flatMap(({ from, to }) => [from, to]));
  const labels: Reading<LabelLookUp, ExchangeLabelsPort> = await ports.labels.lookUp([...met]);
  if (labels instanceof Unread) return unread<ActivityPort>('exchange_labels', labels.why);
  const rows = labels.value.found;
  const labelOf = (one: string) => leadingLabel(heldUnder(rows, matchKey(one)));
  const isLabelled = (one: string) =>
    rows.has(matchKey(one)) || look.value.found.has(matchKey(one));
  const own = exchangeActivity(address, transfers, labelOf);
  const around = await depositsAround(history, isLabelled, ports, asked);
  // A second hop that gave no answer leaves the first as it is, and the whole a part.
  const hop = around instanceof Unread ? without(around.why, { history, labels }) : around;
  return map(both({ labels, hop }), ({ hop: more }) => ({ ...own, ...more, provenance }));
}

function without(
  why: Why,
  first: {
    readonly history: Partly<AddressHistory, TransferHistoryPort>;
    readonly labels: Reading<LabelLookUp, ExchangeLabelsPort>;
  },
): Partly<Deposits, ActivityPort> {
  const none = (): Deposits => ({ deposits: [], candidates: 0, causes: [{ why, count: 1 }] });
  return weaken(map(both(first), none), why);
}

/** Why activity was not read to its end: every cause, in words. */
export function activityReason(activity: Exclude<Attribution['activity'], Read<Activity, never>>) {
  const causes = seen(map(activity, (one) => one.causes));
  return causes === null ? activity.why.reason : causesText(causes);
}
