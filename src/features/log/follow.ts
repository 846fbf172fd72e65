// Follows a log as a stranger does: keeps the last checkpoint that it saw, and has each newer one
// proved to continue it. A log that shows two views is caught by whoever saw the first.

import {
  hashLeaf,
  isConsistent,
  isIncluded,
  isSameHash,
  leafContent,
} from '../../chain/merkle-tree.ts';
import {
  checkNote,
  formatNoteKey,
  type LogCheckpoint,
  type LogEnd,
  type NoteKey,
  noteKey,
  openCheckpoint,
  parseLogEnd,
  parseLogProof,
  parseNote,
  parseNoteKey,
} from '../../chain/signed-note.ts';
import {
  consistencyProof,
  formatTilePath,
  parseTile,
  type ReadTiles,
  rootFromTiles,
  TILE_WIDTH,
  type Tile,
  TileFault,
  tileByTile,
} from '../../chain/tile-tree.ts';
import { present } from '../../evidence/measure.ts';
import { LEAF_KINDS, type LeafKind } from '../../ports/transparency-log.ts';

/** Something was not answered, or is not what it has to be: nothing was checked. */
export class NotChecked extends Error {}

/** Reads what a log serves: `null` where it has nothing there. Throws `NotChecked`. */
export type LogSite = {
  readonly text: (path: string) => Promise<string | null>;
  readonly bytes: (path: string) => Promise<Uint8Array | null>;
};

/** What the log says of itself. */
export type LogWords = {
  readonly origin: string | null;
  readonly keys: readonly string[];
  readonly former: readonly { readonly origin: string }[];
};

/** What a follower keeps: the last checkpoint that it saw, and the keys that it goes by. */
export type SeenLog = {
  readonly origin: string;
  readonly keys: readonly string[];
  readonly checkpoint: string;
};

type FirstView = { readonly kind: 'first'; readonly seen: SeenLog; readonly size: number };

/** What a look at a log found. `seen` is what is kept from now on. */
export type LogView =
  | FirstView
  | { readonly kind: 'same'; readonly seen: SeenLog; readonly size: number }
  | { readonly kind: 'grown'; readonly seen: SeenLog; readonly from: number; readonly size: number }
  /** The origin ended; `seen` is of the one that goes on, or still of the old one. */
  | { readonly kind: 'ended'; readonly seen: SeenLog | null; readonly end: LogEnd }
  /** Two signed states of one log, of which neither continues the other. */
  | {
      readonly kind: 'fork';
      readonly reason: string;
      readonly older: string;
      readonly newer: string;
    };

/** Looks at a log once. Throws `NotChecked` where it could not tell. */
export async function followOnce(
  site: LogSite,
  words: LogWords,
  seen: SeenLog | null,
  pinned: readonly string[],
): Promise<LogView> {
  const origin = seen === null ? words.origin : seen.origin;
  if (origin === null) throw new NotChecked('the log has signed nothing yet');
  const trusted = pinned.length > 0 ? pinned : [...words.keys, ...formerKeys(seen)];
  const now = await readSigned(site, origin, trusted);
  if (now === null) throw new NotChecked(`no checkpoint of ${origin} is served`);
  if (seen === null) return lookFirst(site, now);
  const opened = openCheckpoint(seen.checkpoint, origin, keysFor(origin, seen.keys));
  if (!opened.ok) throw new NotChecked(`what was seen before does not hold: ${opened.fault}`);
  const before: Signed = { ...opened.checkpoint, keys: seen.keys, text: seen.checkpoint };
  if (words.former.some((one) => one.origin === origin)) {
    return followEnd(site, words, trusted, { before, now });
  }
  const reason = await compareViews(site, before, now);
  if (reason !== null) return forkOf(reason, before, now);
  if (now.size === before.size) return { kind: 'same', seen, size: now.size };
  return { kind: 'grown', seen: asSeen(now), from: before.size, size: now.size };
}

/** A state of a log with its note, and the keys under which it was opened. */
type Signed = LogCheckpoint & { readonly keys: readonly string[]; readonly text: string };

