// Answers one question: what listens, and what is mounted on it.

import type { Gate } from '../access/gate.ts';
import type { Config } from '../config.ts';
import type { AnyEvidenceRoute, AnyPlainRoute, AnyRoute } from '../contract/route.ts';
import { registryBridges } from '../features/bridges/registry-bridges.contract.ts';
import { registryBridgesHandler } from '../features/bridges/registry-bridges.route.ts';
import { CONTRACTS, EVIDENCE_ROUTES } from '../features/contracts.ts';
import { walletEntity } from '../features/entities/wallet-entity.contract.ts';
import { type EvidencePorts, makeHandlers } from '../features/handlers.ts';
import { health } from '../features/health/health.contract.ts';
import { type HealthFacts, healthHandler } from '../features/health/health.route.ts';
import { labelChanges } from '../features/tables/label-changes.contract.ts';
import { labelChangesHandler } from '../features/tables/label-changes.route.ts';
import type { PageFacts } from '../pages/layout.tsx';
import type { LabelChanges } from '../ports/labels/label-changes.ts';
import type { Tokens } from '../transport/bearer.ts';
import { createHttp } from '../transport/http.ts';
import type { Meters } from '../transport/metrics.ts';
import type { AnyHandler, Mounted } from '../transport/mounted.ts';
import { nowS } from './clock.ts';
import { operatorDocuments, type StoreCheck, webDocuments } from './documents.ts';
import { registryDocument } from './features/bridges-page.ts';
import type { EntityParts } from './features/entities.ts';
import type { Logger } from './logger.ts';
import { VERSION } from './version.ts';

/** What is served. */
export type ServingParts = {
  readonly config: Config;
  readonly ports: EvidencePorts;
  readonly labelChanges: LabelChanges;
  readonly gate: Gate;
  readonly door: Tokens;
  readonly entity: EntityParts['handler'];
  readonly meters: Meters;
  readonly stores: readonly StoreCheck[];
  readonly freshness: HealthFacts['freshness'];
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
  const app = createHttp(publicOptions(parts, base));
  const opened = [app];
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    listening = await app.listen({ host: config.listen.host, port: config.listen.port });
    if (config.ops.kind === 'set') {
      const ops = createHttp(opsOptions(parts));
      opened.push(ops);
      await ops.listen({ host: '127.0.0.1', port: config.ops.port });
    }
    return { url: base(), close };
  } catch (fault) {
    await close();
    throw fault;
  }
}

function publicOptions(parts: ServingParts, base: () => string) {
  const { config, meters, log, gate, freshness } = parts;
  const mounted = mountedRoutes(parts);
  const facts = { simulated: config.simulate, version: VERSION };
  const routes = mounted.map(({ route }) => route);
  const token = config.adminToken === null ? null : config.adminToken.reveal();
  return {
    mounted,
    documents: [
      ...(config.surfaces.includes('web') ? pages(parts, routes, facts, base) : []),
      ...operatorDocuments({ meters, stores: parts.stores, freshness, token, trusted: false }),
    ],
    gate,
    tokens: parts.door,
    meters,
    log,
    now: nowS,
    budgetMs: config.liveBudgetMs,
    trustProxy: config.trustProxy,
  };
}

function pages(
  { freshness, ports }: ServingParts,
  routes: readonly AnyRoute[],
  facts: PageFacts,
  base: () => string,
) {
  const registry = registryDocument(facts, ports.bridgeRegistry);
  return [...webDocuments(routes, facts, freshness, base), registry];
}

function opsOptions(parts: ServingParts) {
  const { config, meters, log, stores, freshness } = parts;
  return {
    mounted: [mount(health, healthHandler(healthFacts(parts)))],
    documents: operatorDocuments({ meters, stores, freshness, token: null, trusted: true }),
    gate: null,
    meters,
    log,
    now: nowS,
    budgetMs: config.liveBudgetMs,
    trustProxy: false,
  };
}

function mountedRoutes(parts: ServingParts): Mounted[] {
  const { surfaces } = parts.config;
  const handlers = makeHandlers(parts.ports);
  const evidence: Mounted[] = [];
  for (const route of EVIDENCE_ROUTES) {
    if (surfaces.includes(route.surface)) evidence.push(mount(route, handlers[route.name]));
  }
  const open = surfaces.includes(labelChanges.surface)
    ? [
        mount(labelChanges, labelChangesHandler(parts.labelChanges)),
        mount(registryBridges, registryBridgesHandler(parts.ports.bridgeRegistry)),
      ]
    : [];
  const intelligence = surfaces.includes(walletEntity.surface)
    ? [mount(walletEntity, parts.entity)]
    : [];
  return [
    ...[...evidence, ...open, ...intelligence],
    mount(health, healthHandler(healthFacts(parts))),
  ];
}

const ALL_ROUTES: readonly AnyRoute[] = CONTRACTS;

function healthFacts({ config, freshness }: ServingParts): HealthFacts {
  const { surfaces } = config;
  return {
    version: VERSION,
    simulated: config.simulate,
    anonymous: config.intelligence.allowAnonymous,
    routes: ALL_ROUTES.filter(({ surface }) => surfaces.includes(surface)),
    freshness,
  };
}

// The pairing of a route and its handler was checked by their types (`handlers.ts`); the server
// only knows that what the route parsed is what the handler takes.
function mount(route: AnyEvidenceRoute | AnyPlainRoute, handle: unknown): Mounted {
  return { route, handle: handle as AnyHandler };
}
