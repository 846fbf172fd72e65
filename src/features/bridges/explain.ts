// What does one transaction and its receipt show of bridging, or why not?
// A receipt of a chain that the registry does not cover, or with an event of a bridge that cannot
// be read, is not told: that is no "nothing".

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type RegistryRow,
} from '../../ports/bridges/bridge-registry.ts';
import type { Arrival, Explained, ExplainedEvent } from '../../ports/bridges/explained-receipt.ts';
import type { ReceiptFacts } from '../../ports/bridges/transaction-receipts.ts';
import { evmChain } from './protocols/chains.ts';
import { type DecodedEvent, type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { type RegistryIndex, registryIndex } from './registry.ts';

/** A receipt of which the chain may not be known. */
type Unplaced = Omit<ReceiptFacts, 'chain'>;

/** Explains a receipt. `chain` is our name of it, the id of one that is not ours, or `null`. */
export function explainReceipt(
  receipt: Unplaced,
  chain: EvmChainName | number | null,
  rows: readonly RegistryRow[],
): Explained {
  const index = registryIndex(rows);
  const named = BRIDGE_CHAINS.find((one) => one === chain);
  if (named !== undefined) return explained({ ...receipt, chain: named }, 'file', index);
  if (chain !== null) {
    const shown = typeof chain === 'number' ? evmChain(chain) : chain;
    return unchecked(shown, `The registry covers no chain ${shown}: ${covered()}.`);
  }
  const fits = chainsFitting(receipt, index);
  const [only, second] = fits;
  if (only === undefined) {
    return unchecked(
      null,
      'The file names no chain, and its contracts are on no chain’s registry.',
    );
  }
  const own = BRIDGE_CHAINS.find((one) => one === only);
  if (second !== undefined || own === undefined) {
    return unchecked(null, `The file names no chain, and its contracts fit ${fits.join(', ')}.`);
  }
  return explained({ ...receipt, chain: own }, 'registry', index);
}

function covered(): string {
  return BRIDGE_CHAINS.map((one) => `${one} (${CHAINS[one].chain_id})`).join(', ');
}

function unchecked(chain: string | null, why_not: string): Explained {
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
    for (const id of shared ?? NOWHERE) fits.add(evmChain(id));
  }
  return [...fits];
}

const NOWHERE: readonly number[] = [];

function explained(
  receipt: ReceiptFacts & { readonly chain: BridgeChain },
  chain_from: 'file' | 'registry',
  index: RegistryIndex,
): Explained {
  const said = decodeReceipt(receipt, index);
  const shown = toldOf(said);
  const untold = shown.length === 0 && said.unknown.length > 0;
  return {
    checked: !untold,
    chain: receipt.chain,
    chain_from,
    bridged: shown.map(shownEvent),
    why_not: shown.length > 0 ? null : whyNot(receipt, said, index),
    unknown_events: said.unknown.length,
  };
}

/** What a receipt tells of bridging, in the order in which it is shown. */
function toldOf({ events }: DecodedReceipt): readonly DecodedEvent[] {
  return ['bridge', 'message'].flatMap((kind) => events.filter((one) => one.kind === kind));
}

/** The same with the other side of each thing that was sent, as `look` finds it. */
export async function withArrivals(
  explained: Explained,
  receipt: Unplaced,
  rows: readonly RegistryRow[],
  look: (event: DecodedEvent) => Promise<Arrival>,
): Promise<Explained> {
  const chain = BRIDGE_CHAINS.find((one) => one === explained.chain);
  if (chain === undefined || explained.bridged.length === 0) return explained;
  const events = toldOf(decodeReceipt({ ...receipt, chain }, registryIndex(rows)));
  const bridged: ExplainedEvent[] = [];
  for (const [i, shown] of explained.bridged.entries()) {
    const event = events[i];
    const sent = event !== undefined && event.direction === 'out';
    bridged.push(sent ? { ...shown, arrival: await look(event) } : shown);
  }
  return { ...explained, bridged };
}

function shownEvent(one: DecodedEvent): ExplainedEvent {
  const { protocol, direction, user, asset, amount, contract, message_id, logged } = one;
  return {
    protocol,
    direction,
    user,
    asset,
    amount: textOf(amount),
    via: one.via,
    contract,
    message_id,
    origin: one.origin,
    destination: one.destination,
    event: one.event,
    version: one.version,
    logged: { ...logged, amount: textOf(logged.amount) },
    messaging_only: one.kind === 'message',
    arrival: null,
  };
}

function textOf(amount: bigint | null): string | null {
  return amount === null ? null : amount.toString();
}

function whyNot(receipt: ReceiptFacts, said: DecodedReceipt, index: RegistryIndex): string {
  if (receipt.success === false) return 'The transaction failed, so it moved nothing.';
  const [unknown] = said.unknown;
  if (unknown !== undefined) {
    const more = said.unknown.length > 1 ? ` and ${said.unknown.length - 1} more` : '.';
    const topic = unknown.topic === null ? 'no topic' : unknown.topic;
    return `No layout is known for ${topic} of ${unknown.protocol} ${unknown.contract}${more}`;
  }
  const [provided] = said.events;
  if (provided !== undefined) {
    const { event, protocol, name } = provided;
    return `${event} of ${protocol} ${name} is what liquidity providers do, not bridging.`;
  }
  const [off] = said.off_registry;
  if (off !== undefined) {
    return `${off.event} of ${off.protocol} was logged by ${off.contract}, not on the registry.`;
  }
  const to = receipt.to === null ? [] : index.at(receipt.chain, receipt.to, receipt.block);
  const [called] = to;
  if (called !== undefined)
    return `${called.protocol} ${called.name} was called and logged no bridging.`;
  return 'No contract on the registry logged anything in it.';
}
