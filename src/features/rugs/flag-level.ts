// From which score on does a model flag a launch?
// The level follows from the card of its artefact alone: from what happened in the test part.

import { wilsonInterval } from '../../evidence/measure.ts';
import type { ModelCard } from '../../ports/flags/rug-model.ts';

/** Of the launches of the test part that a level would have flagged, so many died at least. */
const FLAGGED_DIED_MIN = 0.75;

/**
 * The lowest bound of the reliability table at which the lower end of the 95% interval of the
 * share that died, over all launches with that score or more, reaches `FLAGGED_DIED_MIN` and lies
 * above the share of all launches. `null` where no bound does: such a model flags nothing.
 */
export function flagLevel({ test }: Pick<ModelCard, 'test'>): number | null {
  const rows = [...test.reliability].sort((a, b) => b.score_from - a.score_from);
  let level: number | null = null;
  let [launches, died] = [0, 0];
  for (const row of rows) {
    launches += row.launches;
    died += row.died;
    const interval = wilsonInterval(died, launches);
    if (interval === null) continue;
    if (interval.low >= FLAGGED_DIED_MIN && interval.low > test.died_share.value) {
      level = row.score_from;
    }
  }
  return level;
}
