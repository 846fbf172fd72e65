// Parts are joined where reads gain by it and the disk has room, and never over and over.

import { expect, test } from 'vitest';
import { z } from 'zod';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { compactSides, isWorthJoining } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const GIB = 1024 ** 3;
const chain = (count: number, gib: number, largestGib: number) => {
  return { count, bytes: gib * GIB, largest: largestGib * GIB };
};

test.each([
  ['one part', chain(1, 1, 1), 100, false],
  ['a small chain', chain(2, 1, 0.99), 100, true],
  ['a chain that was filled in many parts', chain(18, 20, 4), 100, true],
  ['a large chain to which little came', chain(3, 20, 19), 100, false],
  ['a chain for which the disk has just the room', chain(18, 20, 4), 40, true],
  ['a chain for which the disk has no room', chain(18, 20, 4), 39, false],
  ['a chain that takes hours', chain(30, 200, 20), 1_000, false],
] as const)('%s', (_, parts, freeGib, isJoined) => {
  expect(isWorthJoining(parts, freeGib * GIB)).toBe(isJoined);
});

test('the sides of each chain are one part afterwards, and the same', async () => {
  const warehouse = await freshWarehouse();
  try {
    await warehouse.command('SYSTEM STOP MERGES sides', CALL);
    for (const one of ['ethereum', 'base', 'ethereum', 'base', 'ethereum']) {
      await warehouse.command(
        `INSERT INTO sides SELECT '${one}', concat(SHA1(toString(rand64(number))), ''), 'p',
           toString(number), 'd' FROM numbers(500)`,
        CALL,
      );
    }
    const row = z.tuple([z.coerce.number(), z.string()]);
    const told = async () =>
      warehouse.query(
        `SELECT (SELECT count() FROM system.parts WHERE active AND table = 'sides'),
           toString(sum(cityHash64(chain, addr, peer, id, detail))) FROM sides`,
        { ...CALL, row, tuples: true },
      );
    const [[parts, hash] = [0, '']] = await told();
    expect(parts).toBe(5);
    await warehouse.command('SYSTEM START MERGES sides', CALL);
    await compactSides(warehouse);
    expect(await told()).toEqual([[2, hash]]);
  } finally {
    await warehouse.close();
  }
});