/** The state that an origin shows; `null`: it shows none. */
async function readSigned(
  site: LogSite,
  origin: string,
  trusted: readonly string[],
): Promise<Signed | null> {
  const keys = keysFor(origin, trusted);
  const text = await site.text(`${pathOfOrigin(origin)}/checkpoint`);
  if (text === null) return null;
  const opened = openCheckpoint(text, origin, keys);
  if (!opened.ok) throw new NotChecked(`the checkpoint does not hold: ${opened.fault}`);
  return { ...opened.checkpoint, keys: keys.map(formatNoteKey), text };
}

function asSeen({ origin, keys, text }: Signed): SeenLog {
  return { origin, keys, checkpoint: text };
}

function forkOf(reason: string, older: Signed, newer: Pick<Signed, 'text'>): LogView {
  return { kind: 'fork', reason, older: older.text, newer: newer.text };
}

/** The first sight of a log: its tiles make the root that it signed. */
async function lookFirst(site: LogSite, now: Signed): Promise<FirstView> {
  const { origin, size, root } = now;
  const made = await rootFromTiles(size, tilesOf(site, origin, size)).catch(notChecked);
  if (!isSameHash(made, root)) throw new NotChecked(OTHER_TILES);
  return { kind: 'first', seen: asSeen(now), size };
}

const OTHER_TILES = 'the tiles are not those of the checkpoint';

function formerKeys(seen: SeenLog | null): readonly string[] {
  return present([seen]).flatMap(({ keys }) => keys);
}

/** The keys under the name of an origin: an operator signs each origin with the same keys. */
function keysFor(origin: string, texts: readonly string[]): NoteKey[] {
  const keys = texts.map((text) => {
    const key = parseNoteKey(text);
    if (key === null) throw new NotChecked('a key of the log is none');
    return noteKey(origin, key.publicKey);
  });
  return keys.filter((key, at) => keys.findIndex(({ id }) => id === key.id) === at);
}

/** Where the log with this name is served. */
function pathOfOrigin(origin: string): string {
  return origin.slice(Math.max(0, origin.indexOf('/')));
}

/** Why two signed states contradict each other; `null`: the newer one continues the older one. */
async function compareViews(
  site: LogSite,
  before: LogCheckpoint,
  now: LogCheckpoint,
): Promise<string | null> {
  const { origin } = now;
  if (now.size === before.size) {
    if (isSameHash(now.root, before.root)) return null;
    return `${origin} signed two roots of ${now.size} leaves`;
  }
  // Of a smaller size nothing can be proved by what was seen: it may be old, or of another log.
  if (now.size < before.size) {
    throw new NotChecked(`${now.size} leaves were shown, after ${before.size} were seen`);
  }
  const [older, newer] = [before, now];
  const readTiles = tilesOf(site, origin, newer.size);
  const proof = await consistencyProof(older.size, newer.size, readTiles).catch(notChecked);
  if (isConsistent({ older, newer, proof })) return null;
  // Tiles that do not make the signed root prove nothing against it.
  const root = await rootFromTiles(newer.size, readTiles).catch(notChecked);
  if (!isSameHash(root, newer.root)) throw new NotChecked(OTHER_TILES);
  return `${origin} signed ${newer.size} leaves that do not continue the ${older.size} before`;
}

/**
 * Follows a log over its end. What was lost cannot be read, and of that the signed statement alone
 * tells; the log that goes on has to continue whatever of it is held.
 */
async function followEnd(
  site: LogSite,
  words: LogWords,
  trusted: readonly string[],
  { before, now }: { readonly before: Signed; readonly now: Signed },
): Promise<LogView> {
  const { end, text } = await readEnd(site, before.origin, trusted);
  for (const state of [before, now]) {
    const reason = contradictionOf(state, end);
    if (reason !== null) return forkOf(reason, state, { text });
  }
  const reason = end.held < end.size ? null : await compareViews(site, before, now);
  if (reason !== null) return forkOf(reason, before, now);
  const next = await readNext(site, words, trusted, end);
  if (next === null) return { kind: 'ended', seen: null, end };
  const { seen } = await lookFirst(site, next.signed);
  const other = before.size > next.held ? null : await compareViews(site, before, next.signed);
  return other === null ? { kind: 'ended', seen, end } : forkOf(other, before, next.signed);
}

