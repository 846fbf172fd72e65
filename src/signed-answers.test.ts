// An answer that a client or a command asked a listening service to sign is saved as one file, and
// verifies from that file alone; what another sent in its place does not.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './access/gate.ts';
import { createClient, ExhibitFailure, ExhibitRefusal } from './client/client.ts';
import { requestSigned } from './client/signed.ts';
import { parseConfig } from './config.ts';
import { signatureWishText } from './contract/http-signature.ts';
import { plainRoute } from './contract/route.ts';
import { type SavedAnswer, saveAnswer, verifySavedAnswer } from './contract/saved-answer.ts';
import { Unread } from './evidence/reading.ts';
import { answerSave } from './features/signing/answer.command.ts';
import { embeddedControl } from './testing/control-store.ts';
import { gatedRoute } from './testing/gated-route.ts';
import { membersIn } from './testing/members.ts';
import { ran } from './testing/recording-io.ts';
import { memorySigning } from './testing/twins/signing.ts';
import { createHttp } from './transport/http.ts';
import { createMeters } from './transport/metrics.ts';

const NOW = Math.floor(Date.now() / 1_000);
const ADDRESS = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const PATH = `/api/v1/wallet/${ADDRESS}/ofac`;
const fresh = embeddedControl();
const { signing } = memorySigning(NOW);

/** A route in the place of the real one: what matters here is how its answer travels. */
const standIn = plainRoute({
  name: 'wallet_ofac',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/ofac',
  summary: 'A route of the tests.',
  access: 'open',
  params: z.strictObject({ address: z.string() }),
  responses: {
    200: z.strictObject({ state: z.string(), subject: z.string(), data: z.strictObject({}) }),
  },
});

let base: string;
let app: ReturnType<typeof createHttp>;
/** Where clients find it, if not where it listens. */
let shown: string | null = null;
let hasKey = true;

