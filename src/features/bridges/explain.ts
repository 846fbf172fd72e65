// Explains what one transaction and its receipt show of bridging, or why nothing.
// A receipt of a chain that the registry does not cover, or with an event of a bridge that cannot
// be read, is not explained: that is no "nothing".

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { listOrNone } from '../../evidence/measure.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type ReceiptFacts,
  type RegistryRow,
} from '../../ports/bridges.ts';
import { type ArrivalPorts, findArrival } from './destination.ts';
import { evmChain } from './protocols/chains.ts';
import { type DecodedEvent, type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { type RegistryIndex, registryIndex } from './registry.ts';
import type { Arrival, BridgeEvent } from './shapes.ts';

/** One thing that was bridged, or passed as a message. */
export type ExplainedEvent = BridgeEvent & {
  readonly protocol: string;
  readonly messaging_only: boolean;
  /** Where it arrived; `null` where nobody looked, and of what arrived here. */
  readonly arrival: Arrival | null;
};

/**
 * `checked` is false where nothing may be denied: the receipt could not be held against the
 * registry, or it holds nothing that can be read and an event of a bridge that cannot.
 */
export type Explanation = {
  readonly checked: boolean;
  readonly chain: string | null;
  /** Whether the file named the chain, or the registry's contracts did. */
  readonly chain_from: 'file' | 'registry' | null;
  readonly bridged: readonly ExplainedEvent[];
  readonly why_not: string | null;
  readonly unknown_events: number;
};

type Unplaced = Omit<ReceiptFacts, 'chain'>;

/** Explains a receipt. `chain` is our name of it, the id of one that is not ours, or `null`. */
export function explainReceipt(
  receipt: Unplaced,
  chain: EvmChainName | number | null,
  rows: readonly RegistryRow[],
): Explanation {
  const index = registryIndex(rows);
  const named = BRIDGE_CHAINS.find((one) => one === chain);
  if (named !== undefined) return explainOn({ ...receipt, chain: named }, 'file', index);
  if (chain !== null) {
    const name = typeof chain === 'number' ? evmChain(chain) : chain;
    const covered = BRIDGE_CHAINS.map((one) => `${one} (${CHAINS[one].chain_id})`).join(', ');
    return notChecked(name, `The registry covers no chain ${name}: ${covered}.`);
  }
  const fits = chainsFitting(receipt, index);
  const [only, second] = fits;
  if (only === undefined) {
    return notChecked(
      null,
      'The file names no chain, and its contracts are on no chain’s registry.',
    );
  }
  const own = BRIDGE_CHAINS.find((one) => one === only);
  if (second !== undefined || own === undefined) {
    return notChecked(null, `The file names no chain, and its contracts fit ${fits.join(', ')}.`);
  }
  return explainOn({ ...receipt, chain: own }, 'registry', index);
}

function notChecked(chain: string | null, why_not: string): Explanation {
  return { checked: false, chain, chain_from: null, bridged: [], why_not, unknown_events: 0 };
}

/** The chains, covered or not, on which the protocol has every contract that logged for it. */
function chainsFitting(receipt: Unplaced, index: RegistryIndex): string[] {
  const fits = new Set<string>();
  for (const chain of BRIDGE_CHAINS) {
    const own = receipt.logs.flatMap(({ address }) => index.at(chain, address, receipt.block));
    if (own.length === 0) continue;
    const decoded = decodeReceipt({ ...receipt, chain }, index);
    if (decoded.events.length + decoded.unknown.length === 0) continue;
    fits.add(chain);
    const elsewhere = own.map(({ also_on }) => also_on);
    const [first, ...rest] = elsewhere;
    const shared = first?.filter((id) => rest.every((one) => one.includes(id)));
    for (const id of listOrNone(shared)) fits.add(evmChain(id));
  }
  return [...fits];
}

function explainOn(
  receipt: ReceiptFacts & { readonly chain: BridgeChain },
  chain_from: Explanation['chain_from'],
  index: RegistryIndex,
): Explanation {
  const decoded = decodeReceipt(receipt, index);
  const bridged = bridgedEvents(decoded).map((one) => {
    const messaging_only = one.kind === 'message';
    return { protocol: one.protocol, ...viewEvent(one), messaging_only, arrival: null };
  });
  const unknown_events = decoded.unknown.length;
  return {
    checked: bridged.length > 0 || unknown_events === 0,
    chain: receipt.chain,
    chain_from,
    bridged,
    why_not: bridged.length > 0 ? null : whyNot(receipt, decoded, index),
    unknown_events,
  };
}

function bridgedEvents({ events }: DecodedReceipt): readonly DecodedEvent[] {
  return ['bridge', 'message'].flatMap((kind) => events.filter((one) => one.kind === kind));
}

/** Adds the other side of each thing that was sent. */
export async function addArrivals(
  ports: ArrivalPorts,
  explanation: Explanation,
  receipt: Unplaced,
  rows: readonly RegistryRow[],
  signal: AbortSignal,
): Promise<Explanation> {
  const chain = BRIDGE_CHAINS.find((one) => one === explanation.chain);
  if (chain === undefined || explanation.bridged.length === 0) return explanation;
  const { tx, block } = receipt;
  const events = bridgedEvents(decodeReceipt({ ...receipt, chain }, registryIndex(rows)));
  const bridged: ExplainedEvent[] = [];
  for (const [i, one] of explanation.bridged.entries()) {
    const event = events[i];
    const arrival =
      event?.direction === 'out'
        ? await findArrival(ports, rows, { event, chain, tx, block }, signal)
        : one.arrival;
    bridged.push({ ...one, arrival });
  }
  return { ...explanation, bridged };
}

/** An event as answers show it. */
export function viewEvent(one: DecodedEvent): BridgeEvent {
  const { direction, user, asset, amount, via, contract, message_id, logged } = one;
  return {
    direction,
    user,
    asset,
    amount: textOf(amount),
    via,
    contract,
    message_id,
    origin: one.origin,
    destination: one.destination,
    event: one.event,
    version: one.version,
    logged: { ...logged, amount: textOf(logged.amount) },
  };
}

function textOf(amount: bigint | null): string | null {
  return amount === null ? null : amount.toString();
}

function whyNot(receipt: ReceiptFacts, decoded: DecodedReceipt, index: RegistryIndex): string {
  if (receipt.success === false) return 'The transaction failed, so it moved nothing.';
  const [unknown] = decoded.unknown;
  if (unknown !== undefined) {
    const more = decoded.unknown.length > 1 ? ` and ${decoded.unknown.length - 1} more` : '';
    const topic = unknown.topic === null ? 'no topic' : unknown.topic;
    return `No layout is known for ${topic} of ${unknown.protocol} ${unknown.contract}${more}.`;
  }
  const [provided] = decoded.events;
  if (provided !== undefined) {
    const { event, protocol, name } = provided;
    return `${event} of ${protocol} ${name} is what liquidity providers do, not bridging.`;
  }
  const [off] = decoded.off_registry;
  if (off !== undefined) {
    return `${off.event} of ${off.protocol} was logged by ${off.contract}, not on the registry.`;
  }
  const to = receipt.to === null ? [] : index.at(receipt.chain, receipt.to, receipt.block);
  const [called] = to;
  if (called !== undefined)
    return `${called.protocol} ${called.name} was called and logged no bridging.`;
  return 'No contract on the registry logged anything in it.';
}
