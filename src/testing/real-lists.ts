// The publisher's own issues of the sanctions list, where the shared data is at hand. Reading one
// takes seconds, so that it is done once a run.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { isListRefusal, type PublishedList } from '../ports/sanctions.ts';
import { sdnReader } from '../sources/ofac/read-apart.ts';
import { oncePerRun } from './once-per-run.ts';
import { SHARED_DATA } from './shared-data.ts';

/** Where the issues lie, each in a folder of its day. */
export const OFAC = join(SHARED_DATA, 'ofac');
const DAYS = ['2024-05-29', '2025-03-04'] as const;
/** A day of which there is an issue. */
export type IssueDay = (typeof DAYS)[number];

const archiveOf = (day: IssueDay) => join(OFAC, day, 'SDN_ADVANCED.ZIP');
/** Whether the issues are there. */
export const HAS_ISSUES = DAYS.every((day) => existsSync(archiveOf(day)));

/** An issue as the product reads its archive. */
export async function readIssue(day: IssueDay): Promise<PublishedList> {
  const text = await oncePerRun(`issue-${day}`, async () => {
    const list = await sdnReader()(archiveOf(day), new AbortController().signal);
    if (isListRefusal(list)) throw new Error(list.reason);
    return JSON.stringify(list);
  });
  // It is what was written a few lines above, by this process or another one of the run.
  const list: unknown = JSON.parse(text);
  return list as PublishedList;
}

/** The document of an issue, unpacked from the one member of its archive. */
export function unpackIssue(day: IssueDay): Buffer {
  const zip = readFileSync(archiveOf(day));
  const start = 30 + zip.readUInt16LE(26) + zip.readUInt16LE(28);
  return inflateRawSync(zip.subarray(start));
}
