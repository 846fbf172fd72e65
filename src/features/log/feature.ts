// The transparency log: leaves of statements, checkpoints that are signed over them, and proofs.

import { join } from 'node:path';
import { keccak256 } from '../../chain/digest.ts';
import { parseNoteKey } from '../../chain/signed-note.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import type { Config } from '../../config.ts';
import { map } from '../../evidence/reading.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { LogWitness } from '../../ports/transparency-log.ts';
import { witnessAt } from '../../sources/witness/witness.ts';
import { seenHeads } from '../../stores/control/seen-heads.ts';
import { signing } from '../signing/feature.ts';
import { signRounds } from './checkpoints.job.ts';
import { type LogParts, planRestart, restartLog } from './checkpoints.ts';
import { logLocal } from './local.ts';
import { logRestart, type RestartServices } from './log.command.ts';
import {
  type LogPorts,
  logCheckpoint,
  logCheckpointHandler,
  logEnd,
  logEndHandler,
  logEntries,
  logEntriesHandler,
  logProof,
  logProofHandler,
  logState,
  logStateHandler,
  logTile,
  logTileHandler,
} from './log.route.ts';
import { logTables } from './log.store.ts';
import { logPage, logPageHandler } from './log-page.route.tsx';
import { signedText, transparencyLog } from './standing.ts';

/** How often the log is looked at; it signs at most each ten seconds. */
const ROUND_EACH_S = 5;
const WITNESS_MS = 20_000;

export const log = feature({
  name: 'log',
  heading: 'The transparency log',
  rests: { signing },
  open: (
    { config, database, context, log: logger }: Base,
    { signing: { ports } }: OpenedRests<{ signing: typeof signing }>,
  ) => {
    const store = logTables(database, context);
    const seen = seenHeads(join(config.dataDir, 'log'), context);
    const { host } = config.log;
    const parts: LogParts = {
      store,
      seen,
      host,
      sign: ports.signing.sign,
      hashStatement: (bytes) => `0x${Buffer.from(keccak256(bytes)).toString('hex')}`,
      now: nowS,
    };
    const rounds = {
      ...parts,
      witnesses: witnessesOf(config),
      everyS: ROUND_EACH_S,
      witnessMs: WITNESS_MS,
      sleep: pause,
      onFault: ({ reason }: { readonly reason: string }) =>
        logger.warn({ reason }, 'transparency log'),
      onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'transparency log'),
    };
    const services: RestartServices = {
      log: {
        planRestart: () => planRestart(parts),
        restart: (why) => restartLog(parts, why),
      },
    };
    return {
      ports: {
        transparencyLog: transparencyLog({ store, seen, host, keys: ports.signing.publicKeys }),
      },
      services,
      // Without a name nothing is signed.
      jobs:
        host === null
          ? []
          : [
              {
                name: 'transparency log',
                start: (watch: WatchRun) => signRounds({ ...rounds, watch }),
              },
            ],
    };
  },
  ports: {
    transparencyLog: {
      tag: 'transparency_log',
      title: 'Transparency log',
      says: 'Where each signal, and each change of one, stands for good',
      pages: false,
      freshness: { kind: 'read_anew', ask: async (port) => map(await port.head(), signedText) },
    },
  },
  routes: [
    serveRoute(logState, (given: LogPorts) => logStateHandler(given)),
    serveRoute(logEntries, (given: LogPorts) => logEntriesHandler(given)),
    serveRoute(logProof, (given: LogPorts) => logProofHandler(given)),
    serveRoute(logCheckpoint, (given: LogPorts) => logCheckpointHandler(given)),
    serveRoute(logEnd, (given: LogPorts) => logEndHandler(given)),
    serveRoute(logTile, (given: LogPorts) => logTileHandler(given)),
  ],
  pages: [servePage(logPage, 'Log', (ports: LogPorts, facts) => logPageHandler(ports, facts))],
  commands: [logRestart],
  local: logLocal,
  optional: [
    {
      name: 'A signed log',
      setting: 'EXHIBIT_LOG_ORIGIN',
      isSet: ({ log: { host } }) => host !== null,
      without: 'signals are leaves of the log, and nobody outside can have that proved',
    },
  ],
});

function witnessesOf({ log: { witnesses } }: Config): LogWitness[] {
  return witnesses.map(({ url, key }) => {
    const parsed = parseNoteKey(key);
    if (parsed === null) throw new Error('a witness key that was read before is none');
    return witnessAt({ url: url.reveal(), key: parsed, now: nowS });
  });
}
