// Chats: what is told to them, and how.

import { tellFlagsUntilStopped } from '../../features/integrations/flags.job.ts';
import { flagEventLog } from '../../stores/control/flag-events.ts';
import { flagsToldTable } from '../../stores/control/flags-told.ts';
import { nowS, pause } from '../clock.ts';
import { type Base, feature } from '../feature.ts';

const POLL_MS = 1_000;

export const integrations = feature({
  name: 'integrations',
  open: ({ database, context, log }: Base) => {
    const telling = {
      flagEvents: flagEventLog(database, context),
      flagsTold: flagsToldTable(database, context),
      simulated: context.simulated,
      now: nowS,
      pollMs: POLL_MS,
      sleep: pause,
      onFailure: ({ code, reason }: { code: string; reason: string }) =>
        log.warn({ code, reason }, 'chats: not told of flags'),
      onBug: (error: unknown) => log.error({ err: error }, 'chats: a bug in telling of flags'),
    };
    return {
      ports: {},
      services: {},
      jobs: [{ name: 'chat-flags', start: () => tellFlagsUntilStopped(telling) }],
    };
  },
  ports: {},
});
