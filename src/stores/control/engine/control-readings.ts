// Answers one question: what is an answer of the control store called when it is read, or silent.
// A store that could not be asked is unread; a bug is thrown on.

import { type Read, type Reading, read, type Unread, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { Source } from '../../../evidence/source.ts';
import { StoreUnavailable } from './database.ts';

/** What the stores over the control database share. */
export type ControlContext = {
  readonly simulated: boolean;
  /** Milliseconds since 1970, as `Date.now`. */
  readonly nowMs: () => number;
};

/** Makes readings of one port over the control store. `what` names it in a silent reading. */
export type ControlReadings<P extends string> = {
  readonly read: <T>(value: T) => Read<T, P>;
  /** Runs a question. Weather becomes unread; anything else is thrown on. */
  readonly ask: <T>(question: () => Promise<T>) => Promise<Reading<T, P>>;
  readonly silent: (fault: string) => Unread<P>;
  readonly source: () => Source;
};

const MS_PER_S = 1_000;

/** The readings of a port. */
export function controlReadings<P extends string>(
  port: P,
  what: string,
  context: ControlContext,
): ControlReadings<P> {
  const source = (): Source => ({
    name: 'Control store',
    url: 'control-store:',
    as_of: Math.floor(context.nowMs() / MS_PER_S),
    kind: 'table',
    simulated: context.simulated,
  });
  const silent = (fault: string) => unread(port, why('store_unreadable', { what, fault }));
  const minted = <T>(value: T) => read(value, { port, source: source() });
  return {
    read: minted,
    silent,
    source,
    ask: async (question) => {
      try {
        return minted(await question());
      } catch (error) {
        if (error instanceof StoreUnavailable) return silent(error.fault);
        throw error;
      }
    },
  };
}
