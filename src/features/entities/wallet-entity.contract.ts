// Declares GET /api/wallet/{address}/entity: which addresses share a controller, by which evidence.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import { addressText, checked, isoTime, negative, unixSeconds } from '../../contract/wire.ts';

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

const heuristic = z.enum([
  'deposit_reuse',
  'shared_funder',
  'lockstep',
  'same_deployer',
  'multi_input',
  'change',
]);

const evidence = z.strictObject({
  id: z.string(),
  heuristic,
  addresses: z.array(z.string()).min(2),
  through: z.string(),
  transactions: z.array(z.string()).min(1),
  at: isoTime,
  weight: z.number().positive(),
  statement: z.string().min(1),
});

const label = z.strictObject({
  address: z.string(),
  label: z.string(),
  entity: z.string(),
  role: z.string(),
  confidence: z.string(),
  source: z.string(),
});

// One heuristic, and whether it came to its end on this address.
const run = z.strictObject({
  heuristic,
  checked: checked(CLUSTERS),
  reason: z.string().nullable(),
});

// `by` is the evidence that joined two clusters; `null` where an id gave way to an older one that
// was found later.
const merge = z.strictObject({
  former_id: z.string(),
  cluster_id: z.string(),
  at: isoTime,
  by: z.string().nullable(),
});

const step = z.strictObject({ from: z.string(), to: z.string(), evidence });

const leftOut = negative(z.int().nonnegative().nullable(), HISTORY);

export const walletEntityData = z.strictObject({
  address: z.string(),
  chain: z.enum(ENTITY_CHAINS),
  cluster_id: z.string(),
  // 1 with no evidence is the shape of no data, and no confident answer: `checked` says more.
  confidence: z.number().min(0).max(1),
  evidence: z.array(evidence),
  evidence_total: z.int().nonnegative(),
  labels: z.array(label),
  related_wallets: z.array(z.string()).min(1),
  related_wallets_total: z.int().positive(),
  checked: checked(CLUSTERS),
  reason: z.string().nullable(),
  coverage: z.array(run).min(1),
  edges_left_out: z.strictObject({ zero_value: leftOut, no_market_token: leftOut }).nullable(),
  merge_history: z.array(merge),
  explain: z
    .strictObject({
      to: z.string(),
      linked: negative(z.boolean().nullable(), CLUSTERS),
      chain: z.array(step),
    })
    .nullable(),
  simulated: z.boolean(),
  as_of: unixSeconds,
  caveat: z.string().min(1),
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
