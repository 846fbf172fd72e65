// Whose wallet paid what an event names, and whose was paid: followed through what lay between?
// A wallet is never a contract of the registry. Where the receipt does not lead to one, there is
// none: a caller's aggregator or a relayer is not named in a wallet's place.

import type { ReceiptFacts } from '../../../ports/bridges/transaction-receipts.ts';
import { NATIVE, NOBODY, type Said } from './layout.ts';
import { isWrapped, type Movement, movementsOf } from './movements.ts';

/** What a wallet gave or got. */
export type Settled = {
  /** `null` where the transaction does not show it. */
  readonly user: string | null;
  /** What the wallet gave or got; `null` where it is not shown. */
  readonly asset: string | null;
  readonly amount: bigint | null;
  /** The contracts between the wallet and the bridge's, in the order in which they stood. */
  readonly via: readonly string[];
};

/** A receipt whose movements were read, and what is known of its addresses. */
export type Flow = {
  readonly receipt: ReceiptFacts;
  readonly movements: readonly Movement[];
  readonly onRegistry: (address: string) => boolean;
};

/** Reads the movements of a receipt. */
export function flowOf(receipt: ReceiptFacts, onRegistry: Flow['onRegistry']): Flow {
  return { receipt, movements: movementsOf(receipt), onRegistry };
}

/** What an event says, with the place of its log. */
type Logged = Said & { readonly index: number };

/** The most contracts that a path is followed through. */
const STEPS_MAX = 24;

/** Who paid for what an event says was sent, or was paid for what it says arrived. */
export function settled(flow: Flow, said: Logged): Settled {
  const found = said.direction === 'out' ? paid(flow, said) : received(flow, said);
  const { contract } = said;
  const ends = [contract, found.user, NATIVE, NOBODY];
  return { ...found, via: [...new Set(found.via)].filter((one) => !ends.includes(one)) };
}

/** Where a path stands: who holds how much of what, after or before which log. */
type Place = {
  readonly holder: string;
  readonly token: string;
  readonly amount: bigint;
  readonly index: number;
};

const NOT_SHOWN = { user: null, asset: null, amount: null, via: [] } as const;

function paid(flow: Flow, said: Logged): Settled {
  const { receipt } = flow;
  const into = paymentInto(flow, said);
  if (into === null) return paidInCoins(flow, said);
  const path = backFrom(flow, into);
  const last = path.at(-1);
  if (last === undefined) return NOT_SHOWN;
  const via = path
    .slice(0, -1)
    .map(({ holder }) => holder)
    .reverse();
  if (last.holder === NATIVE) {
    if (receipt.value > 0n) return coinsOf(flow, last.amount, via);
    return inner(flow, said, { ...NOT_SHOWN, asset: NATIVE, amount: last.amount, via });
  }
  const { holder: user, token: asset, amount } = last;
  if (user === receipt.from || user === said.user) {
    if (!flow.onRegistry(user)) return { user, asset, amount, via };
  }
  return inner(flow, said, { user, asset, amount, via });
}

/** A path that ends neither at the signer nor at whom the event names. */
function inner(flow: Flow, said: Logged, end: Settled): Settled {
  const { receipt, movements, onRegistry } = flow;
  const via = [...(end.user === null ? [] : [end.user]), ...end.via];
  const gave = movements.filter(({ from }) => from === receipt.from);
  const [first] = gave;
  if (first !== undefined) {
    return { user: receipt.from, asset: first.token, amount: first.amount, via };
  }
  if (receipt.value > 0n && end.user !== said.user) return coinsOf(flow, null, via);
  if (receipt.value > 0n && end.user !== null && onRegistry(end.user)) {
    return coinsOf(flow, end.amount, via);
  }
  if (end.user !== null && !onRegistry(end.user)) return end;
  const { user } = said;
  if (user !== null && !onRegistry(user)) return { ...end, user };
  return { ...end, user: null };
}

/** What the transaction carried was its signer's. */
function coinsOf({ receipt }: Flow, amount: bigint | null, via: readonly string[]): Settled {
  const { from, to, value } = receipt;
  const most = amount === null || amount > value ? value : amount;
  return { user: from, asset: NATIVE, amount: most, via: to === null ? via : [to, ...via] };
}

