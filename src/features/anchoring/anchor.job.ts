// Sends the root of the log to the anchoring contract: one at a time, by one holder of a lease, and
// each transaction is kept before it is sent. After a crash the same bytes are sent again, which a
// node takes once. A transaction that is not mined is replaced under its own nonce, so that no
// nonce is used for two roots, and a root ends only at a finalised block.

import type { UnixSeconds } from '../../chain/time.ts';
import { Read, type Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { type BoundedTask, untilStopped } from '../../evidence/waiting.ts';
import {
  ANCHOR_LEASE,
  type AnchorChain,
  type AnchorChainState,
  type AnchorEnd,
  type AnchorFees,
  type AnchorSend,
  type AnchorSends,
  type AnchorsPort,
  type LastSent,
  type LastSentFile,
  type NamedRoot,
  SENT_FOR_ONE_MAX,
} from '../../ports/anchoring.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { TransparencyLogPort } from '../../ports/transparency-log.ts';

/** The dependencies of the job. */
export type AnchoringParts = {
  readonly chain: AnchorChain;
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

/** Takes one step; why nothing could be sent, or `null`. */
export async function anchorOnce(parts: AnchoringParts, signal: AbortSignal): Promise<Why | null> {
  const taken = await parts.leases.take(ANCHOR_LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    return await anchorAs(parts, taken.value.epoch, signal);
  } finally {
    await parts.leases.release(ANCHOR_LEASE);
  }
}

async function anchorAs(
  parts: AnchoringParts,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { chain, sends } = parts;
  const open = await sends.open();
  if (!open.checked) return open.why;
  const state = await chain.state(signal);
  if (!state.checked) return state.why;
  return open.value === null
    ? begin(parts, state.value, epoch, signal)
    : goOn(parts, open.value, state.value, epoch, signal);
}

/** Sends the newest root, where it is due and nothing is in the way. */
async function begin(
  parts: AnchoringParts,
  state: AnchorChainState,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { chain, sends, head, lastSent, everyS, now } = parts;
  const [newest, root] = await Promise.all([sends.newest(chain.sender), head()]);
  if (!newest.checked) return newest.why;
  if (!(root instanceof Read)) return root.why;
  const { began_at, size, origin, nonce: known } = newest.value;
  if (root.value === null) return null;
  if (origin !== null && origin !== root.value.origin) {
    return why('anchor_origin_other', { contract: chain.contract, origin });
  }
  if (root.value.size <= size) return null;
  if (began_at !== null && now() - began_at < everyS) return null;
  const { contract, nonce } = state;
  if (contract === null || contract.owner !== chain.sender) {
    return why('anchor_contract_other', { contract: chain.contract, sender: chain.sender });
  }
  // The store lost what it had sent: a second history must not be anchored behind the first.
  const sent = await lastSent.read();
  const hasLost = sent !== null && (known === null || sent.nonce > known);
  if (hasLost || contract.latest_size > size) {
    return why('anchor_store_behind', { contract: chain.contract });
  }
  // A node that does not know the last transaction yet would have its nonce used again.
  if (known !== null && nonce <= known) return null;
  const estimate = await chain.gasOf(root.value, signal);
  if (!estimate.checked) return estimate.why;
  if ('refused' in estimate.value) {
    return why('anchor_refused', { contract: chain.contract, size: String(root.value.size) });
  }
  const gas = (estimate.value.gas * GAS.times) / GAS.of;
  const fees = feesOf(state);
  const stop = whyUnpaid(state, gas, fees, chain.sender);
  if (stop !== null) return stop;
  const signed = chain.sign(root.value, nonce, gas, fees);
  const begun = await sends.begin(
    { ...root.value, sender: chain.sender, nonce, gas, signed },
    epoch,
  );
  if (!begun.checked) return begun.why;
  return begun.value ? send(parts, { nonce, size: root.value.size }, signed.raw, signal) : null;
}

/** Looks what became of the root that is under way, and sends it again where it is in no block. */
async function goOn(
  parts: AnchoringParts,
  open: AnchorSend,
  state: AnchorChainState,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { chain, sends } = parts;
  const mined = await chain.minedOf(
    open.sent.map(({ tx }) => tx),
    signal,
  );
  if (!mined.checked) return mined.why;
  if (mined.value === null) return sendAgain(parts, open, state, epoch, signal);
  const { tx, block, ok } = mined.value;
  if (block > state.finalised) {
    if (open.status === 'submitted') return null;
    return whyOf(await sends.mark(open.size, 'submitted', epoch));
  }
  const end: AnchorEnd = ok
    ? { status: 'confirmed', tx, block }
    : { status: 'failed', reason: 'the contract refused it' };
  return whyOf(await sends.end(open.size, end, epoch));
}

async function sendAgain(
  parts: AnchoringParts,
  open: AnchorSend,
  state: AnchorChainState,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const { chain, sends, now } = parts;
  if (state.finalised_nonce > open.nonce) {
    const reason = 'its nonce was used by a transaction that Exhibit did not send';
    return whyOf(await sends.end(open.size, { status: 'failed', reason }, epoch));
  }
  // A node that counts the nonce and knows no receipt has not caught up with itself.
  if (state.nonce > open.nonce) return null;
  if (open.status === 'submitted') {
    // The block that held it is gone.
    const marked = await sends.mark(open.size, 'queued', epoch);
    if (!marked.checked) return marked.why;
    if (!marked.value) return null;
  }
  const [newest] = open.sent;
  const isStuck = now() - newest.at >= REPLACED_AFTER_S;
  if (!isStuck || open.sent.length >= SENT_FOR_ONE_MAX) {
    return send(parts, open, newest.raw, signal);
  }
  const fees = raisedFees(newest, feesOf(state));
  const stop = whyUnpaid(state, open.gas, fees, chain.sender);
  // What was sent before may still be mined.
  if (stop !== null) return stop;
  const signed = chain.sign(open, open.nonce, open.gas, fees);
  const kept = await sends.replace(open.size, signed, epoch);
  if (!kept.checked) return kept.why;
  return kept.value ? send(parts, open, signed.raw, signal) : null;
}

/** Sends a transaction that the store keeps, once the file knows of it too. */
async function send(
  { chain, lastSent }: AnchoringParts,
  { nonce, size }: LastSent,
  raw: string,
  signal: AbortSignal,
): Promise<Why | null> {
  await lastSent.write({ nonce, size });
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

/** How the job waits, and whom it tells. */
export type AnchoringTurns = AnchoringParts & {
  readonly turnMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onWhy: (why: Why) => void;
  readonly onBug: (fault: unknown) => void;
};

/** Sends roots until it is stopped. */
export function anchorUntilStopped(parts: AnchoringTurns): BoundedTask {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      try {
        const bound = AbortSignal.any([signal, AbortSignal.timeout(TURN_MS)]);
        const stop = await anchorOnce(parts, bound);
        if (stop !== null) parts.onWhy(stop);
      } catch (fault) {
        parts.onBug(fault);
      }
      await parts.sleep(parts.turnMs, signal);
    }
  });
}
