// Ports whose readings cost a provider's call, with equal readings shared and held for a while.
// What a port holds in a store of its own is not held here a second time.

import { unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type ChainFacts,
  type FactName,
  type FactReadings,
  factUnread,
  type IssuerFreezes,
  readFacts,
  type TokenApprovals,
} from '../../ports/accounts.ts';
import type { BridgeArrivals, TransactionReceipts } from '../../ports/bridges.ts';
import type { Prices } from '../../ports/history.ts';
import { heldMethod, type PortHolding } from '../../sources/http/held-readings.ts';

type FactAsk = Parameters<ChainFacts['of']>;
type SetByAsk = Parameters<ChainFacts['setBy']>;

/** Each fact of an address is held by itself. */
export function heldFacts(facts: ChainFacts, holding: PortHolding): ChainFacts {
  const heldFact = <F extends FactName>(fact: F) =>
    heldMethod<readonly [FactAsk[0], string], FactReadings[F]>(
      holding,
      async ([chain, address], signal) => (await facts.of(chain, address, [fact], signal))[fact],
      factUnread,
    );
  const readers = {
    code: heldFact('code'),
    nonce: heldFact('nonce'),
    balance_wei: heldFact('balance_wei'),
    verified_name: heldFact('verified_name'),
    creation: heldFact('creation'),
    is_token: heldFact('is_token'),
    authority: heldFact('authority'),
  };
  const setBy = heldMethod(
    holding,
    ([chain, account, named]: readonly [SetByAsk[0], string, SetByAsk[2]], signal) =>
      facts.setBy(chain, account, named, signal),
    factUnread,
  );
  return {
    stateChains: facts.stateChains,
    setBy: (chain, account, named, signal) => setBy([chain, account, named], signal),
    of: (chain, address, wanted, signal) => {
      const asked = [chain, address] as const;
      return readFacts(
        {
          code: () => readers.code(asked, signal),
          nonce: () => readers.nonce(asked, signal),
          balance_wei: () => readers.balance_wei(asked, signal),
          verified_name: () => readers.verified_name(asked, signal),
          creation: () => readers.creation(asked, signal),
          is_token: () => readers.is_token(asked, signal),
          authority: () => readers.authority(asked, signal),
        },
        wanted,
        chain,
      );
    },
  };
}

type OwnerAsk = readonly [Parameters<TokenApprovals['given']>[0], string];
type LeftAsk = readonly [Parameters<TokenApprovals['left']>[0], string];

export function heldApprovals(approvals: TokenApprovals, holding: PortHolding): TokenApprovals {
  const silent = (reason: Why) => unread('token_approvals' as const, reason);
  const given = heldMethod(
    holding,
    ([chain, owner]: OwnerAsk, signal) => approvals.given(chain, owner, signal),
    silent,
  );
  const left = heldMethod(
    holding,
    ([approval, owner]: LeftAsk, signal) => approvals.left(approval, owner, signal),
    silent,
  );
  return {
    chains: approvals.chains,
    given: (chain, owner, signal) => given([chain, owner], signal),
    left: ({ chain, way, token, spender }, owner, signal) =>
      left([{ chain, way, token, spender }, owner], signal),
  };
}

export function heldFreezes(freezes: IssuerFreezes, holding: PortHolding): IssuerFreezes {
  const of = heldMethod(
    holding,
    ([chain, address]: OwnerAsk, signal) => freezes.of(chain, address, signal),
    (reason) => unread('issuer_freezes' as const, reason),
  );
  return {
    chains: freezes.chains,
    of: (chain, address, signal) => of([chain, address], signal),
  };
}

type PriceAsks = readonly [Parameters<Prices['historical']>[0]];
type CoinAsks = readonly [Parameters<Prices['markets']>[0]];

export function heldPrices(prices: Prices, holding: PortHolding): Prices {
  const silent = (reason: Why) => unread('prices' as const, reason);
  const historical = heldMethod(
    holding,
    ([asks]: PriceAsks, signal) => prices.historical(asks, signal),
    silent,
  );
  const markets = heldMethod(
    holding,
    ([coins]: CoinAsks, signal) => prices.markets(coins, signal),
    silent,
  );
  return {
    historical: (asks, signal) => historical([asks], signal),
    markets: (coins, signal) => markets([coins], signal),
  };
}

type HashAsks = readonly [Parameters<TransactionReceipts['lookUp']>[0], readonly string[]];

export function heldReceipts(
  receipts: TransactionReceipts,
  holding: PortHolding,
): TransactionReceipts {
  const lookUp = heldMethod(
    holding,
    ([chain, hashes]: HashAsks, signal) => receipts.lookUp(chain, hashes, signal),
    (reason, [, hashes]) => {
      const silent = unread('transaction_receipts' as const, reason);
      return new Map(hashes.map((hash) => [hash, silent]));
    },
  );
  return { lookUp: (chain, hashes, signal) => lookUp([chain, hashes], signal) };
}

type LiveArrivals = Pick<BridgeArrivals, 'lookUp' | 'timeOf' | 'statusOf' | 'pageOf'>;
type BlockAsk = readonly [Parameters<BridgeArrivals['timeOf']>[0], number];

export function heldArrivals(arrivals: LiveArrivals, holding: PortHolding): LiveArrivals {
  const silent = (reason: Why) => unread('bridge_arrivals' as const, reason);
  const lookUp = heldMethod(
    holding,
    ([asked]: readonly [Parameters<BridgeArrivals['lookUp']>[0]], signal) =>
      arrivals.lookUp(asked, signal),
    silent,
  );
  const timeOf = heldMethod(
    holding,
    ([chain, block]: BlockAsk, signal) => arrivals.timeOf(chain, block, signal),
    silent,
  );
  const statusOf = heldMethod(
    holding,
    ([asked]: readonly [Parameters<BridgeArrivals['statusOf']>[0]], signal) =>
      arrivals.statusOf(asked, signal),
    silent,
  );
  return {
    pageOf: arrivals.pageOf,
    lookUp: (asked, signal) => lookUp([asked], signal),
    timeOf: (chain, block, signal) => timeOf([chain, block], signal),
    statusOf: (asked, signal) => statusOf([asked], signal),
  };
}
