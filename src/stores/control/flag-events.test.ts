// Has the log of flags every number once, whoever appends, is undone or reads meanwhile?

import { describe, expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { FLAG_EVENTS_AT_ONCE_MAX, FLAG_EVENTS_KEPT } from '../../ports/rug-flags.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import {
  append,
  eventsAfter,
  flagEventsIn,
  flagOf,
  retractionOf,
} from '../../testing/flag-events.ts';
import { appendFlagEvents } from './rug-flags.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_S = 3_600;
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
const flags = (from: number, to: number) => numbers(from, to).map((n) => flagOf(n));

onEachEngine((engine, fresh) => {
  describe(`${engine}: the log of flags`, () => {
    test('says that nothing was ever told where nothing was', async () => {
      const log = flagEventsIn(fresh());
      expect(await log.bounds()).toMatchObject({ value: { newest: 0, oldest: null } });
      expect(await log.after(0)).toMatchObject({ value: { newest: 0, oldest: null, events: [] } });
    });

    test('gives back each event whole, under numbers that follow one by one', async () => {
      const database = fresh();
      const solana = flagOf(2, { chain: 'solana', score: 0.125, simulated: true });
      expect(await append(database, [flagOf(1), solana])).toBe(1);
      expect(await append(database, [retractionOf(1, flagOf(1))])).toBe(3);
      expect(await eventsAfter(database, 0)).toEqual([
        { ...flagOf(1), seq: 1 },
        { ...solana, seq: 2 },
        { ...retractionOf(1, flagOf(1)), seq: 3 },
      ]);
      expect(await eventsAfter(database, 2)).toHaveLength(1);
    });

    test('gives no number away to what is undone', async () => {
      const database = fresh();
      await append(database, flags(1, 3));
      const undone = database.transaction(async (session) => {
        await appendFlagEvents(session, [flagOf(4), flagOf(5)]);
        throw new Error('test: undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect(await append(database, [flagOf(6)])).toBe(4);
      const events = await eventsAfter(database, 0);
      expect(events.map(({ seq, address }) => [seq, address])).toEqual(
        [1, 2, 3, 6].map((n, i) => [i + 1, flagOf(n).address]),
      );
    });

    test('has no gap for anybody who reads while many append and some are undone', async () => {
      const database = fresh();
      const log = flagEventsIn(database);
      let appending = true;
      const read: number[] = [];
      const reading = (async () => {
        for (let last = false; !last; ) {
          last = !appending;
          const chunk = await log.after(read.length);
          if (chunk.checked) read.push(...chunk.value.events.map(({ seq }) => seq));
        }
      })();
      const appends = numbers(1, 40).map((n) =>
        database.transaction(async (session) => {
          await appendFlagEvents(session, [flagOf(n), flagOf(n + 100)]);
          await session.query('select pg_sleep($1::float8)', [(n % 3) / 1_000]);
          if (n % 4 === 0) throw new Error('test: undone');
        }),
      );
      await Promise.allSettled(appends);
      appending = false;
      await reading;
      expect(read).toEqual(numbers(1, 60));
    });

    test('keeps the newest events and lets the others go, and its numbers go on', async () => {
      const database = fresh();
      const log = flagEventsIn(database);
      const { eventsMax, ageMaxS } = FLAG_EVENTS_KEPT;
      for (let n = 0; n < eventsMax; n += FLAG_EVENTS_AT_ONCE_MAX) {
        await append(database, flags(n + 1, n + FLAG_EVENTS_AT_ONCE_MAX));
      }
      expect(await log.bounds()).toMatchObject({ value: { newest: eventsMax, oldest: 1 } });
      await append(database, flags(1, 7));
      expect(await log.bounds()).toMatchObject({ value: { newest: eventsMax + 7, oldest: 8 } });
      const chunk = await log.after(3);
      if (!chunk.checked) throw new Error(chunk.why.reason);
      expect(chunk.value.events.map(({ seq }) => seq)).toEqual(
        numbers(8, 7 + FLAG_EVENTS_AT_ONCE_MAX),
      );
      await database.setClock(STILL_NOW + ageMaxS - HOUR_S);
      await append(database, [flagOf(1)]);
      await database.setClock(STILL_NOW + ageMaxS + 1);
      expect((await log.prune()).checked).toBe(true);
      const last = eventsMax + 8;
      expect(await log.bounds()).toMatchObject({ value: { newest: last, oldest: last } });
      await database.setClock(STILL_NOW + 3 * ageMaxS);
      await log.prune();
      expect(await log.after(0)).toMatchObject({
        value: { newest: last, oldest: null, events: [] },
      });
      expect(await append(database, [flagOf(1)])).toBe(last + 1);
    });

    test('takes no more at once than it gives at once', async () => {
      const database = fresh();
      await expect(append(database, flags(1, FLAG_EVENTS_AT_ONCE_MAX + 1))).rejects.toThrow();
      expect(await append(database, [flagOf(1)])).toBe(1);
    });

    test('that is silent is not an empty one', async () => {
      const database = fresh();
      database.silence('it is gone');
      const log = flagEventsIn(database);
      for (const reading of [await log.bounds(), await log.after(0), await log.prune()]) {
        expect(reading).toBeInstanceOf(Unread);
      }
    });
  });
});
