// Evidence about a target: collected over the ports of other features, and judged by the rules.

import type { EvmChainName } from '../../chain/chain.ts';
import { nowS } from '../../compose/clock.ts';
import { type Base, feature, liveHolding, type OpenedRests } from '../../compose/feature.ts';
import { map, Read } from '../../evidence/reading.ts';
import type { Venue } from '../../ports/deployers.ts';
import type { TokenHolders } from '../../ports/token-holders.ts';
import type { VerdictAnalyst } from '../../ports/verdicts.ts';
import { languageModel } from '../../sources/analyst/language-model.ts';
import { dexscreenerListings, dexscreenerVenue } from '../../sources/dexscreener/venue.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { type GuardLimits, providerGuard } from '../../sources/http/provider.ts';
import { verdictRulesFile } from '../../sources/registry/verdict-rules.ts';
import { solanaTokenHolders } from '../../sources/solana/token-holders.ts';
import { daySpendingTable } from '../../stores/control/day-spending.ts';
import { bridges } from '../bridges/feature.ts';
import { deployers } from '../deployers/feature.ts';
import { entities } from '../entities/feature.ts';
import { forensics } from '../forensics/feature.ts';
import { history } from '../history/feature.ts';
import { launches } from '../launches/feature.ts';
import { rugModelFeature } from '../rug-model/feature.ts';
import { rugs } from '../rugs/feature.ts';
import { sanctions } from '../sanctions/feature.ts';
import { tables } from '../tables/feature.ts';
import { collectBundle, parseTarget } from './collect.ts';
import type { CollectorPorts } from './collector.ts';
import { type EvidenceServices, evidenceShow } from './evidence.command.ts';
import { judge } from './judge.ts';

const RULES = new URL('../../../registry/verdict-rules.csv', import.meta.url);
/** Calls a second by the venue's published plan: 300 a minute. */
const VENUE_CALLS_PER_S = 5;
const VENUE_GUARD = { retriesMax: 1, backoffMs: 1_000, failuresMax: 10, restMs: 30_000 };
const VENUE_QUESTION = { timeMs: 15_000, callsMax: 4 };
/** The public node of Solana takes four calls of one method in a second. */
const NODE_CALLS_PER_S = 4;
const NODE_GUARD = { retriesMax: 1, backoffMs: 500, failuresMax: 10, restMs: 30_000 };
/** A question to a language model is paid for, so it is asked once. */
const ANALYST_GUARD: GuardLimits = {
  callsPerS: 1,
  retriesMax: 0,
  backoffMs: 1_000,
  failuresMax: 3,
  restMs: 300_000,
};

const RESTS = {
  tables,
  sanctions,
  history,
  bridges,
  forensics,
  entities,
  deployers,
  launches,
  rugModel: rugModelFeature,
  rugs,
} as const;

type Rested = OpenedRests<typeof RESTS>;

export const collectors = feature({
  name: 'collectors',
  heading: 'Evidence',
  rests: RESTS,
  open: (base: Base, rests: Rested) => {
    const ports = portsOf(base, rests);
    const rules = verdictRulesFile(RULES);
    const analyst = analystFrom(base);
    const evidence: EvidenceServices['evidence'] = {
      parse: parseTarget,
      collect: (target, now, signal) => collectBundle(ports, target, now, signal),
      judge: async (bundle, signal) => {
        const table = await rules();
        if (!(table instanceof Read)) return table;
        const asked = analyst === null ? undefined : { analyst, signal };
        const judgement = await judge(bundle, table.value, asked);
        return map(table, () => judgement);
      },
      rulesVersion: async () => map(await rules(), ({ version }) => version),
      now: nowS,
      timeMs: base.config.liveBudgetMs,
    };
    return { ports: {}, services: { evidence } };
  },
  ports: {},
  commands: [evidenceShow],
  optional: [
    {
      name: 'A language model',
      setting: 'EXHIBIT_ANALYST_URL',
      isSet: ({ analyst }) => analyst.kind === 'set',
      without: 'verdicts are worded by the rules',
    },
  ],
});

