// GET /api/v1/wallet/{address}/bridges: the transfers of an address with known bridge contracts.
// It refuses to answer an empty list unless the whole history on the chain was read.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import type { TransferDirection } from '../../chain/transfer.ts';
import { badAddress } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler } from '../../contract/route.ts';
import {
  addressText,
  checkedFlag,
  harmless,
  isoDay,
  isoTime,
  negative,
  oneOf,
  prose,
  words,
} from '../../contract/wire.ts';
import { type Claim, claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { decide, map, Part, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { BRIDGE_CHAINS } from '../../ports/bridges.ts';
import { HISTORY_PROVENANCES } from '../../ports/history.ts';
import { viewTransfer } from '../history/address-history.ts';
import { type Deposit, findDeposits, joinReasons } from './destination.ts';
import { viewEvent } from './explain.ts';
import { arrival, bridgeDealings, bridgeEvent } from './shapes.ts';
import {
  type BridgePorts,
  type Contact,
  type ReceiptsSummary,
  type Sum,
  sumContacts,
  type Trace,
  type TracePort,
  traceBridges,
} from './trace.ts';

const TRACE = { restsOn: ['bridge_registry', 'transfer_history'] } as const;
const RECEIPTS = { restsOn: ['transaction_receipts'] } as const;

const count = z.int().nonnegative();
const usd = z.number().nonnegative();

// `basis` is `event` where the other end is no bridge and an event says that it was bridged.
// `events` is null where the receipt was not read, and where it holds none of the contract.
const contact = z.strictObject({
  protocol: words(),
  name: words(),
  contract: words(),
  tx: words(),
  block: z.int().positive(),
  at: isoTime,
  direction: oneOf(['out', 'in']),
  kind: oneOf(['native', 'internal', 'token']),
  token: words().nullable(),
  symbol: words().nullable(),
  amount: words().nullable(),
  raw_amount: words(),
  usd: usd.nullable(),
  initiated_by_subject: z.boolean().nullable(),
  basis: oneOf(['transfer', 'event']),
  receipt: oneOf(['read', 'unread']),
  events: z.array(bridgeEvent).min(1).nullable(),
});

const deposit = z.strictObject({
  protocol: words(),
  name: words(),
  contract: words(),
  tx: words(),
  at: isoTime,
  event: words().nullable(),
  message_id: words().nullable(),
  asset: words().nullable(),
  amount: words().nullable(),
  destination: arrival,
});

const claimedCount = negative(count.nullable(), TRACE);
const claimedUsd = negative(usd.nullable(), TRACE);

export const walletBridges = evidenceRoute({
  name: 'wallet_bridges',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/bridges',
  summary: 'Transfers of the address with known bridge contracts on one chain.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z.enum(BRIDGE_CHAINS).default('ethereum'),
  }),
  data: z.strictObject({
    address: words(),
    chain: words(),
    bridges: negative(z.array(bridgeDealings), TRACE),
    totals: z.strictObject({
      out_usd: claimedUsd,
      in_usd: claimedUsd,
      transfers: claimedCount,
      transactions: claimedCount,
    }),
    total_usd: claimedUsd,
    coverage: z.strictObject({
      checked: checkedFlag(TRACE),
      reason: prose().nullable(),
      from_block: harmless(count, 'the number of a block is a place').nullable(),
      to_block: z.int().positive().nullable(),
      provenance: oneOf(HISTORY_PROVENANCES).nullable(),
    }),
    protocols_seen: negative(z.array(words()), TRACE),
    messaging_only: claimedCount,
    truncated: negative(z.boolean(), TRACE),
    unpriced_transfers: claimedCount,
    rows_scanned: claimedCount,
    price_basis: words().min(1),
    contacts: negative(z.array(contact).nullable(), TRACE),
    contacts_count: claimedCount,
    deposits: z
      .array(deposit)
      .min(1)
      .nullable()
      .describe('What was sent, the newest first; null where the trace shows that of none.'),
    transfers_left_out: z.strictObject({ zero_value: claimedCount, no_market_token: claimedCount }),
    liquidity_actions: claimedCount,
    receipts: z
      .strictObject({
        read: z.int().positive().nullable(),
        unread: z.int().positive().nullable(),
        complete: checkedFlag(RECEIPTS),
        unknown_events: negative(count.nullable(), RECEIPTS),
        reason: prose().nullable(),
      })
      .nullable(),
    registry: z.strictObject({
      id: words(),
      rows: z.int().positive(),
      reviewed: isoDay,
    }),
    caveat: prose().min(1),
  }),
  absences: ['not_supported', 'not_deployed'],
  tool: {
    name: 'wallet_bridges',
    description:
      'Transfers of one EVM address with known contracts of seven bridge protocols on one chain. ' +
      'An empty list says that no contract on the registry was touched, no more than that.',
  },
});

