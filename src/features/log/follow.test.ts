// A follower keeps the last checkpoint that it saw: it goes along with a log that grows, and
// catches one that shows another view, whatever that view is.

import { describe, expect, test } from 'vitest';
import { concatBytes } from '../../chain/bytes.ts';
import { hashLeaf, rootOfLeaves } from '../../chain/merkle-tree.ts';
import { formatCheckpoint, formatLogEnd, formatNoteKey, noteKey } from '../../chain/signed-note.ts';
import { parseTilePath, tileWidth } from '../../chain/tile-tree.ts';
import { TEST_KEY } from '../../testing/twins/signing.ts';
import { noteOfTestKey, tilesOver } from '../../testing/twins/transparency-log.ts';
import { followOnce, type LogSite, type LogWords, NotChecked, type SeenLog } from './follow.ts';

const ORIGIN = 'log.example/log/1';
const NEXT = 'log.example/log/2';
const KEY = formatNoteKey(noteKey(ORIGIN, Buffer.from(TEST_KEY.x, 'base64url')));
const WORDS: LogWords = { origin: ORIGIN, keys: [KEY], former: [] };

const leavesOf = (count: number, name = 'leaf') =>
  Array.from({ length: count }, (_, n) => hashLeaf(new TextEncoder().encode(`${name} ${n}`)));

function checkpointOver(leaves: readonly Uint8Array[], origin = ORIGIN): string {
  const [size, root] = [leaves.length, rootOfLeaves(leaves)];
  return noteOfTestKey(origin, formatCheckpoint({ origin, size, root }));
}

/** What a log serves that has these leaves; some paths may be told otherwise. */
function siteOf(
  leaves: readonly Uint8Array[],
  other: { readonly [path: string]: string | null } = {},
): LogSite {
  const readTile = tilesOver(leaves);
  return {
    text: async (path) => {
      if (path in other) return other[path] ?? null;
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

async function seenOf(leaves: readonly Uint8Array[]): Promise<SeenLog> {
  const look = await followOnce(siteOf(leaves), WORDS, null, []);
  if (look.kind !== 'first') throw new Error(look.kind);
  return look.seen;
}

const HONEST = leavesOf(700);

describe('says', () => {
  test('that a log which grows continues what was seen, at any size', async () => {
    let seen = await seenOf(HONEST.slice(0, 1));
    for (const size of [2, 3, 255, 256, 257, 300, 512, 700]) {
      const from = Number(seen.checkpoint.split('\n')[1]);
      const look = await followOnce(siteOf(HONEST.slice(0, size)), WORDS, seen, []);
      expect(look).toMatchObject({ kind: 'grown', from, size });
      if (look.kind === 'grown') seen = look.seen;
    }
    expect(await followOnce(siteOf(HONEST), WORDS, seen, [])).toMatchObject({ kind: 'same' });
  });

  test('that a log ended, and goes along with the one that goes on', async () => {
    const leaves = HONEST.slice(0, 300);
    const seen = await seenOf(leaves);
    const end = {
      origin: ORIGIN,
      size: 300,
      root: rootOfLeaves(leaves),
      next: NEXT,
      held: 290,
      at: '2026-11-25T00:00:00Z',
      why: 'The store was put back.',
    };
    const statement = noteOfTestKey(ORIGIN, formatLogEnd(end));
    const words = { ...WORDS, origin: NEXT, former: [{ origin: ORIGIN }] };
    const look = await followOnce(siteOf(leaves, { '/log/1/end': statement }), words, seen, []);
    expect(look).toMatchObject({ kind: 'ended', seen: { origin: NEXT }, end });
    const less = noteOfTestKey(ORIGIN, formatLogEnd({ ...end, size: 299 }));
    const caught = await followOnce(siteOf(leaves, { '/log/1/end': less }), words, seen, []);
    expect(caught).toMatchObject({ kind: 'fork', newer: less });
    const forged = statement.replace('size', 'size').replace('290', '300');
    for (const wrong of [null, forged, seen.checkpoint]) {
      const site = siteOf(leaves, { '/log/1/end': wrong });
      await expect(followOnce(site, words, seen, [])).rejects.toThrow(NotChecked);
    }
  });
});

describe('catches a log that shows two views', () => {
  const fork = (count: number) => [...HONEST.slice(0, 100), ...leavesOf(count - 100, 'other')];

  test.each([
    ['of one size', 300, 300],
    ['of a larger size', 300, 301],
    ['of a much larger size', 300, 600],
    ['from its first leaf on', 1, 500],
  ])('%s', async (_, first, second) => {
    const seen = await seenOf(HONEST.slice(0, first));
    const other = first === 1 ? leavesOf(second, 'other') : fork(second);
    const look = await followOnce(siteOf(other), WORDS, seen, []);
    expect(look).toMatchObject({
      kind: 'fork',
      older: seen.checkpoint,
      newer: checkpointOver(other),
    });
  });
});

describe('is silent', () => {
  test.each<[string, string, LogSite, LogWords, readonly string[]]>([
    ['tiles of another tree', 'the tiles are not', mixed(), WORDS, []],
    ['fewer leaves', '200 leaves were shown', siteOf(HONEST.slice(0, 200)), WORDS, []],
    ['no checkpoint', 'no checkpoint', siteOf(HONEST, { '/log/1/checkpoint': null }), WORDS, []],
    ['no tiles', 'is not served', { ...siteOf(HONEST), bytes: async () => null }, WORDS, []],
    [
      'another key',
      'no known key',
      siteOf(HONEST),
      WORDS,
      [formatNoteKey(noteKey(ORIGIN, new Uint8Array(32).fill(1)))],
    ],
    [
      'a forged checkpoint',
      'a signature in it is forged',
      siteOf(HONEST, { '/log/1/checkpoint': checkpointOver(HONEST).replace('\n700\n', '\n701\n') }),
      WORDS,
      [],
    ],
  ])('on %s', async (_, fault, site, words, pinned) => {
    const seen = await seenOf(HONEST.slice(0, 300));
    await expect(followOnce(site, words, seen, pinned)).rejects.toThrow(fault);
    await expect(followOnce(site, words, seen, pinned)).rejects.toThrow(NotChecked);
  });

  test('before anything was signed, and of tiles that the first checkpoint does not have', async () => {
    const unsigned = { ...WORDS, origin: null };
    await expect(followOnce(siteOf(HONEST), unsigned, null, [])).rejects.toThrow(NotChecked);
    await expect(followOnce(mixed(), WORDS, null, [])).rejects.toThrow(NotChecked);
  });
});

/** A log whose tiles are not those of what it signs. */
function mixed(): LogSite {
  return { ...siteOf(HONEST), bytes: siteOf(leavesOf(700, 'other')).bytes };
}
