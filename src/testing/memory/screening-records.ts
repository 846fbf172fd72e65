// What do the records of a membership hold that had one screen kept, and on which versions?
// Adapters, not mocks: their readings are the real ones.

import { hash } from 'node:crypto';
import { part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  NewRecord,
  ScreeningRecord,
  ScreeningRecords,
  ServedVersions,
  Versions,
} from '../../ports/screening.ts';

/** Whose record is kept, and its id. */
export const RECORD_OF = 'mem_asks';
export const RECORD_ID = 'scr_kept';

const VERSIONS: Versions = {
  list: { read: false, why: why('list_never_loaded', { detail: '' }) },
  tables: [],
};
const ANSWER = '{"state":"not_deployed","subject":"somebody","data":null,"reason":"Silent."}';
const LISTED_MAX = 100;

function sourceOf(as_of: number) {
  return { name: 'Memory', url: 'memory:', as_of, kind: 'table', simulated: false } as const;
}

/** The records of one membership that had an address screened. */
export function memoryRecords(address: string, as_of: number): ScreeningRecords {
  const origin = { port: 'screening_records', source: sourceOf(as_of) } as const;
  const kept = (id: string, record: NewRecord): ScreeningRecord => ({
    ...record,
    id,
    kept_until: record.made_at + 1,
  });
  const held = [
    kept(RECORD_ID, {
      membership_id: RECORD_OF,
      key_id: 'key_asks',
      input: { route: 'wallet_ofac', address, on: null },
      versions: VERSIONS,
      sources: [],
      code_version: '0.0.0',
      state: 'not_deployed',
      answer: ANSWER,
      answer_sha256: hash('sha256', ANSWER),
      made_at: as_of,
    }),
  ];
  const ofMember = (membershipId: string) =>
    held.filter(({ membership_id }) => membership_id === membershipId);
  return {
    keep: async (record, recordsMax) => {
      if (ofMember(record.membership_id).length >= recordsMax) return read('full', origin);
      const next = kept(`scr_${held.length}`, record);
      held.push(next);
      return read(next, origin);
    },
    find: async (membershipId, id) => {
      const found = ofMember(membershipId).find((one) => one.id === id);
      return read(found === undefined ? null : found, origin);
    },
    newest: async (membershipId) => {
      const listed = ofMember(membershipId).toReversed();
      if (listed.length <= LISTED_MAX) return read(listed, origin);
      const cut = why('row_cap', { address: 'the records', limit: String(LISTED_MAX) });
      return part(listed.slice(0, LISTED_MAX), origin, cut);
    },
  };
}

/** Versions that do not move, of a list whose former publications are not held. */
export function memoryVersions(as_of: number): ServedVersions {
  const origin = { port: 'served_versions', source: sourceOf(as_of) } as const;
  return { now: async () => read(VERSIONS, origin), listOf: async () => read(null, origin) };
}
