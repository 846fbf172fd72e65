// Made from the declarations: `npx vitest run src/client-routes.test.ts --update` writes it anew.

import type { Absence } from '../contract/answer.ts';
import type { AccessRule, Method } from '../contract/route.ts';
import type { keyUsageRoute } from '../features/access/key-usage.route.tsx';
import type { leakedKey } from '../features/access/leaked-keys.route.ts';
import type { registryBridges } from '../features/bridges/registry.route.tsx';
import type { walletBridges } from '../features/bridges/wallet-bridges.route.ts';
import type { deployerRecord } from '../features/deployers/deployer-record.route.tsx';
import type { tokenCreator } from '../features/deployers/token.route.tsx';
import type { edgeBacktest, edgePerformance, edgeReplay } from '../features/edge/edge.route.ts';
import type { walletEntity } from '../features/entities/wallet-entity.route.ts';
import type { walletCex } from '../features/exchanges/wallet-cex.route.ts';
import type { walletScore } from '../features/forensics/wallet-score.route.ts';
import type { healthRoute } from '../features/health/health.route.tsx';
import type {
  connectIntegration,
  listIntegrations,
  removeIntegration,
  testIntegration,
} from '../features/integrations/integrations.route.ts';
import type { solanaDeployer } from '../features/launches/solana-deployer.route.ts';
import type {
  logCheckpoint,
  logEnd,
  logEntries,
  logProof,
  logState,
  logTile,
} from '../features/log/log.route.ts';
import type { partnerScan } from '../features/partner/partner-scan.route.ts';
import type { providersBoard } from '../features/providers/providers.route.tsx';
import type { mlRank } from '../features/ranker/ml-rank.route.ts';
import type { receiptsIndex } from '../features/receipts/receipts-index.route.tsx';
import type {
  recordBulkScreen,
  recordScreen,
  screenRecord,
  screenRecords,
  screenReplay,
} from '../features/records/records.route.ts';
import type { rugModelCard } from '../features/rug-model/card.route.tsx';
import type { leaderboard, rugsLeaderboard } from '../features/rugs/leaderboard.route.tsx';
import type { edgeRules } from '../features/rules/rules.route.tsx';
import type { sanctionsChanges } from '../features/sanctions/changes.route.tsx';
import type { walletOfac } from '../features/sanctions/wallet-ofac.route.ts';
import type { bulkWalletScreen } from '../features/screening/bulk-wallet-screen.route.ts';
import type {
  signalEvidence,
  signalRoute,
  signalsFeed,
  signalVerification,
} from '../features/signals/signals.route.ts';
import type { signingKeys } from '../features/signing/keys.route.ts';
import type { labelChanges } from '../features/tables/label-changes.route.ts';
import type { otherListChanges } from '../features/tables/list-changes.route.ts';
import type { traderTemporal } from '../features/traders/temporal.route.tsx';
import type {
  unwatchAddress,
  watchAddress,
  watchlistChanges,
  watchlistRoute,
} from '../features/watchlist/watchlist.route.tsx';

/** The declarations, from which the types of the methods follow. */
export type Contracts = {
  readonly bulk_wallet_screen: typeof bulkWalletScreen;
  readonly connect_integration: typeof connectIntegration;
  readonly deployer_record: typeof deployerRecord;
  readonly edge_backtest: typeof edgeBacktest;
  readonly edge_performance: typeof edgePerformance;
  readonly edge_replay: typeof edgeReplay;
  readonly edge_rules: typeof edgeRules;
  readonly health: typeof healthRoute;
  readonly label_changes: typeof labelChanges;
  readonly leaderboard: typeof leaderboard;
  readonly leaked_key: typeof leakedKey;
  readonly list_integrations: typeof listIntegrations;
  readonly log: typeof logState;
  readonly log_checkpoint: typeof logCheckpoint;
  readonly log_end: typeof logEnd;
  readonly log_entries: typeof logEntries;
  readonly log_proof: typeof logProof;
  readonly log_tile: typeof logTile;
  readonly ml_rank: typeof mlRank;
  readonly other_list_changes: typeof otherListChanges;
  readonly partner_scan: typeof partnerScan;
  readonly providers_board: typeof providersBoard;
  readonly receipts_index: typeof receiptsIndex;
  readonly record_bulk_screen: typeof recordBulkScreen;
  readonly record_screen: typeof recordScreen;
  readonly registry_bridges: typeof registryBridges;
  readonly remove_integration: typeof removeIntegration;
  readonly rug_model_card: typeof rugModelCard;
  readonly rugs_leaderboard: typeof rugsLeaderboard;
  readonly sanctions_changes: typeof sanctionsChanges;
  readonly screen_record: typeof screenRecord;
  readonly screen_records: typeof screenRecords;
  readonly screen_replay: typeof screenReplay;
  readonly signal: typeof signalRoute;
  readonly signal_evidence: typeof signalEvidence;
  readonly signal_verification: typeof signalVerification;
  readonly signals_feed: typeof signalsFeed;
  readonly signing_keys: typeof signingKeys;
  readonly solana_deployer: typeof solanaDeployer;
  readonly test_integration: typeof testIntegration;
  readonly token_creator: typeof tokenCreator;
  readonly trader_temporal: typeof traderTemporal;
  readonly unwatch_address: typeof unwatchAddress;
  readonly usage: typeof keyUsageRoute;
  readonly wallet_bridges: typeof walletBridges;
  readonly wallet_cex: typeof walletCex;
  readonly wallet_entity: typeof walletEntity;
  readonly wallet_ofac: typeof walletOfac;
  readonly wallet_score: typeof walletScore;
  readonly watch_address: typeof watchAddress;
  readonly watchlist: typeof watchlistRoute;
  readonly watchlist_changes: typeof watchlistChanges;
};

