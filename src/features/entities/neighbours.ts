// Each heuristic says for itself what it judged and whether it came to its end.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { collect, listFrom, present, rowsUnder, tally } from '../../evidence/measure.ts';
import {
  all,
  both,
  map,
  type Partly,
  Read,
  rowsSeen,
  Unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Creation } from '../../ports/accounts.ts';
import type { Judged, Objection, Tie, TieForm } from '../../ports/entities.ts';
import { type HistoryTransfer, signerOf, type TransferHistoryPort } from '../../ports/history.ts';
import {
  candidatesOf,
  type DepositsPorts,
  depositsIn,
  type SeenDeposit,
} from '../deposits/around.ts';
import {
  type AddressHistory,
  addressHistories,
  firstFundingTransfer,
  type HistoryRequest,
  sinceFirst,
} from '../history/address-history.ts';
import type { LabelledNames } from '../tables/labels.ts';
import { earliest, FUNDED_MAX, FUNDING_WINDOW_S, SERVICE_DEGREE, type TiedBy } from './evidence.ts';

const DEPOSITS_READ_MAX = 20;
/** The same where the histories are held here, so that to read one costs no provider's call. */
const DEPOSITS_HELD_MAX = 500;
const PARTNERS_READ_MAX = 10;
const TARGETS_READ_MAX = 20;

type History = Partly<AddressHistory, TransferHistoryPort>;
type Histories = ReadonlyMap<string, History>;

/** The findings of one heuristic; `ran`: whether it came to its end, or why not. */
export type Found = {
  readonly ties: readonly Tie[];
  readonly objections: readonly Objection[];
  readonly judged: readonly Judged[];
  readonly ran: Partly<unknown, never>;
  /** The histories that were read for it. */
  readonly histories: Histories;
};

/** The address whose neighbours are looked at. */
export type Scene = {
  readonly chain: ChainName;
  readonly reading: History;
  readonly own: AddressHistory;
  readonly kept: readonly HistoryTransfer[];
  readonly named: LabelledNames;
  readonly asked: HistoryRequest;
};

/**
 * Reads at once those whom every heuristic will ask for: a history that answers each address once
 * (`readOnce`) has them ready then.
 */
