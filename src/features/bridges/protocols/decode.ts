// Decodes the logs of a receipt that are a bridge's.
// Only what a contract of the registry logged counts as bridging. A layout that is not known there
// is counted, and a known one elsewhere is named, so that nothing is dropped in silence.

import { declaredEvent } from '../../../chain/abi.ts';
import { CHAINS } from '../../../chain/chain.ts';
import { collect, rowsUnder } from '../../../evidence/measure.ts';
import type {
  BridgeProtocol,
  ReceiptFacts,
  ReceiptLog,
  RegistryRow,
} from '../../../ports/bridges.ts';
import { movesAssets, type RegistryIndex } from '../registry.ts';
import type { BridgeEvent } from '../shapes.ts';
import { ACROSS_EVENTS } from './across.ts';
import { CELER_EVENTS } from './celer.ts';
import { readCarried } from './circle.ts';
import { HOP_EVENTS } from './hop.ts';
import { LAYERZERO_EVENTS } from './layerzero.ts';
import type { EventFacts, EventLayout, ReadEvent } from './layout.ts';
import { STARGATE_EVENTS } from './stargate.ts';
import { SYNAPSE_EVENTS } from './synapse.ts';
import { type Flow, findWallet, flowOf, type WalletSide } from './wallets.ts';
import { WORMHOLE_EVENTS } from './wormhole.ts';

/** Every layout that is known. */
export const EVENT_LAYOUTS: readonly EventLayout[] = [
  ...[...ACROSS_EVENTS, ...STARGATE_EVENTS, ...HOP_EVENTS, ...SYNAPSE_EVENTS],
  ...[...CELER_EVENTS, ...WORMHOLE_EVENTS, ...LAYERZERO_EVENTS],
];

const BY_TOPIC = new Map<string, EventLayout[]>();
for (const layout of EVENT_LAYOUTS) collect(BY_TOPIC, layout.topic, layout);

/**
 * Events that any contract may log without bridging: a token's own events, and changes of
 * governance.
 */
const COMMON_TOPICS: ReadonlySet<string> = new Set(
  [
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
    'event Upgraded(address indexed implementation)',
    'event AdminChanged(address previousAdmin, address newAdmin)',
    'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
    'event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)',
    'event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)',
    'event Paused(address account)',
    'event Unpaused(address account)',
  ].map((one) => declaredEvent(one).topic),
);

/** An event that was read: what it says, by which layout, and whose wallet it was about. */
export type DecodedEvent = Omit<EventFacts, 'user' | 'asset' | 'amount' | 'net' | 'through'> &
  Omit<WalletSide, 'via'> & {
    /** The contracts between the wallet and the bridge contract, in that order. */
    readonly via: BridgeEvent['via'];
    /** The event's own words. */
    readonly logged: Pick<EventFacts, 'user' | 'asset' | 'amount'>;
    readonly protocol: BridgeProtocol;
    /** The registry's name of the contract. */
    readonly name: string;
    /** Its row; of what Circle brought the sender's, placed where it arrived. */
    readonly row: RegistryRow;
    readonly event: string;
    readonly version: string;
    readonly kind: Exclude<EventLayout['kind'], 'other'>;
    readonly log_index: number;
  };

/** A log of a registry contract whose layout is not known, or which its layout does not fit. */
type UnknownEvent = {
  readonly contract: string;
  readonly protocol: BridgeProtocol;
  readonly topic: string | null;
};

type OffRegistry = {
  readonly contract: string;
  readonly protocol: BridgeProtocol;
  readonly event: string;
};

/** The events of a receipt. A failed transaction has no logs, and so nothing here. */
export type DecodedReceipt = {
  readonly events: readonly DecodedEvent[];
  readonly unknown: readonly UnknownEvent[];
  readonly off_registry: readonly OffRegistry[];
};

