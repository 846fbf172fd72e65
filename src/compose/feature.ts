// The compiler refuses a contract without its handler, a handler under another contract, a port
// without its freshness, a command without its services, and a list that lacks a port.

import type { PageReading } from '../access/page-reading.ts';
import type { Secrets } from '../access/secret.ts';
import type { Command } from '../command/command.ts';
import type { Config, Configured } from '../config.ts';
import type {
  AnyEvidenceRoute,
  AnyPlainRoute,
  Caller,
  Handler,
  PlainHandler,
} from '../contract/route.ts';
import type { AnyRoute, AnyStreamRoute, StreamHandler } from '../contract/stream.ts';

import { listOrNone } from '../evidence/measure.ts';
import type { Partly } from '../evidence/reading.ts';
import type { ImportOrigin } from '../evidence/source.ts';
import type { WatchRun } from '../evidence/waiting.ts';
import type { LeakPorts } from '../features/access/leaked-keys.route.ts';
import type { PaymentPorts } from '../features/access/payment-webhook.route.ts';
import type { PlanView } from '../features/access/pricing.route.tsx';
import type { SettingsPorts } from '../features/access/settings.route.tsx';
import type { SignInPorts } from '../features/access/sign-in.route.tsx';
import type {
  RingHealth,
  SourceFreshness,
  SourceWords,
  StreamingFacts,
} from '../features/health/health.route.tsx';

import type { IntegrationPorts } from '../features/integrations/integrations.route.ts';
import type { PageFacts } from '../pages/layout.tsx';
import type { AnchoringReport } from '../ports/anchoring.ts';
import type { FollowReports } from '../ports/indexing.ts';
import type { ProviderReport, ProviderWatch } from '../ports/providers.ts';
import type { PublishedModels } from '../ports/rug-model.ts';
import type { Bus } from '../ports/streams.ts';
import type { ControlContext, Database } from '../stores/control/engine/database.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import type { GaugeReading } from '../transport/metrics.ts';
import type { JobName } from './jobs.ts';
import type { Logger } from './logger.ts';
import type { Outside } from './outside.ts';

/** The dependencies of every feature. */
export type Base = {
  readonly config: Config;
  readonly outside: Outside;
  readonly log: Logger;
  readonly database: Database;
  readonly warehouse: Warehouse;
  readonly secrets: Secrets;
  readonly bus: Bus;
  readonly context: ControlContext;
  /** Takes how each call to a provider ends. */
  readonly providers: ProviderWatch;
};

/** How old a source is, for whoever asks: `/health`, the first page, `doctor`, the start. */
export type Freshness<P> =
  /** The source has one date. The reading's value is its publication day, or `null`. */
  | {
      readonly kind: 'dated';
      readonly ask: (port: P) => Promise<Partly<string | null, never>>;
      /** Sentences about the age of a fresh source; absent: none. */
      readonly notes?: (port: P) => Promise<Partly<readonly string[], never>>;
      /** Seconds after which it carries no negative; `null`: it does not expire. */
      readonly maxAgeS: (config: Config) => number | null;
    }
  /** Each answer has a date of its own. The reading's value says what an answer is made of. */
  | {
      readonly kind: 'read_anew';
      readonly ask: (port: P) => Promise<Partly<string | FrozenSource, never>>;
    }
  /** The same. `absence` says why nobody can be asked, or `null`. */
  | { readonly kind: 'per_answer'; readonly absence: (outside: Outside) => string | null }
  /** It is as old as another port, which is named by its tag. */
  | { readonly kind: 'shown_with'; readonly tag: string };

/** A source that was read and stands still until the operator acts. */
export type FrozenSource = { readonly frozen: string };

/** The description of a port, for code that handles all ports. */
export type PortFacts<P> = {
  /** Its name in readings and contracts. */
  readonly tag: string;
  readonly title: string;
  /** The content of the port, in words that end a sentence about it. */
  readonly says: string;
  /** Whether an answer of it may have been stopped early. */
  readonly pages: boolean;
  readonly freshness: Freshness<P>;
};

