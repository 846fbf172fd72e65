import { z } from 'zod';
import { checksumAddress, parseAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badAddress } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler } from '../../contract/route.ts';
import {
  addressText,
  checkedFlag,
  isoDay,
  isoTime,
  missOf,
  negative,
  oneOf,
  prose,
  rowFact,
  words,
} from '../../contract/wire.ts';
import { claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { decide, map, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import { WEIGHT_BASES } from '../../evidence/weight.ts';
import { HISTORY_PROVENANCES } from '../../ports/history.ts';
import type { ExchangeLabel } from '../../ports/tables.ts';
import type { ExchangeContact } from '../deposits/activity.ts';
import { assetParts, type SeenDeposit } from '../deposits/around.ts';
import { DEPOSIT_WEIGHTS } from '../deposits/inference.ts';
import { viewTransfer } from '../history/address-history.ts';
import { confidenceLevel, RECEIVER_ROLES } from '../tables/labels.ts';
import {
  type Activity,
  type Attribution,
  type AttributionPorts,
  activityReason,
  attribution,
  conflictsIn,
  exchangeCaveat,
  explainMiss,
  isAnswered,
} from './attribution.ts';

const LABELS = { restsOn: ['exchange_labels'] } as const;
const LINKS = { restsOn: ['exchange_labels', 'entity_clusters'] } as const;
const ACTIVITY = { restsOn: ['exchange_labels', 'transfer_history'] } as const;

/** How many transactions of one exchange, or of one deposit address, an answer shows. */
export const TRANSACTIONS_SHOWN_MAX = 20;

// `confidence` is a rung of the tag packs' ladder, `confidence_level` its published level (0–100).
const label = z.strictObject({
  address: words(),
  chain: words().nullable(),
  label: words(),
  entity: words(),
  role: words(),
  confidence: words(),
  confidence_level: z.int().positive().nullable(),
  clusterable: rowFact(z.boolean(), LABELS),
  source: words(),
  source_url: words().nullable(),
  first_seen: isoDay,
});

const contactTransfer = z.strictObject({
  chain: words(),
  tx: words(),
  direction: oneOf(['in', 'out']),
  wallet: words(),
  label: words(),
  token: words().nullable(),
  symbol: words().nullable(),
  amount: words().nullable(),
  raw_amount: words(),
  usd: words().nullable(),
  at: isoTime,
  initiated_by_subject: rowFact(z.boolean().nullable()),
});

// A count or sum is null where it could only be called zero without having read all of it.
const exchange = z.strictObject({
  entity: words(),
  transfers_in: z.int().nonnegative().nullable(),
  transfers_out: z.int().nonnegative().nullable(),
  usd_in: rowFact(z.string().nullable(), ACTIVITY),
  usd_out: rowFact(z.string().nullable(), ACTIVITY),
  unpriced_transfers: z.int().nonnegative().nullable(),
  first_seen: isoTime,
  last_seen: isoTime,
  transactions: z.array(contactTransfer).min(1).max(TRANSACTIONS_SHOWN_MAX),
});

const assetFlow = z.strictObject({
  chain: words(),
  token: words().nullable(),
  received: words(),
  forwarded: words(),
});

const forward = z.strictObject({
  user: words(),
  wallet: words(),
  chain: words(),
  token: words().nullable(),
  raw_amount: words(),
  received_tx: words(),
  forwarded_tx: words(),
  delay_s: z.int().nonnegative(),
});

// `ratio` is the smallest of the assets', `delay_s` the longest of the forwards'.
const inferredDeposit = z.strictObject({
  address: words(),
  entity: words(),
  ratio: z.number().positive().max(1),
  delay_s: z.int().nonnegative(),
  transactions: z.array(words()).min(1),
  transactions_count: z.int().positive(),
  is_subject: rowFact(z.boolean()),
  // `unstated`: the label of a wallet that it forwards to tells no role; it may be no hot wallet.
  receiver_role: oneOf(RECEIVER_ROLES),
  // How often an address inferred so is the exchange's; docs/concepts/entities.md has the measure.
  weight: z.number().positive().max(1),
  basis: oneOf(WEIGHT_BASES),
  clusterable: z.literal(true),
  externally_owned: z.literal(true).nullable(),
  history_complete: rowFact(z.boolean()),
  other_receivers: z.int().nonnegative().nullable(),
  assets_kept: z.int().nonnegative().nullable(),
  wallets: z.array(words()).min(1),
  assets: z.array(assetFlow).min(1),
  forwards: z.array(forward).min(1).max(TRANSACTIONS_SHOWN_MAX),
});

const count = negative(z.int().nonnegative().nullable(), ACTIVITY);

const activity = z.strictObject({
  checked: checkedFlag(ACTIVITY),
  exchanges: negative(z.array(exchange).nullable(), ACTIVITY),
  inferred_deposit_addresses: negative(z.array(inferredDeposit).nullable(), ACTIVITY),
  truncated: negative(z.boolean().nullable(), ACTIVITY),
  reason: prose().nullable(),
  provenance: oneOf(HISTORY_PROVENANCES).nullable(),
  transfers_left_out: z.strictObject({ zero_value: count, no_market_token: count }),
  candidates_read: count,
});

export const walletCex = evidenceRoute({
  name: 'wallet_cex',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/cex',
  summary: 'Which exchange the label table names for an address, and its transfers with exchanges.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  data: missOf(
    z.strictObject({
      address: words(),
      checksum: words(),
      direct: label.nullable(),
      labels: negative(z.array(label), LABELS),
      conflicts: negative(z.array(label), LABELS),
      // `weight`: that the address belongs to the cluster of the labelled one.
      linked: negative(
        z
          .array(
            label.extend({
              cluster_id: words(),
              weight: z.number().positive().max(1),
              basis: oneOf(WEIGHT_BASES),
            }),
          )
          .nullable(),
        LINKS,
      ),
      linked_reason: prose().nullable(),
      activity,
      table_rows: z.int().positive(),
      caveat: prose().min(1),
    }),
    LABELS,
  ),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'wallet_cex',
    description:
      'Tells which exchange a published label table names for an address, which labelled ' +
      'addresses share its cluster, and its transfers with exchange wallets. A miss means that ' +
      'no label is held, not that the address is no exchange’s.',
  },
});