/** Reads the logs of a receipt by the registry's contracts on its chain. */
export function decodeReceipt(receipt: ReceiptFacts, registry: RegistryIndex): DecodedReceipt {
  const events: DecodedEvent[] = [];
  const unknown: UnknownEvent[] = [];
  const off_registry: OffRegistry[] = [];
  const rowsAt = (address: string) => registry.at(receipt.chain, address, receipt.block);
  const flow = flowOf(receipt, (address) => rowsAt(address).length > 0);
  for (const log of receipt.logs) {
    const rows = rowsAt(log.address);
    const [first] = rows;
    const [topic = null] = log.topics;
    const count = log.topics.length;
    const layouts = rowsUnder(BY_TOPIC, String(topic)).filter(({ topics }) => topics === count);
    if (first === undefined) {
      const carried = readCarried(log, receipt, registry);
      const known = layouts.find(({ unique }) => unique);
      if (carried !== null) events.push(describeEvent(carried, flow, log, rowsAt));
      else if (known !== undefined)
        off_registry.push({ contract: log.address, protocol: known.protocol, event: known.event });
      continue;
    }
    const read = readFirst(receipt, log, rows, layouts, rowsAt);
    if (read !== null) {
      if (read.layout.kind !== 'other') events.push(describeEvent(read, flow, log, rowsAt));
    } else if (!COMMON_TOPICS.has(String(topic))) {
      unknown.push({ contract: log.address, protocol: first.protocol, topic });
    }
  }
  return { events: events.filter(isFirstReport), unknown, off_registry };
}

/** Whether an event is the first that tells of an arrival or a departure: several contracts may. */
function isFirstReport(event: DecodedEvent, at: number, events: readonly DecodedEvent[]): boolean {
  const { kind, protocol, direction, message_id: id } = event;
  if (kind !== 'bridge') return true;
  return !events.slice(0, at).some((one) => {
    if (one.kind !== kind || one.protocol !== protocol || one.direction !== direction) return false;
    if (id !== null && one.message_id !== null) return id === one.message_id && isAlike(event, one);
    return one.contract !== event.contract && isAlike(event, one);
  });
}

function isAlike(a: DecodedEvent, b: DecodedEvent): boolean {
  return a.user === b.user && a.asset === b.asset && a.amount === b.amount;
}

type RowsAt = (address: string) => readonly RegistryRow[];

function readFirst(
  receipt: ReceiptFacts,
  log: ReceiptLog,
  rows: readonly RegistryRow[],
  layouts: readonly EventLayout[],
  rowsAt: RowsAt,
): ReadEvent | null {
  const chainId = CHAINS[receipt.chain].chain_id;
  if (chainId === null) throw new TypeError('an EVM chain without an id');
  const nameOf = (address: string): string | null => {
    const own = rowsAt(address).find(movesAssets);
    return own === undefined ? null : own.name;
  };
  const moves = (address: string): boolean => nameOf(address) !== null;
  for (const row of rows) {
    for (const layout of layouts.filter(({ protocol }) => protocol === row.protocol)) {
      const facts = layout.read({ log, receipt, chainId, row, moves, nameOf });
      if (facts !== null) return { facts, row, layout };
    }
  }
  return null;
}

/** A message that a contract of the registry sent or was sent is that contract's own doing. */
function describeEvent(
  { facts, row, layout }: ReadEvent,
  flow: Flow,
  log: ReceiptLog,
  rowsAt: RowsAt,
): DecodedEvent {
  const passed = layout.kind === 'message' && facts.contract !== log.address;
  const own = passed ? rowsAt(facts.contract).find(movesAssets) : row;
  const whose = own === undefined ? row : own;
  const { protocol, name } = whose;
  const kind = passed || layout.kind === 'other' ? 'bridge' : layout.kind;
  const { user, asset, amount, net, through, ...rest } = facts;
  const index = log.index;
  const wallet =
    kind === 'message' ? messageWallet(facts, flow) : findWallet(flow, { ...facts, index });
  return {
    ...rest,
    ...wallet,
    via: wallet.via.map((contract) => {
      const [known] = rowsAt(contract);
      return { contract, name: known === undefined ? null : `${known.protocol} ${known.name}` };
    }),
    logged: { user, asset, amount },
    protocol,
    name,
    row: whose,
    kind,
    event: layout.event,
    version: layout.version,
    log_index: index,
  };
}

/** A message has a sender and applications that pass it on, and no amount. */
function messageWallet({ user, through }: EventFacts, { onRegistry }: Flow): WalletSide {
  const wallet = user === null || onRegistry(user) ? null : user;
  return { user: wallet, asset: null, amount: null, via: through };
}
