// The twin of what is kept for a membership: its records, its versions and its watchlist.

import { hash } from 'node:crypto';
import { formatIsoTime } from '../../chain/time.ts';
import { read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { WatchChange, WatchedAddress, Watchlist } from '../../features/watchlist/shapes.ts';
import type {
  NewRecord,
  ScreeningRecord,
  ScreeningRecords,
  ServedVersions,
  Versions,
} from '../../ports/screening.ts';
import { memoryPage, memorySource, PLANTED } from './dated.ts';

/** The owner of the record, and its id. */
export const RECORD_OF = 'mem_asks';
export const RECORD_ID = 'scr_kept';

const VERSIONS: Versions = {
  list: { read: false, why: why('list_never_loaded', { detail: '' }) },
  tables: [],
};
const ANSWER = '{"state":"not_deployed","subject":"somebody","data":null,"reason":"Silent."}';
const LISTED_MAX = 100;

/** The record of one membership that had an address screened; what is kept is answered alone. */
export function memoryRecords(address: string, as_of: number): ScreeningRecords {
  const origin = {
    port: 'screening_records',
    source: memorySource('Memory', 'table', { as_of, simulated: false }),
  } as const;
  const recordOf = (id: string, record: NewRecord): ScreeningRecord => ({
    ...record,
    id,
    kept_until: record.made_at + 1,
  });
  const held = [
    recordOf(RECORD_ID, {
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
  const recordsOf = (membershipId: string) =>
    held.filter(({ membership_id }) => membership_id === membershipId);
  return {
    keep: async (record, recordsMax) => {
      if (recordsOf(record.membership_id).length >= recordsMax) return read('full', origin);
      // It is not held: the worlds are shared by all files that one worker runs.
      return read(recordOf('scr_made', record), origin);
    },
    find: async (membershipId, id) => {
      const found = recordsOf(membershipId).find((one) => one.id === id);
      return read(found === undefined ? null : found, origin);
    },
    newest: async (membershipId) => {
      const listed = recordsOf(membershipId).toReversed();
      return memoryPage(listed, LISTED_MAX, origin);
    },
  };
}

/** Versions that do not move, of a list whose former publications are not held. */
export function memoryVersions(as_of: number): ServedVersions {
  const origin = {
    port: 'served_versions',
    source: memorySource('Memory', 'table', { as_of, simulated: false }),
  } as const;
  return { now: async () => read(VERSIONS, origin), listOf: async () => read(null, origin) };
}

/** The watchlist of whoever asks: one address, which entered the list. */
export function memoryWatchlist(address: string, as_of: number): Watchlist {
  const source = memorySource('Memory', 'table', { as_of, simulated: false });
  const origin = { port: 'watchlist', source } as const;
  const at = formatIsoTime(as_of);
  const finding = {
    source: 'A list',
    address,
    entity: 'Somebody',
    ref: '1',
    detail: null,
    version: '2026-09-15',
    read_at: at,
  };
  const part = {
    part: 'sanctions_list',
    found: [finding],
    version: '2026-09-15',
    read_at: at,
    not_read: null,
  } as const;
  const watched: WatchedAddress = {
    id: 'wch_1',
    address,
    added_at: at,
    parts: [part],
  };
  const change: WatchChange = {
    seq: 1,
    watch_id: watched.id,
    address,
    part: 'sanctions_list',
    change: 'entered',
    before: [],
    after: [finding],
    version_before: '2026-09-14',
    version_after: '2026-09-15',
    not_read: [],
    simulated: false,
    at,
  };
  const isOwn = (membershipId: string) => membershipId === RECORD_OF;
  const changesOf = (membershipId: string) => (isOwn(membershipId) ? [change] : []);
  return {
    add: async (_membershipId, added) => {
      return read({ watched: { ...watched, address: added }, added: true }, origin);
    },
    list: async (membershipId) => read(isOwn(membershipId) ? [watched] : [], origin),
    remove: async (membershipId, id) => read(isOwn(membershipId) && id === watched.id, origin),
    after: async (membershipId, seq) => {
      const held = changesOf(membershipId);
      const oldest = held.length === 0 ? null : 1;
      const changes = held.filter((one) => one.seq > seq);
      return read({ newest: held.length, oldest, changes }, origin);
    },
    newest: async (membershipId) => read(changesOf(membershipId), origin),
  };
}

/** One membership that had an address screened, and watches it. */
export function plantedScreening(address: string) {
  return {
    screeningRecords: memoryRecords(address, PLANTED.as_of),
    servedVersions: memoryVersions(PLANTED.as_of),
    watchlist: memoryWatchlist(address, PLANTED.as_of),
  };
}
