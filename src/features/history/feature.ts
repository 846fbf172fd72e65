// Transfer history: the warehouse first, then a live read inside its budget; where neither is, it
// is silent.

import { type ChainName, EVM_CHAINS } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS } from '../../compose/clock.ts';
import { type Base, feature, liveHolding, routeOrigin } from '../../compose/feature.ts';
import type { Outside } from '../../compose/outside.ts';
import { present } from '../../evidence/measure.ts';
import { both, map, Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RawHistory, TransferHistory } from '../../ports/history.ts';
import type { OnCallEnd, ProviderFacts } from '../../ports/providers.ts';
import {
  blockscoutChain,
  type ExplorerChain,
  etherscanChain,
} from '../../sources/explorer/envelope.ts';
import { explorerHistory, liveHistory } from '../../sources/explorer/history.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { type ProviderGuard, providerGuard } from '../../sources/http/provider.ts';
import { defillamaPrices } from '../../sources/prices/defillama.ts';
import { marketHistory, valuedHistory, worthsBy } from '../../sources/prices/priced-history.ts';
import { solanaHistory } from '../../sources/solana/history.ts';
import { cascadedHistory } from '../../stores/history/cascade.ts';
import { coveredHistory, coveredRing } from '../../stores/history/covered.ts';
import { heldPrices } from '../../stores/history/held-ports.ts';
import { tablePrices } from '../../stores/history/table-prices.ts';
import { warehouseHistory, warehouseReads } from '../../stores/warehouse/history/warehouse.ts';
import { warehousePrices } from '../../stores/warehouse/prices.ts';
import { warehouseRing } from '../../stores/warehouse/ring/ring.ts';
import { transferStore } from '../../stores/warehouse/transfers/store.ts';

/** Calls that one request may make outside while it reads history live. */
const LIVE_CALLS_MAX = 120;
const PRICE_CALLS_MAX = 8;
/** Calls a second by the providers' published plans (free ones). */
const PLAN_CALLS_PER_S = { etherscan: 3, blockscout: 5, solana: 4, prices: 8 };
const GUARD = { retriesMax: 2, backoffMs: 1_000, failuresMax: 5, restMs: 30_000 };

/** `chainsHeld`: of which anything is held; absent: nothing is read live beside it. */
type KnownHistory = TransferHistory & { readonly chainsHeld?: RawHistory['chainsRead'] };

export const history = feature({
  name: 'history',
  open: ({ config, warehouse, outside, log, providers }: Base) => {
    const store = transferStore(warehouse, nowS);
    const reads = warehouseReads(warehouse, nowS);
    const held = warehouseHistory(warehouse, nowS, config.simulate, reads);
    const ring = warehouseRing(warehouse, reads, { now: nowS, simulated: config.simulate });
    const explorers = explorersOf(outside, providers);

    const limits = {
      now: nowS,
      timeMs: config.liveBudgetMs,
      callsMax: LIVE_CALLS_MAX,
      simulated: config.simulate,
    };
    const holding = liveHolding(config);
    const { solana: node } = outside;
    const evm =
      explorers.length === 0 ? null : explorerHistory({ chains: explorers, ...limits, ...holding });
    const solana =
      node === null
        ? null
        : solanaHistory({
            url: new URL(node),
            guard: guardOf(outside, 'solana', providers.watch(solanaFacts(node))),
            ...limits,
            ...holding,
          });
    const live: RawHistory | null =
      evm === null && solana === null ? null : liveHistory({ evm, solana });
    const prices = tablePrices({
      table: warehousePrices(warehouse, nowS, config.simulate),
      source:
        outside.prices === null
          ? null
          : heldPrices(
              defillamaPrices({
                ...limits,
                url: new URL(outside.prices),
                guard: guardOf(outside, 'prices', providers.watch(pricesFacts(outside.prices))),
                callsMax: PRICE_CALLS_MAX,
              }),
              holding,
            ),
      now: nowS,
      onUnkept: (reason: string) => log.warn({ reason }, 'prices: not kept'),
    });
    const tip = { now: nowS, tipMaxAgeS: config.tipMaxAgeMs / MS_PER_S };
    const known =
      live === null
        ? held
        : cascadedHistory({
            ...tip,
            held,
            store,
            live: marketHistory(live, prices),
            origin: routeOrigin(config),
            onUnkept: (reason) => log.warn({ reason }, 'live read: not kept'),
          });
    const raw = valuedHistory(known, prices);
    const transferHistory: KnownHistory = {
      ...coveredHistory(raw, tip, worthsBy(prices)),
      chainsHeld: held.chainsRead,
    };
    return {
      ports: {
        transferHistory,
        counterpartyRing: coveredRing(ring, tip),
      },
      services: {},
      store,
      ring,
      /** The explorers, each with the guard that all who ask it share. */
      explorers,
      prices,
    };
  },
  ports: {
    transferHistory: {
      tag: 'transfer_history',
      title: 'Transfer history',
      says: 'Whether history reaches a listed address',
      pages: true,
      freshness: {
        kind: 'read_anew',
        ask: async (known) => {
          const all = await known.chainsRead();
          const held = known.chainsHeld === undefined ? all : await known.chainsHeld();
          // Where no chain is held and nobody can be asked, there is no history.
          const isNone = all instanceof Read && all.value.length === 0;
          if (isNone) return unread('transfer_history', why('no_history'));
          return map(both({ all, held }), (chains) => historyText(chains));
        },
      },
    },
    counterpartyRing: {
      tag: 'counterparty_ring',
      title: 'Ring around the list',
      says: 'Whether an address dealt with a listed one',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'transfer_history' },
    },
  },
  optional: [
    {
      name: 'explorer',
      setting: 'EXHIBIT_EXPLORER_URL',
      isSet: ({ explorer }) => explorer.kind === 'set',
      without:
        'no live read: what the warehouse does not hold is unchecked, its routes not_deployed',
    },
    {
      name: 'Blockscout',
      setting: 'EXHIBIT_BLOCKSCOUT_<CHAIN>',
      isSet: ({ blockscout }) => Object.values(blockscout).some((url) => url !== null),
      without: 'no second source of live reads',
    },
    {
      name: 'Solana node',
      setting: 'EXHIBIT_RPC_SOLANA',
      isSet: ({ rpc }) => rpc.solana !== null,
      without:
        'no live read of Solana, no launches of it collected: a miss rests on what was imported',
    },
    {
      name: 'prices',
      setting: 'EXHIBIT_PRICES_URL',
      isSet: ({ pricesUrl }) => pricesUrl !== null,
      without: 'amounts in US dollars are null, and unpriced transfers are counted',
    },
  ],
});

