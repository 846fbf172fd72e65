// Declares GET /api/v1/solana/deployer/{address}: what became of what a Solana wallet launched.
// The flag is a screen for what is gone a day later; it has no good side.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  harmless,
  negative,
  ofRow,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';

const LAUNCHES = { restsOn: ['wallet_launches'] } as const;

const settledLaunch = z.strictObject({
  mint: words(),
  launched_at: unixSeconds,
  settled_at: unixSeconds,
  listed_after_window: ofRow(z.boolean(), LAUNCHES),
  outcome: oneOf(['survived', 'died']),
});

const NEVER_EMPTY = 'an answer with data has a settled launch';

export const solanaDeployer = evidenceRoute({
  name: 'solana_deployer',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/solana/deployer/{address}',
  summary: 'The settled launches of one Solana wallet, and whether all of them died.',
  access: 'analyst',
  params: z.strictObject({
    address: z
      .string()
      .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
      .meta({ description: 'Base58, in its exact letter case.' }),
  }),
  data: z.strictObject({
    answer: oneOf(['flagged', 'record']).describe(
      'flagged: every settled launch has died; record: at least one survived.',
    ),
    entries: ofRow(z.array(settledLaunch), LAUNCHES).describe(
      'The newest settled launches, up to 500.',
    ),
    count: z.int().positive().describe('Settled launches, those beyond the entries included.'),
    empty: harmless(z.literal(false), NEVER_EMPTY),
    empty_reason: harmless(z.null(), NEVER_EMPTY),
    window_hours: z.int().positive(),
    suppressed: negative(z.int().nonnegative(), LAUNCHES).describe(
      'Launches on record that have not settled.',
    ),
    caveat: prose().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'deployer_record',
    when: { argument: 'chain', is: 'solana' },
    description:
      'Of a Solana wallet (chain `solana`): its settled launches, and whether all of them were ' +
      'gone a day later. A wallet without a record has not been cleared.',
  },
});
