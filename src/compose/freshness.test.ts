import { expect, test } from 'vitest';
import { DAY_S, formatIsoDate, HOUR_S } from '../chain/time.ts';
import { parseConfig } from '../config.ts';
import { sanctions } from '../features/sanctions/feature.ts';
import { memorySanctionsList } from '../testing/twins/sanctions.ts';
import { nowS } from './clock.ts';
import type { PortFacts } from './feature.ts';
import { datedSources, freshnessOf } from './freshness.ts';
import { outsideOf } from './outside.ts';

/** The entry of `/health` for a list that was published and checked so long ago. */
async function toldOf(publishedAgoS: number, checkedAgoS: number) {
  const parsed = parseConfig({}, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const published = formatIsoDate(nowS() - publishedAgoS);
  const publications = [{ published, checked_at: nowS() - checkedAgoS, entries: [] }];
  const port = memorySanctionsList({
    publications,
    maxAgeS: 7 * DAY_S,
    simulated: false,
    now: nowS,
  });
  const facts = sanctions.ports.sanctionsList as PortFacts<object>;
  const handed = [{ key: 'sanctionsList', facts, port }];
  const sources = datedSources(handed, parsed.config, outsideOf(parsed.config), {});
  return { published, told: (await freshnessOf(sources))['sanctions_list'] };
}

test('the health of a list has its publication’s own day, stale or not', async () => {
  for (const checkedAgoS of [HOUR_S, 9 * DAY_S]) {
    const { published, told } = await toldOf(12 * DAY_S, checkedAgoS);
    expect(told).toMatchObject({ published });
    expect(told?.state).toBe(checkedAgoS > 7 * DAY_S ? 'stale' : 'fresh');
  }
});

test('what every answer is told of a list that still is fresh stands there too', async () => {
  expect((await toldOf(3 * DAY_S, HOUR_S)).told?.reason).toBeNull();
  expect((await toldOf(3 * DAY_S, 26 * HOUR_S)).told?.reason).toBe(
    'The list was last checked against its publisher 26 hours ago.',
  );
});
