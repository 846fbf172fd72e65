// The guarantees of every mirror. Each adapter's test runs them.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read, Unread } from '../evidence/reading.ts';
import type { Delivery, Mirror, SpooledFile, Validators } from './sanctions.ts';

/** A mirror under test, and the hand that changes what it serves. */
type MirrorWorld = {
  readonly mirror: Mirror;
  readonly serve: (text: string) => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The marker that the address of every mirror under test holds, where it may hold a credential. */
export const ADDRESS_MARK = 'MARKER7f3a';

const SIGNAL = new AbortController().signal;

/** The file that a mirror delivered; throws if it delivered none. */
export async function delivered(mirror: Mirror, known: Validators | null): Promise<Delivery> {
  const reading = await mirror.deliver(known, SIGNAL);
  if (!(reading instanceof Read)) throw new Error(`not delivered: ${reading.why.reason}`);
  return reading.value;
}

/** The file that a mirror delivered; throws where there is none. */
export async function deliveredFile(
  mirror: Mirror,
): Promise<{ file: SpooledFile; validators: Validators }> {
  const delivery = await delivered(mirror, null);
  if (delivery.kind !== 'file') throw new Error('no file was delivered');
  return delivery;
}

/** Runs the promises. */
export function mirrorKeeps(name: string, make: () => Promise<MirrorWorld>): void {
  describe(`${name} keeps the promises of a mirror`, () => {
    let world: MirrorWorld;
    beforeAll(async () => {
      world = await make();
    });
    afterAll(() => world.close());

    test('delivers the bytes as they are, with their digest', async () => {
      await world.serve('first');
      const { file } = await deliveredFile(world.mirror);
      expect(await readFile(file.path, 'utf8')).toBe('first');
      expect(file.bytes).toBe(5);
      expect(file.sha256).toBe(createHash('sha256').update('first').digest('hex'));
      await file.discard();
    });

    test('says that nothing changed instead of delivering the same again', async () => {
      await world.serve('second');
      const first = await deliveredFile(world.mirror);
      await first.file.discard();
      const again = await delivered(world.mirror, first.validators);
      expect(again).toEqual({ kind: 'unchanged', validators: first.validators });
    });

    test('delivers what changed to one who knows the earlier', async () => {
      await world.serve('third');
      const first = await deliveredFile(world.mirror);
      await world.serve('the fourth');
      const next = await delivered(world.mirror, first.validators);
      if (next.kind !== 'file') throw new Error('no file was delivered');
      expect(await readFile(next.file.path, 'utf8')).toBe('the fourth');
      await next.file.discard();
    });

    test('what is gone is not read, and nothing of its address is told', async () => {
      await world.remove();
      const reading = await world.mirror.deliver(null, SIGNAL);
      expect(reading).toBeInstanceOf(Unread);
      if (!(reading instanceof Unread)) throw new Error('it was read');
      expect(reading.why.code).toBe('provider_failed');
      const told = JSON.stringify([reading.why, world.mirror.key, world.mirror.url]);
      expect(told).not.toContain(ADDRESS_MARK);
    });
  });
}
