// Whoever asks waits in a queue with bounds; a failed attempt leaves the analysis before it.

import { expect, test, vi } from 'vitest';
import { Read, type Reading } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { embeddedControl, onEachEngine } from '../../testing/control-store.ts';
import { trialsOf } from '../../testing/trials.ts';
import { quietAnalysis } from '../../testing/twins/traders.ts';
import { TRADERS_WAITING_MAX, traderAnalysisTable, traderWorkTable } from './traders.store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const [ALICE, BOB] = [evm('alice').toLowerCase(), evm('bob').toLowerCase()];
const FAULT = why('store_unreadable', { what: 'A venue', fault: 'a planted fault' });

const over = (database: Database) => ({
  analyses: traderAnalysisTable(database, CONTEXT, true),
  work: traderWorkTable(database, CONTEXT),
});

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const read = await reading;
  if (!(read instanceof Read)) throw new Error(`test: unread: ${read.why.reason}`);
  return read.value;
}

/** Everything that has a time was as many seconds earlier. */
async function age(database: Database, seconds: number): Promise<void> {
  await database.query(
    `update trader_analyses set made_at = made_at - make_interval(secs => $1::int),
       failed_at = failed_at - make_interval(secs => $1::int),
       unanalysable_at = unanalysable_at - make_interval(secs => $1::int)`,
    [seconds],
  );
  await database.query('update trader_queue set due_at = due_at - make_interval(secs => $1::int)', [
    seconds,
  ]);
  await database.query('update trader_starts set at = at - make_interval(secs => $1::int)', [
    seconds,
  ]);
}

