// Does the flag stream tell every flag and every retraction once, in order, to whoever may read it,
// and say so where it cannot?

import { beforeAll, describe, expect, test } from 'vitest';
import { flagStreamHandler, flagStreamRoute } from './features/flag-stream/flag-stream.route.ts';
import { whyUnwatched } from './features/rugs/watch.ts';
import { type LaunchWatch, WATCHED_SOURCES } from './ports/rug-flags.ts';
import { inProcessBus } from './stores/bus/in-process.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl, type TestStore } from './testing/control-store.ts';
import { append, flagEventsIn, flagOf, retractionOf } from './testing/flag-events.ts';
import {
  WATCHED as MEMORY_WATCHED,
  memoryLaunchWatch,
  memoryRugFlags,
  SCORED,
} from './testing/twins/rug-flags.ts';
import type { MountedStream } from './transport/stream.ts';
import {
  type Body,
  numbers,
  readEvents,
  readSocket,
  refusedHandshake,
  type Serving,
  serveStream,
} from './transport/stream-service.suite.ts';

const fresh = embeddedControl();
// A stream has ten seconds to open; the store of the tests may take longer on a busy machine.
beforeAll(async () => void (await fresh().query('select 1 as one')));
const EVERY_CHAIN = [
  ...['ethereum', 'arbitrum', 'base', 'bsc', 'polygon', 'hyperevm', 'solana', 'bitcoin'],
];

type Watched = () => Promise<string | null>;
const WATCHED: Watched = async () => null;

async function serveFlags(
  serving: Serving = {},
  database: TestStore = fresh(),
  unwatched: Watched = WATCHED,
) {
  const bus = inProcessBus(() => 0);
  let asked = 0;
  const log = flagEventsIn(database);
  const after: typeof log.after = (seq) => {
    asked += 1;
    return log.after(seq);
  };
  const handle: unknown = flagStreamHandler(flagStreamRoute, {
    flagEvents: { after },
    onAppended: bus.listen,
    unwatched,
    watchEachMs: 50,
  });
  const stream = { route: flagStreamRoute, handle } as MountedStream;
  const served = await serveStream(stream, serving);
  return {
    ...served,
    database,
    call: bus.callAll,
    asked: () => asked,
    tell: async (...events: Parameters<typeof append>[1]) => {
      await append(database, events);
      bus.callAll();
    },
    socket: (query = '') => readSocket(served.base, `token=pro-1${query}`, {}, '/ws/flags'),
    events: (query = '') => readEvents(served.base, `token=pro-1${query}`, {}, '/sse/flags'),
  };
}

const seqsIn = (read: readonly Body[]) =>
  read.filter(({ type }) => type === 'flag' || type === 'retraction').map(({ seq }) => seq);
const many = (count: number) => numbers(1, count).map((n) => flagOf(n));

