// Signed notes, checkpoints, cosignatures and proofs as C2SP writes them (signed-note,
// tlog-checkpoint, tlog-cosignature, tlog-proof). A text that is written in another way is none:
// what was signed is the text, and two readers of one text must not read two things.

import { hex } from '@scure/base';
import * as Hash from 'ox/Hash';
import { base64Text, concatBytes, parseBase64 } from './bytes.ts';
import { verifyEd25519 } from './ed25519.ts';
import { HASH_BYTES, PROOF_MAX } from './merkle-tree.ts';

/** How a key signs a note: its text, or (a witness) its text with a time. */
const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04 } as const;
export type NoteSignatureType = keyof typeof SIGNATURE_TYPES;

const KEY_BYTES = 32;
const ID_BYTES = 4;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
/** Characters of a note at most: sixteen signatures of any kind fit. */
export const NOTE_CHARS_MAX = 128 * 1024;
const SIGNATURES_MAX = 64;

/** A key that is known to sign under a name. */
export type NoteKey = {
  readonly name: string;
  /** Eight hex digits. */
  readonly id: string;
  readonly type: NoteSignatureType;
  readonly publicKey: Uint8Array;
};

/** One line below a note. */
export type NoteSignature = {
  readonly name: string;
  readonly id: string;
  readonly signature: Uint8Array;
};

/** The text of a note, with its last newline, and the signatures below it. */
export type Note = { readonly text: string; readonly signatures: readonly NoteSignature[] };

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Whether a key may have this name: not empty, without white space and `+`. */
export function isNoteName(name: string): boolean {
  return /^[^\s\p{Z}\p{C}+]{1,255}$/u.test(name);
}

/** A key under a name. Its id follows from name, type and key. */
export function noteKey(
  name: string,
  publicKey: Uint8Array,
  type: NoteSignatureType = 'ed25519',
): NoteKey {
  if (!isNoteName(name)) throw new Error('a key of a note has a name without spaces and plus');
  if (publicKey.length !== KEY_BYTES) throw new Error('a key of a note has 32 bytes');
  const named = concatBytes([utf8(`${name}\n`), Uint8Array.of(SIGNATURE_TYPES[type]), publicKey]);
  const id = hex.encode(Hash.sha256(named, { as: 'Bytes' }).slice(0, ID_BYTES));
  return { name, id, type, publicKey };
}

/** The text of a key, as verifiers take it: name, id and key, joined by `+`. */
export function formatNoteKey({ name, id, type, publicKey }: NoteKey): string {
  const typed = concatBytes([Uint8Array.of(SIGNATURE_TYPES[type]), publicKey]);
  return `${name}+${id}+${base64Text(typed)}`;
}

/** The key in such a text; `null`: it is none, or one whose type is not known here. */
export function parseNoteKey(text: string): NoteKey | null {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = encoded === undefined ? null : parseBase64(encoded);
  if (name === undefined || bytes === null || bytes.length !== 1 + KEY_BYTES) return null;
  if (!isNoteName(name)) return null;
  const types = Object.entries(SIGNATURE_TYPES) as [NoteSignatureType, number][];
  const type = types.find(([, byte]) => byte === bytes[0])?.[0];
  if (type === undefined) return null;
  const key = noteKey(name, bytes.slice(1), type);
  return key.id === id ? key : null;
}

const SIGNATURE_LINE = /^— (\S+) (\S+)$/u;

