// Declares GET /api/v1/registry/bridges: the table of bridge contracts, as it is published, and its
// page.

import { z } from 'zod';
import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import { isoDay, ofRow, oneOf, prose, words } from '../../contract/wire.ts';

/** One contract of the table. */
const registryRow = z.strictObject({
  chain: words(),
  /** In EIP-55 letter case. */
  address: words(),
  protocol: words(),
  name: words(),
  role: oneOf(['liquidity', 'lock', 'router', 'token', 'providers', 'messaging']),
  valid_from_block: z.int().nonnegative().nullable(),
  /** Chains that are not covered where the protocol has the same address: EIP-155 ids. */
  also_on: ofRow(z.array(z.int().positive())),
  sources: z.array(words()).min(1),
  reviewed: isoDay,
  note: words().nullable(),
});

/** How many contracts of each protocol the table holds on a chain; a chain without one has none. */
const chainCoverage = z.strictObject({
  chain: words(),
  contracts: z.int().positive(),
  protocols: z.array(z.strictObject({ protocol: words(), contracts: z.int().positive() })),
});

const publishedRegistry = z.strictObject({
  /** SHA-256 of the file. */
  id: words(),
  reviewed: isoDay,
  contracts: z.int().positive(),
  protocols: z.array(words()).min(1),
  coverage: z.array(chainCoverage).min(1),
  rows: z.array(registryRow).min(1),
  caveat: prose().min(1),
});

/** The table as it is published. */
export type PublishedRegistry = z.output<typeof publishedRegistry>;

export const registryBridges = plainRoute({
  name: 'registry_bridges',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/bridges',
  summary: 'The table of bridge contracts: each row with its role, sources and last review.',
  access: 'open',
  responses: {
    200: publishedRegistry.describe('The table in force, with its coverage by chain.'),
    503: z
      .strictObject({ error: prose().min(1), reason: prose().min(1) })
      .describe('No table could be read.'),
  },
});

export const bridgeContractsPage = plainRoute({
  name: 'bridge_contracts_page',
  surface: 'web',
  method: 'GET',
  path: '/registry/bridges',
  summary: 'The table of bridge contracts, for people.',
  access: 'open',
  query: z.strictObject({
    chain: z
      .string()
      .regex(/^[a-z0-9_-]{1,32}$/)
      .optional(),
  }),
  responses: { 200: html(), 503: html() },
});