onEachEngine((name, fresh) => {
  test(`${name}: an analysis is read as it was kept, and a failure leaves it`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    expect(await value(analyses.standingOf(ALICE))).toEqual({
      analysis: null,
      unanalysable: null,
      failed: null,
    });
    await value(analyses.ask(ALICE));
    expect(await value(work.take(60))).toBe(ALICE);
    const analysis = quietAnalysis(ALICE);
    await value(work.settle(ALICE, { end: 'analysed', analysis }));
    await value(work.settle(ALICE, { end: 'failed', why: FAULT, outside: true }));
    const kept = await value(analyses.standingOf(ALICE));
    expect(kept.analysis?.analysis).toEqual(analysis);
    expect(kept.failed).toMatchObject({ reason: FAULT.reason, outside: true });
    await value(work.settle(ALICE, { end: 'analysed', analysis }));
    expect((await value(analyses.standingOf(ALICE))).failed).toBeNull();
  });

  test(`${name}: an agent is told with its account, and not asked again that day`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    await value(analyses.ask(ALICE));
    await value(work.settle(ALICE, { end: 'unanalysable', because: 'agent', of: BOB }));
    const { unanalysable } = await value(analyses.standingOf(ALICE));
    expect(unanalysable).toMatchObject({ because: 'agent', of: BOB });
    expect(await value(analyses.ask(ALICE))).toBe('not_asked');
    await age(database, 2 * 86_400);
    expect(await value(analyses.ask(ALICE))).toBe('queued');
  });

  test(`${name}: of many asked 200 wait, and five are begun in a minute`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    const places = [];
    for (let n = 0; n < TRADERS_WAITING_MAX + 20; n += 1) {
      places.push(await value(analyses.ask(evm(`asked ${n}`).toLowerCase())));
    }
    expect(places.filter((place) => place === 'queued')).toHaveLength(TRADERS_WAITING_MAX);
    expect(places.filter((place) => place === 'full')).toHaveLength(20);
    const begun = [];
    for (let n = 0; n < 12; n += 1) begun.push(await value(work.take(600)));
    expect(begun.filter((one) => one !== null)).toHaveLength(5);
    await age(database, 61);
    for (let n = 0; n < 12; n += 1) begun.push(await value(work.take(600)));
    expect(begun.filter((one) => one !== null)).toHaveLength(10);
    expect(new Set(begun.filter((one) => one !== null)).size).toBe(10);
  });

  test(`${name}: renewals are not starved, and end a week after the question`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    await value(analyses.ask(ALICE));
    await value(work.settle(ALICE, { end: 'analysed', analysis: quietAnalysis(ALICE) }));
    for (let n = 0; n < 30; n += 1) await value(analyses.ask(evm(`asked ${n}`).toLowerCase()));
    await age(database, 86_401);
    const begun = [await value(work.take(600)), await value(work.take(600))];
    expect(begun).toContain(ALICE);
    await value(work.settle(ALICE, { end: 'analysed', analysis: quietAnalysis(ALICE) }));
    await age(database, 86_401);
    await database.query("update trader_analyses set asked_at = asked_at - interval '8 days'");
    for (let n = 0; n < 12; n += 1) expect(await value(work.take(600))).not.toBe(ALICE);
  });

  test(`${name}: who can be analysed no more is looked at once a day, and what was found stays`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    await value(analyses.ask(ALICE));
    await value(work.settle(ALICE, { end: 'analysed', analysis: quietAnalysis(ALICE) }));
    for (let day = 0; day < 2; day += 1) {
      await age(database, 86_401);
      expect(await value(work.take(600))).toBe(ALICE);
      await value(work.settle(ALICE, { end: 'unanalysable', because: 'no_fills', of: null }));
      for (let n = 0; n < 4; n += 1) expect(await value(work.take(600))).toBeNull();
    }
    const { analysis, unanalysable } = await value(analyses.standingOf(ALICE));
    expect([analysis?.analysis, unanalysable?.because]).toEqual([quietAnalysis(ALICE), 'no_fills']);
  });

  test(`${name}: what fails is tried five times, and two never take the same`, async () => {
    const database = fresh();
    const { analyses, work } = over(database);
    await value(analyses.ask(ALICE));
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(await value(work.take(600))).toBe(ALICE);
      expect(await value(work.take(600))).toBeNull();
      await value(work.settle(ALICE, { end: 'failed', why: FAULT, outside: true }));
      expect(await value(work.take(600))).toBeNull();
      await age(database, 3_600);
    }
    expect(await value(work.take(600))).toBeNull();
    expect((await value(analyses.standingOf(ALICE))).failed?.outside).toBe(true);
  });

  test(`${name}: without a venue nobody is queued`, async () => {
    const database = fresh();
    const unset = traderAnalysisTable(database, CONTEXT, false);
    expect(await value(unset.ask(ALICE))).toBe('not_set_up');
    expect(await value(over(database).work.take(60))).toBeNull();
  });
});

const ASKED = trialsOf('EXHIBIT_TEST_ASKED', 500, 10_000);
const embedded = embeddedControl();

test(`of ${ASKED} asked addresses 200 wait, and neither renewals nor commands wait for them`, async () => {
  const database = embedded();
  const { analyses, work } = over(database);
  await value(analyses.ask(BOB));
  await value(work.settle(BOB, { end: 'analysed', analysis: quietAnalysis(BOB) }));
  await age(database, 86_401);
  const places = new Map<string, number>();
  for (let n = 0; n < ASKED; n += 1) {
    const address = `0x${n.toString(16).padStart(40, '0')}`;
    const place = await value(analyses.ask(address));
    places.set(place, (places.get(place) ?? 0) + 1);
    // A command settles what it found itself, in the middle of it all.
    if (n === ASKED / 2) {
      await value(work.settle(ALICE, { end: 'analysed', analysis: quietAnalysis(ALICE) }));
    }
  }
  expect(Object.fromEntries(places)).toEqual({ queued: 200, full: ASKED - 200 });
  expect((await value(analyses.standingOf(ALICE))).analysis).not.toBeNull();
  const begun = [await value(work.take(600)), await value(work.take(600))];
  expect(begun).toContain(BOB);
});