/** The part of the service that handlers receive beside ports. */
export type Service = {
  readonly version: string;
  /** The start of its own links, once it listens; without a final slash. */
  readonly base: () => string;
  readonly simulated: boolean;
  readonly anonymous: boolean;
  /** Seconds since a chain's newest held block from which on it carries no negative. */
  readonly tipMaxAgeS: number;
  readonly routes: readonly AnyRoute[];
  readonly sources: readonly SourceWords[];
  readonly freshness: () => Promise<{ readonly [tag: string]: SourceFreshness }>;
  /** The state of following each chain, as its follower last reported. */
  readonly followers: FollowReports['all'];
  readonly modelInForce: PublishedModels['inForce'];
  readonly ring: RingHealth;
  /** The providers that this process asks, as it saw them. */
  readonly providers: () => readonly ProviderReport[];
  /** What keeps roots of the log from the contract that is set, as this process knows it. */
  readonly anchoring: () => AnchoringReport;
  /** Calls whoever listens when a process has appended to a log, until it is undone. */
  readonly onCall: Bus['listen'];
  /** The facts of the streams; `null` if this process serves none. */
  readonly streaming: () => Promise<StreamingFacts | null>;
};

/** The dependencies of the routes and pages of memberships, beside ports. */
export type Members = {
  readonly payments: PaymentPorts;
  readonly signIn: SignInPorts;
  readonly settings: Omit<SettingsPorts, 'base'>;
  readonly plans: readonly PlanView[];
  readonly leaks: LeakPorts;
  /** Whether a page may have outside sources read for a caller. */
  readonly reading: (caller: Caller) => Promise<PageReading>;
};

type Contract = AnyEvidenceRoute | AnyPlainRoute;
type HandlerOf<R extends Contract> = R extends AnyEvidenceRoute
  ? Handler<R>
  : R extends AnyPlainRoute
    ? PlainHandler<R>
    : never;

/** A contract with what makes its handler from ports. */
export type ServedRoute<G> = {
  readonly route: Contract;
  readonly make: (given: G) => unknown;
};

/** Pairs a contract with its handler; a handler under another contract does not compile. */
export function serveRoute<R extends Contract, G>(
  route: R,
  make: (given: G) => HandlerOf<R>,
): ServedRoute<G> {
  return { route, make };
}

/** A stream with what makes its handler from ports. */
export type Streamed<G> = {
  readonly route: AnyStreamRoute;
  readonly make: (given: G) => unknown;
};

/** Pairs a stream with its handler; a handler of another stream does not compile. */
export function serveStream<R extends AnyStreamRoute, G>(
  route: R,
  make: (given: G) => StreamHandler<R>,
): Streamed<G> {
  return { route, make };
}

/** A route that answers pages; `link` is its name in the navigation, `null` where it has none. */
export type Page<G> = {
  readonly route: AnyPlainRoute;
  readonly link: string | null;
  readonly make: (given: G, facts: PageFacts) => unknown;
};

/**
 * Something that runs without being asked, until it is stopped: where work is done, or, for what is
 * kept in memory to answer from, where a process serves, or in every process.
 */
export type Job = {
  readonly name: JobName;
  readonly role?: 'serve' | 'any';
  readonly start: (watch: WatchRun) => { stop: () => Promise<void> };
};

/** A source that may be left unset, and what its absence means for the answers. */
export type Optional = {
  readonly name: string;
  /** The settings that give it, as an operator writes them. */
  readonly setting: string;
  readonly isSet: (config: Config) => boolean;
  readonly without: string;
};

/** The configurations that a command which opens no store may mean. */
export type Configurations = {
  readonly configured: Configured;
  /** The running state that `npm start` makes of it. */
  readonly started: Configured;
};

/** Commands that open no store, with what they need. */
export type LocalCommands<S> = {
  readonly commands: readonly Command<NoInfer<S>>[];
  readonly services: (configurations: Configurations) => S;
};

/** A command together with what it needs. The declaration of its feature checked the pair. */
export function bindCommand(command: Command<never>, services: unknown): Command<null> {
  const run = command.run as Command<unknown>['run'];
  return { ...command, run: (argv, io) => run(argv, io, services) };
}

/** Pairs the contract of a page with its handler, over the ports that it names. */
export function servePage<R extends AnyPlainRoute, G>(
  route: R,
  link: string | null,
  make: (given: G, facts: PageFacts) => PlainHandler<R>,
): Page<G> {
  return { route, link, make };
}

/** Clocks by the tag of the port that ages by them, in Unix seconds; `null`: it was not heard. */
export type Clocks = { readonly [tag: string]: () => number | null };

/** An opened feature: its ports over the opened stores, and what its commands and jobs need. */
export type Opened = {
  readonly ports: object;
  readonly services: object;
  readonly gauges?: readonly GaugeReading[];
  /** The clocks by which its ports age; absent: that of the process. */
  readonly clocks?: Clocks;
  readonly jobs?: readonly Job[];
  /** Loads what is served from memory, and keeps it current. */
  readonly start?: () => Promise<void>;
  /** Stops what was begun and notes what was kept for later. */
  readonly close?: () => void | Promise<void>;
};

