// Answers GET /health from what the process knows of itself, and from what the followers of chains
// told; it asks nobody else.

import type { z } from 'zod';
import type { AnyRoute } from '../../contract/any-route.ts';
import type { PlainHandler } from '../../contract/route.ts';
import type { FollowReports } from '../../ports/indexing/follow-reports.ts';
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
  readonly followers: FollowReports['all'];
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
      following: await following(facts.followers),
    });
}

/** The followers by their chain; a store that does not answer soon is not waited for. */
async function following(asked: FollowReports['all']) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ASK_MS_MAX);
  });
  const reading = await Promise.race([asked(), late]);
  clearTimeout(timer);
  if (reading === null || !reading.checked) return null;
  return Object.fromEntries(
    reading.value.map(({ chain, head_block, ...report }) => {
      const { state, reason, since, last_block } = report;
      const isKnown = head_block !== null && last_block !== null;
      const lag_blocks = isKnown ? Math.max(0, head_block - last_block) : null;
      return [chain, { state, reason, since, last_block, lag_blocks }];
    }),
  );
}

const ASK_MS_MAX = 1_000;