beforeEach(async () => {
  hasKey = true;
  shown = null;
  const quiet = () => undefined;
  app = createHttp({
    mounted: [
      gatedRoute,
      {
        route: standIn,
        handle: async () => standIn.reply(200, { state: 'ok', subject: ADDRESS, data: {} }),
      },
    ],
    gate: createGate({ ...membersIn(fresh(), () => NOW), durable: true }, () => NOW),
    meters: createMeters([]),
    log: { info: quiet, warn: quiet, error: quiet },
    now: () => NOW,
    budgetMs: 30_000,
    trustProxy: false,
    signing: {
      key: async () => {
        const found = await signing.current();
        return found instanceof Unread || !hasKey ? null : found.value;
      },
      base: () => (shown === null ? base : shown),
      now: () => NOW,
    },
  });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

async function keySet(): Promise<{ readonly keys: readonly object[] }> {
  const keys = await signing.publicKeys();
  if (keys instanceof Unread) throw new Error('the twin is silent');
  return { keys: keys.value };
}

describe('the client', () => {
  test('saves an answer that verifies from its file alone', async () => {
    const files: SavedAnswer[] = [];
    const keys = await keySet();
    const signed = requestSigned({ keys, save: (file) => void files.push(file) });
    const client = createClient({ baseUrl: base });
    const answer = await client.wallet_ofac({ address: ADDRESS }, { signed });
    expect(answer).toMatchObject({ state: 'ok', subject: ADDRESS });
    const said = verifySavedAnswer(JSON.stringify(files[0]), JSON.stringify(keys), { now: NOW });
    if (said.state !== 'holds') throw new Error(said.says);
    expect(said.signed).toMatchObject({ method: 'GET', url: `${base}${PATH}`, status: 200 });
    expect(JSON.parse(new TextDecoder().decode(said.signed.body))).toEqual(answer);
  });

  test('takes no answer under another service’s key set, and none without a signature', async () => {
    const client = createClient({ baseUrl: base });
    const files: unknown[] = [];
    const save = (file: unknown) => void files.push(file);
    const ask = (keys: unknown) =>
      client.wallet_ofac({ address: ADDRESS }, { signed: requestSigned({ keys, save }) }).then(
        () => null,
        (fault: unknown) => fault,
      );
    const others = { keys: [{ ...(await keySet()).keys[0], kid: 'B'.repeat(43) }] };
    expect(await ask(others)).toMatchObject({ code: 'unverified' });
    hasKey = false;
    const fault = await ask(await keySet());
    expect(fault).toBeInstanceOf(ExhibitFailure);
    expect(String(fault)).toContain('no_key');
    expect(files).toEqual([]);
  });

  test('saves a refusal as well, and is refused', async () => {
    const files: SavedAnswer[] = [];
    const keys = await keySet();
    const signed = requestSigned({ keys, save: (file) => void files.push(file) });
    const client = createClient({ baseUrl: base, key: 'sc_unknown' });
    const call = client.leaderboard({}, { signed });
    await expect(call).rejects.toBeInstanceOf(ExhibitRefusal);
    expect(files.map(({ answer }) => answer.status)).toEqual([404]);
  });
});

/** An answer as somebody on the way passes it on. */
type Passed = { readonly status: number; readonly headers: Headers; readonly bytes: Buffer };

const OTHER = '0x00000000219ab540356cbb839cbe05303d7705fa';

describe('the client, behind somebody who passes answers on', () => {
  /** Asks through a server that changes what it passes on; the fault of each call in order. */
  async function faultsBehind(
    calls: number,
    pass: (ask: (path: string) => Promise<Passed>, path: string) => Promise<Passed>,
    keys: unknown,
  ): Promise<readonly (string | null)[]> {
    const between = createServer(async ({ url, headers }, response) => {
      const accepted = String(headers['accept-signature']);
      const said = await pass(async (path) => {
        const reply = await fetch(base + path, { headers: { 'accept-signature': accepted } });
        const bytes = Buffer.from(await reply.arrayBuffer());
        return { status: reply.status, headers: reply.headers, bytes };
      }, String(url));
      response.writeHead(said.status, Object.fromEntries(said.headers)).end(said.bytes);
    });
    await new Promise<void>((ready) => between.listen(0, '127.0.0.1', ready));
    shown = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    try {
      const client = createClient({ baseUrl: shown });
      const signed = requestSigned({ keys });
      const faults: (string | null)[] = [];
      for (let asked = 0; asked < calls; asked += 1) {
        const call = client.wallet_ofac({ address: ADDRESS }, { signed });
        faults.push(await call.then(() => null, String));
      }
      return faults;
    } finally {
      between.closeAllConnections();
      between.close();
    }
  }

  test('takes what is passed on as it came', async () => {
    expect(await faultsBehind(2, (ask, path) => ask(path), await keySet())).toEqual([null, null]);
  });

  test('refuses an answer that was given before', async () => {
    let first: Promise<Passed> | null = null;
    const replay = (ask: (path: string) => Promise<Passed>, path: string) => {
      first ??= ask(path);
      return first;
    };
    const faults = await faultsBehind(2, replay, await keySet());
    expect(faults).toEqual([null, expect.stringContaining('it is the answer to another one')]);
  });

  test.each<readonly [string, (said: Passed) => Passed, string]>([
    ['a changed status', (said) => ({ ...said, status: 404 }), 'the status, type, method'],
    [
      'changed bytes',
      (said) => ({ ...said, bytes: Buffer.from(said.bytes.toString().replace('ok', 'no')) }),
      'The bytes are not those that were signed',
    ],
  ])('refuses %s', async (_, change, says) => {
    const faults = await faultsBehind(
      1,
      async (ask, path) => change(await ask(path)),
      await keySet(),
    );
    expect(faults).toEqual([expect.stringContaining(says)]);
  });

  test('refuses the answer of another address, signed for the same request', async () => {
    const move = (ask: (path: string) => Promise<Passed>, path: string) =>
      ask(path.replace(ADDRESS, OTHER));
    const faults = await faultsBehind(1, move, await keySet());
    expect(faults).toEqual([expect.stringContaining('the status, type, method or address')]);
  });

  test('refuses what an expired key signed, and what one signed that is marked', async () => {
    const { keys } = await keySet();
    const behind = (over: object) =>
      faultsBehind(1, (ask, path) => ask(path), { keys: keys.map((key) => ({ ...key, ...over })) });
    expect(await behind({ exp: NOW })).toEqual([expect.stringContaining('its key had expired')]);
    const marked = [expect.stringContaining('Its key is marked compromised')];
    expect(await behind({ compromised_since: NOW })).toEqual(marked);
    expect(await behind({ compromised_since: NOW + 1 })).toEqual(marked);
  });
});

test('a refusal with 402 is signed with its quota beside it', async () => {
  const accept_signature = signatureWishText('n-1');
  const url = `${base}/api/v1/probe`;
  const said = await fetch(url, { headers: { 'accept-signature': accept_signature } });
  const bytes = new Uint8Array(await said.arrayBuffer());
  expect([said.status, said.headers.get('x-ratelimit-limit')]).toEqual([402, '0']);
  const asked = { method: 'GET', url, accept_signature };
  const file = saveAnswer(asked, said.status, (name) => said.headers.get(name), bytes);
  expect(verifySavedAnswer(file, await keySet(), { now: NOW }).state).toBe('holds');
});

describe('exhibit answer save', () => {
  async function run(more: string, keys?: unknown) {
    const folder = await mkdtemp(join(tmpdir(), 'exhibit-signed-'));
    const [out, pinned] = [join(folder, 'answer.json'), join(folder, 'keys.json')];
    if (keys !== undefined) await writeFile(pinned, JSON.stringify(keys));
    const flags = keys === undefined ? '' : ` --keys ${pinned}`;
    const services = { started: parseConfig({}, { cwd: '/nowhere' }) };
    const line = `answer save ${more} --base-url ${base} --key sc_key --out ${out}${flags}`;
    const said = await ran(line, [answerSave], services);
    const file = await readFile(out, 'utf8').catch(() => null);
    return { ...said, file };
  }

  test('writes the file, verified or not, and says which', async () => {
    const keys = await keySet();
    const verified = await run(`${PATH} --json`, keys);
    expect(verified.status).toBe(0);
    expect(JSON.parse(String(verified.lines[0]))).toMatchObject({
      url: `${base}${PATH}`,
      status: 200,
      created: NOW,
      verified: true,
    });
    expect(verifySavedAnswer(verified.file, keys, { now: NOW }).state).toBe('holds');
    const unverified = await run(PATH);
    expect(unverified.status).toBe(0);
    expect(unverified.lines.join()).toContain('not verified: no --keys');
    expect(String(unverified.file)).not.toContain('sc_key');
  });

  test('writes nothing of what does not verify (1), is not signed or not there (3)', async () => {
    expect(await run(PATH, { keys: [] })).toMatchObject({ status: 1, file: null });
    hasKey = false;
    const unsigned = await run(PATH, await keySet());
    expect(unsigned).toMatchObject({ status: 3, file: null });
    expect(unsigned.errors.join()).toContain('no_key');
    await app.close();
    expect(await run(PATH)).toMatchObject({ status: 3, file: null });
  });
});