describe('says', () => {
  test('a welcome, each flag with its evidence, and that a flag is taken back', async () => {
    const { tell, socket } = await serveFlags();
    const { until } = await socket();
    await until(({ length }) => length === 1);
    await tell(flagOf(1));
    await tell(retractionOf(1, flagOf(1)));
    expect(await until(({ length }) => length === 3)).toEqual([
      {
        type: 'welcome',
        seq: 0,
        heartbeat_s: 15,
        replay: { from: null, to: null, oldest: null },
        gap: null,
        chains: EVERY_CHAIN,
        unknown_chains: [],
        unwatched: null,
      },
      {
        type: 'flag',
        seq: 1,
        chain: 'ethereum',
        address: '0x0000000000000000000000000000000000000001',
        token: '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1',
        model_version: 'rug-1',
        model_card: '/api/models/rug/rug-1',
        simulated: false,
        score: 0.93,
        evidence: 'Of 14 earlier launches of its deployer 13 died.',
        deployer_history: 'settled',
        flagged_at: '2026-09-24T12:00:00.000Z',
      },
      {
        type: 'retraction',
        seq: 2,
        chain: 'ethereum',
        address: '0x0000000000000000000000000000000000000001',
        token: '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1',
        model_version: 'rug-1',
        model_card: '/api/models/rug/rug-1',
        simulated: false,
        retracts: 1,
        reason: 'The block of its creation left the chain.',
        retracted_at: '2026-09-24T12:01:00.000Z',
      },
    ]);
  });

  test.each(WATCHED_SOURCES)(
    'that quiet says nothing while nobody watches through the %s, and when it does again',
    async (source) => {
      let gaps: readonly string[] = [`the ${source} is away`];
      const gapsOf: LaunchWatch['gapsOf'] = (of, windowS) =>
        memoryLaunchWatch({ ...MEMORY_WATCHED, gaps: { [source]: gaps } }).gapsOf(of, windowS);
      const rugFlags = memoryRugFlags({ ...MEMORY_WATCHED, chains: [SCORED], flags: [] });
      const { socket, events } = await serveFlags({}, fresh(), () =>
        whyUnwatched({ rugFlags, launchWatch: { gapsOf } }),
      );
      const reason = expect.stringContaining(`in part: the ${source} is away.`);
      const readers = [await socket(), await events()];
      for (const { until } of readers) {
        const [welcome] = await until(({ length }) => length >= 1);
        expect(welcome).toMatchObject({ type: 'welcome', unwatched: reason });
      }
      gaps = [];
      for (const { until } of readers) {
        const [, changed] = await until(({ length }) => length >= 2);
        expect(changed).toEqual({ type: 'window', unwatched: null });
      }
    },
  );

  test('the same as server-sent events, each under its number', async () => {
    const { tell, events } = await serveFlags();
    const { raw, until } = await events('&chains=solana');
    await until(({ length }) => length === 1);
    const address = 'So11111111111111111111111111111111111111112';
    const token = 'Mint111111111111111111111111111111111111111';
    await tell(flagOf(1, { chain: 'solana', address, token, simulated: true }));
    await until(({ length }) => length === 2);
    expect(raw).toEqual([
      'retry: 2000',
      'id: 0\ndata: {"type":"welcome","seq":0,"heartbeat_s":15,"replay":{"from":null,"to":null,' +
        '"oldest":null},"gap":null,"chains":["solana"],"unknown_chains":[],"unwatched":null}',
      `id: 1\ndata: {"type":"flag","seq":1,"chain":"solana","address":"${address}",` +
        `"token":"${token}",` +
        '"model_version":"rug-1","model_card":"/api/models/rug/rug-1","simulated":true,' +
        '"score":0.93,"evidence":"Of 14 earlier launches of its deployer 13 died.",' +
        '"deployer_history":"settled","flagged_at":"2026-09-24T12:00:00.000Z"}',
    ]);
  });

  test('that the flags of a model are withdrawn, to readers of whatever chains', async () => {
    const { tell, socket } = await serveFlags();
    const { until } = await socket('&chains=solana');
    await until(({ length }) => length === 1);
    const [model_version, reason] = ['rug-1', 'They were withdrawn.'];
    const withdrawal = { kind: 'withdrawal', model_version, simulated: false, reason } as const;
    await tell(flagOf(1), { ...withdrawal, withdrawn_at: STILL_NOW });
    expect((await until(({ length }) => length === 2)).at(-1)).toEqual({
      type: 'withdrawal',
      seq: 2,
      model_version,
      model_card: '/api/models/rug/rug-1',
      simulated: false,
      reason,
      withdrawn_at: '2026-09-24T12:00:00.000Z',
    });
  });

  test('only of the chains that are named, and which names are no chain', async () => {
    const { tell, socket } = await serveFlags();
    const { ws, until } = await socket('&chains=solana,dogecoin,base');
    const [welcome] = await until(({ length }) => length === 1);
    expect(welcome).toMatchObject({ chains: ['base', 'solana'], unknown_chains: ['dogecoin'] });
    await tell(flagOf(1), flagOf(2, { chain: 'base' }), flagOf(3, { chain: 'bsc' }), flagOf(4));
    await until((read) => seqsIn(read).length === 1);
    await expect
      .poll(async () => {
        ws.send('{"type":"ping"}');
        return (await until(({ length }) => length > 2)).at(-1);
      })
      .toMatchObject({ type: 'heartbeat', seq: 4 });
    const all = await socket('&chains=all,nowhere');
    const [other] = await all.until(({ length }) => length === 1);
    expect(other).toMatchObject({ chains: EVERY_CHAIN, unknown_chains: ['nowhere'] });
    const none = await socket('&chains=nowhere');
    expect((await none.until(({ length }) => length === 1))[0]).toMatchObject({ chains: [] });
  });

  test('what a reader subscribes to and leaves, from the next event on', async () => {
    const { tell, socket } = await serveFlags();
    const { ws, until } = await socket('&chains=base');
    ws.send('{"type":"subscribe","chains":["solana","mars"]}');
    await until(({ length }) => length === 2);
    await tell(flagOf(1, { chain: 'base' }), flagOf(2, { chain: 'solana' }), flagOf(3));
    await until((read) => seqsIn(read).length === 2);
    ws.send('{"type":"unsubscribe","chains":["base"]}');
    await until(({ length }) => length === 5);
    await tell(flagOf(4, { chain: 'base' }), flagOf(5, { chain: 'solana' }));
    const read = await until((all) => seqsIn(all).length === 3);
    expect(read[1]).toEqual({
      type: 'subscribed',
      chains: ['base', 'solana'],
      unknown_chains: ['mars'],
    });
    expect(read[4]).toEqual({ type: 'subscribed', chains: ['solana'], unknown_chains: [] });
    expect(seqsIn(read)).toEqual([1, 2, 5]);
    ws.send('{"type":"subscribe","chains":"base"}');
    const last = await until(({ length }) => length === 7);
    expect(last[6]).toMatchObject({ type: 'error', code: 'bad_frame' });
  });

  test('who resumes is told what it missed, and what can no longer be had', async () => {
    const { database, socket, events } = await serveFlags();
    for (const _ of numbers(1, 10)) await append(database, many(1_000));
    await append(database, many(50));
    const behind = await socket('&since=5');
    const read = await behind.until((all) => seqsIn(all).length === 10_000);
    expect(read[0]).toMatchObject({
      seq: 50,
      replay: { from: 51, to: 10_050, oldest: 51 },
      gap: { from: 6, to: 50 },
    });
    expect(seqsIn(read)).toEqual(numbers(51, 10_050));
    const near = await events('&since=10048');
    const last = await near.until((all) => seqsIn(all).length === 2);
    expect(last[0]).toMatchObject({ replay: { from: 10_049, to: 10_050 }, gap: null });
    const ahead = await socket('&since=20000');
    expect((await ahead.until(({ length }) => length === 1))[0]).toMatchObject({
      seq: 10_050,
      replay: { from: null, to: null, oldest: 51 },
      gap: { from: 10_051, to: 20_000 },
    });
  });

  test('what another process appended, although nobody calls', async () => {
    const { database, socket } = await serveFlags();
    const { until } = await socket();
    await append(database, many(3));
    expect(seqsIn(await until((read) => seqsIn(read).length === 3))).toEqual([1, 2, 3]);
  });

  test('where a reader stands that another process has told more than this one has read', async () => {
    const { database, tell, socket } = await serveFlags();
    const { until } = await socket();
    await tell(...many(2));
    await until((read) => seqsIn(read).length === 2);
    await append(database, many(5));
    const moved = await socket('&since=7');
    expect((await moved.until(({ length }) => length === 1))[0]).toMatchObject({
      seq: 7,
      gap: null,
    });
  });

  test('to many who resume at once, of one reading of the log', async () => {
    const { database, socket, asked } = await serveFlags();
    await append(database, many(500));
    const first = await socket('&since=0');
    await first.until((read) => seqsIn(read).length === 500);
    const before = asked();
    const readers = await Promise.all(numbers(1, 50).map((n) => socket(`&since=${n}`)));
    for (const [i, { until }] of readers.entries()) {
      const read = await until((all) => seqsIn(all).length === 499 - i);
      expect(seqsIn(read)).toEqual(numbers(i + 2, 500));
    }
    // It goes on looking at the log each second, and no reader has it look.
    expect(asked() - before).toBeLessThan(20);
  });
});

