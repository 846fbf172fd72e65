// Declares and answers the routes of the log: what it is, its checkpoints, tiles and entries as
// C2SP writes them, and proofs. `log-page.route.tsx` shows it to people.

import { z } from 'zod';
import { formatLogProof, formatNoteKey, noteKey } from '../../chain/signed-note.ts';
import { parseTilePath } from '../../chain/tile-tree.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badField } from '../../contract/refusals.ts';
import { bytes, text } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  harmless,
  isoTime,
  negative,
  notSetUp,
  oneOf,
  prose,
  rowFact,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { listOrNone, placeOrBeginning } from '../../evidence/measure.ts';
import { map, type Reading, Unread } from '../../evidence/reading.ts';
import { isNotSetUp } from '../../evidence/reason-kinds.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { Signing } from '../../ports/signing.ts';
import {
  LEAF_KIND_NAMES,
  type LeafStanding,
  type LogEntry,
  type LogHead,
  type TransparencyLog,
  type TransparencyLogPort,
} from '../../ports/transparency-log.ts';
import { ENTRIES_MAX } from './shapes.ts';

const LOG = { restsOn: ['transparency_log'] } as const;
const OF_LOG = 'it is of the log, and of no address';
const ENTRIES_DEFAULT = 100;
const INDEX_MAX = 9_007_199_254_740_990;
const GENERATION_MAX = 10_000;
const TILE_CHARS_MAX = 40;
const LEAF_CHARS_MAX = 100;
/** Tiles and ends never change. */
const FOR_EVER_S = 31_536_000;
/** A checkpoint is at most so much older than the newest. */
const CHECKPOINT_KEPT_S = 5;

const OPEN = { surface: 'signals', access: 'open', method: 'GET' } as const;
const NOTE = text('text/plain; charset=utf-8', words());
const TILE = bytes('application/octet-stream');
const hash = words(z.string().regex(/^0x[0-9a-f]{64}$/));
const elsewhere = z.strictObject({ error: prose() });
const notHere = z.union([elsewhere, notSetUp]);
const UNSIGNED = 'or no log of this deployment is signed (`not_set_up`).';
const ofGeneration = {
  log: z.coerce
    .number()
    .int()
    .min(1)
    .max(GENERATION_MAX)
    .describe('The number at the end of the name of the log.'),
};

const former = z.strictObject({
  origin: words(),
  path: words(),
  ended_at: isoTime,
  why: words().describe('As the operator wrote it.'),
  held: rowFact(z.int().nonnegative()).describe(
    'Leaves of it that are stored as it published them.',
  ),
});

export const logState = plainRoute({
  ...OPEN,
  name: 'log',
  path: '/api/log',
  summary: 'The transparency log: its name, its keys, and the newest state that it signed.',
  responses: {
    200: z.strictObject({
      origin: words().nullable().describe('Null until the first statement was signed.'),
      path: words().describe('What stands before `/checkpoint` and `/tile/…`.'),
      keys: harmless(z.array(words()), OF_LOG).describe('Verifier keys (C2SP signed-note).'),
      leaves: rowFact(z.int().nonnegative(), LOG),
      checkpoint: z
        .strictObject({ size: z.int().positive(), root: hash, signed_at: isoTime })
        .nullable(),
      signs: rowFact(z.boolean(), LOG).describe(
        'False: it signs nothing more, and `reason` says why.',
      ),
      reason: prose().nullable(),
      former: harmless(z.array(former), OF_LOG),
      simulated: harmless(z.boolean(), OF_LOG),
      caveat: prose().min(1),
    }),
    404: notSetUp.describe('The log of this deployment is not signed.'),
    503: unavailable,
  },
});

const entry = z.strictObject({
  index: rowFact(z.int().nonnegative()),
  kind: oneOf(LEAF_KIND_NAMES),
  hash,
  id: words(),
  at: isoTime,
});

export const logEntries = plainRoute({
  ...OPEN,
  name: 'log_entries',
  path: '/api/log/entries',
  summary: 'Leaves of the log in their order: kind, hash, and which statement each is.',
  query: z.strictObject({
    from: z.coerce
      .number()
      .int()
      .min(0)
      .max(INDEX_MAX)
      .optional()
      .describe('The index of the first leaf; 0 without it.'),
    limit: z.coerce.number().int().min(1).max(ENTRIES_MAX).optional(),
  }),
  responses: {
    200: z.strictObject({
      entries: negative(z.array(entry), LOG),
      next_from: z.int().positive().nullable().describe('Null: these are the newest.'),
      caveat: prose().min(1),
    }),
    503: unavailable,
  },
});

