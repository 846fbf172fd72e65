// Whoever holds a key may end it, and nobody learns anything by trying: over a socket, with real
// stores and a stand-in for GitHub's secret scanning.

import { expect, onTestFinished, test, vi } from 'vitest';
import { createGate } from './access/gate.ts';
import { bucketOf, REPORTS_OF_NETWORK_MAX, REPORTS_WINDOW_S } from './access/leaked-key.ts';
import { deriveSecrets, hashesOf, mintKey, mintSecret, mintToken } from './access/secret.ts';
import { read } from './evidence/reading.ts';
import { leakRounds } from './features/access/leaked-keys.job.ts';
import {
  leakedKey,
  leakedKeyHandler,
  leakedKeysFound,
  leakedKeysFoundHandler,
} from './features/access/leaked-keys.route.ts';
import type { KeyHolder } from './ports/access.ts';
import { secretScanningKeys } from './sources/github/secret-scanning-keys.ts';
import { jsonIn } from './sources/http/fetch.ts';
import {
  accessIn,
  embeddedControl,
  onEachEngine,
  type TestStore,
} from './testing/control-store.ts';
import { gatedRoute } from './testing/gated-route.ts';
import { type ListFault, startGithubScanning } from './testing/github-scanning.ts';
import { createTestHttp } from './testing/http-server.ts';
import { rowsAs } from './testing/rows-as.ts';
import type { AnyHandler } from './transport/answer.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const NOW = 1_790_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);
const MEMBER = { kind: 'sc', membership_id: 'mem_1' } as const;
const OTHER = { kind: 'sc', membership_id: 'mem_2' } as const;
const PAGES = { kind: 'sc_pub', membership_id: 'mem_1', origins: ['https://app.example'] } as const;
const PARTNER = { kind: 'scp', partner: 'acme', monthly_budget: 10 } as const;
const fresh = embeddedControl();

