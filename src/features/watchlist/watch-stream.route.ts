// /ws/watchlist and its twin /sse/watchlist: the changes of watched addresses under the numbers of
// their log. Each membership has a log of its own, which its readers share with nobody else. The
// client takes the types of `watchlist.route.tsx`; those of a stream need Node.js and stand apart.

import { z } from 'zod';
import { Refusal } from '../../contract/refusals.ts';
import { memberOf } from '../../contract/route.ts';
import { type StreamHandler, streamRoute } from '../../contract/stream.ts';
import { shareLogs } from '../../contract/stream-log.ts';
import { map } from '../../evidence/reading.ts';
import { type Watchlist, watchChange } from './shapes.ts';

type WatchStreamPorts = {
  readonly watchlist: Pick<Watchlist, 'after'>;
  readonly onAppended: (call: () => void) => () => void;
};

export const watchStream = streamRoute({
  name: 'watch_stream',
  surface: 'hosted',
  path: '/ws/watchlist',
  eventsPath: '/sse/watchlist',
  summary: 'What changes of the addresses that the membership watches, as it is found.',
  access: 'analyst',
  query: z.strictObject({}),
  welcome: z.strictObject({}),
  events: { change: watchChange },
  notices: {},
  asks: {},
  refused: {},
});

/** How long a change may go unnoticed where the bus is silent. */
const POLL_MS = 5_000;
/** Changes that are read at once, and those of a membership that are held while it reads them. */
const AT_ONCE = 100;
const HELD_MAX = 500;
/** Readings of a log that may fail one after another before its streams end. */
const SILENT_READINGS_MAX = 5;

/** @internal The handler of the stream. */
export function watchStreamHandler(ports: WatchStreamPorts): StreamHandler<typeof watchStream> {
  const openLog = shareLogs({
    route: watchStream,
    after: async (membershipId, seq) =>
      map(
        await ports.watchlist.after(membershipId, seq, AT_ONCE),
        ({ newest, oldest, changes }) => ({
          newest,
          oldest,
          entries: changes.map(({ seq, ...change }) => ({
            of: membershipId,
            message: watchStream.event('change', seq, change),
          })),
        }),
      ),
    heldMax: HELD_MAX,
    readsForEach: true,
    onAppended: ports.onAppended,
    pollMs: POLL_MS,
    silentReadingsMax: SILENT_READINGS_MAX,
  });
  return async ({ caller, since, signal }) => {
    const { membership_id } = memberOf(caller);
    const log = await openLog(membership_id, { since, signal }, (of) => of === membership_id);
    if (log instanceof Refusal) return log;
    return { welcome: watchStream.welcome(log.standing), messages: log.messages };
  };
}