type Data = z.input<typeof walletBridges.data>;

/** How many contacts, and how many deposits, an answer shows: the newest. */
const CONTACTS_SHOWN_MAX = 100;

const PRICE_BASIS =
  'USD at the time of each transfer, from the configured price source; over priced transfers only';

/** @internal The handler of the bridge trace. */
export function walletBridgesHandler(ports: BridgePorts): Handler<typeof walletBridges> {
  return async ({ params, query }, { signal }) => {
    const { chain } = query;
    const parsed = parseAddress(params.address);
    if (parsed === null) return badAddress(params.address);
    const { address, kind } = parsed;
    if (kind !== 'evm') {
      const reason = why('not_traced_kind', { kind });
      return walletBridges.absent.not_supported({ subject: address, why: reason });
    }
    const { trace, receipts } = await traceBridges(ports, address, chain, signal);
    const found = rowsSeen(map(trace, (one) => [one]));
    if (found === null) {
      if (trace instanceof Read) throw new TypeError('bridges: a trace that was read is shown');
      return walletBridges.absent.not_deployed({ subject: address, silent: trace });
    }
    const [known] = found;
    const { from_block, to_block, provenance } = known;
    if (trace instanceof Part && known.bridges.length === 0) {
      const { rows_scanned: count } = known;
      const transfers = `${count.toLocaleString('en')} ${count === 1 ? 'transfer' : 'transfers'}`;
      const reason = why('no_bridge_seen', { chain, transfers, rest: trace.why.reason });
      return walletBridges.absent.not_deployed({ subject: address, silent: trace, why: reason });
    }
    const { contacts, registry } = known;
    const contactsOf = (one: Trace) =>
      one.contacts.bridging.slice(0, CONTACTS_SHOWN_MAX).map((each) => viewContact(address, each));
    const deposits = await findDeposits(ports, contacts, registry, CONTACTS_SHOWN_MAX, signal);
    const [newest, ...older] = deposits.map(viewDeposit);
    const data: Data = {
      address,
      chain,
      deposits: newest === undefined ? null : [newest, ...older],
      ...sums(trace),
      coverage: {
        checked: claimWhole(trace),
        reason: trace instanceof Read ? null : trace.why.reason,
        from_block,
        to_block,
        provenance,
      },
      bridges: fullListOf(trace, (one) => one.bridges),
      protocols_seen: fullListOf(trace, ({ bridges }) => [
        ...new Set(bridges.map(({ protocol }) => protocol)),
      ]),
      contacts: claim(
        trace,
        (one) => contactsOf(one),
        () => rowsSeen(map(trace, contactsOf)),
      ),
      // The counts of a stopped trace are minimums.
      truncated: claim(
        trace,
        () => false,
        () => true as const,
      ),
      price_basis: PRICE_BASIS,
      receipts: receipts === null ? null : receiptsOf(receipts),
      registry: known.table,
      caveat: caveatOf(chain, trace, known, receipts),
    };
    return walletBridges.ok({ subject: address, data });
  };
}

function countOf<T extends number | boolean>(
  trace: Partly<Trace, TracePort>,
  pick: (one: Trace) => T | null,
): Claim<T | null, null, TracePort> {
  const met = decide(trace, (one) => Boolean(pick(one)));
  return claimOrNull(met instanceof Read ? met : trace, pick);
}

/** A list of a trace on which something is known to stand; of one that was cut what is on it. */
function fullListOf<T>(
  trace: Partly<Trace, TracePort>,
  pick: (one: Trace) => readonly T[],
): Claim<T[], readonly [T, ...T[]], TracePort> {
  return claim(
    trace,
    (one) => [...pick(one)],
    () => {
      const list = rowsSeen(map(trace, pick));
      if (list === null) throw new TypeError('bridges: a cut trace without dealings is shown');
      return list;
    },
  );
}

