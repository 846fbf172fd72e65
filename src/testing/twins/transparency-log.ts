// The twin of the log: leaves in memory, signed with a key that everybody holds, and silent.

import { createPrivateKey, sign } from 'node:crypto';
import { hashLeaf, leafContent, rootOfLeaves } from '../../chain/merkle-tree.ts';
import {
  formatCheckpoint,
  formatNote,
  formatSignatureLine,
  noteBytes,
  noteKey,
} from '../../chain/signed-note.ts';
import {
  consistencyProof,
  inclusionProof,
  leavesUnder,
  type ReadTile,
  rootFromTiles,
  tileByTile,
} from '../../chain/tile-tree.ts';
import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { transparencyLog } from '../../features/log/standing.ts';
import { LEAF_KINDS, type NewLeaf, type TransparencyLog } from '../../ports/transparency-log.ts';
import { memorySource, PLANTED } from './dated.ts';
import { TEST_KEY } from './signing.ts';

export type TransparencyLogPorts = { readonly transparencyLog: TransparencyLog };

/** The name of the log in memory. */
export const MEMORY_HOST = 'log.example';
const ORIGIN = `${MEMORY_HOST}/log/1`;

/** The note of the test key over a text. */
export function noteOfTestKey(origin: string, text: string): string {
  const { d, x } = TEST_KEY;
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  const signature = Uint8Array.from(sign(null, noteBytes(text), key));
  const known = noteKey(origin, Uint8Array.from(Buffer.from(x, 'base64url')));
  return formatNote(text, [formatSignatureLine(known, signature)]);
}

/** A tile of leaves that are all in memory. */
export function tilesOver(leaves: readonly Uint8Array[]): ReadTile {
  return async ({ level, index, width }) => {
    const under = leavesUnder(level);
    return Array.from({ length: width }, (_, n) => {
      const from = (index * 256 + n) * under;
      return rootOfLeaves(leaves.slice(from, from + under));
    });
  };
}

/** The log over some leaves, all of them under its newest checkpoint. */
export function memoryTransparencyLog(leaves: readonly NewLeaf[] = []): TransparencyLogPorts {
  const source = memorySource('Control store', 'table', PLANTED);
  const give = async <T>(value: T) => read(value, { port: 'transparency_log', source });
  const giveSeen = async <T>(value: T) => read(value, { port: 'seen_heads', source });
  const entries = leaves.map((leaf, index) => ({ ...leaf, index }));
  const hashes = leaves.map(({ kind, hash }) => hashLeaf(leafContent(LEAF_KINDS[kind], hash)));
  const readTile = tilesOver(hashes);
  const readTiles = tileByTile(readTile);
  const size = leaves.length;
  const root = rootOfLeaves(hashes);
  const text = formatCheckpoint({ origin: ORIGIN, size, root });
  const note = noteOfTestKey(ORIGIN, text);
  const signed_at = PLANTED.as_of;
  const newest = size === 0 ? null : { size, root, note, lines: '', signed_at };
  const current = { generation: 1, origin: ORIGIN, newest, freeze: null, end: null };
  const only = () => Promise.reject(new Error('the log in memory is only read'));
  return {
    transparencyLog: transparencyLog({
      host: MEMORY_HOST,
      keys: async () =>
        read([{ x: TEST_KEY.x, compromised_since: null }], { port: 'signing_keys', source }),
      seen: {
        newest: () => giveSeen(newest === null ? null : note),
        hasEnded: () => giveSeen(false),
        keep: only,
        keepEnd: only,
      },
      store: {
        state: () => give({ leaves: size, origins: [current] }),
        rootAt: async (at) => give(await rootFromTiles(at, readTiles)),
        inclusion: async (index, at) => give(await inclusionProof(index, at, readTiles)),
        consistency: async (older, at) => give(await consistencyProof(older, at, readTiles)),
        hashes: async (level, index, width) => give(await readTile({ level, index, width })),
        entries: (from, limit) => give(entries.slice(from, from + limit)),
        find: ({ kind, hash }) => {
          const found = entries.find((one) => one.kind === kind && one.hash === hash);
          return give(found === undefined ? null : found);
        },
        cosigned: () => give(new Map<string, number>()),
        hashTiles: () => give(size),
        begin: only,
        publish: only,
        freeze: only,
        end: only,
        addCosignature: only,
      },
    }),
  };
}

export function silentTransparencyLog(cause: Why): TransparencyLogPorts {
  const silent = async () => unread('transparency_log' as const, cause);
  return {
    transparencyLog: {
      head: silent,
      find: silent,
      at: silent,
      inclusion: silent,
      isSigned: silent,
      entries: silent,
      tile: silent,
    },
  };
}

/** Statements that may be planted. */
export type PlantedLog = { readonly statements?: readonly NewLeaf[] };

export function plantedTransparencyLog({ statements = [] }: PlantedLog): TransparencyLogPorts {
  return memoryTransparencyLog(statements);
}

/** A statement that is planted beside what others hold. */
export const STATED: NewLeaf = {
  kind: 'signal',
  hash: `0x${'5a'.repeat(32)}`,
  id: 'sig_5a',
  at: PLANTED.as_of,
};