/** A service over a store: what it keeps of reports is looked at when the test says so. */
async function serve(store: TestStore, githubUrl: string | null = null) {
  const statements: string[] = [];
  const database = {
    ...store,
    query: (...call: Parameters<typeof store.query>) => {
      statements.push(call[0]);
      return store.query(...call);
    },
  } as TestStore;
  let at = NOW;
  const now = () => at;
  const stores = accessIn(database, () => at * 1_000);
  for (const membership_id of ['mem_1', 'mem_2']) {
    await stores.memberships.record({ membership_id, plan: 'analyst', status: 'active', at });
  }
  const github = githubUrl === null ? null : secretScanningKeys({ url: githubUrl, now });
  const ports = { store: stores.leaks, secrets: SECRETS, github, wake: () => undefined };
  const app = createTestHttp({
    mounted: [
      { route: leakedKey, handle: leakedKeyHandler(ports) as AnyHandler },
      { route: leakedKeysFound, handle: leakedKeysFoundHandler(ports) as AnyHandler },
      gatedRoute,
    ],
    gate: createGate({ ...stores, secrets: SECRETS, durable: true }, now),
    now,
  });
  onTestFinished(() => app.close());
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const post = async (path: string, body: string, headers: object = {}) => {
    const reply = await fetch(origin + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await reply.text();
    return { status: reply.status, text, headers: Object.fromEntries(reply.headers) };
  };
  return {
    ...stores,
    statements,
    post,
    report: (key: string) => post('/api/v1/keys/leaked', JSON.stringify({ key })),
    found: ({ body, headers }: { readonly body: string; readonly headers: object }) =>
      post('/api/v1/keys/leaked/github', body, headers),
    key: async (holder: KeyHolder = MEMBER) => {
      const { text, stored } = mintKey(holder, SECRETS, at);
      const added = await stores.keys.add(stored, 50);
      expect(added).toMatchObject({ value: { outcome: 'added' } });
      return { text, id: stored.id, prefix: stored.prefix };
    },
    use: async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${origin}/api/v1/probe`, { headers })).status;
    },
    later: (seconds: number) => {
      at += seconds;
    },
    changes: async (id: string) => {
      const listed = await stores.accessLog.list(id);
      if (!listed.checked) throw new Error('unread');
      return listed.value.filter(({ change }) => change === 'key_leaked');
    },
    keyRow: async (id: string) => {
      const listed = await stores.keys.list('everyone');
      if (!listed.checked) throw new Error('unread');
      return listed.value.find((one) => one.id === id);
    },
  };
}

test('says: a key that anybody reports is ended, and its owner is told once', async () => {
  const service = await serve(fresh());
  const key = await service.key();
  expect(await service.use(key.text)).toBe(200);
  const said = await service.report(key.text);
  expect([said.status, Object(jsonIn(said.text)).received]).toEqual([202, true]);
  expect(await service.leaks.settle()).toMatchObject({
    value: { taken: 1, ended: [{ what: 'key', id: key.id, membership_id: 'mem_1' }] },
  });
  expect(await service.use(key.text)).toBe(402);
  const told = { at: NOW, by_whom: 'service', change: 'key_leaked', subject: key.prefix };
  expect(await service.changes('mem_1')).toMatchObject([told]);
  expect(await service.changes('mem_2')).toEqual([]);
  service.later(60);
  await service.report(key.text);
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 1, ended: [] } });
  expect(await service.changes('mem_1')).toHaveLength(1);
  expect(await service.keyRow(key.id)).toMatchObject({ revoked_at: NOW, leaked_at: NOW });
});

test('says the same of every text, by the same statements', async () => {
  const service = await serve(fresh());
  const [own, others, ended, partners] = [
    await service.key(),
    await service.key(OTHER),
    await service.key(),
    await service.key(PARTNER),
  ];
  await service.keys.revoke(ended.id, NOW, null);
  const { text: token, stored } = mintToken('pro', SECRETS, NOW);
  await service.tokens.add(stored);
  const texts = {
    own: own.text,
    replayed: own.text,
    others: others.text,
    ended: ended.text,
    partners: partners.text,
    token,
    unknown: mintSecret('sc'),
    misspelt: `${own.text.slice(0, -1)}${own.text.endsWith('0') ? '1' : '0'}`,
    'no key': 'correct horse battery staple',
    short: 'x',
    long: 'x'.repeat(500),
    odd: "'; drop table api_keys; --\u202e😀",
  };
  const seen = new Map<string, string[]>();
  for (const [name, text] of Object.entries(texts)) {
    service.statements.length = 0;
    const { status, text: body, headers } = await service.report(text);
    const { date: _, 'x-request-id': __, ...kept } = headers;
    const said = JSON.stringify({ status, body, kept, statements: service.statements });
    seen.set(said, [...(seen.get(said) ?? []), name]);
    await service.leaks.settle();
  }
  expect([...seen.values()]).toEqual([Object.keys(texts)]);
  const [only = ''] = seen.keys();
  expect(Object(jsonIn(only)).statements).toHaveLength(1);
  expect(await service.use(own.text)).toBe(402);
  expect(await service.use(others.text)).toBe(402);
  expect(await service.tokens.list()).toMatchObject({
    value: [{ id: stored.id, revoked_at: NOW }],
  });
  expect(await service.keyRow(partners.id)).toMatchObject({ leaked_at: NOW });
  expect(await service.keyRow(ended.id)).toMatchObject({ revoked_at: NOW, leaked_at: null });
});

test('says: a key that pages show to everybody stays', async () => {
  const service = await serve(fresh());
  const key = await service.key(PAGES);
  expect((await service.report(key.text)).status).toBe(202);
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 1, ended: [] } });
  expect(await service.keyRow(key.id)).toMatchObject({ revoked_at: null, leaked_at: null });
});

test('says: a key under the secret before is ended too', async () => {
  const store = fresh();
  const service = await serve(store);
  const key = await service.key();
  const rotated = deriveSecrets('a newer root secret', 'a root secret of the tests');
  const report = { hashes: hashesOf(key.text, rotated), found: null };
  expect(await service.leaks.report([report], NOW, 1)).toMatchObject({
    value: { outcome: 'kept' },
  });
  expect(await service.leaks.settle()).toMatchObject({ value: { ended: [{ id: key.id }] } });
});

test('keeps no text of a report, and drops what it kept', async () => {
  const store = fresh();
  const service = await serve(store);
  const key = await service.key();
  await service.report(key.text);
  const held = await rowsAs<object>(store, 'select * from leak_reports');
  expect(held).toHaveLength(1);
  for (const value of held.flatMap((row) => Object.values(row))) {
    const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
    expect(String(text)).not.toContain(key.text.slice(3));
  }
  await service.leaks.settle();
  expect(await rowsAs<object>(store, 'select * from leak_reports')).toEqual([]);
});

test('costs no quota, with a key or without', async () => {
  const service = await serve(fresh());
  const key = await service.key();
  const headers = { authorization: `Bearer ${key.text}` };
  for (let n = 0; n < 3; n += 1) {
    const body = JSON.stringify({ key: 'no key' });
    expect((await service.post('/api/v1/keys/leaked', body, headers)).status).toBe(202);
  }
  const day = new Date(NOW * 1_000).toISOString().slice(0, 10);
  expect(await service.quota.usage('membership:mem_1', day)).toMatchObject({ value: 0 });
});

test('refuses: one network reports so many and no more, until the window is over', async () => {
  const service = await serve(fresh());
  const key = await service.key();
  for (let n = 0; n < REPORTS_OF_NETWORK_MAX; n += 1) {
    expect((await service.report(`text ${n}`)).status).toBe(202);
  }
  const refused = await service.report(key.text);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(REPORTS_WINDOW_S)]);
  await service.leaks.settle();
  expect(await service.use(key.text)).toBe(200);
  // Another network is not shut out.
  const other = bucketOf('198.51.100', SECRETS);
  expect(other).not.toBe(bucketOf('127.0.0', SECRETS));
  const report = { hashes: hashesOf('a text', SECRETS), found: null };
  expect(await service.leaks.report([report], NOW, other)).toMatchObject({
    value: { outcome: 'kept' },
  });
  service.later(REPORTS_WINDOW_S);
  expect((await service.report(key.text)).status).toBe(202);
});

test('refuses what is no report, and repeats nothing of it', async () => {
  const service = await serve(fresh());
  for (const body of ['{}', '{"key":""}', '{"key":5}', `{"key":"${'x'.repeat(501)}"}`, '[]', '{']) {
    const said = await service.post('/api/v1/keys/leaked', body);
    expect([body, said.status]).toEqual([body, 400]);
    expect(said.text).not.toContain('xxx');
  }
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 0 } });
});

test('is silent: a report that could not be kept is not said to be received', async () => {
  const store = fresh();
  const service = await serve(store);
  const key = await service.key();
  store.silence('it was silenced');
  expect((await service.report(key.text)).status).toBe(503);
  expect(await service.leaks.settle()).toMatchObject({ checked: false });
  store.silence(null);
  expect(await service.use(key.text)).toBe(200);
});

onEachEngine((name, freshStore) => {
  test(`${name}: two processes look at different reports, and each ended key is told once`, async () => {
    const service = await serve(freshStore());
    const keys = [];
    for (let n = 0; n < 20; n += 1) keys.push(await service.key(n % 2 === 0 ? MEMBER : OTHER));
    for (const { text } of keys) await service.report(text);
    const settled = await Promise.all([service.leaks.settle(), service.leaks.settle()]);
    const ended = settled.flatMap((one) => (one.checked ? one.value.ended : []));
    expect(ended.map(({ id }) => id).sort()).toEqual(keys.map(({ id }) => id).sort());
    expect(await service.changes('mem_1')).toHaveLength(10);
  });
});

test('a round follows a report at once, and another one a full round', async () => {
  const takes = [0, 1_000, 1, 0];
  let rounds = 0;
  let woken: (() => void) | null = null;
  const jobs = leakRounds({
    settle: async () => {
      const taken = takes[rounds] ?? 0;
      rounds += 1;
      const source = { name: 'm', url: 'm:', as_of: NOW, kind: 'table', simulated: false } as const;
      return read({ taken, ended: [] }, { port: 'leak_reports', source });
    },
    onEnded: () => undefined,
    sleep: (_ms, signal) =>
      new Promise((done) => {
        woken = done;
        signal.addEventListener('abort', () => done(), { once: true });
      }),
    onFault: () => undefined,
    onBug: (fault) => {
      throw fault;
    },
  });
  const task = jobs.start();
  onTestFinished(() => task.stop());
  await vi.waitFor(() => expect([rounds, woken === null]).toEqual([1, false]));
  jobs.wake();
  await vi.waitFor(() => expect(rounds).toBe(4));
});

// GitHub's form.

const MATCH = { type: 'exhibit_api_key', source: 'content' };
const AT = 'https://github.com/octocat/Hello-World/blob/12345600/foo/bar.txt';

test('says: what secret scanning found is ended, and its owner is told where', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh(), github.url);
  const [first, second] = [await service.key(), await service.key(OTHER)];
  const said = await service.found(
    github.message([
      { ...MATCH, token: first.text, url: `${AT}?token=hidden#L5` },
      { ...MATCH, token: 'NMIfyYncKcRALEXAMPLE', url: AT },
      { ...MATCH, token: second.text, url: '', source: 'Npm' },
    ]),
  );
  expect([said.status, jsonIn(said.text)]).toEqual([
    202,
    { received: true, matches: 3, unreadable: 0 },
  ]);
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 3 } });
  expect(await service.keyRow(first.id)).toMatchObject({ leaked_at: NOW, leak_found: AT });
  expect(await service.keyRow(second.id)).toMatchObject({ leak_found: 'GitHub (Npm)' });
  expect(await service.changes('mem_2')).toMatchObject([{ subject: second.prefix }]);
  expect(github.asked).toEqual(['GET /meta/public_keys/secret_scanning']);
});

