// The tree as C2SP's tlog-tiles cuts it: a tile holds up to 256 hashes that follow each other, at
// level 0 those of leaves, at each level above those of the full tiles below it. Whoever reads the
// tiles of a size can make every root and proof of that size.

import { concatBytes } from './bytes.ts';
import {
  completeSubtrees,
  consistencySubtrees,
  HASH_BYTES,
  inclusionSubtrees,
  joinHashes,
  rootOfLeaves,
  type Subtree,
} from './merkle-tree.ts';

/** Hashes of a full tile, as it is published. */
export const TILE_WIDTH = 256;
/** Hashes of a run, as they are stored: the same tree by sixteens, two levels to one of tiles. */
export const RUN_WIDTH = 16;
/** How many hashes make one of the level above. */
export type Width = typeof TILE_WIDTH | typeof RUN_WIDTH;

/** A tile: how many of its hashes are meant, which follow each other from its first. */
export type Tile = { readonly level: number; readonly index: number; readonly width: number };

/** Reads the hashes of a tile: exactly as many as its width. */
export type ReadTile = (tile: Tile) => Promise<readonly Uint8Array[]>;

/** Reads the hashes of some tiles, in their order. */
export type ReadTiles = (tiles: readonly Tile[]) => Promise<readonly (readonly Uint8Array[])[]>;

/** Reads tiles from where there is one at a time. */
export function tileByTile(readTile: ReadTile): ReadTiles {
  return (tiles) => Promise.all(tiles.map(readTile));
}

/** Leaves under one hash of a level. */
export function leavesUnder(level: number, width: Width = TILE_WIDTH): number {
  return width ** level;
}

/** How wide a tile is in a tree of this size: 0 where it has none. */
export function tileWidth(
  level: number,
  index: number,
  size: number,
  width: Width = TILE_WIDTH,
): number {
  const hashes = Math.floor(size / leavesUnder(level, width)) - index * width;
  return Math.max(0, Math.min(width, hashes));
}

/** The hashes of some subtrees of a tree of this size, from as few tiles as hold them. */
export async function hashSubtrees(
  subtrees: readonly Subtree[],
  size: number,
  readTiles: ReadTiles,
  width: Width = TILE_WIDTH,
): Promise<Uint8Array[]> {
  const runs = subtrees.map((subtree) =>
    completeSubtrees(subtree).map((complete) => runOf(complete, width)),
  );
  const wanted = new Map<string, Tile>();
  for (const { level, tile } of runs.flat()) {
    const held = tileWidth(level, tile, size, width);
    wanted.set(`${level}/${tile}`, { level, index: tile, width: held });
  }
  const read = await readTiles([...wanted.values()]);
  const tiles = new Map(
    [...wanted].map(([name, tile], at) => [name, wholeTile(tile, read[at])] as const),
  );
  return runs.map((parts) =>
    joinHashes(
      parts.map(({ level, tile, first, count }) => {
        const hashes = tiles.get(`${level}/${tile}`);
        if (hashes === undefined) throw new Error(`tile ${level}/${tile} was not read`);
        return rootOfLeaves(hashes.slice(first, first + count));
      }),
    ),
  );
}

function wholeTile(tile: Tile, hashes: readonly Uint8Array[] | undefined) {
  if (hashes === undefined) throw new TileFault(tile, 'it was not read');
  const isWhole = hashes.length === tile.width && hashes.every((one) => one.length === HASH_BYTES);
  if (!isWhole) throw new TileFault(tile, `it holds ${hashes.length} hashes`);
  return hashes;
}

/** A tile that is not what it has to be. */
export class TileFault extends Error {
  constructor({ level, index, width }: Tile, fault: string) {
    super(`tile ${level}/${index} of ${width} hashes: ${fault}`);
    this.name = 'TileFault';
  }
}

type Run = {
  readonly level: number;
  readonly tile: number;
  readonly first: number;
  readonly count: number;
};

/** The hashes that a complete subtree is made of: they follow each other in one tile. */
function runOf({ begin, end }: Subtree, width: Width): Run {
  let level = 0;
  while (leavesUnder(level + 1, width) <= end - begin) level += 1;
  const at = begin / leavesUnder(level, width);
  const tile = Math.floor(at / width);
  const count = (end - begin) / leavesUnder(level, width);
  return { level, tile, first: at - tile * width, count };
}

