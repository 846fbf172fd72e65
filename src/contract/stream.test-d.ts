// Mistakes in a stream that must not compile; `tsc` fails if it accepts one.

import { z } from 'zod';
import { type StreamHandler, type Streaming, type StreamMessage, streamRoute } from './stream.ts';

const DECLARED = {
  surface: 'intelligence',
  summary: 'One.',
  access: 'bearer',
  query: z.strictObject({ of: z.enum(['all', 'even']).optional() }),
  welcome: z.strictObject({}),
  events: { tick: z.strictObject({ text: z.string() }) },
  notices: {},
  refused: { 409: z.strictObject({ error: z.string() }) },
} as const;

const ticks = streamRoute({
  ...DECLARED,
  name: 'ticks',
  path: '/ws/ticks',
  eventsPath: '/sse/ticks',
  asks: { choose: z.strictObject({ of: z.string() }) },
});
const others = streamRoute({
  ...DECLARED,
  name: 'others',
  path: '/ws/others',
  eventsPath: '/sse/others',
  asks: {},
});

const standing = { seq: 0, replay: { from: null, to: null, oldest: null }, gap: null };
const welcome = ticks.welcome(standing);
const onMore = () => undefined;
const messages = { next: () => ticks.event('tick', 1, { text: 'a' }), onMore };
const foreign = { next: () => others.event('tick', 1, { text: 'a' }), onMore };
const hear = () => null;

const right: StreamHandler<typeof ticks> = async ({ query, since, caller, signal }) => {
  const of: 'all' | 'even' | undefined = query.of;
  const at: number | null = since;
  if (of === 'even' || at === 1 || caller.kind === 'nobody' || signal.aborted) {
    return ticks.refuse(409, { error: 'not now' });
  }
  return { welcome, messages, hear: (ask) => (ask.of === 'all' ? null : welcome) };
};
const silent: StreamHandler<typeof others> = async () => ({
  welcome: others.welcome(standing),
  messages: foreign,
});

const wrong = (one: Streaming<typeof ticks>) => one;
// @ts-expect-error The messages are another stream's.
wrong({ welcome, messages: foreign, hear });
// @ts-expect-error The welcome is another stream's.
wrong({ welcome: others.welcome(standing), messages, hear });
// @ts-expect-error The client's frames are declared, and nobody hears them.
wrong({ welcome, messages });
// @ts-expect-error What is heard is answered with another stream's message.
wrong({ welcome, messages, hear: () => others.gap(1, 2) });
// @ts-expect-error A stream begins with its welcome.
wrong({ messages, hear });

// @ts-expect-error No such event is declared.
ticks.event('tock', 1, { text: 'a' });
// @ts-expect-error An event has the fields that are declared.
ticks.event('tick', 1, { words: 'a' });
// @ts-expect-error An event has its number.
ticks.event('tick', { text: 'a' });
// @ts-expect-error No such refusal is declared.
ticks.refuse(410, { error: 'gone' });
// @ts-expect-error A handler of one stream opens no other.
const swapped: StreamHandler<typeof others> = right;
// @ts-expect-error A message is made by its route alone.
const made: StreamMessage<'ticks'> = { seq: 1, frame: () => Buffer.of(), event: () => Buffer.of() };

export const used = [silent, swapped, made];
