// Answers GET /api/v1/wallet/{address}/bridges: which known bridges an address dealt with.
// It refuses to answer an empty list unless the whole history on the chain was read.

import type { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { type Claim, claim } from '../../evidence/claim.ts';
import { decided, map, Part, type Partly, Read, seen } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { isSignedBy } from '../../ports/history/signing.ts';
import type { Contact } from './contacts.ts';
import { type Deposit, depositsOf } from './deposits.ts';
import { sentences } from './destination.ts';
import type { DecodedEvent } from './protocols/decode.ts';
import {
  type BridgeDealings,
  type BridgePorts,
  bridgeTrace,
  type ReceiptsTold,
  sumOf,
  type Trace,
  type TracePort,
} from './trace.ts';
import { walletBridges } from './wallet-bridges.contract.ts';

type Data = z.input<typeof walletBridges.data>;

/** How many contacts, and how many deposits, an answer shows: the newest. */
const CONTACTS_SHOWN_MAX = 100;

const PRICE_BASIS =
  'USD at the time of each transfer, from the configured price source; over priced transfers only';

/** The handler of the bridge trace. */
export function walletBridgesHandler(ports: BridgePorts): Handler<typeof walletBridges> {
  return async ({ params, query }, { signal }) => {
    const { chain } = query;
    const parsed = parseAddress(params.address);
    if (parsed === null) return badInput([why('form_not_recognised').reason]);
    const { address, kind } = parsed;
    if (kind !== 'evm') {
      const reason = why('not_traced_kind', { kind });
      return walletBridges.absent.not_supported({ subject: address, why: reason });
    }
    const { trace, receipts } = await bridgeTrace(ports, { address, chain, signal });
    const shown = seen(map(trace, (one) => [one]));
    if (shown === null) {
      const silent = { subject: address, silent: unreadOf(trace) };
      return walletBridges.absent.not_deployed(silent);
    }
    const [known] = shown;
    if (trace instanceof Part && sawNothing(known)) {
      const rows = String(known.rows_scanned);
      const reason = why('no_bridge_seen', { chain, rows, rest: trace.why.reason });
      return walletBridges.absent.not_deployed({ subject: address, silent: trace, why: reason });
    }
    const { contacts, registry } = known;
    const asked = { rows: registry, most: CONTACTS_SHOWN_MAX, signal };
    const [newest, ...older] = await depositsOf(ports, contacts, asked);
    const data: Data = {
      address,
      chain,
      deposits: newest === undefined ? null : [newest, ...older].map(depositShown),
      ...sums(trace),
      coverage: coverageOf(trace, known),
      ...lists(address, trace),
      price_basis: PRICE_BASIS,
      receipts: receipts === null ? null : receiptsOf(receipts),
      registry: known.table,
      caveat: caveatOf(chain, trace, known, receipts),
    };
    return walletBridges.ok({ subject: address, data });
  };
}

function unreadOf(trace: Partly<Trace, TracePort>) {
  if (trace instanceof Read) throw new TypeError('bridges: a trace that was read is shown');
  return trace;
}

/** Whether a trace has no dealings to show. */
function sawNothing({ bridges }: Trace): boolean {
  return bridges.length === 0;
}

/** A count of a trace; of one that was cut only where there is something to count. */
function counted<T extends number | boolean>(
  trace: Partly<Trace, TracePort>,
  pick: (one: Trace) => T | null,
): Claim<T | null, null, TracePort> {
  const met = decided(trace, (one) => Boolean(pick(one)));
  return claim(met instanceof Read ? met : trace, pick, () => null);
}

/** A list of a trace; of one that was cut only what is on it. */
function listed<T>(
  trace: Partly<Trace, TracePort>,
  pick: (one: Trace) => readonly T[],
): Claim<T[], readonly [T, ...T[]] | null, TracePort> {
  return claim(
    trace,
    (one) => [...pick(one)],
    () => seen(map(trace, pick)),
  );
}

/** As `listed`, of a list on which something is known to stand. */
function filled<T>(
  trace: Partly<Trace, TracePort>,
  pick: (one: Trace) => readonly T[],
): Claim<T[], readonly [T, ...T[]], TracePort> {
  return claim(
    trace,
    (one) => [...pick(one)],
    () => {
      const list = seen(map(trace, pick));
      if (list === null) throw new TypeError('bridges: a cut trace without dealings is shown');
      return list;
    },
  );
}

function sums(trace: Partly<Trace, TracePort>) {
  const of = (pick: (one: ReturnType<typeof sumOf>) => number | null, way?: 'out' | 'in') =>
    counted(trace, ({ contacts }) => {
      const own = contacts.bridging.filter(
        ({ direction }) => way === undefined || direction === way,
      );
      return pick(sumOf(own));
    });
  const usdOf = (sum: ReturnType<typeof sumOf>) => (sum.transfers === 0 ? 0 : dollars(sum.usd));
  return {
    totals: {
      out_usd: of(usdOf, 'out'),
      in_usd: of(usdOf, 'in'),
      transfers: of((sum) => sum.transfers),
      transactions: of((sum) => sum.transactions),
    },
    total_usd: of(usdOf),
    unpriced_transfers: of((sum) => sum.unpriced_transfers),
    contacts_count: of((sum) => sum.transfers),
    rows_scanned: counted(trace, (one) => one.rows_scanned),
    messaging_only: counted(trace, ({ contacts }) => contacts.messaging.length),
    liquidity_actions: counted(trace, ({ contacts }) => contacts.provided.length),
    transfers_left_out: {
      zero_value: counted(trace, ({ contacts }) => contacts.left_out.zero_value),
      no_market_token: counted(trace, ({ contacts }) => contacts.left_out.no_market_token),
    },
  };
}

function dollars(text: string | null): number | null {
  return text === null ? null : Number(text);
}

function lists(address: string, trace: Partly<Trace, TracePort>) {
  const bridges = (one: Trace) => one.bridges.map(bridgeOf);
  const protocols = (one: Trace) => [...new Set(one.bridges.map(({ protocol }) => protocol))];
  const contacts = (one: Trace) =>
    one.contacts.bridging.slice(0, CONTACTS_SHOWN_MAX).map((each) => contactOf(address, each));
  return {
    bridges: filled(trace, bridges),
    protocols_seen: filled(trace, protocols),
    contacts: listed(trace, contacts),
    // Whatever stopped a trace, its counts are the least that there is.
    truncated: claim(
      trace,
      () => false,
      () => true as const,
    ),
  };
}

function bridgeOf(one: BridgeDealings) {
  return {
    ...one,
    usd: dollars(one.usd),
    first_seen: formatIsoTime(one.first_seen),
    last_seen: formatIsoTime(one.last_seen),
    contracts: [...one.contracts],
  };
}

function contactOf(address: string, { transfer, row, direction, basis, events }: Contact) {
  const { tx, block, kind, token, decimals, raw_amount, usd, chain } = transfer;
  if (kind === 'nft') throw new TypeError('an NFT is no contact with a bridge');
  const native = kind === 'token' ? null : CHAINS[chain].native;
  const places = native === null ? decimals : native.decimals;
  const [first, ...rest] = events === null ? [] : events.map(eventOf);
  return {
    protocol: row.protocol,
    name: row.name,
    contract: row.address,
    tx,
    block,
    direction,
    at: formatIsoTime(transfer.at),
    kind,
    token,
    symbol: native === null ? transfer.symbol : native.symbol,
    amount: places === null ? null : formatUnits(raw_amount, places),
    raw_amount: raw_amount.toString(),
    usd: dollars(usd),
    initiated_by_subject: isSignedBy(address, transfer),
    basis,
    receipt: events === null ? ('unread' as const) : ('read' as const),
    events: first === undefined ? null : [first, ...rest],
  };
}

function eventOf(one: DecodedEvent) {
  const { event, version, direction, user, asset, amount, contract, message_id, logged } = one;
  const inText = (units: bigint | null) => (units === null ? null : units.toString());
  return {
    event,
    version,
    direction,
    user,
    asset,
    contract,
    message_id,
    amount: inText(amount),
    via: [...one.via],
    origin: one.origin,
    destination: one.destination,
    logged: { ...logged, amount: inText(logged.amount) },
  };
}

function depositShown({ contact, event, destination }: Deposit) {
  const { row, transfer } = contact;
  const { state, reasons, chain, tx, matched_by } = destination;
  const amount = event === null ? null : event.amount;
  return {
    protocol: row.protocol,
    name: row.name,
    contract: event === null ? row.address : event.contract,
    tx: transfer.tx,
    at: formatIsoTime(transfer.at),
    event: event === null ? null : event.event,
    message_id: event === null ? null : event.message_id,
    asset: event === null ? null : event.asset,
    amount: amount === null ? null : amount.toString(),
    destination: {
      chain,
      tx,
      state: state instanceof Read ? claim(state, (outcome) => outcome) : state,
      matched_by,
      reason: sentences(reasons),
    },
  };
}

function coverageOf(trace: Partly<Trace, TracePort>, known: Trace): Data['coverage'] {
  const { from_block, to_block, provenance } = known;
  return {
    checked: claim(
      trace,
      () => true as const,
      () => false as const,
    ),
    reason: trace instanceof Read ? null : trace.why.reason,
    from_block,
    to_block,
    provenance,
  };
}

function receiptsOf({ wanted, read, unknown_events, reading, why: cause }: ReceiptsTold) {
  const positive = (n: number): number | null => (n === 0 ? null : n);
  return {
    read: positive(read),
    unread: positive(wanted - read),
    complete: claim(
      reading,
      () => true as const,
      () => false as const,
    ),
    unknown_events: whole(reading, unknown_events),
    reason: reasonOf(cause),
  };
}

/** A count that is shown where it counts something, and is nothing only where all was read. */
function whole(reading: ReceiptsTold['reading'], n: number) {
  const met = decided(
    map(reading, () => n),
    (count) => count > 0,
  );
  if (met instanceof Read) return claim(met, (count) => count as number | null);
  return claim(
    reading,
    () => n as number | null,
    () => null,
  );
}

function reasonOf(cause: Why | null): string | null {
  return cause === null ? null : cause.reason;
}

function caveatOf(
  chain: string,
  trace: Partly<Trace, TracePort>,
  { table, contacts }: Trace,
  receipts: ReceiptsTold | null,
): string {
  const said = [
    `Only contracts on the registry (${table.rows} rows, reviewed ${table.reviewed}) were looked ` +
      `for, on ${chain} alone: it covers seven protocols and is partial by construction. That ` +
      'none was touched does not show that nothing was bridged.',
    'What a relayer pays out of its own wallet, and what an aggregator bridges for its caller, ' +
      'is recognised only where the receipt was read.',
  ];
  if (!(trace instanceof Read)) {
    said.push(`History was not read in full, so every count is the least: ${trace.why.reason}`);
  }
  const more = contacts.bridging.length - CONTACTS_SHOWN_MAX;
  if (more > 0) said.push(`${more} older contacts are counted and not listed.`);
  if (receipts !== null && receipts.why !== null) {
    const unread = receipts.wanted - receipts.read;
    said.push(`Events of ${unread} of ${receipts.wanted} transactions were not read.`);
  }
  return said.join(' ');
}
