// Reads tiles of the log from its tables: all that a proof needs in one statement. A full tile is
// remembered under the hash that the store has of it, so that what is remembered of leaves that
// the store lost is never taken for those that it holds now.

import { z } from 'zod';
import { concatBytes } from '../../chain/bytes.ts';
import { HASH_BYTES, isSameHash } from '../../chain/merkle-tree.ts';
import { parseTile, type ReadTiles, TILE_WIDTH, type Tile } from '../../chain/tile-tree.ts';
import { type Session, StoreUnavailable } from '../../stores/control/engine/database.ts';

/** Tiles that are remembered at most, each of about 64 KiB with the hashes made of it. */
const TILES_KEPT = 256;

// The engine hashes the leaves: 256 rows of a tile come as one value.
const TILES = `
  select case when n.level = 0 then (
      select string_agg(sha256(set_byte('\\x0000', 1, kind) || hash), '' order by leaf_index)
      from log_leaves where leaf_index >= n.first and leaf_index < n.past)
    else (
      select string_agg(hash, '' order by hash_index) from log_tile_hashes t
      where t.level = n.level and t.hash_index >= n.first and t.hash_index < n.past)
    end as hashes, (
      select encode(hash, 'hex') from log_tile_hashes t
      where t.level = n.level + 1 and t.hash_index = n.first / ${TILE_WIDTH}) as root
  from unnest($1::int[], $2::bigint[], $3::bigint[]) with ordinality as n (level, first, past, at)
  order by n.at`;

const tileRow = z.object({
  hashes: z.instanceof(Uint8Array).nullable(),
  /** The hash of the tile; `null`: it is not full, or nobody has hashed it yet. */
  root: z.string().nullable(),
});
type TileRow = z.output<typeof tileRow>;
type Remembered = {
  readonly root: string | null;
  readonly bytes: Uint8Array;
  readonly hashes: readonly Uint8Array[];
};

/** Reads tiles from the store alone. */
export function storedTiles(database: Pick<Session, 'query'>): ReadTiles {
  return async (tiles) => {
    const rows = await readRows(database, tiles, () => true);
    return tiles.map((tile, at) => hashesIn(tile, rows[at]?.hashes));
  };
}

/**
 * The same, but for full tiles that were read before and that the store still has. Of any tile that
 * did not change it gives the same array, so that nothing is hashed twice.
 */
export function rememberedTiles(database: Pick<Session, 'query'>): ReadTiles {
  const memory = new Map<string, Remembered>();
  return async (tiles) => {
    const known = tiles.map((tile) => memory.get(nameOf(tile)));
    const hasRoot = (at: number) => known[at] !== undefined && known[at].root !== null;
    const rows = await readRows(database, tiles, (at) => !hasRoot(at));
    const isOther = (at: number) => hasRoot(at) && known[at]?.root !== rows[at]?.root;
    const others = tiles.some((_, at) => isOther(at))
      ? await readRows(database, tiles, isOther)
      : rows;
    return tiles.map((tile, at) => {
      const before = known[at];
      const row = isOther(at) ? others[at] : rows[at];
      const isSame = hasRoot(at) && !isOther(at);
      const one = isSame && before !== undefined ? before : freshTile(tile, row, before);
      remember(memory, tile, one);
      return one.hashes;
    });
  };
}

function freshTile(
  tile: Tile,
  row: TileRow | undefined,
  before: Remembered | undefined,
): Remembered {
  const hashes = hashesIn(tile, row?.hashes);
  const bytes = concatBytes(hashes);
  // A tile that is not full has no hash of its own that the store could name.
  const root = tile.width === TILE_WIDTH && row !== undefined ? row.root : null;
  if (before !== undefined && isSameHash(before.bytes, bytes)) return { ...before, root };
  return { root, bytes, hashes };
}

/** Makes it the newest, and forgets the oldest beyond the bound. */
function remember(memory: Map<string, Remembered>, tile: Tile, one: Remembered): void {
  const name = nameOf(tile);
  memory.delete(name);
  memory.set(name, one);
  const [oldest] = memory.keys();
  if (memory.size > TILES_KEPT && oldest !== undefined) memory.delete(oldest);
}

function nameOf({ level, index, width }: Tile): string {
  return `${level}/${index}/${width}`;
}

/** A row for each tile, with hashes where they are wanted. */
async function readRows(
  database: Pick<Session, 'query'>,
  tiles: readonly Tile[],
  isWanted: (at: number) => boolean,
): Promise<readonly TileRow[]> {
  const first = tiles.map(({ index }) => index * TILE_WIDTH);
  const past = tiles.map(({ index, width }, at) => index * TILE_WIDTH + (isWanted(at) ? width : 0));
  const params = [tiles.map(({ level }) => level), first, past];
  return z.array(tileRow).parse(await database.query(TILES, params, 'often'));
}

function hashesIn({ width }: Tile, bytes: Uint8Array | null | undefined): Uint8Array[] {
  const isWhole = bytes?.length === width * HASH_BYTES;
  const hashes = isWhole ? parseTile(bytes) : null;
  if (hashes === null) throw new StoreUnavailable('a leaf of it is missing', 'MISSING');
  return hashes;
}
