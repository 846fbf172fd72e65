// Serving, working and the operator's commands all take their pieces from here.

import type { AccessGate } from '../access/gate.ts';
import type { Secrets } from '../access/secret.ts';
import type { Sessions } from '../access/session.ts';
import { MS_PER_S } from '../chain/time.ts';
import type { Command } from '../command/command.ts';
import type { Config } from '../config.ts';
import { listOrNone } from '../evidence/measure.ts';
import { Part, Read } from '../evidence/reading.ts';
import { access, members } from '../features/access/feature.ts';
import { anchoring } from '../features/anchoring/feature.ts';

import type { RingHealth } from '../features/health/health.route.tsx';
import { indexing } from '../features/indexing/feature.ts';
import { integrations } from '../features/integrations/feature.ts';
import type { IntegrationPorts } from '../features/integrations/integrations.route.ts';
import { log as logFeature } from '../features/log/feature.ts';
import { restores } from '../features/restores/feature.ts';
import { viewRestores } from '../features/restores/watch-store.ts';
import { rugModelFeature } from '../features/rug-model/feature.ts';
import { signing } from '../features/signing/feature.ts';
import { doctorCommand } from '../operator/doctor.ts';
import { migrateCommand } from '../operator/migrate.ts';
import type { AnchoringReport } from '../ports/anchoring.ts';
import type { RingKeeping } from '../ports/history.ts';
import type { FollowReports } from '../ports/indexing.ts';
import type { ProviderWatch } from '../ports/providers.ts';
import type { PublishedModels } from '../ports/rug-model.ts';
import type { Bus } from '../ports/streams.ts';
import { goThrough } from '../sources/http/outbound-call.ts';
import { providerWatch } from '../sources/http/provider-watch.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { countSealedElsewhere } from '../stores/control/integrations.ts';
import { withdrawnRanges } from '../stores/warehouse/transfers/withdrawn.ts';
import type { Tokens } from '../transport/guard.ts';
import { createMeters, type Meters } from '../transport/metrics.ts';
import type { Tracing } from '../transport/tracing.ts';
import { doctorServices } from './checks.ts';
import { nowS } from './clock.ts';
import type { Closings } from './closings.ts';
import type { StoreCheck } from './documents.ts';
import {
  type AnyFeature,
  type Base,
  bindCommand,
  type Clocks,
  type Job,
  type Members,
  type Opened,
  type PortFacts,
} from './feature.ts';
import { type DatedSource, datedSources } from './freshness.ts';
import { FEATURES, type Ports } from './list.ts';
import type { Logger } from './logger.ts';
import type { Outside } from './outside.ts';
import { exportSpans, type SpanExport } from './span-export.ts';
import { storeGauges } from './store-gauges.ts';
import { openBus, type Stores } from './stores.ts';

/** Everything that rests on the opened stores. */
export type ProcessParts = {
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly gate: AccessGate;
  /** Authenticates the bearer tokens of the routes that take one. */
  readonly tokens: Tokens;
  /** The sessions of signed-in browsers. */
  readonly sessions: Sessions;
  /** The dependencies of the routes and pages of memberships. */
  readonly members: Members;
  /** The dependencies of the routes and pages of chats. */
  readonly chats: IntegrationPorts;
  readonly meters: Meters;
  readonly bus: Bus;
  readonly checks: readonly StoreCheck[];
  readonly sources: readonly DatedSource[];
  /** The state of following each chain, as its follower last reported. */
  readonly followers: FollowReports['all'];
  readonly modelInForce: PublishedModels['inForce'];
  readonly ring: RingHealth;
  /** The providers that this process asks, as it saw them. */
  readonly providers: ProviderWatch['reports'];
  /** What keeps roots of the log from the contract that is set, as this process knows it. */
  readonly anchoring: () => AnchoringReport;
  /** Whether what is asked of the control store waits for too long. */
  readonly isStoreLate: Database['isLate'];
  /** Makes the spans of what this process answers; `null`: nobody takes them. */
  readonly tracing: Tracing | null;
  /** How far the ring of each chain is, as it is held now. */
  readonly ringReach: RingKeeping['reach'];
  /** The commands on the stores, each with what it needs. */
  readonly commands: readonly Command<null>[];
  readonly jobs: readonly Job[];
  /** The value that one feature returned when it was opened. */
  readonly of: <F extends AnyFeature>(feature: F) => ReturnType<F['open']>;
};

