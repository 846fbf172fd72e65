// Declares GET /health: whether the service runs, what it serves, and how old its sources are.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import { isoDay, unixSeconds } from '../../contract/wire.ts';

/**
 * One source's age. A source that was never loaded has no age, and neither has one whose answers
 * each have a date of their own (`per_answer`): that is not an age of zero.
 */
export const sourceFreshness = z.strictObject({
  state: z.enum(['fresh', 'stale', 'per_answer', 'never_loaded', 'unreadable']),
  as_of: unixSeconds.nullable(),
  published: isoDay.nullable(),
  age_s: z.int().nonnegative().nullable(),
  max_age_s: z.int().positive().nullable(),
  reason: z.string().nullable(),
});

/**
 * How a chain is followed from its node. `held_up`: a known fault, over which it goes on by itself.
 * `stopped`: it cannot go on by itself, or its process has ended. `since`: from when on it is so.
 */
const followedChain = z.strictObject({
  state: z.enum(['following', 'held_up', 'stopped']),
  reason: z.string().nullable(),
  since: unixSeconds,
  last_block: z.int().nonnegative().nullable(),
  lag_blocks: z.int().nonnegative().nullable(),
});

/**
 * The ring of all who dealt with listed addresses. `whole`: each listed address is held from its
 * first block to a fresh tip on each chain that is read; walks then need not read their second hop.
 */
const ring = z.strictObject({
  state: z.enum(['whole', 'not_whole', 'unread']),
  reason: z.string().nullable(),
  as_of: unixSeconds,
  chains: z
    .record(
      z.string(),
      z.strictObject({
        listed: z.int().nonnegative(),
        held_in_full: z.int().nonnegative(),
        counterparties: z.int().nonnegative(),
      }),
    )
    .nullable(),
});

/**
 * Where reading the histories of listed addresses through explorers stands, in lists: one for each
 * address, chain and kind. `held_up`: what failed is asked again; `off`: nobody reads them here.
 */
const readAhead = z.strictObject({
  state: z.enum(['waiting', 'reading', 'filled', 'held_up', 'budget_spent', 'elsewhere', 'off']),
  reason: z.string().nullable(),
  since: unixSeconds,
  lists_held: z.int().nonnegative(),
  lists: z.int().nonnegative(),
  calls_today: z.int().nonnegative(),
  calls_a_day: z.int().nonnegative(),
});

/**
 * Whether the tables of an earlier version are moved to tables by chain. Meanwhile all is read and
 * written as ever, and nothing is forgotten. `held_up`: what failed is tried again.
 */
const tablesByChain = z.strictObject({
  state: z.enum(['moved', 'moving', 'held_up']),
  reason: z.string().nullable(),
  as_of: unixSeconds,
  rows: z.int().nonnegative().nullable(),
  rows_moved: z.int().nonnegative().nullable(),
});

/** Open streams of the tokens of a tier together, and how many each token may hold open. */
const tierConnections = z.strictObject({
  open: z.int().nonnegative(),
  limit_per_token: z.int().positive(),
});

/** The streams: how they are reached, what carries them and what they tell of. */
export const streamingShown = z.strictObject({
  paths: z.strictObject({ websocket: z.string(), sse: z.string() }),
  heartbeat_s: z.int().positive(),
  bus: z.strictObject({
    kind: z.enum(['in_process', 'redis_streams']),
    /** `silent`: events come by looking each second, and caps hold for each process alone. */
    state: z.enum(['answers', 'silent']),
    reason: z.string().nullable(),
  }),
  connections: z.record(z.string(), tierConnections),
  connections_of: z.enum(['all_processes', 'this_process']),
  /** The log of flags. `oldest_seq` can still be had; both are null where it was not read. */
  source: z.strictObject({
    state: z.enum(['read', 'unread']),
    newest_seq: z.int().nonnegative().nullable(),
    oldest_seq: z.int().positive().nullable(),
    reason: z.string().nullable(),
  }),
});

const served = z.strictObject({ access: z.string(), summary: z.string() });

export const health = plainRoute({
  name: 'health',
  surface: 'intelligence',
  method: 'GET',
  path: '/health',
  summary: 'Whether the service runs, its route table, and the age of each source.',
  access: 'open',
  responses: {
    200: z
      .strictObject({
        status: z.literal('ok'),
        service: z.literal('exhibit'),
        version: z.string(),
        simulated: z.boolean(),
        auth: z.enum(['bearer', 'anonymous']),
        model: z
          .strictObject({
            published: z.boolean(),
            version: z.string().nullable(),
            reason: z.string().nullable(),
          })
          .describe('The rug model in force. `reason` says why there is none to score with.'),
        routes: z.record(z.string(), served),
        data_freshness: z.record(z.string(), sourceFreshness),
        following: z
          .record(z.string(), followedChain)
          .nullable()
          .describe('By chain. Null where it could not be read, which is not that none is.'),
        ring: ring.nullable().describe('Null before it was first looked at after a start.'),
        ring_read_ahead: readAhead.nullable().describe('Null in a process that does no such work.'),
        tables_by_chain: tablesByChain
          .nullable()
          .describe('Null before it was first looked at after a start.'),
        streaming: streamingShown.nullable().describe('Null where this process serves none.'),
      })
      .describe('The service answers. The age of a source says whether it can carry a negative.'),
  },
});
