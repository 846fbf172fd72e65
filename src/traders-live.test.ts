// A running service analyses who is asked about: from the queue, over a venue that also fails, and
// through a stop in the middle of its work. What was found stays, whatever comes later.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { jsonIn } from './sources/http/fetch.ts';
import { evm } from './testing/addresses.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { startProgram } from './testing/program.ts';
import { type StartedHyperliquid, startHyperliquid } from './world/hyperliquid-api.ts';
import { type TraderKind, WORLD_TRADERS } from './world/traders.ts';
import { worldVenueBook } from './world/venue-book.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
const WAIT = { timeout: 300_000, interval: 500 };
/** What the service may spend in a minute; the venue takes 1,200. */
const WEIGHT_MAX = 1_000;
const QUEUED = 'It is queued; 5 of the addresses that were asked for are begun in a minute.';

const analysed = z.looseObject({
  analysed: z.literal(true),
  analysed_at: z.string(),
  coverage: z.looseObject({ fills: z.number() }),
  caveats: z.array(z.string()),
});
const outcome = z.looseObject({ outcome: z.string() });

let venue: StartedHyperliquid;
let live: LiveProgram;

beforeAll(async () => {
  venue = await startHyperliquid(worldVenueBook(Date.now), { nowMs: Date.now });
  live = await startLive({
    words: ['up'],
    listed: [evm('listed')],
    explorer: null,
    settings: { EXHIBIT_SURFACES: 'signals,web', EXHIBIT_HYPERLIQUID_URL: venue.url.href },
  });
});
afterAll(async () => {
  await live?.close();
  await venue?.close();
});

function traderOf(kind: TraderKind, n = 0): string {
  const found = WORLD_TRADERS.find((one) => one.kind === kind && one.n === n);
  if (found === undefined) throw new Error(`test: no trader ${kind} ${n}`);
  return found.address;
}

async function ask(address: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetchPatiently(`${live.base()}/api/traders/${address}/temporal`);
  return { status: answer.status, body: await answer.json() };
}

const untilAnalysed = (address: string) =>
  vi.waitFor(async () => analysed.parse((await ask(address)).body), WAIT);
const untilSaid = (address: string, body: object) =>
  vi.waitFor(async () => {
    expect(await ask(address)).toEqual({
      status: 404,
      body: { ...NOT_ANALYSED, address, ...body },
    });
  }, WAIT);

const NOT_ANALYSED = {
  analysed: false,
  error: 'not_analysed',
  methodology_url: '/methodology/traders',
  engine_unreachable: false,
};

async function analyseNow(address: string) {
  const { status, out, err } = await startProgram(['traders', 'analyse', address, '--json'], live)
    .ended;
  return { status, err, ...outcome.parse(jsonIn(out)) };
}

const [FIRST, OTHER, LATER] = [
  traderOf('no_style'),
  traderOf('no_style', 1),
  traderOf('no_style', 2),
];

test('who was never asked about is queued, analysed, and answered from then on', async () => {
  await untilSaid(FIRST, { detail: `This address was not analysed yet. ${QUEUED}` });
  const { coverage, simulated } = await untilAnalysed(FIRST);
  expect(coverage.fills).toBeGreaterThan(500);
  expect(simulated).toBe(false);
});

test('a wallet that signs for another account is named with it, and a stranger has none', async () => {
  const again = 'It was looked at within a day: ask after it to have it looked at again.';
  const of = traderOf('no_style');
  await untilSaid(traderOf('agent'), {
    detail: `It is an agent wallet, which signs for ${of}: ask about that account. ${again}`,
  });
  await untilSaid(evm('stranger').toLowerCase(), {
    detail: `The venue was asked, and has no account at this address. ${again}`,
  });
});

test('the weight of a minute is never passed by the service', () => {
  expect(venue.asked.length).toBeGreaterThan(5);
  expect(venue.heaviestMinute()).toBeLessThanOrEqual(WEIGHT_MAX);
});

test('a venue that fails is unreachable, what was found before stays, and then it goes on', async () => {
  const before = await untilAnalysed(FIRST);
  venue.fault('html');
  await vi.waitFor(async () => {
    const { status, body } = await ask(OTHER);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      engine_unreachable: true,
      detail: expect.stringMatching(/^The last attempt, at \S+, failed: .*Hyperliquid/),
    });
  }, WAIT);
  // What a process learnt of the venue within the hour it does not ask again; another one does.
  await live.restart({});
  expect(await analyseNow(FIRST)).toMatchObject({ status: 3, outcome: 'failed' });
  const { analysed_at, caveats, ...kept } = await untilAnalysed(FIRST);
  expect([analysed_at, kept['modes']]).toEqual([before.analysed_at, before['modes']]);
  expect(caveats.filter((one) => /^A later attempt, at /.test(one))).toHaveLength(1);
  venue.fault(null);
  for (const address of [FIRST, OTHER]) {
    // A venue that failed is left alone for some seconds.
    await vi.waitFor(async () => {
      expect(await analyseNow(address)).toMatchObject({ status: 0, outcome: 'analysed' });
    }, WAIT);
    const told = await untilAnalysed(address);
    expect(told.caveats.filter((one) => one.startsWith('A later attempt'))).toEqual([]);
  }
});

test('what a stop breaks off is done after the start, without a further question', async () => {
  venue.fault('timeout');
  await ask(LATER);
  const isAsked = () => venue.asked.some(({ user }) => user === LATER);
  await vi.waitFor(() => expect(isAsked()).toBe(true), WAIT);
  await live.restart({}, async () => venue.fault(null));
  const fills = () =>
    venue.asked.some(({ type, user }) => type === 'userFunding' && user === LATER);
  await vi.waitFor(() => expect(fills()).toBe(true), WAIT);
  await untilAnalysed(LATER);
});
