// Deployer records: the outcomes of the launches of an address, as walks committed them.

import { nowS, pause } from '../../compose/clock.ts';
import {
  type DeployerPagePorts,
  deployerShown,
  type TokenPagePorts,
  tokenShown,
} from '../../compose/deployer-pages.ts';
import { evmClients } from '../../compose/evm-clients.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { Refusal } from '../../contract/refusals.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import { DEPLOYER_CHAIN, type WalkSources } from '../../ports/deployers.ts';
import type { Prices } from '../../ports/history.ts';
import { dexscreenerVenue } from '../../sources/dexscreener/venue.ts';
import { ETHEREUM_EXCHANGES, nodePairCreations } from '../../sources/evm/pair-creations.ts';
import {
  contractKinds,
  explorerCreations,
  explorerTokenTransfers,
} from '../../sources/explorer/deployer-creations.ts';
import type { ExplorerChain } from '../../sources/explorer/envelope.ts';
import { explorerLaunchPools, UNISWAP_V2 } from '../../sources/explorer/launch-pools.ts';
import type { JsonRpc, RpcLimits } from '../../sources/http/json-rpc.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { providerGuard } from '../../sources/http/provider.ts';
import { UNWATCHED } from '../../sources/http/provider-watch.ts';
import { launchpadRegistry, relaysFile } from '../../sources/registry/registry-files.ts';
import { deployerRecordTable, deployerWalkTable } from '../../stores/control/deployers.ts';
import { history } from '../history/feature.ts';
import {
  type DeployerPorts,
  deployerHtml,
  deployerPage,
  deployerRecord,
  deployerRecordHandler,
} from './deployer-record.route.tsx';

import {
  type CreatorPorts,
  tokenCreator,
  tokenCreatorHandler,
  tokenHtml,
  tokenPage,
} from './token.route.tsx';

import { deployersWalk } from './walk.command.ts';
import { walker, walkQueue, walksNotConfigured } from './walks.job.ts';

const LAUNCHPADS = new URL('../../../registry/launchpads.csv', import.meta.url);
const RELAYS = new URL('../../../registry/relays.csv', import.meta.url);
/** Contracts of one deployer that are examined, and how many at once. */
const WALK_LIMITS = { contractsMax: 500, askedMax: 1_000, atOnce: 4, launchedWithMax: 100 };
/** The limits of one request of a walk: a list of an explorer has many pages. */
const QUESTION = { timeMs: 120_000, callsMax: 400 };
/** Calls a second by the venue's published plan: 300 a minute. */
const VENUE_CALLS_PER_S = 5;
const VENUE_GUARD = { retriesMax: 2, backoffMs: 1_000, failuresMax: 10, restMs: 30_000 };
const QUEUE_POLL_MS = 2_000;
/** A walk waits for a node's state no longer than this. */
const STATE_LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 4 * 1024 * 1024,
  batchMax: 1,
  waitMaxMs: 5_000,
  attemptsMax: 3,
};

type Rested = OpenedRests<{ history: typeof history }>;