function portsOf(base: Base, rests: Rested): CollectorPorts {
  const { chainFacts, issuerFreezes } = rests.forensics.ports;
  const { bridgeRegistry, transactionReceipts } = rests.bridges.ports;
  const { exchangeLabels, flaggedAddresses } = rests.tables.ports;
  const { rugFlags, launchWatch } = rests.rugs.ports;
  return {
    simulated: base.config.simulate,
    sanctionsList: rests.sanctions.ports.sanctionsList,
    exchangeLabels,
    flaggedAddresses,
    deployerRecords: rests.deployers.ports.deployerRecords,
    walletLaunches: rests.launches.ports.walletLaunches,
    chainFacts,
    issuerFreezes,
    tokenHolders: tokenHoldersOf(base),
    ...venuesOf(base),
    bridgeRegistry,
    transactionReceipts,
    transferHistory: rests.history.ports.transferHistory,
    entityClusters: rests.entities.ports.entityClusters,
    rugFlags,
    launchWatch,
    modelInForce: rests.rugModel.services.model.published.inForce,
  };
}

function tokenHoldersOf({ config, outside, providers }: Base): TokenHolders {
  const { solanaLaunches: solana, callsPerS } = outside;
  if (solana === null) return solanaTokenHolders(null);
  const url = new URL(solana);
  const onCallEnd = providers.watch({
    name: 'Node of solana',
    url: originText(url),
    ports: [],
    carries: 'evidence of signals',
  });
  const rate = callsPerS === null ? NODE_CALLS_PER_S : callsPerS;
  const guard = providerGuard(
    { ...NODE_GUARD, callsPerS: rate },
    () => performance.now(),
    onCallEnd,
  );
  const { simulate: simulated } = config;
  return solanaTokenHolders({ url, guard, now: nowS, simulated, ...liveHolding(config) });
}

/** The venue by chain; of one that is not set nothing is checked. */
function venuesOf({
  config,
  outside,
  providers,
}: Base): Pick<CollectorPorts, 'venueOn' | 'launchListings'> {
  const { venue, callsPerS } = outside;
  if (venue === null) {
    const unset = dexscreenerVenue(null);
    return { venueOn: () => unset, launchListings: dexscreenerListings(null) };
  }
  const url = new URL(venue);
  const onCallEnd = providers.watch({
    name: 'Venue',
    url: originText(url),
    ports: [],
    carries: 'evidence of signals',
  });
  const rate = callsPerS === null ? VENUE_CALLS_PER_S : callsPerS;
  const limits = { ...VENUE_GUARD, callsPerS: rate };
  const guard = providerGuard(limits, () => performance.now(), onCallEnd);
  const { simulate: simulated, exitLiquidityUsd } = config;
  const terms = { url, guard, now: nowS, ...VENUE_QUESTION, simulated };
  return {
    venueOn: (chain: EvmChainName): Venue => dexscreenerVenue({ ...terms, chain }),
    launchListings: dexscreenerListings({ ...terms, chain: 'solana', exitLiquidityUsd }),
  };
}

function analystFrom({
  config,
  outside,
  providers,
  database,
  context,
}: Base): VerdictAnalyst | null {
  const { analyst } = outside;
  if (analyst === null) return null;
  const url = new URL(analyst.url);
  const onCallEnd = providers.watch({
    name: 'Language model',
    url: originText(url),
    ports: [],
    carries: 'the words of verdicts',
  });
  const { key, model, price, usdADayMax } = analyst;
  return languageModel({
    url,
    key,
    model,
    price,
    usdADayMax,
    spending: daySpendingTable(database, context),
    guard: providerGuard(ANALYST_GUARD, () => performance.now(), onCallEnd),
    now: nowS,
    simulated: config.simulate,
  });
}