type ChainsKnown = { readonly all: readonly ChainName[]; readonly held: readonly ChainName[] };

/** The chains that are held, and those that are read live only, in words. */
function historyText({ all, held }: ChainsKnown): string {
  const live = all.filter((chain) => !held.includes(chain)).join(', ');
  const own =
    held.length === 0 ? 'No transfers are held' : `Transfers are held of ${held.join(', ')}`;
  const asked = live === '' ? '' : `; each answer asks live for ${live}`;
  return `${own}${asked}. An answer has the time of what it read, and says what it could not read.`;
}

function guardOf(
  { callsPerS }: Outside,
  provider: keyof typeof PLAN_CALLS_PER_S,
  onCallEnd: OnCallEnd,
): ProviderGuard {
  const allowed = callsPerS === null ? PLAN_CALLS_PER_S[provider] : callsPerS;
  return providerGuard({ ...GUARD, callsPerS: allowed }, () => performance.now(), onCallEnd);
}

/** The ports of which an explorer reads the live part. */
const EXPLORER_PORTS = [
  'transfer_history',
  'counterparty_ring',
  'chain_facts',
  'token_approvals',
  'deployer_records',
];

function explorerFacts(name: string, url: string): ProviderFacts {
  return { name, url: originText(new URL(url)), ports: EXPLORER_PORTS, carries: null };
}

function solanaFacts(node: string): ProviderFacts {
  const url = originText(new URL(node));
  return { name: 'Node of solana', url, ports: ['transfer_history'], carries: null };
}

function pricesFacts(prices: string): ProviderFacts {
  const url = originText(new URL(prices));
  return { name: 'Prices', url, ports: [], carries: 'amounts in US dollars' };
}

function explorersOf(outside: Outside, { watch }: Base['providers']): ExplorerChain[] {
  const { explorer, blockscout } = outside;
  const etherscan =
    explorer === null
      ? null
      : guardOf(outside, 'etherscan', watch(explorerFacts('Explorer', explorer.url)));
  const chains = EVM_CHAINS.map((chain) => {
    const own = blockscout[chain];
    if (own !== null) {
      const onCallEnd = watch(explorerFacts(`Explorer of ${chain}`, own));
      const guard = guardOf(outside, 'blockscout', onCallEnd);
      return blockscoutChain(chain, { url: new URL(own), guard });
    }
    if (explorer === null || etherscan === null) return null;
    return etherscanChain(chain, { url: new URL(explorer.url), guard: etherscan }, explorer.key);
  });
  return present(chains);
}
