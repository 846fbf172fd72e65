// Declares GET /api/v1/leaderboard: the wallets that the rug model flagged in the last day; and the
// page of them.

import { z } from 'zod';
import { html, text } from '../../contract/media.ts';
import { evidenceRoute, plainRoute } from '../../contract/route.ts';
import { checked, harmless, isoTime, negative, ofRow, prose, words } from '../../contract/wire.ts';

/** On what everything here rests that could deny something. */
export const FLAGS = { restsOn: ['rug_flags'] } as const;

/** The most entries of one answer, and how many where none is named. */
export const ENTRIES_MAX = 100;
export const ENTRIES_DEFAULT = 50;

/** How many entries are asked for. */
export const limit = z.coerce.number().int().min(1).max(ENTRIES_MAX).optional();
const count = ofRow(z.int().nonnegative());

const topEvidence = z.strictObject({
  feature: words(),
  value: ofRow(z.number().nullable()),
  contribution: ofRow(z.number()),
  statement: prose().min(1),
});

/** A wallet with the strongest of its flags. `launches`: how many of its launches are flagged. */
export const entry = z.strictObject({
  address: words(),
  chain: words(),
  score: ofRow(z.number().min(0).max(1)),
  first_flagged_at: isoTime,
  last_scored_at: isoTime,
  top_evidence: topEvidence,
  model_version: words(),
  token: words(),
  launches: z.int().positive(),
});

/** A wallet as it is listed. */
export type ListedWallet = z.output<typeof entry>;

/** What was scored of a chain in the window. */
const scored = z.strictObject({
  chain: words(),
  last_scored_at: isoTime,
  model_version: words(),
  scored: count,
  suppressed: count,
  unscored: count,
  waiting: count,
});

/** Why `empty` denies nothing by itself. */
export const SAID_BY_EMPTY_REASON = 'empty_reason beside it says why';

export const leaderboard = evidenceRoute({
  name: 'leaderboard',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/leaderboard',
  summary: 'The wallets that the rug model flagged in the last 24 hours, the highest score first.',
  access: 'analyst',
  query: z.strictObject({ limit }),
  data: z.strictObject({
    entries: negative(z.array(entry).max(ENTRIES_MAX), FLAGS),
    count: negative(z.int().nonnegative(), FLAGS),
    empty: harmless(z.boolean(), SAID_BY_EMPTY_REASON),
    empty_reason: prose().min(1).nullable(),
    window_hours: z.int().positive(),
    suppressed: negative(z.int().nonnegative().nullable(), FLAGS),
    window_checked: checked(FLAGS),
    window_reason: prose().min(1).nullable(),
    scored: harmless(z.array(scored), 'it is empty where no scorer has ever written', FLAGS),
    caveat: prose().min(1),
  }),
  absences: ['not_deployed'],
  tool: {
    name: 'flag_leaderboard',
    description:
      'Lists the wallets whose launches the rug model flagged in the last 24 hours, with the ' +
      'single strongest evidence for each. Who is missing from it has not been cleared: only ' +
      'launches that became known here were scored.',
  },
});

export const leaderboardPage = plainRoute({
  name: 'leaderboard_page',
  surface: 'web',
  method: 'GET',
  path: '/leaderboard',
  summary: 'The wallets that the rug model flagged in the last 24 hours, for people.',
  access: 'open',
  responses: { 200: html(), 503: html() },
});

export const leaderboardScript = plainRoute({
  name: 'leaderboard_script',
  surface: 'web',
  method: 'GET',
  path: '/assets/leaderboard.js',
  summary: 'Shows flags on the page of the leaderboard as they are told.',
  access: 'open',
  keptS: 300,
  responses: { 200: text('text/javascript; charset=utf-8') },
});
