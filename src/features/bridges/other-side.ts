// When is an arrival the other side of what was sent, and what is said of it?
// By the id that both sides log, or, where there is none, by the terms that both of them name.

import type { Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { BridgeArrivalsPort } from '../../ports/bridges/bridge-arrivals.ts';
import type { BridgeChain, BridgeProtocol } from '../../ports/bridges/bridge-registry.ts';
import type { Arrival } from '../../ports/bridges/explained-receipt.ts';
import { hasSharedId } from './payers.ts';
import type { DecodedEvent } from './protocols/decode.ts';

/** What is asked about: something that was sent, and when. */
export type Sent = {
  readonly event: DecodedEvent;
  readonly chain: BridgeChain;
  readonly tx: string;
  /** Unix seconds. */
  readonly at: number;
};

/** What came of it, as far as that was read. */
export type Outcome = 'matched' | 'in_flight' | 'unmatched';

/** The other side of something that was sent, with the reading that its state rests on. */
export type Destination = {
  readonly chain: string | null;
  /** The transaction that paid it there. */
  readonly tx: string | null;
  /** `null` where nothing can be said. */
  readonly state: Read<Outcome, BridgeArrivalsPort> | 'messaging_only' | null;
  /** The rule by which both sides were joined, or the page whose word the state is. */
  readonly matched_by: Arrival['matched_by'];
  /** Why nothing can be said, and what else is said of it. */
  readonly reasons: readonly Why[];
};

/** Of what nothing can be said, and why. */
export function notTold(chain: string | null, ...reasons: readonly Why[]): Destination {
  return { chain, tx: null, state: null, matched_by: null, reasons };
}

/** Of what only a message was sent: whether that moved anything is its application's. */
export function messageOnly(chain: string | null): Destination {
  return { chain, tx: null, state: 'messaging_only', matched_by: null, reasons: [] };
}

/** A protocol without a deadline of its own is waited for this long. */
const WAIT_S = 7 * 24 * 3_600;
/** Clocks of chains differ: a fill may bear an earlier time than its deposit. */
const CLOCKS_APART_S = 600;

/** Protocols whose own word tells until when a deposit may be filled. */
const WITH_DEADLINE: readonly BridgeProtocol[] = ['across'];

/** The moments between which it may arrive, in Unix seconds. */
export function windowOf({ event, at }: Pick<Sent, 'event' | 'at'>) {
  const { protocol, promised } = event;
  const own = promised === null || !WITH_DEADLINE.includes(protocol) ? null : promised.deadline;
  return { since: at - CLOCKS_APART_S, until: own === null ? at + WAIT_S : own };
}

/** What is said where nothing arrived by a chain whose newest block is of this time. */
export function openOrOver(head_time: number, until: number): Outcome {
  // A chain whose newest block is older than the end of the time may still pay it.
  return head_time <= until ? 'in_flight' : 'unmatched';
}

/** By what both sides of something that was sent are joined. */
export type JoinedBy = 'message_id' | 'fill_rules';

/** By what an event may be joined with its other side; `null` where it bears too little. */
export function ruleOf(sent: DecodedEvent): JoinedBy | null {
  const { promised, event } = sent;
  if (hasSharedId(sent)) return 'message_id';
  const isWhole = promised !== null && promised.recipient !== null && promised.amount !== null;
  return isWhole && BY_RULES.includes(event) ? 'fill_rules' : null;
}

/** Events without an id whose terms the other side's event repeats, one by one. */
const BY_RULES: readonly string[] = ['TransferSentToL2'];

/** Whether an arrival is what was sent: on its path, by its id or its terms, and on those terms. */
export function isOtherSide(sent: DecodedEvent, arrival: DecodedEvent, rule: JoinedBy): boolean {
  if (arrival.kind !== 'bridge' || arrival.direction !== 'in') return false;
  if (arrival.protocol !== sent.protocol || arrival.destination !== sent.destination) return false;
  if (arrival.origin !== null && arrival.origin !== sent.origin) return false;
  if (rule === 'message_id' && arrival.message_id !== sent.message_id) return false;
  if (rule === 'fill_rules' && arrival.message_id !== null) return false;
  return keepsTerms(sent, arrival);
}

/** Whether an arrival keeps what was promised, as far as both events tell it. */
function keepsTerms({ promised }: DecodedEvent, { logged, promised: repeated }: DecodedEvent) {
  if (promised === null) return true;
  const got = {
    recipient: repeated === null ? logged.user : repeated.recipient,
    amount: repeated === null ? logged.amount : repeated.amount,
    deadline: repeated === null ? null : repeated.deadline,
  };
  return (
    agree(promised.recipient, got.recipient) &&
    agree(promised.amount, got.amount) &&
    agree(promised.deadline, got.deadline)
  );
}

function agree<T>(a: T | null, b: T | null): boolean {
  return a === null || b === null || a === b;
}