// Answers GET /api/v1/wallet/{address}/cex: labels of exchanges, and what was exchanged with them.
// It refuses to answer from a table that was not read, and to call activity absent that was not
// read to its end.

type Data = z.input<typeof walletCex.data>;

/** @internal The handler of the attribution of one address. */
export function walletCexHandler(ports: AttributionPorts): Handler<typeof walletCex> {
  return async ({ params }, { signal }) => {
    const subject = parseAddress(params.address);
    if (subject === null) return badAddress(params.address);
    const found = await attribution(subject, ports, { chains: null, signal });
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
        why: explainMiss(found),
        consulted: [look, ...consulted],
      });
    }
    const { own, linked } = found;
    const [leading] = own;
    const links = map(linked, (all) =>
      all.map(({ label, cluster }) => {
        const { cluster_id, confidence: weight, basis } = cluster;
        return { ...labelShown(label), cluster_id, weight, basis };
      }),
    );
    const data: Data = {
      address,
      checksum: subject.kind === 'evm' ? checksumAddress(subject.address) : address,
      direct: leading === undefined ? null : labelShown(leading),
      labels: claim(look, () => own.map(labelShown)),
      conflicts: claim(look, () => conflictsIn(own).map(labelShown)),
      linked: claim(
        links,
        (all) => all,
        () => rowsSeen(links),
      ),
      linked_reason: linked instanceof Read ? null : linked.why.reason,
      activity: activityShown(address, found),
      table_rows: look.value.table_rows,
      caveat: exchangeCaveat(found, TRANSACTIONS_SHOWN_MAX),
    };
    return walletCex.ok({ subject: address, data });
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

