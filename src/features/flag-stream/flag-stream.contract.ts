// Declares /ws/flags and its twin /sse/flags: flags and retractions as they happen, in one order.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { position, streamRoute } from '../../contract/stream.ts';
import { isoTime, prose, words } from '../../contract/wire.ts';

/** How many names of chains may be sent at once, and how long each may be. */
const CHAINS_MAX = 50;
const CHAIN_CHARS_MAX = 40;

const chain = z.enum(CHAIN_NAMES);
/** Chains that are told of, and the names that were sent and are no chain of ours. */
const chosen = { chains: z.array(chain), unknown_chains: z.array(words()) };
const asked = z.strictObject({
  chains: z.array(z.string().min(1).max(CHAIN_CHARS_MAX)).min(1).max(CHAINS_MAX),
});

const subject = {
  chain,
  /** The wallet that launched the token. */
  address: words(),
  token: words(),
  model_version: words(),
  simulated: z.boolean(),
};

export const flagStream = streamRoute({
  name: 'flag_stream',
  surface: 'intelligence',
  path: '/ws/flags',
  eventsPath: '/sse/flags',
  summary:
    'Launches that the rug model flags, by the wallet that made them, and flags whose ground is ' +
    'gone, as it happens.',
  access: 'bearer',
  query: z.strictObject({
    chains: z
      .string()
      .min(1)
      .max(CHAINS_MAX * CHAIN_CHARS_MAX)
      .describe('Names of chains, comma-separated, or `all`. Left out: every chain.')
      .optional(),
  }),
  welcome: z.strictObject(chosen),
  events: {
    flag: z.strictObject({
      ...subject,
      score: z.number().min(0).max(1),
      evidence: prose(),
      flagged_at: isoTime,
    }),
    retraction: z.strictObject({
      ...subject,
      retracts: position,
      reason: prose(),
      retracted_at: isoTime,
    }),
  },
  notices: { subscribed: z.strictObject(chosen) },
  asks: { subscribe: asked, unsubscribe: asked },
  refused: {},
});
