// Processes that serve alone, on one control store: the next key is made without a process that
// works, and none of them signs with a key that somebody marked.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { parameterOf, parseSignatureInputs, signatureWishText } from './contract/http-signature.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { NO_POSTGRES, type TestPostgres, testPostgres } from './testing/postgres.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 60_000, interval: 100 };
/** How long a process may sign with keys that it read before a mark (`docs/guides`). */
const HELD_S = 5;
const PATH = '/api/v1/wallet/0x00000000219ab540356cbb839cbe05303d7705fa/ofac';
// The ten minutes of `pause` between two rounds of rotation are a tenth of a second here.
const SOON = `const own = setTimeout;
const isRound = (ms) => ms === 600000 && / at pause\\b/.test(new Error().stack);
globalThis.setTimeout = (call, ms, ...more) => own(call, isRound(ms) ? 100 : ms, ...more);`;

const keySet = z.object({ keys: z.array(z.object({ kid: z.string(), nbf: z.int() })) });

describe.skipIf(NO_POSTGRES !== null)(`processes that serve alone ${NO_POSTGRES ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-signing-'));
  const programs: Program[] = [];
  let postgres: TestPostgres;
  let database: string;
  let urls: readonly [one: string, other: string];

  const placeOf = (name: string) => ({
    cwd: home,
    env: {
      EXHIBIT_DATA_DIR: join(home, name),
      EXHIBIT_DATABASE_URL: database,
      EXHIBIT_SECRET: 'a-secret-that-all-processes-know',
      EXHIBIT_SURFACES: 'hosted',
      EXHIBIT_PORT: '0',
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(SOON)}`,
    },
  });

  async function serve(name: string): Promise<string> {
    const program = startProgram(['serve'], placeOf(name));
    programs.push(program);
    await untilSaid(program, 'Serving http');
    return String(/Serving (http:\/\/\S+)/.exec(program.out() + program.err())?.[1]);
  }

  /** The key under which a process signs now, and when it says that it did. */
  async function signedBy(url: string) {
    const headers = { 'accept-signature': signatureWishText('n-1') };
    const said = await fetchPatiently(url + PATH, { headers });
    await said.arrayBuffer();
    const [input] = parseSignatureInputs(String(said.headers.get('signature-input'))) ?? [];
    if (input === undefined) throw new Error(String(said.headers.get('signature-unavailable')));
    return { kid: parameterOf(input, 'keyid'), created: Number(parameterOf(input, 'created')) };
  }

  const keysAt = async (url: string) =>
    keySet.parse(await (await fetchPatiently(`${url}/.well-known/exhibit-keys.json`)).json()).keys;

  beforeAll(async () => {
    postgres = await testPostgres();
    database = await postgres.freshDatabase();
    urls = [await serve('one'), await serve('other')];
  });
  afterAll(async () => {
    for (const { child, ended } of programs) {
      child.kill('SIGKILL');
      await ended;
    }
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('make the next key when it is due, once, and sign with it', async () => {
    const [one, other] = urls;
    const [first] = await keysAt(one);
    expect((await signedBy(one)).kid).toBe(first?.kid);
    const store = openPostgres(database);
    await store.query(`update signing_keys set nbf = nbf - interval '90 days'`);
    await vi.waitFor(async () => expect(await keysAt(one)).toHaveLength(2), PATIENT);
    await store.query(`update signing_keys set nbf = nbf - interval '1 hour'`);
    await store.close();
    const [next] = await keysAt(one);
    expect(next?.kid).not.toBe(first?.kid);
    for (const url of [one, other]) {
      await vi.waitFor(async () => expect((await signedBy(url)).kid).toBe(next?.kid), PATIENT);
    }
    expect(await keysAt(other)).toHaveLength(2);
  });

  test('sign with no key that somebody marked, though nobody asked them meanwhile', async () => {
    const [before] = await Promise.all(urls.map(signedBy));
    const kid = String(before?.kid);
    const why = ['--since', '2026-01-01T00:00Z', '--reason', 'tests'];
    const words = ['signing', 'compromise', kid, ...why];
    const { status, err } = await startProgram(words, placeOf('commands')).ended;
    expect(status, err).toBe(0);
    const markedS = Date.now() / 1_000;
    const bound = () => expect(Date.now() / 1_000 - markedS).toBeGreaterThan(HELD_S);
    await vi.waitFor(bound, PATIENT);
    const after = await Promise.all(urls.map(signedBy));
    expect(after.map((one) => one.kid)).not.toContain(kid);
    expect(new Set(after.map((one) => one.kid)).size).toBe(1);
  });
});