const PING_TIMEOUT_MS = 2_000;

/** Composes the parts and loads what is served from memory. They close with what was opened. */
export async function startParts(
  config: Config,
  stores: Stores,
  outside: Outside,
  log: Logger,
  opened: Closings,
): Promise<ProcessParts> {
  const { database, warehouse, secrets } = stores;
  if (config.proxyUrl !== null) goThrough(new URL(config.proxyUrl.reveal()));
  const leaseMaxS = config.leaseMaxMs / MS_PER_S;
  const context = { simulated: config.simulate, nowMs: Date.now, leaseMaxS };
  const bus = openBus(config, database, log);
  opened.add('bus', bus.close);
  const providers = providerWatch(nowS);
  const base = { config, outside, log, database, warehouse, secrets, bus, context, providers };
  // In the order of the list, each on those that it rests on.
  const features = new Map<AnyFeature, Opened>();
  const of = lookUpIn(features);
  for (const feature of FEATURES as readonly AnyFeature[]) {
    const rests = Object.entries(feature.rests).map(([name, one]) => [name, of(one)] as const);
    // The declaration checked that these are what the feature opens on.
    const open = feature.open as (base: Base, rests: object) => Opened;
    const one = open(base, Object.fromEntries(rests));
    features.set(feature, one);
    if (one.close !== undefined) opened.add(feature.name, one.close);
  }
  // All have ended before anything is closed: what starts late would stay open.
  const started = await Promise.allSettled([...features.values()].map((one) => one.start?.()));
  for (const one of started) if (one.status === 'rejected') throw one.reason;
  const spans = spanExport(config, log);
  if (spans !== null) opened.add('traces', spans.close);
  return composeParts(config, { ...stores, bus, providers, log, spans }, features, outside);
}

function spanExport({ traces }: Config, log: Logger): SpanExport | null {
  if (traces === null) return null;
  return exportSpans({ url: new URL(traces.url.reveal()), share: traces.share }, log);
}

function composeParts(
  config: Config,
  {
    database,
    warehouse,
    secrets,
    bus,
    providers,
    log,
    spans,
  }: Stores & Pick<Base, 'bus' | 'providers' | 'log'> & { readonly spans: SpanExport | null },
  opened: OpenedFeatures,
  outside: Outside,
): ProcessParts {
  const of = lookUpIn(opened);
  const all = [...opened.values()];
  const handed = [...opened].flatMap(([feature, { ports }]) =>
    Object.entries(feature.ports).map(([key, facts]) => {
      const port: unknown = Reflect.get(ports, key);
      if (typeof port !== 'object' || port === null) throw new Error(`${feature.name}: no ${key}`);
      return { key, facts: facts as PortFacts<object>, port };
    }),
  );
  const standing = storeGauges(
    database,
    { simulated: config.simulate, nowMs: Date.now },
    {
      producesSignals: config.surfaces.includes('signals'),
      anchoring: of(anchoring).services.anchoring.report,
    },
  );
  const gauges = all.flatMap(({ gauges: own }) => listOrNone(own));
  const exported = spans === null ? [] : spans.gauges;
  const meters = createMeters([...gauges, ...standing, ...exported]);
  const traced = spans === null ? null : spans.tracing;
  const clocks: Clocks = Object.assign({}, ...all.map(({ clocks: own }) => own));
  const sources = datedSources(handed, config, outside, clocks);
  const checks: StoreCheck[] = [
    { name: 'control store', ping: async () => void (await database.query('select 1 as one')) },
    { name: 'warehouse', ping: () => warehouse.ping({ timeoutMs: PING_TIMEOUT_MS }) },
  ];
  const { gate, tokens, sessions, services } = of(access);
  const withdrawn = () => withdrawnRanges(warehouse, { timeoutMs: PING_TIMEOUT_MS });
  const doctor = doctorServices(
    config,
    { checks, withdrawn, sealedElsewhere: () => countSealedElsewhere(database, secrets) },
    sources,
    services.keys,
    secrets,
    providers.reports,
    {
      signing: of(signing).services.signing.kept,
      log: of(logFeature).ports.transparencyLog,
      anchoring: of(anchoring).services.anchoring.look,
    },
    () => viewRestores(of(restores).services.restores),
    of(restores).services.restores.marks.now,
  );
  const commands = [...opened].flatMap(([{ commands: own }, { services: given }]) =>
    own.map((command) => bindCommand(command, given)),
  );
  const watch = {
    ...readingWatch(meters, config.slowReadMs, log),
    ...(traced === null ? {} : { within: traced.reading }),
  };
  return {
    // `featureList` has the compiler hold that these are the ports of the list.
    ports: Object.fromEntries(
      handed.map(({ key, facts, port }) => [key, meterPort(facts.tag, port, watch)]),
    ) as object as Ports,
    secrets,
    gate,
    tokens,
    sessions,
    members: of(members).given,
    chats: of(integrations).desk,
    meters,
    bus,
    checks,
    sources,
    followers: of(indexing).services.followers,
    modelInForce: of(rugModelFeature).services.model.published.inForce,
    ring: of(indexing).ringFacts,
    providers: providers.reports,
    anchoring: of(anchoring).services.anchoring.report,
    isStoreLate: database.isLate,
    tracing: traced,
    ringReach: of(indexing).services.warehouseRing.reach,
    commands: [bindCommand(doctorCommand, doctor), bindCommand(migrateCommand, null), ...commands],
    jobs: all.flatMap(({ jobs }) => listOrNone(jobs)),
    of,
  };
}

