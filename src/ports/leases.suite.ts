// The guarantees of every table of leases, whatever holds it. Each adapter's test runs them.

import { describe, expect, test } from 'vitest';
import { Read } from '../evidence/reading.ts';
import type { Lease, Leases } from './indexing.ts';

/** Two holders on one empty table, and a way to let all leases end. */
type LeasesUnderTest = {
  readonly one: Leases;
  readonly other: Leases;
  readonly letEnd: () => Promise<void>;
};

const FOR_S = 60;

async function taken(leases: Leases, name: string): Promise<boolean> {
  const reading = await leases.take(name, FOR_S);
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  return reading.value !== null;
}

/** The lease that is taken, which must be free. */
async function lease(leases: Leases): Promise<Lease> {
  const reading = await leases.take('x', FOR_S);
  if (!(reading instanceof Read) || reading.value === null) throw new Error('it was not free');
  return reading.value;
}

/** Runs the promises on tables that `make` makes. */
export function leasesKeep(name: string, make: () => Promise<LeasesUnderTest>): void {
  describe(`${name}: a lease`, () => {
    test('has one holder, who may hold it for longer', async () => {
      const { one, other } = await make();
      expect(await taken(one, 'x')).toBe(true);
      expect(await taken(other, 'x')).toBe(false);
      expect(await taken(one, 'x')).toBe(true);
      expect(await taken(other, 'y')).toBe(true);
    });

    test('is free again once it was released or has ended', async () => {
      const { one, other, letEnd } = await make();
      expect(await taken(one, 'x')).toBe(true);
      await other.release('x');
      expect(await taken(other, 'x')).toBe(false);
      await one.release('x');
      expect(await taken(other, 'x')).toBe(true);
      await letEnd();
      expect(await taken(one, 'x')).toBe(true);
      expect(await taken(other, 'x')).toBe(false);
    });

    test('has a greater epoch for each holder, and says whether the one before let it go', async () => {
      const { one, other, letEnd } = await make();
      const first = await lease(one);
      expect(first.released).toBe(true);
      expect(await lease(one)).toEqual(first);
      await letEnd();
      expect(await lease(one)).toEqual(first);
      await letEnd();
      const stolen = await lease(other);
      expect(stolen.released).toBe(false);
      expect(stolen.epoch).toBeGreaterThan(first.epoch);
      await other.release('x');
      const again = await lease(one);
      expect(again.released).toBe(true);
      expect(again.epoch).toBeGreaterThan(stolen.epoch);
    });

    test('that many ask for at once goes to one of them', async () => {
      const { one, other } = await make();
      const asked = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other));
      const given = await Promise.all(asked.map((leases) => taken(leases, 'x')));
      const winners = new Set(given.flatMap((has, n) => (has ? [n % 2] : [])));
      expect(winners.size).toBe(1);
    });
  });
}
