import { z } from 'zod';
import { claimedWords, isoTime, oneOf, prose, rowFact, words } from '../../contract/wire.ts';
import { STATUS_PAGES } from '../../ports/bridges.ts';

/** The event of a contract. Amounts are decimal text, in smallest units. */
export const bridgeEvent = z.strictObject({
  event: words(),
  version: words(),
  direction: oneOf(['out', 'in']),
  /** The wallet that paid or was paid. */
  user: words().nullable(),
  /** The asset that the wallet sent or received: a token's contract or `native`. */
  asset: words().nullable(),
  amount: words().nullable(),
  /** The contracts between the wallet and the bridge's, each with the registry's name for it. */
  via: rowFact(z.array(z.strictObject({ contract: words(), name: words().nullable() }))),
  contract: words(),
  message_id: words().nullable(),
  origin: words().nullable(),
  destination: words().nullable(),
  /** The event's own words of user, asset and amount. */
  logged: z.strictObject({
    user: words().nullable(),
    asset: words().nullable(),
    amount: words().nullable(),
  }),
});
export type BridgeEvent = z.output<typeof bridgeEvent>;

/**
 * The other side of something that was sent. `in_flight` and `unmatched` deny an arrival so far, or
 * for good: each rests on what the other chain's contracts logged, or on all that its recipient was
 * paid there. Where that was not read, `state` is null and `reason` says why.
 */
export const arrival = z.strictObject({
  chain: words().nullable(),
  /** The transaction that paid it there. */
  tx: words().nullable(),
  state: claimedWords(
    ['matched', 'in_flight', 'unmatched', 'messaging_only'],
    ['in_flight', 'unmatched'],
    { restsOn: ['bridge_arrivals'] },
  ).nullable(),
  /** The rule by which both sides were joined, or the status page whose word the state is. */
  matched_by: oneOf(['message_id', 'fill_rules', 'transfer_rules', ...STATUS_PAGES]).nullable(),
  reason: prose().nullable(),
});
export type Arrival = z.output<typeof arrival>;

/** The dealings with one family of contracts of a protocol. `usd` is over priced transfers only. */
export const bridgeDealings = z.strictObject({
  protocol: words(),
  name: words(),
  direction: oneOf(['out', 'in', 'both']),
  transfers: z.int().positive(),
  transactions: z.int().positive(),
  usd: z.number().nonnegative().nullable(),
  unpriced_transfers: rowFact(z.int().nonnegative()),
  first_seen: isoTime,
  last_seen: isoTime,
  contracts: z.array(words()).min(1),
  messaging_only: rowFact(z.boolean()),
});
export type BridgeDealings = z.output<typeof bridgeDealings>;
