// A leaf stands at the next index of the log as soon as its statement is true, and no index is
// given to what was undone.

import { expect, test, vi } from 'vitest';
import type { NewLeaf } from '../../ports/transparency-log.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import type { Database } from './engine/database.ts';
import { appendLeaf } from './log-leaves.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const leafOf = (n: number): NewLeaf => ({
  kind: 'signal',
  hash: `0x${n.toString(16).padStart(64, '0')}`,
  id: `sig_${n}`,
  at: STILL_NOW + n,
});

function append(database: Database, ...leaves: NewLeaf[]): Promise<number[]> {
  return database.transaction(async (session) => {
    const indexes: number[] = [];
    for (const leaf of leaves) indexes.push(await appendLeaf(session, leaf));
    return indexes;
  });
}

onEachEngine((name, fresh) => {
  test(`${name}: leaves are numbered from zero, and an undone one never had a number`, async () => {
    const database = fresh();
    expect(await append(database, leafOf(1), leafOf(2))).toEqual([0, 1]);
    const undone = database.transaction(async (session) => {
      expect(await appendLeaf(session, leafOf(3))).toBe(2);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await append(database, { ...leafOf(4), kind: 'version' })).toEqual([2]);
    const rows = await database.query(
      `select leaf_index, kind, encode(hash, 'hex') as hash, id, at from log_leaves order by 1`,
    );
    expect(rows).toEqual(
      [
        [0n, 1, '01', 'sig_1', 1],
        [1n, 1, '02', 'sig_2', 2],
        [2n, 6, '04', 'sig_4', 4],
      ].map(([leaf_index, kind, hash, id, s]) => {
        const at = new Date((STILL_NOW + Number(s)) * 1_000);
        return { leaf_index, kind, hash: String(hash).padStart(64, '0'), id, at };
      }),
    );
  });

  test(`${name}: a hash that is none makes no leaf`, async () => {
    const database = fresh();
    for (const hash of ['', '0x', leafOf(10).hash.toUpperCase(), `${leafOf(1).hash}00`]) {
      await expect(append(database, { ...leafOf(1), hash })).rejects.toThrow('32 bytes');
    }
    expect(await append(database, leafOf(1))).toEqual([0]);
  });
});