export async function readAhead(scene: Scene, ports: DepositsPorts): Promise<void> {
  const { own, kept, named, reading, chain, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const first = firstFunding(reading, chain);
  const funder = first !== null && isPayersOwn(first) ? [first.by.from] : [];
  const wanted = [
    ...paid.slice(0, DEPOSITS_READ_MAX),
    ...partnersIn(paid, kept).slice(0, PARTNERS_READ_MAX),
    ...funder.filter((one) => !named.isService(one)),
  ];
  await read([...new Set(wanted)], ports, asked);
}

function partnersIn(paid: readonly string[], kept: readonly HistoryTransfer[]): string[] {
  return paid.filter((one) => kept.some((row) => row.from === one));
}

/** The deposit addresses that the address pays, or is, and who else pays into them. */
export async function depositsFound(scene: Scene, ports: DepositsPorts): Promise<Found> {
  const { own, kept, named, reading, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const near = await read(paid.slice(0, DEPOSITS_READ_MAX), ports, asked);
  const taken = paid.slice(0, [...near.values()].every(isHeld) ? DEPOSITS_HELD_MAX : near.size);
  const far = await read(taken.slice(near.size), ports, asked);
  const histories = new Map([[own.address, reading], ...near, ...far]);
  const inferred = await depositsIn(histories, ports, asked.signal);
  const deposits = listFrom(rowsSeen(map(inferred, (found) => [found])), ([found]) => found);
  const ties = deposits.flatMap((one) =>
    listFrom(historyAsRead(histories.get(one.inferred.address)), (known) =>
      depositTies(one, known),
    ),
  );
  const open = deposits.find(({ externallyOwned }) => externallyOwned === null);
  const ran = cutWhere(paid.length > taken.length, both({ near: allOf(histories), inferred }));
  // Only a complete history takes stored ties back: an incomplete one may merely miss them.
  const judged = [...histories]
    .filter(([, one]) => one instanceof Read && inferred instanceof Read)
    .map(([key]): Judged => ({ heuristic: 'deposit_reuse', key }));
  return {
    ties,
    judged,
    histories,
    objections: [],
    ran:
      open === undefined
        ? ran
        : weaken(ran, why('deposit_kind_unknown', { address: open.inferred.address })),
  };
}

function isHeld(one: History): boolean {
  return one instanceof Read && one.value.provenance === 'warehouse';
}

/** The first funder of the address, and the others that it funded within a window. */
export async function fundingFound(scene: Scene, ports: DepositsPorts): Promise<Found> {
  const { own, chain, reading, named, asked } = scene;
  const alone: Histories = new Map([[own.address, reading]]);
  const judged = [own.address]
    .filter(() => reading instanceof Read)
    .map((address): Judged => ({ heuristic: 'shared_funder', address }));
  const nothing = { ties: [], objections: [], judged, histories: alone, ran: allOf(alone) };
  const first = firstFunding(reading, chain);
  if (first === null) return nothing;
  if (!isPayersOwn(first)) {
    return { ...nothing, objections: [funderObjection(first, 'contract_payer', null)] };
  }
  const funder = first.by.from;
  if (named.isService(funder)) return nothing;
  const near = await read([funder], ports, asked);
  const payer = near.get(funder);
  const recipients = payer === undefined ? null : recipientsOf(payer);
  const histories = new Map([...alone, ...near]);
  if (recipients === null) return { ...nothing, judged: [], histories, ran: allOf(histories) };
  if (recipients.isCrowd) {
    const count = String(recipients.first.size);
    return { ...nothing, histories, objections: [funderObjection(first, 'crowd', count)] };
  }
  const funded = [...recipients.first].flatMap(([one, at]) => {
    const near = Math.abs(at - first.by.at) <= FUNDING_WINDOW_S;
    return near && one !== own.address && !named.isService(one) ? [one] : [];
  });
  const far = await read(funded, ports, asked);
  const began = [...far].flatMap(([, one]): FirstFunding[] => {
    const funding = firstFunding(one, chain);
    return funding !== null && funding.by.from === funder && isPayersOwn(funding) ? [funding] : [];
  });
  const everyone = new Map([...histories, ...far]);
  // An address that another one funded is judged when it is examined itself.
  for (const { funded: address } of began) judged.push({ heuristic: 'shared_funder', address });
  const ties = funderTies([first, ...began]);
  return { ties, judged, objections: [], histories: everyone, ran: allOf(everyone) };
}

/** The addresses that trade with the address both ways and act in lockstep with it. */
export async function lockstepFound(scene: Scene, ports: DepositsPorts): Promise<Found> {
  const { own, kept, named, reading, chain, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const partners = partnersIn(paid, kept);
  const taken = partners.slice(0, PARTNERS_READ_MAX);
  const near = await read(taken, ports, asked);
  const pairs = present(
    [...near.values()].map((one): LockstepPair | null => {
      const value = historyAsRead(one);
      return value === null ? null : lockstepPair(own, value, chain);
    }),
  );
  const targets = [...new Set(pairs.flatMap((one) => one.targets))].filter(
    (one) => !named.isLabelled(one),
  );
  const shown = targets.slice(0, TARGETS_READ_MAX);
  const around = await read(shown, ports, asked);
  const histories = new Map([[own.address, reading], ...near, ...around]);
  const isWhole = [...histories.values()].every((one) => one instanceof Read);
  const known = new Map(
    [...around].flatMap(([address, one]) =>
      listFrom(historyAsRead(one), (value) => [[address, value] as const]),
    ),
  );
  const told = pairs.map((pair) => lockstepTies(pair, known, isWhole));
  const isCut = partners.length > taken.length || targets.length > shown.length;
  return {
    histories,
    ties: told.flatMap(({ ties }) => ties),
    objections: told.flatMap(({ objections }) => objections),
    judged: [...near]
      .filter(([, one]) => one instanceof Read && isWhole)
      .map(([address]): Judged => ({ heuristic: 'lockstep', key: pairKey(own.address, address) })),
    ran: cutWhere(isCut, allOf(histories)),
  };
}

/** The value of a history as far as it was read. */
export function historyAsRead(reading: History | undefined): AddressHistory | null {
  const value = reading === undefined ? null : rowsSeen(map(reading, (one) => [one]));
  return value === null ? null : value[0];
}

async function read(addresses: readonly string[], ports: DepositsPorts, asked: HistoryRequest) {
  return addresses.length === 0
    ? NOBODY
    : addressHistories(ports.transferHistory, addresses, asked);
}

const NOBODY: Histories = new Map();

function allOf(histories: Histories): Partly<unknown, TransferHistoryPort> {
  return all([...histories.values()].map((one) => map(one, () => null)));
}

function cutWhere<P extends string>(isCut: boolean, ran: Partly<unknown, P>): Partly<unknown, P> {
  return isCut && !(ran instanceof Unread) ? weaken(ran, why('neighbours_cut')) : ran;
}

// (heuristic d) Who signs a creation directly chose what was created. Through a factory it may be a
// bundler or a relayer that signed for its customers (ERC-4337, Safe), which a creation does not
// tell: it ties nobody, but where the factory is the signer's own contract.

/** The ties of contracts to the key that made them; both are members. */
export function deployerTies(creations: readonly Creation[], whole: boolean): Tie[] {
  const own = new Map<string, string>();
  for (const { created, creator, signer } of creations) {
    if (signer !== null && creator === signer) own.set(created, signer);
  }
  return creations.flatMap(({ chain, created, creator, signer, tx, block, at }) =>
    listFrom(signer, (key) =>
      listFrom(formOf(creator, key, own), (form) => {
        const pair = [created, key];
        const shared = { chain, heuristic: 'same_deployer', form, key } as const;
        return pair.some(isSystemAddress)
          ? []
          : pair.map((address): Tie => {
              return { ...shared, address, tx, block, at, rests_on: null, whole };
            });
      }),
    ),
  );
}

function formOf(creator: string, signer: string, own: ReadonlyMap<string, string>): TieForm | null {
  if (creator === signer) return 'signed';
  return own.get(creator) === signer ? 'own_factory' : null;
}

// (heuristic a) Victor, "Address Clustering Heuristics for Ethereum", Financial Cryptography 2020,
// section 3: an exchange gives each customer a deposit address, so those who pay into one are one
// customer. The inference is `features/deposits`'; one that may be a contract ties nobody.

/** The ties of its users to a deposit address, by its own history. It is a member of its own. */
export function depositTies(
  { inferred, externallyOwned, whole, first }: SeenDeposit,
  own: AddressHistory,
): Tie[] {
  const { address: key, forwards, wallets, receiverRole } = inferred;
  const [wallet] = wallets;
  if (externallyOwned !== true || own.degree > SERVICE_DEGREE || isSystemAddress(key)) return [];
  const users = new Set(forwards.map(({ user }) => user));
  const sent = new Map<string, TiedBy[]>();
  for (const one of own.transfers) {
    // A wallet that pays its own deposit address back, and nobody's address, are no customers.
    if (one.to !== key || !users.has(one.from) || wallets.includes(one.from)) continue;
    if (one.raw_amount > 0n && !isSystemAddress(one.from)) collect(sent, one.from, one);
  }
  const form = receiverRole === 'hot' ? 'hot_wallet' : 'unstated_role';
  const shared = {
    chain: first.chain,
    heuristic: 'deposit_reuse',
    form,
    key,
    rests_on: wallet === undefined ? null : wallet,
    whole,
  } as const;
  return [...sent].flatMap(([user, transactions]) =>
    earliest(transactions).flatMap(({ tx, block, at }): Tie[] => [
      { ...shared, tx, block, at, address: user },
      { ...shared, tx, block, at, address: key },
    ]),
  );
}

// (heuristic b) After the star and chain funding of Liu and Zhu, "Fighting Sybils in Airdrops",
// 2022, and of the LayerZero sybil reports of 2024. The first funder is
// `features/history/first-funder.ts`'s. It refuses a payer that serves anybody: a contract, a
// signer for others, a payer of many.

/** The first coins of an address that may be somebody's own way to begin it. */
export type FirstFunding = { readonly funded: string; readonly by: HistoryTransfer };

/**
 * The first coins of an address that then signed something itself: a shop that was paid is not
 * begun by its first customer. `null` where its history is not whole, or nothing came.
 */
export function firstFunding(history: History, chain: ChainName): FirstFunding | null {
  const known = wholeOf(history);
  const by = known === null ? null : firstFundingTransfer(known);
  if (known === null || by === null || by.chain !== chain) return null;
  const acted = known.transfers.some((one) => {
    return one.from === known.address && signerOf(one) === known.address;
  });
  return acted ? { funded: known.address, by } : null;
}

/** Whether the payer itself signed: coins of a contract are sent by whoever asks it to. */
export function isPayersOwn({ by }: FirstFunding): boolean {
  return by.kind === 'native' && signerOf(by) === by.from;
}

/** Everybody to whom an address ever sent coins. */
export type Recipients = {
  /** With the Unix seconds of the first time. */
  readonly first: ReadonlyMap<string, number>;
  /** So many that those whom it began are its customers: also a history that was cut shows it. */
  readonly isCrowd: boolean;
};

/** The recipients of a payer; `null` where it was not read far enough to say how many there are. */
export function recipientsOf(payer: History): Recipients | null {
  const value = historyAsRead(payer);
  if (value === null) return null;
  const { address, transfers } = value;
  const first = new Map<string, number>();
  for (const { from, to, kind, raw_amount, success, at } of transfers) {
    if (from !== address || kind === 'token') continue;
    if (raw_amount > 0n && success !== false) first.set(to, at);
  }
  const isCrowd = first.size > FUNDED_MAX;
  return isCrowd || wholeOf(payer) !== null ? { first, isCrowd } : null;
}

/** The ties of funded addresses to their funder; the funder itself is no member. */
export function funderTies(fundings: readonly FirstFunding[]): Tie[] {
  return fundings
    .filter(({ funded, by }) => !isSystemAddress(funded) && funded !== by.from)
    .map(({ funded, by: { chain, from, tx, block, at } }) => ({
      chain,
      heuristic: 'shared_funder',
      form: 'first_coins',
      key: from,
      address: funded,
      tx,
      block,
      at,
      rests_on: null,
      whole: true,
    }));
}

/** Why a first funding ties nobody, as what speaks against it. */
export function funderObjection(
  { funded, by: { chain, from, tx, block, at } }: FirstFunding,
  kind: 'crowd' | 'contract_payer',
  detail: string | null,
): Objection {
  return { chain, kind, key: from, address: funded, tx, block, at, detail };
}

function wholeOf(history: History): AddressHistory | null {
  return historyAsRead(sinceFirst(history));
}

// (heuristic c) After the linking by times of activity of Béres et al., "Blockchain is Watching
// You", DAPPS 2021, asked of pairs that also send to each other both ways. Two who only trade do
// not act alike, and two who only act alike (a bot's customers) do not send to each other: both are
// asked.

const MOMENTS_MIN = 3;
const MOMENTS_SHARE_MIN = 0.5;
/** Moments that would come about by chance as often as this show nothing. */
const CHANCE_MAX = 0.001;
/** A pair has one key, whichever of the two was examined. */
const BETWEEN = ' ';

/** Two addresses that send to each other both ways and act on the same targets at one time. */
export type LockstepPair = {
  readonly key: string;
  readonly chain: ChainName;
  readonly addresses: readonly [string, string];
  readonly between: readonly TiedBy[];
  readonly acts: readonly [readonly Act[], readonly Act[]];
  /** The targets of their moments: what makes them popular is read before anything is said. */
  readonly targets: readonly string[];
};

/** The key of a pair, whichever comes first. */
export function pairKey(a: string, b: string): string {
  return [a, b].sort().join(BETWEEN);
}

/** A pair that may act in lockstep; `null` for one that does not. */
export function lockstepPair(
  a: AddressHistory,
  b: AddressHistory,
  chain: ChainName,
): LockstepPair | null {
  // The pair is looked at in one order, whichever of the two was asked about.
  if (a.address > b.address) return lockstepPair(b, a, chain);
  if ([a.address, b.address].some(isSystemAddress)) return null;
  const [ownA, ownB] = [ownTransfers(a, chain), ownTransfers(b, chain)];
  const there = ownA.filter(({ to, raw_amount }) => to === b.address && raw_amount > 0n);
  const back = ownB.filter(({ to, raw_amount }) => to === a.address && raw_amount > 0n);
  if (there.length === 0 || back.length === 0) return null;
  const acts = [actsOf(ownA, b.address), actsOf(ownB, a.address)] as const;
  const moments = momentsOf(acts[0], acts[1]);
  if (!isAlike(moments, acts)) return null;
  const targets = [...new Set(moments.map(({ target }) => target))].sort();
  const addresses = [a.address, b.address] as const;
  const key = pairKey(a.address, b.address);
  return { key, chain, addresses, between: [...there, ...back], acts, targets };
}

/**
 * The ties of a pair where its moments are more than chance makes, or what speaks against them.
 * `targets`: the whole histories of those that are known; one that serves many shows nothing.
 */
export function lockstepTies(
  { key, chain, addresses, between, acts }: LockstepPair,
  targets: ReadonlyMap<string, AddressHistory>,
  whole: boolean,
): { readonly ties: readonly Tie[]; readonly objections: readonly Objection[] } {
  const telling = new Map([...targets].filter(([, { degree }]) => degree <= SERVICE_DEGREE));
  const own = acts.map((some) => some.filter(({ target }) => telling.has(target)));
  const [first, second] = own;
  if (first === undefined || second === undefined) throw new Error('lockstep: two have acts');
  const moments = momentsOf(first, second);
  const chance = chanceOfMoments([first, second], moments.length, addresses, telling);
  const by = earliest(between);
  if (!isAlike(moments, [first, second]) || chance > CHANCE_MAX) {
    // A target that was not read tells no moment: too few of them say nothing then.
    if (!whole) return { ties: [], objections: [] };
    const [shown] = by;
    if (shown === undefined) throw new Error('lockstep: a pair sends to each other');
    const { tx, block, at } = shown;
    const objections = addresses.map((address): Objection => {
      return { chain, kind: 'by_chance', key, address, tx, block, at, detail: null };
    });
    return { ties: [], objections };
  }
  const ties = by.flatMap(({ tx, block, at }) =>
    addresses.map((address): Tie => {
      const shared = { chain, heuristic: 'lockstep', form: 'same_moments', key } as const;
      return { ...shared, address, tx, block, at, rests_on: null, whole };
    }),
  );
  return { ties, objections: [] };
}

function isAlike(moments: readonly Act[], acts: readonly [readonly Act[], readonly Act[]]) {
  const fewer = Math.min(acts[0].length, acts[1].length);
  return moments.length >= MOMENTS_MIN && moments.length >= fewer * MOMENTS_SHARE_MIN;
}

/**
 * The transfers that an address sent in transactions of its own, by its own history alone: whoever
 * else was read before must not change what counts.
 */
function ownTransfers({ address, transfers }: AddressHistory, chain: ChainName): HistoryTransfer[] {
  const own = transfers.filter((one) => one.chain === chain && one.success !== false);
  const signed = new Set(
    own.filter((one) => one.from === address && signerOf(one) === address).map(({ tx }) => tx),
  );
  return own.filter(({ from, tx }) => from === address && signed.has(tx));
}

function actsOf(own: readonly HistoryTransfer[], partner: string): Act[] {
  const byTx = new Map<string, Act>();
  for (const { tx, block, at, to } of own) {
    if (to !== partner) byTx.set(tx, { tx, block, at, target: to });
  }
  return [...byTx.values()].sort((a, b) => a.at - b.at || (a.tx < b.tx ? -1 : 1));
}

/** The acts of the first that the second matches on the same target; each act serves once. */
function momentsOf(first: readonly Act[], second: readonly Act[]): Act[] {
  const byTarget = new Map<string, Act[]>();
  for (const act of second) collect(byTarget, act.target, act);
  const used = new Set<string>();
  const moments: Act[] = [];
  for (const act of first) {
    const match = rowsUnder(byTarget, act.target).find(
      ({ tx, at }) => !used.has(tx) && tx !== act.tx && Math.abs(at - act.at) <= MOMENT_S,
    );
    if (match === undefined) continue;
    used.add(match.tx);
    moments.push(act);
  }
  return moments;
}

// The null model of lockstep: the second's acts on a target fall where anybody's do. Expected
// moments are summed over the first's acts, and the number seen is held against a Poisson law.

/** An address acted on a target in a transaction of its own. */
export type Act = TiedBy & { readonly target: string };

/** Two acts on the same counterparty no further apart than this are one moment, in seconds. */
export const MOMENT_S = 600;

/**
 * The chance of at least `moments` shared moments. `targets` are the whole histories of what they
 * acted on: where others crowd into the same minutes, a moment shows little.
 */
export function chanceOfMoments(
  [first, second]: readonly [readonly Act[], readonly Act[]],
  moments: number,
  own: readonly string[],
  targets: ReadonlyMap<string, AddressHistory>,
): number {
  const times = [...first, ...second].map(({ at }) => at);
  const span = Math.max(...times, 0) - Math.min(...times, Number.MAX_SAFE_INTEGER);
  const acts = new Map<string, number>();
  for (const { target } of second) tally(acts, target);
  let expected = 0;
  for (const { at, target } of first) {
    const known = targets.get(target);
    if (known === undefined) throw new Error('lockstep: acts on known targets only');
    const others = known.transfers.filter(
      ({ from, to }) => to === known.address && !own.includes(from),
    );
    const near = others.filter((one) => Math.abs(one.at - at) <= MOMENT_S).length;
    const even = (2 * MOMENT_S) / Math.max(span, 2 * MOMENT_S);
    const crowded = others.length === 0 ? 0 : near / others.length;
    const matching = acts.get(target);
    if (matching === undefined) continue;
    expected += Math.min(1, matching * Math.max(even, crowded));
  }
  return poissonTail(expected, moments);
}

/** The chance that a Poisson variable of this mean is at least `count`. */
function poissonTail(mean: number, count: number): number {
  let term = Math.exp(-mean);
  let below = 0;
  for (let k = 0; k < count; k += 1) {
    below += term;
    term *= mean / (k + 1);
  }
  return Math.max(0, 1 - below);
}
