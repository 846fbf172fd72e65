// Finds whose wallet paid for what an event names, or was paid, through all that lay between.
// A wallet is never a contract of the registry. Where the receipt does not lead to a wallet, there
// is none: a caller's aggregator or a relayer is not named in its place. Coins that move inside a
// transaction leave no log: a receipt shows them at its two ends alone, as what the transaction
// carried, and as what a wrapped coin's contract took in or gave back.

import { declaredEvent } from '../../../chain/abi.ts';
import type { EvmChainName } from '../../../chain/chain.ts';
import { present } from '../../../evidence/measure.ts';
import type { ReceiptFacts, ReceiptLog } from '../../../ports/bridges.ts';
import { type EventFacts, NATIVE, ZERO_ADDRESS } from './layout.ts';

/** A movement of a token. `NATIVE` as its end: the coin itself, which was wrapped or unwrapped. */
type Movement = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  /** The place of its log. */
  readonly index: number;
};

/** The contract of each chain's wrapped coin, as each chain's explorer labels it. */
const WRAPPED: Readonly<Record<EvmChainName, string>> = {
  ethereum: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  arbitrum: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
  base: '0x4200000000000000000000000000000000000006',
  bsc: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  polygon: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  hyperevm: '0x5555555555555555555555555555555555555555',
};

/** Whether a token is the wrapped coin of a chain. */
export function isWrapped(chain: EvmChainName, token: string | null): boolean {
  return WRAPPED[chain] === token;
}

