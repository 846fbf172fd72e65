// Answers one question: when was each key last used, without a request ever waiting for it.
// Uses are kept in memory and written together, at most once a minute for each key.
// It refuses to grow: past its bound a use goes unnoted.

import { type Reading, Unread } from '../../evidence/reading.ts';
import type { KeysPort, KeyUse } from '../../ports/access/key-store.ts';
import type { ControlReadings } from './engine/control-readings.ts';
import type { Database } from './engine/database.ts';

/** A key's use is noted at most so often. */
const NOTED_EVERY_S = 60;
const WRITTEN_EVERY_MS = 5_000;
const PENDING_MAX = 10_000;

/** Notes uses. `flush` writes what is pending and says how many, or that it could not. */
type KeyUses = {
  readonly note: (use: KeyUse) => void;
  readonly flush: () => Promise<Reading<number, KeysPort>>;
  readonly close: () => Promise<void>;
};

/** Starts noting uses. `onWritten` hears of each batch that was stored. */
export function keyUses(
  database: Database,
  readings: ControlReadings<KeysPort>,
  onWritten: () => void,
): KeyUses {
  let pending = new Map<string, KeyUse>();
  let noted = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  async function flush(): Promise<Reading<number, KeysPort>> {
    const uses = [...pending.values()];
    pending = new Map();
    if (uses.length === 0) return readings.read(uses.length);
    const written = await readings.ask(async () => {
      await database.query(
        `update api_keys k set last_used_at = greatest(k.last_used_at, to_timestamp(u.at)),
           hash = u.hash, pepper = u.pepper
         from unnest($1::text[], $2::bytea[], $3::text[], $4::float8[]) as u(id, hash, pepper, at)
         where k.id = u.id`,
        [
          uses.map((use) => use.id),
          uses.map((use) => use.secret.hash),
          uses.map((use) => use.secret.pepper),
          uses.map((use) => use.at),
        ],
      );
      return uses.length;
    });
    // Not written: the next use of each is noted at once.
    if (written instanceof Unread) for (const use of uses) noted.delete(use.id);
    else onWritten();
    return written;
  }

  function note(use: KeyUse): void {
    const before = noted.get(use.id);
    if (before !== undefined && use.at - before < NOTED_EVERY_S) return;
    if (pending.size >= PENDING_MAX) return;
    if (noted.size >= PENDING_MAX) noted = new Map();
    noted.set(use.id, use.at);
    pending.set(use.id, use);
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, WRITTEN_EVERY_MS);
    timer.unref();
  }

  return {
    note,
    flush,
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await flush();
    },
  };
}
