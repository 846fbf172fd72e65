// Answers one question: how many streams are open, and may there be one more.
// A slot is returned once, whatever becomes of its stream.

import { Refusal } from '../contract/refusals.ts';
import type { StreamHolder } from './stream-limits.ts';

/** Seconds after which a refused reader may find a slot. */
const RETRY_AFTER_S = 5;

/** A place of one stream. */
export type Slot = { readonly release: () => void };

/** The places of a process. */
export type Slots = {
  readonly take: (holder: StreamHolder) => Slot | Refusal;
  /** How many are taken. */
  readonly taken: () => number;
};

/** Makes the places. */
export function createSlots(connectionsMax: number): Slots {
  const byHolder = new Map<string, number>();
  let all = 0;
  return {
    taken: () => all,
    take: ({ id, scope, limit }) => {
      if (all >= connectionsMax) return atCapacity('process', connectionsMax, all);
      const open = byHolder.get(id);
      const own = open === undefined ? 0 : open;
      if (own >= limit) return atCapacity(scope, limit, own);
      byHolder.set(id, own + 1);
      all += 1;
      let held = true;
      return {
        release: () => {
          if (!held) return;
          held = false;
          all -= 1;
          const left = byHolder.get(id);
          if (left === undefined || left <= 1) byHolder.delete(id);
          else byHolder.set(id, left - 1);
        },
      };
    },
  };
}

function atCapacity(scope: string, limit: number, current: number): Refusal {
  const whose = scope === 'process' ? 'This process' : `A credential of the tier ${scope}`;
  const body = {
    state: 'at_capacity',
    error: 'too_many_connections',
    scope,
    limit,
    current,
    reason: `${whose} may hold ${limit} streams open; close one, or try again later.`,
  };
  return new Refusal('at_capacity', body, { 'retry-after': String(RETRY_AFTER_S) });
}
