// What do a service and the process that follows its chains say to each other?
// Both sides validate what they read; a frame that fits nothing is a bug and ends the process.

import { z } from 'zod';
import { CHAIN_NAMES, EVM_CHAINS } from '../chain/chain.ts';
import { REASON_CODES } from '../evidence/reasons.ts';
import type { FollowEnd, FollowState } from '../ports/indexing/chain-following.ts';

/** The file descriptor on which the process finds its end of the stream. */
export const FOLLOW_FD = 3;

const id = z.int().positive();
const kinds = z.array(z.enum(['native', 'internal', 'token', 'nft']));
const block = z.int().nonnegative().nullable();
const why = z.object({ code: z.enum(REASON_CODES), reason: z.string() });

const state = z.object({
  chain: z.string(),
  source: z.string(),
  kinds: kinds.nullable(),
  head_block: block,
  last_block: block,
  last_time: z.number().nullable(),
  final_block: block,
  lag_blocks: block,
  lag_s: z.number().nullable(),
  blocks: z.int(),
  transfers: z.int(),
  reorgs: z.int(),
  blocks_undone: z.int(),
  left_out: z.object({ misshapen: z.int() }),
  fault: why.nullable(),
}) satisfies z.ZodType<FollowState>;

const end = z.discriminatedUnion('end', [
  z.object({ end: z.literal('stopped'), state }),
  z.object({ end: z.literal('broken'), state, why }),
]) satisfies z.ZodType<FollowEnd>;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const params = z.record(z.string(), z.union([scalar, z.array(scalar)]));

/** To the process. The body of `answer` is what was asked for. */
export const order = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('open'),
    kind: z.enum(['embedded', 'remote']),
    simulated: z.boolean(),
    proxy: z.string().nullable(),
    /** Whole URLs, keys and all. */
    nodes: z.partialRecord(z.enum(EVM_CHAINS), z.string()),
  }),
  z.object({
    do: z.literal('follow'),
    id,
    chain: z.enum(CHAIN_NAMES),
    from_block: block,
    epoch: z.int(),
  }),
  z.object({ do: z.literal('stop'), id }),
  z.object({ do: z.literal('answer'), id }),
  z.object({
    do: z.literal('refuse'),
    id,
    /** The executor's error: its own code, or ClickHouse's with its name. */
    unavailable: z.string().nullable(),
    query: z.object({ code: z.int(), reason: z.string() }).nullable(),
  }),
]);

const timeoutMs = z.number().positive();

/** From the process: how following goes, and what it asks of the warehouse (rows are the body). */
export const report = z.discriminatedUnion('say', [
  z.object({ say: z.literal('state'), id, state }),
  z.object({ say: z.literal('end'), id, end }),
  z.object({ say: z.literal('bug'), id, words: z.string() }),
  z.object({ say: z.literal('settle'), id, of: id }),
  z.object({
    say: z.literal('query'),
    id,
    sql: z.string(),
    params: params.optional(),
    rowsMax: z.int().optional(),
    tuples: z.boolean(),
    timeoutMs,
  }),
  z.object({
    say: z.literal('command'),
    id,
    sql: z.string(),
    params: params.optional(),
    timeoutMs,
  }),
  z.object({
    say: z.literal('insert'),
    id,
    table: z.string(),
    columns: z.array(z.string()),
    timeoutMs,
  }),
]);

/** A message to the process. */
export type Order = z.infer<typeof order>;
/** A message from it. */
export type Report = z.infer<typeof report>;
/** What it asks for, without its number. */
type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never;
export type Question = Unnumbered<
  Extract<Report, { say: 'settle' | 'query' | 'command' | 'insert' }>
>;
