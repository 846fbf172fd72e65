// Answers one question: what have the streams been doing, in Prometheus's words.
// Labels are closed sets: routes, tiers and reasons.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { StreamScope } from './stream-limits.ts';
import type { StreamEnd } from './stream-reader.ts';

/** The meters of the streams. */
export type StreamMeters = {
  readonly opened: (route: string, tier: StreamScope) => void;
  readonly closed: (route: string, tier: StreamScope, why: StreamEnd) => void;
  /** Counted for each reader; it costs no more than an addition. */
  readonly messages: (route: string) => () => void;
};

/** Makes the meters of the streams of a process. */
export function streamMeters(registry: Registry): StreamMeters {
  const open = new Gauge({
    name: 'exhibit_stream_connections',
    help: 'Open streams by route and tier.',
    labelNames: ['route', 'tier'] as const,
    registers: [registry],
  });
  const ends = new Counter({
    name: 'exhibit_stream_ends_total',
    help: 'Ended streams by route and reason.',
    labelNames: ['route', 'reason'] as const,
    registers: [registry],
  });
  const counts = new Map<string, { since: number }>();
  const messages = new Counter({
    name: 'exhibit_stream_messages_total',
    help: 'Messages that were queued for a reader, by route.',
    labelNames: ['route'] as const,
    registers: [registry],
    collect() {
      for (const [route, count] of counts) {
        messages.inc({ route }, count.since);
        count.since = 0;
      }
    },
  });
  return {
    opened: (route, tier) => open.inc({ route, tier }),
    closed: (route, tier, reason) => {
      open.dec({ route, tier });
      ends.inc({ route, reason });
    },
    messages: (route) => {
      const known = counts.get(route);
      const count = known === undefined ? { since: 0 } : known;
      counts.set(route, count);
      return () => {
        count.since += 1;
      };
    },
  };
}