/** No token was paid in: coins were, or the receipt does not show what. */
function paidInCoins(flow: Flow, said: Logged): Settled {
  const { receipt, movements, onRegistry } = flow;
  const { user, amount, asset } = said;
  const isCoin = asset === NATIVE || asset === null || isWrapped(receipt.chain, asset);
  // A token that never moved, and as much in coins: the protocol calls them by their wrapped form.
  const unmoved = !movements.some(({ token }) => token === asset);
  const carried = amount !== null && amount > 0n && receipt.value >= amount;
  if (receipt.value > 0n && (isCoin || (unmoved && carried))) {
    const between = user === null || user === receipt.from ? [] : [user];
    return coinsOf(flow, amount, between);
  }
  const wallet = user === null || onRegistry(user) ? receipt.from : user;
  return { user: wallet, asset, amount, via: [] };
}

/** The movement by which a bridge's contract was paid, or what was paid was burnt. */
function paymentInto({ movements }: Flow, said: Logged): Movement | null {
  const { contract, asset, amount, index } = said;
  const into = movements.filter(
    ({ token, to, from }) =>
      (to === contract || to === NOBODY) && from !== NOBODY && (asset === null || token === asset),
  );
  return chosen(into, amount, index);
}

/** Of exactly this amount, where there is one; the nearest to the event, before it if possible. */
function chosen(moved: readonly Movement[], amount: bigint | null, index: number): Movement | null {
  const fitting = amount === null ? moved : moved.filter((one) => one.amount === amount);
  const before = fitting.filter((one) => one.index < index).at(-1);
  if (before !== undefined) return before;
  const [after] = fitting;
  return after === undefined ? null : after;
}

/** The holders of what was paid, back from the bridge to where no receipt shows who paid them. */
function backFrom(flow: Flow, into: Movement): Place[] {
  const met = new Set<string>();
  const path: Place[] = [];
  let now: Place = { holder: into.from, ...pick(into) };
  for (let step = 0; step < STEPS_MAX; step += 1) {
    path.push(now);
    met.add(`${now.holder} ${now.token}`);
    if (now.holder === flow.receipt.from || now.holder === NATIVE) break;
    const inflow = inflowOf(flow, now, met);
    if (inflow === null) break;
    now = { holder: inflow.from, ...pick(inflow) };
  }
  return path;
}

function pick({ token, amount, index }: Movement): Omit<Place, 'holder'> {
  return { token, amount, index };
}

/** What a holder was paid of the same token before, else of another, which it swapped. */
function inflowOf(flow: Flow, at: Place, met: ReadonlySet<string>): Movement | null {
  const into = flow.movements.filter(
    ({ to, from, token }) =>
      to === at.holder && from !== at.holder && from !== NOBODY && !met.has(`${from} ${token}`),
  );
  const same = into.filter(({ token, index }) => token === at.token && index < at.index);
  const exact = chosen(same, at.amount, at.index);
  if (exact !== null) return exact;
  const enough = same.filter(({ amount }) => amount >= at.amount).at(-1);
  if (enough !== undefined) return enough;
  const most = largest(same);
  return most === null
    ? nearest(
        into.filter(({ token }) => token !== at.token),
        at.index,
      )
    : most;
}

function largest(moved: readonly Movement[]): Movement | null {
  return moved.reduce<Movement | null>(
    (best, one) => (best === null || one.amount > best.amount ? one : best),
    null,
  );
}

function nearest(moved: readonly Movement[], index: number): Movement | null {
  const far = (one: Movement): number => Math.abs(one.index - index);
  return moved.reduce<Movement | null>(
    (best, one) => (best === null || far(one) < far(best) ? one : best),
    null,
  );
}

