// A control store that was put back to an earlier state: noticed, told and accepted.

import { randomUUID } from 'node:crypto';
import { nowS, pause } from '../../compose/clock.ts';
import { type Base, feature } from '../../compose/feature.ts';
import { repeatRounds, type WatchRun } from '../../evidence/waiting.ts';
import { seenStoreFile, storeMarkTable } from '../../stores/control/store-marks.ts';
import { RESTORE_COMMANDS } from './restores.command.ts';
import { WATCHED_EACH_S, watchOnce } from './watch-store.ts';

export const restores = feature({
  name: 'restores',
  heading: 'A store that was put back',
  open: ({ config, database, context, log }: Base) => {
    const parts = {
      marks: storeMarkTable(database, context),
      seen: seenStoreFile(config.dataDir, context),
      makeId: randomUUID,
      now: nowS,
    };
    const round = async () => {
      const found = await watchOnce(parts);
      if (!('isPutBack' in found)) return found;
      if (found.isPutBack) log.error({}, 'the control store was put back: exhibit store restored');
      return null;
    };
    return {
      ports: {},
      services: { restores: parts },
      jobs: [
        {
          name: 'store marks',
          role: 'any',
          start: (watch: WatchRun) =>
            repeatRounds(
              {
                everyS: WATCHED_EACH_S,
                sleep: pause,
                onFault: ({ code, reason }) => log.warn({ code, reason }, 'store marks'),
                onBug: (fault) => log.error({ fault: String(fault) }, 'store marks: a bug'),
                watch,
              },
              round,
            ),
        },
      ] as const,
    };
  },
  ports: {},
  commands: RESTORE_COMMANDS,
});
