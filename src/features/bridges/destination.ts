// Where did what an event says was sent arrive, by its message id or by its protocol's fill rules?
// That nothing arrived is said only after the other chain's logs were read to the end of the time
// in which it could have; until then it is on its way. A status page's word is told as its own.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { decided, map, Read, type Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ArrivalLog,
  BridgeArrivals,
  BridgeArrivalsPort,
  StatusAsked,
  StatusTold,
} from '../../ports/bridges/bridge-arrivals.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type BridgeProtocol,
  type RegistryRow,
} from '../../ports/bridges/bridge-registry.ts';
import type { Arrival } from '../../ports/bridges/explained-receipt.ts';
import { hasSharedId, whyUndeniable } from './payers.ts';
import { type DecodedEvent, decodeReceipt, EVENT_LAYOUTS } from './protocols/decode.ts';
import { NOBODY } from './protocols/layout.ts';
import { movesAssets, registryIndex } from './registry.ts';

/** What is asked about: something that was sent, and when. */
export type Sent = {
  readonly event: DecodedEvent;
  readonly chain: BridgeChain;
  readonly tx: string;
  /** Unix seconds. */
  readonly at: number;
};

/** What came of it, as far as that was read. */
type Outcome = 'matched' | 'in_flight' | 'unmatched';

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

/** A protocol without a deadline of its own is waited for this long. */
const WAIT_S = 7 * 24 * 3_600;
/** Clocks of chains differ: a fill may bear an earlier time than its deposit. */
const CLOCKS_APART_S = 600;

/** Protocols whose own word tells until when a deposit may be filled. */
const WITH_DEADLINE: readonly BridgeProtocol[] = ['across'];

/** The same of an event in a block of a chain, whose time its node tells. */
export async function arrivalOf(
  arrivals: BridgeArrivals,
  rows: readonly RegistryRow[],
  asked: Pick<Sent, 'event' | 'tx'> & { readonly chain: string | null; readonly block: number },
  signal: AbortSignal,
): Promise<Arrival> {
  const { event, tx, block } = asked;
  const own = BRIDGE_CHAINS.find((one) => one === asked.chain);
  if (own === undefined) throw new TypeError('an event of a chain that is not covered');
  if (event.kind === 'message') return shown(messageOnly(event.destination));
  const time = await arrivals.timeOf(own, block, signal);
  const sent = { event, chain: own, tx };
  if (time instanceof Read) {
    return shown(await destinationOf(arrivals, rows, { ...sent, at: time.value }, signal));
  }
  // Logs are looked for from a moment on; a page knows a deposit by its id alone.
  const untimed = notTold(event.destination, time.why);
  return shown(await besidePage(arrivals, sent, untimed, signal));
}

function shown({ state, reasons, ...rest }: Destination): Arrival {
  const said = state instanceof Read ? state.value : state;
  return { ...rest, state: said, reason: sentences(reasons) };
}

/** Reasons as one text; `null` for none. */
export function sentences(reasons: readonly Why[]): string | null {
  return reasons.length === 0 ? null : reasons.map(({ reason }) => reason).join(' ');
}

/** Of what nothing can be said, and why. */
export function notTold(chain: string | null, ...reasons: readonly Why[]): Destination {
  return { chain, tx: null, state: null, matched_by: null, reasons };
}

/** Of what only a message was sent: whether that moved anything is its application's. */
export function messageOnly(chain: string | null): Destination {
  return { chain, tx: null, state: 'messaging_only', matched_by: null, reasons: [] };
}

/** Looks for the other side of what was sent: in the chain's logs, then on the status page. */
export async function destinationOf(
  arrivals: BridgeArrivals,
  rows: readonly RegistryRow[],
  sent: Sent,
  signal: AbortSignal,
): Promise<Destination> {
  if (sent.event.kind === 'message') return messageOnly(sent.event.destination);
  return besidePage(arrivals, sent, await byLogs(arrivals, rows, sent, signal), signal);
}

type Deposited = Omit<Sent, 'at'>;

async function besidePage(
  arrivals: BridgeArrivals,
  sent: Deposited,
  logged: Destination,
  signal: AbortSignal,
): Promise<Destination> {
  if (logged.tx !== null || arrivals.pageOf(sent.event.protocol) === null) return logged;
  return withPage(logged, await arrivals.statusOf(statusAsked(sent), signal));
}

function statusAsked({ event, chain, tx }: Deposited): StatusAsked {
  const { protocol, message_id, promised } = event;
  const told = promised !== null && promised.recipient !== null && promised.amount !== null;
  const terms = told
    ? { recipient: String(promised.recipient), amount: String(promised.amount) }
    : null;
  return { protocol, chain, tx, message_id, destination_id: chainIdOf(event.destination), terms };
}

const EIP155 = /^eip155:(\d+)$/;

