// A tree that is read by tiles has the roots and proofs of the whole tree, at any size, and a path
// of a tile means one thing and is written in one way.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashLeaf, isConsistent, isIncluded, rootOfLeaves } from './merkle-tree.ts';
import {
  consistencyProof,
  formatEntries,
  formatTilePath,
  inclusionProof,
  parseEntries,
  parseTile,
  parseTilePath,
  type ReadTile,
  type ReadTiles,
  RUN_WIDTH,
  rootFromTiles,
  TILE_WIDTH,
  TileFault,
  tileByTile,
  tileHashesBetween,
  tileWidth,
  type Width,
} from './tile-tree.ts';

const SIZE_MAX = 66_000;
const LEAVES = Array.from({ length: SIZE_MAX }, (_, n) =>
  hashLeaf(Uint8Array.of(n % 256, Math.floor(n / 256) % 256, Math.floor(n / 65_536))),
);
/** A tree of tiles of this width, read from the hashes of each level. */
function treeOf(width: Width) {
  const levels = [LEAVES];
  for (const { level, index } of tileHashesBetween(0, SIZE_MAX, width).flat()) {
    const below = levels[level - 1] ?? [];
    const tile = below.slice(index * width, (index + 1) * width);
    levels[level] = [...(levels[level] ?? []), rootOfLeaves(tile)];
  }
  const readTile: ReadTile = async ({ level, index, width: held }) => {
    return (levels[level] ?? []).slice(index * width, index * width + held);
  };
  return { width, readTile, readTiles: tileByTile(readTile) };
}
const PUBLISHED = treeOf(TILE_WIDTH);
const STORED = treeOf(RUN_WIDTH);
const treeSize = fc.oneof(
  fc.integer({ min: 1, max: SIZE_MAX }),
  fc.constantFrom(
    1,
    2,
    15,
    16,
    17,
    255,
    256,
    257,
    511,
    512,
    65_535,
    65_536,
    65_537,
    65_792,
    SIZE_MAX,
  ),
);

describe.each([PUBLISHED, STORED])('a tree read by tiles of $width', ({ width, ...tree }) => {
  const { readTile, readTiles } = tree;

  test('has the root of the whole tree', async () => {
    for (const at of [1, 15, 16, 17, 255, 256, 257, 1_000, 65_535, 65_536, 65_537, SIZE_MAX]) {
      expect(await rootFromTiles(at, readTiles, width)).toEqual(rootOfLeaves(LEAVES.slice(0, at)));
    }
  });

  test('proves a leaf and an older size', async () => {
    await fc.assert(
      fc.asyncProperty(treeSize, treeSize, async (one, other) => {
        const [older, newer] = [Math.min(one, other), Math.max(one, other)];
        const [olderRoot, root] = [
          await rootFromTiles(older, readTiles, width),
          await rootFromTiles(newer, readTiles, width),
        ];
        const index = older - 1;
        const leafHash = LEAVES[index] ?? root;
        const proof = await inclusionProof(index, newer, readTiles, width);
        expect(isIncluded({ index, size: newer, leafHash, root, proof })).toBe(true);
        const consistency = await consistencyProof(older, newer, readTiles, width);
        const ends = { older: { size: older, root: olderRoot }, newer: { size: newer, root } };
        expect(isConsistent({ ...ends, proof: consistency })).toBe(true);
      }),
    );
  });

  test('is refused where a tile holds less than it has to', async () => {
    const short: ReadTile = async (tile) => (await readTile(tile)).slice(1);
    await expect(rootFromTiles(300, tileByTile(short), width)).rejects.toThrow(TileFault);
    const fewer: ReadTiles = async (tiles) => (await readTiles(tiles)).slice(1);
    await expect(rootFromTiles(300, fewer, width)).rejects.toThrow(TileFault);
    const cut: ReadTile = async (tile) => (await readTile(tile)).map((hash) => hash.slice(1));
    await expect(rootFromTiles(300, tileByTile(cut), width)).rejects.toThrow(TileFault);
  });
});

describe('a tile', () => {
  test('is as wide as the specification says', () => {
    expect(tileWidth(0, 273, 70_000)).toBe(112);
    expect(tileWidth(0, 272, 70_000)).toBe(256);
    expect(tileWidth(1, 1, 70_000)).toBe(17);
    expect(tileWidth(2, 0, 70_000)).toBe(1);
    expect(tileWidth(1, 0, 256)).toBe(1);
    expect(tileWidth(0, 1, 256)).toBe(0);
  });
});

describe('the path of a tile', () => {
  test.each([
    ['0/x001/x234/067', { of: 'hashes', level: 0, index: 1_234_067, width: 256 }],
    ['1/000.p/17', { of: 'hashes', level: 1, index: 0, width: 17 }],
    ['entries/x001/000.p/255', { of: 'entries', level: 0, index: 1_000, width: 255 }],
  ] as const)('%s', (path, tile) => {
    expect(parseTilePath(path)).toEqual(tile);
    expect(formatTilePath(tile)).toBe(path);
  });

  test.each([
    ...[
      '',
      '0',
      '0/',
      '0/67',
      '0/0067',
      '0/x067',
      '0/x000/067',
      '00/067',
      '7/067',
      '0/067/',
      'a/067',
    ],
    ...['0/067.p/0', '0/067.p/256', '0/067.p/01', '0/067.p/', '0/x1/067', '0/067.p/1/2', '-1/067'],
    ...['0/x001/x234/067?', '/0/067', '0/X001/067', '0/x001//067', 'entries/067.p/300'],
  ])('%s is none', (path) => {
    expect(parseTilePath(path)).toBeNull();
  });

  test('any tile is written in one way', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 999_999_999_999 }),
        fc.integer({ min: 1, max: 256 }),
        fc.nat({ max: 6 }),
        (index, width, level) => {
          const tile = { of: 'hashes', level, index, width } as const;
          expect(parseTilePath(formatTilePath(tile))).toEqual(tile);
        },
      ),
    );
  });
});

test('a bundle gives the entries that were put in, and is refused where it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1 }), (entries) => {
      const bytes = formatEntries(entries);
      expect(parseEntries(bytes)?.map((one) => [...one])).toEqual(entries.map((one) => [...one]));
      expect(parseEntries(bytes.slice(0, -1))).toBeNull();
    }),
  );
  expect(parseTile(new Uint8Array(33))).toBeNull();
  expect(parseTile(new Uint8Array(64))).toHaveLength(2);
});
