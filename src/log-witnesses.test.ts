// A witness that signs is believed by its key alone; one that refuses, keeps silent or signs
// something else leaves the log without its line, and says why.

import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { concatBytes } from './chain/bytes.ts';
import { isConsistent, isSameHash } from './chain/merkle-tree.ts';
import {
  checkNote,
  cosignatureBytes,
  formatSignatureLine,
  type LogCheckpoint,
  noteKey,
  openCheckpoint,
  parseNote,
} from './chain/signed-note.ts';
import { read, Unread } from './evidence/reading.ts';
import { askWitnesses, type LogParts, signOnce } from './features/log/checkpoints.ts';
import { logTables } from './features/log/log.store.ts';
import { CHECKPOINT_EACH_S } from './features/log/shapes.ts';
import { witnessAt } from './sources/witness/witness.ts';
import { appendLeaf } from './stores/control/log-leaves.ts';
import { seenHeads } from './stores/control/seen-heads.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl } from './testing/control-store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOST = 'log.example';
const ORIGIN = `${HOST}/log/1`;
const SOURCE = { name: 'k', url: 'k:', as_of: 0, kind: 'table', simulated: false } as const;
const SIGNAL = new AbortController().signal;
const fresh = embeddedControl();
const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

function keyPair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ format: 'der', type: 'spki' });
  return { raw: Uint8Array.from(der.subarray(-32)), privateKey };
}

/** A log with so many leaves that are signed, and a way to have more. */
async function startLog() {
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-witnesses-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const database = fresh();
  const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
  const { raw, privateKey } = keyPair();
  const x = Buffer.from(raw).toString('base64url');
  const parts: LogParts = {
    store: logTables(database, context),
    seen: seenHeads(folder, context),
    host: HOST,
    sign: async (bytes) => {
      const signature = Uint8Array.from(sign(null, bytes, privateKey));
      return read({ x, signature }, { port: 'signing_keys', source: SOURCE });
    },
    hashStatement: () => '0x',
    now: () => STILL_NOW,
  };
  let [clock, leaves] = [STILL_NOW, 0];
  const round = async () => {
    clock += CHECKPOINT_EACH_S + 1;
    await database.setClock(clock);
    return signOnce(parts);
  };
  const signMore = async (count: number) => {
    await database.transaction(async (session) => {
      for (let n = 0; n < count; n += 1) {
        const hash = `0x${(leaves + n).toString(16).padStart(64, '0')}`;
        await appendLeaf(session, { kind: 'signal', hash, id: 'sig', at: STILL_NOW });
      }
    });
    if (leaves === 0) expect(await round()).toEqual({ kind: 'idle' });
    leaves += count;
    expect(await round()).toEqual({ kind: 'signed', size: leaves });
  };
  const newest = async () => {
    const state = await parts.store.state();
    if (state instanceof Unread) throw new Error(state.why.reason);
    const origin = state.value.origins.at(-1);
    if (!origin?.newest) throw new Error('test: no checkpoint');
    return { ...origin.newest, freeze: origin.freeze };
  };
  return { parts, logKey: noteKey(ORIGIN, raw), signMore, newest, round };
}

type Manner = 'cosigns' | 'signs another text' | 'signs by another key' | 'signs nothing' | 'hangs';

/** A witness that speaks C2SP tlog-witness, knows one log and keeps to the protocol. */
async function startWitness(log: { readonly logKey: ReturnType<typeof noteKey> }) {
  const { raw, privateKey } = keyPair();
  const other = keyPair();
  const key = noteKey('witness.example/w', raw, 'cosignature');
  let seen: Pick<LogCheckpoint, 'size' | 'root'> | null = null;
  let manner: Manner = 'cosigns';
  const statuses: number[] = [];
  const lineOver = (text: string, by = privateKey): string => {
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(STILL_NOW));
    const signature = Uint8Array.from(sign(null, cosignatureBytes(text, STILL_NOW), by));
    return formatSignatureLine(key, concatBytes([stamp, signature]));
  };
  const answerTo = (body: string): { readonly status: number; readonly text: string } => {
    const split = body.indexOf('\n\n');
    const [first = '', ...proof] = body.slice(0, split).split('\n');
    const note = body.slice(split + 2);
    const opened = openCheckpoint(note, ORIGIN, [log.logKey]);
    if (!opened.ok) return { status: 403, text: '' };
    const { checkpoint } = opened;
    const old = Number(/^old (\d+)$/.exec(first)?.[1]);
    const known = seen === null ? 0 : seen.size;
    if (!(old <= checkpoint.size)) return { status: 400, text: '' };
    if (old !== known) return { status: 409, text: `${known}\n` };
    const isNext =
      seen === null
        ? proof.length === 0
        : isConsistent({
            older: seen,
            newer: checkpoint,
            proof: proof.map((hash) => Uint8Array.from(Buffer.from(hash, 'base64'))),
          });
    if (!isNext) return { status: 422, text: '' };
    seen = checkpoint;
    const { text } = parseNote(note) ?? { text: '' };
    if (manner === 'signs nothing') return { status: 200, text: '' };
    if (manner === 'signs another text') return { status: 200, text: lineOver(`${text}more\n`) };
    const by = manner === 'signs by another key' ? other.privateKey : privateKey;
    return { status: 200, text: lineOver(text, by) };
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (manner === 'hangs') return void response.destroy();
    const { status, text } = answerTo(body);
    statuses.push(status);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = server.address();
  const url = `http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}/`;
  return {
    witness: witnessAt({ url, key, now: () => STILL_NOW }),
    statuses,
    behave: (next: Manner) => {
      manner = next;
    },
    /** Has it know of what it is told, as if somebody had shown it. */
    know: (next: Pick<LogCheckpoint, 'size' | 'root'> | null) => {
      seen = next;
    },
  };
}

