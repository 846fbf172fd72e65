// A process that produces signals and one that serves them, over one PostgreSQL: what the feed says
// of the producer is what the store holds, whoever is asked, and calls outside have a bound.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from './stores/control/engine/database.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { evm } from './testing/addresses.ts';
import { clockAt } from './testing/control-store.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { cuttable, NO_POSTGRES, type TestPostgres, testPostgres } from './testing/postgres.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 120_000, interval: 200 };
const LISTED = Array.from({ length: 6 }, (_, n) => evm(`listed ${n}`));
const CALLS = 20;
const HEAD = 30_000;
const MINUTE_S = 60;
const REAL_CLOCK =
  `create or replace function control_now() returns timestamptz language sql stable ` +
  `as 'select now()'`;

const signalShape = z.looseObject({
  signal_id: z.string(),
  verdict: z.string(),
  target: z.object({ address: z.string() }),
});
const feedShape = z.looseObject({
  signals: z.array(signalShape),
  data_mode: z.string(),
  generated_at: z.string().nullable(),
  next_cursor: z.string().nullable(),
  producer: z.object({ state: z.string(), last_round_at: z.string().nullable() }),
});
const oneShape = z.looseObject({
  outcome: z.string().optional(),
  signal: signalShape,
  status: z.object({ state: z.string(), reason: z.string().nullable(), by: z.string().nullable() }),
  evidence_summary: z.looseObject({
    gaps: z.array(z.object({ source: z.string(), status: z.string(), reason: z.string() })),
  }),
});
type Feed = z.output<typeof feedShape>;

const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12;

