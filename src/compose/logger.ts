// Lines hold facts by name; nothing secret is a fact.

import { pino } from 'pino';

/** A log of facts and a message. */
export type Logger = {
  readonly info: (facts: object, message: string) => void;
  readonly warn: (facts: object, message: string) => void;
  readonly error: (facts: object, message: string) => void;
};

const STDERR = 2;

/** JSON lines on standard error, so that standard output stays for answers. */
export function createLogger(): Logger {
  return pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, level: 'info' },
    pino.destination({ dest: STDERR, sync: true }),
  );
}
