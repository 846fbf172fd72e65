// A long file that begins last keeps one worker busy while the others have nothing left to do.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. */
const LONGEST = [
  'src/silence.test.ts',
  'src/generated-requests.test.ts',
  'src/entity-orders.test.ts',
  'src/service.test.ts',
  'src/stores/warehouse/transfers/store.test.ts',
  'src/stores/warehouse/bulk-import/resume.test.ts',
  'src/browser.test.ts',
  'src/main.test.ts',
  'src/processes.test.ts',
  'src/roles.test.ts',
  'src/going-live.test.ts',
  'src/bad-days.test.ts',
  'src/processes-killed.test.ts',
  'src/log-killed.test.ts',
  'src/markers.test.ts',
  'src/proxies.test.ts',
  'src/provider-words.test.ts',
  'src/provider-words-jobs.test.ts',
  'src/ring-hubs.test.ts',
  'src/asked-once.test.ts',
  'src/screens-agree.test.ts',
  'src/launch-year.test.ts',
  'src/sanctions.test.ts',
  'src/sanctions-clock.test.ts',
  'src/sanctions-completeness.test.ts',
  'src/stores/warehouse/bulk-import/import-digests.test.ts',
  'src/four-routes.test.ts',
  'src/watch-budget.test.ts',
  'src/signals-private.test.ts',
  'src/signals-processes.test.ts',
  'src/edge-processes.test.ts',
  'src/edge-browser.test.ts',
  'src/ranker-live.test.ts',
  'src/features/traders/noise.test.ts',
  'src/traders-live.test.ts',
];

/** Those first, then the rest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
  return place < 0 ? LONGEST.length : place;
}
