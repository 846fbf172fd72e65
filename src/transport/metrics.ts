// Answers one question: what has the service been doing, in Prometheus's words.
// Labels are closed sets (routes, states, reasons, ports): no address, key or host is ever one.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The service's meters. Times are in seconds. */
export type Meters = {
  readonly registry: Registry;
  readonly answered: (route: string, state: string, seconds: number) => void;
  readonly refused: (route: string, reason: string) => void;
  readonly readings: (port: string, outcome: 'read' | 'part' | 'unread') => void;
};

/** A gauge that is read when the metrics are asked for. `null`: unmeasured, so no sample. */
export type GaugeReading = {
  readonly name: string;
  readonly help: string;
  readonly value: () => number | null;
};

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20];

/** Makes the meters, with the gauges that the composition names. */
export function createMeters(gauges: readonly GaugeReading[]): Meters {
  const registry = new Registry();
  const requests = new Counter({
    name: 'exhibit_requests_total',
    help: 'Answered requests by route and state.',
    labelNames: ['route', 'state'] as const,
    registers: [registry],
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
  const readings = new Counter({
    name: 'exhibit_readings_total',
    help: 'Readings of ports by outcome: read to the end, stopped early, not read.',
    labelNames: ['port', 'outcome'] as const,
    registers: [registry],
  });
  for (const gauge of gauges) register(registry, gauge);
  const counted = bound((route: string, state: string) => requests.labels({ route, state }));
  const timed = bound((route: string) => seconds.labels({ route }));
  const read = bound((port: string, outcome: string) => readings.labels({ port, outcome }));
  return {
    registry,
    answered: (route, state, elapsed) => {
      counted(route, state).inc();
      timed(route).observe(elapsed);
    },
    refused: (route, reason) => refusals.inc({ route, reason }),
    readings: (port, outcome) => read(port, outcome).inc(),
  };
}

// Finding a meter by its labels costs more than moving it. The labels are closed sets, so that each
// combination is found once and kept.
function bound<L extends string[], M>(find: (...labels: L) => M): (...labels: L) => M {
  const known = new Map<string, M>();
  return (...labels) => {
    const name = labels.join(' ');
    const held = known.get(name);
    if (held !== undefined) return held;
    const found = find(...labels);
    known.set(name, found);
    return found;
  };
}

function register(registry: Registry, reading: GaugeReading): void {
  const gauge = new Gauge({
    name: reading.name,
    help: reading.help,
    registers: [registry],
    collect() {
      const value = reading.value();
      if (value === null) gauge.reset();
      else gauge.set(value);
    },
  });
}
