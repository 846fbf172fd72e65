// Answers one question: what is an answer of the control store called when it is read, or silent.
// A store that could not be asked is unread; a bug is thrown on.

import { MS_PER_S } from '../../../chain/time.ts';
import {
  type Partly,
  part,
  type Read,
  type Reading,
  read,
  type Unread,
  unread,
} from '../../../evidence/reading.ts';
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
  /** Runs a question. A failure of the store becomes unread; anything else is thrown on. */
  readonly ask: <T>(question: () => Promise<T>) => Promise<Reading<T, P>>;
  /** Asks for a list of one row more than `rowsMax` at most: with that row it is a part. */
  readonly askList: <T>(
    rowsMax: number,
    what: string,
    question: (limit: number) => Promise<readonly T[]>,
  ) => Promise<Partly<readonly T[], P>>;
  readonly silent: (fault: string) => Unread<P>;
  readonly source: () => Source;
};

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
  const ask = async <T>(question: () => Promise<T>): Promise<Reading<T, P>> => {
    try {
      return minted(await question());
    } catch (error) {
      if (error instanceof StoreUnavailable) return silent(error.fault);
      throw error;
    }
  };
  return {
    read: minted,
    silent,
    source,
    ask,
    askList: async <T>(
      rowsMax: number,
      list: string,
      question: (limit: number) => Promise<readonly T[]>,
    ) => {
      const rows = await ask(() => question(rowsMax + 1));
      if (!rows.checked || rows.value.length <= rowsMax) return rows;
      const filling = {
        what: `The end of the list of ${list}`,
        fault: `it holds more than ${rowsMax} rows`,
      };
      const cut = why('store_unreadable', filling);
      return part<readonly T[], P>(rows.value.slice(0, rowsMax), { port, source: source() }, cut);
    },
  };
}
