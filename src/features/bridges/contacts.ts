// Which transfers of an address are contacts with a bridge, and what do their receipts add?
// A contact is a transfer with a contract of the registry as its other end, or one that an event of
// such a contract names. What poisoning and spam made is left out, and counted.

import type { BridgeChain, RegistryRow } from '../../ports/bridges/bridge-registry.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { type LeftOutRule, sift } from '../history/edge-rule.ts';
import type { DecodedEvent, DecodedReceipt } from './protocols/decode.ts';
import { NATIVE } from './protocols/layout.ts';
import { movesAssets, type RegistryIndex } from './registry.ts';

/** A transfer with a bridge, as seen from the subject. */
export type Contact = {
  readonly transfer: HistoryTransfer;
  /** The contract, in the first of its roles that counts. */
  readonly row: RegistryRow;
  readonly direction: 'out' | 'in';
  /**
   * `transfer`: the contract is its other end. `event`: another is, and an event of the contract in
   * the same transaction says that it is what the subject bridged.
   */
  readonly basis: 'transfer' | 'event';
  /** The protocol's events that name it; `null` where the receipt was not read. */
  readonly events: readonly DecodedEvent[] | null;
};

/** The contacts of a history, sorted out. */
export type Contacts = {
  readonly bridging: readonly Contact[];
  /** With contracts that only pass messages: fees, and what came back of them. */
  readonly messaging: readonly Contact[];
  /** With contracts, or by events, of liquidity providers. */
  readonly provided: readonly Contact[];
  readonly left_out: Readonly<Record<LeftOutRule, number>>;
  /**
   * Transfers of which only an event can tell whether they are bridging: what others paid to the
   * subject, mints and burns, what it paid to others, who may have passed it on to a bridge.
   */
  readonly candidates: readonly HistoryTransfer[];
};

/** Sorts the transfers of an address, newest first, by the registry's contracts on one chain. */
export function contactsIn(
  address: string,
  chain: BridgeChain,
  transfers: readonly HistoryTransfer[],
  registry: RegistryIndex,
): Contacts {
  const left_out = { zero_value: 0, no_market_token: 0 };
  const bridging: Contact[] = [];
  const messaging: Contact[] = [];
  const provided: Contact[] = [];
  const candidates: HistoryTransfer[] = [];
  for (const transfer of transfers) {
    if (transfer.chain !== chain || transfer.success === false) continue;
    const direction = transfer.from === address ? 'out' : 'in';
    const other = direction === 'out' ? transfer.to : transfer.from;
    const rows = registry.at(chain, other, transfer.block);
    const unwanted = sift([address], [transfer]).leftOut[0];
    const row = rows.find(movesAssets) ?? rows[0];
    if (unwanted !== undefined) {
      // Only what seems to touch a bridge is counted: the rest is no business of this question.
      if (row !== undefined) left_out[unwanted.why] += 1;
      continue;
    }
    // Whoever holds a token that bridges itself may deal with its contract without bridging.
    if (row === undefined || row.role === 'token') {
      if (transfer.raw_amount > 0n && other !== address) candidates.push(transfer);
      continue;
    }
    const list = movesAssets(row) ? bridging : row.role === 'providers' ? provided : messaging;
    list.push({ transfer, row, direction, basis: 'transfer', events: null });
  }
  return { bridging, messaging, provided, left_out, candidates };
}

/** The transactions whose receipts tell most: of contacts first, then of candidates. */
export function transactionsToRead(contacts: Contacts, most: number): string[] {
  const { bridging, candidates } = contacts;
  const wanted = [...bridging.map(({ transfer }) => transfer), ...candidates];
  return [...new Set(wanted.map(({ tx }) => tx))].slice(0, most);
}

/** What receipts add: events to contacts, contacts that only an event shows, and what is none. */
export function withReceipts(
  address: string,
  contacts: Contacts,
  receipts: ReadonlyMap<string, DecodedReceipt>,
  registry: RegistryIndex,
): Contacts {
  const bridging: Contact[] = [];
  const provided = [...contacts.provided];
  for (const contact of contacts.bridging) {
    const receipt = receipts.get(contact.transfer.tx);
    if (receipt === undefined) {
      bridging.push(contact);
      continue;
    }
    const events = receipt.events.filter(
      (event) => event.protocol === contact.row.protocol && names(event, address, contact),
    );
    const told = { ...contact, events };
    const ofProviders = events.length > 0 && events.every(({ kind }) => kind === 'liquidity');
    (ofProviders ? provided : bridging).push(told);
  }
  for (const transfer of contacts.candidates) {
    const receipt = receipts.get(transfer.tx);
    const shown = receipt === undefined ? null : shownBy(address, transfer, receipt, registry);
    if (shown === null) continue;
    const ofProviders = shown.events?.every(({ kind }) => kind === 'liquidity') === true;
    (ofProviders ? provided : bridging).push(shown);
  }
  bridging.sort((a, b) => b.transfer.at - a.transfer.at || b.transfer.block - a.transfer.block);
  return { ...contacts, bridging, provided };
}

/** A transfer that an event of the same transaction says to be what the subject bridged. */
function shownBy(
  address: string,
  transfer: HistoryTransfer,
  receipt: DecodedReceipt,
  registry: RegistryIndex,
): Contact | null {
  const direction = transfer.from === address ? 'out' : 'in';
  const events = receipt.events.filter(
    (event) => event.user === address && names(event, address, { transfer, direction }),
  );
  const [event] = events;
  if (event === undefined) return null;
  const own = registry.at(transfer.chain, event.contract, transfer.block).find(movesAssets);
  return { transfer, row: own ?? event.row, direction, basis: 'event', events };
}

/** Whether an event is about a transfer: of its direction, its user, its asset and its amount. */
function names(
  event: DecodedEvent,
  address: string,
  { transfer, direction }: Pick<Contact, 'transfer' | 'direction'>,
): boolean {
  const { kind, logged } = event;
  if (kind === 'message' || event.direction !== direction) return false;
  const users = [event.user, logged.user];
  if (!users.includes(address) && event.user !== null) return false;
  return [event, logged].some(({ asset, amount }) => isOf(transfer, asset, amount));
}

function isOf(
  { kind, token, raw_amount }: HistoryTransfer,
  asset: string | null,
  amount: bigint | null,
): boolean {
  const own = kind === 'token' ? token : NATIVE;
  if (asset !== null && asset !== own) return false;
  if (amount === null) return asset !== null;
  // What a transaction carries in coins may hold the fee of a message beside what is bridged.
  return kind === 'native' ? raw_amount >= amount : raw_amount === amount;
}
