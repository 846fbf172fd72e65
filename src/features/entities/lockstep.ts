// Which two addresses send to each other and act at the same moments? (heuristic c)
// After the linking by times of activity of Béres et al., "Blockchain is Watching You", DAPPS
// 2021, asked of pairs that also send to each other both ways. Two who only trade do not act
// alike, and two who only act alike (a bot's customers) do not send to each other: both are asked.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { collect, heldUnder } from '../../evidence/measure.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';
import { isSignedBy } from '../../ports/history/signing.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import type { AddressHistory } from '../history/address-history.ts';
import { sift } from '../history/edge-rule.ts';
import { earliest, type TiedBy } from './ties.ts';

/** Two acts on the same counterparty no further apart than this are one moment. */
const MOMENT_S = 600;
/** So many moments of acting alike are asked. */
const MOMENTS_MIN = 3;
/** Of the acts of the less active one, so many are such moments. */
const MOMENTS_SHARE_MIN = 0.5;
/** A pair has one key, whichever of the two was examined. */
const BETWEEN = ' ';

/** The ties of a pair that sends to each other and acts in lockstep; none for any other pair. */
export function lockstepTies(a: AddressHistory, b: AddressHistory, chain: ChainName): Tie[] {
  if ([a.address, b.address].some(isSystemAddress)) return [];
  const there = between(a, b.address, chain);
  const back = between(b, a.address, chain);
  if (there.length === 0 || back.length === 0) return [];
  const acts = [actsOf(a, b.address, chain), actsOf(b, a.address, chain)] as const;
  const moments = momentsOf(acts[0], acts[1]);
  const fewer = Math.min(acts[0].length, acts[1].length);
  if (moments.length < MOMENTS_MIN || moments.length < fewer * MOMENTS_SHARE_MIN) return [];
  const key = [a.address, b.address].sort().join(BETWEEN);
  const by = earliest([...there, ...back]);
  return by.flatMap(({ tx, block, at }) =>
    [a.address, b.address].map((address): Tie => {
      return { chain, heuristic: 'lockstep', key, address, tx, block, at, rests_on: null };
    }),
  );
}

/** The transfers that one sent to the other by its own hand and with something in them. */
function between(
  { address, transfers }: AddressHistory,
  other: string,
  chain: ChainName,
): HistoryTransfer[] {
  return transfers.filter((one) => {
    const own = one.chain === chain && one.from === address && one.to === other;
    return own && one.raw_amount > 0n && isOwnAct(address, one);
  });
}

function isOwnAct(address: string, transfer: HistoryTransfer): boolean {
  return isSignedBy(address, transfer) !== false && sift([address], [transfer]).edge !== null;
}

type Act = TiedBy & { readonly target: string };

/** The transfers that an address sent by its own hand, each transaction once. */
function actsOf(history: AddressHistory, partner: string, chain: ChainName): Act[] {
  const { address } = history;
  const byTx = new Map<string, Act>();
  for (const one of history.transfers) {
    if (one.chain !== chain || one.from !== address || one.to === partner) continue;
    if (!isOwnAct(address, one)) continue;
    byTx.set(one.tx, { tx: one.tx, block: one.block, at: one.at, target: one.to });
  }
  return [...byTx.values()];
}

/** The acts of the first that the second matches on the same target; each act serves once. */
function momentsOf(first: readonly Act[], second: readonly Act[]): Act[] {
  const byTarget = new Map<string, Act[]>();
  for (const act of second) collect(byTarget, act.target, act);
  const used = new Set<string>();
  const moments: Act[] = [];
  for (const act of first) {
    const match = heldUnder(byTarget, act.target).find(
      ({ tx, at }) => !used.has(tx) && tx !== act.tx && Math.abs(at - act.at) <= MOMENT_S,
    );
    if (match === undefined) continue;
    used.add(match.tx);
    moments.push(act);
  }
  return moments;
}
