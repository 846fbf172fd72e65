// Answers one question: which features are there? One line adds one; a feature stands behind those
// that it is opened on.

import type { AnyEvidenceRoute } from '../contract/route.ts';
import type { AnyHandler } from '../transport/mounted.ts';
import {
  type AnyFeature,
  featureList,
  type PortsOf,
  type Served,
  type Streamed,
} from './feature.ts';
import { access } from './features/access.ts';
import { bridges } from './features/bridges.ts';
import { deployers } from './features/deployers.ts';
import { dossier } from './features/dossier.ts';
import { entities } from './features/entities.ts';
import { exchanges } from './features/exchanges.ts';
import { flagStream } from './features/flag-stream.ts';
import { forensics } from './features/forensics.ts';
import { health } from './features/health.ts';
import { history } from './features/history.ts';
import { indexing } from './features/indexing.ts';
import { integrations } from './features/integrations.ts';
import { launches } from './features/launches.ts';
import { members } from './features/members.ts';
import { partner } from './features/partner.ts';
import { receipts } from './features/receipts.ts';
import { records } from './features/records.ts';
import { rugModel } from './features/rug-model.ts';
import { rugs } from './features/rugs.ts';
import { sanctions } from './features/sanctions.ts';
import { screening } from './features/screening.ts';
import { tables } from './features/tables.ts';
import { watchlist } from './features/watchlist.ts';

export const FEATURES = featureList([
  dossier,
  screening,
  access,
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
  rugModel,
  rugs,
  health,
]);

/** Every port that some feature hands over, by the name that wires it. */
export type Ports = PortsOf<typeof FEATURES>;

/** The ports that evidence routes rest on; the others serve routes with bodies of their own. */
export type EvidencePorts = Omit<
  Ports,
  | 'labelChanges'
  | 'otherListChanges'
  | 'sanctionsChanges'
  | 'entityTies'
  | 'contractCreations'
  | 'launchMonths'
  | 'flagEvents'
  | 'screeningRecords'
  | 'servedVersions'
  | 'watchlist'
>;

const SERVED: readonly Served<never>[] = (FEATURES as readonly AnyFeature[]).flatMap(
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
