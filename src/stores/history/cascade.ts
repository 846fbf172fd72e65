// Reads the history of an address from the warehouse, otherwise live. A full history in the
// warehouse is the answer; otherwise a provider is queried and both are joined. One silent source
// never makes the other a complete answer.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { collect, rowsUnder, tally } from '../../evidence/measure.ts';
import {
  all,
  basis,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ImportOrigin, Source } from '../../evidence/source.ts';
import type {
  Counterparty,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history.ts';
import type { TransferStore } from '../../ports/indexing.ts';
import { gapsIn } from './covered.ts';
import { liveFacts } from './live-facts.ts';

const PORT = 'raw_history';

/** The options of the cascade. `now` gives Unix seconds. */
type CascadeOptions = {
  readonly held: RawHistory;
  readonly live: RawHistory;
  /** Where what was read live to its end is kept, so that the second call is the warehouse's. */
  readonly store: Pick<TransferStore, 'appendLive'>;
  readonly origin: ImportOrigin;
  readonly tipMaxAgeS: number;
  readonly now: () => number;
  /** Told where what was read could not be kept: the answer does not wait for it. */
  readonly onUnkept: (reason: string) => void;
};

type Answer = Partly<Neighbourhood, RawHistoryPort>;

/** The warehouse, then a live read inside its budget. */
export function cascadedHistory(options: CascadeOptions): RawHistory {
  const { held, live } = options;
  const keep = keeperOf(options);
  const chainsRead = async () => joinedChains(await held.chainsRead(), await live.chainsRead());
  return {
    chainsRead,
    neighbourhoods: async (addresses, limits) => {
      const chains = await chainsRead();
      const known = await held.neighbourhoods(addresses, limits);
      const wanting = addresses.filter((one) =>
        isWanting(one, known.get(one), chains, limits, options),
      );
      if (wanting.length === 0 || limits.signal.aborted) return known;
      // The warehouse's part of a joined history must be complete.
      const whole = { ...limits, standingOnly: false };
      const had = limits.standingOnly === true ? await held.neighbourhoods(wanting, whole) : known;
      const read = await live.neighbourhoods(wanting, whole);
      const answers = new Map(known);
      for (const address of wanting) {
        const fresh = read.get(address);
        if (fresh === undefined) continue;
        keep(fresh, limits);
        answers.set(address, joinAnswers(had.get(address), fresh));
      }
      return answers;
    },
  };
}

/** All chains that either reads. A source that is silent but for having nothing leaves it open. */
function joinedChains(
  held: Reading<readonly ChainName[], RawHistoryPort>,
  live: Reading<readonly ChainName[], RawHistoryPort>,
): Reading<readonly ChainName[], RawHistoryPort> {
  if (held instanceof Unread) return hasNothing(held) ? live : held;
  if (live instanceof Unread) return hasNothing(live) ? held : live;
  return map(all([held, live]), (lists) => [...new Set(lists.flat())]);
}

function hasNothing({ why: { code } }: Unread<RawHistoryPort>): boolean {
  return code === 'no_history';
}

/** Whether a live read is to complete what is held of an address, on the chains of its own kind. */
function isWanting(
  address: string,
  reading: Answer | undefined,
  chains: Reading<readonly ChainName[], RawHistoryPort>,
  { degreeMax, chains: asked }: NeighbourhoodLimits,
  { now, tipMaxAgeS }: CascadeOptions,
): boolean {
  if (reading === undefined || reading instanceof Unread) return true;
  const cut = reading instanceof Read ? null : reading.why.code;
  // A history over the row cap is not smaller when it is read live.
  if (cut === 'row_cap') return false;
  if (cut !== null && cut !== 'simulated') return true;
  const known = rowsSeen(map(reading, (one) => [one]));
  if (known === null) return true;
  const [{ degree, coverage }] = known;
  // A hub is not walked past, however much more of it is read.
  if (degree > degreeMax) return false;
  if (!(chains instanceof Read)) return true;
  const parsed = parseAddress(address);
  const own = chains.value.filter(
    (chain) =>
      asked?.includes(chain) !== false && (parsed === null || CHAINS[chain].kind === parsed.kind),
  );
  return gapsIn(coverage, { chains: own, now: now(), tipMaxAgeS }).length > 0;
}

function joinAnswers(held: Answer | undefined, live: Answer): Answer {
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

    const byPeer = new Map<string, Counterparty[]>();
    for (const one of [...warehouse.counterparties, ...onchain.counterparties]) {
      collect(byPeer, one.address, one);
    }
    const counterparties = [...byPeer].map(([address, known]) => {
      const told = eachOnce(known.map(({ transfers }) => transfers));
      const transfers = told.sort((x, y) => y.at - x.at);
      const counts = known.map(({ transfer_count }) => transfer_count);
      return { address, transfers, transfer_count: Math.max(transfers.length, ...counts) };
    });
    return {
      address: warehouse.address,
      degree: Math.max(warehouse.degree, onchain.degree, counterparties.length),
      counterparties,
      coverage: [...warehouse.coverage, ...onchain.coverage],
      provenance: 'onchain',
    };
  });
}

/**
 * Merges several lists. A transfer in two of them is one: they share no position, so the other
 * fields identify it. Equal transfers count as often as in the list that has most of them.
 */
export function eachOnce(lists: readonly (readonly HistoryTransfer[])[]): HistoryTransfer[] {
  const byName = new Map<string, HistoryTransfer[]>();
  for (const transfers of lists) {
    const counts = new Map<string, number>();
    for (const transfer of transfers) {
      const { chain, tx, kind, token, from, to, raw_amount, token_id } = transfer;
      const name = [chain, tx, kind, token, from, to, raw_amount, token_id].join(' ');
      tally(counts, name);
      if (Number(counts.get(name)) > rowsUnder(byName, name).length) {
        collect(byName, name, transfer);
      }
    }
  }
  return [...byName.values()].flat();
}

/**
 * Keeps what came whole: a range recorded over rows that were left out would be a lie. A live
 * reading that serves several questions has the same sources each time, and is kept once.
 */
function keeperOf({ origin, now, store, onUnkept }: CascadeOptions) {
  const kept = new WeakSet<Source>();
  return (reading: Answer, limits: NeighbourhoodLimits): void => {
    if (!(reading instanceof Read)) return;
    const { counterparties, degree } = reading.value;
    const whole = counterparties.every((one) => one.transfers.length === one.transfer_count);
    if (!whole || degree !== counterparties.length || degree > limits.degreeMax) return;
    const { sources } = basis(reading);
    const [source] = sources;
    if (source === undefined || sources.every((one) => kept.has(one))) return;
    for (const one of sources) kept.add(one);
    const facts = liveFacts(reading.value, { source: source.url, origin, read_at: now() });
    void store.appendLive(facts).then(
      (told) => {
        if (told instanceof Unread) onUnkept(told.why.reason);
      },
      (fault: unknown) => onUnkept(String(fault)),
    );
  };
}
