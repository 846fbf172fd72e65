// The guarantees of every membership store. stores/control/keys.test.ts runs them.

import { beforeEach, describe, expect, test } from 'vitest';
import type { MembershipStore } from './access.ts';

/** Runs the promises. `fresh` gives an empty store each time. */
export function membershipStoreKeeps(name: string, fresh: () => Promise<MembershipStore>): void {
  describe(`${name}: memberships`, () => {
    let store: MembershipStore;
    beforeEach(async () => {
      store = await fresh();
    });
    const event = { membership_id: 'mem_1', plan: 'desk', status: 'active', at: 1_000 } as const;

    test('a membership that was never recorded is a read null', async () => {
      expect(await store.find('mem_1')).toMatchObject({ checked: true, value: null });
      expect(await store.list()).toMatchObject({ checked: true, value: [] });
    });

    test('the newest event by its own time wins, in whatever order events come', async () => {
      const first = await store.record(event);
      expect(first).toMatchObject({ checked: true, value: { applied: true } });
      const newer = await store.record({ ...event, status: 'inactive', at: 3_000 });
      expect(newer).toMatchObject({ value: { applied: true, membership: { status: 'inactive' } } });
      const older = await store.record({ ...event, plan: 'enterprise', at: 2_000 });
      expect(older).toMatchObject({
        value: { applied: false, membership: { status: 'inactive', plan: 'desk' } },
      });
      expect(await store.find('mem_1')).toMatchObject({
        value: {
          membership_id: 'mem_1',
          plan: 'desk',
          status: 'inactive',
          created_at: 1_000,
          updated_at: 3_000,
        },
      });
    });

    test('the same event twice is applied twice and changes nothing', async () => {
      await store.record(event);
      const again = await store.record(event);
      expect(again).toMatchObject({
        value: { applied: true, membership: { created_at: 1_000, updated_at: 1_000 } },
      });
    });

    test('lists all, oldest first', async () => {
      for (const [id, at] of [
        ['c', 30],
        ['a', 10],
        ['b', 20],
      ] as const) {
        await store.record({ ...event, membership_id: id, at });
      }
      const all = await store.list();
      expect(all.checked && all.value.map((m) => m.membership_id)).toEqual(['a', 'b', 'c']);
    });
  });
}
