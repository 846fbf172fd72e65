// The forensic record. Chain facts come from a node, the warehouse and an explorer: what costs
// nothing is asked first, the explorer, whose calls are counted, for the rest.

import { nowS } from '../../compose/clock.ts';
import { evmClients } from '../../compose/evm-clients.ts';
import {
  type Base,
  feature,
  liveHolding,
  type OpenedRests,
  serveRoute,
} from '../../compose/feature.ts';
import { map } from '../../evidence/reading.ts';
import { nodeApprovals, nodeFreezes } from '../../sources/evm/approvals-node.ts';
import { nodeFacts } from '../../sources/evm/node-of-account.ts';
import { explorerApprovals, explorerFacts } from '../../sources/explorer/account-facts.ts';
import type { RpcLimits } from '../../sources/http/json-rpc.ts';
import {
  freezingTokensFile,
  mixerRegistryFile,
  permit2File,
  relaysFile,
} from '../../sources/registry/registry-files.ts';
import { heldApprovals, heldFacts, heldFreezes } from '../../stores/history/held-ports.ts';
import { cascadedApprovals, cascadedFacts } from '../../stores/history/live-facts.ts';
import { warehouseFacts } from '../../stores/warehouse/creations.ts';
import { history } from '../history/feature.ts';
import { walletScore, walletScoreHandler } from './wallet-score.route.ts';

/** A request waits for a node's state no longer than this. */
const STATE_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 4 * 1024 * 1024,
  batchMax: 1,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};
const MIXERS = new URL('../../../registry/mixers.csv', import.meta.url);
/** The registry of issuers that can freeze tokens; all of a chain are asked in one batch. */
const ISSUERS = new URL('../../../registry/issuer-freezes.csv', import.meta.url);
/** By way of which contracts bundlers and relayers have others' calls made. */
const RELAYS = new URL('../../../registry/relays.csv', import.meta.url);
const PERMIT2 = new URL('../../../registry/permit2.csv', import.meta.url);
const TOKEN_LIMITS: RpcLimits = {
  ...STATE_LIMITS,
  deadlineMs: 3_000,
  batchMax: 16,
  attemptsMax: 2,
};
const FACT_CALLS_MAX = 12;

type Rested = OpenedRests<{ history: typeof history }>;

export const forensics = feature({
  name: 'forensics',
  rests: { history },
  open: ({ config, warehouse, outside, providers }: Base, { history: { explorers } }: Rested) => {
    const { simulate: simulated, liveBudgetMs: timeMs } = config;
    const watched = {
      ...providers,
      ports: ['chain_facts', 'issuer_freezes', 'token_approvals'],
    };
    const clients = evmClients(outside, STATE_LIMITS, watched);
    const nodes = [...clients.byChain].map(([chain, rpc]) => ({ chain, rpc }));
    const permit2 = permit2File(PERMIT2);
    const limits = { now: nowS, timeMs, callsMax: FACT_CALLS_MAX, simulated };
    const batched = evmClients(outside, TOKEN_LIMITS, watched);
    const ofTokens = { nodes: batched.byChain, simulated, now: nowS };
    const holding = liveHolding(config);
    const facts = cascadedFacts([
      nodeFacts({ nodes, simulated, now: nowS }),
      warehouseFacts(warehouse, nowS),
      explorerFacts({ chains: explorers, ...limits, relays: relaysFile(RELAYS) }),
    ]);
    const freezes = nodeFreezes({ ...ofTokens, tokens: freezingTokensFile(ISSUERS) });
    const approvals = cascadedApprovals(
      nodeApprovals({ ...ofTokens, permit2 }),
      explorerApprovals({ chains: explorers, ...limits, permit2 }),
    );
    return {
      ports: {
        chainFacts: heldFacts(facts, holding),
        mixerRegistry: mixerRegistryFile(MIXERS),
        issuerFreezes: heldFreezes(freezes, holding),
        tokenApprovals: heldApprovals(approvals, holding),
      },
      services: {},
      close: () => {
        clients.close();
        batched.close();
      },
    };
  },
  routes: [serveRoute(walletScore, walletScoreHandler)],
  ports: {
    chainFacts: {
      tag: 'chain_facts',
      title: 'Chain facts',
      says: 'What a chain itself says of one address',
      pages: false,
      freshness: {
        kind: 'per_answer',
        absence: ({ rpc, blockscout, explorer }) => {
          const urls = [...Object.values(rpc), ...Object.values(blockscout), explorer];
          return urls.some((url) => url !== null) ? null : 'No node and no explorer is set.';
        },
      },
    },
    issuerFreezes: {
      tag: 'issuer_freezes',
      title: 'Black lists of issuers',
      says: 'Whether an issuer holds tokens of one address frozen',
      pages: true,
      freshness: {
        kind: 'per_answer',
        absence: ({ rpc }) =>
          Object.values(rpc).some((url) => url !== null) ? null : 'No node is set.',
      },
    },
    tokenApprovals: {
      tag: 'token_approvals',
      title: 'Token approvals',
      says: 'Who may take tokens of one address',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'chain_facts' },
    },
    mixerRegistry: {
      tag: 'mixer_registry',
      title: 'Mixer registry',
      says: 'Which contracts are known mixers',
      pages: false,
      freshness: {
        kind: 'dated',
        ask: async (registry) => map(await registry.lookUp([]), () => null),
        maxAgeS: () => null,
      },
    },
  },
});
