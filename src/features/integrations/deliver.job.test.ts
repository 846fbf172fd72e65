// Does each dispatch reach its chat, in order and once where nothing fails, and is what does not
// reach it shown to its owner? Over the stand-ins of the platforms, on real stores.

import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BoundedTask } from '../../evidence/waiting.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine, type TestStore } from '../../testing/control-store.ts';
import {
  addIntegration,
  appendTo,
  chatsAt,
  deliveriesIn,
  dispatchOf,
  integrationsIn,
  targetNamed,
  waitingFor,
} from '../../testing/integrations.ts';
import { rowsAs } from '../../testing/rows-as.ts';
import { type StartedChats, startChats } from '../../world/chat-api.ts';
import { deliverUntilStopped } from './deliver.job.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_S = 3_600;
const PACE = {
  held_s: 60,
  backoff_s: 2,
  backoff_max_s: 900,
  broken_s: HOUR_S,
  between_s: { slack: 0, discord: 0, telegram: 0 },
};

let chats: StartedChats;
beforeAll(async () => {
  chats = await startChats();
});
afterAll(() => chats.close());

const running: BoundedTask[] = [];
afterEach(async () => {
  chats.fault(null);
  for (const one of running.splice(0)) await one.stop();
});

function deliverFrom(database: TestStore, holder = 'here'): BoundedTask {
  const failures: unknown[] = [];
  const started = deliverUntilStopped({
    deliveries: deliveriesIn(database, holder),
    platforms: chatsAt(chats.roots),
    opened: (_sealed, id) => targetNamed(id),
    sealed: () => ({ bytes: new Uint8Array(), by: 'aaaa' }),
    base: 'https://exhibit.example',
    pace: PACE,
    nowMs: () => performance.now(),
    pollMs: 5,
    tidyMs: 5,
    sleep: (ms) => wait(ms),
    onFailure: (why) => failures.push(why),
    onBug: (error) => {
      throw error;
    },
  });
  running.push(started);
  return started;
}

/** The dispatches that a chat received so far, by key. */
function toldTo(id: string): string[] {
  const { webhook_id } = Object(targetNamed(id)) as { webhook_id: string };
  const said = chats.posted.filter(({ to }) => to === webhook_id);
  return said.map(({ body }) => /Told under (\w+)/.exec(JSON.stringify(body))?.[1] ?? '');
}

const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 10 });
const keys = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `k${from + i}`);
let nextId = 0;
/** Ids that no other test has, because all post to the same stand-ins. */
const freshId = () => {
  nextId += 1;
  return `int_${nextId}`;
};

