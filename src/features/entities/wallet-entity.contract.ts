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
  addresses: z.array(words()).min(2),
  through: words(),
  transactions: z.array(words()).min(1),
  at: isoTime,
  weight: z.number().positive(),
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
