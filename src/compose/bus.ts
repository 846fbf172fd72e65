// Over which bus do the processes of this deployment reach each other?

import type { Config } from '../config.ts';
import type { Bus } from '../ports/streams.ts';
import { inProcessBus } from '../stores/bus/in-process.ts';
import { postgresBus } from '../stores/bus/postgres.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { nowS } from './clock.ts';
import type { Logger } from './logger.ts';

/** Faults of the bus that are logged: it tries again each second. */
const FAULT_LOGGED_EACH_MS = 60_000;

/** Joins the bus. Processes that share a PostgreSQL server are one deployment. */
export function openBus({ store }: Config, database: Database, log: Logger): Bus {
  if (store.kind === 'embedded') return inProcessBus(nowS);
  let loggedMs = -FAULT_LOGGED_EACH_MS;
  return postgresBus({
    database,
    url: store.url.reveal(),
    onFault: (fault) => {
      if (performance.now() - loggedMs < FAULT_LOGGED_EACH_MS) return;
      loggedMs = performance.now();
      log.warn({ fault }, 'bus: not reached; events come by polling, caps hold for each process');
    },
  });
}
