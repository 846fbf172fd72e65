// Answers one question: over which bus do the processes of this deployment reach each other?

import type { Secrets } from '../access/secret.ts';
import type { Config } from '../config.ts';
import type { Bus } from '../ports/streams.ts';
import { inProcessBus } from '../stores/bus/in-process.ts';
import { redisBus } from '../stores/bus/redis.ts';
import { nowS } from './clock.ts';
import type { Logger } from './logger.ts';

/** Faults of the bus that are logged: it tries again each second. */
const FAULT_LOGGED_EACH_MS = 60_000;

/** Joins the bus. Who shares a secret is one deployment. */
export function openBus({ busUrl }: Config, [{ fingerprint }]: Secrets, log: Logger): Bus {
  if (busUrl === null) return inProcessBus(nowS);
  let loggedMs = -FAULT_LOGGED_EACH_MS;
  return redisBus({
    url: busUrl.reveal(),
    deployment: fingerprint,
    onFault: (fault) => {
      if (performance.now() - loggedMs < FAULT_LOGGED_EACH_MS) return;
      loggedMs = performance.now();
      log.warn({ fault }, 'bus: not reached; events come by polling, caps hold for each process');
    },
  });
}
