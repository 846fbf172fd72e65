// Reads hashes of the log from its tables: all that a proof needs in one statement.

import { z } from 'zod';
import { HASH_BYTES } from '../../chain/merkle-tree.ts';
import {
  parseTile,
  type ReadTiles,
  TILE_WIDTH,
  type Tile,
  type Width,
} from '../../chain/tile-tree.ts';
import { type Session, StoreUnavailable } from '../../stores/control/engine/database.ts';

// The engine hashes the leaves: the rows of a tile come as one value.
const TILES = `
  select case when n.level = 0 then (
      select string_agg(sha256(set_byte('\\x0000', 1, kind) || hash), '' order by leaf_index)
      from log_leaves where leaf_index >= n.first and leaf_index < n.past)
    else (
      select string_agg(hash, '' order by hash_index) from log_hashes t
      where t.level = n.level and t.hash_index >= n.first and t.hash_index < n.past)
    end as hashes
  from unnest($1::int[], $2::bigint[], $3::bigint[]) with ordinality as n (level, first, past, at)
  order by n.at`;

const tileRow = z.object({ hashes: z.instanceof(Uint8Array).nullable() });

/** Reads tiles of this width. The store has two levels to one of published tiles. */
export function storedTiles(database: Pick<Session, 'query'>, width: Width): ReadTiles {
  const levels = width === TILE_WIDTH ? 2 : 1;
  return async (tiles) => {
    const first = tiles.map(({ index }) => index * width);
    const past = tiles.map((tile) => tile.index * width + tile.width);
    const params = [tiles.map(({ level }) => level * levels), first, past];
    // Planned each time: a plan that is kept since the log was small scans what has grown.
    const rows = z.array(tileRow).parse(await database.query(TILES, params));
    return tiles.map((tile, at) => hashesIn(tile, rows[at]?.hashes));
  };
}

function hashesIn({ width }: Tile, bytes: Uint8Array | null | undefined): Uint8Array[] {
  const isWhole = bytes?.length === width * HASH_BYTES;
  const hashes = isWhole ? parseTile(bytes) : null;
  if (hashes === null) throw new StoreUnavailable('a leaf of it is missing', 'MISSING');
  return hashes;
}
