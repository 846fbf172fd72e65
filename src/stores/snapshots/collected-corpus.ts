// Has what is collected of the chain fallen behind, so that the launch corpus can deny nothing?
// It polls how far the collection has read and weakens every reading of the corpus while that is
// too long ago. While the store is silent what was last read of it goes on counting.

import { Read, weaken } from '../../evidence/reading.ts';
import { type ReachedAt, staleness } from '../../ports/launches/collection-age.ts';
import type { LaunchCorpus } from '../../ports/launches/launches.ts';

type Options = {
  readonly corpus: LaunchCorpus;
  readonly reachedAt: ReachedAt;
  readonly now: () => number;
  readonly pollMs: number;
  readonly onBug: (error: unknown) => void;
};

/** A corpus that carries no negative while its collection has fallen behind. */
export type CollectedCorpus = LaunchCorpus & {
  readonly poll: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

/** Watches how old the collection behind a corpus is; nothing is asked before `start` or `poll`. */
export function collectedCorpus(options: Options): CollectedCorpus {
  const { corpus, reachedAt, now, pollMs, onBug } = options;
  let reached: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const poll = async (): Promise<void> => {
    const reading = await reachedAt();
    if (reading instanceof Read) reached = reading.value;
  };
  return {
    lookUp: async (addresses) => {
      const reading = await corpus.lookUp(addresses);
      const stale = staleness(reached, now());
      return stale === null ? reading : weaken(reading, stale);
    },
    poll,
    start: async () => {
      await poll();
      timer = setInterval(() => void poll().catch(onBug), pollMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
