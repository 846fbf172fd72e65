// Selects the facts of a live read that may be stored: only final ones, since a provider lists the
// newest blocks too, which may still be undone. So its result is stored up to some blocks below its
// head, and the held range ends there.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { type Partly, Read, Unread, unread } from '../../evidence/reading.ts';
import { type ReasonCode, type Why, why } from '../../evidence/reasons.ts';
import {
  type ChainFacts,
  type ChainFactsPort,
  type FactName,
  type FactReadings,
  factUnread,
  type IssuerFreezes,
  noFacts,
  type SetBy,
  type TokenApprovals,
} from '../../ports/accounts.ts';
import {
  type CounterpartyRing,
  type CoverageRange,
  type HistoryTransfer,
  type Neighbourhood,
  type TransferHistory,
  UNPRICED,
} from '../../ports/history.ts';
import type { AddressRange, LiveHistory, TokenFact, TransferFact } from '../../ports/indexing.ts';

type LiveOrigin = Pick<AddressRange, 'source' | 'origin' | 'read_at'>;

/**
 * How many blocks below its head a chain is taken as final here, and the most seconds that they
 * span: what is held must not look newer than it is.
 */
const FINAL: Readonly<Record<ChainName, { readonly blocks: number; readonly spanS: number }>> = {
  ethereum: { blocks: 64, spanS: 1_000 },
  arbitrum: { blocks: 1_200, spanS: 1_200 },
  base: { blocks: 150, spanS: 400 },
  bsc: { blocks: 60, spanS: 400 },
  polygon: { blocks: 256, spanS: 1_000 },
  hyperevm: { blocks: 120, spanS: 400 },
  solana: { blocks: 150, spanS: 200 },
  bitcoin: { blocks: 6, spanS: 14_400 },
};

/** The facts of a neighbourhood that was read to its end. */
export function liveFacts(known: Neighbourhood, origin: LiveOrigin): LiveHistory {
  const heads = new Map<string, CoverageRange>();
  for (const range of known.coverage) {
    const before = heads.get(kindKey(range));
    if (before === undefined || range.to_block > before.to_block) heads.set(kindKey(range), range);
  }
  const told = known.counterparties.flatMap(({ transfers }) => transfers);
  const kept = told.filter((one) => {
    const head = heads.get(kindKey(one));
    return head !== undefined && one.block <= lastFinal(head) && isNamed(one);
  });
  const { address } = known;
  return {
    transfers: kept.map(factOf),
    ranges: known.coverage.flatMap((range) => {
      const head = heads.get(kindKey(range));
      const final = head === undefined ? range : upToFinal(range, head);
      if (final.to_block < final.from_block) return [];
      return [{ ...final, ...origin, address, truncated: false }];
    }),
    tokens: tokensIn(kept, origin.read_at),
  };
}

function kindKey({ chain, kind }: Pick<CoverageRange, 'chain' | 'kind'>): string {
  return `${chain} ${kind}`;
}

function lastFinal({ chain, to_block }: CoverageRange): number {
  return to_block - FINAL[chain].blocks;
}

function upToFinal(range: CoverageRange, head: CoverageRange): CoverageRange {
  const to_block = lastFinal(head);
  if (range.to_block <= to_block) return range;
  const to_time = Math.min(range.to_time, head.to_time - FINAL[head.chain].spanS);
  return { ...range, to_block, to_time };
}

/**
 * Whether its transaction is told. What a chain gives by itself is named by its block, and a
 * provider leaves out the index in it; it comes from nobody, so no walk misses it.
 */
export function isNamed({ kind, from }: HistoryTransfer): boolean {
  return kind === 'token' || !isSystemAddress(from);
}

/** A transfer as it is written. */
export function factOf(one: HistoryTransfer): TransferFact {
  const { chain, kind, tx, block, at, from, to, token, raw_amount, token_id, initiator, success } =
    one;
  return {
    chain,
    kind,
    block,
    from,
    to,
    token,
    raw_amount: token_id === undefined ? raw_amount : token_id,
    initiator,
    success,
    tx_hash: tx,
    block_hash: null,
    position: null,
    block_time: at,
  };
}

export function tokensIn(transfers: readonly HistoryTransfer[], read_at: number): TokenFact[] {
  const tokens = new Map<string, TokenFact>();
  for (const { chain, token, symbol, decimals, has_market } of transfers) {
    if (token === null || (symbol === null && decimals === null && has_market === null)) continue;
    tokens.set(`${chain} ${token}`, { chain, token, symbol, decimals, has_market, read_at });
  }
  return [...tokens.values()];
}

// Reads each fact of an address from the node, the warehouse or the explorer, in turn. Each is
// queried only for facts that those before it lack; a fact that none has is unread, with the fault
// of one that should have had it.

