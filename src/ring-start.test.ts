// A service that holds a list and a warehouse builds the ring around the list by itself, and says
// in `/health` where it stands and how far its lists are read ahead.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { createControlIn } from './testing/postgres.ts';
import { type Program, runPrinting, startProgram, untilSaid } from './testing/program.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { SANDBOX_PARTY } from './world/listed-parties.ts';
import { sdnAdvancedXml } from './world/sdn-publication.ts';

const HEAD = 30_000;
const LISTED = [evm('listed'), evm('another listed')];
const ASK = { timeout: 60_000, interval: 100 };
/** Of a machine that has much else to do. */
const START_MAX_MS = 240_000;

let cwd: string;
let publisher: Server;
let explorer: StartedExplorer;
let service: Program;
let env: { readonly [name: string]: string };

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'exhibit-ring-start-'));
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12,
    rowsOf: () => [],
    rowsOfToken: () => [],
  });
  const addresses = LISTED.map((address) => ({ currency: 'ETH', address }));
  const today = new Date().toISOString().slice(0, 10);
  const list = { published: today, parties: [{ ...SANDBOX_PARTY, addresses }] };
  publisher = createServer((_, response) => response.end(sdnAdvancedXml(list)));
  await new Promise<void>((ready) => publisher.listen(0, '127.0.0.1', ready));
  const { port } = publisher.address() as AddressInfo;
  env = {
    EXHIBIT_PORT: '0',
    EXHIBIT_SIMULATE: 'false',
    EXHIBIT_DATA_DIR: join(cwd, 'data'),
    EXHIBIT_SDN_URL: `http://127.0.0.1:${port}/SDN_ADVANCED.XML`,
    EXHIBIT_SDN_FLOOR: '1',
    EXHIBIT_BLOCKSCOUT_ETHEREUM: explorer.blockscout(1).href,
  };
  await createControlIn(join(cwd, 'data'));
  service = startProgram(['up'], { cwd, env });
  // So small a list is taken on an operator's word alone.
  await untilSaid(service, 'sanctions list: refused');
  const sha256 = String(/"sha256":"([0-9a-f]{64})"/.exec(service.out() + service.err())?.[1]);
  const accepting = ['sanctions', 'refresh', '--accept', sha256, '--why', 'tests'];
  const { status, err } = await startProgram(accepting, { cwd, env }).ended;
  expect(status, err).toBe(0);
}, START_MAX_MS);
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  publisher.closeAllConnections();
  publisher.close();
  await explorer.close();
  await rm(cwd, { recursive: true, force: true });
});

const HEALTH = z.object({
  ring: z.unknown(),
  ring_read_ahead: z.unknown(),
});

async function health() {
  const base = String(/http:\/\/127\.0\.0\.1:\d+/.exec(service.out() + service.err())?.[0]);
  return HEALTH.parse(await (await fetch(`${base}/health`)).json());
}

test(
  'the ring is built without a walk that asks for it, and is filled list by list',
  async () => {
    const chain = { listed: LISTED.length, held_in_full: 0, counterparties: 0 };
    const built = { state: 'not_whole', chains: { ethereum: chain } };
    await vi.waitFor(async () => expect((await health()).ring).toMatchObject(built), ASK);
    const { ring, ring_read_ahead } = await health();
    expect(ring).toMatchObject({ reason: expect.stringContaining('ethereum native none held') });
    expect(ring_read_ahead).toMatchObject({ state: 'waiting', calls_a_day: 50_000 });

    const shape = z.object({ gaps: z.array(z.unknown()), read_ahead: z.unknown() });
    const done = await runPrinting(shape, ['warehouse', 'ring', 'fill'], { cwd, env });
    const filled = { state: 'filled', lists_held: 6, lists: 6, reason: null };
    expect(done).toMatchObject({ gaps: [], read_ahead: filled });
    expect((await health()).ring_read_ahead).toMatchObject(filled);
  },
  START_MAX_MS,
);
