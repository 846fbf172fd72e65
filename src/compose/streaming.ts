// Tells `/health` how the streams of this process stand.

import type { Config } from '../config.ts';
import { present } from '../evidence/measure.ts';
import type { Reading } from '../evidence/reading.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../evidence/waiting.ts';
import { flagStreamRoute } from '../features/flag-stream/flag-stream.route.ts';
import type { StreamingFacts } from '../features/health/health.route.tsx';
import type { FlagEvents } from '../ports/rug-flags.ts';
import type { Bus } from '../ports/streams.ts';
import type { StreamSlots } from '../transport/stream.ts';
import { CONNECTIONS_MAX } from '../transport/stream-reader.ts';

/** What is asked. */
export type StreamingParts = {
  readonly config: Config;
  readonly bus: Bus;
  readonly ports: { readonly flagEvents: Pick<FlagEvents, 'bounds'> };
};

/** A store that does not answer soon is not waited for. */
const ASK_MS_MAX = 1_000;
const TIERS = ['free', 'pro', 'desk'] as const;

/** The paths, the bus, who is connected and what is read. It holds no credential. */
export async function streamingFacts(
  { config, bus, ports }: StreamingParts,
  slots: StreamSlots,
): Promise<StreamingFacts> {
  const tiers = config.intelligence.allowAnonymous ? [...TIERS, 'anonymous' as const] : TIERS;
  const [source, ...others] = await Promise.all([
    inTime(() => ports.flagEvents.bounds(), AbortSignal.timeout(ASK_MS_MAX)),
    ...tiers.map((tier) => bus.others(tier)),
  ]);
  const answering = present(others.map((one) => (one.checked ? one.value : null)));
  const silent = others.find((one) => !one.checked);
  // Where the bus does not say what the other processes hold, this one tells of itself.
  const isTogether = answering.length === tiers.length;
  const connections = tiers.map((tier, i) => {
    const elsewhere = isTogether ? Number(answering[i]) : 0;
    return [
      tier,
      { open: slots.takenBy(tier) + elsewhere, limit_per_token: CONNECTIONS_MAX[tier] },
    ];
  });
  return {
    paths: { websocket: flagStreamRoute.path, sse: flagStreamRoute.eventsPath },
    heartbeat_s: flagStreamRoute.heartbeat_s,
    bus: { kind: bus.kind, state: isTogether ? 'answers' : 'silent', reason: reasonOf(silent) },
    connections: Object.fromEntries(connections),
    connections_of: isTogether ? 'all_processes' : 'this_process',
    source: sourceShown(source),
  };
}

type Bounds = Awaited<ReturnType<FlagEvents['bounds']>> | typeof OUT_OF_TIME;

function sourceShown(bounds: Bounds): StreamingFacts['source'] {
  if (bounds !== OUT_OF_TIME && bounds.checked) {
    const { newest, oldest } = bounds.value;
    return { state: 'read', newest_seq: newest, oldest_seq: oldest, reason: null };
  }
  const { reason } = bounds === OUT_OF_TIME ? STOPPED_BY_TIME : bounds.why;
  return { state: 'unread', newest_seq: null, oldest_seq: null, reason };
}

function reasonOf(silent: Reading<number, 'bus'> | undefined): string | null {
  return silent === undefined || silent.checked ? null : silent.why.reason;
}