test('says: a rotated key of GitHub is asked for, once in a while', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh(), github.url);
  const old = github.message([{ ...MATCH, token: 'a' }]);
  expect((await service.found(old)).status).toBe(202);
  github.rotate();
  const newer = github.message([{ ...MATCH, token: 'b' }]);
  expect((await service.found(newer)).status).toBe(401);
  service.later(30);
  expect((await service.found(newer)).status).toBe(202);
  expect((await service.found(old)).status).toBe(202);
  for (let n = 0; n < 20; n += 1) {
    const headers = { ...old.headers, 'github-public-key-identifier': String(n).padStart(64, '0') };
    expect((await service.found({ ...old, headers })).status).toBe(401);
  }
  expect(github.asked).toHaveLength(2);
});

test('says how many matches it could not read, and ends the others', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh(), github.url);
  const key = await service.key();
  const body = JSON.stringify([{ type: 'x' }, { token: 5 }, null, { token: key.text }]);
  const said = await service.found(github.message(body));
  expect(jsonIn(said.text)).toEqual({ received: true, matches: 4, unreadable: 3 });
  expect(await service.leaks.settle()).toMatchObject({ value: { ended: [{ id: key.id }] } });
});

test('refuses: what GitHub did not sign does nothing', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh(), github.url);
  const key = await service.key();
  const right = github.message([{ ...MATCH, token: key.text, url: AT }]);
  const signature = String(right.headers['github-public-key-signature']);
  const other = github.message([{ ...MATCH, token: 'another', url: AT }]);
  const flipped = Buffer.from(signature, 'base64');
  flipped[40] = (flipped[40] ?? 0) ^ 1;
  const withHeader = (name: string, value: string) => ({
    ...right,
    headers: { ...right.headers, [name]: value },
  });
  const SIGNATURE = 'github-public-key-signature';
  const IDENTIFIER = 'github-public-key-identifier';
  const forgeries = {
    'by another key': github.forged([{ ...MATCH, token: key.text, url: AT }]),
    'of another body': { ...right, headers: other.headers },
    'a changed body': { ...right, body: right.body.replace('foo', 'fo0') },
    'a longer body': { ...right, body: `${right.body} ` },
    'a flipped bit': withHeader(SIGNATURE, flipped.toString('base64')),
    'a cut signature': withHeader(SIGNATURE, signature.slice(0, 40)),
    'no base64': withHeader(SIGNATURE, '?'.repeat(96)),
    'an empty signature': withHeader(SIGNATURE, ''),
    'zeros as r and s': withHeader(
      SIGNATURE,
      Buffer.from('3006020100020100', 'hex').toString('base64'),
    ),
    'an unknown key': withHeader(IDENTIFIER, 'f'.repeat(64)),
    'a key of no name': withHeader(IDENTIFIER, ''),
    'no headers': { body: right.body, headers: {} },
  };
  for (const [name, forgery] of Object.entries(forgeries)) {
    expect([name, (await service.found(forgery)).status]).toEqual([name, 401]);
  }
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 0, ended: [] } });
  expect(await service.use(key.text)).toBe(200);
  // The right one alone ends it.
  expect((await service.found(right)).status).toBe(202);
  expect(await service.leaks.settle()).toMatchObject({ value: { ended: [{ id: key.id }] } });
});

