// A note holds for whoever signed it: the example of the specification verifies, and any other
// text, key, name or signature does not. A checkpoint, a proof and an end are written in one way.

import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkNote,
  cosignatureBytes,
  cosignatureTime,
  formatCheckpoint,
  formatLogEnd,
  formatLogProof,
  formatNote,
  formatNoteKey,
  formatSignatureLine,
  type NoteKey,
  noteBytes,
  noteKey,
  openCheckpoint,
  parseCheckpoint,
  parseLogEnd,
  parseLogProof,
  parseNote,
  parseNoteKey,
} from './signed-note.ts';

const EXAMPLE_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const EXAMPLE = [
  'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ON',
  'ncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
].join('');

function keyOf(text: string): NoteKey {
  const key = parseNoteKey(text);
  if (key === null) throw new Error('test: no key');
  return key;
}

function checkText(text: string, key = keyOf(EXAMPLE_KEY)) {
  const note = parseNote(text);
  return note === null ? 'no note' : checkNote(note, key);
}

describe('the example of the specification', () => {
  test('verifies under its key', () => {
    expect(formatNoteKey(keyOf(EXAMPLE_KEY))).toBe(EXAMPLE_KEY);
    expect(checkText(EXAMPLE)).toBe('signed');
  });

  test('fails with any other character in it', () => {
    fc.assert(
      fc.property(fc.nat({ max: EXAMPLE.length - 1 }), fc.nat({ max: 0x7e }), (at, code) => {
        const other = String.fromCharCode(code);
        const spoiled = `${EXAMPLE.slice(0, at)}${other}${EXAMPLE.slice(at + 1)}`;
        if (other !== EXAMPLE[at]) expect(checkText(spoiled)).not.toBe('signed');
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ['another id', EXAMPLE_KEY.replace('530d903a', '530d903b')],
  ['another name', EXAMPLE_KEY.replace('foo', 'bar')],
  ['a type that is not known', EXAMPLE_KEY.replace('+Ae', '+Bu')],
  ['no name', EXAMPLE_KEY.slice('example.com/foo'.length)],
  ['a short key', EXAMPLE_KEY.slice(0, -4)],
  ['base64 that is not canonical', EXAMPLE_KEY.replace(/k$/, 'l=')],
])('a key with %s is none', (_, text) => {
  expect(parseNoteKey(text)).toBeNull();
});

const pair = generateKeyPairSync('ed25519');
const raw = Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
const ORIGIN = 'log.example/log/1';
const KEY = noteKey(ORIGIN, raw);
const signText = (bytes: Uint8Array) => Uint8Array.from(sign(null, bytes, pair.privateKey));
const root = new Uint8Array(32).fill(7);
const TEXT = formatCheckpoint({ origin: ORIGIN, size: 12, root });
const SIGNED = formatNote(TEXT, [formatSignatureLine(KEY, signText(noteBytes(TEXT)))]);

describe('a checkpoint', () => {
  test('opens under a key of its log', () => {
    const opened = openCheckpoint(SIGNED, ORIGIN, [KEY]);
    expect(opened).toMatchObject({ ok: true, checkpoint: { origin: ORIGIN, size: 12, root } });
  });

  test.each([
    ['no signed note', 'it is no signed note', TEXT, ORIGIN, [KEY]],
    ['of another log', `it is of the log ${ORIGIN}, not of x`, SIGNED, 'x', [KEY]],
    ['signed by nobody known', 'no known key of the log signed it', SIGNED, ORIGIN, []],
    ['forged', 'a signature in it is forged', SIGNED.replace('\n12\n', '\n13\n'), ORIGIN, [KEY]],
    ['no checkpoint', 'it is no checkpoint', EXAMPLE, ORIGIN, [KEY]],
  ] as const)('that is %s does not', (_, fault, text, origin, keys) => {
    expect(openCheckpoint(text, origin, [...keys])).toEqual({ ok: false, fault });
  });

  test.each([
    ['a leading zero', TEXT.replace('\n12\n', '\n012\n')],
    ['a sign', TEXT.replace('\n12\n', '\n+12\n')],
    ['a size that is not safe', TEXT.replace('\n12\n', '\n9007199254740993\n')],
    ['no origin', TEXT.slice(ORIGIN.length)],
    ['a root of other bytes', TEXT.replace('BwcH', '')],
    ['an empty line', `${TEXT}\n`],
    ['no last newline', TEXT.slice(0, -1)],
  ])('with %s is none', (_, text) => {
    expect(parseCheckpoint(text)).toBeNull();
  });

  test('may hold further lines, which are signed too', () => {
    const text = `${TEXT}extension\n`;
    expect(parseCheckpoint(text)).toMatchObject({ size: 12 });
    const note = formatNote(text, [formatSignatureLine(KEY, signText(noteBytes(text)))]);
    expect(openCheckpoint(note, ORIGIN, [KEY])).toMatchObject({ ok: true });
  });

  test('a signature of an unknown key does no harm, and no good', () => {
    const other = noteKey(ORIGIN, new Uint8Array(32).fill(9));
    const line = formatSignatureLine(other, new Uint8Array(64));
    expect(openCheckpoint(`${SIGNED}${line}`, ORIGIN, [KEY])).toMatchObject({ ok: true });
    expect(openCheckpoint(formatNote(TEXT, [line]), ORIGIN, [KEY])).toMatchObject({ ok: false });
  });

  test('a witness signs its time too', () => {
    const witness = noteKey('witness.example/w1', raw, 'cosignature');
    const time = 1_700_000_000;
    const head = new Uint8Array(8);
    new DataView(head.buffer).setBigUint64(0, BigInt(time));
    const signature = signText(cosignatureBytes(TEXT, time));
    const timed = Uint8Array.from([...head, ...signature]);
    const line = formatSignatureLine(witness, timed);
    expect(checkText(`${SIGNED}${line}`, witness)).toBe('signed');
    expect(cosignatureTime(timed)).toBe(time);
    const later = Uint8Array.from(timed);
    later[7] = 1;
    expect(checkText(formatNote(TEXT, [formatSignatureLine(witness, later)]), witness)).toBe(
      'forged',
    );
    expect(formatNoteKey(witness)).toBe(formatNoteKey(keyOf(formatNoteKey(witness))));
    expect(cosignatureTime(signature)).toBeNull();
  });
});

test('a proof is read as it was written, its extra data passed over', () => {
  const proof = { index: 3, hashes: [root, root], checkpoint: SIGNED };
  const text = formatLogProof(proof);
  expect(parseLogProof(text)).toEqual(proof);
  expect(parseLogProof(text.replace('index', 'extra AAAA\nindex'))).toEqual(proof);
  expect(parseLogProof(formatLogProof({ ...proof, hashes: [] }))).toEqual({ ...proof, hashes: [] });
  for (const wrong of [
    text.replace('v1', 'v2'),
    text.replace('index 3', 'index 03'),
    text.replace('index 3', 'index'),
    text.replace('BwcH', ''),
    text.replace('extra', ''),
    text.slice(0, 30),
  ]) {
    if (wrong !== text) expect(parseLogProof(wrong)).toBeNull();
  }
});

test('an end says what ended, and is no checkpoint', () => {
  const end = {
    origin: ORIGIN,
    size: 12,
    root,
    next: 'log.example/log/2',
    held: 9,
    at: '2026-11-25T00:00:00Z',
    why: 'The store was put back.',
  };
  const text = formatLogEnd(end);
  expect(parseLogEnd(text)).toEqual(end);
  expect(parseCheckpoint(text)).toBeNull();
  expect(parseLogEnd(text.replace('held 9', 'held 09'))).toBeNull();
  expect(parseLogEnd(TEXT)).toBeNull();
});
