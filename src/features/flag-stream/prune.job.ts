// Lets go of flags that are too old to be told again, also while nothing is flagged.

import type { Why } from '../../evidence/reasons.ts';
import { type WatchRun, WITHOUT_WATCH } from '../../evidence/waiting.ts';
import type { FlagEvents } from '../../ports/rug-flags.ts';

type PruneParts = {
  readonly log: Pick<FlagEvents, 'prune'>;
  readonly eachMs: number;
  readonly onFailure: (why: Why) => void;
  readonly watch?: WatchRun;
};

/** Prunes the log now and then. `stop` waits for the pruning under way. */
export function pruneFlagEvents({ log, eachMs, onFailure, watch = WITHOUT_WATCH }: PruneParts) {
  let pruning = Promise.resolve();
  const timer = setInterval(() => {
    pruning = pruning.then(async () => {
      const pruned = await watch(
        () => log.prune(),
        ({ checked }) => (checked ? 'done' : 'failed'),
      );
      if (!pruned.checked) onFailure(pruned.why);
    });
  }, eachMs);
  timer.unref();
  return {
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await pruning;
    },
  };
}
