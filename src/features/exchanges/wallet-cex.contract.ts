// Declares GET /api/v1/wallet/{address}/cex: labels of exchanges, and what was exchanged with them.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  isoDay,
  isoTime,
  missOf,
  negative,
  ofRow,
  oneOf,
  prose,
  words,
} from '../../contract/wire.ts';

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
  clusterable: ofRow(z.boolean(), LABELS),
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
  initiated_by_subject: ofRow(z.boolean().nullable()),
});

// A count or sum is null where it could only be called zero without having read all of it.
const exchange = z.strictObject({
  entity: words(),
  transfers_in: z.int().nonnegative().nullable(),
  transfers_out: z.int().nonnegative().nullable(),
  usd_in: ofRow(z.string().nullable(), ACTIVITY),
  usd_out: ofRow(z.string().nullable(), ACTIVITY),
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
  is_subject: ofRow(z.boolean()),
  // `unstated`: the label of a wallet that it forwards to tells no role; it may be no hot wallet.
  receiver_role: oneOf(['hot', 'unstated']),
  // How often an address inferred so is the exchange's; docs/concepts/entities.md has the measure.
  weight: z.number().positive().max(1),
  clusterable: z.literal(true),
  externally_owned: z.literal(true).nullable(),
  history_complete: ofRow(z.boolean()),
  other_receivers: z.int().nonnegative().nullable(),
  assets_kept: z.int().nonnegative().nullable(),
  wallets: z.array(words()).min(1),
  assets: z.array(assetFlow).min(1),
  forwards: z.array(forward).min(1).max(TRANSACTIONS_SHOWN_MAX),
});

const count = negative(z.int().nonnegative().nullable(), ACTIVITY);

const activity = z.strictObject({
  checked: checked(ACTIVITY),
  exchanges: negative(z.array(exchange).nullable(), ACTIVITY),
  inferred_deposit_addresses: negative(z.array(inferredDeposit).nullable(), ACTIVITY),
  truncated: negative(z.boolean().nullable(), ACTIVITY),
  reason: prose().nullable(),
  provenance: oneOf(['warehouse', 'onchain']).nullable(),
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
      linked: negative(z.array(label.extend({ cluster_id: words() })).nullable(), LINKS),
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
