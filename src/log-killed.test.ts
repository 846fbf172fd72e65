// Four processes append to one log and sign it, and are killed again and again in the middle: every
// number is given once and none is missing, what was said to be stored is there, and each
// checkpoint continues each one before it.

import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isConsistent } from './chain/merkle-tree.ts';
import { noteKey, openCheckpoint } from './chain/signed-note.ts';
import { Unread } from './evidence/reading.ts';
import { logTables } from './features/log/log.store.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { LIVE } from './testing/control-store.ts';
import { DIST } from './testing/flag-events.ts';
import { MIGRATIONS, NO_POSTGRES, testPostgres } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';

/** Leaves that are appended: the suite has a little time for it, a trial of its own has more. */
const LEAVES = trialsOf('EXHIBIT_TEST_LEAVES', 400, 10_000);
/** A process lives for 0.3 s and up to this more. A short life is spent on its start. */
const LIFE_MS_MAX = LEAVES < 1_000 ? 900 : 6_000;
const PROCESSES = 4;
const ORIGIN = 'log.example/log/1';
/** Checkpoints of which every pair is compared; beyond, each with the next one. */
const PAIRS_MAX = 60;

/** The clock of the store runs so fast that a checkpoint may follow another within a moment. */
const FAST_CLOCK = `create or replace function control_now() returns timestamptz language sql
  volatile as 'select to_timestamp(extract(epoch from clock_timestamp()) * 200)'`;

/**
 * The program of a process: it appends one to three leaves at a time, of which every fourth time is
 * undone, and signs. It prints the number of leaves that are stored by what it appended.
 */
const APPENDER = `
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
const [dist, url, folder, pem, seed] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openPostgres } = await load('stores/control/engine/postgres.js');
const { appendLeaf } = await load('stores/control/log-leaves.js');
const { seenHeads } = await load('stores/control/seen-heads.js');
const { logTables } = await load('features/log/log.store.js');
const { signOnce } = await load('features/log/checkpoints.js');
const { read } = await load('evidence/reading.js');
const database = openPostgres(url);
const context = { simulated: false, nowMs: Date.now };
const key = createPrivateKey(pem);
const x = createPublicKey(key).export({ format: 'jwk' }).x;
const source = { name: 'k', url: 'k:', as_of: 0, kind: 'table', simulated: false };
const parts = {
  store: logTables(database, context),
  seen: seenHeads(folder, context),
  host: 'log.example',
  sign: async (bytes) => read(
    { x, signature: Uint8Array.from(sign(null, bytes, key)) }, { port: 'signing_keys', source }),
  hashStatement: () => '0x',
  now: () => Math.floor(Date.now() / 1000),
};
for (let n = 1; ; n += 1) {
  const undone = n % 4 === 0;
  try {
    const last = await database.transaction(async (session) => {
      let index = 0;
      for (let of = 0; of < 1 + n % 3; of += 1) {
        const hash = '0x' + (BigInt(seed) * 1000000n + BigInt(n * 10 + of)).toString(16).padStart(64, '0');
        index = await appendLeaf(session, { kind: 'signal', hash, id: 'sig', at: 1 });
      }
      if (undone) throw new Error('undone');
      return index;
    });
    console.log(last + 1);
  } catch (error) {
    if (!undone) throw error;
  }
  if (n % 3 === 0) {
    const end = await signOnce(parts);
    if (end.kind === 'frozen') throw new Error(end.why.reason);
  }
}
`;

test.skipIf(NO_POSTGRES !== null)(
  `a log of four processes that are killed has each number once ${NO_POSTGRES ?? ''}`,
  async () => {
    const url = await (await testPostgres()).freshDatabase();
    const database = openPostgres(url);
    await migrate(database, MIGRATIONS, LIVE);
    await database.transaction((session) => session.script(FAST_CLOCK));
    const pair = generateKeyPairSync('ed25519');
    const pem = String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const home = await mkdtemp(join(tmpdir(), 'exhibit-log-killed-'));
    let lives = 0;
    /** One machine: its process is begun again whenever it was killed, until there is enough. */
    const machine = async (of: number): Promise<number> => {
      let stored = 0;
      while (stored < LEAVES) {
        lives += 1;
        const args = [DIST, url, join(home, String(of)), pem, String(lives)];
        stored = Math.max(
          stored,
          await appendedUntilKilled(args, 300 + ((lives * 137) % LIFE_MS_MAX)),
        );
      }
      return stored;
    };
    const all = await Promise.all(Array.from({ length: PROCESSES }, (_, of) => machine(of)));
    const stored = Math.max(...all);

    const rows = await rowsAs<{ leaf_index: bigint }>(
      database,
      'select leaf_index from log_leaves order by leaf_index',
    );
    expect(rows.map(({ leaf_index }) => Number(leaf_index))).toEqual(rows.map((_, n) => n));
    const [size] = await rowsAs<{ leaves: bigint }>(database, 'select leaves from log_size');
    expect(Number(size?.leaves)).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(stored);
    expect(lives).toBeGreaterThan(PROCESSES);

    const raw = Uint8Array.from(
      pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
    );
    const notes = await rowsAs<{ note: string }>(
      database,
      'select note from log_checkpoints order by size',
    );
    const checkpoints = notes.map(({ note }) => {
      const opened = openCheckpoint(note, ORIGIN, [noteKey(ORIGIN, raw)]);
      if (!opened.ok) throw new Error(opened.fault);
      return opened.checkpoint;
    });
    expect(checkpoints.length).toBeGreaterThan(2);
    const store = logTables(database, { simulated: false, nowMs: Date.now });
    for (const [at, newer] of checkpoints.entries()) {
      const from = checkpoints.length > PAIRS_MAX ? Math.max(0, at - 1) : 0;
      for (const older of checkpoints.slice(from, at)) {
        const proof = await store.consistency(older.size, newer.size);
        if (proof instanceof Unread) throw new Error(proof.why.reason);
        expect(isConsistent({ older, newer, proof: proof.value })).toBe(true);
      }
    }
    await database.close();
    await rm(home, { recursive: true });
  },
  120_000 + LEAVES * 150,
);

/** Has a process append, kills it after a while, and gives the last number that it said. */
async function appendedUntilKilled(args: readonly string[], afterMs: number): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', APPENDER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const isFirst = said === 0;
    said = Number(line);
    if (isFirst) void wait(afterMs).then(() => child.kill('SIGKILL'));
  }
  // It ends by the signal alone.
  if ((await gone) !== null) throw new Error('the process ended by itself');
  return said;
}
