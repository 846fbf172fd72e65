// Is each dispatch queued once, in order, for whoever asked for it and for nobody else?

import { describe, expect, test, vi } from 'vitest';
import { onEachEngine } from '../../testing/control-store.ts';
import { addIntegration, appendTo, dispatchOf, waitingFor } from '../../testing/integrations.ts';
import { appendDispatches } from './outbox.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

onEachEngine((engine, fresh) => {
  describe(`${engine}: the outbox`, () => {
    test('queues a dispatch for each chat of its membership, and for no other', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      await addIntegration(database, 'int_2', 'mem_1');
      await addIntegration(database, 'int_3', 'mem_2');
      await appendTo(database, [dispatchOf('a'), dispatchOf('b')]);
      expect(await waitingFor(database, 'int_1')).toEqual(['a', 'b']);
      expect(await waitingFor(database, 'int_2')).toEqual(['a', 'b']);
      expect(await waitingFor(database, 'int_3')).toEqual([]);
    });

    test('queues what a key was told under once, however often it is appended', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      await addIntegration(database, 'int_2', 'mem_2');
      await appendTo(database, [dispatchOf('a'), dispatchOf('a')]);
      await appendTo(database, [dispatchOf('b'), dispatchOf('a')]);
      await appendTo(database, [dispatchOf('a', { membership_id: 'mem_2' })]);
      expect(await waitingFor(database, 'int_1')).toEqual(['a', 'b']);
      expect(await waitingFor(database, 'int_2')).toEqual(['a']);
    });

    test('queues nothing of a transaction that is undone', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      const undone = database.transaction(async (session) => {
        await appendDispatches(session, [dispatchOf('a')]);
        throw new Error('test: undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await appendTo(database, [dispatchOf('a')]);
      expect(await waitingFor(database, 'int_1')).toEqual(['a']);
    });

    test('passes over what the rules of a chat leave out, and tells what they cannot tell apart', async () => {
      const database = fresh();
      const address = dispatchOf('').address as string;
      await addIntegration(database, 'int_kind', 'mem_1', { kinds: ['flag'] });
      await addIntegration(database, 'int_chain', 'mem_1', { chains: ['base', 'solana'] });
      await addIntegration(database, 'int_address', 'mem_1', { addresses: [address] });
      await appendTo(database, [
        dispatchOf('watch'),
        dispatchOf('flag', { kind: 'flag' }),
        dispatchOf('on base', { chain: 'base' }),
        dispatchOf('of no chain', { chain: null, address: null }),
      ]);
      expect(await waitingFor(database, 'int_kind')).toEqual(['flag']);
      expect(await waitingFor(database, 'int_chain')).toEqual(['on base', 'of no chain']);
      expect(await waitingFor(database, 'int_address')).toEqual([
        'watch',
        'flag',
        'on base',
        'of no chain',
      ]);
    });

    test('queues nothing for a membership that is not active', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      await database.query(`update memberships set status = 'inactive'`);
      await appendTo(database, [dispatchOf('a')]);
      expect(await waitingFor(database, 'int_1')).toEqual([]);
    });

    test('gives up at once, and says so, what comes while a thousand wait', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      const keys = Array.from({ length: 998 }, (_, i) => `k${i}`);
      await appendTo(
        database,
        keys.map((key) => dispatchOf(key)),
      );
      await appendTo(
        database,
        ['x', 'y', 'z'].map((key) => dispatchOf(key)),
      );
      expect(await waitingFor(database, 'int_1')).toEqual([...keys, 'x', 'y']);
      const dead = await database.query(
        `select d.key, q.reason from deliveries q join dispatches d on d.id = q.dispatch_id
         where q.dead_at is not null`,
      );
      expect(dead).toEqual([{ key: 'z', reason: 'More than 1000 dispatches were waiting.' }]);
    });

    test('has the order of the commits, however many append at once', async () => {
      const database = fresh();
      await addIntegration(database, 'int_1', 'mem_1');
      const committed: string[] = [];
      const appends = Array.from({ length: 20 }, (_, n) =>
        database
          .transaction(async (session) => {
            await appendDispatches(session, [dispatchOf(`${n} a`), dispatchOf(`${n} b`)]);
            await session.query('select pg_sleep($1::float8)', [(n % 3) / 1_000]);
            if (n % 4 === 0) throw new Error('test: undone');
          })
          .then(() => committed.push(`${n} a`, `${n} b`)),
      );
      await Promise.allSettled(appends);
      expect(await waitingFor(database, 'int_1')).toEqual(committed);
    });

    test('takes no page of another service, and no key without end', async () => {
      const database = fresh();
      const { message } = dispatchOf('a');
      for (const path of ['https://else.invalid/', '//else.invalid/', '/\\else.invalid', '']) {
        const elsewhere = dispatchOf('a', { message: { ...message, path } });
        await expect(appendTo(database, [elsewhere])).rejects.toThrow('another service');
      }
      await expect(appendTo(database, [dispatchOf('a'.repeat(201))])).rejects.toThrow('too long');
    });
  });
});