function chainIdOf(chain: string | null): number | null {
  const own = BRIDGE_CHAINS.find((one) => one === chain);
  if (own !== undefined) return CHAINS[own].chain_id;
  const id = EIP155.exec(String(chain))?.[1];
  return id === undefined ? null : Number(id);
}

/**
 * What logs told, and what a page says beside it. A page convicts; it never denies for good. Where
 * it is set and silent, it might have told of an arrival that no listed contract logged.
 */
function withPage(logged: Destination, said: Reading<StatusTold, BridgeArrivalsPort>): Destination {
  const { chain, state, reasons } = logged;
  if (!(said instanceof Read)) return notTold(chain, ...reasons, said.why);
  const { page, state: told, tx, word } = said.value;
  const known = state instanceof Read ? state.value : null;
  if (told === 'paid') {
    return { chain, tx, state: map(said, () => 'matched'), matched_by: page, reasons };
  }
  if (told === 'under_way' && known === 'in_flight') return logged;
  if (told === 'under_way') {
    const open = map(said, (): Outcome => 'in_flight');
    return { chain, tx: null, state: open, matched_by: page, reasons };
  }
  const beside = why('status_page_says', { page, word });
  // What was stopped is not on its way, and what the logs deny stays denied.
  if (told === 'stopped' && known === 'in_flight') return notTold(chain, beside);
  return { ...logged, reasons: [...reasons, beside] };
}

async function byLogs(
  arrivals: BridgeArrivals,
  rows: readonly RegistryRow[],
  { event, at }: Sent,
  signal: AbortSignal,
): Promise<Destination> {
  const { protocol, destination } = event;
  const chain = BRIDGE_CHAINS.find((one) => one === destination);
  if (chain === undefined) {
    const named = destination === null ? 'a chain that it does not name' : destination;
    return notTold(destination, why('destination_not_covered', { chain: named }));
  }
  const rule = ruleOf(event);
  if (rule === null) {
    return notTold(chain, why('destination_not_joined', { event: event.event }));
  }
  const contracts = rows.filter(
    (row) => row.chain === chain && row.protocol === protocol && movesAssets(row),
  );
  if (contracts.length === 0) {
    return notTold(chain, why('registry_row_missing', { chain: `${protocol} on ${chain}` }));
  }
  const until = untilOf(event, at);
  const index = registryIndex(rows);
  const isPaid = (log: ArrivalLog) =>
    eventsOf(chain, log, index).some((arrival) => isOf(event, arrival, rule));
  const reading = await arrivals.lookUp(
    {
      chain,
      contracts: [...new Set(contracts.map(({ address }) => address))],
      topics: topicsOf(protocol),
      since: at - CLOCKS_APART_S,
      until,
      wanted: isPaid,
    },
    signal,
  );
  const met = decided(reading, ({ found }) => found.length > 0);
  if (!(met instanceof Read)) return notTold(chain, met.why);
  const [paid] = met.value.found;
  if (paid !== undefined) {
    const state = map(met, (): Outcome => 'matched');
    return { chain, tx: paid.tx, state, matched_by: rule, reasons: [] };
  }
  const undeniable = whyUndeniable(event, at, contracts);
  if (undeniable !== null) return notTold(chain, undeniable);
  // A chain whose newest block is older than the end of the time may still pay it.
  const open = (head: number): Outcome => (head <= until ? 'in_flight' : 'unmatched');
  const state = map(met, ({ head_time }) => open(head_time));
  return { chain, tx: null, state, matched_by: null, reasons: [] };
}

function untilOf({ protocol, promised }: DecodedEvent, at: number): number {
  const own = promised === null || !WITH_DEADLINE.includes(protocol) ? null : promised.deadline;
  return own === null ? at + WAIT_S : own;
}

/** By what an event may be joined with its other side. */
function ruleOf(sent: DecodedEvent): Arrival['matched_by'] {
  const { promised, event } = sent;
  if (hasSharedId(sent)) return 'message_id';
  const isWhole = promised !== null && promised.recipient !== null && promised.amount !== null;
  return isWhole && BY_RULES.includes(event) ? 'fill_rules' : null;
}

/** Events without an id whose terms the other side's event repeats, one by one. */
const BY_RULES: readonly string[] = ['TransferSentToL2'];

function topicsOf(protocol: BridgeProtocol): string[] {
  const own = EVENT_LAYOUTS.filter((one) => one.protocol === protocol && one.kind === 'bridge');
  return [...new Set(own.map(({ topic }) => topic))];
}

function eventsOf(
  chain: EvmChainName,
  { tx, block, log }: ArrivalLog,
  index: ReturnType<typeof registryIndex>,
): readonly DecodedEvent[] {
  const receipt = { chain, tx, block, from: NOBODY, to: null, value: 0n, input: null } as const;
  return decodeReceipt({ ...receipt, success: true, logs: [log] }, index).events;
}

/** Whether an arrival is what was sent: on its path, by its id or its terms, and on those terms. */
function isOf(sent: DecodedEvent, arrival: DecodedEvent, rule: Arrival['matched_by']): boolean {
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
