// Two processes that serve and two that work are killed and paused at random under traffic: what
// was acknowledged is there, no allowance is overrun, streams have every number once, and each
// leaf, anchor, dispatch, call of a detector and delivery of the payment platform stands once.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Emitters, startEmitters } from './calls-killed.suite.ts';
import { keccak256 } from './chain/digest.ts';
import { tally } from './evidence/measure.ts';
import { flagStreamRoute } from './features/flag-stream/flag-stream.route.ts';
import { watchStream } from './features/watchlist/watch-stream.route.ts';
import {
  askOnce,
  bearer,
  type Reader,
  startReader,
  startTraffic,
  type Traffic,
} from './fleet-load.suite.ts';
import { postgresBus } from './stores/bus/postgres.ts';
import type { Database } from './stores/control/engine/database.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { evm as addressOf } from './testing/addresses.ts';
import {
  type AnchoringChain,
  NO_ANCHORING_CHAIN,
  startAnchoringChain,
} from './testing/anchoring-chain.ts';
import { append, flagOf } from './testing/flag-events.ts';
import { type Fleet, makeFleet, settingsOfFleet, startOutsideOfFleet } from './testing/fleet.ts';
import { type Lottery, lotteryOf } from './testing/lottery.ts';
import { deliveryHeaders, membershipEvent } from './testing/payment-platform.ts';
import { NO_POSTGRES, testPostgres } from './testing/postgres.ts';
import { MAIN, onlySettings, runPrinting } from './testing/program.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';
import { startWarehouseFront, type WarehouseFront } from './testing/warehouse-front.ts';
import { type StartedChats, startChats } from './world/chat-api.ts';
import { SANDBOX_PARTY } from './world/listed-parties.ts';

/** How long the faults go on: the suite has a little time for it, a trial of its own has more. */
const FAULTS_S = trialsOf('EXHIBIT_TEST_FAULTS_S', 20, 600);
const SEED = trialsOf('EXHIBIT_TEST_SEED', 30, 30);
const LEASE_S = 1;
const PAUSE_MS = 3 * LEASE_S * 1_000;
const IS_SHORT = FAULTS_S < 60;
/** An allowance that is spent while the faults go on, by several who ask at once. */
const BUDGET = IS_SHORT ? 8 : 200;
const SCANNING = 3;
/** Traffic of each kind comes so often. */
const EVERY_MS = IS_SHORT ? 500 : 400;
const READERS = 4;
const BASE_ID = 8453;
const ANCHOR_KEY = `0x${'05'.repeat(32)}`;
const WEBHOOK_SECRET = 'ws_a1b2c3d4e5f6a7b8';
const TOKEN = 'a-token-of-a-desk';
const ROLES = {
  'serve 1': 'serve',
  'serve 2': 'serve',
  'work 1': 'work',
  'work 2': 'work',
} as const;
/** How a line ends whose process is killed. */
const BROKEN_LINES = ['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'];
const NAMES = Object.keys(ROLES);
const EMITTERS = ['calls 1', 'calls 2'];
/** Enough for a machine that has much else to do. */
const PATIENT = { timeout: 240_000, interval: 500 };
vi.setConfig({ testTimeout: FAULTS_S * 1_000 + 600_000, hookTimeout: 300_000 });

const NO_PLACE = NO_POSTGRES ?? NO_ANCHORING_CHAIN;
/** How a process of a name is killed, and another begun in its place; how it is paused. */
type Victims = {
  readonly kill: (name: string) => Promise<void>;
  readonly pause: (name: string) => void;
  readonly resume: (name: string) => void;
};

const added = z.object({ membership_id: z.string() });
const minted = z.object({ key: z.string(), prefix: z.string() });
const watched = z.looseObject({ id: z.string() });
const recorded = z.looseObject({ id: z.string() });
const numbered = z.object({ seq: z.coerce.number() });