/** The root of a tree of this size. */
export async function rootFromTiles(
  size: number,
  readTiles: ReadTiles,
  width?: Width,
): Promise<Uint8Array> {
  const [root] = await hashSubtrees([{ begin: 0, end: size }], size, readTiles, width);
  if (root === undefined) throw new Error('a tree without a root');
  return root;
}

/** The proof that a leaf is in a tree of this size. */
export function inclusionProof(
  index: number,
  size: number,
  readTiles: ReadTiles,
  width?: Width,
): Promise<Uint8Array[]> {
  return hashSubtrees(inclusionSubtrees(index, size), size, readTiles, width);
}

/** The proof that a tree of one size is the beginning of one of another. */
export function consistencyProof(
  older: number,
  newer: number,
  readTiles: ReadTiles,
  width?: Width,
): Promise<Uint8Array[]> {
  return hashSubtrees(consistencySubtrees(older, newer), newer, readTiles, width);
}

// Paths of tiles: an index is written in groups of three digits, all but the last behind an `x`.

const GROUP = 1_000;
const GROUP_DIGITS = 3;
const TILE_PATH = /^(entries|[0-6])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** What stands at a path: hashes of a level, or the entries under a tile of level 0. */
export type TilePath = Tile & { readonly of: 'hashes' | 'entries' };

/** The path of a tile after `tile/`. */
export function formatTilePath({ of, level, index, width }: TilePath): string {
  const groups: string[] = [];
  let rest = index;
  do {
    const digits = String(rest % GROUP).padStart(GROUP_DIGITS, '0');
    groups.unshift(groups.length === 0 ? digits : `x${digits}`);
    rest = Math.floor(rest / GROUP);
  } while (rest > 0);
  const partial = width === TILE_WIDTH ? '' : `.p/${width}`;
  return `${of === 'entries' ? of : level}/${groups.join('/')}${partial}`;
}

/** What a path after `tile/` names; `null`: nothing, or something that is written otherwise. */
export function parseTilePath(path: string): TilePath | null {
  const [, prefix, groups, partial] = TILE_PATH.exec(path) ?? [];
  if (prefix === undefined || groups === undefined) return null;
  const of = prefix === 'entries' ? 'entries' : 'hashes';
  const level = of === 'entries' ? 0 : Number(prefix);
  const index = Number(groups.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  const tile: TilePath = { of, level, index, width };
  return width <= TILE_WIDTH && formatTilePath(tile) === path ? tile : null;
}

/** The hashes in the bytes of a tile; `null`: these bytes are no hashes. */
export function parseTile(bytes: Uint8Array): Uint8Array[] | null {
  if (bytes.length % HASH_BYTES !== 0) return null;
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, n) =>
    bytes.slice(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
}

const LENGTH_BYTES = 2;

/** The bytes of a bundle of entries: each behind its length, which is two bytes, big end first. */
export function formatEntries(entries: readonly Uint8Array[]): Uint8Array {
  return concatBytes(
    entries.flatMap((entry) => [
      Uint8Array.of(Math.floor(entry.length / TILE_WIDTH), entry.length % TILE_WIDTH),
      entry,
    ]),
  );
}

/** The entries of a bundle; `null` where the last one is cut. */
export function parseEntries(bytes: Uint8Array): Uint8Array[] | null {
  const entries: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    if (at + LENGTH_BYTES > bytes.length) return null;
    const end = at + LENGTH_BYTES + view.getUint16(at);
    if (end > bytes.length) return null;
    entries.push(bytes.slice(at + LENGTH_BYTES, end));
    at = end;
  }
  return entries;
}

/** A hash above the leaves: that of the full tile with this index, one level below. */
export type TileHash = { readonly level: number; readonly index: number };

/** The hashes of full tiles that a larger tree has beyond a smaller one, by level, lowest first. */
export function tileHashesBetween(older: number, newer: number, width: Width): TileHash[][] {
  const levels: TileHash[][] = [];
  for (let level = 1; leavesUnder(level, width) <= newer; level += 1) {
    const under = leavesUnder(level, width);
    const found: TileHash[] = [];
    for (let index = Math.floor(older / under); index < Math.floor(newer / under); index += 1) {
      found.push({ level, index });
    }
    levels.push(found);
  }
  return levels;
}