type OpenedFeatures = ReadonlyMap<AnyFeature, Opened>;

function lookUpIn(opened: OpenedFeatures): ProcessParts['of'] {
  return <F extends AnyFeature>(feature: F) => {
    const one = opened.get(feature);
    if (one === undefined)
      throw new Error(`${feature.name} does not stand before what rests on it`);
    return one as ReturnType<F['open']>;
  };
}

// Counts how often each port was read completely, in part, or not at all. Counting changes no
// reading.

/** Hears of each reading by port, method and outcome, and of the time of each call. */
export type ReadingWatch = {
  readonly count: Meters['readings'];
  readonly took: (port: string, method: string, ms: number) => void;
  /** Where traces are made: runs the call under a span. */
  readonly within?: Tracing['reading'];
};

/** Slow reads of one method that are logged: one in so long, the others are counted alone. */
const SLOW_LOGGED_EACH_MS = 1_000;

/** Counts readings, and logs slow ones by what was asked, never by what for. */
export function readingWatch(
  { readings, slowRead }: Pick<Meters, 'readings' | 'slowRead'>,
  slowMs: number,
  log: Pick<Logger, 'warn'>,
): ReadingWatch {
  const loggedMs = new Map<string, number>();
  return {
    count: readings,
    took: (port, method, ms) => {
      if (slowMs === 0 || ms < slowMs) return;
      slowRead(port);
      const now = performance.now();
      const last = loggedMs.get(`${port}.${method}`);
      if (last !== undefined && now - last < SLOW_LOGGED_EACH_MS) return;
      loggedMs.set(`${port}.${method}`, now);
      log.warn({ port, method, ms: Math.round(ms) }, 'slow read');
    },
  };
}

/** The same port, each of whose readings is counted and timed. */
export function meterPort<P extends object>(name: string, port: P, watch: ReadingWatch): P {
  const wrapped = Object.entries(port as { readonly [name: string]: unknown }).map(
    ([method, f]) => [
      method,
      typeof f === 'function' ? watchedMethod([name, method], f.bind(port), watch) : f,
    ],
  );
  return Object.fromEntries(wrapped) as P;
}

function watchedMethod(
  [port, name]: readonly [port: string, method: string],
  method: (...given: unknown[]) => unknown,
  { count, took, within }: ReadingWatch,
): (...given: unknown[]) => unknown {
  return (...given) => {
    const began = performance.now();
    const call = () => method(...given);
    const said = within === undefined ? call() : within(port, name, call);
    if (!(said instanceof Promise)) return said;
    return said.then((reading: unknown) => {
      took(port, name, performance.now() - began);
      const readings = readingsIn(reading);
      for (const one of readings) count(port, outcomeOf(one));
      return reading;
    });
  };
}

/** The readings of an answer: one, those of a map, or those of a record by name. */
function readingsIn(answer: unknown): unknown[] {
  if (answer instanceof Map) return [...answer.values()];
  const isRecord = typeof answer === 'object' && answer?.constructor === Object;
  return isRecord ? Object.values(answer) : [answer];
}

function outcomeOf(reading: unknown): Parameters<Meters['readings']>[1] {
  if (reading instanceof Read) return 'read';
  return reading instanceof Part ? 'part' : 'unread';
}
