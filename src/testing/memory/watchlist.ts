import { formatIsoTime } from '../../chain/time.ts';
import { read } from '../../evidence/reading.ts';
import type { WatchChange, Watched, Watchlist } from '../../features/watchlist/shapes.ts';
import { RECORD_OF } from './screening-records.ts';

/** The watchlist of whoever asks: one address, which entered the list. */
export function memoryWatchlist(address: string, as_of: number): Watchlist {
  const source = {
    name: 'Memory',
    url: 'memory:',
    as_of,
    kind: 'table',
    simulated: false,
  } as const;
  const origin = { port: 'watchlist', source } as const;
  const finding = { source: 'A list', address, entity: 'Somebody', ref: '1', detail: null };
  const at = formatIsoTime(as_of);
  const part = {
    part: 'sanctions_list',
    found: [finding],
    version: '2026-09-15',
    read_at: at,
    not_read: null,
  } as const;
  const watched: Watched = {
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