function sums(trace: Partly<Trace, TracePort>) {
  const sum = (pick: (own: Sum) => number | null, way?: TransferDirection) =>
    countOf(trace, ({ contacts }) => {
      const own = contacts.bridging.filter(
        ({ direction }) => way === undefined || direction === way,
      );
      return pick(sumContacts(own));
    });
  const usdOf = ({ transfers, usd }: Sum) => (transfers === 0 ? 0 : usd);
  return {
    totals: {
      out_usd: sum(usdOf, 'out'),
      in_usd: sum(usdOf, 'in'),
      transfers: sum((sum) => sum.transfers),
      transactions: sum((sum) => sum.transactions),
    },
    total_usd: sum(usdOf),
    unpriced_transfers: sum((sum) => sum.unpriced_transfers),
    contacts_count: sum((sum) => sum.transfers),
    rows_scanned: countOf(trace, (one) => one.rows_scanned),
    messaging_only: countOf(trace, ({ contacts }) => contacts.messaging.length),
    liquidity_actions: countOf(trace, ({ contacts }) => contacts.provided.length),
    transfers_left_out: {
      zero_value: countOf(trace, ({ contacts }) => contacts.left_out.zero_value),
      no_market_token: countOf(trace, ({ contacts }) => contacts.left_out.no_market_token),
    },
  };
}

function viewContact(address: string, { transfer, row, direction, basis, events }: Contact) {
  const { block, kind } = transfer;
  if (kind === 'nft') throw new TypeError('an NFT is no contact with a bridge');
  const { chain: _, usd, ...moved } = viewTransfer(address, transfer);
  const [first, ...rest] = events === null ? [] : events.map(viewEvent);
  return {
    protocol: row.protocol,
    name: row.name,
    contract: row.address,
    ...moved,
    block,
    direction,
    kind,
    usd: usd === null ? null : Number(usd),
    basis,
    receipt: events === null ? ('unread' as const) : ('read' as const),
    events: first === undefined ? null : [first, ...rest],
  };
}

function viewDeposit({ contact, event, destination }: Deposit) {
  const { row, transfer } = contact;
  const { state, reasons, ...rest } = destination;
  const known = event === null ? null : viewEvent(event);
  return {
    protocol: row.protocol,
    name: row.name,
    contract: known === null ? row.address : known.contract,
    tx: transfer.tx,
    at: formatIsoTime(transfer.at),
    event: known === null ? null : known.event,
    message_id: known === null ? null : known.message_id,
    asset: known === null ? null : known.asset,
    amount: known === null ? null : known.amount,
    destination: {
      ...rest,
      state: state instanceof Read ? claim(state, (outcome) => outcome) : state,
      reason: joinReasons(reasons),
    },
  };
}

function receiptsOf({ wanted, read, unknown_events, reading, why: cause }: ReceiptsSummary) {
  const positive = (n: number): number | null => (n === 0 ? null : n);
  return {
    read: positive(read),
    unread: positive(wanted - read),
    complete: claimWhole(reading),
    unknown_events: countWhole(reading, unknown_events),
    reason: cause === null ? null : cause.reason,
  };
}

/** A count that is shown where it counts something, and is nothing only where all was read. */
function countWhole(reading: ReceiptsSummary['reading'], n: number) {
  const met = decide(
    map(reading, () => n),
    (count) => count > 0,
  );
  if (met instanceof Read) return claim(met, (count) => count as number | null);
  return claimOrNull(reading, () => n as number | null);
}

function caveatOf(
  chain: string,
  trace: Partly<Trace, TracePort>,
  { table, contacts }: Trace,
  receipts: ReceiptsSummary | null,
): string {
  const sentences = [
    `Only contracts on the registry (${table.rows} rows, reviewed ${table.reviewed}) were looked ` +
      `for, on ${chain} alone: it covers seven protocols and is partial by construction. That ` +
      'none was touched does not show that nothing was bridged.',
    'What a relayer pays out of its own wallet, and what an aggregator bridges for its caller, ' +
      'is recognised only where the receipt was read.',
  ];
  if (!(trace instanceof Read)) {
    sentences.push(
      `History was not read in full, so every count is the least: ${trace.why.reason}`,
    );
  }
  const more = contacts.bridging.length - CONTACTS_SHOWN_MAX;
  if (more > 0) sentences.push(`${more} older contacts are counted and not listed.`);
  if (receipts !== null && receipts.why !== null) {
    const unread = receipts.wanted - receipts.read;
    sentences.push(`Events of ${unread} of ${receipts.wanted} transactions were not read.`);
  }
  return sentences.join(' ');
}
