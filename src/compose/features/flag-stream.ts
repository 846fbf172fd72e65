// The flag stream: the log of what the scorer flags, told to whoever reads it.

import { pruneFlagEvents } from '../../features/flag-stream/prune.job.ts';
import { flagEventLog } from '../../stores/control/flag-events.ts';
import { type Base, feature } from '../feature.ts';

const PRUNE_MS = 60_000;

export const flagStream = feature({
  name: 'flag-stream',
  open: ({ database, context, log }: Base) => {
    const flagEvents = flagEventLog(database, context);
    const prune = {
      log: flagEvents,
      eachMs: PRUNE_MS,
      onFailure: ({ code, reason }: { code: string; reason: string }) =>
        log.warn({ code, reason }, 'flags: not pruned'),
    };
    return {
      ports: {},
      services: {},
      jobs: [{ name: 'flag-events', start: () => pruneFlagEvents(prune) }],
    };
  },
  ports: {},
});
