// Declares /ws/watchlist and its twin /sse/watchlist: what changes of the addresses that the
// membership of a key watches, in the order and under the numbers of its log.

import { z } from 'zod';
import { streamRoute } from '../../contract/stream.ts';
import { watchChange } from './watchlist.contract.ts';

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