describe.skipIf(NO_PLACE !== null)(`four processes ${NO_PLACE ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-fleet-'));
  let control: Database;
  let chain: AnchoringChain;
  let front: WarehouseFront;
  let outside: Awaited<ReturnType<typeof startOutsideOfFleet>>;
  let chats: StartedChats;
  let fleet: Fleet;
  let emitters: Emitters;
  let bus: ReturnType<typeof postgresBus>;
  let env: { readonly [name: string]: string };
  let contract: string;
  let sender: string;
  let nonceBefore: number;
  const keys = { desk: '', analyst: '', partner: '' };
  let desk = '';
  let analyst = '';

  beforeAll(async () => {
    const database = await (await testPostgres()).freshDatabase();
    control = openPostgres(database);
    front = await startWarehouseFront(join(home, 'warehouse'));
    chats = await startChats();
    outside = await startOutsideOfFleet(home);
    chain = await startAnchoringChain(BASE_ID);
    sender = await chain.fund(ANCHOR_KEY);
    contract = await chain.deploy(sender);
    await chain.finalise();
    nonceBefore = await chain.countOf(sender);
    env = onlySettings({
      ...settingsOfFleet({
        database,
        warehouse: front.url,
        list: outside.list,
        explorer: outside.explorer,
        token: TOKEN,
      }),
      EXHIBIT_LEASE_MAX: `${LEASE_S}s`,
      EXHIBIT_DRAIN: '0s',
      EXHIBIT_RPC_BASE: chain.url.href,
      EXHIBIT_ANCHOR_KEY: ANCHOR_KEY,
      EXHIBIT_ANCHOR_CONTRACT: contract,
      EXHIBIT_ANCHOR_EVERY: '1m',
      EXHIBIT_DISCORD_URL: chats.roots.discord,
      EXHIBIT_PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
      EXHIBIT_PLANS: 'plan_desk:desk',
    });
    fleet = await makeFleet({ roles: ROLES, main: MAIN, env, home });
    await fleet.start('work 1');
    await Promise.all(NAMES.filter((name) => name !== 'work 1').map((name) => fleet.start(name)));
    const place = { cwd: home, env: { ...env, EXHIBIT_DATA_DIR: join(home, 'operator') } };
    const member = async (plan: string) =>
      (await runPrinting(added, ['members', 'add', '--plan', plan], place)).membership_id;
    const key = async (...words: string[]) =>
      (await runPrinting(minted, ['keys', 'create', ...words], place)).key;
    desk = await member('desk');
    analyst = await member('analyst');
    keys.desk = await key('--membership', desk);
    keys.analyst = await key('--membership', analyst);
    keys.partner = await key('--partner', 'acme', '--budget', String(BUDGET));
    const webhook = { webhook_id: '123456789012345678', webhook_token: 'd'.repeat(68) };
    const connected = await askOnce(`${serving()[0]}/integrations/discord/connect`, {
      method: 'POST',
      headers: bearer(keys.desk),
      body: JSON.stringify({ ...webhook, rules: { kinds: ['watch', 'flag', 'call'] } }),
    });
    expect(connected).toMatchObject({ status: 201 });
    emitters = startEmitters(database, EMITTERS, LEASE_S);
    bus = postgresBus({ database: control, url: database, onFault: () => undefined });
  });
  afterAll(async () => {
    await emitters?.end();
    await fleet?.close();
    await bus?.close();
    await control?.close();
    await front?.close();
    await chain?.stop();
    await chats?.close();
    await outside?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const serving = (): readonly string[] => [...fleet.urls.values()];

  /** Kills and pauses some at random until the time is over; how often each came about. */
  async function makeFaults(
    names: readonly string[],
    { kill, pause, resume }: Victims,
    lottery: Lottery,
  ): Promise<[string, number][]> {
    const counts = new Map<string, number>();
    const end = Date.now() + FAULTS_S * 1_000;
    for (let n = 0; Date.now() < end || n < names.length; n += 1) {
      const name = lottery.oneOf(names);
      // The first ones come in turn, so that the shortest trial has of both.
      const kills = n < names.length ? n % 2 === 0 : lottery.happens(0.5);
      if (kills) await kill(name);
      else {
        pause(name);
        await wait(PAUSE_MS);
        resume(name);
      }
      tally(counts, `${name} ${kills ? 'killed' : 'paused'}`);
      await wait(200 + lottery.below(800));
    }
    return [...counts];
  }

  /** Traffic of every kind, and what was acknowledged of it. */
  function makeTraffic() {
    const isWatched = new Map<string, string>();
    const records: string[] = [];
    const delivered = new Map<string, string>();
    const granted = { analyst: 0, partner: 0 };
    const all = SANDBOX_PARTY.addresses.map(({ address }) => address);
    const listed = all.filter((address) => address.startsWith('0x'));
    const screen = (n: number) => String(listed[n % listed.length]);
    const traffic: Traffic[] = [
      {
        name: 'screens',
        everyMs: EVERY_MS / 2,
        path: (n) => `/api/v1/wallet/${screen(n)}/ofac`,
        question: () => ({ headers: bearer(keys.analyst) }),
        onTold: (_, { status }) => {
          if (status === 200) granted.analyst += 1;
        },
      },
      // Several at once, so that the last of the allowance is asked for at both processes.
      ...Array.from(
        { length: SCANNING },
        (_, of): Traffic => ({
          name: `scans ${of + 1}`,
          everyMs: EVERY_MS,
          path: (n) => `/api/v1/scan/${screen(n + of)}`,
          question: () => ({ method: 'POST', headers: bearer(keys.partner) }),
          onTold: (_n, { status }) => {
            if (status === 200) granted.partner += 1;
          },
        }),
      ),
      {
        name: 'watches',
        everyMs: EVERY_MS * 2,
        path: () => '/api/v1/watchlist',
        question: (n) => ({
          method: 'POST',
          headers: bearer(keys.desk),
          body: JSON.stringify({ address: n < listed.length ? screen(n) : addressOf(`w ${n}`) }),
        }),
        onTold: (n, { status, body }) => {
          if (status > 201) return;
          const address = n < listed.length ? screen(n) : addressOf(`w ${n}`);
          isWatched.set(watched.parse(JSON.parse(body)).id, address);
        },
      },
      {
        name: 'records',
        everyMs: EVERY_MS * 2,
        path: () => '/api/v1/screens',
        question: (n) => ({
          method: 'POST',
          headers: bearer(keys.desk),
          body: JSON.stringify({ address: screen(n) }),
        }),
        onTold: (_, { status, body }) => {
          if (status === 201) records.push(recorded.parse(JSON.parse(body)).id);
        },
      },
      {
        name: 'webhooks',
        everyMs: EVERY_MS * 2,
        path: () => '/webhooks/payments',
        // Each delivery comes three times, as the platform sends what it does not know arrived.
        question: (n) => {
          const at = Math.floor(Date.now() / 1_000);
          const id = `mem_bought_${Math.floor(n / 3)}`;
          const body = membershipEvent({ id, at, license_key: `EX-${Math.floor(n / 3)}` });
          const delivery = `msg_${Math.floor(n / 3)}`;
          return { method: 'POST', ...signed(delivery, at, body) };
        },
        onTold: (n, { status }) => {
          const nth = Math.floor(n / 3);
          if (status === 200) delivered.set(`msg_${nth}`, `mem_bought_${nth}`);
        },
      },
    ];
    return { traffic, isWatched, records, delivered, granted };
  }

  test(`loses nothing and does nothing twice, by the faults of seed ${SEED}`, async () => {
    const lottery = lotteryOf(SEED);
    const { traffic, isWatched, records, delivered, granted } = makeTraffic();
    const running = startTraffic(traffic, { urls: serving, lottery: lotteryOf(SEED + 1) });
    const place = (n: number) => {
      return { urls: serving, lottery: lotteryOf(SEED + 2 + n), bySocket: n % 2 === 0 };
    };
    const readers = Array.from({ length: READERS }, (_, n) => {
      return startReader({ ...place(n), stream: flagStreamRoute, token: TOKEN });
    });
    const changes = [0, 1].map((n) => {
      // A key is no part of a URL, so it opens no WebSocket as a browser opens it.
      return startReader({ ...place(2 * n + 1), stream: watchStream, token: keys.desk });
    });
    let flags = 0;
    let isOver = false;
    const appending = (async () => {
      for (; !isOver; flags += 1) {
        await append(control, [flagOf(flags + 1)]);
        bus.callAll();
        await wait(EVERY_MS * 8);
      }
    })();
    const mining = (async () => {
      while (!isOver) {
        await chain.mine();
        await wait(1_000);
        await chain.finalise();
        await wait(1_000);
      }
    })();

    const restarted = {
      ...fleet,
      kill: async (name: string) => {
        await fleet.kill(name);
        await fleet.start(name);
      },
    };
    const counts = await Promise.all([
      makeFaults(NAMES, restarted, lottery),
      makeFaults(EMITTERS, emitters, lotteryOf(SEED + 10)),
    ]);
    await running.end();
    await emitters.end();
    const figures = {
      faults: Object.fromEntries(counts.flat()),
      answers: Object.fromEntries(
        [...running.ledger].map(([name, of]) => [name, Object.fromEntries(of)]),
      ),
      acknowledged: { watches: isWatched.size, records: records.length, ...granted },
      webhooks: delivered.size,
    };

    // Every refusal is one of those that tell to come again, or of a spent allowance.
    for (const [name, of] of running.ledger) {
      const declared = ['200', '201', '429', '503', ...BROKEN_LINES];
      const others = [...of.keys()].filter((one) => !declared.includes(one));
      expect([name, others]).toEqual([name, []]);
    }
    await expectQuotas(granted);
    await expectKept(isWatched, records, delivered);

    // Once nothing new comes, everything that waits is done by whoever is there.
    isOver = true;
    await Promise.all([appending, mining]);
    const newest = flags;
    await vi.waitFor(() => {
      for (const { seqs } of readers) expect(seqs.at(-1)).toBe(newest);
    }, PATIENT);
    for (const { seqs, gaps, refusals } of readers) {
      expect([gaps(), refusals]).toEqual([0, []]);
      expect(seqs).toEqual(Array.from({ length: newest }, (_, n) => n + 1));
    }
    await expectTold(changes);
    const emitted = await emitters.expectOnce(control);
    const sizes = await expectAnchors();
    const [{ n: leaves } = { n: 0 }] = await countOf('log_leaves');
    console.log(
      JSON.stringify({ seed: SEED, ...figures, flags: newest, emitted, leaves, anchors: sizes }),
    );
    for (const one of [...readers, ...changes]) await one.end();
  });

  const signed = (id: string, at: number, body: string) => ({
    body,
    headers: {
      'content-type': 'application/json',
      ...deliveryHeaders([WEBHOOK_SECRET], id, at, body),
    },
  });
  const countOf = (table: string) =>
    rowsAs<{ n: number }>(control, `select count(*)::int4 as n from ${table}`);

  async function expectQuotas(granted: { analyst: number; partner: number }) {
    const rows = await rowsAs<{ subject: string; used: number; ceiling: number }>(
      control,
      'select subject, used, ceiling from quota_usage',
    );
    for (const { used, ceiling } of rows) expect(used).toBeLessThanOrEqual(ceiling);
    const used = (is: (subject: string) => boolean) =>
      rows.filter(({ subject }) => is(subject)).reduce((sum, row) => sum + row.used, 0);
    expect(granted.partner).toBeLessThanOrEqual(BUDGET);
    // The allowance was spent to its last request, and whoever came after was refused.
    const ofPartner = rows.filter(({ subject }) => subject.startsWith('key:'));
    expect(ofPartner.map(({ used: spent, ceiling }) => [spent, ceiling])).toEqual([
      [BUDGET, BUDGET],
    ]);
    expect(used((subject) => subject.startsWith('key:'))).toBeGreaterThanOrEqual(granted.partner);
    expect(used((subject) => subject.endsWith(analyst))).toBeGreaterThanOrEqual(granted.analyst);
    expect(granted.analyst).toBeLessThanOrEqual(1_000);
    expect(granted.partner).toBeGreaterThan(0);
  }

  async function expectKept(
    isWatched: ReadonlyMap<string, string>,
    records: readonly string[],
    delivered: ReadonlyMap<string, string>,
  ) {
    const [url] = serving();
    const list = await askOnce(`${url}/api/v1/watchlist`, { headers: bearer(keys.desk) });
    if ('fault' in list) throw new Error(list.fault);
    expect(list.status).toBe(200);
    expect(isWatched.size).toBeGreaterThan(0);
    for (const id of isWatched.keys()) expect(list.body).toContain(`"${id}"`);
    const rows = await rowsAs<{ id: string }>(control, 'select id from screening_records');
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([...records]));
    expect(records.length).toBeGreaterThan(0);
    const bought = await rowsAs<{ delivery_id: string; membership_id: string; outcome: string }>(
      control,
      'select delivery_id, membership_id, outcome from payment_events',
    );
    const byDelivery = new Map(bought.map((row) => [row.delivery_id, row]));
    expect(delivered.size).toBeGreaterThan(0);
    for (const [delivery_id, membership_id] of delivered) {
      const kept = { delivery_id, membership_id, outcome: 'applied' };
      expect(byDelivery.get(delivery_id)).toEqual(kept);
    }
    const members = await rowsAs<{ membership_id: string }>(
      control,
      "select membership_id from memberships where plan = 'desk' and status = 'active'",
    );
    const ids = members.map(({ membership_id }) => membership_id);
    expect(ids).toEqual(expect.arrayContaining([...delivered.values()]));
  }

  /** Changes, dispatches and posts: each number once, and nothing left untold. */
  async function expectTold(changes: readonly Reader[]) {
    await vi.waitFor(async () => {
      const due = `select count(*)::int4 as n from watched_addresses
        where jsonb_array_length(parts) = 0`;
      expect(await rowsAs(control, due)).toEqual([{ n: 0 }]);
      expect(await countOf('deliveries where dead_at is null')).toEqual([{ n: 0 }]);
      const places = 'select seq::float8 as seq from watch_changes order by seq';
      const rows = z.array(numbered).parse(await control.query(places));
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => n + 1));
      for (const { seqs, gaps, refusals } of changes) {
        expect([gaps(), refusals]).toEqual([0, []]);
        expect(seqs).toEqual(rows.map(({ seq }) => seq));
      }
    }, PATIENT);
    const dispatches = await rowsAs<{ id: bigint; key: string; kind: string }>(
      control,
      "select id, key, kind from dispatches where kind in ('watch', 'flag', 'call') order by id",
    );
    expect(new Set(dispatches.map(({ key }) => key)).size).toBe(dispatches.length);
    const posts = chats.posted.map(({ body }) => numberOf(body)).filter((n) => n !== null);
    const inOrder = posts.filter((n, i) => n !== posts[i - 1]);
    // A post that was under way may come again, under its number; no other comes between.
    expect(inOrder).toEqual(dispatches.map(({ id }) => Number(id)));
    expect(await countOf('deliveries where dead_at is not null')).toEqual([{ n: 0 }]);
  }

  const numberOf = (body: unknown): number | null => {
    const found = /dispatch (\d+)/.exec(JSON.stringify(body));
    return found === null ? null : Number(found[1]);
  };

  /** Leaves and anchors: each number once, and each root once under a nonce of its own. */
  async function expectAnchors(): Promise<number[]> {
    const leaves = await rowsAs<{ leaf_index: bigint; hash: string }>(
      control,
      'select leaf_index, hash::text as hash from log_leaves order by leaf_index',
    );
    expect(leaves.length).toBeGreaterThan(0);
    expect(leaves.map(({ leaf_index }) => Number(leaf_index))).toEqual(leaves.map((_, n) => n));
    expect(new Set(leaves.map(({ hash }) => hash)).size).toBe(leaves.length);
    const sends = 'select log_size::float8 as size, nonce::float8 as nonce, status from anchors';
    const anchors = await vi.waitFor(async () => {
      await chain.mine();
      await chain.finalise();
      const rows = await rowsAs<{ size: number; nonce: number; status: string }>(
        control,
        `${sends} order by nonce`,
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['confirmed']));
      return rows;
    }, PATIENT);
    expect(anchors.map(({ nonce }) => nonce)).toEqual(anchors.map((_, n) => nonceBefore + n));
    expect(await chain.countOf(sender)).toBe(nonceBefore + anchors.length);
    const topic = `0x${Buffer.from(keccak256('Anchored(uint64,bytes32)')).toString('hex')}`;
    const filter = { address: contract, fromBlock: '0x0', toBlock: 'latest', topics: [topic] };
    const events = z
      .array(z.looseObject({ topics: z.array(z.string()) }))
      .parse(await chain.ask('eth_getLogs', filter));
    const sizes = anchors.map(({ size }) => size);
    expect(events.map(({ topics }) => Number(topics[1]))).toEqual(sizes);
    expect(new Set(sizes).size).toBe(sizes.length);
    return sizes;
  }
});