test('refuses a signed body that is no list of matches', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh(), github.url);
  for (const body of ['', '[]', '{}', 'null', '"a"', '[', '{"token":"a"}']) {
    expect([body, (await service.found(github.message(body))).status]).toEqual([body, 400]);
  }
});

test('refuses everything where no address of GitHub is set', async () => {
  const github = await startGithubScanning();
  const service = await serve(fresh());
  const said = await service.found(github.message([{ ...MATCH, token: 'a' }]));
  expect([said.status, Object(jsonIn(said.text)).error]).toEqual([404, 'not_set_up']);
});

const FAULTS: readonly ListFault[] = [
  'rate_limited',
  'down',
  'html',
  'empty_list',
  'other_form',
  'cut',
];
test.each(FAULTS)('is silent: a list of keys that is %s checks no signature', async (fault) => {
  const github = await startGithubScanning();
  github.setFault(fault);
  const service = await serve(fresh(), github.url);
  const key = await service.key();
  const message = github.message([{ ...MATCH, token: key.text, url: AT }]);
  expect((await service.found(message)).status).toBe(503);
  expect(await service.leaks.settle()).toMatchObject({ value: { taken: 0 } });
  github.setFault('none');
  service.later(30);
  expect((await service.found(message)).status).toBe(202);
  // A list that cannot be had anew serves a while, and not for ever.
  github.setFault(fault);
  service.later(80_000);
  expect((await service.found(message)).status).toBe(202);
  service.later(80_000);
  expect((await service.found(message)).status).toBe(503);
});

test('a listed key of another curve signs nothing', async () => {
  const github = await startGithubScanning();
  github.setFault('other_curve');
  const service = await serve(fresh(), github.url);
  expect((await service.found(github.message([{ ...MATCH, token: 'a' }]))).status).toBe(401);
});