/** Whether what a deployment takes in was observed or made up. */
export function routeOrigin({ simulate }: Config): ImportOrigin {
  return simulate ? 'simulated' : 'observed';
}

/** How long live readings hold, and how long a caller waits for one. */
export function liveHolding({ liveHoldMs: heldMs, liveBudgetMs: timeMs }: Config) {
  return { heldMs, timeMs, nowMs: () => performance.now() };
}

/** Where browsers find the service, as far as that is known before it listens. */
export function baseOf({ publicUrl, listen: { host, port } }: Config): string {
  return publicUrl === null ? `http://${host}:${port}` : publicUrl;
}

/** Any feature, for those who look at all of them. */
export type AnyFeature = {
  readonly name: string;
  /** Over its commands in the help. */
  readonly heading: string | null;
  /** The features that it is opened on; they stand before it in the list. */
  readonly rests: Rests;
  readonly routes: readonly ServedRoute<never>[];
  readonly streams: readonly Streamed<never>[];
  readonly ports: { readonly [key: string]: PortFacts<never> };
  readonly commands: readonly Command<never>[];
  readonly local: {
    readonly commands: readonly Command<never>[];
    readonly services: (configurations: Configurations) => unknown;
  } | null;
  readonly pages: readonly Page<never>[];
  readonly optional: readonly Optional[];
  readonly open: (base: Base, rests: never) => Opened;
};

type Rests = { readonly [name: string]: AnyFeature };
export type OpenedRests<R extends Rests> = { readonly [K in keyof R]: ReturnType<R[K]['open']> };

type Spec<
  R extends Rests,
  O extends Opened,
  S extends readonly ServedRoute<never>[],
  P extends readonly Page<never>[],
  L,
  T extends readonly Streamed<never>[],
> = {
  readonly name: string;
  readonly heading?: string;
  readonly rests?: R;
  readonly open: (base: Base, rests: OpenedRests<R>) => O;
  readonly routes?: S;
  readonly streams?: T;
  readonly ports: { readonly [K in keyof NoInfer<O>['ports']]: PortFacts<NoInfer<O>['ports'][K]> };
  readonly commands?: readonly Command<NoInfer<O>['services']>[];
  readonly local?: LocalCommands<L>;
  readonly pages?: P;
  readonly optional?: readonly Optional[];
};

/**
 * Declares a feature: everything of it that others derive from, and how it is opened. `open` is
 * written before `ports` and `commands`, which are held against what it gives.
 */
export function feature<
  O extends Opened,
  const R extends Rests = Record<never, never>,
  const S extends readonly ServedRoute<never>[] = readonly [],
  const P extends readonly Page<never>[] = readonly [],
  L = never,
  const T extends readonly Streamed<never>[] = readonly [],
>(spec: Spec<R, O, S, P, L, T>) {
  const { heading = null, local = null, commands, optional, ...rest } = spec;
  if (heading === null && (commands !== undefined || local !== null)) {
    throw new Error(`${spec.name}: the help lists its commands under a heading`);
  }
  return {
    rests: NO_RESTS as R,
    routes: NONE as readonly unknown[] as S,
    streams: NONE as readonly unknown[] as T,
    pages: NONE as readonly unknown[] as P,
    ...rest,
    heading,
    local,
    commands: listOrNone(commands),
    optional: listOrNone(optional),
  };
}

const NONE: readonly [] = [];
const NO_RESTS: Rests = {};

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (one: infer I) => void
  ? I
  : never;

/** The ports that some features hand over, by the name that wires them. */
export type PortsOf<F extends readonly AnyFeature[]> = Intersection<
  ReturnType<F[number]['open']>['ports']
>;

type Makes<F extends readonly AnyFeature[]> =
  | F[number]['routes'][number]['make']
  | F[number]['streams'][number]['make']
  | F[number]['pages'][number]['make'];
type FeaturePorts<F extends readonly AnyFeature[]> =
  Makes<F> extends (given: infer G, ...more: never) => unknown ? G : never;

/** Holds a list together: every handler and page finds its ports in it. */
export function featureList<const F extends readonly AnyFeature[]>(
  features: PortsOf<F> & {
    readonly service: Service;
    readonly members: Members;
    readonly chats: IntegrationPorts;
  } extends FeaturePorts<F>
    ? F
    : FeaturePorts<F>,
): F {
  return features as F;
}
