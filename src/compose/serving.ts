import { setTimeout as wait } from 'node:timers/promises';
import type { AccessGate } from '../access/gate.ts';
import { MS_PER_S } from '../chain/time.ts';
import type { Config } from '../config.ts';
import type { AnyRoute } from '../contract/stream.ts';
import { present } from '../evidence/measure.ts';
import { Unread } from '../evidence/reading.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../evidence/waiting.ts';
import { flagStreamRoute } from '../features/flag-stream/flag-stream.route.ts';
import { health } from '../features/health/feature.ts';
import type { StreamingFacts } from '../features/health/health.route.tsx';
import { signing } from '../features/signing/feature.ts';
import { mcpDoor } from '../mcp/http-door.ts';
import { type Tools, toolsOf } from '../mcp/tools.ts';
import { refusalPage } from '../pages/layout.tsx';
import { TOKEN_TIERS } from '../ports/access.ts';
import type { FlagEvents } from '../ports/rug-flags.ts';
import type { Signing } from '../ports/signing.ts';
import type { Bus } from '../ports/streams.ts';
import { type Answers, answersOf, type Mounted } from '../transport/answer.ts';
import { createHttp, type HttpDoor, type HttpOptions } from '../transport/http.ts';
import type { AnswerSigning } from '../transport/signed-answer.ts';
import { createSlots, type MountedStream, type StreamSlots } from '../transport/stream.ts';
import { CONNECTIONS_MAX, STREAM_LIMITS } from '../transport/stream-reader.ts';
import { type TurnWatch, watchTurns } from '../transport/turn-watch.ts';

import { nowS } from './clock.ts';
import {
  isOpsToken,
  type OperatorFacts,
  operatorDocuments,
  pageFacts,
  webDocuments,
} from './documents.ts';
import type { Service } from './feature.ts';
import { freshnessOf } from './freshness.ts';
import { CONTRACTS, handlerOf, STREAMS } from './list.ts';
import type { Logger } from './logger.ts';
import type { ProcessParts } from './parts.ts';
import { VERSION } from './version.ts';

/** The parts that are served, under a configuration. The gate may differ from that of the parts. */
export type ServingParts = Pick<
  ProcessParts,
  | 'ports'
  | 'tokens'
  | 'sessions'
  | 'members'
  | 'chats'
  | 'meters'
  | 'bus'
  | 'checks'
  | 'sources'
  | 'followers'
  | 'modelInForce'
  | 'ring'
  | 'providers'
  | 'anchoring'
  | 'tracing'
  | 'isStoreLate'
> & {
  readonly config: Config;
  readonly gate: AccessGate;
  readonly log: Logger;
};