function received(flow: Flow, said: Logged): Settled {
  const start = said.through.length > 0 ? composed(flow, said) : arrivalOf(flow, said);
  if (start === null) return receivedUnseen(flow, said);
  const via: string[] = [];
  const met = new Set<string>();
  let now: Place = start;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    met.add(`${now.holder} ${now.token}`);
    if (now.holder === NATIVE) break;
    const outflow = outflowOf(flow, now, said, met);
    if (outflow === null) break;
    via.push(now.holder);
    now = { holder: outflow.to, ...pick(outflow) };
  }
  const { holder, token, amount } = now;
  const named = said.user !== null && !flow.onRegistry(said.user) ? said.user : null;
  if (holder === NATIVE) {
    // A coin that was unwrapped on the way is the named one's, unless it was the one to unwrap it.
    const user = named !== null && !via.includes(named) ? named : null;
    return { user, asset: NATIVE, amount, via };
  }
  if (flow.onRegistry(holder)) return { user: null, asset: token, amount, via: [...via, holder] };
  return { user: holder, asset: token, amount, via };
}

/** What a second call moves on was credited to its composer before, in another transaction. */
function composed({ movements }: Flow, { user: composer }: Logged): Place | null {
  const first = movements.find(({ from, to }) => from === composer && to !== NOBODY);
  return composer === null || first === undefined
    ? null
    : { holder: composer, ...pick(first), index: BEFORE_ALL };
}

const BEFORE_ALL = -1;

/** Nothing in the receipt shows what was paid: the event's own words stand. */
function receivedUnseen({ onRegistry }: Flow, { user, asset, net, through }: Logged): Settled {
  const isWallet = user !== null && !onRegistry(user) && !through.includes(user);
  const wallet = isWallet ? user : null;
  return { user: wallet, asset, amount: net, via: [] };
}

/** The movement by which what arrived was paid out, to whom the event names where it names one. */
function arrivalOf(flow: Flow, said: Logged): Place | null {
  const { user, asset, net: amount, contract, index } = said;
  const { movements, receipt } = flow;
  const ofAsset = movements.filter(({ token }) => asset === null || token === asset);
  const toUser = ofAsset.filter(({ to }) => to === user);
  const exact = around(toUser, amount, index);
  if (exact !== null) return { holder: exact.to, ...pick(exact) };
  if (asset === NATIVE || isWrapped(receipt.chain, asset)) {
    const coins = movements.filter(({ to, amount: own }) => to === NATIVE && own === amount);
    const unwrapped = nearest(coins, index);
    if (unwrapped !== null) return { holder: NATIVE, ...pick(unwrapped) };
  }
  if (amount === null || asset === null) {
    const some = nearest(toUser, index);
    if (some !== null) return { holder: some.to, ...pick(some) };
  }
  const out = ofAsset.filter(
    ({ from, to }) => (from === contract || from === NOBODY) && to !== contract,
  );
  const paidOut = amount === null ? largest(out) : around(out, amount, index);
  if (paidOut !== null) return { holder: paidOut.to, ...pick(paidOut) };
  return null;
}

/** The movement of exactly this amount that is nearest to the event. */
function around(moved: readonly Movement[], amount: bigint | null, index: number) {
  return nearest(amount === null ? moved : moved.filter((one) => one.amount === amount), index);
}

/** What a contract on the way passed on of what it got: the same token, or what it was sold for. */
function outflowOf(flow: Flow, at: Place, said: Logged, met: ReadonlySet<string>): Movement | null {
  // A wallet that signed keeps what it got: whatever it does next in the transaction is its own.
  if (at.holder === flow.receipt.from) return null;
  const out = flow.movements.filter(
    ({ from, to, token, index }) =>
      from === at.holder &&
      to !== at.holder &&
      to !== NOBODY &&
      to !== said.contract &&
      !met.has(`${to} ${token}`) &&
      (token !== at.token || index > at.index),
  );
  const same = out.filter(({ token, amount }) => token === at.token && amount <= at.amount);
  const passed = largest(same);
  if (passed !== null) return passed;
  // A pool may pay what it sells before it is paid.
  const swapped = nearest(
    out.filter(({ token }) => token !== at.token),
    at.index,
  );
  if (swapped === null) return null;
  return largest(out.filter(({ token, index }) => token === swapped.token && near(index, swapped)));
}

/** How many logs a swap's own logs may lie apart. */
const SWAP_LOGS = 8;

function near(index: number, { index: other }: Movement): boolean {
  return Math.abs(index - other) <= SWAP_LOGS;
}