/** The facts that a client needs of a route. */
export type RouteRow = {
  readonly kind: 'evidence' | 'plain';
  readonly method: Method;
  readonly path: string;
  readonly access: AccessRule;
  /** The statuses that it answers with; any other is a refusal. */
  readonly statuses: readonly number[];
  readonly absences: readonly Absence[];
  /** The statuses whose body is bytes, which are given as they came. */
  readonly bytes?: readonly number[];
  /** The statuses whose body is text of another type than JSON. */
  readonly texts?: readonly number[];
};

export const ROUTES: { readonly [N in keyof Contracts]: RouteRow } = {
  bulk_wallet_screen: {
    kind: 'evidence',
    method: 'POST',
    path: '/api/v1/bulk/wallet-screen',
    access: 'desk',
    statuses: [200],
    absences: ['not_deployed'],
  },
  connect_integration: {
    kind: 'plain',
    method: 'POST',
    path: '/integrations/{chat_platform}/connect',
    access: 'analyst',
    statuses: [201, 409, 503],
    absences: [],
  },
  deployer_record: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/evm/deployer/{chain}/{address}',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_supported', 'not_deployed'],
  },
  edge_backtest: {
    kind: 'plain',
    method: 'GET',
    path: '/edge/backtest.json',
    access: 'optional_key',
    statuses: [200],
    absences: [],
  },
  edge_performance: {
    kind: 'plain',
    method: 'GET',
    path: '/edge/performance.json',
    access: 'open',
    statuses: [200],
    absences: [],
  },
  edge_replay: {
    kind: 'plain',
    method: 'GET',
    path: '/edge/replay.json',
    access: 'open',
    statuses: [200],
    absences: [],
  },
  edge_rules: {
    kind: 'plain',
    method: 'GET',
    path: '/edge/rules.json',
    access: 'open',
    statuses: [200],
    absences: [],
  },
  health: {
    kind: 'plain',
    method: 'GET',
    path: '/health',
    access: 'open',
    statuses: [200],
    absences: [],
  },
  label_changes: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/registry/labels/changes',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  leaderboard: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/leaderboard',
    access: 'analyst',
    statuses: [200],
    absences: ['not_deployed'],
  },
  leaked_key: {
    kind: 'plain',
    method: 'POST',
    path: '/api/v1/keys/leaked',
    access: 'open',
    statuses: [202, 429, 503],
    absences: [],
  },
  list_integrations: {
    kind: 'plain',
    method: 'GET',
    path: '/integrations',
    access: 'analyst',
    statuses: [200, 503],
    absences: [],
  },
  log: {
    kind: 'plain',
    method: 'GET',
    path: '/api/log',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  log_checkpoint: {
    kind: 'plain',
    method: 'GET',
    path: '/log/{log}/checkpoint',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
    texts: [200],
  },
  log_end: {
    kind: 'plain',
    method: 'GET',
    path: '/log/{log}/end',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
    texts: [200],
  },
  log_entries: {
    kind: 'plain',
    method: 'GET',
    path: '/api/log/entries',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  log_proof: {
    kind: 'plain',
    method: 'GET',
    path: '/api/log/proof/{leaf}',
    access: 'open',
    statuses: [200, 404, 409, 503],
    absences: [],
    texts: [200],
  },
  log_tile: {
    kind: 'plain',
    method: 'GET',
    path: '/log/{log}/tile/{tile}',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
    bytes: [200],
  },
  ml_rank: {
    kind: 'plain',
    method: 'GET',
    path: '/api/ml-rank',
    access: 'open',
    statuses: [200, 404],
    absences: [],
  },
  other_list_changes: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/registry/lists/changes',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  partner_scan: {
    kind: 'evidence',
    method: 'POST',
    path: '/api/v1/scan/{address}',
    access: 'partner',
    statuses: [200],
    absences: ['not_supported', 'not_deployed'],
  },
  providers_board: {
    kind: 'plain',
    method: 'GET',
    path: '/api/leaderboard/providers',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  receipts_index: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/receipts',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_deployed'],
  },
  record_bulk_screen: {
    kind: 'plain',
    method: 'POST',
    path: '/api/v1/screens/bulk',
    access: 'desk',
    statuses: [201, 409, 503],
    absences: [],
  },
  record_screen: {
    kind: 'plain',
    method: 'POST',
    path: '/api/v1/screens',
    access: 'analyst',
    statuses: [201, 409, 503],
    absences: [],
  },
  registry_bridges: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/registry/bridges',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  remove_integration: {
    kind: 'plain',
    method: 'DELETE',
    path: '/integrations/{id}',
    access: 'analyst',
    statuses: [200, 404, 503],
    absences: [],
  },
  rug_model_card: {
    kind: 'plain',
    method: 'GET',
    path: '/api/models/rug/{version}',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  rugs_leaderboard: {
    kind: 'plain',
    method: 'GET',
    path: '/api/leaderboard/rugs',
    access: 'bearer',
    statuses: [200, 503],
    absences: [],
  },
  sanctions_changes: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/registry/sanctions/changes',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  screen_record: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/screens/{id}',
    access: 'analyst',
    statuses: [200, 404, 503],
    absences: [],
  },
  screen_records: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/screens',
    access: 'analyst',
    statuses: [200, 503],
    absences: [],
  },
  screen_replay: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/screens/{id}/replay',
    access: 'analyst',
    statuses: [200, 404, 503],
    absences: [],
  },
  signal: {
    kind: 'plain',
    method: 'GET',
    path: '/api/signals/{id}',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  signal_evidence: {
    kind: 'plain',
    method: 'GET',
    path: '/api/signals/{id}/evidence',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
    bytes: [200],
  },
  signal_verification: {
    kind: 'plain',
    method: 'GET',
    path: '/api/signals/verify/{id}',
    access: 'open',
    statuses: [200, 404, 503],
    absences: [],
  },
  signals_feed: {
    kind: 'plain',
    method: 'GET',
    path: '/api/signals',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  signing_keys: {
    kind: 'plain',
    method: 'GET',
    path: '/.well-known/exhibit-keys.json',
    access: 'open',
    statuses: [200, 503],
    absences: [],
  },
  solana_deployer: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/solana/deployer/{address}',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_deployed'],
  },
  test_integration: {
    kind: 'plain',
    method: 'POST',
    path: '/integrations/{id}/test',
    access: 'analyst',
    statuses: [200, 404, 503],
    absences: [],
  },
  token_creator: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/token/{address}/creator',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_deployed'],
  },
  trader_temporal: {
    kind: 'plain',
    method: 'GET',
    path: '/api/traders/{address}/temporal',
    access: 'open',
    statuses: [200, 400, 404, 503],
    absences: [],
  },
  unwatch_address: {
    kind: 'plain',
    method: 'DELETE',
    path: '/api/v1/watchlist/{id}',
    access: 'analyst',
    statuses: [200, 404, 503],
    absences: [],
  },
  usage: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/usage',
    access: 'analyst',
    statuses: [200, 503],
    absences: [],
  },
  wallet_bridges: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/wallet/{address}/bridges',
    access: 'analyst',
    statuses: [200],
    absences: ['not_supported', 'not_deployed'],
  },
  wallet_cex: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/wallet/{address}/cex',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_deployed'],
  },
  wallet_entity: {
    kind: 'plain',
    method: 'GET',
    path: '/api/wallet/{address}/entity',
    access: 'bearer',
    statuses: [200],
    absences: [],
  },
  wallet_ofac: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/wallet/{address}/ofac',
    access: 'analyst',
    statuses: [200],
    absences: ['not_deployed'],
  },
  wallet_score: {
    kind: 'evidence',
    method: 'GET',
    path: '/api/v1/wallet/{address}/score',
    access: 'analyst',
    statuses: [200],
    absences: ['insufficient_evidence', 'not_deployed'],
  },
  watch_address: {
    kind: 'plain',
    method: 'POST',
    path: '/api/v1/watchlist',
    access: 'analyst',
    statuses: [200, 201, 409, 503],
    absences: [],
  },
  watchlist: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/watchlist',
    access: 'analyst',
    statuses: [200, 503],
    absences: [],
  },
  watchlist_changes: {
    kind: 'plain',
    method: 'GET',
    path: '/api/v1/watchlist/changes',
    access: 'analyst',
    statuses: [200, 503],
    absences: [],
  },
};
