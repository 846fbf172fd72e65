// Declares GET /api/v1/wallet/{address}/ofac: the direct list check, and the walk to a listed one.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  checkedOrNull,
  harmless,
  isoDay,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { DATED_BY } from '../../evidence/origin.ts';

const LIST = { restsOn: ['sanctions_list'] } as const;
const OTHER = { restsOn: ['other_lists'] } as const;
const WALK = { restsOn: ['sanctions_list', 'transfer_history'] } as const;
const RING = { restsOn: ['sanctions_list', 'transfer_history', 'counterparty_ring'] } as const;

// What the publisher's file leaves open of an entry is null, and `note` says so.
const match = z.strictObject({
  entity: words().nullable(),
  type: words().nullable(),
  programs: z.array(words()).nullable(),
  currency: words(),
  listed_address: words(),
  uid: words(),
  remarks: words().nullable(),
  note: words().nullable(),
});

// `listed` is null where the list is too old to show that a form does not stand on it.
const equivalentForm = z.strictObject({
  form: words(),
  address: words(),
  relation: oneOf(['same_key', 'same_account']),
  listed: z.boolean().nullable(),
});

const otherMatch = z.strictObject({
  listed_address: words(),
  currency: words().nullable(),
  entity: words().nullable(),
  entity_type: words().nullable(),
  programs: words().nullable(),
  entry_id: words().nullable(),
  source_url: words().nullable(),
  listed_at: isoDay.nullable(),
  ended_at: isoDay.nullable(),
  note: words().nullable(),
});

// A list of another authority as it was imported. `listed` is true while an entry has not ended.
// Where rows of its file were refused what would be a miss is null, and `reason` says so.
const otherList = z.strictObject({
  list: words(),
  as_of: unixSeconds,
  dated_by: oneOf(DATED_BY),
  imported_at: unixSeconds,
  rows: z.int().positive(),
  rows_lost: ofRow(z.int().nonnegative()),
  sha256: words(z.string().regex(/^[0-9a-f]{64}$/)),
  source_url: words().nullable(),
  simulated: ofRow(z.boolean()),
  checked: checked(OTHER),
  listed: negative(z.boolean().nullable(), OTHER),
  matches: negative(z.array(otherMatch).nullable(), OTHER),
  equivalent_matches: negative(z.array(otherMatch).nullable(), OTHER),
  reason: prose().nullable(),
});

// A hop is told by the largest transfer of it. `from` and `to` are the transfer's own; `direction`
// is as seen from the end nearer to the subject. `amount` is null where the decimals are unknown.
// An NFT (ERC-721, ERC-1155) has a `token_id` and no amount.
const hop = z.strictObject({
  from: words(),
  to: words(),
  chain: words(),
  tx: words(),
  token: words().nullable(),
  symbol: words().nullable(),
  amount: words().nullable(),
  raw_amount: words().nullable(),
  token_id: words().nullable(),
  usd: words().nullable(),
  at: isoTime,
  direction: oneOf(['out', 'in']),
  initiator: words().nullable(),
  initiated_by_subject: ofRow(z.boolean().nullable()),
  success: z.boolean().nullable(),
});

const leftOut = z.strictObject({
  chain: words(),
  tx: words(),
  token: words().nullable(),
  why: oneOf(['zero_value', 'no_market_token']),
  listed_address: words(),
});

const hub = z.strictObject({
  address: words(),
  degree: z.int().positive(),
  label: words().nullable(),
});

// A hub that dealt with a listed address: no path leads past it, and it is always shown.
const hubContact = z.strictObject({
  address: words(),
  degree: z.int().positive(),
  label: words().nullable(),
  listed_address: words(),
  tx: words(),
});

const leftOutCount = negative(z.int().nonnegative(), WALK);

const proximity = z.strictObject({
  checked: checked(WALK),
  reason: prose().nullable(),
  found: negative(z.boolean().nullable(), WALK),
  hops: z.int().min(1).max(2).nullable(),
  path: z.array(words()).min(2).nullable(),
  hops_detail: z.array(hop).min(1).nullable(),
  entity: words().nullable(),
  program: words().nullable(),
  listed_address: words().nullable(),
  hops_examined: harmless(
    negative(z.int().nonnegative().nullable(), WALK),
    'that no hop was examined whole is what a walk that was cut has to say',
  ),
  nodes_examined: negative(z.int().nonnegative().nullable(), WALK),
  nodes_unread: harmless(
    z.int().nonnegative().nullable(),
    'null unless the walk was read to its end, which leaves no address unread',
    WALK,
  ),
  frontier_exhausted: checkedOrNull(WALK),
  node_budget_hit: negative(z.boolean().nullable(), WALK),
  hubs_not_expanded: negative(z.array(hub).nullable(), WALK),
  hubs_not_expanded_count: negative(z.int().nonnegative().nullable(), WALK),
  hub_contacts: negative(z.array(hubContact).nullable(), RING),
  hub_contacts_count: negative(z.int().nonnegative().nullable(), RING),
  edges_left_out: z
    .strictObject({ zero_value: leftOutCount, no_market_token: leftOutCount })
    .nullable(),
  left_out_contacts: negative(z.array(leftOut).nullable(), WALK),
  chains_examined: z.array(words()).min(1).nullable(),
  chains_not_examined: negative(z.array(words()).nullable(), WALK),
  nft_not_examined: negative(z.array(words()).nullable(), WALK),
  provenance: oneOf(['warehouse', 'onchain']).nullable(),
  is_screen: z.literal(true),
});

export const walletOfac = evidenceRoute({
  name: 'wallet_ofac',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/ofac',
  summary: 'Whether the address stands on the published sanctions list, and what history reaches.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({ on: isoDay.optional() }),
  data: z.strictObject({
    address: words(),
    sanctioned: negative(z.boolean(), LIST),
    matches: negative(z.array(match), LIST),
    list: z.strictObject({
      name: words(),
      published: isoDay,
      addresses: z.int().positive(),
      source: words(),
      sha256: words(z.string().regex(/^[0-9a-f]{64}$/)),
      as_of: unixSeconds,
    }),
    equivalent_forms: harmless(
      negative(z.array(equivalentForm), LIST),
      'the other forms of an address follow from the address alone',
    ),
    other_lists: z.array(otherList).min(1).nullable(),
    other_lists_reason: prose().nullable(),
    proximity_checked: checked(WALK),
    proximity,
    caveat: prose().min(1),
  }),
  absences: ['not_deployed'],
  tool: {
    name: 'wallet_ofac',
    description:
      'Checks one address against the published sanctions list (SDN only) and, where transfer ' +
      'history is held, walks up to two hops to a listed address. A false is not a clearance.',
  },
});
