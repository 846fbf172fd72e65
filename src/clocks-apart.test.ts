// Programs whose machines are an hour ahead and an hour behind, over one PostgreSQL: no age, day of
// an allowance, lease or date of a signature moves the wrong way (docs/reference/clocks.md).

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DAY_S, formatIsoDate, HOUR_S, MS_PER_S } from './chain/time.ts';
import { requestSigned } from './client/signed.ts';
import type { Database } from './stores/control/engine/database.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { evm } from './testing/addresses.ts';
import { type Fleet, makeFleet, settingsOfFleet } from './testing/fleet.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { NO_POSTGRES, testPostgres } from './testing/postgres.ts';
import { MAIN, onlySettings, runPrinting } from './testing/program.ts';
import { rowsAs } from './testing/rows-as.ts';
import { startWarehouseFront, type WarehouseFront } from './testing/warehouse-front.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { SANDBOX_PARTY, WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnXml } from './world/sdn-publication.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** The library that the Debian package `faketime` installs, under the folder of the machine. */
const LIBRARY = libraryOf('/usr/lib');
const NO_PLACE =
  NO_POSTGRES ?? (LIBRARY === null ? 'skipped: no libfaketime (install faketime)' : null);
const APART = { ahead: HOUR_S, behind: -HOUR_S } as const;
const ROLES = { ahead: 'serve', behind: 'serve', 'work ahead': 'work' } as const;
/** What a busy machine may take between two looks at a clock. */
const PATIENT_S = 120;
const LEASE_S = 5;
const TOKEN = 'a-token-of-a-desk';
const HEAD = 30_000;
const BLOCK_S = 12;
const ASKED = 7;
const LISTED = String(SANDBOX_PARTY.addresses[0]?.address);
/** The newest block of a chain is held for a while. */
const HELD = { timeout: 90_000, interval: 3_000 };
const WAIT = { timeout: 60_000, interval: 200 };

function libraryOf(root: string): string | null {
  if (!existsSync(root)) return null;
  const all = readdirSync(root).map((name) => join(root, name, 'faketime/libfaketimeMT.so.1'));
  return all.find((path) => existsSync(path)) ?? null;
}

const nowS = () => Math.floor(Date.now() / MS_PER_S);

