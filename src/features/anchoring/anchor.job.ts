// Sends the root of the log to the anchoring contract: one at a time, by one holder of a lease, and
// each transaction is kept before it is sent. After a crash the same bytes are sent again, which a
// node takes once. A transaction that is not mined is replaced under its own nonce, so that no
// nonce is used for two roots, and a root ends only at a finalised block. What was sent to a chain,
// contract or account that is set no more is followed to its end all the same.

import type { UnixSeconds } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { map, Read, type Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import {
  ANCHOR_LEASE,
  type AnchorChain,
  type AnchorChainState,
  type AnchorEnd,
  type AnchorFees,
  type AnchorPlace,
  type AnchorSend,
  type AnchorSends,
  type AnchorsPort,
  isSamePlace,
  type LastSent,
  type LastSentFile,
  type NamedRoot,
  type NewestSend,
  SENT_FOR_ONE_MAX,
} from '../../ports/anchoring.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { TransparencyLogPort } from '../../ports/transparency-log.ts';

/** The dependencies of the job. */
export type AnchoringParts = {
  /** Where new roots are sent to. */
  readonly place: AnchorPlace;
  /** A contract on its chain; `null`: no node of the chain is set. */
  readonly chainAt: (place: AnchorPlace) => AnchorChain | null;
  readonly sends: AnchorSends;
  readonly leases: Leases;
  readonly lastSent: LastSentFile;
  /** The newest signed root of the log; `null`: none is signed yet. */
  readonly head: () => Promise<Reading<NamedRoot | null, TransparencyLogPort>>;
  /** Seconds between two anchors, at least. */
  readonly everyS: number;
  readonly now: () => UnixSeconds;
};

const LEASE_S = 120;
/** The longest that one turn may take: less than the lease lasts. */
const TURN_MS = 90_000;
/** Seconds after which a transaction that is in no block is replaced by one that pays more. */
const REPLACED_AFTER_S = 300;
/** A node takes a replacement that pays a tenth more; some ask for an eighth. */
const RAISE = { times: 9n, of: 8n } as const;
/** What one unit of gas may cost at most. */
const FEE_MAX_WEI = 500_000_000_000n;
/** Gas beyond what the node estimates, since the state may change until it is mined. */
const GAS = { times: 5n, of: 4n } as const;
const BASE_FEES = 2n;

/**
 * Takes one step with each root that is under way; why something could not be done or waits.
 * `null`: another process has the lease, and tells.
 */
export async function anchorOnce(
  parts: AnchoringParts,
  signal: AbortSignal,
): Promise<readonly Why[] | null> {
  const taken = await parts.leases.take(ANCHOR_LEASE, LEASE_S);
  if (!taken.checked) return [taken.why];
  if (taken.value === null) return null;
  try {
    return await anchorAs(parts, taken.value.epoch, signal);
  } finally {
    await parts.leases.release(ANCHOR_LEASE);
  }
}

/**
 * Tells what the roots would wait for if a turn came now. It needs no lease: nothing is written,
 * and nothing is sent.
 */
export function lookAhead(parts: AnchoringParts, signal: AbortSignal): Promise<readonly Why[]> {
  const { place, sends, chainAt } = parts;
  const unwritten = async () => map(await sends.newest(place), () => false);
  return anchorAs(
    {
      ...parts,
      sends: { ...sends, begin: unwritten, replace: unwritten, mark: unwritten, end: unwritten },
      chainAt: (at) => {
        const chain = chainAt(at);
        return chain === null ? null : { ...chain, send: null };
      },
    },
    NO_EPOCH,
    signal,
  );
}

const NO_EPOCH = 0;

async function anchorAs(
  parts: AnchoringParts,
  epoch: number,
  signal: AbortSignal,
): Promise<readonly Why[]> {
  const { place, sends } = parts;
  const open = await sends.open();
  if (!open.checked) return [open.why];
  const isOurs = (send: AnchorSend) => isSamePlace(send, place);
  const inTheWay = open.value.filter((send) => isInTheWay(send, place));
  const whys = inTheWay.filter((send) => !isOurs(send)).map(whyBehind);
  if (inTheWay.length === 0) whys.push(...present([await begin(parts, epoch, signal)]));
  // The node of a former chain may be slow: what is set comes first.
  const [ours, former] = [open.value.filter(isOurs), open.value.filter((send) => !isOurs(send))];
  for (const send of [...ours, ...former]) {
    whys.push(...present([await goOn(parts, send, epoch, signal)]));
  }
  return whys;
}

/** Whether a send has to end first: a contract takes one at a time, and so does an account. */
function isInTheWay(send: AnchorSend, { chain_id, contract, sender }: AnchorPlace): boolean {
  return send.chain_id === chain_id && (send.contract === contract || send.sender === sender);
}

function whyBehind({ size, contract, sender, nonce }: AnchorSend): Why {
  return why('anchor_behind', { size: String(size), contract, sender, nonce: String(nonce) });
}

/** The contract of a place, and what its chain tells of it. */
type Reached =
  | { readonly chain: AnchorChain; readonly state: AnchorChainState; readonly silent: null }
  | { readonly silent: Why };

async function reach(
  { chainAt }: AnchoringParts,
  place: AnchorPlace,
  signal: AbortSignal,
): Promise<Reached> {
  const chain = chainAt(place);
  if (chain === null) {
    const { chain_id, contract } = place;
    return { silent: why('anchor_node_absent', { chain: String(chain_id), contract }) };
  }
  const state = await chain.state(signal);
  return state.checked ? { chain, state: state.value, silent: null } : { silent: state.why };
}

/** Whether a root may be sent after one that began by the store's clock. @internal */
export function mayFollow(began_at: number | null, everyS: number, now: number): boolean {
  return began_at === null || now - began_at >= everyS;
}

/** Sends the newest root, where it is due and nothing is in the way. */
async function begin(
  parts: AnchoringParts,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { place, sends, head, everyS, now } = parts;
  const [newest, root] = await Promise.all([sends.newest(place), head()]);
  if (!newest.checked) return newest.why;
  if (!(root instanceof Read)) return root.why;
  if (root.value === null) return null;
  const { began_at, size, origin } = newest.value;
  if (origin !== null && origin !== root.value.origin) {
    return why('anchor_origin_other', { contract: place.contract, origin });
  }
  if (root.value.size <= size) return null;
  if (!mayFollow(began_at, everyS, now())) return null;
  const reached = await reach(parts, place, signal);
  if (reached.silent !== null) return reached.silent;
  const { chain, state } = reached;
  const stop = await whyUnfit(parts, state, newest.value);
  if (stop !== null) return stop;
  const estimate = await chain.gasOf(root.value, signal);
  if (!estimate.checked) return estimate.why;
  if ('refused' in estimate.value) {
    return why('anchor_refused', { contract: place.contract, size: String(root.value.size) });
  }
  const gas = (estimate.value.gas * GAS.times) / GAS.of;
  const fees = feesOf(state);
  const unpaid = whyUnpaid(state, gas, fees, place.sender);
  if (unpaid !== null) return unpaid;
  if (chain.sign === null) return whyKeyless(place);
  const { nonce } = state;
  const signed = chain.sign(root.value, nonce, gas, fees);
  const fresh = { ...root.value, ...place, nonce };
  const begun = await sends.begin({ ...fresh, gas, signed }, epoch);
  if (!begun.checked) return begun.why;
  return begun.value ? send(parts, chain, fresh, signed.raw, signal) : null;
}

/** Why no root may go to the place, as its chain, the store and the file tell of it. */
async function whyUnfit(
  { place, lastSent }: AnchoringParts,
  { contract: found, nonce }: AnchorChainState,
  { nonce: known, size }: NewestSend,
): Promise<Why | null> {
  const { chain_id, contract, sender } = place;
  if (found === null || found.owner !== sender) {
    return why('anchor_contract_other', { contract, sender });
  }
  const told = await lastSent.read();
  if (!told.checked) return told.why;
  const sent = told.value.filter((one) => one.chain_id === chain_id && one.sender === sender);
  // The store lost what it had sent: a second history must not be anchored behind the first.
  const isLost = sent.some((one) => {
    return one.contract === contract && (known === null || one.nonce > known);
  });
  if (isLost || found.latest_size > size) return why('anchor_store_behind', { contract });
  // A node that does not know the last transaction yet would have its nonce used again.
  const used = Math.max(...sent.map((one) => one.nonce), ...present([known]));
  if (nonce > used) return null;
  return why('anchor_nonce_behind', { sender, nonce: String(used) });
}

function whyKeyless({ contract, sender }: AnchorPlace): Why {
  return why('anchor_key_absent', { contract, sender });
}

/** Looks what became of a root that is under way, and sends it again where it is in no block. */
async function goOn(
  parts: AnchoringParts,
  open: AnchorSend,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { sends } = parts;
  const reached = await reach(parts, open, signal);
  if (reached.silent !== null) return reached.silent;
  const { chain, state } = reached;
  const mined = await chain.minedOf(
    open.sent.map(({ tx }) => tx),
    signal,
  );
  if (!mined.checked) return mined.why;
  if (mined.value === null) return sendAgain(parts, chain, { open, state }, epoch, signal);
  const { tx, block, ok } = mined.value;
  if (block > state.finalised) {
    if (open.status === 'submitted') return null;
    return whyOf(await sends.mark(open, 'submitted', epoch));
  }
  const end: AnchorEnd = ok
    ? { status: 'confirmed', tx, block }
    : { status: 'failed', reason: 'the contract refused it' };
  return whyOf(await sends.end(open, end, epoch));
}

async function sendAgain(
  parts: AnchoringParts,
  chain: AnchorChain,
  { open, state }: { readonly open: AnchorSend; readonly state: AnchorChainState },
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { sends, now } = parts;
  if (state.finalised_nonce > open.nonce) {
    const reason = 'its nonce was used by a transaction that Exhibit did not send';
    return whyOf(await sends.end(open, { status: 'failed', reason }, epoch));
  }
  // The node has not caught up with itself, or another transaction took the nonce and is not final.
  if (state.nonce > open.nonce) {
    return why('anchor_nonce_behind', { sender: open.sender, nonce: String(open.nonce) });
  }
  if (open.status === 'submitted') {
    // The block that held it is gone.
    const marked = await sends.mark(open, 'queued', epoch);
    if (!marked.checked) return marked.why;
    if (!marked.value) return null;
  }
  const [newest] = open.sent;
  const isStuck = now() - newest.at >= REPLACED_AFTER_S;
  if (!isStuck || open.sent.length >= SENT_FOR_ONE_MAX) {
    return send(parts, chain, open, newest.raw, signal);
  }
  if (chain.sign === null) {
    const again = await send(parts, chain, open, newest.raw, signal);
    return again === null ? whyKeyless(open) : again;
  }
  const fees = raisedFees(newest, feesOf(state));
  const stop = whyUnpaid(state, open.gas, fees, open.sender);
  // What was sent before may still be mined.
  if (stop !== null) return stop;
  const signed = chain.sign(open, open.nonce, open.gas, fees);
  const kept = await sends.replace(open, signed, epoch);
  if (!kept.checked) return kept.why;
  return kept.value ? send(parts, chain, open, signed.raw, signal) : null;
}

/** Sends a transaction that the store keeps, once the file knows of it too. */
async function send(
  { lastSent }: AnchoringParts,
  chain: AnchorChain,
  { chain_id, contract, sender, nonce, size }: LastSent,
  raw: string,
  signal: AbortSignal,
): Promise<Why | null> {
  if (chain.send === null) {
    const seen = await lastSent.read();
    return seen.checked ? null : seen.why;
  }
  const kept = await lastSent.write({ chain_id, contract, sender, nonce, size });
  if (!kept.checked) return kept.why;
  const sent = await chain.send(raw, signal);
  return sent.checked ? null : sent.why;
}

function whyOf(reading: Reading<boolean, AnchorsPort>): Why | null {
  return reading.checked ? null : reading.why;
}

function feesOf({ base_fee_wei, tip_wei }: AnchorChainState): AnchorFees {
  return { max_fee_wei: BASE_FEES * base_fee_wei + tip_wei, tip_wei };
}

function raisedFees(before: AnchorFees, now: AnchorFees): AnchorFees {
  const raise = (fee: bigint) => (fee * RAISE.times) / RAISE.of + 1n;
  const greater = (one: bigint, other: bigint) => (one > other ? one : other);
  return {
    max_fee_wei: greater(raise(before.max_fee_wei), now.max_fee_wei),
    tip_wei: greater(raise(before.tip_wei), now.tip_wei),
  };
}

/** Why a transaction cannot be paid for; `null`: it can. */
function whyUnpaid(
  { balance_wei }: AnchorChainState,
  gas: bigint,
  { max_fee_wei }: AnchorFees,
  sender: string,
): Why | null {
  if (max_fee_wei > FEE_MAX_WEI) {
    return why('anchor_fee_high', { fee: String(max_fee_wei), max: String(FEE_MAX_WEI) });
  }
  const cost = gas * max_fee_wei;
  if (balance_wei >= cost) return null;
  return why('anchor_purse_empty', { sender, has: String(balance_wei), needs: String(cost) });
}

/** What the roots of one turn waited for, and all of it in words. */
type Waits = { readonly whys: readonly Why[]; readonly reason: string };
type AnchoringTurns = AnchoringParts &
  RoundPace<Waits> & {
    /** What was waited for in a turn; `null`: another process has the lease. */
    readonly onTurn: (whys: readonly Why[] | null) => void;
  };

/** Sends roots until it is stopped. */
export function anchorUntilStopped(parts: AnchoringTurns): BoundedTask {
  return repeatRounds(parts, async (signal) => {
    const whys = await anchorOnce(parts, AbortSignal.any([signal, AbortSignal.timeout(TURN_MS)]));
    parts.onTurn(whys);
    if (whys === null || whys.length === 0) return null;
    return { whys, reason: whys.map(({ reason }) => reason).join(' ') };
  });
}
