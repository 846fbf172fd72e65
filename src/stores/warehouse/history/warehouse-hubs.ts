// Which addresses have so many counterparties that no walk goes past them?
// What is known here is a least number, counted once; a hub does not become a small address again.
// It refuses to say of any address that it is none: who is not here is read.

import { z } from 'zod';
import type { Warehouse } from '../engine/executor.ts';
import { addressOf } from '../transfers/bytes.ts';
import { type Held, rollbacksIn } from '../transfers/held.ts';
import { type HeldCount, READ_TIMEOUT_MS } from './warehouse-reads.ts';
import { readDegree } from './warehouse-rows.ts';

/** An address with at least so many counterparties, and some `transfers` when it was counted. */
export type KnownHub = {
  readonly degree: number;
  readonly transfers: number;
  readonly observed: boolean;
};

/** How long the table of hubs is taken as it was read. */
const KEEP_MS = 60_000;
/** The largest hubs that are known beforehand; others are counted when they are met. */
const HUBS_MAX = 200_000;

/** Degrees that are remembered beside the rows that they were counted over. */
const COUNTED_MAX = 10_000;

type CountedOnce = { readonly sides: number; readonly rollbacks: number; readonly degree: number };

const whole = z.coerce.number();
const hubRow = z.tuple([z.string(), whole, whole, z.number()]);
const SQL = `SELECT lower(hex(addr)), max(degree) AS most, sum(transfers), min(observed)
FROM (
  SELECT addr, degree, transfers, observed FROM degrees FINAL
)
GROUP BY addr ORDER BY most DESC LIMIT ${HUBS_MAX}`;

/** The hubs of a warehouse. */
export function knownHubs(warehouse: Warehouse) {
  let hubs = new Map<string, KnownHub>();
  let readAtMs: number | null = null;
  let reading: Promise<void> | null = null;
  const counted = new Map<string, CountedOnce>();

  async function readAll(): Promise<void> {
    const query = { timeoutMs: READ_TIMEOUT_MS, row: hubRow, tuples: true, rowsMax: HUBS_MAX };
    const rows = await warehouse.query(SQL, query);
    hubs = new Map(
      rows.map(([addr, degree, transfers, observed]) => {
        return [addressOf(addr), { degree, transfers, observed: observed === 1 }];
      }),
    );
    readAtMs = performance.now();
  }

  return {
    of: (address: string): KnownHub | null => {
      const hub = hubs.get(address);
      return hub === undefined ? null : hub;
    },
    /** Reads the table of hubs where what is known of it is old. */
    refresh: async (): Promise<void> => {
      if (readAtMs !== null && performance.now() - readAtMs < KEEP_MS) return;
      if (reading === null) {
        reading = readAll().finally(() => {
          reading = null;
        });
      }
      await reading;
    },
    /** Counts the counterparties of one again where it has other rows than when it was counted. */
    degreeOf: async (
      { held, sides }: HeldCount,
      address: string,
      signal: AbortSignal,
    ): Promise<number> => {
      const rollbacks = rollbacksIn(held);
      const before = counted.get(address);
      const isSame = before?.sides === sides && before.rollbacks === rollbacks;
      if (before !== undefined && isSame) return before.degree;
      const call = { timeoutMs: READ_TIMEOUT_MS, signal };
      const { degree } = await readDegree(warehouse, held, address, call);
      if (counted.size >= COUNTED_MAX) counted.clear();
      counted.set(address, { sides, rollbacks, degree });
      return degree;
    },
    /** Counts one that turned out to have many transfers, and remembers it. */
    count: async (held: Held, address: string, signal: AbortSignal): Promise<KnownHub> => {
      const call = { timeoutMs: READ_TIMEOUT_MS, signal };
      const hub = await readDegree(warehouse, held, address, call);
      if (hubs.size < HUBS_MAX) hubs.set(address, hub);
      return hub;
    },
  };
}
