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
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, level: 'info' },
    pino.destination({ dest: STDERR, sync: true }),
  );
  // A method of the library that is taken off its log throws: those that are handed over are whole.
  return {
    info: (facts, message) => log.info(facts, message),
    warn: (facts, message) => log.warn(facts, message),
    error: (facts, message) => log.error(facts, message),
  };
}
