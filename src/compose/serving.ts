// Answers one question: what listens, and what is mounted on it.

import type { Gate } from '../access/gate.ts';
import { MS_PER_S } from '../chain/time.ts';
import type { Config } from '../config.ts';
import type { AnyRoute } from '../contract/route.ts';
import { mcpDoor } from '../mcp/http-door.ts';
import { type Tools, toolsOf } from '../mcp/tools.ts';
import { type Answers, answersOf } from '../transport/answering.ts';
import { createHttp, type Door, type HttpOptions } from '../transport/http.ts';
import type { Mounted } from '../transport/mounted.ts';
import { nowS } from './clock.ts';
import { operatorDocuments, pageFacts, webDocuments } from './documents.ts';
import type { Service } from './feature.ts';
import { health } from './features/health.ts';
import { freshnessOf } from './freshness.ts';
import { CONTRACTS, handlerOf } from './list.ts';
import type { Logger } from './logger.ts';
import type { Parts } from './parts.ts';
import { VERSION } from './version.ts';

/** What is served: the parts, under a configuration. The gate may be another than theirs. */
export type ServingParts = Pick<Parts, 'ports' | 'tokens' | 'meters' | 'checks' | 'sources'> & {
  readonly config: Config;
  readonly gate: Gate;
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
  const { options, answers } = publicOptions(parts, base);
  const app = createHttp(options, answers);
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
  const { config, ports, sources } = parts;
  const routes = servedRoutes(config);
  const service = serviceOf(parts, routes);
  const given = { ...ports, service };
  const token = config.adminToken === null ? null : config.adminToken.reveal();
  const pages = config.surfaces.includes('web')
    ? webDocuments({
        routes,
        facts: pageFacts(config),
        given,
        sources,
        base,
      })
    : [];
  const options: HttpOptions = {
    ...common(parts),
    mounted: mounted(routes, given),
    documents: [...pages, ...operatorDocuments({ ...parts, token, trusted: false })],
    gate: parts.gate,
    tokens: parts.tokens,
    trustProxy: config.trustProxy,
  };
  if (!config.surfaces.includes('mcp')) {
    return { options, answers: answersOf(options.mounted, options) };
  }
  // A tool asks its route wherever the route itself is served.
  const tools = toolsOf(CONTRACTS);
  const asked = [...new Set([...routes, ...[...tools.values()].map(({ route }) => route)])];
  const answers = answersOf(mounted(asked, given), options);
  return { options: { ...options, doors: [toolDoor(parts, tools, answers)] }, answers };
}

function toolDoor(parts: ServingParts, tools: Tools, answers: Answers): Door {
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

function opsOptions(parts: ServingParts) {
  const { config, ports } = parts;
  const service = serviceOf(parts, servedRoutes(config));
  return {
    ...common(parts),
    mounted: mounted(ALWAYS, { ...ports, service }),
    documents: operatorDocuments({ ...parts, token: null, trusted: true }),
    gate: null,
    trustProxy: false,
  };
}

function common({ meters, log, config }: ServingParts) {
  return { meters, log, now: nowS, budgetMs: config.liveBudgetMs };
}

/** Served on every process, whatever its surfaces. */
const ALWAYS = health.routes.map(({ route }) => route);

function isServed(route: AnyRoute, { surfaces }: Config): boolean {
  return surfaces.includes(route.surface) || ALWAYS.some(({ name }) => name === route.name);
}

function servedRoutes(config: Config) {
  return CONTRACTS.filter((route) => isServed(route, config));
}

function mounted(routes: readonly Mounted['route'][], given: object): Mounted[] {
  return routes.map((route) => ({ route, handle: handlerOf(route.name, given) }));
}

function serviceOf({ config, sources }: ServingParts, routes: readonly AnyRoute[]): Service {
  return {
    version: VERSION,
    simulated: config.simulate,
    anonymous: config.intelligence.allowAnonymous,
    tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S,
    routes,
    freshness: () => freshnessOf(sources),
  };
}