export const logProof = plainRoute({
  ...OPEN,
  name: 'log_proof',
  path: '/api/log/proof/{leaf}',
  summary: 'The proof (C2SP tlog-proof) that a leaf is in the tree of the newest checkpoint.',
  params: z.strictObject({
    leaf: z.string().max(LEAF_CHARS_MAX),
  }),
  responses: {
    200: NOTE,
    404: notHere.describe(`The log was read whole, and holds no such leaf; ${UNSIGNED}`),
    409: elsewhere.describe('The leaf awaits the next checkpoint.'),
    503: unavailable,
  },
});

export const logCheckpoint = plainRoute({
  ...OPEN,
  name: 'log_checkpoint',
  path: '/log/{log}/checkpoint',
  summary: 'The newest state that a log of this deployment signed (C2SP tlog-checkpoint).',
  params: z.strictObject(ofGeneration),
  responses: {
    200: NOTE,
    404: notHere.describe(`The log published none here, or not yet; ${UNSIGNED}`),
    503: unavailable,
  },
  keptS: CHECKPOINT_KEPT_S,
});

export const logEnd = plainRoute({
  ...OPEN,
  name: 'log_end',
  path: '/log/{log}/end',
  summary: 'The last signed statement of a log that ended: why, and which one goes on.',
  params: z.strictObject(ofGeneration),
  responses: {
    200: NOTE,
    404: notHere.describe(`No log of this number ended; ${UNSIGNED}`),
    503: unavailable,
  },
});

export const logTile = plainRoute({
  ...OPEN,
  name: 'log_tile',
  path: '/log/{log}/tile/{tile}',
  tail: true,
  summary: 'Hashes or entries of a log (C2SP tlog-tiles): `0/x001/234`, `entries/000.p/12`.',
  params: z.strictObject({
    ...ofGeneration,
    tile: z.string().max(TILE_CHARS_MAX),
  }),
  responses: { 200: TILE, 404: elsewhere, 503: unavailable },
  keptS: FOR_EVER_S,
});

/** What the routes of the log rest on. */
export type LogPorts = {
  readonly transparencyLog: TransparencyLog;
  readonly signing: Pick<Signing, 'publicKeys'>;
  readonly service: { readonly simulated: boolean };
};

export const CAVEAT =
  'A proof shows that a statement stood in the log when its checkpoint was signed. It does not ' +
  'show that the statement is true, or that everybody was shown the same log: keep the ' +
  'checkpoints that you saw, and compare (`exhibit log follow`).';
const PLACE = 'The log published this at another place, or not yet.';

function unavailableBody({ reason }: Why) {
  return { error: 'unavailable', reason };
}

function notSetUpBody({ reason }: Why) {
  return { error: 'not_set_up', reason } as const;
}

/** @internal */
export function logStateHandler(ports: LogPorts): PlainHandler<typeof logState> {
  const { transparencyLog, signing, service } = ports;
  return async () => {
    const head = await transparencyLog.head();
    if (head instanceof Unread) {
      return isNotSetUp(head.why)
        ? logState.reply(404, notSetUpBody(head.why))
        : logState.reply(503, unavailableBody(head.why));
    }
    const keys = await logKeys(head.value, signing);
    if (keys instanceof Unread) return logState.reply(503, unavailableBody(keys.why));
    const { generation, origin, leaves, newest, frozen } = head.value;
    return logState.reply(200, {
      origin,
      path: pathOf(generation),
      keys: [...keys.value],
      leaves,
      checkpoint:
        newest === null
          ? null
          : { size: newest.size, root: newest.root, signed_at: isoSecond(newest.signed_at) },
      signs: frozen === null,
      reason: frozen === null ? null : frozen.reason,
      former: head.value.former.map((one) => ({
        origin: one.origin,
        path: pathOf(one.generation),
        ended_at: isoSecond(one.ended_at),
        why: one.why,
        held: one.held,
      })),
      simulated: service.simulated,
      caveat: CAVEAT,
    });
  };
}

/** The keys under which the log signs or signed, as verifiers take them. */
export async function logKeys(
  { origin }: LogHead,
  signing: LogPorts['signing'],
): Promise<Reading<readonly string[], never>> {
  const keys = await signing.publicKeys();
  return map(keys, (all) =>
    origin === null
      ? []
      : all.map(({ x }) =>
          formatNoteKey(noteKey(origin, Uint8Array.from(Buffer.from(x, 'base64url')))),
        ),
  );
}

/** Where a log is served. */
export function pathOf(generation: number): string {
  return `/log/${generation}`;
}

/** A time of the store in whole seconds. */
export function isoSecond(at: number): string {
  return formatIsoTime(Math.floor(at));
}

