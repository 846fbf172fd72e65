// Where did what an event says was sent arrive: by the other chain's logs, by what the warehouse
// holds of its payments, or by a status page's word?
// That nothing arrived is said only after the other chain was read to the end of the time in which
// it could have; until then it is on its way. A status page's word is told as its own.

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
  type BridgeProtocol,
  type RegistryRow,
} from '../../ports/bridges/bridge-registry.ts';
import type { Arrival } from '../../ports/bridges/explained-receipt.ts';
import {
  type Destination,
  isOtherSide,
  messageOnly,
  notTold,
  type Outcome,
  openOrOver,
  ruleOf,
  type Sent,
  windowOf,
} from './other-side.ts';
import { whyUndeniable } from './payers.ts';
import { type ArrivalPorts, byPayments } from './payments.ts';
import { carrierOf } from './protocols/circle.ts';
import { type DecodedEvent, decodeReceipt, EVENT_LAYOUTS } from './protocols/decode.ts';
import { NOBODY } from './protocols/layout.ts';
import { movesAssets, registryIndex } from './registry.ts';

/** The same of an event in a block of a chain, whose time its node tells. */
export async function arrivalOf(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  asked: Pick<Sent, 'event' | 'tx'> & { readonly chain: string | null; readonly block: number },
  signal: AbortSignal,
): Promise<Arrival> {
  const { event, tx, block } = asked;
  const own = BRIDGE_CHAINS.find((one) => one === asked.chain);
  if (own === undefined) throw new TypeError('an event of a chain that is not covered');
  if (event.kind === 'message') return shown(messageOnly(event.destination));
  const time = await ports.bridgeArrivals.timeOf(own, block, signal);
  const sent = { event, chain: own, tx };
  if (time instanceof Read) {
    return shown(await destinationOf(ports, rows, { ...sent, at: time.value }, signal));
  }
  // Logs are looked for from a moment on; a page knows a deposit by its id alone.
  const untimed = notTold(event.destination, time.why);
  return shown(await besidePage(ports.bridgeArrivals, sent, untimed, signal));
}

function shown({ state, reasons, ...rest }: Destination): Arrival {
  const said = state instanceof Read ? state.value : state;
  return { ...rest, state: said, reason: sentences(reasons) };
}

/** Reasons as one text; `null` for none. */
export function sentences(reasons: readonly Why[]): string | null {
  return reasons.length === 0 ? null : reasons.map(({ reason }) => reason).join(' ');
}

/**
 * Looks for the other side of what was sent: in the chain's logs, where these tell nothing among
 * what the warehouse holds of its payments, then on the status page.
 */
export async function destinationOf(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  sent: Sent,
  signal: AbortSignal,
): Promise<Destination> {
  if (sent.event.kind === 'message') return messageOnly(sent.event.destination);
  const { bridgeArrivals } = ports;
  const logged = await byLogs(bridgeArrivals, rows, sent, signal);
  const told = logged.state === null ? await byPayments(ports, rows, sent, logged, signal) : logged;
  return besidePage(bridgeArrivals, sent, told, signal);
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
  const carrier = carrierOf(event.message_id, chain);
  if (rule === null || carrier === 'none there') {
    return notTold(chain, why('destination_not_joined', { event: event.event }));
  }
  const listed = rows.filter(
    (row) => row.chain === chain && row.protocol === protocol && movesAssets(row),
  );
  const { contracts, topics } = carrier ?? {
    contracts: [...new Set(listed.map(({ address }) => address))],
    topics: topicsOf(protocol),
  };
  if (contracts.length === 0) {
    return notTold(chain, why('registry_row_missing', { chain: `${protocol} on ${chain}` }));
  }
  const { since, until } = windowOf({ event, at });
  const index = registryIndex(rows);
  const isPaid = (log: ArrivalLog) =>
    eventsOf(chain, log, index).some((arrival) => isOtherSide(event, arrival, rule));
  const reading = await arrivals.lookUp(
    {
      chain,
      contracts,
      topics,
      since,
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
  const undeniable = whyUndeniable(event, at, listed);
  if (undeniable !== null) return notTold(chain, undeniable);
  const state = map(met, ({ head_time }) => openOrOver(head_time, until));
  return { chain, tx: null, state, matched_by: null, reasons: [] };
}

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