/** Reads a note; `null`: it is none. */
export function parseNote(note: string): Note | null {
  const at = note.lastIndexOf('\n\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note may hold none but newlines
  if (at < 1 || note.length > NOTE_CHARS_MAX || /[\x00-\x09\x0b-\x1f]/.test(note)) return null;
  const lines = note.slice(at + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(parseSignatureLine);
  const good = signatures.filter((one) => one !== null);
  if (good.length < signatures.length) return null;
  return { text: note.slice(0, at + 1), signatures: good };
}

/** One signature line without its newline; `null`: it is none. */
export function parseSignatureLine(line: string): NoteSignature | null {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = encoded === undefined ? null : parseBase64(encoded);
  if (name === undefined || !isNoteName(name) || bytes === null) return null;
  if (bytes.length <= ID_BYTES) return null;
  return { name, id: hex.encode(bytes.slice(0, ID_BYTES)), signature: bytes.slice(ID_BYTES) };
}

/** A signature line, with its newline. */
export function formatSignatureLine({ name, id }: NoteKey, signature: Uint8Array): string {
  return `— ${name} ${base64Text(concatBytes([hex.decode(id), signature]))}\n`;
}

/** A note of a text, which ends in a newline, with its signature lines. */
export function formatNote(text: string, lines: readonly string[]): string {
  if (!text.endsWith('\n')) throw new Error('the text of a note ends in a newline');
  return `${text}\n${lines.join('')}`;
}

/** The bytes that a key of type `ed25519` signs. */
export function noteBytes(text: string): Uint8Array {
  return utf8(text);
}

/**
 * Whether a key signed a note: `signed`, `absent` where no line is of this key, and `forged` where
 * one is that does not verify.
 */
export function checkNote(note: Note, key: NoteKey): 'signed' | 'absent' | 'forged' {
  const own = note.signatures.filter(({ name, id }) => name === key.name && id === key.id);
  if (own.length === 0) return 'absent';
  return own.every((one) => isSignedBy(note.text, one.signature, key)) ? 'signed' : 'forged';
}

function isSignedBy(text: string, signature: Uint8Array, key: NoteKey): boolean {
  if (key.type === 'ed25519') return verifyEd25519(signature, noteBytes(text), key.publicKey);
  const time = cosignatureTime(signature);
  if (time === null) return false;
  return verifyEd25519(signature.slice(TIME_BYTES), cosignatureBytes(text, time), key.publicKey);
}

/** When a witness says that it signed, in Unix seconds; `null`: this is no cosignature. */
export function cosignatureTime(signature: Uint8Array): number | null {
  if (signature.length !== TIME_BYTES + SIGNATURE_BYTES) return null;
  const view = new DataView(signature.buffer, signature.byteOffset, TIME_BYTES);
  const time = Number(view.getBigUint64(0));
  return Number.isSafeInteger(time) && time > 0 ? time : null;
}

/** The bytes that a witness signs at a time. */
export function cosignatureBytes(text: string, time: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** The state of a log at a size. */
export type LogCheckpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
};

const DECIMAL = /^(0|[1-9]\d{0,15})$/;

/** The text of a checkpoint, without signatures. */
export function formatCheckpoint({ origin, size, root }: LogCheckpoint): string {
  return `${origin}\n${size}\n${base64Text(root)}\n`;
}

/** The state in the text of a note; `null`: it is no checkpoint. Further lines are left alone. */
export function parseCheckpoint(text: string): LogCheckpoint | null {
  const [origin, size, encoded, ...further] = text.split('\n');
  if (origin === undefined || size === undefined || encoded === undefined) return null;
  const root = parseBase64(encoded);
  if (origin === '' || !DECIMAL.test(size) || root === null || root.length !== HASH_BYTES) {
    return null;
  }
  if (further.pop() !== '' || further.includes('')) return null;
  const number = Number(size);
  return Number.isSafeInteger(number) ? { origin, size: number, root } : null;
}

/** What opening a signed checkpoint gives. */
export type OpenedCheckpoint =
  | { readonly ok: true; readonly checkpoint: LogCheckpoint; readonly note: Note }
  | { readonly ok: false; readonly fault: string };

/** The state in a note that one of the log's own keys signed, all of whose signatures hold. */
export function openCheckpoint(
  text: string,
  origin: string,
  keys: readonly NoteKey[],
): OpenedCheckpoint {
  const note = parseNote(text);
  if (note === null) return { ok: false, fault: 'it is no signed note' };
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint === null) return { ok: false, fault: 'it is no checkpoint' };
  if (checkpoint.origin !== origin) {
    return { ok: false, fault: `it is of the log ${checkpoint.origin}, not of ${origin}` };
  }
  const checks = keys.map((key) => checkNote(note, key));
  if (checks.includes('forged')) return { ok: false, fault: 'a signature in it is forged' };
  if (!checks.includes('signed')) return { ok: false, fault: 'no known key of the log signed it' };
  return { ok: true, checkpoint, note };
}

/** A proof that a leaf is in the tree of a checkpoint, which stands in it word for word. */
export type LogProof = {
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
  readonly checkpoint: string;
};

const PROOF_HEAD = 'c2sp.org/tlog-proof@v1';

/** The text of a proof. */
export function formatLogProof({ index, hashes, checkpoint }: LogProof): string {
  const lines = [PROOF_HEAD, `index ${index}`, ...hashes.map((hash) => base64Text(hash))];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/** The proof in a text; `null`: it is none. Extra data is passed over: nothing vouches for it. */
export function parseLogProof(text: string): LogProof | null {
  const at = text.indexOf('\n\n');
  if (at < 0 || text.length > NOTE_CHARS_MAX) return null;
  const [head, ...rest] = text.slice(0, at).split('\n');
  const [first, ...others] = rest;
  const hasExtra = first?.startsWith('extra ') === true;
  const [indexLine, ...encoded] = hasExtra ? others : rest;
  const [, digits] = /^index (\S+)$/.exec(indexLine === undefined ? '' : indexLine) ?? [];
  if (head !== PROOF_HEAD || digits === undefined || !DECIMAL.test(digits)) return null;
  const hashes = encoded.map(parseBase64).filter((hash) => hash?.length === HASH_BYTES);
  const good = hashes.filter((hash) => hash !== null && hash !== undefined);
  if (good.length !== encoded.length || encoded.length > PROOF_MAX) return null;
  return { index: Number(digits), hashes: good, checkpoint: text.slice(at + 2) };
}

const END_HEAD = 'exhibit-log-end/1';
const END = new RegExp(
  [
    `^${END_HEAD}\\n(\\S+)\\n(\\d{1,16})\\n(\\S+)\\n`,
    'next (\\S+)\\nheld (\\d{1,16})\\nat (\\S+)\\nwhy (.+)\\n$',
  ].join(''),
  'u',
);

/** The last statement of an origin. */
export type LogEnd = LogCheckpoint & {
  /** The origin that goes on in its place. */
  readonly next: string;
  /** Leaves that the log still holds as this origin published them. */
  readonly held: number;
  /** When it ended, in ISO 8601. */
  readonly at: string;
  readonly why: string;
};

/** The text of the last statement of an origin. It can be taken for no checkpoint. */
export function formatLogEnd(end: LogEnd): string {
  const { origin, size, root, next, held, at, why } = end;
  const lines = [END_HEAD, origin, String(size), base64Text(root)];
  return `${[...lines, `next ${next}`, `held ${held}`, `at ${at}`, `why ${why}`].join('\n')}\n`;
}

/** The last statement in a text; `null`: it is none. */
export function parseLogEnd(text: string): LogEnd | null {
  const [, origin, size, encoded, next, held, at, why] = END.exec(text) ?? [];
  const root = encoded === undefined ? null : parseBase64(encoded);
  if (origin === undefined || next === undefined || at === undefined || why === undefined) {
    return null;
  }
  if (root === null || root.length !== HASH_BYTES) return null;
  const end = { origin, size: Number(size), root, next, held: Number(held), at, why };
  return formatLogEnd(end) === text ? end : null;
}

/** What a witness is sent (tlog-witness): the size it signed before, the proof, the checkpoint. */
export function formatWitnessRequest(
  older: number,
  proof: readonly Uint8Array[],
  checkpoint: string,
): string {
  const lines = [`old ${older}`, ...proof.map((hash) => base64Text(hash))];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}
