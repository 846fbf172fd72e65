// A PostgreSQL store is put back to a dump of before, under a service whose machine has seen more:
// the log and the anchoring freeze, a key that was revoked since is named, and what is counted
// says since when. An operator takes it as it is, and that is recorded.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { evm as addressOf } from './testing/addresses.ts';
import {
  type AnchoringChain,
  NO_ANCHORING_CHAIN,
  startAnchoringChain,
} from './testing/anchoring-chain.ts';
import { type LiveLog, startLiveLog } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { binaries, NO_POSTGRES, testPostgres } from './testing/postgres.ts';
import { runPrinting, startProgram } from './testing/program.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });
const WAIT = { timeout: 120_000, interval: 500 };
const BASE_ID = 8453;
const KEY = `0x${'06'.repeat(32)}`;

const PROGRAMS = binaries();
const NO_PROGRAMS = PROGRAMS === null ? 'skipped: no pg_dump (install postgresql-15)' : null;
const NO_PLACE = NO_POSTGRES ?? NO_ANCHORING_CHAIN ?? NO_PROGRAMS;

/** Runs `pg_dump` or `pg_restore`. */
function runTool(name: string, ...words: readonly string[]): void {
  execFileSync(join(String(PROGRAMS), name), words);
}

const jsonOf = (text: string): unknown => JSON.parse(text);
const added = z.object({ membership_id: z.string() });
const minted = z.object({ key: z.string(), prefix: z.string() });
const findings = z.object({ name: z.string(), state: z.string(), says: z.string() });
const signedLog = z.looseObject({ checkpoint: z.looseObject({ size: z.number() }) });
const usage = z.looseObject({
  counted_since: z.iso.datetime(),
  today: z.looseObject({ used: z.number() }).optional(),
});

