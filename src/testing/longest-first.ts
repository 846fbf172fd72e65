// Answers one question: in which order do the files run.
// A long file that begins last keeps one worker busy while the others have nothing left to do.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. */
const LONGEST = [
  'src/silence.test.ts',
  'src/stores/warehouse/transfers/store.test.ts',
  'src/members-walk.test.ts',
  'src/stores/warehouse/bulk-import/resume.test.ts',
  'src/doors.test.ts',
  'src/browser.test.ts',
  'src/mcp.test.ts',
  'src/main.test.ts',
  'src/processes.test.ts',
  'src/stores/warehouse/transfers/move-by-chain.test.ts',
  'src/markers.test.ts',
  'src/sanctions.test.ts',
  'src/sanctions-clock.test.ts',
  'src/examples.test.ts',
  'src/sanctions-completeness.test.ts',
  'src/stores/warehouse/bulk-import/differential.test.ts',
  'src/four-routes.test.ts',
];

/** Those first, then the rest by project: a worker is kept for files of one project only. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
  if (place >= 0) return place;
  return project.name === 'whole' ? LONGEST.length : LONGEST.length + 1;
}
