import { read } from '../../evidence/reading.ts';
import type { Bus } from '../../ports/streams.ts';

/** Makes the bus; no other process is on it. `now` gives Unix seconds. */
export function inProcessBus(now: () => number): Bus {
  const listening = new Set<() => void>();
  const mint = <T>(value: T) =>
    read<T, 'bus'>(value, {
      port: 'bus',
      source: {
        name: 'This process',
        url: 'process:',
        as_of: now(),
        kind: 'observation',
        simulated: false,
      },
    });
  return {
    kind: 'in_process',
    callAll: () => {
      for (const call of listening) call();
    },
    listen: (call) => {
      listening.add(call);
      return () => listening.delete(call);
    },
    hold: async ({ own }, max) => mint({ granted: max === null || own <= max, others: 0 }),
    others: async () => mint(0),
    close: async () => undefined,
  };
}
