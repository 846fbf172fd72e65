// Which transfers of an address are contacts with a bridge, and what do their receipts add?
// A contact is a transfer with a contract of the registry as its other end. A mint and a plain
// transfer of a bridged token are none; what poisoning and spam made is left out, and counted.

import type { BridgeChain, RegistryRow } from '../../ports/bridges/bridge-registry.ts';
import type { ReceiptFacts } from '../../ports/bridges/transaction-receipts.ts';
import { isSignedBy } from '../../ports/history/signing.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { type LeftOutRule, sift } from '../history/edge-rule.ts';
import { type DecodedEvent, decodeReceipt } from './protocols/decode.ts';
import { isProvidersOnly, movesAssets, type RegistryIndex } from './registry.ts';

/** A transfer with a bridge, as seen from the subject. */
export type Contact = {
  readonly transfer: HistoryTransfer;
  /** The contract, in the first of its roles that counts. */
  readonly row: RegistryRow;
  readonly direction: 'out' | 'in';
  /**
   * `transfer`: the contract is its other end. `event`: another paid it, and an event of the
   * contract in the same transaction says that it is what the subject bridged.
   */
  readonly basis: 'transfer' | 'event';
  /** What the contract's events say of it; `null` where the receipt was not read. */
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
  /** Paid to the subject by others in transactions that it did not sign: perhaps fills. */
  readonly inbound: readonly HistoryTransfer[];
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
  const inbound: HistoryTransfer[] = [];
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
    if (row === undefined) {
      if (direction === 'in' && isUnsigned(address, transfer)) inbound.push(transfer);
      continue;
    }
    const list = movesAssets(row) ? bridging : isProvidersOnly(row) ? provided : messaging;
    list.push({ transfer, row, direction, basis: 'transfer', events: null });
  }
  return { bridging, messaging, provided, left_out, inbound };
}

/** Whether somebody else is known to have signed what was paid, or nobody is known to have. */
function isUnsigned(address: string, transfer: HistoryTransfer): boolean {
  return transfer.raw_amount > 0n && isSignedBy(address, transfer) !== true;
}

/** The transactions whose receipts tell most: of contacts first, then of what others paid. */
export function transactionsToRead(contacts: Contacts, most: number): string[] {
  const hashes = new Set<string>();
  const { bridging, inbound } = contacts;
  for (const { tx } of [...bridging.map(({ transfer }) => transfer), ...inbound]) {
    if (hashes.size >= most) break;
    hashes.add(tx);
  }
  return [...hashes];
}

/** What receipts add: events to contacts, contacts that only an event shows, and what is none. */
export function withReceipts(
  address: string,
  contacts: Contacts,
  receipts: ReadonlyMap<string, ReceiptFacts>,
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
    const events = decodeReceipt(receipt, registry).events.filter(
      (event) => event.protocol === contact.row.protocol && event.kind !== 'message',
    );
    const told = { ...contact, events };
    const ofProviders = events.length > 0 && events.every(({ kind }) => kind === 'liquidity');
    (ofProviders ? provided : bridging).push(told);
  }
  for (const transfer of contacts.inbound) {
    const receipt = receipts.get(transfer.tx);
    const filled = receipt === undefined ? null : fillOf(address, transfer, receipt, registry);
    if (filled !== null) bridging.push(filled);
  }
  bridging.sort((a, b) => b.transfer.at - a.transfer.at || b.transfer.block - a.transfer.block);
  return { ...contacts, bridging, provided };
}

/** A payment by a third party that an event of the same transaction says was bridged to us. */
function fillOf(
  address: string,
  transfer: HistoryTransfer,
  receipt: ReceiptFacts,
  registry: RegistryIndex,
): Contact | null {
  const events = decodeReceipt(receipt, registry).events.filter(
    ({ kind, direction, user, asset, amount }) =>
      kind === 'bridge' &&
      direction === 'in' &&
      user === address &&
      amount === transfer.raw_amount &&
      (transfer.kind !== 'token' || asset === transfer.token),
  );
  const [event] = events;
  if (event === undefined) return null;
  const row = registry.at(transfer.chain, event.contract, transfer.block).find(movesAssets);
  return row === undefined ? null : { transfer, row, direction: 'in', basis: 'event', events };
}
