// What does one transaction and its receipt show of bridging, or why not?
// A receipt of a chain that the registry does not cover is not looked at: that is no "nothing".

import { CHAINS, chainById } from '../../chain/chain.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type RegistryRow,
} from '../../ports/bridges/bridge-registry.ts';
import type { Explained, ExplainedEvent } from '../../ports/bridges/explained-receipt.ts';
import type { ReceiptFacts } from '../../ports/bridges/transaction-receipts.ts';
import { type DecodedEvent, type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { type RegistryIndex, registryIndex } from './registry.ts';

/** A receipt of which the chain may not be known. */
type Unplaced = Omit<ReceiptFacts, 'chain'>;

/** Explains a receipt. `chain` is our name of it, the id of one that is not ours, or `null`. */
export function explainReceipt(
  receipt: Unplaced,
  chain: string | number | null,
  rows: readonly RegistryRow[],
): Explained {
  const index = registryIndex(rows);
  const named = BRIDGE_CHAINS.find((one) => one === chain);
  if (named !== undefined) return explained({ ...receipt, chain: named }, 'file', index);
  if (chain !== null) {
    const known = typeof chain === 'number' ? chainById(chain) : null;
    const shown = known === null ? String(chain) : known.name;
    return unchecked(shown, `The registry covers no chain ${shown}: ${covered()}.`);
  }
  const fits = BRIDGE_CHAINS.filter((one) => decoded({ ...receipt, chain: one }, index) > 0);
  const [only, second] = fits;
  if (only === undefined) {
    return unchecked(
      null,
      'The file names no chain, and its contracts are on no chain’s registry.',
    );
  }
  if (second !== undefined) {
    return unchecked(null, `The file names no chain, and its contracts fit ${fits.join(', ')}.`);
  }
  return explained({ ...receipt, chain: only }, 'registry', index);
}

function covered(): string {
  return BRIDGE_CHAINS.map((one) => `${one} (${CHAINS[one].chain_id})`).join(', ');
}

function unchecked(chain: string | null, why_not: string): Explained {
  return { checked: false, chain, chain_from: null, bridged: [], why_not, unknown_events: 0 };
}

function decoded(receipt: ReceiptFacts & { readonly chain: BridgeChain }, index: RegistryIndex) {
  return decodeReceipt(receipt, index).events.length;
}

function explained(
  receipt: ReceiptFacts,
  chain_from: 'file' | 'registry',
  index: RegistryIndex,
): Explained {
  const said = decodeReceipt(receipt, index);
  const moving = said.events.filter(({ kind }) => kind === 'bridge');
  const shown = moving.length > 0 ? moving : said.events.filter(({ kind }) => kind === 'message');
  return {
    checked: true,
    chain: receipt.chain,
    chain_from,
    bridged: shown.map(shownEvent),
    why_not: shown.length > 0 ? null : whyNot(receipt, said, index),
    unknown_events: said.unknown.length,
  };
}

function shownEvent(one: DecodedEvent): ExplainedEvent {
  const { protocol, direction, user, asset, amount, contract, message_id } = one;
  return {
    protocol,
    direction,
    user,
    asset,
    amount: amount === null ? null : amount.toString(),
    contract,
    message_id,
    destination: one.destination,
    origin: one.origin,
    event: one.event,
    version: one.version,
    messaging_only: one.kind === 'message',
  };
}

function whyNot(receipt: ReceiptFacts, said: DecodedReceipt, index: RegistryIndex): string {
  if (receipt.success === false) return 'The transaction failed, so it moved nothing.';
  const [provided] = said.events;
  if (provided !== undefined) {
    const { event, protocol, name } = provided;
    return `${event} of ${protocol} ${name} is what liquidity providers do, not bridging.`;
  }
  const [unknown] = said.unknown;
  if (unknown !== undefined) {
    const more = said.unknown.length > 1 ? ` and ${said.unknown.length - 1} more` : '.';
    const topic = unknown.topic === null ? 'no topic' : unknown.topic;
    return `No layout is known for ${topic} of ${unknown.protocol} ${unknown.contract}${more}`;
  }
  const [off] = said.off_registry;
  if (off !== undefined) {
    return `${off.event} of ${off.protocol} was logged by ${off.contract}, not on the registry.`;
  }
  const to = receipt.to === null ? [] : index.at(receipt.chain, receipt.to, receipt.block);
  const [called] = to;
  if (called !== undefined)
    return `${called.protocol} ${called.name} was called and logged nothing.`;
  return 'No contract on the registry logged anything in it.';
}
