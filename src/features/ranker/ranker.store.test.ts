import { expect, test, vi } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import type { PublishedRankers } from '../../ports/ranker.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { smallRanker } from '../../testing/rankers.ts';
import { type ParseRanker, rankerTable } from './ranker.store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const ONE = smallRanker();
const OTHER = smallRanker({ base: 1 });
const parse: ParseRanker = (text) => {
  const found = [ONE, OTHER].find((one) => one.text === text);
  return found === undefined ? 'it is unknown' : found;
};

async function inForce(rankers: PublishedRankers): Promise<string | null> {
  const reading = await rankers.inForce();
  if (reading instanceof Unread) return reading.why.code;
  return reading.value === null ? null : reading.value.version;
}

onEachEngine((name, fresh) => {
  test(`${name}: the newest publication is in force, and each version is a leaf once`, async () => {
    const database = fresh();
    const here = rankerTable(database, CONTEXT, parse);
    const elsewhere = rankerTable(database, CONTEXT, parse);
    expect(await inForce(here)).toBeNull();
    const outcomes = [];
    for (const [at, one] of [ONE, OTHER, OTHER, ONE].entries()) {
      const kept = await here.publish(one, STILL_NOW + at);
      outcomes.push(kept.checked ? kept.value : kept.why.reason);
      expect([await inForce(here), await inForce(elsewhere)]).toEqual([one.version, one.version]);
    }
    expect(outcomes).toEqual(['published', 'published', 'in_force_already', 'published']);
    const reading = await elsewhere.inForce();
    expect(reading).toBeInstanceOf(Read);
    if (reading instanceof Read) {
      expect(reading.value).toMatchObject({ text: ONE.text, leaf: 0, published_at: STILL_NOW + 3 });
    }
    const leaves = await database.query('select kind, id from log_leaves order by leaf_index');
    expect(leaves).toEqual([ONE, OTHER].map(({ version: id }) => ({ kind: 6, id })));
  });

  test(`${name}: a publication and its leaf are one, and neither changes`, async () => {
    const database = fresh();
    const rankers = rankerTable(database, CONTEXT, parse);
    await rankers.publish(ONE, STILL_NOW);
    for (const change of [
      "update ranker_models set artefact = ''",
      'delete from ranker_publications',
    ]) {
      await expect(database.query(change)).rejects.toThrow();
    }
    expect(await inForce(rankers)).toBe(ONE.version);
  });

  test(`${name}: a store that is down, and what cannot be used, are silences`, async () => {
    const database = fresh();
    await rankerTable(database, CONTEXT, parse).publish(ONE, STILL_NOW);
    const unusable = rankerTable(database, CONTEXT, () => 'it is of another format');
    const reading = await unusable.inForce();
    const reason = reading instanceof Unread ? reading.why.reason : '';
    expect(reason).toContain(`${ONE.version} could not be read: it is of another format`);
    database.silence('it is down');
    expect(await inForce(unusable)).toBe('store_unreadable');
  });
});