describe('is silent', () => {
  const UNREAD = { error: 'The log of flags could not be read: it is gone.' };

  test('where its log cannot be read, before the upgrade', async () => {
    const { database, port, app, call } = await serveFlags();
    database.silence('it is gone');
    const refused = await refusedHandshake(port, '/ws/flags?token=pro-1');
    expect([refused.status, refused.body]).toEqual([503, UNREAD]);
    expect(refused.head).toContain('retry-after: 5');
    const twin = await app.inject('/sse/flags?token=pro-1&since=3');
    expect([twin.statusCode, twin.json()]).toEqual([503, UNREAD]);
    call();
  });

  test('by ending with a word, so that no heartbeat passes for a quiet market', async () => {
    const { database, tell, call, socket } = await serveFlags();
    const { until, closed } = await socket();
    await tell(...many(2));
    await until((read) => seqsIn(read).length === 2);
    database.silence('it is gone');
    const calling = setInterval(call, 5);
    const read = await until((all) => all.some(({ type }) => type === 'error'));
    clearInterval(calling);
    expect(read.at(-1)).toEqual({ type: 'error', code: 'unread', message: UNREAD.error });
    expect(await closed).toMatchObject({ code: 1000 });
    database.silence(null);
    await append(database, [flagOf(3)]);
    const again = await socket('&since=2');
    expect(seqsIn(await again.until((all) => seqsIn(all).length === 1))).toEqual([3]);
  });

  test('about numbers that a log which was put back does not know, and then tells them anew', async () => {
    const { database, tell, call, socket } = await serveFlags();
    const { until, closed } = await socket();
    await tell(...many(9));
    await until((read) => seqsIn(read).length === 9);
    await database.transaction((session) =>
      session.script('delete from flag_events where seq > 4; update flag_log set newest = 4'),
    );
    call();
    expect(await closed).toMatchObject({ code: 1000 });
    const again = await socket('&since=9');
    await append(database, [flagOf(55)]);
    const read = await again.until((all) => seqsIn(all).length === 1);
    expect(read[0]).toMatchObject({ seq: 4, gap: { from: 5, to: 9 } });
    expect(read[1]).toMatchObject({ seq: 5, address: flagOf(55).address });
  });
});

