// The collectors over transfer history and what is inferred of it. None of them ever supports a
// verdict: a counterparty is no deed of the target.

import { addDecimals, formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import { type Partly, Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { BRIDGE_CHAINS, type BridgeRegistryPort, type RegistryTable } from '../../ports/bridges.ts';
import { ENTITY_CHAINS, type EntityCluster } from '../../ports/entities.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { type Trace, traceHistory } from '../bridges/trace.ts';
import { keptTransfers } from '../deposits/activity.ts';
import { type AddressHistory, fundingOf } from '../history/address-history.ts';
import {
  decimalOrNull,
  decimalText,
  type EvidenceValues,
  type Gathered,
  gapOf,
  gather,
  outsideTextOrNull,
  ROWS_MAX,
  rowsAs,
} from './bundle.ts';
import { type CollectorPorts, type CollectorRequest, untoldOn } from './collector.ts';

/** The bridges that it dealt with on its chain. */
export async function collectBridges(
  { bridgeRegistry, transactionReceipts }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain: named, address } = asked.target;
  const chain = BRIDGE_CHAINS.find((one) => one === named);
  if (chain === undefined) {
    return gapOf('bridges', untoldOn(named, 'Over which bridges an address went'));
  }
  const [held, history] = await Promise.all([bridgeRegistry.table(), asked.history()]);
  const covers = !(held instanceof Read) || held.value.rows.some((row) => row.chain === chain);
  const table: Partly<RegistryTable, BridgeRegistryPort> = covers
    ? held
    : unread('bridge_registry', why('registry_row_missing', { chain }));
  const { signal } = asked;
  const request = { address, chain, signal };
  const { trace } = await traceHistory({ transactionReceipts }, { table, history }, request);
  return gather('bridges', trace, bridgeValues, asked);
}

function bridgeValues({ bridges }: Trace): EvidenceValues {
  return {
    dealings: bridges.length,
    ...rowsAs('row', bridges, (one) => ({
      protocol: one.protocol,
      name: one.name,
      direction: one.direction,
      transfers: one.transfers,
      usd: decimalOrNull(one.usd),
      unpriced_transfers: one.unpriced_transfers,
      last_seen: one.last_seen,
      messaging_only: one.messaging_only,
    })),
  };
}

/** The cluster that holds it, as far as ties of it are held: nothing is read for it. */
export async function collectCluster(
  { entityClusters }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain, address } = asked.target;
  if (!ENTITY_CHAINS.some((one) => one === chain)) {
    return gapOf('cluster', untoldOn(chain, 'Who acts together with an address'));
  }
  return gather('cluster', await entityClusters.clusterOf(chain, address), clusterValues, asked);
}

function clusterValues(cluster: EntityCluster | null): EvidenceValues {
  if (cluster === null) return { linked: false };
  return {
    linked: true,
    id: cluster.cluster_id,
    members: cluster.members.length,
    confidence: decimalText(cluster.confidence),
    basis: cluster.basis,
  };
}

/** Who paid its first coins. */
export async function collectFunding(asked: CollectorRequest): Promise<Gathered> {
  const first = fundingOf(await asked.history());
  const values = (transfer: HistoryTransfer | null): EvidenceValues =>
    transfer === null
      ? { funded: false }
      : {
          funded: true,
          funder: transfer.from,
          tx: transfer.tx,
          block: transfer.block,
          at: formatIsoTime(transfer.at),
        };
  return gather('funding', first, values, asked);
}

/** What it was paid and what it paid, asset by asset. */
export async function collectNetFlow(asked: CollectorRequest): Promise<Gathered> {
  return gather('net_flow', await asked.history(), (history) => flowValues(history, asked), asked);
}

function flowValues(history: AddressHistory, { target }: CollectorRequest): EvidenceValues {
  const { address, chain } = target;
  const { kept } = keptTransfers(address, history.transfers);
  const byAsset = new Map<string, HistoryTransfer[]>();
  for (const transfer of kept) collect(byAsset, String(transfer.token), transfer);
  const assets = [...byAsset.values()].sort((a, b) => b.length - a.length);
  const [incoming, outgoing] = [
    kept.filter(isIn(address)),
    kept.filter((one) => !isIn(address)(one)),
  ];
  return {
    transfers: kept.length,
    counterparties: history.degree,
    assets: assets.length,
    usd_in: usdOf(incoming),
    usd_out: usdOf(outgoing),
    unpriced_transfers: kept.filter(({ usd }) => usd === null).length,
    ...rowsAs('asset', assets.slice(0, ROWS_MAX), (own) => assetValues(own, address, chain)),
  };
}

function isIn(address: string): (transfer: HistoryTransfer) => boolean {
  return ({ to }) => to === address;
}

function assetValues(
  transfers: readonly HistoryTransfer[],
  address: string,
  chain: CollectorRequest['target']['chain'],
): EvidenceValues {
  const [first] = transfers;
  if (first === undefined) throw new TypeError('net flow: an asset without a transfer');
  const { token } = first;
  const { native } = CHAINS[chain];
  const { symbol, decimals } = token === null ? native : first;
  const sumOf = (some: readonly HistoryTransfer[]) => {
    const raw = some.reduce((sum, one) => sum + one.raw_amount, 0n);
    return decimals === null ? raw.toString() : formatUnits(raw, decimals);
  };
  return {
    token,
    symbol: outsideTextOrNull(symbol),
    units: decimals === null ? 'smallest' : 'whole',
    paid_in: sumOf(transfers.filter(isIn(address))),
    paid_out: sumOf(transfers.filter((one) => !isIn(address)(one))),
    transfers: transfers.length,
  };
}

/** The sum over the priced transfers; `null` where transfers were seen and none has a price. */
function usdOf(transfers: readonly HistoryTransfer[]): string | null {
  const priced = transfers.flatMap(({ usd }) => (usd === null ? [] : [usd]));
  if (priced.length === 0 && transfers.length > 0) return null;
  return priced.reduce(addDecimals, '0');
}
