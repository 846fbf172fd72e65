// Is each flag told to the chats once and in order, and is what is missing told as missing?

import { describe, expect, test, vi } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { FLAG_EVENTS_KEPT } from '../../ports/rug-flags.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { onEachEngine, type TestStore } from '../../testing/control-store.ts';
import { append, flagEventsIn, flagOf, retractionOf } from '../../testing/flag-events.ts';
import {
  addIntegration,
  flagsToldIn,
  messagesFor,
  waitingFor,
} from '../../testing/integrations.ts';
import { tellFlags } from './flags.job.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

function tellerOn(database: TestStore) {
  const parts = {
    flagEvents: flagEventsIn(database),
    flagsTold: flagsToldIn(database),
    simulated: false,
    now: stillClock(),
  };
  return async () => {
    for (let more: unknown = true; more !== false; ) {
      more = await tellFlags(parts);
      if (typeof more !== 'boolean') throw new Error(`test: ${JSON.stringify(more)}`);
    }
  };
}

onEachEngine((engine, fresh) => {
  describe(`${engine}: flags in the chats`, () => {
    test('a flag and its retraction are told once, and none from before the first time', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      await append(database, [flagOf(1)]);
      const told = tellerOn(database);
      await told();
      expect(await waitingFor(database, 'int_1')).toEqual([]);
      await append(database, [flagOf(2), retractionOf(1, flagOf(1))]);
      await told();
      await told();
      expect(await waitingFor(database, 'int_1')).toEqual(['flag:2', 'flag:3']);
      const { address, token } = flagOf(2);
      expect(await messagesFor(database, 'int_1')).toEqual([
        {
          title: 'A launch was flagged on ethereum',
          facts: [
            'Chain: ethereum',
            `Token: ${token}`,
            `Launched by: ${address}`,
            'Evidence: Of 14 earlier launches of its deployer 13 died.',
            'Model: rug-1',
            'Flag: 2',
          ],
          caveat: expect.stringContaining('not cleared'),
          more: { title: 'Card of the model', path: '/models/rug/rug-1' },
          path: `/deployer/ethereum/${address}`,
          at: STILL_NOW,
          simulated: false,
        },
        expect.objectContaining({ title: 'Flag 1 was taken back on ethereum' }),
      ]);
    });

    test('processes that tell at once tell each flag once, in order', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      await tellerOn(database)();
      const seqs = Array.from({ length: 250 }, (_, i) => i + 1);
      await append(
        database,
        seqs.map((n) => flagOf(n)),
      );
      await Promise.all([tellerOn(database)(), tellerOn(database)(), tellerOn(database)()]);
      expect(await waitingFor(database, 'int_1')).toEqual(seqs.map((n) => `flag:${n}`));
    });

    test('what the log let go of is told as missing, also to rules that name chains', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1', { chains: ['base'] });
      const told = tellerOn(database);
      await append(database, [flagOf(1)]);
      await told();
      await append(database, [flagOf(2), flagOf(3)]);
      await database.setClock(STILL_NOW + FLAG_EVENTS_KEPT.ageMaxS + 60);
      await append(database, [flagOf(4, { chain: 'base' }), flagOf(5)]);
      await told();
      expect(await waitingFor(database, 'int_1')).toEqual(['gap:2', 'flag:4']);
      const [gap] = await messagesFor(database, 'int_1');
      expect(gap).toMatchObject({ facts: [expect.stringMatching(/^Flags 2 to 3 were not told/)] });
    });

    test('a store that does not answer moves nothing', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      const told = tellerOn(database);
      await told();
      await append(database, [flagOf(1)]);
      database.silence('test');
      await expect(told()).rejects.toThrow('store_unreadable');
      database.silence(null);
      await told();
      expect(await waitingFor(database, 'int_1')).toEqual(['flag:1']);
      expect(await flagEventsIn(database).bounds()).toBeInstanceOf(Read);
    });
  });
});
