// The tables of the log. What is signed of it is added here under one lock, so that processes that
// sign at the same time never publish two roots of one size, nor a smaller size after a larger one.

import { z } from 'zod';
import { rootOfLeaves } from '../../chain/merkle-tree.ts';
import {
  consistencyProof,
  inclusionProof,
  type ReadTiles,
  RUN_WIDTH,
  rootFromTiles,
  TILE_WIDTH,
  type TileHash,
  tileHashesBetween,
} from '../../chain/tile-tree.ts';
import { countOrZero, listOrNone, present, rowsUnder, slices } from '../../evidence/measure.ts';
import { LEAF_KIND_NAMES, LEAF_KINDS, type LeafKind } from '../../ports/transparency-log.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epoch,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
  StoreUnavailable,
} from '../../stores/control/engine/database.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';
import {
  CHECKPOINT_EACH_S,
  ENTRIES_MAX,
  LEAVES_A_ROUND,
  type LogStore,
  type NewCheckpoint,
  type NewEnd,
  type PublishEnd,
  type StoredLog,
  type StoredOrigin,
  storedCheckpoint,
} from './shapes.ts';
import { storedTiles } from './tiles.store.ts';

const LOCK = "select pg_advisory_xact_lock(hashtext('transparency log'))";
const LEAVES = 'select leaves::float8 as leaves from log_size';
const ORIGINS = `
  select o.generation, o.origin, c.size::float8 as size, c.root, c.note, c.lines, c.signed_at,
    f.reason as freeze_reason, f.note as freeze_note, e.note as end_note,
    e.held::float8 as held, e.why, e.statement, ${epoch('e.ended_at')}
  from log_origins o
  left join lateral (
    select size, root, note, ${epoch('signed_at')}, coalesce((
      select string_agg(line, '' order by witness) from log_cosignatures s
      where s.generation = c.generation and s.size = c.size), '') as lines
    from log_checkpoints c where c.generation = o.generation order by size desc limit 1
  ) c on true
  left join log_freezes f on f.generation = o.generation
  left join log_ends e on e.generation = o.generation
  order by o.generation`;
const ENTRY = `
  select leaf_index::float8 as index, kind, encode(hash, 'hex') as hash, id, ${epochSecond('at')}
  from log_leaves`;
const ADD_HASHES = `
  insert into log_hashes (level, hash_index, hash)
  select level, hash_index, decode(hash, 'hex')
  from unnest($1::int[], $2::bigint[], $3::text[]) as n (level, hash_index, hash)
  on conflict do nothing`;

const leavesRow = z.object({ leaves: z.int() });
const hashedRow = z.object({ hashed: z.int().nullable() });
const entryRow = z.object({
  index: z.int(),
  kind: z.int().transform(kindOf),
  hash: z.string().transform((hex) => `0x${hex}`),
  id: z.string(),
  at: z.number(),
});
const nullableBytes = z.instanceof(Uint8Array).nullable();
const originRow = z.object({
  generation: z.int(),
  origin: z.string(),
  size: z.int().nullable(),
  root: nullableBytes,
  note: z.string().nullable(),
  lines: z.string().nullable(),
  signed_at: z.number().nullable(),
  freeze_reason: z.string().nullable(),
  freeze_note: z.string().nullable(),
  end_note: z.string().nullable(),
  held: z.int().nullable(),
  why: z.string().nullable(),
  statement: z.string().nullable(),
  ended_at: z.number().nullable(),
});
const witnessedRow = z.object({ witness: z.string(), size: z.int() });
const newestRow = z.object({ size: z.int(), young: z.boolean() });
const openRow = z.object({ generation: z.int(), closed: z.boolean() });

