// The keys that answers are signed with: kept sealed, one set for all processes, rotated without a
// signature lost, marked, and never shown.

import { expect, test, vi } from 'vitest';
import { deriveSecrets, type Secrets } from './access/secret.ts';
import { parseBase64Url } from './chain/bytes.ts';
import { verifyEd25519 } from './chain/ed25519.ts';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { NOBODY } from './contract/route.ts';
import { Unread } from './evidence/reading.ts';
import { keySealing } from './features/signing/feature.ts';
import { signingKeysHandler } from './features/signing/keys.route.ts';
import {
  chooseDue,
  chooseNext,
  createSigning,
  kidOf,
  type Make,
  makeKey,
  PUBLISHED_AHEAD_S,
  SIGNS_FOR_S,
  sealKeysAnew,
  VALID_FOR_S,
} from './features/signing/keys.ts';
import { rotateOnce } from './features/signing/rotate.job.ts';
import {
  type SigningServices,
  signingCommands,
  signingFinding,
} from './features/signing/signing.command.ts';
import { signingKeyTable } from './features/signing/signing.store.ts';
import type { KeptKey, Signing } from './ports/signing.ts';
import type { Database } from './stores/control/engine/database.ts';
import { embeddedControl, onEachEngine, type TestStore } from './testing/control-store.ts';
import { ran } from './testing/recording-io.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const START = 1_790_000_000;
const ROOT = 'the root secret of these tests';
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A process over a store: its clock, its cache, its keys. */
function processOf(
  database: Database,
  { secrets = deriveSecrets(ROOT, null), simulated = false }: Partial<Over> = {},
) {
  const clock = { s: START, ms: 0 };
  const context = { simulated, nowMs: () => clock.s * 1_000 };
  const kept = signingKeyTable(database, context, () => signing.forget());
  const sealing = keySealing(secrets);
  const now = () => clock.s;
  const make: Make = (nbf) => makeKey(sealing, simulated, { nbf, made_at: now() });
  const faults: unknown[] = [];
  const signing = createSigning({
    kept,
    sealing,
    now,
    elapsedMs: () => clock.ms,
    onFault: (fault) => faults.push(fault),
  });
  const pass = (seconds: number) => {
    clock.s += seconds;
    clock.ms += seconds * 1_000;
  };
  const services: SigningServices = { signing: { kept, make, now } };
  const round = () => rotateOnce({ kept, make, now });
  return { kept, sealing, make, now, signing, pass, services, round, faults, clock };
}
type Over = { readonly secrets: Secrets; readonly simulated: boolean };
type Process = ReturnType<typeof processOf>;

async function keysIn({ kept }: Pick<Process, 'kept'>): Promise<readonly KeptKey[]> {
  const all = await kept.all();
  if (all instanceof Unread) throw new Error(all.why.reason);
  return all.value;
}

async function signedBy(signing: Pick<Signing, 'sign'>, text: string) {
  const said = await signing.sign(bytesOf(text));
  return said instanceof Unread ? said.why.code : said.value;
}

async function kidBy(signing: Signing): Promise<string> {
  const said = await signing.current();
  return said instanceof Unread ? said.why.code : said.value.kid;
}

/** Whether a signature verifies under the published set as a reader finds it. */
async function verifies(
  signing: Pick<Signing, 'publicKeys'>,
  text: string,
  said: Awaited<ReturnType<typeof signedBy>>,
): Promise<boolean> {
  const keys = await signing.publicKeys();
  if (keys instanceof Unread || typeof said === 'string') return false;
  const key = keys.value.find(({ kid }) => kid === said.kid);
  const x = key === undefined ? null : parseBase64Url(key.x);
  return x !== null && verifyEd25519(said.signature, bytesOf(text), x);
}