/** @internal */
export function logEntriesHandler({ transparencyLog }: LogPorts): PlainHandler<typeof logEntries> {
  return async ({ query }) => {
    const limit = query.limit === undefined ? ENTRIES_DEFAULT : query.limit;
    const from = placeOrBeginning(query.from);
    const found = await transparencyLog.entries(from, limit);
    if (found instanceof Unread) return logEntries.reply(503, unavailableBody(found.why));
    const { length } = found.value;
    return logEntries.reply(200, {
      entries: claim(found, (entries) => entries.map(entryShown)),
      next_from: length < limit ? null : from + length,
      caveat: CAVEAT,
    });
  };
}

function entryShown({ at, ...entry }: LogEntry) {
  return { ...entry, at: isoSecond(at) };
}

const INDEX = /^(0|[1-9]\d{0,15})$/;
const LEAF = /^([a-z_]+):(0x[0-9a-f]{64})$/;

/** @internal */
export function logProofHandler({ transparencyLog }: LogPorts): PlainHandler<typeof logProof> {
  return async ({ params: { leaf } }) => {
    const asked = parseLeaf(leaf);
    if (asked === null) return badField('leaf', 'expected an index, or a kind and a hash');
    const standing =
      typeof asked === 'number'
        ? await transparencyLog.at(asked)
        : await transparencyLog.find(asked);
    if (standing instanceof Unread) {
      return isNotSetUp(standing.why)
        ? logProof.reply(404, notSetUpBody(standing.why))
        : logProof.reply(503, unavailableBody(standing.why));
    }
    return proofReply(standing.value);
  };
}

/** The leaf that a text names; `null`: it names none. */
function parseLeaf(text: string): number | Pick<LogEntry, 'kind' | 'hash'> | null {
  if (INDEX.test(text)) return Number(text) > INDEX_MAX ? null : Number(text);
  const [, named, hash] = listOrNone(LEAF.exec(text));
  const kind = LEAF_KIND_NAMES.find((name) => name === named);
  return kind === undefined || hash === undefined ? null : { kind, hash };
}

const AWAITS = 'The leaf is newer than the newest checkpoint; the next one will hold it.';

function proofReply(standing: LeafStanding) {
  switch (standing.state) {
    case 'absent':
      return logProof.reply(404, { error: ABSENT });
    case 'awaiting':
      return logProof.reply(409, { error: AWAITS });
    case 'proved': {
      const { entry, hashes, checkpoint } = standing;
      const proof = hashes.map((one) => Uint8Array.from(Buffer.from(one.slice(2), 'hex')));
      return logProof.reply(200, formatLogProof({ index: entry.index, hashes: proof, checkpoint }));
    }
  }
}

/** It denies, and rests on a log that was read. */
export const ABSENT = 'The log holds no such leaf.';

/** @internal */
export function logCheckpointHandler({
  transparencyLog,
}: LogPorts): PlainHandler<typeof logCheckpoint> {
  return async ({ params: { log } }) => {
    const head = await transparencyLog.head();
    if (head instanceof Unread) {
      return isNotSetUp(head.why)
        ? logCheckpoint.reply(404, notSetUpBody(head.why))
        : logCheckpoint.reply(503, unavailableBody(head.why));
    }
    const note = noteOfLog(head.value, log);
    if (note === null) return logCheckpoint.reply(404, { error: PLACE });
    return logCheckpoint.reply(200, note);
  };
}

function noteOfLog({ generation, published, former }: LogHead, log: number): string | null {
  if (log === generation) return published;
  const ended = former.find((one) => one.generation === log);
  return ended === undefined ? null : ended.note;
}

/** @internal */
export function logEndHandler({ transparencyLog }: LogPorts): PlainHandler<typeof logEnd> {
  return async ({ params: { log } }) => {
    const head = await transparencyLog.head();
    if (head instanceof Unread) {
      return isNotSetUp(head.why)
        ? logEnd.reply(404, notSetUpBody(head.why))
        : logEnd.reply(503, unavailableBody(head.why));
    }
    const ended = head.value.former.find((one) => one.generation === log);
    if (ended === undefined) return logEnd.reply(404, { error: PLACE });
    return logEnd.reply(200, ended.statement);
  };
}

/** @internal */
export function logTileHandler({ transparencyLog }: LogPorts): PlainHandler<typeof logTile> {
  return async ({ params: { log, tile } }) => {
    const parsed = parseTilePath(tile);
    if (parsed === null) return logTile.reply(404, { error: PLACE });
    const found: Reading<Uint8Array | null, TransparencyLogPort> = await transparencyLog.tile(
      log,
      parsed,
    );
    if (found instanceof Unread) return logTile.reply(503, unavailableBody(found.why));
    if (found.value === null) return logTile.reply(404, { error: PLACE });
    return logTile.reply(200, found.value);
  };
}
