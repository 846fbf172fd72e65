// Are the published vectors what our own check finds, and does a second implementation agree?

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashCall } from './chain/call-hash.ts';
import { hashLeaf, isConsistent, isIncluded } from './chain/merkle-tree.ts';
import { noteKey, openCheckpoint } from './chain/signed-note.ts';
import { verifySaved } from './client/verify.ts';
import { verifySavedAnswer } from './contract/saved-answer.ts';
import { ANSWER_VECTORS } from './testing/answer-vectors.ts';
import { VECTOR_KEYS } from './testing/vector-keys.ts';
import {
  CALL_VECTORS,
  NOTE_VECTORS,
  PROOF_VECTORS,
  SIGNAL_VECTORS,
  VECTOR_FILES,
} from './testing/verification-vectors.ts';

const NOW = 1_790_000_000;
const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'docs/reference/vectors');
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text.slice('0x'.length), 'hex'));

test.each(Object.entries(VECTOR_FILES))(
  '%s stands in docs/reference/vectors',
  async (name, text) => {
    await expect(text).toMatchFileSnapshot(join(FOLDER, name));
  },
);

test('no other file stands there', () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...Object.keys(VECTOR_FILES), 'README.md'].sort());
});

describe('the check of the client finds', () => {
  test.each(SIGNAL_VECTORS.map((vector) => [vector.name, vector] as const))(
    '%s',
    async (_, { file, pinned_keys, checkpoint, outcome, fails, unchecked }) => {
      const keys = pinned_keys ? VECTOR_KEYS : null;
      const bytes = Buffer.from(JSON.stringify(file));
      const said = await verifySaved(bytes, { keys, checkpoint, node: null, now: NOW });
      const found = (what: string) =>
        said.checks.filter((one) => one.outcome === what).map(({ check }) => check);
      expect({
        outcome: said.outcome,
        fails: found('fails'),
        unchecked: found('unchecked'),
      }).toEqual({
        outcome,
        fails,
        unchecked,
      });
    },
  );
});

test.each(ANSWER_VECTORS.map((vector) => [vector.name, vector] as const))(
  'a saved answer: %s',
  (_, { file, now, nonce, seen, leaf_at, state, fault }) => {
    const known = { now, seen: new Set(seen), leaf_at, ...(nonce === null ? {} : { nonce }) };
    const said = verifySavedAnswer(JSON.stringify(file), VECTOR_KEYS, known);
    const found = said.state === 'holds' ? null : said.fault;
    expect({ state: said.state, fault: found }).toEqual({ state, fault });
  },
);

test('each call hashes as its vector says, and one that no contract could hash does not', () => {
  for (const { name, call, call_hash } of CALL_VECTORS) {
    if (call_hash === null) expect(() => hashCall(call), name).toThrow();
    else expect([name, hashCall(call)]).toEqual([name, call_hash]);
  }
});