onEachEngine((name, fresh) => {
  test(`${name}: without a key nothing is signed; the first is made once, however many start`, async () => {
    const database = fresh();
    const processes = [1, 2, 3].map(() => processOf(database));
    const [first] = processes;
    if (first === undefined) throw new Error('no process');
    expect(await signedBy(first.signing, 'x')).toBe('signing_key_missing');
    await Promise.all(processes.map(({ round }) => round()));
    expect(await keysIn(first)).toHaveLength(1);
    first.signing.forget();
    const kids = await Promise.all(processes.map(({ signing }) => kidBy(signing)));
    expect(new Set(kids).size).toBe(1);
    const said = await signedBy(first.signing, 'x');
    expect(await verifies(first.signing, 'x', said)).toBe(true);
    expect(await verifies(first.signing, 'y', said)).toBe(false);
  });

  test(`${name}: the next key is published an hour ahead, takes over, and the old one stays`, async () => {
    const one = processOf(fresh());
    await one.round();
    const old = await kidBy(one.signing);
    one.pass(SIGNS_FOR_S - PUBLISHED_AHEAD_S - 1);
    await one.round();
    expect(await keysIn(one)).toHaveLength(1);
    one.pass(1);
    await one.round();
    await one.round();
    const [next, before] = await keysIn(one);
    expect(next).toMatchObject({
      nbf: START + SIGNS_FOR_S,
      exp: START + SIGNS_FOR_S + VALID_FOR_S,
    });
    expect(before).toMatchObject({ kid: old, nbf: START, exp: START + VALID_FOR_S });
    expect(await kidBy(one.signing)).toBe(old);
    one.pass(PUBLISHED_AHEAD_S);
    expect(await kidBy(one.signing)).toBe(next?.kid);
    one.pass(VALID_FOR_S);
    await one.round();
    const ended = (await keysIn(one)).find(({ kid }) => kid === old);
    // Its private part is gone, its public part is published for ever.
    expect(ended).toMatchObject({ sealed: null, exp: START + VALID_FOR_S });
    one.signing.forget();
    const published = await one.signing.publicKeys();
    expect(published.checked && published.value.some(({ kid }) => kid === old)).toBe(true);
  });

  test(`${name}: rotation under load loses no verification`, async () => {
    const database = fresh();
    const processes = [1, 2, 3].map(() => processOf(database));
    const [first, second] = processes;
    if (first === undefined || second === undefined) throw new Error('no process');
    await first.round();
    const kids = new Set<string>();
    for (let step = 0; step < 60; step += 1) {
      // Two rotate in the middle, at once and later, while all sign; a reader has what it fetched
      // before each answer and asks again for a key that it does not know.
      if (step === 20) await first.kept.add(chooseNext(first.make, first.now(), false));
      if (step === 40) await second.kept.add(chooseNext(second.make, second.now(), true));
      const signed = await Promise.all(
        processes.map(async ({ signing }, i) => {
          const text = `answer ${step} of ${i}`;
          return { text, said: await signedBy(signing, text) };
        }),
      );
      for (const { text, said } of signed) {
        if (typeof said === 'string') throw new Error(said);
        kids.add(said.kid);
        const key = (await keysIn(first)).find(({ kid }) => kid === said.kid);
        const at = first.now();
        expect(key !== undefined && key.nbf <= at && at < key.exp, `step ${step}`).toBe(true);
        const reader = processOf(database).signing;
        expect(await verifies(reader, text, said), `step ${step}`).toBe(true);
      }
      for (const { pass } of processes) pass(200);
    }
    expect(kids.size).toBe(3);
  });

  test(`${name}: a marked key signs no more, anywhere, within seconds; the earliest mark counts`, async () => {
    const database = fresh();
    const [one, other] = [processOf(database), processOf(database)];
    await one.round();
    const bad = await kidBy(one.signing);
    expect(await kidBy(other.signing)).toBe(bad);
    one.pass(100);
    other.pass(100);
    const since = START + 50;
    const mark = (at: number) =>
      one.kept.compromise(
        bad,
        { since: at, marked_at: one.now(), reason: 'a stolen disk' },
        chooseDue(one.make, one.now()),
      );
    expect((await mark(since)).checked).toBe(true);
    const good = await kidBy(one.signing);
    expect(good).not.toBe(bad);
    expect(await kidBy(other.signing)).toBe(good);
    await mark(since + 10);
    await mark(since - 10);
    const marked = (await keysIn(one)).find(({ kid }) => kid === bad);
    expect(marked).toMatchObject({ compromised_since: since - 10, sealed: null });
    expect(await keysIn(one)).toHaveLength(2);
    const none = await one.kept.compromise(
      'nobody',
      { since, marked_at: since, reason: '' },
      chooseDue(one.make, one.now()),
    );
    expect(none.checked && none.value).toBeNull();
  });

  test(`${name}: a process that hears of no mark signs on for five seconds at most`, async () => {
    const database = fresh();
    const [one, quiet] = [processOf(database), processOf(database)];
    await one.round();
    const bad = await kidBy(quiet.signing);
    const mark = { since: START, marked_at: START, reason: 'a stolen disk' };
    await one.kept.compromise(bad, mark, chooseDue(one.make, START));
    expect(await kidBy(one.signing)).not.toBe(bad);
    quiet.pass(6);
    expect(await kidBy(quiet.signing)).not.toBe(bad);
  });

  test(`${name}: keys that nobody could read for five seconds sign nothing`, async () => {
    const database: TestStore = fresh();
    const one = processOf(database);
    await one.round();
    const kid = await kidBy(one.signing);
    database.silence('it is down');
    one.pass(5);
    expect(await kidBy(one.signing)).toBe(kid);
    one.pass(1);
    expect(await kidBy(one.signing)).toBe('store_unreadable');
    expect(await signedBy(one.signing, 'x')).toBe('store_unreadable');
    database.silence(null);
    expect(await kidBy(one.signing)).toBe(kid);
    expect(one.faults).toEqual([]);
  });
});

