// Answers GET /health from what the process knows of itself; it reads no store and asks nobody.

import type { z } from 'zod';
import type { AnyRoute } from '../../contract/any-route.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { health, type sourceFreshness } from './health.contract.ts';

/** The age of one source as `/health` shows it. */
export type SourceFreshness = z.output<typeof sourceFreshness>;

/** The facts of the composition that `/health` shows. */
type HealthFacts = {
  readonly version: string;
  readonly simulated: boolean;
  readonly anonymous: boolean;
  readonly routes: readonly AnyRoute[];
  /** By the source's name; what is in memory answers while stores are down. */
  readonly freshness: () => Promise<{ readonly [source: string]: SourceFreshness }>;
};

/** The handler of `/health`. */
export function healthHandler(facts: HealthFacts): PlainHandler<typeof health> {
  const routes = Object.fromEntries(
    facts.routes.map((route) => [
      `${route.method} ${route.path}`,
      { access: route.access, summary: route.summary },
    ]),
  );
  return async () =>
    health.reply(200, {
      status: 'ok',
      service: 'exhibit',
      version: facts.version,
      simulated: facts.simulated,
      auth: facts.anonymous ? 'anonymous' : 'bearer',
      model: {
        published: false,
        version: null,
        reason: 'No model artefact has been published on this deployment; nothing is scored.',
      },
      routes,
      data_freshness: { ...(await facts.freshness()) },
    });
}
