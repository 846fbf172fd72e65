// Declares GET /api/v1/wallet/{address}/bridges: the transfers of an address with bridge contracts.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  claimedWords,
  harmless,
  isoDay,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  words,
} from '../../contract/wire.ts';

const TRACE = { restsOn: ['bridge_registry', 'transfer_history'] } as const;
const RECEIPTS = { restsOn: ['transaction_receipts'] } as const;
const ARRIVALS = { restsOn: ['bridge_arrivals'] } as const;

const count = z.int().nonnegative();
const usd = z.number().nonnegative();
const direction = oneOf(['out', 'in', 'both']);

const bridge = z.strictObject({
  protocol: words(),
  name: words(),
  direction,
  transfers: z.int().positive(),
  transactions: z.int().positive(),
  usd: usd.nullable(),
  unpriced_transfers: ofRow(count),
  first_seen: isoTime,
  last_seen: isoTime,
  contracts: z.array(words()).min(1),
  messaging_only: ofRow(z.boolean()),
});

// What a contract's event says of a contact. `user` is the wallet that paid or was paid, `asset`
// what it gave or got (a token's contract or `native`), `amount` how much of it, in smallest units;
// `via` what lay between it and the contract; `logged` the event's own words.
const event = z.strictObject({
  event: words(),
  version: words(),
  direction: oneOf(['out', 'in']),
  user: words().nullable(),
  asset: words().nullable(),
  amount: words().nullable(),
  via: ofRow(z.array(z.strictObject({ contract: words(), name: words().nullable() }))),
  contract: words(),
  message_id: words().nullable(),
  origin: words().nullable(),
  destination: words().nullable(),
  logged: z.strictObject({
    user: words().nullable(),
    asset: words().nullable(),
    amount: words().nullable(),
  }),
});

// `basis` is `event` where the other end is no bridge and an event says that it was bridged.
// `events` is null where the receipt was not read, and where it holds none of the contract.
const contact = z.strictObject({
  protocol: words(),
  name: words(),
  contract: words(),
  tx: words(),
  block: z.int().positive(),
  at: isoTime,
  direction: oneOf(['out', 'in']),
  kind: oneOf(['native', 'internal', 'token']),
  token: words().nullable(),
  symbol: words().nullable(),
  amount: words().nullable(),
  raw_amount: words(),
  usd: usd.nullable(),
  initiated_by_subject: z.boolean().nullable(),
  basis: oneOf(['transfer', 'event']),
  receipt: oneOf(['read', 'unread']),
  events: z.array(event).min(1).nullable(),
});

// A rule of ours, or the status page whose word the state is.
const MATCHED_BY = [
  'message_id',
  'fill_rules',
  'transfer_rules',
  'across_status',
  'layerzero_scan',
  'wormholescan',
  'cbridge_status',
  'synapse_explorer',
  'hop_status',
] as const;

// What the address sent, and its other side. `in_flight` and `unmatched` deny an arrival so far, or
// for good: each rests on what the other chain's contracts logged, or on all that its recipient was
// paid there. Where that was not read, `state` is null and `reason` says why.
const deposit = z.strictObject({
  protocol: words(),
  name: words(),
  contract: words(),
  tx: words(),
  at: isoTime,
  event: words().nullable(),
  message_id: words().nullable(),
  asset: words().nullable(),
  amount: words().nullable(),
  destination: z.strictObject({
    chain: words().nullable(),
    tx: words().nullable(),
    state: claimedWords(
      ['matched', 'in_flight', 'unmatched', 'messaging_only'],
      ['in_flight', 'unmatched'],
      ARRIVALS,
    ).nullable(),
    matched_by: oneOf(MATCHED_BY).nullable(),
    reason: prose().nullable(),
  }),
});

const claimedCount = negative(count.nullable(), TRACE);
const claimedUsd = negative(usd.nullable(), TRACE);

export const walletBridges = evidenceRoute({
  name: 'wallet_bridges',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/bridges',
  summary: 'Transfers of the address with known bridge contracts on one chain.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z.enum(['ethereum', 'arbitrum', 'base', 'bsc', 'polygon']).default('ethereum'),
  }),
  data: z.strictObject({
    address: words(),
    chain: words(),
    bridges: negative(z.array(bridge), TRACE),
    totals: z.strictObject({
      out_usd: claimedUsd,
      in_usd: claimedUsd,
      transfers: claimedCount,
      transactions: claimedCount,
    }),
    total_usd: claimedUsd,
    coverage: z.strictObject({
      checked: checked(TRACE),
      reason: prose().nullable(),
      from_block: harmless(count, 'the number of a block is a place').nullable(),
      to_block: z.int().positive().nullable(),
      provenance: oneOf(['warehouse', 'onchain']).nullable(),
    }),
    protocols_seen: negative(z.array(words()), TRACE),
    messaging_only: claimedCount,
    truncated: negative(z.boolean(), TRACE),
    unpriced_transfers: claimedCount,
    rows_scanned: claimedCount,
    price_basis: words().min(1),
    contacts: negative(z.array(contact).nullable(), TRACE),
    contacts_count: claimedCount,
    deposits: z
      .array(deposit)
      .min(1)
      .nullable()
      .describe('What was sent, the newest first; null where the trace shows that of none.'),
    transfers_left_out: z.strictObject({ zero_value: claimedCount, no_market_token: claimedCount }),
    liquidity_actions: claimedCount,
    receipts: z
      .strictObject({
        read: z.int().positive().nullable(),
        unread: z.int().positive().nullable(),
        complete: checked(RECEIPTS),
        unknown_events: negative(count.nullable(), RECEIPTS),
        reason: prose().nullable(),
      })
      .nullable(),
    registry: z.strictObject({
      id: words(),
      rows: z.int().positive(),
      reviewed: isoDay,
    }),
    caveat: prose().min(1),
  }),
  absences: ['not_supported', 'not_deployed'],
  tool: {
    name: 'wallet_bridges',
    description:
      'Transfers of one EVM address with known contracts of seven bridge protocols on one chain. ' +
      'An empty list says that no contract on the registry was touched, no more than that.',
  },
});