const fresh = embeddedControl();

test('keys that were asked for before a mark are not used after it', async () => {
  const one = processOf(fresh());
  await one.round();
  const bad = await kidBy(one.signing);
  const held: (() => void)[] = [];
  const all: Process['kept']['all'] = async () => {
    const found = await one.kept.all();
    if (held.length === 0) await new Promise<void>((release) => held.push(release));
    return found;
  };
  const parts = { sealing: one.sealing, now: one.now, elapsedMs: () => 0, onFault: () => {} };
  const signing = createSigning({ ...parts, kept: { all } });
  const asked = kidBy(signing);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const mark = { since: START, marked_at: START, reason: 'a stolen disk' };
  await one.kept.compromise(bad, mark, chooseDue(one.make, START));
  signing.forget();
  for (const release of held) release();
  expect(await asked).toBe(await kidBy(one.signing));
  expect(await asked).not.toBe(bad);
});

test('a key that the secret does not open, or that is another’s, signs nothing', async () => {
  const database = fresh();
  const one = processOf(database);
  await one.round();
  const stranger = processOf(database, { secrets: deriveSecrets('another root', null) });
  expect(await kidBy(stranger.signing)).toBe('signing_key_unopened');
  const [key] = await keysIn(one);
  if (key === undefined || key.sealed === null) throw new Error('no key');
  // A private part moved to another row does not open there.
  const other = makeKey(one.sealing, false, { nbf: START + 1, made_at: START });
  await one.kept.add(() => ({ ...other, sealed: key.sealed ?? other.sealed }));
  one.pass(10);
  one.signing.forget();
  expect(await kidBy(one.signing)).toBe('signing_key_unopened');
});

test('a private part of other keys under the right name is none', async () => {
  const one = processOf(fresh());
  const [a, b] = [START - 1, START].map((nbf) =>
    makeKey(one.sealing, false, { nbf, made_at: START }),
  );
  if (a === undefined || b === undefined) throw new Error('no keys');
  const seed = one.sealing.unseal(a.sealed, a.kid);
  await one.kept.add(() => ({ ...b, sealed: one.sealing.seal(String(seed), b.kid) }));
  expect(await kidBy(one.signing)).toBe('signing_key_unopened');
});

test('after a rotation of the secret all is under the new one, and the old one may go', async () => {
  const database = fresh();
  const before = processOf(database, { secrets: deriveSecrets('before', null) });
  await before.round();
  const kid = await kidBy(before.signing);
  const during = processOf(database, { secrets: deriveSecrets('after', 'before') });
  expect(await kidBy(during.signing)).toBe(kid);
  const ends = [];
  for (let i = 0; i < 2; i += 1) {
    const anew = await sealKeysAnew(during.kept, during.sealing);
    ends.push(anew.checked ? anew.value : null);
  }
  expect(ends).toEqual([
    { resealed: 1, unopened: 0 },
    { resealed: 0, unopened: 0 },
  ]);
  const after = processOf(database, { secrets: deriveSecrets('after', null) });
  expect(await kidBy(after.signing)).toBe(kid);
  const lost = processOf(database, { secrets: deriveSecrets('lost', null) });
  const unopened = await sealKeysAnew(lost.kept, lost.sealing);
  expect(unopened.checked && unopened.value).toEqual({ resealed: 0, unopened: 1 });
});

test('the private part stands nowhere: not in rows, commands, the key set or a reading', async () => {
  const database = fresh();
  const one = processOf(database);
  await one.round();
  const [key] = await keysIn(one);
  if (key === undefined || key.sealed === null) throw new Error('no key');
  const seed = one.sealing.unseal(key.sealed, key.kid);
  if (seed === null) throw new Error('not opened');
  const raw = Buffer.from(seed, 'base64url');
  const rows = await database.query('select * from signing_keys');
  const bytes = Buffer.from(key.sealed.bytes);
  const shown = [
    JSON.stringify(rows),
    bytes.toString('latin1'),
    JSON.stringify(await one.signing.publicKeys()),
    JSON.stringify((await one.signing.publicKeys()).checked),
    JSON.stringify(await one.signing.current()),
  ];
  const commands = ['signing list', 'signing list --json', 'signing rotate --json'];
  for (const line of commands) {
    const { lines, errors } = await ran(line, signingCommands, one.services);
    shown.push(lines.join('\n'), errors.join('\n'));
  }
  const current = await one.signing.current();
  shown.push(JSON.stringify(current.checked ? current.value : null));
  const forms = [seed, raw.toString('hex'), raw.toString('base64'), raw.toString('latin1')];
  for (const text of shown) {
    for (const form of forms) expect(text.includes(form)).toBe(false);
  }
});