test('each proof and each note holds exactly where its vector says so', () => {
  for (const { name, leaf, index, size, root, proof, valid } of PROOF_VECTORS.inclusion) {
    const leafHash = hashLeaf(bytesOf(leaf));
    const asked = { index, size, leafHash, root: bytesOf(root), proof: proof.map(bytesOf) };
    expect([name, isIncluded(asked)]).toEqual([name, valid]);
  }
  for (const { name, older, newer, proof, valid } of PROOF_VECTORS.consistency) {
    const [from, to] = [older, newer].map(({ size, root }) => ({ size, root: bytesOf(root) }));
    if (from === undefined || to === undefined) throw new Error('no trees');
    const is = isConsistent({ older: from, newer: to, proof: proof.map(bytesOf) });
    expect([name, is]).toEqual([name, valid]);
  }
  for (const { name, origin, key, note, valid } of NOTE_VECTORS) {
    const known = noteKey(origin, Uint8Array.from(Buffer.from(key.x, 'base64url')));
    expect([name, openCheckpoint(note, origin, [known]).ok]).toEqual([name, valid]);
  }
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)(
  hasPython ? 'the verifier in Python' : 'the verifier in Python (skipped: no python3)',
  () => {
    const run = (...args: readonly string[]) => {
      const options = { cwd: ROOT, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
      const { status, stdout } = spawnSync('python3', ['-B', ...args], options);
      return { status, lines: stdout.trim().split('\n') };
    };

    test('agrees on every vector', () => {
      const counted = [...PROOF_VECTORS.inclusion, ...PROOF_VECTORS.consistency, ...NOTE_VECTORS];
      const read = (name: string) => {
        const all: unknown = JSON.parse(String(VECTOR_FILES[name]));
        return Array.isArray(all) ? all.length : 0;
      };
      const count =
        counted.length +
        ['bundles', 'calls', 'signals', 'answers'].reduce((n, one) => n + read(`${one}.json`), 0);
      const { status, lines } = run('examples/verify_vectors.py', FOLDER);
      expect([status, lines]).toEqual([0, [`${count} vectors, 0 disagree`]]);
    });

    test('says what holds of a saved signal, and ends with what our command ends with', () => {
      const [signal, keys, checkpoint] = ['signal.json', 'keys.json', 'checkpoint.txt'].map(
        (name) => join(FOLDER, name),
      );
      const all = ['bundle', 'citations', 'derived', 'call_hash', 'log', 'checkpoint'];
      const told = [...all, 'pinned_checkpoint'].map((name) => `holds ${name}`);
      const whole = run(
        'examples/verify.py',
        `${signal}`,
        '--keys',
        `${keys}`,
        '--checkpoint',
        `${checkpoint}`,
      );
      expect(whole).toEqual({ status: 0, lines: told });
      const unpinned = run('examples/verify.py', `${signal}`);
      expect([unpinned.status, unpinned.lines.at(-1)]).toEqual([3, 'unchecked checkpoint']);
      expect(run('examples/verify.py', `${keys}`)).toEqual({ status: 1, lines: ['fails file'] });
    });

    test('says whether a saved answer holds, and ends with what our command ends with', () => {
      const keys = ['--keys', join(FOLDER, 'keys.json')];
      const check = (file: string) => run('examples/verify_answer.py', file, ...keys);
      const answer = join(FOLDER, 'answer.json');
      expect(check(answer)).toEqual({ status: 0, lines: ['holds'] });
      const home = mkdtempSync(join(tmpdir(), 'exhibit-python-'));
      const moved = readFileSync(answer, 'utf8').replace('/receipts', '/screens');
      writeFileSync(join(home, 'moved.json'), moved);
      expect(check(join(home, 'moved.json'))).toEqual({
        status: 1,
        lines: ['refused: signature_wrong'],
      });
      const lost = ANSWER_VECTORS.find(({ state }) => state === 'unproven');
      writeFileSync(join(home, 'lost.json'), JSON.stringify(lost?.file));
      expect(check(join(home, 'lost.json'))).toEqual({
        status: 3,
        lines: ['unproven: key_compromised'],
      });
      rmSync(home, { recursive: true });
    });

    test.each([
      [
        'verify.py',
        'import datetime, hashlib, json, math, sys',
        'from base64 import b64decode as decode, urlsafe_b64decode as decode_url',
      ],
      [
        'verify_answer.py',
        'import base64, hashlib, json, re, sys, time',
        'from verify import decode_url, is_signed',
      ],
    ])('has at most 200 lines, and imports the standard library alone: %s', (name, ...imports) => {
      const lines = readFileSync(join(ROOT, 'examples', name), 'utf8')
        .trimEnd()
        .split('\n');
      expect(lines.length).toBeLessThanOrEqual(200);
      expect(lines.filter((line) => /^(import|from) /.test(line))).toEqual(imports);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    });
  },
);
