// The declaration of an event of a bridge contract, and what it says once it is decoded.
// A log that its declaration does not fit is of an unknown layout, not empty.

import { type Declaration, declaredEvent, type Fields } from '../../../chain/abi.ts';
import type { TransferDirection } from '../../../chain/transfer.ts';
import type {
  BridgeProtocol,
  ReceiptFacts,
  ReceiptLog,
  RegistryRow,
} from '../../../ports/bridges.ts';

/** The fields of an event about a bridged transfer or a passed message. */
export type EventFacts = {
  readonly direction: TransferDirection;
  /** The payer or payee on this chain, by the event or by call data that it proves. */
  readonly user: string | null;
  /** The token's contract, `native`, or `null` where the event does not name it. */
  readonly asset: string | null;
  /** In the asset's smallest units; `null` where the event tells none of them. */
  readonly amount: bigint | null;
  /** The amount that this side's wallet gets, after the protocol's fees. */
  readonly net: bigint | null;
  /** The contract whose doing it is: not always the one that logged it. */
  readonly contract: string;
  /** The applications that the event itself names on the way. */
  readonly through: readonly string[];
  /** The id that both sides share. */
  readonly message_id: string | null;
  readonly origin: string | null;
  readonly destination: string | null;
  /** The terms that the other side's event repeats; `null` where neither names any. */
  readonly promised: Promised | null;
};

/** The terms of a deposit, as both sides name them; what they do not name is `null`. */
export type Promised = {
  readonly recipient: string | null;
  readonly asset: string | null;
  readonly amount: bigint | null;
  /** Unix seconds. */
  readonly deadline: number | null;
};

/** The surroundings of an event, beside its arguments. */
export type LogContext = {
  readonly log: ReceiptLog;
  readonly receipt: ReceiptFacts;
  /** The id of EIP-155 of the chain on which it was logged. */
  readonly chainId: number;
  /** The row of the contract that logged it. */
  readonly row: RegistryRow;
  /** Whether a contract is on the registry in a role that moves assets. */
  readonly moves: (address: string) => boolean;
  /** The registry's name of such a contract. */
  readonly nameOf: (address: string) => string | null;
};

/**
 * `liquidity`: what providers add and take out, and refunds. `other`: what belongs to running the
 * protocol. Neither is bridging.
 */
type EventKind = 'bridge' | 'message' | 'liquidity' | 'other';

export type EventLayout = {
  readonly protocol: BridgeProtocol;
  readonly version: string;
  readonly event: string;
  readonly topic: string;
  /** How many topics it has, its hash included: the same event may be indexed otherwise. */
  readonly topics: number;
  readonly kind: EventKind;
  /** Nothing else is known to log an event of this signature. */
  readonly unique: boolean;
  /** Decodes the log; `null` if the log does not fit. */
  readonly read: (context: LogContext) => EventFacts | null;
};

/** A decoded log, with its layout and the registry row of the responsible contract. */
export type ReadEvent = {
  readonly facts: EventFacts;
  readonly row: RegistryRow;
  readonly layout: Pick<EventLayout, 'event' | 'version' | 'kind'>;
};

type About = Pick<EventLayout, 'protocol' | 'version'> & {
  readonly kind?: EventKind;
  readonly shared?: true;
};

type PartialFacts = Partial<EventFacts> & Pick<EventFacts, 'direction'>;

const UNSTATED = {
  user: null,
  asset: null,
  amount: null,
  through: [],
  message_id: null,
  origin: null,
  destination: null,
  promised: null,
} as const;

/** Declares an event. `interpret` says what its fields mean; `null` where they make no sense. */
export function layout<const D extends Declaration>(
  declaration: D,
  about: About,
  interpret: (fields: Fields<D>, context: LogContext) => PartialFacts | null,
): EventLayout {
  const { fieldsOf, ...event } = declaredEvent(declaration);
  const { protocol, version, kind = 'bridge', shared } = about;
  return {
    ...event,
    protocol,
    version,
    kind,
    unique: shared !== true,
    read: (context) => {
      const fields = fieldsOf(context.log);
      const stated = fields === null ? null : interpret(fields, context);
      if (stated === null) return null;
      const facts = { ...UNSTATED, contract: context.log.address, ...stated };
      return { ...facts, net: stated.net === undefined ? facts.amount : stated.net };
    },
  };
}

/** Declares events that belong to running a protocol and say nothing of bridging. */
export function asides(about: About, declared: readonly Declaration[]): EventLayout[] {
  const ran = { ...about, kind: 'other', shared: true } as const;
  return declared.map((one) => layout(one, ran, () => ({ direction: 'out' })));
}

const ADDRESS_CHARS = 40;
const WORD_CHARS = 64;
const NO_ADDRESS = `0x${'0'.repeat(WORD_CHARS - ADDRESS_CHARS)}`;
const NO_HASH = `0x${'0'.repeat(WORD_CHARS)}`;

/** An address written as 32 bytes; one that is wider (of another kind of chain) is kept whole. */
export function account(bytes32: string): string {
  return bytes32.startsWith(NO_ADDRESS) ? `0x${bytes32.slice(-ADDRESS_CHARS)}` : bytes32;
}

/** A hash that names something; `null` where it is all zeros. */
export function hash(bytes32: string): string | null {
  return bytes32 === NO_HASH ? null : bytes32;
}

/** The address that stands for nobody: mints come from it, burns go to it. */
export const ZERO_ADDRESS = `0x${'0'.repeat(ADDRESS_CHARS)}`;
/** The name of a chain's own coin in place of an asset. */
export const NATIVE = 'native';
const NATIVE_MARK = `0x${'e'.repeat(ADDRESS_CHARS)}`;

/** A token's contract, or `native` where a protocol's mark for coins stands in its place. */
export function tokenOrNative(address: string): string {
  return address === NATIVE_MARK || address === ZERO_ADDRESS ? NATIVE : address;
}
