// The commands of the log as programs, beside a running service: a stranger follows it and has a
// leaf proved, a log with two views is caught, and a store that was put back freezes the log until
// the operator ends it by name.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { LogSite } from './features/log/follow.ts';
import { evm } from './testing/addresses.ts';
import { type LiveLog, startLiveLog } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { MAIN, onlySettings, startProgram } from './testing/program.ts';
import { checkpointOver, servedLeaves, servedLog, startServedLog } from './testing/served-log.ts';

const MAX_MS = 600_000;
vi.setConfig({ testTimeout: MAX_MS, hookTimeout: MAX_MS });
const WAIT = { timeout: 180_000, interval: 500 };
const ROOT = join(import.meta.dirname, '..');
const ORIGIN = 'log.example/log/1';

let live: LiveLog;

beforeAll(async () => {
  live = await startLiveLog({
    EXHIBIT_SURFACES: 'intelligence,signals,web',
    EXHIBIT_ALLOW_ANONYMOUS: 'true',
  });
});
afterAll(() => live.close());

const run = (...words: string[]) => startProgram(words, live).ended;
const jsonIn = (text: string): unknown => JSON.parse(text);
const get = (path: string) => live.get(path);

/** Has a signal published, and waits until the log has signed it. */
async function publish(address: string) {
  const signal = await live.emit(address);
  await vi.waitFor(async () => {
    const proof = await fetchPatiently(`${live.base()}/api/log/proof/signal:${signal.call_hash}`);
    expect(proof.status).toBe(200);
  }, WAIT);
  return signal;
}

const UNPINNED = expect.stringMatching(/^No --key: [^\n]+\n$/);
const logState = z.looseObject({
  leaves: z.int(),
  signs: z.boolean(),
  keys: z.array(z.string()),
});
const stateOf = async () => logState.parse(await get('/api/log'));

test('a stranger follows a log that grows, and has a leaf proved that Python checks', async () => {
  const follow = ['log', 'follow', '--base-url', live.base(), '--json'];
  const first = await publish(evm('one'));
  expect(jsonIn((await run(...follow)).out)).toMatchObject({ kind: 'first' });
  await publish(evm('another'));
  const grown = await run(...follow);
  expect([grown.status, jsonIn(grown.out)]).toMatchObject([0, { kind: 'grown' }]);
  const { leaves } = await stateOf();
  expect(jsonIn((await run(...follow)).out)).toEqual({ kind: 'same', size: leaves });

  const prove = (leaf: string) => run('log', 'prove', leaf, '--base-url', live.base());
  const proved = await prove(`signal:${first.call_hash}`);
  expect(proved).toMatchObject({ status: 0, err: UNPINNED });
  expect(proved.out).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex \d+\n/);
  const byIndex = String(/^index (\d+)$/m.exec(proved.out)?.[1]);
  // By a key of one's own nothing is taken at its word, and nothing is said.
  const own = (await stateOf()).keys.flatMap((key) => ['--key', key]);
  const pinned = await run('log', 'prove', byIndex, '--base-url', live.base(), ...own);
  expect(pinned).toEqual({ ...proved, err: '' });
  expect((await prove(byIndex)).out).toBe(proved.out);
  const none = await prove(`signal:0x${'00'.repeat(32)}`);
  expect(none).toMatchObject({ status: 1, out: '' });
  expect(none.err).toContain('The log does not hold this leaf.');

  // What the command printed stands in the place of the proof that was saved with the signal.
  const file = join(live.cwd, 'signal.json');
  const save = ['signals', 'save', first.signal_id, file, '--base-url', live.base()];
  expect(await run(...save)).toMatchObject({ status: 0, err: '' });
  const saved = z.looseObject({ proof: z.string() }).parse(jsonIn(readFileSync(file, 'utf8')));
  const keys = join(live.cwd, 'keys.json');
  writeFileSync(keys, JSON.stringify(await get('/.well-known/exhibit-keys.json')));
  const checkedBy = (proof: string) => {
    writeFileSync(file, JSON.stringify({ ...saved, proof }));
    const words = ['-B', 'examples/verify.py', file, '--keys', keys];
    return spawnSync('python3', words, { cwd: ROOT, encoding: 'utf8' }).stdout;
  };
  const held = checkedBy(proved.out);
  for (const check of ['bundle', 'citations', 'call_hash', 'log', 'checkpoint']) {
    expect(held).toContain(`holds ${check}\n`);
  }
  const other = await prove(String(Number(byIndex) === 0 ? 1 : 0));
  expect(checkedBy(other.out)).toContain('fails log\n');
});