export const deployers = feature({
  name: 'deployers',
  heading: 'Deployers',
  rests: { history },
  open: (base: Base, { history: { explorers, prices } }: Rested) => {
    const { config, database, context, log, outside, providers } = base;
    const nodes = evmClients(outside, STATE_LIMITS, { ...providers, ports: ['deployer_records'] });
    const at = explorers.find(({ chain }) => chain === DEPLOYER_CHAIN);
    const node = nodes.byChain.get(DEPLOYER_CHAIN);
    const rpc = node === undefined ? null : node;
    const sources = at === undefined ? null : sourcesOf(base, at, rpc, prices);
    const walks = deployerWalkTable(database, context);
    const limits = { ...WALK_LIMITS, exitLiquidityUsd: config.exitLiquidityUsd };
    const walk = walker({ sources, walks, limits, now: nowS });
    const unwalked = sources === null ? walksNotConfigured().reason : null;
    const queue = {
      walks,
      walk,
      pollMs: QUEUE_POLL_MS,
      sleep: pause,
      onFailure: (address: string | null, { code, reason }: { code: string; reason: string }) =>
        log.warn({ address, code, reason }, 'deployer: not walked'),
      onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'deployer: the walk failed'),
    };
    return {
      ports: { deployerRecords: deployerRecordTable(database, context, unwalked) },
      services: { deployers: { walk } },
      jobs:
        sources === null
          ? []
          : [{ name: 'deployers', start: (watch: WatchRun) => walkQueue({ ...queue, watch }) }],
      close: nodes.close,
    };
  },
  routes: [
    serveRoute(deployerRecord, (given: DeployerPorts) => deployerRecordHandler(given)),
    serveRoute(tokenCreator, (given: CreatorPorts) => tokenCreatorHandler(given)),
  ],
  ports: {
    deployerRecords: {
      tag: 'deployer_records',
      title: 'Deployer records',
      says: 'What became of the tokens that an address launched',
      pages: false,
      freshness: {
        kind: 'per_answer',
        absence: ({ explorer, blockscout }) =>
          explorer === null && blockscout.ethereum === null
            ? 'No explorer is set: nobody is walked.'
            : null,
      },
    },
  },
  pages: [
    servePage(deployerPage, null, (given: DeployerPagePorts, facts) => {
      const ask = deployerShown(given);
      return async ({ params }, asked, caller) => {
        const said = await ask(params, asked, caller);
        if (said instanceof Refusal) return said;
        const html = deployerHtml(facts, params.chain, params.address, said.shown);
        return deployerPage.reply(said.status, html);
      };
    }),
    servePage(tokenPage, null, (given: TokenPagePorts, facts) => {
      const ask = tokenShown(given);
      return async ({ params }, asked, caller) => {
        const said = await ask(params, asked, caller);
        if (said instanceof Refusal) return said;
        return tokenPage.reply(said.status, tokenHtml(facts, params, said.shown, asked.now()));
      };
    }),
  ],
  commands: [deployersWalk],
  optional: [
    {
      name: 'venue',
      setting: 'EXHIBIT_VENUE_URL',
      isSet: ({ venueUrl }) => venueUrl !== null,
      without: 'no launch is checked at a venue: each is unchecked, and in no rate',
    },
  ],
});

function sourcesOf(
  { config, outside, providers }: Base,
  at: ExplorerChain,
  node: JsonRpc | null,
  prices: Prices,
): WalkSources {
  const { simulate: simulated } = config;
  const explorer = { at, now: nowS, ...QUESTION, simulated };
  const { venue, callsPerS } = outside;
  const rate = callsPerS === null ? VENUE_CALLS_PER_S : callsPerS;
  const url = venue === null ? null : new URL(venue);
  const onCallEnd =
    url === null
      ? UNWATCHED
      : providers.watch({
          name: 'Venue',
          url: originText(url),
          ports: ['deployer_records'],
          carries: null,
        });
  const limits = { ...VENUE_GUARD, callsPerS: rate };
  const guard = providerGuard(limits, () => performance.now(), onCallEnd);
  const listing = { guard, chain: DEPLOYER_CHAIN, now: nowS, ...QUESTION, simulated } as const;
  return {
    creations: explorerCreations(explorer, relaysFile(RELAYS)),
    kinds: contractKinds(explorer, node),
    transfers: explorerTokenTransfers(explorer),
    venue: dexscreenerVenue(url === null ? null : { url, ...listing }),
    pairs:
      node === null
        ? null
        : nodePairCreations({ rpc: node, exchanges: ETHEREUM_EXCHANGES, now: nowS, simulated }),
    launchpads: launchpadRegistry(LAUNCHPADS),
    launchPools: explorerLaunchPools(explorer, UNISWAP_V2),
    prices,
  };
}
