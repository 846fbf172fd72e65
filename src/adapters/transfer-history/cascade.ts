// Who answers for the history of an address: the warehouse, else a live read, else nobody?
// What the warehouse holds in full is its answer; else a provider is asked and both are joined.
// It refuses to let one silent source pass for a complete answer of the other.

import type { ChainName } from '../../chain/chain.ts';
import { collect } from '../../evidence/measure.ts';
import {
  all,
  basis,
  map,
  type Partly,
  Read,
  type Reading,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  Counterparty,
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/transfer-history.ts';
import type { AddressRange, TransferStore } from '../../ports/transfer-store.ts';

const PORT = 'transfer_history';
const KINDS = ['native', 'internal', 'token'] as const;

/** What is cascaded. `now` gives Unix seconds. */
export type CascadeOptions = {
  readonly held: TransferHistory;
  readonly live: TransferHistory;
  /** Where what was read live to its end is kept, so that the second call is the warehouse's. */
  readonly store: Pick<TransferStore, 'appendLive'>;
  readonly origin: 'observed' | 'simulated';
  readonly tipMaxAgeS: number;
  readonly now: () => number;
  /** Told where what was read could not be kept: the answer does not wait for it. */
  readonly onUnkept: (reason: string) => void;
};

type Answer = Partly<Neighbourhood, TransferHistoryPort>;

/** The warehouse, then a live read inside its budget. */
export function cascadedHistory(options: CascadeOptions): TransferHistory {
  const { held, live } = options;
  const chainsRead = async () => joinedChains(await held.chainsRead(), await live.chainsRead());
  return {
    chainsRead,
    neighbourhoods: async (addresses, limits) => {
      const chains = await chainsRead();
      const had = await held.neighbourhoods(addresses, limits);
      const wanting = addresses.filter((one) => !isWhole(had.get(one), chains, options));
      if (wanting.length === 0 || limits.signal.aborted) return had;
      const read = await live.neighbourhoods(wanting, limits);
      const answers = new Map(had);
      for (const address of wanting) {
        const fresh = read.get(address);
        if (fresh === undefined) continue;
        keep(fresh, limits, options);
        answers.set(address, joined(had.get(address), fresh));
      }
      return answers;
    },
  };
}

/** All chains that either reads. A source that is silent but for having nothing leaves it open. */
function joinedChains(
  held: Reading<readonly ChainName[], TransferHistoryPort>,
  live: Reading<readonly ChainName[], TransferHistoryPort>,
): Reading<readonly ChainName[], TransferHistoryPort> {
  if (held instanceof Unread) return hasNothing(held) ? live : held;
  if (live instanceof Unread) return hasNothing(live) ? held : live;
  return map(all([held, live]), (lists) => [...new Set(lists.flat())]);
}

function hasNothing({ why: { code } }: Unread<TransferHistoryPort>): boolean {
  return code === 'no_history';
}

/** Whether what is held of an address is read to its end, on every chain, to a fresh tip. */
function isWhole(
  reading: Answer | undefined,
  chains: Reading<readonly ChainName[], TransferHistoryPort>,
  { now, tipMaxAgeS }: CascadeOptions,
): boolean {
  if (!(reading instanceof Read) || !(chains instanceof Read)) return false;
  const { coverage } = reading.value;
  const fresh = (range: CoverageRange) => range.from_first && now() - range.to_time < tipMaxAgeS;
  return chains.value.every((chain) =>
    KINDS.every((kind) =>
      coverage.some((range) => range.chain === chain && range.kind === kind && fresh(range)),
    ),
  );
}

function joined(held: Answer | undefined, live: Answer): Answer {
  if (held === undefined || (held instanceof Unread && hasNothing(held))) return live;
  if (live instanceof Unread) {
    if (!(held instanceof Unread)) return weaken(held, live.why);
    const fault = `${held.why.reason} ${live.why.reason}`;
    const both = { what: 'Transfer history', fault: fault.replace(/\.$/, '') };
    return unread(PORT, why('store_unreadable', both));
  }
  if (held instanceof Unread) return weaken(live, held.why);
  return map(all([held, live]), ([warehouse, onchain]) => {
    if (warehouse === undefined || onchain === undefined) throw new Error('cascade: two readings');
    return together(warehouse, onchain);
  });
}

function together(held: Neighbourhood, live: Neighbourhood): Neighbourhood {
  const byPeer = new Map<string, Counterparty[]>();
  for (const one of [...held.counterparties, ...live.counterparties]) {
    collect(byPeer, one.address, one);
  }
  const counterparties = [...byPeer].map(([address, known]) => onePeer(address, known));
  return {
    address: held.address,
    degree: Math.max(held.degree, live.degree, counterparties.length),
    counterparties,
    coverage: [...held.coverage, ...live.coverage],
    provenance: 'onchain',
  };
}

// A transfer that both sources tell is one: they share no position, so the rest must do.
function onePeer(address: string, known: readonly Counterparty[]): Counterparty {
  const transfers = new Map<string, HistoryTransfer>();
  for (const one of known.flatMap((peer) => peer.transfers)) {
    const { chain, tx, kind, token, from, to, raw_amount } = one;
    transfers.set([chain, tx, kind, token, from, to, raw_amount].join(' '), one);
  }
  const counts = known.map(({ transfer_count }) => transfer_count);
  return {
    address,
    transfers: [...transfers.values()],
    transfer_count: Math.max(transfers.size, ...counts),
  };
}

// Only what came whole is kept: a range recorded over rows that were left out would be a lie.
function keep(reading: Answer, limits: NeighbourhoodLimits, options: CascadeOptions): void {
  if (!(reading instanceof Read)) return;
  const { counterparties, degree, address, coverage } = reading.value;
  const whole = counterparties.every((one) => one.transfers.length === one.transfer_count);
  if (!whole || degree !== counterparties.length || degree > limits.degreeMax) return;
  const [source] = basis(reading).sources;
  if (source === undefined) return;
  const transfers = counterparties.flatMap((one) => one.transfers.map(factOf));
  const ranges = coverage.map(
    (range): AddressRange => ({
      ...range,
      address,
      source: source.url,
      origin: options.origin,
      truncated: false,
      read_at: options.now(),
    }),
  );
  void options.store.appendLive({ transfers, ranges }).then(
    (kept) => {
      if (kept instanceof Unread) options.onUnkept(kept.why.reason);
    },
    (fault: unknown) => options.onUnkept(String(fault)),
  );
}

function factOf(one: HistoryTransfer) {
  const { chain, kind, tx, block, at, from, to, token, raw_amount, usd, initiator, success } = one;
  return {
    ...{ chain, kind, block, from, to, token, raw_amount, usd, initiator, success },
    tx_hash: tx,
    block_hash: null,
    position: null,
    block_time: at,
    price_basis: null,
  };
}