test('a stranger who follows the guide of witnesses to the letter is one', async () => {
  await publish(evm('witnessed'));
  const guide = readFileSync(join(ROOT, 'docs/guides/witnessing.md'), 'utf8');
  const blocks = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => String(block));
  expect(blocks).toHaveLength(4);
  const typed = blocks.join('\n').replaceAll('http://127.0.0.1:8080', live.base());
  const script = `set -e\nexhibit() { "${process.execPath}" "${MAIN}" "$@"; }\n${typed}`;
  const env = { ...onlySettings(), EXHIBIT_DATA_DIR: join(live.cwd, 'witness/none') };
  const told = spawnSync('bash', ['-c', script], { cwd: live.cwd, env, encoding: 'utf8' });
  const { leaves, keys } = await stateOf();
  const signed = `${leaves} leaves are signed`;
  expect({ ...told, stdout: told.stdout.split('\n').slice(0, 4) }).toMatchObject({
    status: 0,
    stderr: '',
    stdout: [
      keys[0],
      `${signed}, first as seen.`,
      `{"kind":"same","size":${leaves}}`,
      `${signed}, same as seen.`,
    ],
  });
  expect(told.stdout).toMatch(/"index": ?0.*c2sp\.org\/tlog-proof@v1\nindex 0\n/s);
  expect(told.stdout).toMatch(/\nlog\.example\/log\/1\n\d+\n[\w+/=]+\n\n— log\.example\/log\/1 /);
});

describe('a log of somebody else', () => {
  let shown: LogSite | null = null;
  let served: Awaited<ReturnType<typeof startServedLog>>;
  beforeAll(async () => {
    served = await startServedLog(() => shown);
  });
  afterAll(() => served.close());

  test('that shows two views is caught by whoever saw the first', async () => {
    const leaves = servedLeaves(300);
    const forked = [...leaves.slice(0, 200), ...servedLeaves(150, 'other')];
    const state = join(live.cwd, 'seen.json');
    const follow = () => run('log', 'follow', '--base-url', served.base, '--state', 'seen.json');
    shown = servedLog(leaves);
    expect(await follow()).toMatchObject({ status: 0, err: UNPINNED });
    const seen = readFileSync(state, 'utf8');
    shown = null;
    const silent = await follow();
    expect(silent).toMatchObject({ status: 3, out: '' });
    expect(silent.err).toContain('Not checked: ');
    shown = servedLog(forked);
    const caught = await follow();
    expect(caught.status).toBe(1);
    expect(caught.err).toContain('Two views of one log: ');
    const both = [checkpointOver(leaves), checkpointOver(forked)];
    for (const view of both) expect(caught.out).toContain(String(view.split('\n')[2]));
    expect(readFileSync(`${state}.fork`, 'utf8')).toBe(both.join('\n'));
    // What was seen first stays what is followed.
    expect(readFileSync(state, 'utf8')).toBe(seen);
    shown = servedLog(leaves);
    expect((await follow()).status).toBe(0);
  });

  test('whose state file is damaged is not checked', async () => {
    writeFileSync(join(live.cwd, 'damaged.json'), '{"origin":');
    shown = servedLog(servedLeaves(3));
    const { status, err } = await run(
      ...['log', 'follow', '--base-url', served.base, '--state', 'damaged.json'],
    );
    expect([status, err]).toEqual([3, expect.stringContaining('Not checked')]);
  });
});