const TRANSFER = declaredEvent(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
const WRAPPING = declaredEvent('event Deposit(address indexed dst, uint256 wad)');
const UNWRAPPING = declaredEvent('event Withdrawal(address indexed src, uint256 wad)');

function movementIn(log: ReceiptLog, wrapped: string): Movement | null {
  const { address: token, index } = log;
  const moved = TRANSFER.fieldsOf(log);
  if (moved !== null) {
    const { from, to, value: amount } = moved;
    // Some wrapped coins log a mint or a burn where others log that coins came in or went out.
    const end = token === wrapped ? NATIVE : ZERO_ADDRESS;
    return {
      token,
      amount,
      index,
      from: from === ZERO_ADDRESS ? end : from,
      to: to === ZERO_ADDRESS ? end : to,
    };
  }
  if (token !== wrapped) return null;
  const wrapping = WRAPPING.fieldsOf(log);
  if (wrapping !== null)
    return { token, from: NATIVE, to: wrapping.dst, amount: wrapping.wad, index };
  const back = UNWRAPPING.fieldsOf(log);
  return back === null ? null : { token, from: back.src, to: NATIVE, amount: back.wad, index };
}

/** The wallet of one side, with the asset and amount that it sent or received. */
export type WalletSide = {
  /** `null` where the transaction does not show it. */
  readonly user: string | null;
  /** The asset that the wallet sent or received; `null` if it is not shown. */
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
  return {
    receipt,
    movements: present(receipt.logs.map((log) => movementIn(log, WRAPPED[receipt.chain]))),
    onRegistry,
  };
}

type EventAt = EventFacts & { readonly index: number };

const STEPS_MAX = 24;

/** Finds the wallet that paid for a sent event, or was paid by an arrived one. */
export function findWallet(flow: Flow, event: EventAt): WalletSide {
  const found = event.direction === 'out' ? findPayer(flow, event) : findPayee(flow, event);
  const { contract } = event;
  const ends = [contract, found.user, NATIVE, ZERO_ADDRESS];
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

function findPayer(flow: Flow, event: EventAt): WalletSide {
  const { receipt } = flow;
  const into = paymentInto(flow, event);
  if (into === null) return payerWithoutToken(flow, event);
  const path = pathBackFrom(flow, into);
  const last = path.at(-1);
  if (last === undefined) return NOT_SHOWN;
  const via = path
    .slice(0, -1)
    .map(({ holder }) => holder)
    .reverse();
  if (last.holder === NATIVE) {
    if (receipt.value > 0n) return payerOfCoins(flow, last.amount, via);
    return payerInside(flow, event, { ...NOT_SHOWN, asset: NATIVE, amount: last.amount, via });
  }
  const { holder: user, token: asset, amount } = last;
  if (user === receipt.from || user === event.user) {
    if (!flow.onRegistry(user)) return { user, asset, amount, via };
  }
  return payerInside(flow, event, { user, asset, amount, via });
}

/** A path that ends neither at the signer nor at whom the event names. */
function payerInside(flow: Flow, event: EventAt, end: WalletSide): WalletSide {
  const { receipt, movements, onRegistry } = flow;
  const via = [...(end.user === null ? [] : [end.user]), ...end.via];
  const gave = movements.filter(({ from }) => from === receipt.from);
  const [first] = gave;
  if (first !== undefined) {
    return { user: receipt.from, asset: first.token, amount: first.amount, via };
  }
  if (receipt.value > 0n && end.user !== event.user) return payerOfCoins(flow, null, via);
  if (receipt.value > 0n && end.user !== null && onRegistry(end.user)) {
    return payerOfCoins(flow, end.amount, via);
  }
  if (end.user !== null && !onRegistry(end.user)) return end;
  const { user } = event;
  if (user !== null && !onRegistry(user)) return { ...end, user };
  return { ...end, user: null };
}

function payerOfCoins(
  { receipt }: Flow,
  amount: bigint | null,
  via: readonly string[],
): WalletSide {
  const { from, to, value } = receipt;
  const most = amount === null || amount > value ? value : amount;
  return { user: from, asset: NATIVE, amount: most, via: to === null ? via : [to, ...via] };
}

/** No token was paid in: coins were, or the receipt does not show what. */
function payerWithoutToken(flow: Flow, event: EventAt): WalletSide {
  const { receipt, movements, onRegistry } = flow;
  const { user, amount, asset } = event;
  const isCoin = asset === NATIVE || asset === null || isWrapped(receipt.chain, asset);
  // A token that never moved, and as much in coins: the protocol calls them by their wrapped form.
  const unmoved = !movements.some(({ token }) => token === asset);
  const carried = amount !== null && amount > 0n && receipt.value >= amount;
  if (receipt.value > 0n && (isCoin || (unmoved && carried))) {
    const between = user === null || user === receipt.from ? [] : [user];
    return payerOfCoins(flow, amount, between);
  }
  const wallet = user === null || onRegistry(user) ? receipt.from : user;
  return { user: wallet, asset, amount, via: [] };
}

function paymentInto({ movements }: Flow, event: EventAt): Movement | null {
  const { contract, asset, amount, index } = event;
  const into = movements.filter(
    ({ token, to, from }) =>
      (to === contract || to === ZERO_ADDRESS) &&
      from !== ZERO_ADDRESS &&
      (asset === null || token === asset),
  );
  return pickMovement(into, amount, index);
}

/** Of exactly this amount, where there is one; the nearest to the event, before it if possible. */
function pickMovement(
  moved: readonly Movement[],
  amount: bigint | null,
  index: number,
): Movement | null {
  const fitting = amount === null ? moved : moved.filter((one) => one.amount === amount);
  const before = fitting.filter((one) => one.index < index).at(-1);
  if (before !== undefined) return before;
  const [after] = fitting;
  return after === undefined ? null : after;
}

/** The holders of what was paid, back from the bridge to where no receipt shows who paid them. */
function pathBackFrom(flow: Flow, into: Movement): Place[] {
  const met = new Set<string>();
  const path: Place[] = [];
  let now: Place = { holder: into.from, ...placeOf(into) };
  for (let step = 0; step < STEPS_MAX; step += 1) {
    path.push(now);
    met.add(`${now.holder} ${now.token}`);
    if (now.holder === flow.receipt.from || now.holder === NATIVE) break;
    const inflow = inflowOf(flow, now, met);
    if (inflow === null) break;
    now = { holder: inflow.from, ...placeOf(inflow) };
  }
  return path;
}

function placeOf({ token, amount, index }: Movement): Omit<Place, 'holder'> {
  return { token, amount, index };
}

/**
 * The earlier payment to a holder in the same token, otherwise in another token that it swapped.
 */
function inflowOf(flow: Flow, at: Place, met: ReadonlySet<string>): Movement | null {
  const into = flow.movements.filter(
    ({ to, from, token }) =>
      to === at.holder &&
      from !== at.holder &&
      from !== ZERO_ADDRESS &&
      !met.has(`${from} ${token}`),
  );
  const same = into.filter(({ token, index }) => token === at.token && index < at.index);
  const exact = pickMovement(same, at.amount, at.index);
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

function findPayee(flow: Flow, event: EventAt): WalletSide {
  const start = event.through.length > 0 ? composerPlace(flow, event) : arrivalPlace(flow, event);
  if (start === null) {
    // Nothing in the receipt shows what was paid: the event's own words stand.
    const { user, asset, net: amount, through } = event;
    const isWallet = user !== null && !flow.onRegistry(user) && !through.includes(user);
    return { user: isWallet ? user : null, asset, amount, via: [] };
  }
  const via: string[] = [];
  const met = new Set<string>();
  let now: Place = start;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    met.add(`${now.holder} ${now.token}`);
    if (now.holder === NATIVE) break;
    const outflow = outflowOf(flow, now, event, met);
    if (outflow === null) break;
    via.push(now.holder);
    now = { holder: outflow.to, ...placeOf(outflow) };
  }
  const { holder, token, amount } = now;
  const named = event.user !== null && !flow.onRegistry(event.user) ? event.user : null;
  if (holder === NATIVE) {
    // A coin that was unwrapped on the way is the named one's, unless it was the one to unwrap it.
    const user = named !== null && !via.includes(named) ? named : null;
    return { user, asset: NATIVE, amount, via };
  }
  if (flow.onRegistry(holder)) return { user: null, asset: token, amount, via: [...via, holder] };
  return { user: holder, asset: token, amount, via };
}

/** Finds the composer that an earlier transaction credited with what a second call moves. */
function composerPlace({ movements }: Flow, { user: composer }: EventAt): Place | null {
  const first = movements.find(({ from, to }) => from === composer && to !== ZERO_ADDRESS);
  return composer === null || first === undefined
    ? null
    : { holder: composer, ...placeOf(first), index: BEFORE_ALL };
}

const BEFORE_ALL = -1;

/** The movement by which what arrived was paid out, to whom the event names where it names one. */
function arrivalPlace(flow: Flow, event: EventAt): Place | null {
  const { user, asset, net: amount, contract, index } = event;
  const { movements, receipt } = flow;
  const ofAsset = movements.filter(({ token }) => asset === null || token === asset);
  const toUser = ofAsset.filter(({ to }) => to === user);
  const exact = nearestOfAmount(toUser, amount, index);
  if (exact !== null) return { holder: exact.to, ...placeOf(exact) };
  if (asset === NATIVE || isWrapped(receipt.chain, asset)) {
    const coins = movements.filter(({ to, amount: own }) => to === NATIVE && own === amount);
    const unwrapped = nearest(coins, index);
    if (unwrapped !== null) return { holder: NATIVE, ...placeOf(unwrapped) };
  }
  if (amount === null || asset === null) {
    const some = nearest(toUser, index);
    if (some !== null) return { holder: some.to, ...placeOf(some) };
  }
  const out = ofAsset.filter(
    ({ from, to }) => (from === contract || from === ZERO_ADDRESS) && to !== contract,
  );
  const paidOut = amount === null ? largest(out) : nearestOfAmount(out, amount, index);
  if (paidOut !== null) return { holder: paidOut.to, ...placeOf(paidOut) };
  return null;
}

function nearestOfAmount(moved: readonly Movement[], amount: bigint | null, index: number) {
  return nearest(amount === null ? moved : moved.filter((one) => one.amount === amount), index);
}

/**
 * The payment that an intermediate contract passed on: the same token, or the proceeds of its sale.
 */
function outflowOf(
  flow: Flow,
  at: Place,
  event: EventAt,
  met: ReadonlySet<string>,
): Movement | null {
  // A wallet that signed keeps what it got: whatever it does next in the transaction is its own.
  if (at.holder === flow.receipt.from) return null;
  const out = flow.movements.filter(
    ({ from, to, token, index }) =>
      from === at.holder &&
      to !== at.holder &&
      to !== ZERO_ADDRESS &&
      to !== event.contract &&
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
  return largest(
    out.filter(
      ({ token, index }) => token === swapped.token && Math.abs(index - swapped.index) <= SWAP_LOGS,
    ),
  );
}

/** How many logs a swap's own logs may lie apart. */
const SWAP_LOGS = 8;