onEachEngine((engine, fresh) => {
  describe(`${engine}: deliveries`, () => {
    test('come in order and once, also where several processes deliver', async () => {
      const database = fresh();
      const [one, other] = [freshId(), freshId()];
      await addIntegration(database, one, 'mem_1');
      await addIntegration(database, other, 'mem_1');
      for (const holder of ['a', 'b', 'c']) deliverFrom(database, holder);
      await appendTo(
        database,
        keys(1, 10).map((key) => dispatchOf(key)),
      );
      await appendTo(
        database,
        keys(11, 20).map((key) => dispatchOf(key)),
      );
      await soon(() => expect([toldTo(one).length, toldTo(other).length]).toEqual([20, 20]));
      expect([toldTo(one), toldTo(other)]).toEqual([keys(1, 20), keys(1, 20)]);
      await soon(async () => expect(await waitingFor(database, one)).toEqual([]));
    });

    test('wait for as long as the platform asks, the next ones behind the first', async () => {
      const database = fresh();
      const id = freshId();
      await addIntegration(database, id, 'mem_1');
      chats.fault('rate-limited');
      await appendTo(
        database,
        keys(1, 3).map((key) => dispatchOf(key)),
      );
      deliverFrom(database);
      const fault = 'the platform answered 429: its rate limit is reached';
      const listed = async () => Object(await integrationsIn(database).list('mem_1')).value;
      await soon(async () => expect(await listed()).toMatchObject([{ fault, waiting: 3 }]));
      chats.fault(null);
      await database.setClock(STILL_NOW + 1);
      await wait(100);
      expect(toldTo(id)).toEqual([]);
      await database.setClock(STILL_NOW + 2);
      await soon(() => expect(toldTo(id)).toEqual(keys(1, 3)));
      await soon(async () => expect(await listed()).toMatchObject([{ fault: null, waiting: 0 }]));
    });

    test.each(['error500', 'html', 'closes', 'redirect'] as const)(
      'are tried again after %s, ever later',
      async (fault) => {
        const database = fresh();
        const id = freshId();
        await addIntegration(database, id, 'mem_1');
        chats.fault(fault);
        await appendTo(database, [dispatchOf('k1'), dispatchOf('k2')]);
        deliverFrom(database);
        const tries = async () =>
          Object((await database.query('select attempts, due_at from integrations'))[0]);
        const before = chats.asked.length;
        for (const [attempts, after_s] of [
          [1, 2],
          [2, 4],
          [3, 8],
        ] as const) {
          await soon(async () => expect((await tries()).attempts).toBe(attempts));
          const at = (await tries()).due_at.getTime() / 1_000;
          const [{ now }] = (await rowsAs<{ now: Date }>(
            database,
            'select control_now() as now',
          )) as [{ now: Date }];
          expect(at - now.getTime() / 1_000).toBe(after_s);
          if (attempts === 3) chats.fault(null);
          await database.setClock(at);
        }
        await soon(() => expect(toldTo(id)).toEqual(['k1', 'k2']));
        expect(chats.asked.length - before).toBeLessThanOrEqual(5);
      },
    );

    test('to a chat whose token is gone pause, and go on after a test that it takes', async () => {
      const database = fresh();
      const id = freshId();
      await addIntegration(database, id, 'mem_1');
      chats.fault('revoked');
      await appendTo(database, [dispatchOf('k1'), dispatchOf('k2')]);
      deliverFrom(database);
      const store = integrationsIn(database);
      const listed = async () => Object(await store.list('mem_1')).value;
      await soon(async () =>
        expect(await listed()).toMatchObject([{ broken_at: STILL_NOW, waiting: 2 }]),
      );
      chats.fault(null);
      await database.setClock(STILL_NOW + HOUR_S - 1);
      await wait(100);
      expect(toldTo(id)).toEqual([]);
      await store.tried(id, { outcome: 'taken', at: STILL_NOW + HOUR_S - 1 });
      await soon(() => expect(toldTo(id)).toEqual(['k1', 'k2']));
      await soon(async () =>
        expect(await listed()).toMatchObject([{ broken_at: null, dead_letters: 0 }]),
      );
    });

    test('that the platform refuses are shown as given up, and the next one goes', async () => {
      const database = fresh();
      const id = freshId();
      await addIntegration(database, id, 'mem_1');
      await addIntegration(database, freshId(), 'mem_2');
      let posts = 0;
      chats.fault(() => {
        posts += 1;
        return posts === 1 ? 'refused' : null;
      });
      await appendTo(database, [dispatchOf('k1'), dispatchOf('k2')]);
      deliverFrom(database);
      await soon(() => expect(toldTo(id)).toEqual(['k2']));
      const dead = await integrationsIn(database).deadLetters('mem_1');
      expect(dead).toMatchObject({
        value: [
          {
            integration_id: id,
            message: { title: 'Told under k1' },
            reason: 'The platform said 50035: Invalid Form Body.',
          },
        ],
      });
      expect(await integrationsIn(database).deadLetters('mem_2')).toMatchObject({ value: [] });
    });

    test('that wait for 24 hours are given up, and say what kept them', async () => {
      const database = fresh();
      const id = freshId();
      await addIntegration(database, id, 'mem_1');
      chats.fault('revoked');
      await appendTo(database, [dispatchOf('k1')]);
      deliverFrom(database);
      const store = integrationsIn(database);
      await soon(async () =>
        expect(await store.list('mem_1')).toMatchObject({ value: [{ broken_at: STILL_NOW }] }),
      );
      await database.setClock(STILL_NOW + 24 * HOUR_S + 1);
      const reason = 'Not delivered within 24 hours: the platform said 10015: Unknown Webhook.';
      await soon(async () =>
        expect(await store.deadLetters('mem_1')).toMatchObject({ value: [{ reason }] }),
      );
      await database.setClock(STILL_NOW + 31 * 24 * HOUR_S + 2);
      await soon(async () => expect(await database.query('select 1 from dispatches')).toEqual([]));
    });

    test('to a platform that hangs hold up no other chat', async () => {
      const database = fresh();
      const [hung, other] = [freshId(), freshId()];
      await addIntegration(database, hung, 'mem_1');
      await addIntegration(database, other, 'mem_2');
      const { webhook_id } = Object(targetNamed(hung)) as { webhook_id: string };
      chats.fault((path) => (path.includes(webhook_id) ? 'timeout' : null));
      await appendTo(database, [dispatchOf('k1')]);
      deliverFrom(database);
      await wait(50);
      const theirs = keys(1, 5).map((key) => dispatchOf(key, { membership_id: 'mem_2' }));
      await appendTo(database, theirs);
      await soon(() => expect(toldTo(other)).toEqual(keys(1, 5)));
      expect(toldTo(hung)).toEqual([]);
      chats.drop();
    });

    test('to a membership that ended, and what was removed, are not made', async () => {
      const database = fresh();
      const [ended, removed] = [freshId(), freshId()];
      await addIntegration(database, ended, 'mem_1');
      await addIntegration(database, removed, 'mem_2');
      await appendTo(database, [dispatchOf('k1'), dispatchOf('k1', { membership_id: 'mem_2' })]);
      await database.query(
        `update memberships set status = 'inactive' where membership_id = 'mem_1'`,
      );
      const store = integrationsIn(database);
      const at = STILL_NOW;
      expect(await store.remove('mem_1', removed, at, 'member')).toMatchObject({ value: false });
      expect(await store.remove('mem_2', removed, at, 'member')).toMatchObject({ value: true });
      deliverFrom(database);
      await wait(100);
      expect([toldTo(ended), toldTo(removed)]).toEqual([[], []]);
      expect(await waitingFor(database, ended)).toEqual(['k1']);
    });

    test('of what a newer version wrote are delivered, listed and shown as given up', async () => {
      const database = fresh();
      const [id, refused] = [freshId(), freshId()];
      await addIntegration(database, id, 'mem_1');
      await addIntegration(database, refused, 'mem_1');
      await appendTo(database, [dispatchOf('k1')]);
      await database.query(`update dispatches set message = message || '{"newer": 1}'`);
      await database.query(`update integrations set kinds = kinds || '{newer}'::text[]`);
      await database.query(
        `update deliveries set dead_at = control_now(), reason = 'It was refused.'
         where integration_id = $1`,
        [refused],
      );
      deliverFrom(database);
      await soon(() => expect(toldTo(id)).toEqual(['k1']));
      const store = integrationsIn(database);
      expect(await store.list('mem_1')).toMatchObject({
        value: [{ rules: { kinds: ['flag', 'watch', 'newer'] } }, { dead_letters: 1 }],
      });
      const { message } = dispatchOf('k1');
      expect(await store.deadLetters('mem_1')).toMatchObject({ value: [{ message }] });
    });
  });
});
