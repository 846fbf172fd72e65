// The flag stream: the log of what the scorer flags, told to whoever reads it.

import { type Base, feature, type Service, serveStream } from '../../compose/feature.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { FlagEvents } from '../../ports/rug-flags.ts';
import { flagEventLog } from '../../stores/control/rug-flags.ts';
import { type WindowPorts, whyUnwatched } from '../rugs/watch.ts';
import {
  flagStreamRoute as contract,
  flagStreamHandler,
  memberFlags,
} from './flag-stream.route.ts';
import { flagStreamLocal } from './local.ts';
import { pruneFlagEvents } from './prune.job.ts';

const PRUNE_MS = 60_000;

type FlagStreamPorts = WindowPorts & {
  readonly flagEvents: FlagEvents;
  readonly service: Service;
};

function flagStreamParts({ flagEvents, service, ...window }: FlagStreamPorts) {
  return {
    flagEvents,
    onAppended: service.onCall,
    unwatched: () => whyUnwatched(window),
  };
}

export const flagStream = feature({
  name: 'flag-stream',
  heading: 'Flags',
  open: ({ database, context, log }: Base) => {
    const flagEvents = flagEventLog(database, context);
    const prune = {
      log: flagEvents,
      eachMs: PRUNE_MS,
      onFailure: ({ code, reason }: { code: string; reason: string }) =>
        log.warn({ code, reason }, 'flags: not pruned'),
    };
    return {
      ports: { flagEvents },
      services: {},
      jobs: [
        { name: 'flag-events', start: (watch: WatchRun) => pruneFlagEvents({ ...prune, watch }) },
      ],
    };
  },
  streams: [
    serveStream(contract, (given: FlagStreamPorts) =>
      flagStreamHandler(contract, flagStreamParts(given)),
    ),
    serveStream(memberFlags, (given: FlagStreamPorts) =>
      flagStreamHandler(memberFlags, flagStreamParts(given)),
    ),
  ],
  local: flagStreamLocal,
  ports: {
    flagEvents: {
      tag: 'flag_events',
      title: 'Log of flags',
      says: 'What was flagged, and what was taken back',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
});