/** A process that listens. */
export type Serving = {
  /** Without a final slash: the public URL, or the listening address. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/** Starts to listen. Rejects, with nothing left open, where the address cannot be had. */
export async function startServing(parts: ServingParts): Promise<Serving> {
  const { config } = parts;
  let listening = '';
  const base = () => (config.publicUrl === null ? listening : config.publicUrl);
  let draining = false;
  const turns = watchTurns();
  const operated = {
    ...parts,
    isDraining: () => draining,
    isLate: () => turns.isLate() || parts.isStoreLate(),
  };
  const { options, answers } = publicOptions(operated, base);
  const app = createHttp(options, answers);
  const opened = [app];
  const closeAll = async () => {
    await Promise.all(opened.map((one) => one.close()));
    turns.end();
  };
  // Whoever sends requests is told first; then streams are told to move, and nobody listens.
  const close = async () => {
    draining = true;
    await wait(config.drainMs);
    await closeAll();
  };
  try {
    listening = await app.listen({ host: config.listen.host, port: config.listen.port });
    if (config.ops.kind === 'set') {
      const ops = createHttp(opsOptions(operated, base));
      opened.push(ops);
      await ops.listen({ host: '127.0.0.1', port: config.ops.port });
    }
    return { url: base(), close };
  } catch (fault) {
    await closeAll();
    throw fault;
  }
}

type OperatedParts = ServingParts &
  Pick<OperatorFacts, 'isDraining'> & { readonly isLate: TurnWatch['isLate'] };

function publicOptions(parts: OperatedParts, base: () => string) {
  const { config, ports, sources } = parts;
  const routes = servedRoutes(config);
  const streams = STREAMS.filter(({ route }) => config.surfaces.includes(route.surface));
  const declared = [...routes, ...streams.map(({ route }) => route)];
  const slots = createSlots(STREAM_LIMITS.connectionsMax, parts.bus);
  const streaming = streams.length === 0 ? NO_STREAM : () => streamingFacts(parts, slots, streams);
  const service = serviceOf(parts, declared, base, streaming);
  const given = { ...ports, service, members: parts.members, chats: parts.chats };
  const pages = config.surfaces.includes('web')
    ? webDocuments({ routes: declared, facts: pageFacts(config), given, sources, base })
    : [];
  const options: HttpOptions = {
    ...common(parts),
    mounted: [...mountRoutes(routes, given), ...pages, ...operatorDocuments(parts)],
    streams: {
      mounted: streams.map((one) => ({
        route: one.route,
        // The declaration checked that a stream and its handler fit (`serveStream`).
        handle: (one.make as (given: object) => unknown)(given) as MountedStream['handle'],
      })),
      limits: STREAM_LIMITS,
      slots,
      base,
    },
    refusalPage: (refusal) => refusalPage(pageFacts(config), refusal),
    isOperator: operatorOf(config),
    gate: parts.gate,
    tokens: parts.tokens,
    sessions: parts.sessions,
    ...(config.publicUrl === null ? {} : { ownOrigin: new URL(config.publicUrl).origin }),
    trustProxy: config.trustProxy,
    isLate: parts.isLate,
    signing: answerSigning(ports.signing, base),
  };
  if (!config.surfaces.includes('mcp')) {
    return { options, answers: answersOf(options.mounted, options) };
  }
  // A tool asks its route wherever the route itself is served.
  const tools = toolsOf(CONTRACTS);
  const served = new Set(routes.map(({ name }) => name));
  const others = [...tools.values()]
    .flatMap((tool) => tool.routes)
    .filter(({ name }) => !served.has(name));
  const answers = answersOf([...options.mounted, ...mountRoutes(others, given)], options);
  return { options: { ...options, doors: [toolDoor(parts, tools, answers)] }, answers };
}

function answerSigning({ current }: Signing, base: () => string): AnswerSigning {
  return {
    key: async () => {
      const found = await current();
      return found instanceof Unread ? null : found.value;
    },
    // As a client writes it: URLs are compared letter by letter.
    base: () => new URL(base()).href.replace(/\/+$/, ''),
    now: nowS,
  };
}

function toolDoor(parts: ServingParts, tools: Tools, answers: Answers): HttpDoor {
  const { publicUrl, listen } = parts.config;
  const names = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return mcpDoor({
    ...common(parts),
    tools,
    answers,
    gate: parts.gate,
    hosts: [...names, listen.host],
    version: VERSION,
  });
}

/** The names of the loopback port. A page whose name was made to point here sends its own. */
const OPS_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

function opsOptions(parts: OperatedParts, base: () => string) {
  const { config, ports } = parts;
  const service = serviceOf(parts, servedRoutes(config), base, NO_STREAM);
  return {
    ...common(parts),
    mounted: [...mountRoutes(ALWAYS, { ...ports, service }), ...operatorDocuments(parts)],
    // Callers on the loopback port are the operator.
    isOperator: () => true,
    hosts: OPS_HOSTS,
    gate: null,
    trustProxy: false,
  };
}

// On the public port only the token shows the inside, and without one nothing does.
function operatorOf({ adminToken }: Config): (authorization: string | undefined) => boolean {
  if (adminToken === null) return () => false;
  const token = adminToken.reveal();
  return (authorization) => isOpsToken(authorization, token);
}

function common({ meters, log, config, tracing }: ServingParts) {
  const given = { meters, log, now: nowS, budgetMs: config.liveBudgetMs };
  return tracing === null ? given : { ...given, trace: tracing.request };
}

/** Served on every process, whatever its surfaces. */
const ALWAYS = [...health.routes, ...signing.routes].map(({ route }) => route);

function servedRoutes(config: Config) {
  return CONTRACTS.filter(
    (route) =>
      config.surfaces.includes(route.surface) || ALWAYS.some(({ name }) => name === route.name),
  );
}

function mountRoutes(routes: readonly Mounted['route'][], given: object): Mounted[] {
  return routes.map((route) => ({ route, handle: handlerOf(route.name, given) }));
}

function serviceOf(
  { config, sources, followers, modelInForce, ring, providers, anchoring, bus }: ServingParts,
  routes: readonly AnyRoute[],
  base: () => string,
  streaming: Service['streaming'],
): Service {
  return {
    version: VERSION,
    base,
    simulated: config.simulate,
    anonymous: config.intelligence.allowAnonymous,
    tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S,
    routes,
    sources: sources.map(({ facts }) => facts),
    freshness: () => freshnessOf(sources),
    followers,
    modelInForce,
    ring,
    providers,
    anchoring,
    onCall: bus.listen,
    streaming,
  };
}

const NO_STREAM: Service['streaming'] = async () => null;

// The facts of `/health` about the streams of this process.

/** The parts that know about streams. */
type StreamingParts = {
  readonly config: Config;
  readonly bus: Bus;
  readonly ports: { readonly flagEvents: Pick<FlagEvents, 'bounds'> };
};

/** A store that does not answer soon is not waited for. */
const ASK_MS_MAX = 1_000;

/** The paths, the bus, who is connected and what is read. It holds no credential. */
async function streamingFacts(
  { config, bus, ports }: StreamingParts,
  slots: StreamSlots,
  streams: typeof STREAMS,
): Promise<StreamingFacts> {
  const tiers = config.intelligence.allowAnonymous
    ? [...TOKEN_TIERS, 'anonymous' as const]
    : TOKEN_TIERS;
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
    return [tier, slots.takenBy(tier) + elsewhere] as const;
  });
  return {
    paths: streams.flatMap(({ route }) => [route.path, route.eventsPath]),
    heartbeat_s: flagStreamRoute.heartbeat_s,
    bus: {
      kind: bus.kind,
      ok: isTogether,
      reason: silent === undefined || silent.checked ? null : silent.why.reason,
    },
    connections: Object.fromEntries(connections),
    connections_of: isTogether ? 'all_processes' : 'this_process',
    limits_per_token: Object.fromEntries(tiers.map((tier) => [tier, CONNECTIONS_MAX[tier]])),
    source: sourceShown(source),
  };
}

type Bounds = Awaited<ReturnType<FlagEvents['bounds']>> | typeof OUT_OF_TIME;

function sourceShown(bounds: Bounds): StreamingFacts['source'] {
  if (bounds !== OUT_OF_TIME && bounds.checked) {
    const { newest, oldest } = bounds.value;
    return { kind: 'flag_log', ok: true, newest_seq: newest, oldest_seq: oldest, reason: null };
  }
  const { reason } = bounds === OUT_OF_TIME ? STOPPED_BY_TIME : bounds.why;
  return { kind: 'flag_log', ok: false, newest_seq: null, oldest_seq: null, reason };
}
