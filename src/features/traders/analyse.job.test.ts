// Whatever ends an attempt, the address is looked at again, and what is said of it is true.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Read, type Reading } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { BoundedTask } from '../../evidence/waiting.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { embeddedControl, type TestStore } from '../../testing/control-store.ts';
import { quietAnalysis } from '../../testing/twins/traders.ts';
import { analyseNext, analyseQueue } from './analyse.job.ts';
import type { TraderAttempt } from './analyse.ts';
import { traderAnalysisTable, traderWorkTable } from './traders.store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const ALICE = evm('alice').toLowerCase();
const NEVER = new AbortController().signal;
const fresh = embeddedControl();
let database: TestStore;
const running: BoundedTask[] = [];
beforeEach(() => {
  database = fresh();
});
afterEach(async () => {
  for (const task of running.splice(0)) await task.stop();
});

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const read = await reading;
  if (!(read instanceof Read)) throw new Error(`test: unread: ${read.why.reason}`);
  return read.value;
}

type Analyse = (address: string, signal: AbortSignal) => Promise<TraderAttempt>;

/** A worker of a process, over the shared queue, and what it reported. */
function workerWith(analyse: Analyse) {
  const [failures, bugs]: [string[], unknown[]] = [[], []];
  const given = {
    work: traderWorkTable(database, CONTEXT),
    analyse,
    pollMs: 5,
    sleep: (ms: number) => new Promise<void>((next) => setTimeout(next, ms)),
    onFailure: ({ code }: { readonly code: string }) => failures.push(code),
    onBug: (fault: unknown) => bugs.push(fault),
  };
  return { given, failures, bugs };
}

const analyses = () => traderAnalysisTable(database, CONTEXT, true);
const ask = () => value(analyses().ask(ALICE));
const standing = () => value(analyses().standingOf(ALICE));
const finds: Analyse = async (address) => ({ end: 'analysed', analysis: quietAnalysis(address) });

/** A worker's analysis that comes to no end by itself, and the address that it began with. */
function hanging() {
  const begun: string[] = [];
  const analyse: Analyse = (address, signal) =>
    new Promise((_, reject) => {
      begun.push(address);
      signal.addEventListener('abort', () => reject(new Error('test: stopped')), { once: true });
    });
  return { begun, analyse };
}

test('who is asked about is analysed, and the answer is there', async () => {
  await ask();
  const { given } = workerWith(finds);
  running.push(analyseQueue(given));
  await vi.waitFor(async () => {
    expect((await standing()).analysis?.analysis).toEqual(quietAnalysis(ALICE));
  });
});

test('a worker that died in the middle leaves the address to another one', async () => {
  await ask();
  const { begun, analyse } = hanging();
  running.push(analyseQueue(workerWith(analyse).given));
  await vi.waitFor(() => expect(begun).toEqual([ALICE]));
  const { given } = workerWith(finds);
  expect(await analyseNext(given, NEVER)).toBe('idle');
  await database.query("update trader_queue set due_at = due_at - interval '661 seconds'");
  expect(await analyseNext(given, NEVER)).toBe('done');
  expect((await standing()).analysis).not.toBeNull();
});

test('a worker that is stopped gives the address back, and reports no fault', async () => {
  await ask();
  const { begun, analyse } = hanging();
  const { given, failures, bugs } = workerWith(analyse);
  const task = analyseQueue(given);
  await vi.waitFor(() => expect(begun).toEqual([ALICE]));
  await task.stop();
  expect([failures, bugs]).toEqual([[], []]);
  expect(await standing()).toEqual({ analysis: null, unanalysable: null, failed: null });
  expect(await analyseNext(workerWith(finds).given, NEVER)).toBe('done');
});

test('a bug is a failed attempt of this service, told as that, and is tried again', async () => {
  await ask();
  const broken = workerWith(async () => {
    throw new TypeError('test: a bug');
  });
  expect(await analyseNext(broken.given, NEVER)).toBe('done');
  expect([broken.failures, broken.bugs]).toEqual([
    ['analysis_broken'],
    [new TypeError('test: a bug')],
  ]);
  const { failed } = await standing();
  expect(failed).toMatchObject({ reason: why('analysis_broken').reason, outside: false });
  await database.query("update trader_queue set due_at = due_at - interval '121 seconds'");
  expect(await analyseNext(workerWith(finds).given, NEVER)).toBe('done');
  expect((await standing()).failed).toBeNull();
});
