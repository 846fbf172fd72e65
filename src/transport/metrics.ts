// Metrics in Prometheus's words. Labels are closed sets (routes, tiers, states, reasons, ports): no
// address, key or host is ever one.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StreamEnd, StreamScope } from './stream-reader.ts';

/** The service's meters. Times are in seconds. */
export type Meters = {
  readonly registry: Registry;
  readonly answered: (route: string, state: string, seconds: number) => void;
  readonly refused: (route: string, reason: string) => void;
  readonly readings: (port: string, outcome: 'read' | 'part' | 'unread') => void;
  /** A reading of a port that took longer than is set. */
  readonly slowRead: (port: string) => void;
  /** Takes the count of the requests of a server that are under way. */
  readonly watchUnderWay: (count: () => number) => void;
  readonly streams: StreamMeters;
};

/** A gauge that is read when the metrics are asked for. `null`: unmeasured, so no sample. */
export type GaugeReading = {
  readonly name: string;
  readonly help: string;
  readonly value: () => number | null | Promise<number | null>;
};

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20];

/** Makes the meters, with the gauges that the composition names. */
export function createMeters(gauges: readonly GaugeReading[]): Meters {
  const registry = new Registry();
  const requests = countedLate(registry, {
    name: 'exhibit_requests_total',
    help: 'Answered requests by route and state.',
    labelNames: ['route', 'state'],
  });
  const seconds = new Histogram({
    name: 'exhibit_request_seconds',
    help: 'Time from the request to its answer, by route.',
    labelNames: ['route'] as const,
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'exhibit_refusals_total',
    help: 'Refused requests by route and reason.',
    labelNames: ['route', 'reason'] as const,
    registers: [registry],
  });
  const readings = countedLate(registry, {
    name: 'exhibit_readings_total',
    help: 'Readings of ports by outcome: read to the end, stopped early, not read.',
    labelNames: ['port', 'outcome'],
  });
  const slowReads = new Counter({
    name: 'exhibit_slow_reads_total',
    help: 'Readings of ports that took longer than EXHIBIT_SLOW_READ.',
    labelNames: ['port'] as const,
    registers: [registry],
  });
  for (const { name, help, value } of gauges) {
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const measured = await value();
        // `reset` would leave a sample of 0.
        if (measured === null) gauge.remove();
        else gauge.set(measured);
      },
    });
  }
  const servers: (() => number)[] = [];
  new Gauge({
    name: 'exhibit_requests_under_way',
    help: 'Requests that are being answered now, the one that asks for this among them.',
    registers: [registry],
    collect() {
      this.set(servers.reduce((sum, count) => sum + count(), 0));
    },
  });
  const timed = new Map<string, ReturnType<typeof seconds.labels>>();
  return {
    registry,
    answered: (route, state, elapsed) => {
      requests(route, state);
      const known = timed.get(route);
      const timer = known === undefined ? seconds.labels({ route }) : known;
      if (known === undefined) timed.set(route, timer);
      timer.observe(elapsed);
    },
    refused: (route, reason) => refusals.inc({ route, reason }),
    readings: (port, outcome) => readings(port, outcome),
    slowRead: (port) => slowReads.inc({ port }),
    watchUnderWay: (count) => void servers.push(count),
    streams: streamMeters(registry),
  };
}

/** Adds what a process takes under the usual names: its memory, processor and event loop. */
export function meterProcess({ registry }: Pick<Meters, 'registry'>): void {
  collectDefaultMetrics({ register: registry });
}

/** Counts one under two labels. */
type Count = (first: string, second: string) => void;

// Moving a registered counter costs more than counting. So it is counted here, and the counter is
// moved when the metrics are asked for. The labels are closed sets.
function countedLate(
  registry: Registry,
  facts: { readonly name: string; readonly help: string; readonly labelNames: [string, string] },
): Count {
  const pending = new Map<string, Map<string, number>>();
  const [first, second] = facts.labelNames;
  const counter = new Counter({
    ...facts,
    registers: [registry],
    collect() {
      for (const [one, counts] of pending) {
        for (const [other, count] of counts) counter.inc({ [first]: one, [second]: other }, count);
      }
      pending.clear();
    },
  });
  return (one, other) => {
    const known = pending.get(one);
    const counts = known === undefined ? new Map<string, number>() : known;
    if (known === undefined) pending.set(one, counts);
    const before = counts.get(other);
    counts.set(other, before === undefined ? 1 : before + 1);
  };
}

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