describe.skipIf(NO_PLACE !== null)(`a store of yesterday ${NO_PLACE ?? ''}`, () => {
  let chain: AnchoringChain;
  let live: LiveLog;
  let database: string;
  let sender: string;

  beforeAll(async () => {
    chain = await startAnchoringChain(BASE_ID);
    sender = await chain.fund(KEY);
    const contract = await chain.deploy(sender);
    await chain.finalise();
    database = await (await testPostgres()).freshDatabase();
    live = await startLiveLog({
      EXHIBIT_DATABASE_URL: database,
      EXHIBIT_SECRET: 'a-secret-that-the-store-was-made-with',
      EXHIBIT_SURFACES: 'hosted,signals,web',
      EXHIBIT_RPC_BASE: chain.url.href,
      EXHIBIT_ANCHOR_KEY: KEY,
      EXHIBIT_ANCHOR_CONTRACT: contract,
      EXHIBIT_ANCHOR_EVERY: '1m',
    });
  });
  afterAll(async () => {
    await live?.close();
    await chain?.stop();
  });

  const ask = async (path: string, key: string) => {
    const answer = await fetchPatiently(live.base() + path, {
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  const screen = (key: string) => ask(`/api/v1/wallet/${addressOf('nobody')}/ofac`, key);
  const doctor = async () => {
    const { out } = await startProgram(['doctor', '--json'], live).ended;
    const all = out.trim().split('\n');
    const parsed = all.map((line) => findings.parse(JSON.parse(line)));
    return new Map(parsed.map((one) => [one.name, one]));
  };
  const marksIn = async () => {
    const control = openPostgres(database);
    const marks = await control.query('select 1 as one from store_marks');
    await control.close();
    return marks.length;
  };
  /** The file of this machine names what ended. */
  const readSeen = (name: string) =>
    vi.waitFor(() => {
      const file = join(live.cwd, 'data', 'seen-store.json');
      expect(readFileSync(file, 'utf8')).toContain(name);
    }, WAIT);
  const signedSize = async (atLeast: number) =>
    vi.waitFor(async () => {
      const { checkpoint } = signedLog.parse(await live.get('/api/log'));
      expect(checkpoint.size).toBeGreaterThanOrEqual(atLeast);
      return checkpoint.size;
    }, WAIT);

  test('is told from the one that this machine saw, and nothing goes on by itself', async () => {
    const { membership_id } = await runPrinting(added, ['members', 'add', '--plan', 'desk'], live);
    const create = ['keys', 'create', '--membership', membership_id];
    const kept = await runPrinting(minted, create, live);
    const revoked = await runPrinting(minted, create, live);
    for (let n = 0; n < 3; n += 1) expect((await screen(kept.key)).status).toBe(200);
    const before = usage.parse((await ask('/api/v1/usage', kept.key)).body);
    await vi.waitFor(async () => expect(await marksIn()).toBeGreaterThan(0), WAIT);
    const first = await signedSize(1);
    const file = join(live.cwd, 'yesterday.dump');
    runTool('pg_dump', '-Fc', '-f', file, '-d', database);

    // What came after the dump: leaves, an anchor, requests, and the end of a key.
    await live.emit(addressOf('asked'));
    await signedSize(first + 1);
    await vi.waitFor(async () => {
      await chain.mine();
      await chain.finalise();
      expect(await chain.countOf(sender)).toBeGreaterThan(0);
    }, WAIT);
    for (let n = 0; n < 5; n += 1) expect((await screen(kept.key)).status).toBe(200);
    const ended = startProgram(['keys', 'revoke', revoked.prefix], live);
    expect((await ended.ended).status).toBe(0);
    await vi.waitFor(async () => expect((await screen(revoked.key)).status).toBe(402), WAIT);
    expect((await doctor()).get('restored store')?.state).toBe('ok');
    // The machine keeps what ended, and leaves a further mark, which the dump does not hold.
    const marked = await marksIn();
    await vi.waitFor(async () => expect(await marksIn()).toBeGreaterThan(marked), WAIT);
    await readSeen(revoked.prefix);

    const sent = await chain.countOf(sender);
    await live.restart({}, async () => {
      runTool('pg_restore', '--clean', '--if-exists', '-d', database, file);
    });
    await vi.waitFor(async () => {
      expect(await live.get('/api/log')).toMatchObject({
        signs: false,
        reason: expect.stringContaining('log_behind'),
      });
    }, WAIT);
    await vi.waitFor(async () => {
      expect(await live.get('/health')).toMatchObject({
        anchoring: { state: 'waiting', waits_for: [{ code: 'log_behind' }] },
      });
    }, WAIT);
    // The key opens again, and doctor names it.
    expect((await screen(revoked.key)).status).toBe(200);
    const told = (await doctor()).get('restored store');
    expect(told?.state).toBe('failed');
    expect(told?.says).toContain(`key ${revoked.prefix} (ended `);
    expect(told?.says).not.toContain(kept.prefix);
    // Allowances go on from what is held, and say since when it is counted.
    const after = usage.parse((await ask('/api/v1/usage', kept.key)).body);
    expect(Date.parse(after.counted_since)).toBeGreaterThan(Date.parse(before.counted_since));

    const because = 'The disk of yesterday.';
    const look = await startProgram(['store', 'restored', '--json'], live).ended;
    expect([look.status, jsonOf(look.out)]).toEqual([
      1,
      {
        watched: true,
        restores: [expect.objectContaining({ accepted_at: null, accepted_why: null })],
        open_again: [expect.objectContaining({ what: 'key', name: revoked.prefix })],
      },
    ]);
    const accepting = ['store', 'restored', '--accept', because, '--json'];
    const accepted = await startProgram(accepting, live).ended;
    expect([accepted.status, jsonOf(accepted.out)]).toEqual([
      0,
      {
        watched: true,
        restores: [expect.objectContaining({ accepted_why: because })],
        open_again: [expect.objectContaining({ name: revoked.prefix })],
      },
    ]);
    const control = openPostgres(database);
    const recorded = await control.query('select accepted_why, left_open from store_restores');
    await control.close();
    expect(recorded).toEqual([
      { accepted_why: because, left_open: [expect.objectContaining({ name: revoked.prefix })] },
    ]);
    expect((await doctor()).get('restored store')?.state).toBe('warning');
    await startProgram(['keys', 'revoke', revoked.prefix], live).ended;
    expect((await doctor()).get('restored store')?.state).toBe('ok');
    // Accepting opens no log and sends nothing.
    expect(await live.get('/api/log')).toMatchObject({
      signs: false,
      reason: expect.stringContaining('log_behind'),
    });
    expect(await chain.countOf(sender)).toBe(sent);
  });
});
