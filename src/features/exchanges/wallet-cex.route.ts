// Answers GET /api/v1/wallet/{address}/cex: labels of exchanges, and what was exchanged with them.
// It refuses to answer from a table that was not read, and to call activity absent that was not
// read to its end.

import type { z } from 'zod';
import {
  checksumAddress,
  describeMisform,
  type ParsedAddress,
  parseAddress,
} from '../../chain/address.ts';
import { formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { decided, map, Read, seen, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type { EntityClusters } from '../../ports/entities/entity-clusters.ts';
import { isSignedBy, type TransferHistory } from '../../ports/history/transfer-history.ts';

import type { ExchangeLabel, ExchangeLabels } from '../../ports/labels/exchange-labels.ts';
import type { ContactTransfer, ExchangeContact } from '../deposits/activity.ts';
import { assetParts, type SeenDeposit } from '../deposits/around.ts';
import { type AssetFlow, DEPOSIT_WEIGHTS, type Forward } from '../deposits/inference.ts';
import { confidenceLevel } from '../tables/labels.ts';
import {
  type Activity,
  type Attribution,
  activityReason,
  attribution,
  type LinkedLabel,
} from './attribution.ts';
import { conflictsIn, exchangeCaveat, isAnswered, missOf } from './caveat.ts';
import { TRANSACTIONS_SHOWN_MAX, walletCex } from './wallet-cex.contract.ts';

type Data = z.input<typeof walletCex.data>;

/** The ports that an attribution reads. */
type CexPorts = {
  readonly exchangeLabels: ExchangeLabels;
  readonly entityClusters: EntityClusters;
  readonly transferHistory: TransferHistory;
  readonly chainFacts: ChainFacts;
};

/** @internal The handler of the attribution of one address. */
export function walletCexHandler(ports: CexPorts): Handler<typeof walletCex> {
  const { exchangeLabels: labels, entityClusters: clusters } = ports;
  const { transferHistory: history, chainFacts: facts } = ports;
  return async ({ params }, { signal }) => {
    const subject = parseAddress(params.address);
    if (subject === null) {
      const misform = describeMisform(params.address);
      return badInput([why(misform === null ? 'form_not_recognised' : misform).reason]);
    }
    const asked = { chains: null, signal };
    const found = await attribution(subject, { labels, clusters, history, facts }, asked);
    const { address } = subject;
    if (found instanceof Unread) {
      return walletCex.absent.not_deployed({ subject: address, silent: found });
    }
    const { tableSilent: silent, look } = found;
    if (!isAnswered(found) && silent !== null) {
      return walletCex.absent.not_deployed({ subject: address, silent, consulted: [look] });
    }
    if (!isAnswered(found)) {
      const consulted = [found.linked, found.activity].filter((one) => one instanceof Read);
      return walletCex.absent.insufficient_evidence({
        subject: address,
        why: missOf(found),
        consulted: [look, ...consulted],
      });
    }
    return walletCex.ok({ subject: address, data: dataOf(subject, found) });
  };
}

function dataOf(subject: ParsedAddress, found: Attribution): Data {
  const { look, own, linked } = found;
  const [leading] = own;
  return {
    address: subject.address,
    checksum: subject.kind === 'evm' ? checksumAddress(subject.address) : subject.address,
    direct: leading === undefined ? null : labelShown(leading),
    labels: claim(look, () => own.map(labelShown)),
    conflicts: claim(look, () => conflictsIn(own).map(labelShown)),
    linked: claim(
      linked,
      (links) => links.map(linkShown),
      () => seen(map(linked, (links) => links.map(linkShown))),
    ),
    linked_reason: linked instanceof Read ? null : linked.why.reason,
    activity: activityShown(subject.address, found),
    table_rows: look.value.table_rows,
    caveat: exchangeCaveat(found, TRANSACTIONS_SHOWN_MAX),
  };
}

function labelShown(label: ExchangeLabel) {
  const { address, chain, entity, role, confidence, clusterable } = label;
  const { source, source_url, first_seen } = label;
  return {
    address,
    chain,
    label: label.label,
    entity,
    role,
    confidence,
    confidence_level: confidenceLevel(confidence),
    clusterable,
    source,
    source_url,
    first_seen,
  };
}

function linkShown({ label, cluster_id }: LinkedLabel) {
  return { ...labelShown(label), cluster_id };
}

const wasRead = (): true => true;
const wasNot = (): false => false;

function activityShown(subject: string, { history, activity }: Attribution): Data['activity'] {
  const whole = activity instanceof Read;
  const contacts = map(activity, (one) => one.contacts.map((c) => contactShown(subject, c, whole)));
  const deposits = map(activity, (one) => one.deposits.map((d) => depositShown(subject, d)));
  const known = seen(map(activity, (one) => [one.provenance]));
  return {
    checked: claim(activity, wasRead, wasNot),
    exchanges: claim(
      contacts,
      (all) => all,
      () => seen(contacts),
    ),
    inferred_deposit_addresses: claim(
      deposits,
      (all) => all,
      () => seen(deposits),
    ),
    truncated: claim(
      activity,
      () => false,
      () => (wasCut(history) ? true : null),
    ),
    reason: activity instanceof Read ? null : activityReason(activity),
    provenance: known === null ? null : known[0],
    transfers_left_out: {
      zero_value: counted(activity, ({ leftOut }) => leftOut.zero_value),
      no_market_token: counted(activity, ({ leftOut }) => leftOut.no_market_token),
    },
    candidates_read: counted(activity, ({ candidates }) => candidates),
  };
}

/** A count of what was met is a fact; that nothing was is said of what was read to its end. */
function counted(activity: Attribution['activity'], pick: (one: Activity) => number) {
  return claim(
    decided(activity, (one) => pick(one) > 0),
    pick,
    (): null => null,
  );
}

/** The provider's or our own cap on rows: every count is then a lower bound. */
function wasCut(history: Attribution['history']): boolean {
  return !(history instanceof Read) && history.why.code === 'row_cap';
}

function contactShown(subject: string, contact: ExchangeContact, whole: boolean) {
  const { transfers_in, transfers_out, usd_in, usd_out, unpriced_transfers } = contact;
  const some = (value: number) => (whole || value > 0 ? value : null);
  return {
    entity: contact.entity,
    transfers_in: some(transfers_in),
    transfers_out: some(transfers_out),
    usd_in: whole || transfers_in > 0 ? usd_in : null,
    usd_out: whole || transfers_out > 0 ? usd_out : null,
    unpriced_transfers: some(unpriced_transfers),
    first_seen: formatIsoTime(contact.first_seen),
    last_seen: formatIsoTime(contact.last_seen),
    transactions: contact.transfers
      .slice(0, TRANSACTIONS_SHOWN_MAX)
      .map((one) => transferShown(subject, one)),
  };
}

function transferShown(subject: string, { transfer, direction, wallet }: ContactTransfer) {
  const { chain, tx, token, raw_amount, usd, at } = transfer;
  const native = transfer.kind === 'token' ? null : CHAINS[chain].native;
  const decimals = native === null ? transfer.decimals : native.decimals;
  return {
    chain,
    tx,
    direction,
    wallet: wallet.address,
    label: wallet.label,
    token,
    symbol: native === null ? transfer.symbol : native.symbol,
    amount: decimals === null ? null : formatUnits(raw_amount, decimals),
    raw_amount: raw_amount.toString(),
    usd,
    at: formatIsoTime(at),
    initiated_by_subject: isSignedBy(subject, transfer),
  };
}

/** Ratios are shown to the ten-thousandth, cut and never rounded up. */
const RATIO_PARTS = 10_000n;

/** An inferred deposit address as the interface shows it. */
function depositShown(subject: string, deposit: SeenDeposit) {
  const { inferred, entity, externallyOwned, whole } = deposit;
  const { address, forwards, flows, wallets, otherReceivers, assetsKept } = inferred;
  const transactions = [...new Set(forwards.flatMap(transactionsOf))];
  return {
    address,
    entity,
    ratio: flows.map(ratioOf).reduce((a, b) => Math.min(a, b)),
    delay_s: forwards.map(({ delay }) => delay).reduce((a, b) => Math.max(a, b)),
    transactions: transactions.slice(0, TRANSACTIONS_SHOWN_MAX),
    transactions_count: transactions.length,
    is_subject: address === subject,
    receiver_role: inferred.receiverRole,
    weight: DEPOSIT_WEIGHTS[inferred.receiverRole],
    clusterable: true as const,
    externally_owned: externallyOwned,
    history_complete: whole,
    other_receivers: whole || otherReceivers > 0 ? otherReceivers : null,
    assets_kept: whole || assetsKept > 0 ? assetsKept : null,
    wallets: [...wallets],
    assets: flows.map(flowShown),
    forwards: forwards.slice(0, TRANSACTIONS_SHOWN_MAX).map(forwardShown),
  };
}

function ratioOf({ received, forwarded }: AssetFlow): number {
  return Number((forwarded * RATIO_PARTS) / received) / Number(RATIO_PARTS);
}

function transactionsOf({ receivedIn, forwardedIn }: Forward): string[] {
  return [transactionOf(receivedIn), transactionOf(forwardedIn)];
}

function transactionOf(tx: string | null): string {
  if (tx === null) throw new Error('cex: a transfer of history has its transaction');
  return tx;
}

function flowShown({ asset, received, forwarded }: AssetFlow) {
  return { ...assetParts(asset), received: String(received), forwarded: String(forwarded) };
}

function forwardShown({ asset, user, wallet, raw_amount, delay, ...forward }: Forward) {
  return {
    user,
    wallet,
    ...assetParts(asset),
    raw_amount: String(raw_amount),
    delay_s: delay,
    received_tx: transactionOf(forward.receivedIn),
    forwarded_tx: transactionOf(forward.forwardedIn),
  };
}
