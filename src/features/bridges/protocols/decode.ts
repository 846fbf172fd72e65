// Which of a receipt's logs are a bridge's, and what do they say?
// Only what a contract of the registry logged counts as bridging. A layout that is not known there
// is counted, and a known one elsewhere is named, so that nothing is dropped in silence.

import { CHAINS } from '../../../chain/chain.ts';
import { heldUnder } from '../../../evidence/measure.ts';
import type { BridgeProtocol, RegistryRow } from '../../../ports/bridges/bridge-registry.ts';
import type { ReceiptFacts, ReceiptLog } from '../../../ports/bridges/transaction-receipts.ts';
import { movesAssets, type RegistryIndex } from '../registry.ts';
import { ACROSS } from './across.ts';
import { CELER } from './celer.ts';
import { HOP } from './hop.ts';
import { LAYERZERO } from './layerzero.ts';
import { type Bridged, type EventLayout, topicOf } from './layout.ts';
import { STARGATE } from './stargate.ts';
import { SYNAPSE } from './synapse.ts';
import { WORMHOLE } from './wormhole.ts';

/** Every layout that is known. */
export const EVENT_LAYOUTS: readonly EventLayout[] = [
  ...[...ACROSS, ...STARGATE, ...HOP, ...SYNAPSE],
  ...[...CELER, ...WORMHOLE, ...LAYERZERO],
];

const BY_TOPIC = new Map<string, EventLayout[]>();
for (const layout of EVENT_LAYOUTS) {
  const hash = topicOf(layout);
  const list = BY_TOPIC.get(hash);
  if (list === undefined) BY_TOPIC.set(hash, [layout]);
  else list.push(layout);
}

/** An event that was read: what it says, and by which layout. */
export type DecodedEvent = Bridged & {
  readonly protocol: BridgeProtocol;
  /** What the registry calls the contract. */
  readonly name: string;
  readonly event: string;
  readonly version: string;
  readonly kind: EventLayout['kind'];
  readonly log_index: number;
};

/** A log of a registry contract whose layout is not known, or which its layout does not fit. */
type UnknownEvent = {
  readonly contract: string;
  readonly protocol: BridgeProtocol;
  readonly topic: string | null;
};

/** A known layout at a contract that is not on the registry. */
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
  for (const log of receipt.logs) {
    const rows = registry.at(receipt.chain, log.address, receipt.block);
    const layouts = layoutsOf(log);
    if (rows.length === 0) {
      const known = layouts.find(({ unique }) => unique);
      if (known !== undefined) off_registry.push(named(log, known));
      continue;
    }
    const event = firstRead(receipt, log, rows, layouts, registry);
    if (event !== null) events.push(event);
    else unknown.push(unknownOf(log, rows));
  }
  return { events, unknown, off_registry };
}

function layoutsOf({ topics }: ReceiptLog): readonly EventLayout[] {
  const [hash] = topics;
  if (hash === undefined) return heldUnder(BY_TOPIC, NO_TOPIC);
  return heldUnder(BY_TOPIC, hash).filter((layout) => layout.topics === topics.length);
}

const NO_TOPIC = 'none';

function firstRead(
  receipt: ReceiptFacts,
  log: ReceiptLog,
  rows: readonly RegistryRow[],
  layouts: readonly EventLayout[],
  registry: RegistryIndex,
): DecodedEvent | null {
  for (const row of rows) {
    for (const layout of layouts.filter(({ protocol }) => protocol === row.protocol)) {
      const said = readAs(receipt, log, layout, registry);
      if (said !== null) return finished(said, log, row, layout);
    }
  }
  return null;
}

function readAs(
  receipt: ReceiptFacts,
  log: ReceiptLog,
  layout: EventLayout,
  registry: RegistryIndex,
): Bridged | null {
  const chainId = CHAINS[receipt.chain].chain_id;
  if (chainId === null) throw new TypeError('an EVM chain without an id');
  const moves = (address: string): boolean =>
    registry
      .at(receipt.chain, address, receipt.block)
      .some((row) => row.protocol === layout.protocol && movesAssets(row));
  try {
    return layout.read({ log, receipt, chainId, moves });
  } catch (fault) {
    if (fault instanceof RangeError) return null;
    throw fault;
  }
}

/** A message of a core contract that its token bridge sent is the bridge's own doing. */
function finished(
  said: Bridged,
  log: ReceiptLog,
  row: RegistryRow,
  layout: EventLayout,
): DecodedEvent {
  const passed = layout.kind === 'message' && said.contract !== log.address;
  return {
    ...said,
    protocol: layout.protocol,
    name: passed ? 'Token Bridge' : row.name,
    event: eventName(layout),
    version: layout.version,
    kind: passed ? 'bridge' : layout.kind,
    log_index: log.index,
  };
}

function eventName({ signature }: EventLayout): string {
  return signature.slice(0, signature.indexOf('('));
}

function unknownOf(log: ReceiptLog, [row]: readonly RegistryRow[]): UnknownEvent {
  if (row === undefined) throw new TypeError('an unknown event of no contract');
  const [hash] = log.topics;
  return {
    contract: log.address,
    protocol: row.protocol,
    topic: hash === undefined ? null : hash,
  };
}

function named(log: ReceiptLog, layout: EventLayout): OffRegistry {
  return { contract: log.address, protocol: layout.protocol, event: eventName(layout) };
}