/** The statement of an end, which a key of the log signed. */
async function readEnd(
  site: LogSite,
  origin: string,
  trusted: readonly string[],
): Promise<{ readonly end: LogEnd; readonly text: string }> {
  const text = await site.text(`${pathOfOrigin(origin)}/end`);
  const note = text === null ? null : parseNote(text);
  const end = note === null ? null : parseLogEnd(note.text);
  if (note === null || end === null || text === null || end.origin !== origin) {
    throw new NotChecked(`${origin} ended without a statement`);
  }
  if (!keysFor(origin, trusted).some((key) => checkNote(note, key) === 'signed')) {
    throw new NotChecked(`no known key of ${origin} signed the statement of its end`);
  }
  return { end, text };
}

/** Why an end contradicts a state that its log signed, or `null`. */
function contradictionOf({ origin, size, root }: Signed, end: LogEnd): string | null {
  if (end.size < size) return `${origin} ended with ${end.size} leaves, after it signed ${size}`;
  const isOther = end.size === size && !isSameHash(end.root, root);
  return isOther ? `${origin} signed two roots of ${size} leaves` : null;
}

/**
 * The log that goes on now, which may have followed on others, and how many leaves each of them
 * held of the one before; `null`: it has signed nothing yet.
 */
async function readNext(
  site: LogSite,
  { origin, former }: LogWords,
  trusted: readonly string[],
  first: LogEnd,
): Promise<{ readonly signed: Signed; readonly held: number } | null> {
  let { next, held } = first;
  for (const _ of former) {
    if (next === origin) break;
    const { end } = await readEnd(site, next, trusted);
    held = Math.min(held, end.held);
    next = end.next;
  }
  if (next !== origin)
    throw new NotChecked(`${first.origin} goes on as ${next}, which is not told of`);
  const signed = await readSigned(site, next, trusted);
  return signed === null ? null : { signed, held };
}

function notChecked(fault: unknown): never {
  if (fault instanceof TileFault) throw new NotChecked(fault.message);
  throw fault;
}

/** Reads tiles of a log at a size; a partial tile that is gone is taken from the full one. */
function tilesOf(site: LogSite, origin: string, size: number): ReadTiles {
  const path = (tile: Tile) =>
    `${pathOfOrigin(origin)}/tile/${formatTilePath({ of: 'hashes', ...tile })}`;
  return tileByTile(async (tile) => {
    const partial = await site.bytes(path(tile));
    const bytes =
      partial === null ? await site.bytes(path({ ...tile, width: TILE_WIDTH })) : partial;
    const hashes = bytes === null ? null : parseTile(bytes);
    if (hashes === null) throw new NotChecked(`a tile of ${size} leaves is not served`);
    return hashes.slice(0, tile.width);
  });
}

/** A leaf as the log tells of it. */
export type LeafFacts = { readonly index: number; readonly kind: LeafKind; readonly hash: string };

/** Whether a proof holds for a leaf under the keys of a log; why not, or `null`. */
export function checkProof(text: string, leaf: LeafFacts, keys: readonly string[]): string | null {
  const proof = parseLogProof(text);
  if (proof === null) return 'it is no proof';
  const [origin] = proof.checkpoint.split('\n');
  if (origin === undefined || proof.index !== leaf.index) return 'it is of another leaf';
  const opened = openCheckpoint(proof.checkpoint, origin, keysFor(origin, keys));
  if (!opened.ok) return `its checkpoint does not hold: ${opened.fault}`;
  const { size, root } = opened.checkpoint;
  const leafHash = hashLeaf(leafContent(LEAF_KINDS[leaf.kind], leaf.hash));
  const held = isIncluded({ index: proof.index, size, leafHash, root, proof: proof.hashes });
  return held ? null : 'the leaf is not in the tree of its checkpoint';
}
