// A service that holds a list and a warehouse builds the ring around the list by itself, and says
// in `/health` where it stands and how far its lists are read ahead.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { runPrinting } from './testing/program.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const HEAD = 30_000;
const LISTED = [evm('listed'), evm('another listed')];
const ASK = { timeout: 60_000, interval: 100 };
/** Of a machine that has much else to do. */
const START_MAX_MS = 240_000;

let explorer: StartedExplorer;
let live: LiveProgram;

beforeAll(async () => {
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12,
    rowsOf: () => [],
    rowsOfToken: () => [],
  });
  live = await startLive({ words: ['up'], listed: LISTED, explorer });
}, START_MAX_MS);
afterAll(async () => {
  await live.close();
  await explorer.close();
});

const HEALTH = z.object({
  ring: z.unknown(),
  ring_read_ahead: z.unknown(),
});

async function health() {
  return HEALTH.parse(await (await fetchPatiently(`${live.base()}/health`)).json());
}

test(
  'the ring is built without a walk that asks for it, and is filled list by list',
  async () => {
    const chain = { state: 'absent', listed: LISTED.length, held_in_full: 0, counterparties: 0 };
    const built = { state: 'not_whole', chains: { ethereum: chain } };
    await vi.waitFor(async () => expect((await health()).ring).toMatchObject(built), ASK);
    const { ring, ring_read_ahead } = await health();
    expect(ring).toMatchObject({ reason: expect.stringContaining('ethereum native none held') });
    expect(ring_read_ahead).toMatchObject({ state: 'waiting', calls_a_day: 50_000 });

    const shape = z.object({ gaps: z.array(z.unknown()), read_ahead: z.unknown() });
    const done = await runPrinting(shape, ['warehouse', 'ring', 'fill'], live);
    const filled = { state: 'filled', lists_held: 6, lists: 6, reason: null };
    expect(done).toMatchObject({ gaps: [], read_ahead: filled });
    expect((await health()).ring_read_ahead).toMatchObject(filled);
  },
  START_MAX_MS,
);