function activityShown(subject: string, { history, activity }: Attribution): Data['activity'] {
  const whole = activity instanceof Read;
  const contacts = map(activity, (one) => one.contacts.map((c) => contactShown(subject, c, whole)));
  const deposits = map(activity, (one) => one.deposits.map((d) => depositShown(subject, d)));
  const known = rowsSeen(map(activity, (one) => [one.provenance]));
  return {
    checked: claimWhole(activity),
    exchanges: claim(
      contacts,
      (all) => all,
      () => rowsSeen(contacts),
    ),
    inferred_deposit_addresses: claim(
      deposits,
      (all) => all,
      () => rowsSeen(deposits),
    ),
    // The provider's or our own cap on rows: every count is then a lower bound.
    truncated: claim(
      activity,
      () => false,
      () => (history instanceof Read || history.why.code !== 'row_cap' ? null : true),
    ),
    reason: activity instanceof Read ? null : activityReason(activity),
    provenance: known === null ? null : known[0],
    transfers_left_out: {
      zero_value: claimCount(activity, ({ leftOut }) => leftOut.zero_value),
      no_market_token: claimCount(activity, ({ leftOut }) => leftOut.no_market_token),
    },
    candidates_read: claimCount(activity, ({ candidates }) => candidates),
  };
}

/** A count of what was met is a fact; that nothing was is said of what was read to its end. */
function claimCount(activity: Attribution['activity'], pick: (one: Activity) => number) {
  return claimOrNull(
    decide(activity, (one) => pick(one) > 0),
    pick,
  );
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
      .map(({ transfer, direction, wallet: { address, label } }) => {
        return { ...viewTransfer(subject, transfer), direction, wallet: address, label };
      }),
  };
}

/** Ratios are shown to the ten-thousandth, cut and never rounded up. */
const RATIO_PARTS = 10_000n;

function depositShown(subject: string, deposit: SeenDeposit) {
  const { inferred, entity, externallyOwned, whole } = deposit;
  const { address, forwards, flows, wallets, otherReceivers, assetsKept } = inferred;
  const transactions = [
    ...new Set(
      forwards.flatMap(({ receivedIn, forwardedIn }) => [
        transactionOf(receivedIn),
        transactionOf(forwardedIn),
      ]),
    ),
  ];
  return {
    address,
    entity,
    ratio: flows
      .map(({ received, forwarded }) => Number((forwarded * RATIO_PARTS) / received))
      .map((parts) => parts / Number(RATIO_PARTS))
      .reduce((a, b) => Math.min(a, b)),
    delay_s: forwards.map(({ delay }) => delay).reduce((a, b) => Math.max(a, b)),
    transactions: transactions.slice(0, TRANSACTIONS_SHOWN_MAX),
    transactions_count: transactions.length,
    is_subject: address === subject,
    receiver_role: inferred.receiverRole,
    ...DEPOSIT_WEIGHTS[inferred.receiverRole],
    clusterable: true as const,
    externally_owned: externallyOwned,
    history_complete: whole,
    other_receivers: whole || otherReceivers > 0 ? otherReceivers : null,
    assets_kept: whole || assetsKept > 0 ? assetsKept : null,
    wallets: [...wallets],
    assets: flows.map(({ asset, received, forwarded }) => ({
      ...assetParts(asset),
      received: String(received),
      forwarded: String(forwarded),
    })),
    forwards: forwards
      .slice(0, TRANSACTIONS_SHOWN_MAX)
      .map(({ asset, user, wallet, raw_amount, delay, receivedIn, forwardedIn }) => ({
        user,
        wallet,
        ...assetParts(asset),
        raw_amount: String(raw_amount),
        delay_s: delay,
        received_tx: transactionOf(receivedIn),
        forwarded_tx: transactionOf(forwardedIn),
      })),
  };
}

function transactionOf(tx: string | null): string {
  if (tx === null) throw new Error('cex: a transfer of history has its transaction');
  return tx;
}
