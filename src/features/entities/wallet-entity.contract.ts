// Declares GET /api/wallet/{address}/entity: which addresses share a controller, by which evidence.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  emptyUnless,
  harmless,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';

const CLUSTERS = { restsOn: ['entity_clusters'] } as const;
const HISTORY = { restsOn: ['transfer_history'] } as const;

/** The chains whose entities are told. */
export const ENTITY_CHAINS = [
  'solana',
  'ethereum',
  'base',
  'bsc',
  'arbitrum',
  'hyperevm',
  'bitcoin',
] as const;

const heuristic = oneOf([
  'deposit_reuse',
  'shared_funder',
  'lockstep',
  'same_deployer',
  'multi_input',
  'change',
]);

const evidence = z.strictObject({
  id: words(),
  heuristic,
  form: words(),
  addresses: z.array(words()).min(2),
  through: words(),
  transactions: z.array(words()).min(1),
  at: isoTime,
  weight: z.number().positive(),
  // `assumed`: no data set that was reached tells how often such a link is right.
  basis: oneOf(['measured', 'assumed']),
  statement: prose().min(1),
  rule: z.int().positive(),
  judged_at: isoTime,
  histories_whole: ofRow(z.boolean()),
});

// One step of the way from the address asked about to a member.
const pathStep = z.strictObject({
  from: words(),
  to: words(),
  evidence: words(),
  heuristic,
  weight: z.number().positive(),
});

// `links`: how many items name the member. `weakest`: the item of its path with the least weight.
const member = z.strictObject({
  address: words(),
  links: z.int().positive(),
  path: z.array(pathStep).min(1),
  weakest: z.strictObject({ evidence: words(), heuristic, weight: z.number().positive() }),
});

// What speaks against a link: a CoinJoin that was refused, a payer of many, accounts apart.
const against = z.strictObject({
  kind: oneOf([
    'coinjoin',
    'partial_signature',
    'marketplace_trade',
    'payjoin_form',
    'crowd',
    'contract_payer',
    'by_chance',
    'separate_accounts',
  ]),
  addresses: z.array(words()).min(1),
  through: words(),
  transactions: z.array(words()).min(1),
  at: isoTime,
  statement: prose().min(1),
});

const label = z.strictObject({
  address: words(),
  label: words(),
  entity: words(),
  role: words(),
  confidence: words(),
  source: words(),
});

// One heuristic, and whether it came to its end on this address.
const run = z.strictObject({
  heuristic,
  checked: checked(CLUSTERS),
  reason: prose().nullable(),
});

// `by` is the evidence that joined two clusters; `null` where an id gave way to an older one that
// was found later.
const merge = z.strictObject({
  former_id: words(),
  cluster_id: words(),
  at: isoTime,
  by: words().nullable(),
});

const step = z.strictObject({ from: words(), to: words(), evidence });

const leftOut = negative(z.int().nonnegative().nullable(), HISTORY);

export const walletEntityData = z.strictObject({
  address: words(),
  chain: oneOf(ENTITY_CHAINS),
  cluster_id: words(),
  // 1 with no evidence is the shape of no data, and no confident answer: `checked` says more.
  confidence: emptyUnless('checked', z.number().min(0).max(1)),
  evidence: emptyUnless('checked', z.array(evidence)),
  evidence_total: emptyUnless('checked', z.int().nonnegative()),
  against: emptyUnless('checked', z.array(against)),
  members: emptyUnless('checked', z.array(member)),
  labels: emptyUnless('checked', z.array(label)),
  related_wallets: z.array(words()).min(1),
  related_wallets_total: z.int().positive(),
  checked: checked(CLUSTERS),
  reason: prose().nullable(),
  coverage: z.array(run).min(1),
  edges_left_out: z.strictObject({ zero_value: leftOut, no_market_token: leftOut }).nullable(),
  // Null where nobody knows: the clusters were not read to their end, and none was seen to merge.
  merge_history: negative(z.array(merge).nullable(), CLUSTERS),
  explain: z
    .strictObject({
      to: words(),
      linked: negative(z.boolean().nullable(), CLUSTERS),
      chain: harmless(z.array(step), '`linked` beside it says whether there is none'),
    })
    .nullable(),
  simulated: harmless(z.boolean(), 'it is of the data, not of the address'),
  as_of: unixSeconds,
  caveat: prose().min(1),
});

export const walletEntity = plainRoute({
  name: 'wallet_entity',
  surface: 'intelligence',
  method: 'GET',
  path: '/api/wallet/{address}/entity',
  summary: 'Which addresses share a controller with this one, item by item of evidence.',
  access: 'bearer',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z.enum(ENTITY_CHAINS).optional(),
    explain: addressText.optional(),
  }),
  responses: {
    200: walletEntityData.describe(
      'The entity of the address. Evidence with nothing in it and a confidence of 1 is the shape ' +
        'of no data; whether anything was looked at stands in `checked`, `reason`, `coverage`.',
    ),
  },
});