async function startBoth() {
  const log = await startLog();
  const one = await startWitness(log);
  const ask = () => askWitnesses(log.parts, [one.witness], SIGNAL);
  const isCosigned = async () => {
    const { note, lines } = await log.newest();
    const parsed = parseNote(`${note}${lines}`);
    return parsed === null ? 'no note' : checkNote(parsed, one.witness.key);
  };
  return { log, one, ask, isCosigned };
}

test('a witness cosigns each checkpoint once, each proved from the one that it signed', async () => {
  const { log, one, ask, isCosigned } = await startBoth();
  await log.signMore(3);
  expect(await ask()).toEqual([]);
  expect(await isCosigned()).toBe('signed');
  expect(await ask()).toEqual([]);
  await log.signMore(5);
  expect(await isCosigned()).toBe('absent');
  expect(await ask()).toEqual([]);
  expect(await isCosigned()).toBe('signed');
  expect(one.statuses).toEqual([200, 200]);
});

test('a witness that knows of another size says so, and is asked again from there', async () => {
  const { log, one, ask, isCosigned } = await startBoth();
  await log.signMore(3);
  expect(await ask()).toEqual([]);
  const known = await log.newest();
  await log.signMore(5);
  // It forgot all that it signed, and later it knows of what it was shown by somebody else.
  one.know(null);
  expect(await ask()).toEqual([]);
  expect(await isCosigned()).toBe('signed');
  await log.signMore(2);
  one.know({ size: known.size, root: known.root });
  expect(await ask()).toEqual([]);
  expect(await isCosigned()).toBe('signed');
  expect(one.statuses).toEqual([200, 409, 200, 409, 200]);
});

test('a witness that saw more than was signed here freezes the log', async () => {
  const { log, one, ask } = await startBoth();
  await log.signMore(3);
  one.know({ size: 9, root: new Uint8Array(32) });
  expect(await ask()).toMatchObject([expect.stringContaining('says that it saw 9 leaves')]);
  const { freeze, note } = await log.newest();
  expect(freeze).toEqual({ reason: expect.stringContaining('saw 9 leaves'), note });
  expect(await log.round()).toMatchObject({ kind: 'frozen', why: { code: 'log_behind' } });
});

test('a witness that saw another tree of the size before is not persuaded', async () => {
  const { log, one, ask, isCosigned } = await startBoth();
  await log.signMore(3);
  one.know({ size: 2, root: new Uint8Array(32) });
  expect(await ask()).toMatchObject([expect.stringContaining('answered 422')]);
  expect(await isCosigned()).toBe('absent');
  expect(isSameHash((await log.newest()).root, new Uint8Array(32))).toBe(false);
});

test.each([
  ['signs another text', /without a signature of its key/],
  ['signs by another key', /without a signature of its key/],
  ['signs nothing', /without a signature of its key/],
  ['hangs', /127\.0\.0\.1/],
] as const)('a witness that %s gives the log no line', async (manner, reason) => {
  const { log, one, ask, isCosigned } = await startBoth();
  await log.signMore(3);
  one.behave(manner);
  expect(await ask()).toEqual([expect.stringMatching(reason)]);
  expect(await isCosigned()).toBe('absent');
  // It does not hold up the log, nor another witness.
  const other = await startWitness(log);
  const [fault] = await askWitnesses(log.parts, [one.witness, other.witness], SIGNAL);
  expect(fault).not.toBe(undefined);
  expect((await log.newest()).lines).toContain(other.witness.key.name);
  await log.signMore(1);
});
