// Each run of a job is a span of its own where traces are made: it names the job and how the run
// ended, the calls to providers are below it, and it says nothing of what was worked on.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { closings } from './compose/closings.ts';
import { startJobs } from './compose/run.ts';
import { openWords, type Settings } from './provider-words.suite.ts';
import { evm } from './testing/addresses.ts';
import { controlOnServer } from './testing/control-store.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { mintCredentials } from './testing/opened-service.ts';
import { type OtlpCollector, startCollector } from './testing/otlp-collector.ts';
import { type StartedPublisher, startPublisher } from './world/publisher.ts';

const nowS = () => Math.floor(Date.now() / 1_000);
const WAIT = { timeout: 60_000, interval: 50 };
/** Nothing listens there. */
const SILENT = 'http://127.0.0.1:1';
const DEPLOYER = evm('deployer');

const fresh = controlOnServer();
let root: string;
let warehouse: Awaited<ReturnType<typeof freshWarehouse>>;
let publisher: StartedPublisher;
let collector: OtlpCollector;
let close: (() => Promise<void>)[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'exhibit-spans-'));
  warehouse = await freshWarehouse();
  publisher = await startPublisher({ now: nowS });
});
afterAll(async () => {
  await Promise.all([warehouse.close(), publisher.close()]);
  await rm(root, { recursive: true, force: true });
});
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(async () => {
  for (const one of close.toReversed()) await one();
  close = [];
  await collector.close();
});

/** A service with its jobs, as a process of both roles has them. */
async function work(settings: Settings) {
  const database = fresh();
  await database.setClock(nowS());
  const stores = { database, warehouse, dataDir: root };
  const traced = { EXHIBIT_OTLP_URL: collector.url.href };
  const service = await openWords(stores, { ...traced, ...settings }, null);
  const jobs = closings(() => undefined);
  close = [service.close, jobs.closeAll];
  startJobs(service.parts, ['serve', 'work'], jobs);
  return service;
}

const spansOf = (job: string) => collector.spans().filter(({ name }) => name === `job ${job}`);
const factsOf = (job: string) =>
  spansOf(job).map(({ attributes, kind, status }) => ({ attributes, kind, status }));
const ended = (job: string, outcome: string, code: number) => ({
  kind: 1,
  status: { code },
  attributes: [
    { key: 'job', value: { stringValue: job } },
    { key: 'outcome', value: { stringValue: outcome } },
  ],
});

test('a run that did its work is done, and its calls are below it', async () => {
  await work({ EXHIBIT_SDN_URL: publisher.url('SDN.XML').href });
  await vi.waitFor(() => expect(spansOf('refresh')).toHaveLength(1), WAIT);
  expect(factsOf('refresh')).toEqual([ended('refresh', 'done', 0)]);
  const [run] = spansOf('refresh');
  expect(run?.parentSpanId).toBeUndefined();
  const calls = collector.spans().filter(({ parentSpanId }) => parentSpanId === run?.spanId);
  expect(calls[0]).toMatchObject({ name: 'GET', kind: 3, traceId: run?.traceId });
  // Whoever runs without a provider has runs too.
  for (const job of ['leaked keys', 'store marks', 'signing keys', 'watchlist']) {
    await vi.waitFor(() => expect(factsOf(job)).toContainEqual(ended(job, 'done', 0)), WAIT);
  }
  expect(collector.problems()).toEqual([]);
});

test('a run that failed says so, and names nobody', async () => {
  const service = await work({ EXHIBIT_SDN_URL: SILENT, EXHIBIT_EXPLORER_URL: SILENT });
  const { analyst } = await mintCredentials(service);
  await fetch(`${service.base}/api/v1/evm/deployer/ethereum/${DEPLOYER}`, {
    headers: Object(analyst),
  });
  for (const job of ['refresh', 'deployers']) {
    await vi.waitFor(() => expect(factsOf(job)).toContainEqual(ended(job, 'failed', 2)), WAIT);
  }
  expect(collector.bodies()).not.toContain(DEPLOYER.slice(2));
});