/** Reasons that say what a source is for, and not that it failed. */
const NO_FAULT: readonly ReasonCode[] = [
  'fact_not_told',
  'not_wanted',
  'not_configured',
  'creation_not_found',
];

/** Sources of chain facts, the ones that are cheapest to ask first. */
export function cascadedFacts(sources: readonly ChainFacts[]): ChainFacts {
  return {
    stateChains: [...new Set(sources.flatMap(({ stateChains }) => stateChains))],
    setBy: async (chain, ...asked) => {
      let told: Partly<SetBy | null, ChainFactsPort> = factUnread(
        why('not_configured', { what: `A source of facts of ${chain}` }),
      );
      for (const source of sources) {
        if (!(told instanceof Unread)) break;
        told = better(told, await source.setBy(chain, ...asked));
      }
      return told;
    },
    of: async (chain, address, wanted, signal) => {
      let facts = noFacts(why('not_configured', { what: `A source of facts of ${chain}` }));
      let missing: readonly FactName[] = wanted;
      for (const source of sources) {
        if (missing.length === 0) break;
        const told = await source.of(chain, address, missing, signal);
        facts = together(facts, told);
        const after: FactReadings = facts;
        missing = missing.filter((fact) => isOpen(after[fact]));
      }
      return facts;
    },
  };
}

/** Whether another source may tell more: of who signed a creation perhaps for whom. */
function isOpen(told: Partly<unknown, ChainFactsPort>): boolean {
  if (told instanceof Unread) return true;
  return !(told instanceof Read) && told.why.code === 'creation_relay_unread';
}

function together(before: FactReadings, told: FactReadings): FactReadings {
  return {
    code: better(before.code, told.code),
    nonce: better(before.nonce, told.nonce),
    balance_wei: better(before.balance_wei, told.balance_wei),
    verified_name: better(before.verified_name, told.verified_name),
    creation: better(before.creation, told.creation),
    is_token: better(before.is_token, told.is_token),
    authority: better(before.authority, told.authority),
  };
}

/** The first answer; without one, a fault outweighs a source that does not apply. */
function better<T>(
  held: Partly<T, ChainFactsPort>,
  fresh: Partly<T, ChainFactsPort>,
): Partly<T, ChainFactsPort> {
  if (!isOpen(held)) return held;
  if (!(fresh instanceof Unread)) return fresh;
  if (!(held instanceof Unread)) return held;
  const wasFault = !NO_FAULT.includes(held.why.code);
  return wasFault || NO_OPINION.includes(fresh.why.code) ? held : fresh;
}

/** Reasons of a source that was not asked, or that this fact is none of its own. */
const NO_OPINION: readonly ReasonCode[] = ['not_wanted', 'not_configured', 'fact_not_told'];

// Reads approvals from a node, or from an explorer. The first answer counts; without one, the fault
// of a source that should have answered is reported.

/** Sources of approvals, the one that is cheapest to ask first. */
export function cascadedApprovals(first: TokenApprovals, second: TokenApprovals): TokenApprovals {
  return {
    chains: [...new Set([...first.chains, ...second.chains])],
    given: (chain, owner, signal) =>
      firstOf(
        () => first.given(chain, owner, signal),
        () => second.given(chain, owner, signal),
      ),
    left: (approval, owner, signal) =>
      firstOf(
        () => first.left(approval, owner, signal),
        () => second.left(approval, owner, signal),
      ),
  };
}

async function firstOf<R extends object>(
  first: () => Promise<R>,
  second: () => Promise<R>,
): Promise<R> {
  const told = await first();
  if (!(told instanceof Unread)) return told;
  const other = await second();
  const isNobody = other instanceof Unread && other.why.code === 'not_configured';
  return isNobody ? told : other;
}

// The reading of a source that must not be queried: unread, with the reason.

/** The ports whose readings may cost a provider's call, each of them silent for one reason. */
export type UnaskedPorts = {
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
  readonly chainFacts: ChainFacts;
  readonly issuerFreezes: IssuerFreezes;
  readonly tokenApprovals: TokenApprovals;
};

/** Asks neither a store nor a provider. */
export function unaskedPorts(why: Why): UnaskedPorts {
  const history = unread('transfer_history', why);
  const approvals = unread('token_approvals', why);
  return {
    transferHistory: {
      worths: UNPRICED,
      chainsRead: async () => history,
      neighbourhoods: async (addresses) => new Map(addresses.map((one) => [one, history])),
    },
    counterpartyRing: { meet: async () => unread('counterparty_ring', why) },
    chainFacts: {
      stateChains: [],
      of: async () => noFacts(why),
      setBy: async () => unread('chain_facts', why),
    },
    issuerFreezes: { chains: [], of: async () => unread('issuer_freezes', why) },
    tokenApprovals: { chains: [], given: async () => approvals, left: async () => approvals },
  };
}
