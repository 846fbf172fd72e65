// What did an address send through bridges, and what became of each of it on the other chain?
// Each deposit has its own answer. Where nobody looked, that is said with the reason, and none of
// the words that tell of an arrival.

import { inTime, OUT_OF_TIME } from '../../evidence/deadline.ts';
import { why } from '../../evidence/reasons.ts';
import type { RegistryRow } from '../../ports/bridges/bridge-registry.ts';
import type { Contact, Contacts } from './contacts.ts';
import { destinationOf } from './destination.ts';
import { type Destination, messageOnly, notTold } from './other-side.ts';
import type { ArrivalPorts } from './payments.ts';
import type { DecodedEvent } from './protocols/decode.ts';

/** Something that the address sent; `event` is `null` where none of its receipt tells of it. */
export type Deposit = {
  readonly contact: Contact;
  readonly event: DecodedEvent | null;
  readonly destination: Destination;
};

/** How many deposits one answer looks for on the other side: the newest. */
const DESTINATIONS_MAX = 10;

/** What is asked beside the contacts. The signal ends the looking. */
type DepositsAsked = {
  readonly rows: readonly RegistryRow[];
  /** How many are told, the newest. */
  readonly most: number;
  readonly signal: AbortSignal;
};

type Undecided = Omit<Deposit, 'destination'>;

/** The deposits of a trace, the newest first, each with its other side. */
export async function depositsOf(
  ports: ArrivalPorts,
  { bridging, messaging }: Contacts,
  { rows, most, signal }: DepositsAsked,
): Promise<Deposit[]> {
  const sent = [...sentBy(bridging), ...sentBy(messaging)]
    .filter(({ contact, event }, _, all) => event !== null || !isTold(contact, all))
    .sort((a, b) => b.contact.transfer.at - a.contact.transfer.at)
    .slice(0, most);
  const looked = sent.filter(isSought).slice(0, DESTINATIONS_MAX);
  const look = async (one: Undecided): Promise<Deposit> => {
    const { contact, event } = one;
    return { contact, event, destination: await destinationIn(ports, rows, one, signal) };
  };
  const capped = why('destinations_capped', { limit: String(DESTINATIONS_MAX) });
  return Promise.all(
    sent.map((one) => {
      if (!isSought(one) || looked.includes(one)) return look(one);
      return { ...one, destination: notTold(chainOf(one), capped) };
    }),
  );
}

/** Whether anybody has to be asked where it arrived. */
function isSought({ event }: Undecided): boolean {
  return event !== null;
}

function chainOf({ event }: Undecided): string | null {
  return event === null ? null : event.destination;
}

function isOut({ direction }: Contact): boolean {
  return direction === 'out';
}

/** Whether an event tells of the transaction: what else was paid in it is the fee of a message. */
function isTold({ transfer: { tx } }: Contact, all: readonly Undecided[]): boolean {
  return all.some(({ contact, event }) => event !== null && contact.transfer.tx === tx);
}

/** Each event that sent something, once; and each transfer of which no event is known to tell. */
function sentBy(contacts: readonly Contact[]): Undecided[] {
  const told = new Set<string>();
  return contacts.filter(isOut).flatMap((contact): Undecided[] => {
    const events = contact.events?.filter(({ kind }) => kind === 'bridge');
    if (events === undefined || events.length === 0) return [{ contact, event: null }];
    return events.flatMap((event) => {
      const key = `${contact.transfer.tx} ${event.log_index}`;
      if (told.has(key)) return [];
      told.add(key);
      return [{ contact, event }];
    });
  });
}

async function destinationIn(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  { contact, event }: Undecided,
  signal: AbortSignal,
): Promise<Destination> {
  const { row, events, transfer } = contact;
  if (row.role === 'messaging') return messageOnly(null);
  if (events === null) return notTold(null, why('deposit_receipt_unread'));
  if (event === null) return notTold(null, why('deposit_not_told'));
  const { tx, at } = transfer;
  const sent = { event, chain: row.chain, tx, at };
  const asked = () => destinationOf(ports, rows, sent, signal);
  const told = await inTime(asked, signal);
  return told === OUT_OF_TIME ? notTold(event.destination, why('arrivals_out_of_time')) : told;
}