/** The tables over the control database. */
export function logTables(database: Database, context: ControlContext): LogStore {
  const { ask, run } = controlReadings('transparency_log', 'The transparency log', context);
  const runs = storedTiles(database, RUN_WIDTH);
  const published = storedTiles(database, TILE_WIDTH);
  return {
    state: () => ask(() => readState(database)),
    begin: (origin) =>
      run(() =>
        database.transaction(async (session) => {
          await session.query(LOCK);
          await session.query(
            `insert into log_origins (generation, origin, began_at)
             select 1, $1, control_now() where not exists (select from log_origins)`,
            [origin],
          );
        }),
      ),
    hashTiles: () => ask(() => hashFullRuns(database, runs)),
    rootAt: (size) => ask(() => rootFromTiles(size, runs, RUN_WIDTH)),
    inclusion: (index, size) => ask(() => inclusionProof(index, size, runs, RUN_WIDTH)),
    consistency: (older, newer) => ask(() => consistencyProof(older, newer, runs, RUN_WIDTH)),
    hashes: (level, index, width) =>
      ask(async () => onlyRow(await published([{ level, index, width }]))),
    entries: (from, limit) =>
      ask(async () => {
        if (limit > ENTRIES_MAX) throw new Error(`${limit} entries at once`);
        const sql = `${ENTRY} where leaf_index >= $1::bigint order by leaf_index limit $2::int`;
        return z.array(entryRow).parse(await database.query(sql, [from, limit]));
      }),
    find: ({ kind, hash }) =>
      ask(async () => {
        const sql = `${ENTRY} where hash = decode($1, 'hex') and kind = $2::smallint
          order by leaf_index limit 1`;
        const rows = await database.query(sql, [hash.slice('0x'.length), LEAF_KINDS[kind]]);
        return entryRow.nullable().parse(rowOrNull(rows));
      }),
    publish: (checkpoint, keep) =>
      ask(() => database.transaction((session) => publishOne(session, checkpoint, keep))),
    freeze: (generation, reason, note) =>
      run(() =>
        database.query(
          `insert into log_freezes (generation, reason, note, frozen_at)
           values ($1, $2, $3, control_now()) on conflict do nothing`,
          [generation, reason, note],
        ),
      ),
    end: (end) => ask(() => database.transaction((session) => endOrigin(session, end))),
    cosigned: (generation) =>
      ask(async () => {
        const rows = await database.query(
          `select witness, max(size)::float8 as size from log_cosignatures
           where generation = $1 group by witness`,
          [generation],
        );
        const parsed = z.array(witnessedRow).parse(rows);
        return new Map(parsed.map(({ witness, size }) => [witness, size]));
      }),
    addCosignature: (generation, size, witness, line) =>
      run(() =>
        database.query(
          `insert into log_cosignatures (generation, size, witness, line, received_at)
           values ($1, $2::bigint, $3, $4, control_now()) on conflict do nothing`,
          [generation, size, witness, line],
        ),
      ),
  };
}

/** The name of a kind of leaf. A kind that a newer version wrote leaves the leaf unread. */
function kindOf(byte: number): LeafKind {
  const kind = LEAF_KIND_NAMES.find((name) => LEAF_KINDS[name] === byte);
  if (kind === undefined) throw new StoreUnavailable('a newer version wrote a leaf', 'NEWER');
  return kind;
}

// The origins are read first: a leaf that is added in between makes the log larger, never smaller
// than what it signed.
async function readState(database: Pick<Session, 'query'>): Promise<StoredLog> {
  const rows = z.array(originRow).parse(await database.query(ORIGINS));
  const counted = leavesRow.nullable().parse(rowOrNull(await database.query(LEAVES)));
  return { leaves: countOrZero(counted?.leaves), origins: rows.map(originOf) };
}

function originOf(row: z.output<typeof originRow>): StoredOrigin {
  const { generation, origin, statement, held, why, ended_at } = row;
  const newest = storedCheckpoint.safeParse(row);
  const isEnded = statement !== null && held !== null && why !== null && ended_at !== null;
  return {
    generation,
    origin,
    newest: newest.success ? newest.data : null,
    freeze:
      row.freeze_reason === null ? null : { reason: row.freeze_reason, note: row.freeze_note },
    end: isEnded ? { note: row.end_note, held, why, statement, ended_at } : null,
  };
}

/** Runs that are read at once to be hashed. */
const RUNS_AT_ONCE = 256;

