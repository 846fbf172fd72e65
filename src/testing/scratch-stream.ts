// A stream of the tests: numbered ticks, kept in a log that all readers share.

import { z } from 'zod';
import type { AccessRule } from '../contract/route.ts';
import {
  type StreamHandler,
  type StreamMessage,
  type StreamSource,
  standingIn,
  streamRoute,
} from '../contract/stream.ts';

/** Declares the stream of ticks, under a rule of access. */
export function ticksRoute(access: AccessRule = 'bearer', heartbeat_s = 30) {
  return streamRoute({
    name: 'ticks',
    surface: 'intelligence',
    path: '/ws/ticks',
    eventsPath: '/sse/ticks',
    summary: 'Ticks of the tests.',
    access,
    heartbeat_s,
    query: z.strictObject({ of: z.enum(['all', 'even']).optional() }),
    welcome: z.strictObject({ of: z.string() }),
    events: { tick: z.strictObject({ text: z.string() }) },
    notices: { chosen: z.strictObject({ of: z.string() }) },
    asks: { choose: z.strictObject({ of: z.enum(['all', 'even']) }) },
    refused: { 409: z.strictObject({ error: z.string() }) },
  });
}

export type TicksRoute = ReturnType<typeof ticksRoute>;

/** The ticks that can still be had. A reader is a place in it, so that nothing is kept for one. */
export class TickLog {
  newest = 0;
  readonly #route: TicksRoute;
  readonly #kept: StreamMessage<'ticks'>[] = [];
  readonly #keptMax: number;
  readonly #waiting = new Set<() => void>();

  constructor(route: TicksRoute, keptMax: number) {
    this.#route = route;
    this.#keptMax = keptMax;
  }

  get oldest(): number {
    return this.newest - this.#kept.length + 1;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(text = 'tick'): void {
    this.newest += 1;
    this.#kept.push(this.#route.event('tick', this.newest, { text }));
    if (this.#kept.length > this.#keptMax) this.#kept.shift();
    for (const wake of this.#waiting) wake();
  }

  /** The ticks after a place, and the gaps between them; the choice is asked for each. */
  after(
    place: number,
    isChosen: (seq: number) => boolean,
    signal: AbortSignal,
  ): StreamSource<StreamMessage<'ticks'>> {
    let at = place;
    return {
      next: () => {
        if (signal.aborted) return 'end';
        const from = at + 1;
        if (from < this.oldest) {
          at = this.oldest - 1;
          return this.#route.gap(from, at);
        }
        if (at >= this.newest) return 'wait';
        at += 1;
        const tick = this.#kept[at - this.oldest];
        if (tick === undefined) throw new Error(`tick ${at} is not kept`);
        return isChosen(at) ? tick : at;
      },
      onMore: (call) => {
        this.#waiting.add(call);
        signal.addEventListener('abort', () => this.#waiting.delete(call));
      },
    };
  }
}

/** Opens the ticks of a log for one reader. */
export function ticksHandler(route: TicksRoute, log: TickLog): StreamHandler<TicksRoute> {
  return async ({ query, since, signal }) => {
    let of = query.of === undefined ? 'all' : query.of;
    const { newest, oldest } = log;
    const standing = standingIn({ newest, oldest: newest < oldest ? null : oldest }, since);
    return {
      welcome: route.welcome({ ...standing, of }),
      messages: log.after(standing.seq, (seq) => of === 'all' || seq % 2 === 0, signal),
      hear: (ask) => {
        of = ask.of;
        return route.notice('chosen', { of });
      },
    };
  };
}