describe.skipIf(NO_POSTGRES !== null)(`two processes ${NO_POSTGRES ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-signals-'));
  let postgres: TestPostgres;
  let control: Database;
  let explorer: StartedExplorer;
  let working: LiveProgram;
  let serving: Program;
  let wire: Awaited<ReturnType<typeof cuttable>>;
  let base = '';

  const ask = (path: string, held?: string) =>
    fetchPatiently(base + path, held === undefined ? {} : { headers: { 'if-none-match': held } });

  async function readFeed(query = ''): Promise<Feed & { readonly etag: string }> {
    const answer = await ask(`/api/signals${query}`);
    expect(answer.status).toBe(200);
    const etag = String(answer.headers.get('etag'));
    return Object.assign(feedShape.parse(await answer.json()), { etag });
  }

  /** Asks until the feed says so; an answer is shared for a second. */
  const untilFeed = (expected: object) =>
    vi.waitFor(async () => {
      const feed = await readFeed();
      expect(feed).toMatchObject(expected);
      return feed;
    }, PATIENT);

  const run = (...words: string[]) => startProgram(words, working).ended;

  async function emit(address: string) {
    const about = ['--chain', 'ethereum', '--address', address];
    const { status, out, err } = await run('signals', 'emit', ...about, '--json');
    expect(status, err).toBe(0);
    return oneShape.parse(JSON.parse(out));
  }

  /** Calls about an address: what the process asks of a chain is nobody's. */
  const callsOutside = () => explorer.calls.filter(({ address }) => address !== null).length;

  beforeAll(async () => {
    postgres = await testPostgres();
    const database = await postgres.freshDatabase();
    control = openPostgres(database);
    wire = await cuttable(database);
    explorer = await startExplorer({
      headOf: () => HEAD,
      timeOf: (_, block) => timeOf(block),
      rowsOf: () => [],
      rowsOfToken: () => [],
    });
    const shared = { EXHIBIT_SECRET: 'a-secret-that-both-processes-know' };
    working = await startLive({
      words: ['work'],
      listed: LISTED,
      explorer,
      settings: {
        ...shared,
        EXHIBIT_DATABASE_URL: database,
        EXHIBIT_SURFACES: 'signals,web',
        EXHIBIT_RING_CALLS: '0',
        EXHIBIT_SIGNAL_CALLS: String(CALLS),
      },
    });
    serving = startProgram(['serve'], {
      cwd: home,
      env: {
        ...working.env,
        EXHIBIT_DATABASE_URL: wire.url,
        EXHIBIT_DATA_DIR: join(home, 'data'),
      },
    });
    await untilSaid(serving, 'Serving http');
    base = String(/Serving (http:\/\/\S+)/.exec(serving.out() + serving.err())?.[1]);
  });
  afterAll(async () => {
    serving.child.kill('SIGKILL');
    await serving.ended;
    await working.close();
    await control.close();
    await explorer.close();
    wire.cut();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('a process that produces nothing tells how the producer of another one is', async () => {
    const feed = await vi.waitFor(async () => {
      const told = await readFeed();
      expect(told.signals).toHaveLength(LISTED.length);
      expect(told.data_mode).toBe('measured');
      return told;
    }, PATIENT);
    expect(feed.producer).toEqual({ state: 'running', last_round_at: feed.generated_at });
    expect(new Set(feed.signals.map(({ verdict }) => verdict))).toEqual(new Set(['avoid']));
    expect(serving.out() + serving.err()).not.toContain('signals: a round ended');
  });

  test('the first round makes the calls of a day and no more, and denies nothing for it', async () => {
    const counts = () =>
      [...working.err().matchAll(/"unreached":(\d+)/g)].map(([, count]) => Number(count));
    await vi.waitFor(() => expect(Math.max(...counts())).toBeGreaterThan(0), PATIENT);
    expect(callsOutside()).toBeGreaterThan(0);
    expect(callsOutside()).toBeLessThanOrEqual(CALLS);
    const feed = await readFeed();
    let cut = 0;
    for (const { signal_id } of feed.signals) {
      const answer = await ask(`/api/signals/${signal_id}`);
      const { evidence_summary } = oneShape.parse(await answer.json());
      const gaps = evidence_summary.gaps.filter(({ reason }) => reason.includes('calls outside'));
      if (gaps.length === 0) continue;
      cut += 1;
      expect(new Set(gaps.map(({ status }) => status))).toEqual(new Set(['unavailable']));
      expect(gaps[0]?.reason).toBe(
        `Signals may make ${CALLS} calls outside a day (UTC); they are spent, and this was not ` +
          'asked.',
      );
      const bundle = await (await ask(`/api/signals/${signal_id}/evidence`)).text();
      for (const { source } of gaps) expect(bundle).not.toContain(`"${source}.`);
    }
    expect(cut).toBe(Math.max(...counts()));
  });

  test('a restart gives no second day, and the feed is the same until a round ends', async () => {
    const calls = callsOutside();
    const before = await readFeed();
    expect((await ask('/api/signals', before.etag)).status).toBe(304);
    await control.query(`update signal_rounds set last_round_at = now() - interval '11 minutes'`);
    await control.query('update signal_targets set due_at = now()');
    await working.restart({});
    const after = await vi.waitFor(async () => {
      const answer = await ask('/api/signals', before.etag);
      expect(answer.status).toBe(200);
      const told = feedShape.parse(await answer.json());
      expect(Date.parse(String(told.generated_at))).toBeGreaterThan(
        Date.parse(String(before.generated_at)),
      );
      return Object.assign(told, { etag: String(answer.headers.get('etag')) });
    }, PATIENT);
    expect(callsOutside()).toBe(calls);
    expect(after.signals).toEqual(before.signals);
    await vi.waitFor(async () => {
      expect((await ask('/api/signals', after.etag)).status).toBe(304);
    }, PATIENT);
  });

  test('a reader that pages while signals come sees each current one once', async () => {
    const current = (await readFeed()).signals.map(({ signal_id }) => signal_id);
    const seen: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 10; pages += 1) {
      const { signals, next_cursor } = await readFeed(query);
      seen.push(...signals.map(({ signal_id }) => signal_id));
      const { outcome, signal } = await emit(evm(`emitted ${pages}`));
      expect([outcome, signal.target.address]).toEqual(['published', evm(`emitted ${pages}`)]);
      if (next_cursor === null) break;
      query = `?limit=2&cursor=${next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(current.toSorted());
  });

  test('a signal is emitted, shown and withdrawn by programs, and stays readable', async () => {
    const made = await emit(evm('shown'));
    const id = made.signal.signal_id;
    expect((await emit(evm('shown'))).outcome).toBe('unchanged');
    const shown = await run('signals', 'show', id, '--json');
    expect([shown.status, oneShape.parse(JSON.parse(shown.out)).status.state]).toEqual([
      0,
      'current',
    ]);
    const plain = await run('signals', 'show', id);
    expect(plain.out).toContain(`${evm('shown')} on ethereum`);
    expect(plain.out).toMatch(/not read\s+freezes: /);
    const why = ['--why', 'A fault of the reader.'];
    const withdrawn = await run('signals', 'withdraw', id, ...why, '--json');
    expect(withdrawn.status, withdrawn.err).toBe(0);
    expect(oneShape.parse(JSON.parse(withdrawn.out)).status).toEqual({
      state: 'withdrawn',
      reason: 'A fault of the reader.',
      by: 'operator',
    });
    await vi.waitFor(async () => {
      const answer = oneShape.parse(await (await ask(`/api/signals/${id}`)).json());
      expect(answer.status.state).toBe('withdrawn');
      const { signals } = await readFeed();
      expect(signals.map(({ signal_id }) => signal_id)).not.toContain(id);
    }, PATIENT);
    expect((await run('signals', 'withdraw', id, ...why)).status).toBe(1);
    expect((await run('signals', 'show', `sig_${'0'.repeat(32)}`)).status).toBe(1);
    expect((await run('signals', 'withdraw', id)).status).toBe(2);
    const other = ['--chain', 'tron', '--address', evm('shown')];
    expect((await run('signals', 'emit', ...other)).status).toBe(2);
  });

  test('a producer that stopped is stalled and then quiet, while its last round stands', async () => {
    await working.restart({ EXHIBIT_SURFACES: 'web' });
    const { generated_at, signals } = await readFeed();
    const ended = Date.parse(String(generated_at)) / 1_000;
    const at = async (seconds: number) => {
      await control.query(clockAt(Math.floor(ended + seconds)));
    };
    // What was emitted since makes the data current, and says nothing of the producer.
    await control.query('update signal_rounds set last_emit_at = null');
    await at(31 * MINUTE_S);
    const stalled = { state: 'stalled', last_round_at: generated_at };
    const late = await untilFeed({ data_mode: 'measured', generated_at, producer: stalled });
    await at(61 * MINUTE_S);
    const quiet = await untilFeed({ data_mode: 'empty', generated_at, producer: stalled });
    expect(quiet.etag).not.toBe(late.etag);
    expect(quiet.signals).toEqual(signals);
    const nobody = await readFeed(`?target=${evm('nobody')}`);
    expect([nobody.signals, nobody.data_mode]).toEqual([[], 'empty']);
    await control.query(REAL_CLOCK);
    await untilFeed({ data_mode: 'measured', producer: { state: 'running' } });
    const filtered = await readFeed(`?target=${evm('nobody of them')}`);
    expect([filtered.signals, filtered.data_mode]).toEqual([[], 'measured']);
  });

  test('a store that cannot be read is no empty feed', async () => {
    const { signals } = await readFeed();
    const id = String(signals[0]?.signal_id);
    wire.cut();
    const paths = ['/api/signals', `/api/signals/${id}`, `/api/signals/${id}/evidence`];
    for (const path of [...paths, `/api/signals/verify/${id}`]) {
      await vi.waitFor(async () => {
        const answer = await ask(path);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          { error: 'feed_unreadable', detail: expect.stringContaining('could not be read') },
        ]);
      }, PATIENT);
    }
    await wire.restore();
    await vi.waitFor(async () => expect((await readFeed()).signals).toEqual(signals), PATIENT);
  });
});
