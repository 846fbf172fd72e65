// A log of the tests as it is served: by its paths, and over HTTP. A test changes what it shows.

import { createServer } from 'node:http';
import { concatBytes } from '../chain/bytes.ts';
import { hashLeaf, rootOfLeaves } from '../chain/merkle-tree.ts';
import { formatCheckpoint, formatNoteKey, noteKey } from '../chain/signed-note.ts';
import { parseTilePath, tileWidth } from '../chain/tile-tree.ts';
import type { LogSite, LogWords } from '../features/log/follow.ts';
import { TEST_KEY } from './twins/signing.ts';
import { noteOfTestKey, tilesOver } from './twins/transparency-log.ts';

export const SERVED_ORIGIN = 'log.example/log/1';
const KEY = formatNoteKey(noteKey(SERVED_ORIGIN, Buffer.from(TEST_KEY.x, 'base64url')));
export const SERVED_WORDS: LogWords = { origin: SERVED_ORIGIN, keys: [KEY], former: [] };

/** Hashes of leaves; those of one name begin alike. */
export function servedLeaves(count: number, name = 'leaf'): Uint8Array[] {
  return Array.from({ length: count }, (_, n) =>
    hashLeaf(new TextEncoder().encode(`${name} ${n}`)),
  );
}

export function checkpointOver(leaves: readonly Uint8Array[], origin = SERVED_ORIGIN): string {
  const [size, root] = [leaves.length, rootOfLeaves(leaves)];
  return noteOfTestKey(origin, formatCheckpoint({ origin, size, root }));
}

/** What a log serves that has these leaves; some paths may be told otherwise. */
export function servedLog(
  leaves: readonly Uint8Array[],
  other: { readonly [path: string]: string | null } = {},
): LogSite {
  const readTile = tilesOver(leaves);
  return {
    text: async (path) => {
      if (path in other) return other[path] ?? null;
      if (path === '/api/log') return JSON.stringify(SERVED_WORDS);
      const [, log] = /^\/log\/(\d)\/checkpoint$/.exec(path) ?? [];
      return log === undefined ? null : checkpointOver(leaves, `log.example/log/${log}`);
    },
    bytes: async (path) => {
      const tile = parseTilePath(path.replace(/^\/log\/\d\/tile\//, ''));
      if (tile === null || tileWidth(tile.level, tile.index, leaves.length) < tile.width)
        return null;
      return concatBytes(await readTile(tile));
    },
  };
}

/** Serves what a log shows at the moment; `null`: it answers 503. */
export async function startServedLog(shown: () => LogSite | null) {
  const answer = async (path: string): Promise<{ status: number; body: string | Uint8Array }> => {
    const site = shown();
    if (site === null) return { status: 503, body: '{"error":"unavailable"}' };
    const body = (await site.text(path)) ?? (await site.bytes(path));
    return body === null ? { status: 404, body: '{"error":"not here"}' } : { status: 200, body };
  };
  const server = createServer((request, response) => {
    void answer(String(request.url)).then(({ status, body }) => {
      response.writeHead(status).end(body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    base: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
