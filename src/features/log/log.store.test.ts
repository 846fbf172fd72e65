// A log signs each size once, and nothing at all once its store holds less or other than it signed.

import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { keccak256 } from '../../chain/digest.ts';
import { hashLeaf, isConsistent, isIncluded, leafContent } from '../../chain/merkle-tree.ts';
import { noteKey, openCheckpoint, parseLogEnd, parseNote } from '../../chain/signed-note.ts';
import { read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { NewLeaf } from '../../ports/transparency-log.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';
import { seenHeads } from '../../stores/control/seen-heads.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine, type TestStore } from '../../testing/control-store.ts';
import { type LogParts, restartLog, signOnce } from './checkpoints.ts';
import { logTables } from './log.store.ts';
import { CHECKPOINT_EACH_S } from './shapes.ts';
import { transparencyLog } from './standing.ts';

const HOST = 'log.example';
const folders = mkdtempSync(join(tmpdir(), 'exhibit-log-'));
afterAll(() => rmSync(folders, { recursive: true, force: true }));

const pair = generateKeyPairSync('ed25519');
const raw = Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
const x = Buffer.from(raw).toString('base64url');
const SOURCE = { name: 'k', url: 'k:', as_of: 0, kind: 'table', simulated: false } as const;
const signText: LogParts['sign'] = async (bytes) => {
  const signature = Uint8Array.from(sign(null, bytes, pair.privateKey));
  return read({ x, signature }, { port: 'signing_keys', source: SOURCE });
};

let made = 0;
function freshFolder(): string {
  made += 1;
  return join(folders, `machine-${made}`);
}

const leafOf = (n: number): NewLeaf => ({
  kind: 'signal',
  hash: `0x${n.toString(16).padStart(64, '0')}`,
  id: `sig_${n}`,
  at: STILL_NOW,
});

/** The same leaves in one statement. */
const APPEND_MANY = `
  with counted as (
    insert into log_size as l (leaves) select $2::bigint where $2::bigint > 0
    on conflict (one) do update set leaves = l.leaves + excluded.leaves returning leaves
  )
  insert into log_leaves (leaf_index, kind, hash, id, at)
  select leaves - $2::bigint + n, 1, decode(lpad(to_hex($1::int + n), 64, '0'), 'hex'),
    'sig_' || ($1::int + n), to_timestamp($3::float8)
  from counted, generate_series(0, $2::int - 1) as n`;

/** A log over a store, on a machine of its own. */
function logOn(database: TestStore, folder = freshFolder(), over: Partial<LogParts> = {}) {
  const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
  const store = logTables(database, context);
  const seen = seenHeads(folder, context);
  const hashStatement = (bytes: Uint8Array) => `0x${Buffer.from(keccak256(bytes)).toString('hex')}`;
  const now = () => STILL_NOW;
  const parts: LogParts = { store, seen, host: HOST, sign: signText, hashStatement, now, ...over };
  let clock = STILL_NOW;
  return {
    parts,
    folder,
    log: transparencyLog({
      ...parts,
      keys: async () => read([{ x, compromised_since: null }], { port: 'keys', source: SOURCE }),
    }),
    append: async (from: number, count: number) => {
      await database.transaction(async (session) => {
        if (count === 1) return void (await appendLeaf(session, leafOf(from)));
        await session.query(APPEND_MANY, [from, count, STILL_NOW]);
      });
    },
    /** A round at a time when a checkpoint may follow the one before. */
    round: async () => {
      clock += CHECKPOINT_EACH_S + 1;
      await database.setClock(clock);
      return signOnce(parts);
    },
  };
}

type Log = ReturnType<typeof logOn>;

async function begin(log: Log, leaves: number): Promise<void> {
  await log.append(0, leaves);
  expect(await log.round()).toEqual({ kind: 'idle' });
  expect(await log.round()).toEqual({ kind: 'signed', size: leaves });
}

async function valueIn<T>(reading: Promise<{ readonly checked: boolean }>): Promise<T> {
  const got = await reading;
  if (!('value' in got)) throw new Error(JSON.stringify(got));
  return got.value as T;
}

function opened(text: string | null, origin: string) {
  if (text === null) throw new Error('test: no checkpoint');
  const found = openCheckpoint(text, origin, [noteKey(origin, raw)]);
  if (!found.ok) throw new Error(found.fault);
  return found.checkpoint;
}

async function headOf({ log }: Log) {
  const head = await log.head();
  if (head instanceof Unread) throw new Error(head.why.reason);
  return head.value;
}

/** Takes the store back to what it held when so many leaves were in it. */
async function putBack(database: TestStore, leaves: number): Promise<void> {
  await database.transaction((session) =>
    session.script(`
      delete from log_cosignatures where size > ${leaves};
      delete from log_checkpoints where size > ${leaves};
      delete from log_leaves where leaf_index >= ${leaves};
      delete from log_hashes where (hash_index + 1) * (16 ^ level) > ${leaves};
      update log_size set leaves = ${leaves}`),
  );
}

onEachEngine((name, fresh) => {
  describe(`${name}: a round`, () => {
    test('signs what was added, each size once and each consistent with those before', async () => {
      const database = fresh();
      const log = logOn(database);
      expect(await log.round()).toEqual({ kind: 'idle' });
      await begin(log, 3);
      const notes = [opened((await headOf(log)).published, `${HOST}/log/1`)];
      expect(await log.round()).toEqual({ kind: 'idle' });
      for (const [from, count] of [
        [3, 1],
        [4, 300],
        [304, 720],
      ] as const) {
        await log.append(from, count);
        expect(await log.round()).toEqual({ kind: 'signed', size: from + count });
        notes.push(opened((await headOf(log)).published, `${HOST}/log/1`));
      }
      for (const older of notes) {
        for (const newer of notes.filter(({ size }) => size >= older.size)) {
          const proof =
            older.size === newer.size
              ? []
              : await valueIn<Uint8Array[]>(log.parts.store.consistency(older.size, newer.size));
          expect(isConsistent({ older, newer, proof })).toBe(true);
        }
      }
    });

    test('waits ten seconds after the one before', async () => {
      const database = fresh();
      const log = logOn(database);
      await begin(log, 1);
      await log.append(1, 1);
      expect(await signOnce(log.parts)).toEqual({ kind: 'idle' });
      expect(await log.round()).toEqual({ kind: 'signed', size: 2 });
    });

    test('of several machines at once publishes one checkpoint', async () => {
      const database = fresh();
      const machines = [logOn(database), logOn(database), logOn(database)];
      const [first] = machines;
      if (first === undefined) throw new Error('test: no machine');
      await begin(first, 5);
      await first.append(5, 5);
      await database.setClock(STILL_NOW + 1_000);
      const ends = await Promise.all(machines.map(({ parts }) => signOnce(parts)));
      expect(ends.filter(({ kind }) => kind === 'signed')).toHaveLength(1);
      expect(ends.filter(({ kind }) => kind === 'idle')).toHaveLength(2);
    });

    test('signs nothing without a host, a key or a readable folder', async () => {
      const database = fresh();
      await begin(logOn(database), 1);
      const silent = unread('signing_keys', why('not_configured', { what: 'A key' }));
      const folder = freshFolder();
      writeFileSync(folder, 'no folder');
      const unable = [
        logOn(database, freshFolder(), { host: null }),
        logOn(database, freshFolder(), { sign: async () => silent }),
        logOn(database, folder),
      ];
      await unable[0]?.append(1, 1);
      for (const log of unable) expect(await log.round()).toMatchObject({ kind: 'unread' });
      const rows = await database.query('select size from log_checkpoints');
      expect(rows).toHaveLength(1);
    });

    test('under another host signs nothing, says so, and proves what was signed', async () => {
      const database = fresh();
      await begin(logOn(database), 1);
      const renamed = logOn(database, freshFolder(), { host: 'other.example' });
      await renamed.append(1, 1);
      expect(await renamed.round()).toMatchObject({ why: { code: 'log_renamed' } });
      expect(await headOf(renamed)).toMatchObject({ frozen: { code: 'log_renamed' } });
      expect(await renamed.log.at(0)).toMatchObject({ value: { state: 'proved', size: 1 } });
      expect(await renamed.log.at(1)).toMatchObject({ why: { code: 'log_renamed' } });
      expect(await renamed.log.at(2)).toMatchObject({ value: { state: 'absent' } });
    });
  });

  describe(`${name}: a store that was put back`, () => {
    test.each([
      ['to fewer leaves', 0],
      ['and then grew to as many', 4],
      ['and then grew past what was signed', 40],
    ])('%s freezes the log, which goes on under another name', async (_, grown) => {
      const database = fresh();
      const log = logOn(database);
      await begin(log, 300);
      await log.append(300, 4);
      expect(await log.round()).toEqual({ kind: 'signed', size: 304 });
      const lost = (await headOf(log)).published;
      await putBack(database, 300);
      await log.append(9_000, grown);
      expect(await log.round()).toMatchObject({ kind: 'frozen', why: { code: 'log_behind' } });
      expect(await log.round()).toMatchObject({ kind: 'frozen', why: { code: 'log_behind' } });
      const frozen = await headOf(log);
      expect(frozen).toMatchObject({ published: lost, frozen: { code: 'log_behind' } });
      expect(frozen.newest?.size).toBe(300);
      // What was signed before is proved still; nobody says of anything that it never was there.
      expect(await log.log.at(7)).toMatchObject({ value: { state: 'proved', size: 300 } });
      expect(await log.log.at(302)).toMatchObject({ why: { code: 'log_behind' } });
      expect(await log.log.find(leafOf(303))).toMatchObject({ why: { code: 'log_behind' } });

      const restarted = await restartLog(log.parts, 'The store was put back.');
      if (restarted.kind !== 'restarted') throw new Error(restarted.kind);
      const { statement } = restarted;
      const end = parseLogEnd(parseNote(statement)?.text ?? '');
      expect(end).toMatchObject({ origin: `${HOST}/log/1`, size: 304, held: 300 });
      expect(end).toMatchObject({ next: `${HOST}/log/2`, why: 'The store was put back.' });
      expect(await log.round()).toEqual({ kind: 'signed', size: 301 + grown });
      const head = await headOf(log);
      expect(head).toMatchObject({ generation: 2, frozen: null });
      expect(opened(head.published, `${HOST}/log/2`).size).toBe(301 + grown);
      expect(head.former).toMatchObject([{ generation: 1, note: lost, held: 300, statement }]);
      // The old origin is served as far as its leaves are here.
      const tile = { of: 'hashes', level: 0, index: 1 } as const;
      expect(await log.log.tile(1, { ...tile, width: 44 })).toMatchObject({ checked: true });
      expect(await log.log.tile(1, { ...tile, width: 45 })).toMatchObject({ checked: false });
    });

    test('by fifty commits never signs a second root for a size', async () => {
      const database = fresh();
      const log = logOn(database);
      await begin(log, 20);
      const roots = new Map<number, string>();
      const note = (text: string | null, generation: number) => {
        const { size, root } = opened(text, `${HOST}/log/${generation}`);
        roots.set(size, Buffer.from(root).toString('hex'));
      };
      note((await headOf(log)).published, 1);
      for (let commit = 0; commit < 50; commit += 1) {
        await log.append(20 + commit, 1);
        if (commit % 5 === 4) expect(await log.round()).toMatchObject({ kind: 'signed' });
        note((await headOf(log)).published, 1);
      }
      expect(roots.size).toBe(11);
      const before = new Map(roots);
      await putBack(database, 20);
      for (let commit = 0; commit < 60; commit += 1) {
        await log.append(9_000 + commit, 1);
        if (commit % 5 === 4) expect(await log.round()).toMatchObject({ kind: 'frozen' });
        note((await headOf(log)).published, 1);
      }
      expect(roots).toEqual(before);
      expect(await restartLog(log.parts, 'Fifty commits were lost.')).toMatchObject({
        ended: { size: 70, held: 20, next: `${HOST}/log/2` },
      });
      expect(await log.round()).toEqual({ kind: 'signed', size: 81 });
      expect(opened((await headOf(log)).published, `${HOST}/log/2`).size).toBe(81);
    });

    test('and whose leaves are others signs nothing after them, and says so before a round', async () => {
      const database = fresh();
      const log = logOn(database);
      await begin(log, 5);
      const cause = `log_behind: the log ${HOST}/log/1 is frozen: the 5 leaves that it signed were`;
      const frozen = { why: { code: 'log_behind', reason: expect.stringContaining(cause) } };
      // A row under its newest checkpoint is another one.
      await database.query(
        `update log_leaves set hash = decode(repeat('ab', 32), 'hex') where leaf_index = 2`,
      );
      await log.append(5, 1);
      expect(await log.round()).toMatchObject({ kind: 'frozen', ...frozen });

      // So many leaves as it signed are there again, and the last is another.
      const other = fresh();
      const lost = logOn(other);
      await begin(lost, 4);
      await lost.append(4, 1);
      expect(await lost.round()).toEqual({ kind: 'signed', size: 5 });
      await putBack(other, 4);
      await lost.append(9_000, 1);
      expect(await headOf(lost)).toMatchObject({ frozen: frozen.why });
    });

    test('is found out by a machine that only saw what another signed', async () => {
      const database = fresh();
      const [signs, sees] = [logOn(database), logOn(database)];
      await begin(signs, 10);
      expect(await sees.round()).toEqual({ kind: 'idle' });
      await putBack(database, 4);
      expect(await sees.round()).toMatchObject({ kind: 'frozen' });
    });

    test('is proved as it is now, whatever was read of it before', async () => {
      const database = fresh();
      const { append, parts } = logOn(database);
      const { store } = parts;
      const proofOf = async (index: number, size: number) => ({
        index,
        size,
        root: await valueIn<Uint8Array>(store.rootAt(size)),
        proof: await valueIn<Uint8Array[]>(store.inclusion(index, size)),
      });
      await append(0, 600);
      expect(await valueIn<number>(store.hashTiles())).toBe(600);
      const leafHash = hashLeaf(leafContent(1, leafOf(7).hash));
      const before = [await proofOf(7, 600), await proofOf(7, 600)];
      for (const one of before) expect(isIncluded({ ...one, leafHash })).toBe(true);
      await putBack(database, 100);
      await append(9_000, 500);
      expect(await valueIn<number>(store.hashTiles())).toBe(600);
      const after = await proofOf(7, 600);
      expect(after.root).not.toEqual(before[0]?.root);
      expect(isIncluded({ ...after, leafHash })).toBe(true);
    });

    test('to a time before its origin ended does not go on as that origin', async () => {
      const database = fresh();
      const log = logOn(database);
      await begin(log, 4);
      expect(await restartLog(log.parts, 'A test.')).toMatchObject({ kind: 'restarted' });
      await database.transaction((session) =>
        session.script('delete from log_ends; delete from log_origins where generation = 2'),
      );
      await log.append(4, 1);
      expect(await log.round()).toMatchObject({ kind: 'frozen', why: { code: 'log_behind' } });
      expect(await restartLog(log.parts, 'Again.')).toMatchObject({
        ended: { why: 'A test.', next: `${HOST}/log/2` },
      });
      expect(await log.round()).toMatchObject({ kind: 'signed' });
    });
  });
});

test('of two roots of one size a machine keeps the first', async () => {
  const folder = freshFolder();
  const seen = seenHeads(folder, { simulated: false, nowMs: Date.now });
  const [one, other] = [new Uint8Array(32), new Uint8Array(32).fill(1)];
  const note = (root: Uint8Array) =>
    `a\n1\n${Buffer.from(root).toString('base64')}\n\n— a ${'A'.repeat(8)}\n`;
  expect(await seen.newest('a')).toMatchObject({ value: null });
  expect(await seen.keep('a', 1, one, note(one))).toMatchObject({ value: true });
  expect(await seen.keep('a', 1, one, note(one))).toMatchObject({ value: true });
  expect(await seen.keep('a', 1, other, note(other))).toMatchObject({ value: false });
  expect(await seen.newest('a')).toMatchObject({ value: note(one) });
  expect(readdirSync(folder)).toHaveLength(1);
});