/** Fakes the time that can be set, and leaves alone the one that only goes on. */
const faked = (apart: number) => ({
  LD_PRELOAD: String(LIBRARY),
  FAKETIME: `${apart < 0 ? '' : '+'}${apart}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

const minted = z.object({ key: z.string(), prefix: z.string() });
const added = z.object({ membership_id: z.string() });
const screened = z.looseObject({
  data: z.looseObject({ sanctioned: z.boolean() }),
});
const health = z.looseObject({
  data_freshness: z.looseObject({
    sanctions_list: z.looseObject({ as_of: z.number(), age_s: z.number() }),
  }),
});
const keySet = z.object({
  keys: z.array(z.looseObject({ kid: z.string(), nbf: z.number(), exp: z.number() })),
});

describe.skipIf(NO_PLACE !== null)(`an hour apart ${NO_PLACE ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-apart-'));
  let control: Database;
  let front: WarehouseFront;
  let explorer: StartedExplorer;
  let fleet: Fleet;
  let key: string;
  /** How far the blocks of the chain are from the time of this machine. */
  let shift = 0;
  // The time of a block is asked once, so that other times are those of other blocks.
  const head = () => HEAD * (shift === 0 ? 1 : 2);

  beforeAll(async () => {
    const list = join(home, 'sdn.xml');
    writeFileSync(list, sdnXml(worldPublicationAt(nowS(), WORLD_SEED)));
    const database = await (await testPostgres()).freshDatabase();
    control = openPostgres(database);
    front = await startWarehouseFront(join(home, 'warehouse'));
    explorer = await startExplorer({
      headOf: head,
      timeOf: (_, block) => nowS() + shift - (head() - block) * BLOCK_S,
      rowsOf: () => [],
      rowsOfToken: () => [],
    });
    const stores = { database, warehouse: front.url, list };
    const env = onlySettings({
      ...settingsOfFleet({ ...stores, explorer: explorer.blockscout(1), token: TOKEN }),
      EXHIBIT_LEASE_MAX: `${LEASE_S}s`,
      EXHIBIT_DRAIN: '0s',
      EXHIBIT_LIVE_HOLD: '0',
    });
    const envOf = {
      ahead: faked(APART.ahead),
      behind: faked(APART.behind),
      'work ahead': faked(APART.ahead),
    };
    fleet = await makeFleet({ roles: ROLES, main: MAIN, env, envOf, home });
    await fleet.start('work ahead');
    await Promise.all(['ahead', 'behind'].map((name) => fleet.start(name)));
    const place = { cwd: home, env: { ...env, EXHIBIT_DATA_DIR: join(home, 'operator') } };
    const member = ['members', 'add', '--plan', 'desk'];
    const { membership_id } = await runPrinting(added, member, place);
    const create = ['keys', 'create', '--membership', membership_id];
    key = (await runPrinting(minted, create, place)).key;
  });
  afterAll(async () => {
    await fleet?.close();
    await control?.close();
    await explorer?.close();
    await front?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const ask = async (name: string, path: string, headers: { [name: string]: string } = {}) => {
    const url = `${fleet.urls.get(name)}${path}`;
    const authorization = `Bearer ${key}`;
    const answer = await fetchPatiently(url, { headers: { authorization, ...headers } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    return { url: new URL(url), status: answer.status, headers: answer.headers, bytes, text };
  };

  test('each answers by a clock of its own', async () => {
    for (const [name, apart] of Object.entries(APART)) {
      const { headers } = await ask(name, '/health');
      const told = Date.parse(String(headers.get('date'))) / MS_PER_S;
      expect(Math.abs(told - (nowS() + apart)), name).toBeLessThan(PATIENT_S);
    }
  });

  test('both tell one age of the list, and neither denies a listing', async () => {
    const ages = await Promise.all(
      Object.keys(APART).map(async (name) => {
        const { text } = await ask(name, '/health');
        return health.parse(JSON.parse(text)).data_freshness.sanctions_list;
      }),
    );
    const [one, other] = ages.map(({ age_s, as_of }) => {
      // By the store's clock, which is that of this machine.
      expect(Math.abs(nowS() - as_of - age_s)).toBeLessThan(PATIENT_S);
      return as_of;
    });
    expect(one).toBe(other);
    for (const name of Object.keys(APART)) {
      const { text } = await ask(name, `/api/v1/wallet/${LISTED}/ofac`);
      expect([name, screened.parse(JSON.parse(text)).data.sanctioned]).toEqual([name, true]);
    }
  });

  test('a block is fresh for neither, and for one that it is on time with', async () => {
    const bridges = (name: string, address: string) =>
      ask(name, `/api/v1/wallet/${evm(address)}/bridges?chain=ethereum`);
    const late = await bridges('ahead', 'one');
    expect(late.text).toMatch(/"state":"not_deployed".*, over 1 hour ago/s);
    const early = await bridges('behind', 'another');
    expect(early.text).toMatch(/"state":"not_deployed".*, far ahead of this machine's clock/s);
    // The same process takes the blocks of a chain that is as far behind as itself.
    shift = APART.behind;
    await vi.waitFor(async () => {
      const timely = await bridges('behind', `third ${nowS()}`);
      expect(timely.text).not.toMatch(/ahead of this machine|hour ago/);
    }, HELD);
  });

  test('a request counts once, on the day of who answers it, which ends by his clock', async () => {
    const usage = async () => {
      const rows = await rowsAs<{ period: string; used: number }>(
        control,
        'select period, used from quota_usage',
      );
      return new Map(rows.map(({ period, used }) => [period, used]));
    };
    const before = await usage();
    const expected = new Map(before);
    for (const [name, apart] of Object.entries(APART)) {
      const day = formatIsoDate(nowS() + apart);
      for (let n = 0; n < ASKED; n += 1) {
        const { status, headers } = await ask(name, `/api/v1/wallet/${LISTED}/ofac`);
        expect(status).toBe(200);
        const left = Number(headers.get('x-ratelimit-reset'));
        const own = DAY_S - ((nowS() + apart) % DAY_S);
        expect(Math.abs(left - own), name).toBeLessThan(PATIENT_S);
      }
      expected.set(day, Number(expected.get(day) ?? 0) + ASKED);
    }
    expect(await usage()).toEqual(expected);
  });

  test('a lease is held by the store’s clock, whoever is ahead', async () => {
    type Lease = { name: string; left: number };
    const held = await vi.waitFor(async () => {
      const rows = await rowsAs<Lease>(
        control,
        `select name, extract(epoch from held_until - now())::float8 as left
         from leases where held_until > now()`,
      );
      expect(rows.length).toBeGreaterThan(0);
      return rows;
    }, WAIT);
    for (const { name, left } of held) expect([name, left <= LEASE_S]).toEqual([name, true]);
  });

  test('a signature tells the time of its process, by a key that is valid then', async () => {
    const kids = new Set<string>();
    for (const [name, apart] of Object.entries(APART)) {
      const published = (await ask(name, '/.well-known/exhibit-keys.json')).text;
      const signed = requestSigned({ keys: published }).begin();
      const path = `/api/v1/wallet/${LISTED}/ofac`;
      const { url, status, headers, bytes } = await ask(name, path, {
        'accept-signature': signed.header,
      });
      const taken = { method: 'GET', url, status, headers, bytes };
      // Of a time to come nothing is taken; an answer of the past is fresh by its nonce alone.
      const here = await signed.take(taken);
      if (apart > 0) expect(here).toContain('It says that it was signed at a time');
      else expect(here).toBeNull();
      vi.setSystemTime(Date.now() + apart * MS_PER_S);
      const own = await signed.take(taken);
      vi.useRealTimers();
      expect(own).toBeNull();
      const input = String(headers.get('signature-input'));
      const created = Number(/;created=(\d+)/.exec(input)?.[1]);
      expect(Math.abs(created - (nowS() + apart)), name).toBeLessThan(PATIENT_S);
      const kid = String(/;keyid="([^"]+)"/.exec(input)?.[1]);
      kids.add(kid);
      const key = keySet.parse(JSON.parse(published)).keys.find((one) => one.kid === kid);
      expect(key?.nbf).toBeLessThanOrEqual(created);
      expect(key?.exp).toBeGreaterThan(created);
      // Whoever asks the other process finds the key as well.
      for (const other of Object.keys(APART)) {
        expect((await ask(other, '/.well-known/exhibit-keys.json')).text).toContain(kid);
      }
    }
    expect(kids.size).toBeGreaterThan(0);
  });
});
