// Declares GET /api/v1/wallet/{address}/ofac: the direct list check, and the walk to a listed one.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  checkedOrNull,
  isoDay,
  isoTime,
  negative,
  unixSeconds,
} from '../../contract/wire.ts';

const LIST = { restsOn: ['sanctions_list'] } as const;
const WALK = { restsOn: ['sanctions_list', 'transfer_history'] } as const;

const match = z.strictObject({
  entity: z.string(),
  type: z.string(),
  programs: z.array(z.string()),
  currency: z.string(),
  listed_address: z.string(),
  uid: z.string(),
  remarks: z.string().nullable(),
});

// `listed` is null where the list is too old to show that a form does not stand on it.
const equivalentForm = z.strictObject({
  form: z.string(),
  address: z.string(),
  relation: z.enum(['same_key', 'same_account']),
  listed: z.boolean().nullable(),
});

// A hop is told by the largest transfer of it. `from` and `to` are the transfer's own; `direction`
// is as seen from the end nearer to the subject. `amount` is null where the decimals are unknown.
const hop = z.strictObject({
  from: z.string(),
  to: z.string(),
  chain: z.string(),
  tx: z.string(),
  token: z.string().nullable(),
  symbol: z.string().nullable(),
  amount: z.string().nullable(),
  raw_amount: z.string(),
  usd: z.string().nullable(),
  at: isoTime,
  direction: z.enum(['out', 'in']),
  initiator: z.string().nullable(),
  initiated_by_subject: z.boolean().nullable(),
  success: z.boolean().nullable(),
});

const leftOut = z.strictObject({
  chain: z.string(),
  tx: z.string(),
  token: z.string().nullable(),
  why: z.enum(['zero_value', 'no_market_token']),
  listed_address: z.string(),
});

const hub = z.strictObject({
  address: z.string(),
  degree: z.int().positive(),
  label: z.string().nullable(),
});

const leftOutCount = negative(z.int().nonnegative(), WALK);

const proximity = z.strictObject({
  checked: checked(WALK),
  reason: z.string().nullable(),
  found: negative(z.boolean().nullable(), WALK),
  hops: z.int().min(1).max(2).nullable(),
  path: z.array(z.string()).min(2).nullable(),
  hops_detail: z.array(hop).min(1).nullable(),
  entity: z.string().nullable(),
  program: z.string().nullable(),
  listed_address: z.string().nullable(),
  hops_examined: negative(z.int().nonnegative().nullable(), WALK),
  nodes_examined: negative(z.int().nonnegative().nullable(), WALK),
  nodes_unread: z.int().nonnegative().nullable(),
  frontier_exhausted: checkedOrNull(WALK),
  node_budget_hit: negative(z.boolean().nullable(), WALK),
  hubs_not_expanded: negative(z.array(hub).nullable(), WALK),
  hubs_not_expanded_count: negative(z.int().nonnegative().nullable(), WALK),
  edges_left_out: z
    .strictObject({ zero_value: leftOutCount, no_market_token: leftOutCount })
    .nullable(),
  left_out_contacts: negative(z.array(leftOut).nullable(), WALK),
  chains_examined: z.array(z.string()).min(1).nullable(),
  chains_not_examined: negative(z.array(z.string()).nullable(), WALK),
  provenance: z.enum(['warehouse', 'onchain']).nullable(),
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
    address: z.string(),
    sanctioned: negative(z.boolean(), LIST),
    matches: negative(z.array(match), LIST),
    list: z.strictObject({
      name: z.string(),
      published: isoDay,
      addresses: z.int().positive(),
      source: z.string(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      as_of: unixSeconds,
    }),
    equivalent_forms: negative(z.array(equivalentForm), LIST),
    proximity_checked: checked(WALK),
    proximity,
    caveat: z.string().min(1),
  }),
  absences: ['not_deployed'],
  tool: {
    name: 'wallet_ofac',
    description:
      'Checks one address against the published sanctions list (SDN only) and, where transfer ' +
      'history is held, walks up to two hops to a listed address. A false is not a clearance.',
  },
});
