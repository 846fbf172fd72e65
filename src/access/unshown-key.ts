// A page of its own shows a new key once: to load that page again makes no second key, and shows
// none. Until then the key is stored sealed, for the session that made it alone.

import type { UnixSeconds } from '../chain/time.ts';
import { map, type Reading, Unread } from '../evidence/reading.ts';
import type { SessionsPort } from '../ports/access.ts';
import { type UnshownKey, type UnshownKeyStore, unshownKey } from '../ports/unshown-keys.ts';
import { type Secrets, seal, unseal } from './secret.ts';

/** A key that was not shown yet is forgotten after so long: five minutes. */
export const UNSHOWN_S = 300;

/** The keys that were made and not shown yet. */
export type UnshownKeys = {
  readonly keep: (
    sessionId: string,
    id: string,
    key: UnshownKey,
  ) => Promise<Reading<true, SessionsPort>>;
  /** Takes a key to show it; `null` where it was shown, or is another session's. */
  readonly take: (
    sessionId: string,
    id: string,
  ) => Promise<Reading<UnshownKey | null, SessionsPort>>;
};

/** Makes them over their store. `now` gives Unix seconds. */
export function createUnshownKeys(
  store: UnshownKeyStore,
  secrets: Secrets,
  now: () => UnixSeconds,
): UnshownKeys {
  return {
    keep: async (session_id, id, key) => {
      const sealed = seal(JSON.stringify(key), placeOf(session_id, id), secrets);
      return await store.keep({ id, session_id, sealed, at: now(), expires_at: now() + UNSHOWN_S });
    },
    take: async (session_id, id) => {
      const taken = await store.take(id, session_id, now());
      if (taken instanceof Unread) return taken;
      return map(taken, (sealed) => {
        if (sealed === null) return null;
        const text = unseal(sealed, placeOf(session_id, id), secrets);
        return text === null ? null : unshownKey.parse(JSON.parse(text));
      });
    },
  };
}

function placeOf(sessionId: string, id: string): string {
  return `new key ${id} of ${sessionId}`;
}
