// A follower keeps the last checkpoint that it saw: it goes along with a log that grows, and
// catches one that shows another view, whatever that view is.

import { describe, expect, test } from 'vitest';
import { rootOfLeaves } from '../../chain/merkle-tree.ts';
import { formatLogEnd, formatNoteKey, noteKey } from '../../chain/signed-note.ts';
import {
  checkpointOver,
  servedLeaves as leavesOf,
  SERVED_ORIGIN as ORIGIN,
  servedLog as siteOf,
  SERVED_WORDS as WORDS,
} from '../../testing/served-log.ts';
import { noteOfTestKey } from '../../testing/twins/transparency-log.ts';
import { followOnce, type LogSite, type LogWords, NotChecked, type SeenLog } from './follow.ts';

const NEXT = 'log.example/log/2';

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
    const statement = endOf(leaves, 290);
    const look = await followOnce(siteOf(leaves, { '/log/1/end': statement }), ENDED, seen, []);
    const end = { origin: ORIGIN, size: 300, held: 290, next: NEXT };
    expect(look).toMatchObject({ kind: 'ended', seen: { origin: NEXT }, end });
    const forged = statement.replace('290', '300');
    for (const wrong of [null, forged, seen.checkpoint]) {
      const site = siteOf(leaves, { '/log/1/end': wrong });
      await expect(followOnce(site, ENDED, seen, [])).rejects.toThrow(NotChecked);
    }
  });

  test('that a log ended after it lost leaves, whether they were seen or not', async () => {
    // Of 300 leaves 250 are left, behind which others came.
    const signed = HONEST.slice(0, 300);
    const left = [...HONEST.slice(0, 250), ...leavesOf(4, 'later')];
    const shown = {
      '/log/1/checkpoint': checkpointOver(signed),
      '/log/1/end': endOf(signed, 250),
    };
    for (const count of [1, 200, 250, 270, 300]) {
      const seen = await seenOf(HONEST.slice(0, count));
      const look = await followOnce(siteOf(left, shown), ENDED, seen, []);
      expect(look).toMatchObject({ kind: 'ended', seen: { origin: NEXT } });
      if (look.kind !== 'ended') throw new Error(look.kind);
      expect(look.seen?.checkpoint).toBe(checkpointOver(left, NEXT));
    }
  });

  test('that a log ended before the next one has signed, and over several ends at once', async () => {
    const leaves = HONEST.slice(0, 300);
    const seen = await seenOf(leaves);
    const shown = {
      '/log/1/checkpoint': checkpointOver(leaves),
      '/log/1/end': endOf(leaves, 300),
      '/log/2/checkpoint': null,
    };
    const early = await followOnce(siteOf(leaves, shown), ENDED, seen, []);
    expect(early).toMatchObject({ kind: 'ended', seen: null });
    const third = 'log.example/log/3';
    const words = { ...WORDS, origin: third, former: [{ origin: ORIGIN }, { origin: NEXT }] };
    const ends = { ...shown, '/log/2/end': endOf(HONEST.slice(0, 301), 280, NEXT, third) };
    const look = await followOnce(siteOf(HONEST.slice(0, 302), ends), words, seen, []);
    expect(look).toMatchObject({ kind: 'ended', seen: { origin: third } });
    const { '/log/2/end': _, ...without } = ends;
    const site = siteOf(HONEST.slice(0, 302), without);
    await expect(followOnce(site, words, seen, [])).rejects.toThrow(NotChecked);
  });
});

const ENDED: LogWords = { ...WORDS, origin: NEXT, former: [{ origin: ORIGIN }] };

/** The statement of the end of a log that signed these leaves. */
function endOf(leaves: readonly Uint8Array[], held: number, origin = ORIGIN, next = NEXT): string {
  const text = formatLogEnd({
    origin,
    size: leaves.length,
    root: rootOfLeaves(leaves),
    next,
    held,
    at: '2026-11-25T00:00:00Z',
    why: 'The store was put back.',
  });
  return noteOfTestKey(origin, text);
}

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

describe('catches a log whose end', () => {
  const leaves = HONEST.slice(0, 300);
  const other = [...HONEST.slice(0, 100), ...leavesOf(200, 'other')];

  test.each<[string, number, LogSite, string]>([
    [
      'is of fewer leaves than were seen',
      300,
      siteOf(leaves, { '/log/1/end': endOf(leaves.slice(0, 299), 290) }),
      endOf(leaves.slice(0, 299), 290),
    ],
    [
      'is of other leaves than were seen',
      300,
      siteOf(leaves, { '/log/1/end': endOf(other, 300) }),
      endOf(other, 300),
    ],
    [
      'hides a second view',
      200,
      siteOf(other, { '/log/1/end': endOf(other, 300) }),
      checkpointOver(other),
    ],
    [
      'tells of leaves that the next log does not have',
      200,
      siteOf(other, {
        '/log/1/checkpoint': checkpointOver(leaves),
        '/log/1/end': endOf(leaves, 250),
      }),
      checkpointOver(other, NEXT),
    ],
  ])('%s', async (_, count, site, newer) => {
    const seen = await seenOf(HONEST.slice(0, count));
    const look = await followOnce(site, ENDED, seen, []);
    expect(look).toMatchObject({ kind: 'fork', older: seen.checkpoint, newer });
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
