// The features. One line adds one; a feature stands behind those that it is opened on.

import type { AnyEvidenceRoute } from '../contract/route.ts';
import { access, members } from '../features/access/feature.ts';

import { anchoring } from '../features/anchoring/feature.ts';
import { bridges } from '../features/bridges/feature.ts';
import { calls } from '../features/calls/feature.ts';
import { collectors } from '../features/collectors/feature.ts';
import { deployers } from '../features/deployers/feature.ts';
import { dossier } from '../features/dossier/feature.ts';
import { edge } from '../features/edge/feature.ts';
import { entities } from '../features/entities/feature.ts';
import { exchanges } from '../features/exchanges/feature.ts';
import { flagStream } from '../features/flag-stream/feature.ts';
import { forensics } from '../features/forensics/feature.ts';
import { health } from '../features/health/feature.ts';
import { history } from '../features/history/feature.ts';
import { indexing } from '../features/indexing/feature.ts';
import { integrations } from '../features/integrations/feature.ts';
import { launches } from '../features/launches/feature.ts';
import { log } from '../features/log/feature.ts';
import { observing } from '../features/observing/feature.ts';
import { partner } from '../features/partner/feature.ts';
import { policies } from '../features/policy/feature.ts';
import { providers } from '../features/providers/feature.ts';
import { ranker } from '../features/ranker/feature.ts';
import { receipts } from '../features/receipts/feature.ts';
import { records } from '../features/records/feature.ts';
import { restores } from '../features/restores/feature.ts';
import { rugModelFeature } from '../features/rug-model/feature.ts';
import { rugs } from '../features/rugs/feature.ts';
import { rulesFeature } from '../features/rules/feature.ts';
import { sanctions } from '../features/sanctions/feature.ts';
import { screening } from '../features/screening/feature.ts';
import { series } from '../features/series/feature.ts';
import { signals } from '../features/signals/feature.ts';
import { signing } from '../features/signing/feature.ts';
import { tables } from '../features/tables/feature.ts';
import { traders } from '../features/traders/feature.ts';
import { verifying } from '../features/verifying/feature.ts';
import { watchlist } from '../features/watchlist/feature.ts';
import type { AnyHandler } from '../transport/answer.ts';
import {
  type AnyFeature,
  featureList,
  type PortsOf,
  type ServedRoute,
  type Streamed,
} from './feature.ts';

export const FEATURES = featureList([
  dossier,
  screening,
  access,
  restores,
  tables,
  sanctions,
  history,
  bridges,
  exchanges,
  forensics,
  records,
  indexing,
  entities,
  watchlist,
  deployers,
  flagStream,
  integrations,
  launches,
  partner,
  receipts,
  members,
  rugModelFeature,
  rugs,
  signing,
  series,
  observing,
  traders,
  collectors,
  log,
  anchoring,
  providers,
  verifying,
  policies,
  signals,
  calls,
  edge,
  rulesFeature,
  ranker,
  health,
]);

/** Every port that some feature hands over, by the name that wires it. */
export type Ports = PortsOf<typeof FEATURES>;

/** The ports that evidence routes rest on; the others serve routes with bodies of their own. */
export type EvidencePorts = Omit<
  Ports,
  | 'edgeTrials'
  | 'labelChanges'
  | 'marketSeries'
  | 'otherListChanges'
  | 'sanctionsChanges'
  | 'entityTies'
  | 'contractCreations'
  | 'launchMonths'
  | 'flagEvents'
  | 'emittedCalls'
  | 'publishedRankers'
  | 'signals'
  | 'traderAnalyses'
  | 'anchors'
  | 'screeningRecords'
  | 'servedVersions'
  | 'signing'
  | 'transparencyLog'
  | 'watchlist'
>;

const SERVED: readonly ServedRoute<never>[] = (FEATURES as readonly AnyFeature[]).flatMap(
  ({ routes }) => routes,
);

/** Every declared route. */
export const CONTRACTS = SERVED.map(({ route }) => route);

/** Every declared stream with what opens it for a reader. */
export const STREAMS: readonly Streamed<never>[] = (FEATURES as readonly AnyFeature[]).flatMap(
  ({ streams }) => streams,
);

/** The routes that answer with the common envelope. */
export const EVIDENCE_ROUTES: readonly AnyEvidenceRoute[] = CONTRACTS.filter(
  (route) => route.kind === 'evidence',
);

/**
 * The handler of a route over ports. The declaration checked that the two fit (`served`), and the
 * list that it holds the ports of each (`featureList`).
 */
export function handlerOf(name: string, given: object): AnyHandler {
  const found = SERVED.find(({ route }) => route.name === name);
  if (found === undefined) throw new Error(`${name} is no route`);
  const make = found.make as (given: object) => unknown;
  return make(given) as AnyHandler;
}