test('a key of the simulated world says so in its id, and has the thumbprint of RFC 7638', async () => {
  const one = processOf(fresh(), { simulated: true });
  await one.round();
  const [key] = await keysIn(one);
  expect(key?.kid).toBe(`simulated:${kidOf(String(key?.x), false)}`);
  // RFC 8037, A.3.
  expect(kidOf('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', false)).toBe(
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
});

test('no id begins with a dash, which a command line would take for an option', () => {
  const one = processOf(fresh());
  const made = Array.from({ length: 1_000 }, () =>
    makeKey(one.sealing, false, { nbf: START, made_at: START }),
  );
  expect(made.filter(({ kid }) => kid.startsWith('-'))).toEqual([]);
});

test('commands list, rotate and mark keys, and doctor names the one in force', async () => {
  const one = processOf(fresh());
  const run = (line: string) => ran(line, signingCommands, one.services);
  expect(signingFinding([], START)).toEqual({
    state: 'warning',
    says: 'no key is in force; run `exhibit signing rotate --at-once`',
  });
  expect((await run('signing list')).lines).toEqual(['No signing key was ever made here.']);
  await one.round();
  const first = await kidBy(one.signing);
  const rotated = await run('signing rotate');
  expect(rotated).toMatchObject({ status: 0 });
  expect((await run('signing rotate')).status).toBe(1);
  const listed = (await run('signing list --json')).lines.map((line): unknown => JSON.parse(line));
  expect(listed).toMatchObject([{ state: 'next' }, { kid: first, state: 'in_force' }]);
  one.pass(HOUR_S);
  const taken = await keysIn(one);
  const second = String(taken[0]?.kid);
  expect(signingFinding(taken, one.now()).says).toContain(`${second} signs, valid until`);
  const marked = await run(
    `signing compromise ${second} --since 2026-09-21T15:00Z --reason stolen`,
  );
  expect([marked.status, marked.lines.length]).toEqual([0, 1]);
  expect(marked.lines[0]).toContain(`${first} signs now`);
  expect((await run('signing compromise nobody --since 2026-09-21T15:00Z --reason x')).status).toBe(
    1,
  );
  const after = (await run('signing list --json')).lines.map((line): unknown => JSON.parse(line));
  expect(after).toMatchObject([
    { kid: second, state: 'compromised', compromised_since: Date.UTC(2026, 8, 21, 15) / 1_000 },
    { kid: first, state: 'in_force' },
  ]);
  const atOnce = await run('signing rotate --at-once');
  expect(atOnce.status).toBe(0);
  expect(await kidBy(one.signing)).not.toBe(first);
});

test('commands over a store that cannot be read exit 3', async () => {
  const database = fresh();
  const one = processOf(database);
  await one.round();
  database.silence('it is down');
  const lines = ['signing list', 'signing rotate'];
  lines.push('signing compromise x --since 2026-09-21T10:00Z --reason y');
  for (const line of lines) {
    expect((await ran(line, signingCommands, one.services)).status, line).toBe(3);
  }
});

test('the key set names every key, and is unavailable without any', async () => {
  const database = fresh();
  const one = processOf(database);
  const { signing } = one;
  const handle = signingKeysHandler({ signing, service: { simulated: false } });
  const asked = { now: one.now, signal: new AbortController().signal };
  const input = { params: {}, query: {}, body: undefined };
  const answer = async () => {
    const said = await handle(input, asked, NOBODY);
    return 'status' in said ? { status: said.status, body: said.body } : null;
  };
  expect(await answer()).toMatchObject({ status: 503, body: { error: 'unavailable' } });
  await one.round();
  signing.forget();
  const [key] = await keysIn(one);
  expect(await answer()).toEqual({
    status: 200,
    body: {
      simulated: false,
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          alg: 'Ed25519',
          use: 'sig',
          kid: key?.kid,
          x: key?.x,
          nbf: START,
          exp: START + 180 * DAY_S,
          compromised_since: null,
        },
      ],
    },
  });
  database.silence('it is down');
  one.pass(61);
  expect(await answer()).toMatchObject({ status: 503, body: { error: 'unavailable' } });
});
