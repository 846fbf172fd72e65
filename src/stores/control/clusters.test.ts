import { expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { clusterStoreKeeps } from '../../ports/cluster-store.suite.ts';
import { clustersIn, onEachEngine } from '../../testing/control-store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

onEachEngine((name, fresh) => {
  clusterStoreKeeps(name, async (simulated) => {
    return { store: clustersIn(fresh(), simulated), close: async () => undefined };
  });

  test('a store that cannot be asked is silence, whatever is asked of it', async () => {
    const database = fresh();
    database.silence('gone');
    const store = clustersIn(database);
    const limits = { addressesMax: 1, roundsMax: 1, keysMax: 1 };
    const perKeyMax = {
      deposit_reuse: 1,
      shared_funder: 1,
      lockstep: 1,
      same_deployer: 1,
      multi_input: 1,
      change: 1,
    };
    const nothing = { ties: [], objections: [], judged: [], services: [], examinations: [] };
    const blocks = {
      ties: [],
      objections: [],
      joined: [],
      paid: new Map<string, number>(),
      ranges: [],
    };
    for (const reading of [
      await store.tiedTo('ethereum', ['a'], { ...limits, perKeyMax }),
      await store.keep('ethereum', nothing, 1),
      await store.blocksHeld(),
      await store.paidBefore(['a']),
      await store.memberOf('a'),
      await store.coinJoinsOf('a'),
      await store.keepBlocks(blocks),
    ]) {
      expect(reading).toBeInstanceOf(Unread);
    }
  });
});