// All levels in one statement: whoever finds a hash of level 1 finds those above it too.
async function hashFullRuns(
  database: Pick<Session, 'query'>,
  readRuns: ReadTiles,
): Promise<number> {
  const hashed = await database.query(
    'select (max(hash_index) + 1)::float8 as hashed from log_hashes where level = 1',
  );
  const before = countOrZero(hashedRow.parse(onlyRow(hashed)).hashed) * RUN_WIDTH;
  const counted = leavesRow.nullable().parse(rowOrNull(await database.query(LEAVES)));
  const size = Math.min(countOrZero(counted?.leaves), before + LEAVES_A_ROUND);
  const made = new Map<string, Uint8Array>();
  const rows: { level: number; index: number; hash: string }[] = [];
  const fullRuns = tileHashesBetween(before, size, RUN_WIDTH);
  for (const some of fullRuns.flatMap((level) => [...slices(level, RUNS_AT_ONCE)])) {
    const below = await runsBelow(some, made, readRuns);
    for (const [at, { level, index }] of some.entries()) {
      const hash = rootOfLeaves(listOrNone(below[at]));
      made.set(`${level}/${index}`, hash);
      rows.push({ level, index, hash: Buffer.from(hash).toString('hex') });
    }
  }
  if (rows.length > 0)
    await database.query(ADD_HASHES, columnsOf(rows, ['level', 'index', 'hash']));
  return size;
}

/** The hashes under some hashes: those that were stored before, and behind them those made now. */
async function runsBelow(
  some: readonly TileHash[],
  made: ReadonlyMap<string, Uint8Array>,
  readRuns: ReadTiles,
): Promise<readonly (readonly Uint8Array[])[]> {
  const runs = some.map(({ level, index }) => {
    const first = index * RUN_WIDTH;
    const fresh = present(
      Array.from({ length: RUN_WIDTH }, (_, n) => made.get(`${level - 1}/${first + n}`)),
    );
    return { level: level - 1, index, width: RUN_WIDTH - fresh.length, fresh };
  });
  const stored = runs.filter(({ width }) => width > 0);
  const read = stored.length === 0 ? [] : await readRuns(stored);
  const held = new Map(stored.map((run, at) => [run, listOrNone(read[at])]));
  return runs.map((run) => {
    const hashes = [...rowsUnder(held, run), ...run.fresh];
    if (hashes.length !== RUN_WIDTH) throw new Error(`a run of ${hashes.length} hashes`);
    return hashes;
  });
}

async function publishOne(
  session: Session,
  { generation, size, root, note }: NewCheckpoint,
  keep: Parameters<LogStore['publish']>[1],
): Promise<PublishEnd> {
  await session.query(LOCK);
  const signing = await session.query(
    `select o.generation, (f.generation is not null or e.generation is not null) as closed
     from log_origins o left join log_freezes f using (generation)
     left join log_ends e using (generation) order by o.generation desc limit 1`,
  );
  const current = openRow.nullable().parse(rowOrNull(signing));
  if (current === null || current.closed || current.generation !== generation) return PASSED;
  const newest = await session.query(
    `select size::float8 as size,
       signed_at > control_now() - make_interval(secs => ${CHECKPOINT_EACH_S}) as young
     from log_checkpoints where generation = $1 order by size desc limit 1`,
    [generation],
  );
  const before = newestRow.nullable().parse(rowOrNull(newest));
  if (before !== null && (before.young || before.size >= size)) return PASSED;
  const unkept = await keep();
  if (unkept !== null) return { kind: 'not_kept', why: unkept };
  await session.query(
    `insert into log_checkpoints (generation, size, root, note, signed_at)
     values ($1, $2::bigint, decode($3, 'hex'), $4, control_now())`,
    [generation, size, Buffer.from(root).toString('hex'), note],
  );
  return { kind: 'published' };
}

const PASSED: PublishEnd = { kind: 'passed' };

/** Whether this ended the origin; another process may have. */
async function endOrigin(session: Session, end: NewEnd): Promise<boolean> {
  await session.query(LOCK);
  const { generation, note, held, why, statement, next, leaf } = end;
  const ended = await session.query(
    `insert into log_ends (generation, note, held, why, statement, ended_at)
     values ($1, $2, $3::bigint, $4, $5, control_now())
     on conflict do nothing returning generation`,
    [generation, note, held, why, statement],
  );
  if (ended.length === 0) return false;
  await session.query(
    'insert into log_origins (generation, origin, began_at) values ($1, $2, control_now())',
    [next.generation, next.origin],
  );
  await appendLeaf(session, leaf);
  return true;
}
