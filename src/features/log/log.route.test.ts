// The routes of the log give what C2SP names, each in its own bytes, and say of a log that was not
// read that it was not.

import { describe, expect, test } from 'vitest';
import { hashLeaf, leafContent } from '../../chain/merkle-tree.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { NewLeaf } from '../../ports/transparency-log.ts';
import { startRouteServer } from '../../testing/route-server.ts';
import { memorySigning, silentSigning } from '../../testing/twins/signing.ts';
import {
  memoryTransparencyLog,
  STATED,
  silentTransparencyLog,
} from '../../testing/twins/transparency-log.ts';
import { frozenBecause, NO_ORIGIN } from './checkpoints.ts';
import { checkProof } from './follow.ts';

const OTHER: NewLeaf = { ...STATED, hash: `0x${'6b'.repeat(32)}`, id: 'sig_6b' };
const LEAVES = [STATED, OTHER];
const CAUSE = why('timed_out', { what: 'The log', limit: '1 s' });

/** Asks the routes over some ports. */
async function ask(path: string, ports: object = held()) {
  const server = await startRouteServer(
    () => ports,
    () => 0,
  );
  try {
    const answer = await fetch(`${server.base}${path}`);
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  } finally {
    await server.close();
  }
}

function held(leaves: readonly NewLeaf[] = LEAVES) {
  return { ...memorySigning(), ...memoryTransparencyLog(leaves) };
}

/** The server of the tests gives a text as JSON. */
async function textOf(path: string): Promise<string> {
  return String(await jsonOf(path));
}

async function jsonOf(path: string, ports?: object): Promise<unknown> {
  return JSON.parse((await ask(path, ports)).bytes.toString('utf8')) as unknown;
}

describe('says', () => {
  test('what the log is, and what it signed', async () => {
    expect(await jsonOf('/api/log')).toMatchObject({
      origin: 'log.example/log/1',
      path: '/log/1',
      keys: [expect.stringMatching(/^log\.example\/log\/1\+[0-9a-f]{8}\+/)],
      leaves: 2,
      checkpoint: { size: 2, root: expect.stringMatching(/^0x/) },
      signs: true,
      reason: null,
      former: [],
    });
    expect(await jsonOf('/api/log', held([]))).toMatchObject({ leaves: 0, checkpoint: null });
  });

  test('which statement each leaf is, by pages', async () => {
    const at = expect.stringMatching(/Z$/);
    const { kind, hash, id } = STATED;
    expect(await jsonOf('/api/log/entries?limit=1')).toMatchObject({
      entries: [{ index: 0, kind, hash, id, at }],
      next_from: 1,
    });
    expect(await jsonOf('/api/log/entries?from=1')).toMatchObject({
      entries: [{ index: 1, kind, hash: OTHER.hash, id: OTHER.id, at }],
      next_from: null,
    });
  });

  test('a tile, its entries, and a proof that holds', async () => {
    const hashes = LEAVES.map(({ hash }) => hashLeaf(leafContent(1, hash)));
    const tile = await ask('/log/1/tile/0%2F000.p%2F2');
    expect(tile.bytes).toEqual(Buffer.concat(hashes));
    const entries = await ask('/log/1/tile/entries%2F000.p%2F2');
    const bundle = LEAVES.flatMap(({ hash }) => [Buffer.from([0, 33]), leafContent(1, hash)]);
    expect(entries.bytes).toEqual(Buffer.concat(bundle));
    const keys = ((await jsonOf('/api/log')) as { keys: string[] }).keys;
    for (const leaf of ['1', `signal:${OTHER.hash}`]) {
      const proof = await textOf(`/api/log/proof/${encodeURIComponent(leaf)}`);
      expect(checkProof(proof, { ...OTHER, index: 1 }, keys)).toBeNull();
      expect(checkProof(proof, { ...STATED, index: 1 }, keys)).toContain('not in the tree');
      expect(checkProof(proof, { ...OTHER, index: 0 }, keys)).toContain('another leaf');
      const checkpoint = await textOf('/log/1/checkpoint');
      expect(proof.endsWith(`\n\n${checkpoint}`)).toBe(true);
    }
  });
});

describe('is silent', () => {
  test.each([
    '/api/log',
    '/api/log/entries',
    '/api/log/proof/0',
    '/log/1/checkpoint',
    '/log/1/end',
    '/log/1/tile/0%2F000.p%2F1',
  ])('%s of a log that was not read', async (path) => {
    const silent = { ...memorySigning(), ...silentTransparencyLog(CAUSE) };
    expect((await ask(path, silent)).status).toBe(503);
    expect(await jsonOf(path, silent)).toEqual({ error: 'unavailable', reason: CAUSE.reason });
  });

  test('of keys that were not read', async () => {
    const keyless = { ...held(), ...silentSigning(CAUSE) };
    expect((await ask('/api/log', keyless)).status).toBe(503);
  });

  test.each(['/api/log', '/api/log/proof/0', '/log/1/checkpoint', '/log/1/end'])(
    '%s of a log that nobody signs: it was never set up, which is no outage',
    async (path) => {
      const unnamed = { ...memorySigning(), ...silentTransparencyLog(NO_ORIGIN) };
      expect((await ask(path, unnamed)).status).toBe(404);
      expect(await jsonOf(path, unnamed)).toEqual({
        error: 'not_set_up',
        reason: NO_ORIGIN.reason,
      });
    },
  );

  test('of a leaf in a log that lost some: it is unread, and not absent', async () => {
    const frozen = frozenBecause('log.example/log/1', 'it signed 9 leaves, of which 2 are stored');
    const { transparencyLog } = memoryTransparencyLog(LEAVES);
    const at = async () => unread('transparency_log' as const, frozen);
    const ports = { ...memorySigning(), transparencyLog: { ...transparencyLog, at } };
    expect((await ask('/api/log/proof/7', ports)).status).toBe(503);
  });
});

describe('refuses', () => {
  test.each([
    ['/api/log/proof/2', 404],
    [`/api/log/proof/call:${STATED.hash}`, 404],
    ['/api/log/proof/-1', 400],
    ['/api/log/proof/nothing:0x00', 400],
    ['/log/2/checkpoint', 404],
    ['/log/1/end', 404],
    ['/log/1/tile/0%2F000.p%2F3', 404],
    ['/log/1/tile/0%2F000', 404],
    ['/log/1/tile/1%2F000.p%2F1', 404],
    ['/log/1/tile/..%2F..%2Fsecret', 404],
  ])('%s', async (path, status) => {
    expect((await ask(path)).status).toBe(status);
  });
});
