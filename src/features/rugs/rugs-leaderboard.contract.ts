// Declares GET /api/leaderboard/rugs: the leaderboard of the intelligence service, one object.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import { harmless, negative, prose, unixSeconds, words } from '../../contract/wire.ts';
import { ENTRIES_MAX, entry, FLAGS, limit, SAID_BY_EMPTY_REASON } from './leaderboard.contract.ts';

/** The longest token that may stand in a query. */
const TOKEN_CHARS_MAX = 200;

const SCHEMA = z.literal('rugs-leaderboard/1');

export const rugsLeaderboard = plainRoute({
  name: 'rugs_leaderboard',
  surface: 'intelligence',
  method: 'GET',
  path: '/api/leaderboard/rugs',
  summary: 'The wallets that the rug model flagged in the last 24 hours, as one plain object.',
  access: 'bearer',
  query: z.strictObject({ limit, token: z.string().max(TOKEN_CHARS_MAX).optional() }),
  responses: {
    200: z
      .strictObject({
        schema: SCHEMA,
        state: z.literal('ok'),
        available: z.literal(true),
        entries: negative(z.array(entry).max(ENTRIES_MAX), FLAGS),
        count: negative(z.int().nonnegative(), FLAGS),
        empty: harmless(z.boolean(), SAID_BY_EMPTY_REASON),
        empty_reason: prose().min(1).nullable(),
        reason: prose().min(1).nullable(),
        window_hours: z.int().positive(),
        generated_at: unixSeconds,
        served: z.strictObject({ window: words(), rows: negative(z.int().nonnegative(), FLAGS) }),
        suppressed: negative(z.int().nonnegative().nullable(), FLAGS),
        simulated: harmless(z.boolean(), 'it is of the data, not of a wallet'),
        caveat: prose().min(1),
      })
      .describe(
        'The window was read. An empty list is a quiet day of a window that was scored to its ' +
          'end; `reason` says what of a window with entries was not scored.',
      ),
    503: z
      .strictObject({
        schema: SCHEMA,
        state: z.literal('no_snapshot'),
        available: harmless(z.literal(false), 'it says that nothing was checked'),
        entries: harmless(z.array(entry).length(0), 'its state says that nothing was checked'),
        count: harmless(z.literal(0), 'its state says that nothing was checked'),
        empty: z.literal(true),
        empty_reason: prose().min(1).nullable(),
        reason: prose().min(1),
        window_hours: z.int().positive(),
        generated_at: unixSeconds,
        simulated: harmless(z.boolean(), 'it is of the data, not of a wallet'),
      })
      .describe(
        'Nothing can be said of the window: the table could not be read, was scored in part and ' +
          'holds no flag, or was never written, which `empty_reason` says. It is no quiet day.',
      ),
  },
});