describe('refuses before the upgrade', () => {
  test('a plain GET, with where to go', async () => {
    const { base, app } = await serveFlags();
    const reply = await app.inject('/ws/flags?token=pro-1');
    expect([reply.statusCode, reply.json()]).toEqual([
      426,
      {
        state: 'upgrade_required',
        reason: 'This path is a WebSocket: ask with Upgrade, or read the same events at sse_url.',
        websocket_url: `${base.replace('http', 'ws')}/ws/flags`,
        sse_url: `${base}/sse/flags`,
      },
    ]);
  });

  test.each([
    ['no token', '', 401, { error: 'unauthorized', reason: 'No token was sent.' }],
    [
      'a wrong one',
      'token=x',
      401,
      { error: 'unauthorized', reason: 'The token is not known here.' },
    ],
    ['one that cannot be checked', 'token=down', 503, { error: 'Tokens cannot be checked.' }],
    [
      'an unknown name',
      'token=pro-1&chain=base',
      400,
      { error: expect.stringContaining('"chain"'), fields: expect.any(Array) },
    ],
    [
      'no chains',
      'token=pro-1&chains=',
      400,
      { error: expect.stringContaining('chains: '), fields: expect.any(Array) },
    ],
    [
      'a place that is none',
      'token=pro-1&since=x',
      400,
      { error: expect.stringContaining('since: '), fields: expect.any(Array) },
    ],
  ])('%s, over both doors', async (_, query, status, body) => {
    const { port, app } = await serveFlags();
    const refused = await refusedHandshake(port, `/ws/flags?${query}`);
    expect([refused.status, refused.body]).toEqual([status, body]);
    const twin = await app.inject(`/sse/flags?${query}`);
    expect([twin.statusCode, twin.json()]).toEqual([status, body]);
  });

  test.each([
    ['free', 10],
    ['pro', 100],
    ['desk', 1_000],
  ])(
    'one stream more than a token of the tier %s may hold in all processes',
    async (tier, limit) => {
      const elsewhere = limit - 1;
      const { base, port, app } = await serveFlags({
        together: {
          hold: async ({ own }, max) => {
            const granted = max === null || own + elsewhere <= max;
            return { checked: true, value: { granted, others: elsewhere } };
          },
        },
      });
      await readSocket(base, `token=${tier}-1`, {}, '/ws/flags');
      const refused = await refusedHandshake(port, `/ws/flags?token=${tier}-1`);
      const body = {
        state: 'at_capacity',
        error: 'too_many_connections',
        scope: tier,
        limit,
        current: limit,
        reason: `A credential of the tier ${tier} may hold ${limit} streams open; close one, or try again later.`,
      };
      expect([refused.status, refused.body]).toEqual([503, body]);
      expect(refused.head).toContain('retry-after: 5');
      const twin = await app.inject(`/sse/flags?token=${tier}-1`);
      expect([twin.statusCode, twin.json(), twin.headers['retry-after']]).toEqual([503, body, '5']);
    },
  );

  test('one stream more than the process may hold', async () => {
    const { base, port } = await serveFlags({ limits: { connectionsMax: 1 } });
    await readSocket(base, 'token=pro-1', {}, '/ws/flags');
    const { status, body } = await refusedHandshake(port, '/ws/flags?token=desk-1');
    expect([status, body]).toEqual([
      503,
      {
        state: 'at_capacity',
        error: 'too_many_connections',
        scope: 'process',
        limit: 1,
        current: 1,
        reason: 'This process may hold 1 streams open; close one, or try again later.',
      },
    ]);
  });

  test('the header wins over the token of the query', async () => {
    const { app } = await serveFlags();
    const headers = { authorization: 'Bearer nobody' };
    const reply = await app.inject({ url: '/sse/flags?token=pro-1', headers });
    expect(reply.statusCode).toBe(401);
  });

  test('another method, by its name', async () => {
    const { app } = await serveFlags();
    for (const url of ['/ws/flags', '/sse/flags']) {
      const reply = await app.inject({ method: 'POST', url });
      expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });
});
