// The twins of what pages rest on beside the ports of routes: a membership's own things, and what
// the process tells of itself.

import { DAY_S } from '../../chain/time.ts';
import { read } from '../../evidence/reading.ts';
import type {
  AccessChange,
  AccessLog,
  ApiKey,
  BrowserSession,
  KeyStore,
  MembershipStore,
  QuotaStore,
  SessionStore,
} from '../../ports/access.ts';
import type { RingKeeping } from '../../ports/history.ts';
import type { FollowReports } from '../../ports/indexing.ts';
import { memorySource, PLANTED } from './dated.ts';
import { RECORD_OF } from './screening.ts';

const source = memorySource('Memory', 'table', PLANTED);
const at = PLANTED.as_of;

const KEY: ApiKey = {
  id: 'key_asks',
  prefix: 'sc_live_asks',
  created_at: at,
  expires_at: at + DAY_S,
  last_used_at: null,
  revoked_at: null,
  name: 'A program',
  replaced_at: null,
  leaked_at: null,
  leak_found: null,
  holder: { kind: 'sc', membership_id: RECORD_OF },
};
const CHANGE: AccessChange = { id: 1, at, by_whom: 'member', change: 'key_created', subject: 'sc' };
const SESSION: BrowserSession = {
  id: 'ses_1',
  membership_id: RECORD_OF,
  created_at: at,
  seen_at: at,
  ended_at: null,
  renewed_at: at,
  taken_up_at: at,
  browser: 'A browser',
  network: null,
};

/** What pages of a membership and of the state rest on beside the ports of routes. */
export type PageTwins = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly keys: Pick<KeyStore, 'list'>;
  readonly quota: Pick<QuotaStore, 'usage' | 'days' | 'uses' | 'usesSince'>;
  readonly accessLog: AccessLog;
  readonly sessions: Pick<SessionStore, 'list'>;
  readonly followReports: Pick<FollowReports, 'all'>;
  readonly rawRing: Pick<RingKeeping, 'status'>;
};

/** One membership that did something, and every other, which did nothing; no chain is followed. */
export function pageTwins(): PageTwins {
  const ownOf = <T>(id: string, things: readonly T[]) => (id === RECORD_OF ? things : []);
  return {
    memberships: {
      find: async (membership_id) => {
        const dates = { created_at: at - DAY_S, updated_at: at };
        const member = { membership_id, plan: 'analyst', status: 'active', ...dates } as const;
        return read(member, { port: 'memberships', source });
      },
    },
    keys: {
      list: async (of) => {
        const owner = typeof of === 'object' && 'membership_id' in of ? of.membership_id : '';
        return read(ownOf(owner, [KEY]), { port: 'keys', source });
      },
    },
    quota: {
      usage: async () => read(0, { port: 'quota', source }),
      days: async () => read([], { port: 'quota', source }),
      uses: async () => read([], { port: 'quota', source }),
      usesSince: async () => read(at - DAY_S, { port: 'quota', source }),
    },
    accessLog: { list: async (id) => read(ownOf(id, [CHANGE]), { port: 'access_log', source }) },
    sessions: { list: async (id) => read(ownOf(id, [SESSION]), { port: 'sessions', source }) },
    followReports: { all: async () => read([], { port: 'follow_reports', source }) },
    rawRing: {
      status: async () => {
        const counts = { listed: 1, pairs: 0, held_in_full: 1 };
        const chains = [{ chain: 'ethereum', state: 'whole', ...counts }] as const;
        const status = { listed: 1, pairs: 0, bytes: 0, build_ms: null, chains, gaps: [] };
        return read(status, { port: 'raw_ring', source });
      },
    },
  };
}