describe('a store that was put back', () => {
  const control = () => join(live.cwd, 'data/control');
  const kept = () => join(live.cwd, 'kept');
  const sourceOf = z.looseObject({
    data_freshness: z.looseObject({
      transparency_log: z.looseObject({ state: z.string(), reason: z.string() }),
    }),
  });
  const health = async () => {
    return sourceOf.parse(await get('/health')).data_freshness.transparency_log;
  };

  test('freezes the log, which every door tells, and which goes on by the word of its operator', async () => {
    const before = await stateOf();
    const reason = `${before.leaves} of ${before.leaves} leaves are signed`;
    await vi.waitFor(async () => {
      expect(await health()).toMatchObject({ state: 'per_answer', reason });
    }, WAIT);
    await live.restart({}, async () => cpSync(control(), kept(), { recursive: true }));
    const lost = await publish(evm('lost'));
    const signed = (await stateOf()).leaves;
    await live.restart({}, async () => {
      rmSync(control(), { recursive: true });
      cpSync(kept(), control(), { recursive: true });
    });
    const cause = `it signed ${signed} leaves, of which ${before.leaves} are stored`;
    const frozen = `log_behind: the log ${ORIGIN} is frozen: ${cause}.`;
    await vi.waitFor(async () => {
      expect(await health()).toMatchObject({
        state: 'frozen',
        reason: `${frozen} It has signed ${signed} leaves.`,
      });
    }, WAIT);
    expect(await stateOf()).toMatchObject({ signs: false, reason: frozen });
    const doctor = await run('doctor');
    expect(doctor.out + doctor.err).toContain('It has signed');
    const page = await (await fetchPatiently(`${live.base()}/status`)).text();
    expect(page).toContain('Frozen: 1 source');
    expect(page).not.toContain('never loaded</span></td><td class="blank">–</td><td>Where each');
    const proof = await fetchPatiently(`${live.base()}/api/log/proof/signal:${lost.call_hash}`);
    expect([proof.status, await proof.json()]).toEqual([
      503,
      { error: 'unavailable', reason: frozen },
    ]);

    const restart = ['log', 'restart', '--why', 'The store was put back.'];
    const asked = await run(...restart);
    expect(asked.status).toBe(0);
    expect(asked.out).toContain('Nothing was changed. With --yes this log ends for good:');
    for (const words of [ORIGIN, cause, 'log.example/log/2']) expect(asked.out).toContain(words);
    const plan = jsonIn((await run(...restart, '--json')).out);
    expect(plan).toEqual({
      done: false,
      origin: ORIGIN,
      size: signed,
      held: before.leaves,
      next: 'log.example/log/2',
      frozen,
    });
    expect(await stateOf()).toMatchObject({ signs: false, origin: ORIGIN });
    const done = await run(...restart, '--yes');
    expect([done.status, done.out]).toEqual([0, expect.stringContaining(`${ORIGIN} ended`)]);
    await vi.waitFor(
      async () => expect(await health()).toMatchObject({ state: 'per_answer' }),
      WAIT,
    );
    await vi.waitFor(async () => {
      expect(await get('/api/log')).toMatchObject({
        signs: true,
        origin: 'log.example/log/2',
        checkpoint: { size: expect.any(Number) },
        former: [{ origin: ORIGIN, held: before.leaves, why: 'The store was put back.' }],
      });
    }, WAIT);
    // Whoever followed the old one is told of its end, and goes along.
    const follow = ['log', 'follow', '--base-url', live.base(), '--json'];
    const ended = await run(...follow);
    expect(ended.status).toBe(0);
    expect(jsonIn(ended.out)).toMatchObject({
      kind: 'ended',
      origin: ORIGIN,
      size: signed,
      held: before.leaves,
      next: 'log.example/log/2',
    });
    expect(jsonIn((await run(...follow)).out)).toMatchObject({ kind: 'same' });
    expect(existsSync(join(live.cwd, 'exhibit-log.json.fork'))).toBe(false);
  });

  test('a log under another host signs nothing, and says so', async () => {
    await live.restart({ EXHIBIT_LOG_ORIGIN: 'other.example' });
    const reason =
      'The log log.example/log/2 is frozen: EXHIBIT_LOG_ORIGIN names it other.example/log/2.';
    await vi.waitFor(async () => {
      expect(await health()).toMatchObject({
        state: 'frozen',
        reason: expect.stringContaining(reason),
      });
    }, WAIT);
    expect(await stateOf()).toMatchObject({ signs: false, reason });
  });
});
