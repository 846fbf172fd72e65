// Answers one question: how many streams are open, and may there be one more.
// A slot is returned once, whatever becomes of its stream. What the streams of a credential may be
// is held over all processes; where nobody can be asked about the others, each holds it alone.

import { Refusal } from '../contract/refusals.ts';
import type { StreamHolder, StreamScope } from './stream-limits.ts';

/** Seconds after which a refused reader may find a slot. */
const RETRY_AFTER_S = 5;

/** A place of one stream. */
export type Slot = { readonly release: () => void };

/** How processes count together; what is not `checked` was not said. */
export type CountedTogether = {
  readonly hold: (
    held: { readonly holder: string; readonly tier: string; readonly own: number },
    max: number | null,
  ) => Promise<
    | {
        readonly checked: true;
        readonly value: { readonly granted: boolean; readonly others: number };
      }
    | { readonly checked: false }
  >;
};

/** The places of a process. */
export type Slots = {
  readonly take: (holder: StreamHolder) => Promise<Slot | Refusal>;
  /** How many are taken. */
  readonly taken: () => number;
  /** How many of them by credentials of a scope. */
  readonly takenBy: (scope: StreamScope) => number;
};

/** Makes the places. */
export function createSlots(connectionsMax: number, together: CountedTogether): Slots {
  const byHolder = new Map<string, number>();
  const byScope = new Map<StreamScope, number>();
  let all = 0;
  const add = ({ id, scope }: StreamHolder, many: 1 | -1): number => {
    all += many;
    byScope.set(scope, countOf(byScope, scope) + many);
    const own = countOf(byHolder, id) + many;
    if (own === 0) byHolder.delete(id);
    else byHolder.set(id, own);
    return own;
  };
  const giveBack = (holder: StreamHolder): void => {
    const own = add(holder, -1);
    void together.hold({ holder: holder.id, tier: holder.scope, own }, null);
  };
  return {
    taken: () => all,
    takenBy: (scope) => countOf(byScope, scope),
    take: async (holder) => {
      const { id, scope, limit } = holder;
      if (all >= connectionsMax) return atCapacity('process', connectionsMax, all);
      // It is taken before anybody is asked, so that many at once do not all find room.
      const own = add(holder, 1);
      if (own > limit) {
        add(holder, -1);
        return atCapacity(scope, limit, own - 1);
      }
      const said = await together.hold({ holder: id, tier: scope, own }, limit);
      let held = true;
      const release = () => {
        if (held) giveBack(holder);
        held = false;
      };
      if (!said.checked || said.value.granted) return { release };
      release();
      return atCapacity(scope, limit, said.value.others + own - 1);
    },
  };
}

function countOf<K>(counts: ReadonlyMap<K, number>, key: K): number {
  const count = counts.get(key);
  return count === undefined ? 0 : count;
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
