// Answers one question: what does one recorded transaction show of bridging, or why not.
// A receipt that could not be held against the registry shows nothing, which is no "no bridging".

import type { StatusPage } from './bridge-arrivals.ts';

/** The other side of something that was sent. `state` is `null` where nothing can be said. */
export type Arrival = {
  readonly chain: string | null;
  /** The transaction that paid it there. */
  readonly tx: string | null;
  readonly state: 'matched' | 'in_flight' | 'unmatched' | 'messaging_only' | null;
  /** The rule by which both sides were joined, or the page whose word the state is. */
  readonly matched_by: 'message_id' | 'fill_rules' | 'transfer_rules' | StatusPage | null;
  /** Why nothing can be said, or what else is said of it. */
  readonly reason: string | null;
};

/** One thing that was bridged, or passed as a message. Amounts are decimal text, smallest units. */
export type ExplainedEvent = {
  readonly protocol: string;
  readonly direction: 'out' | 'in';
  readonly user: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  /** The contracts between the wallet and the bridge's, each with the registry's name for it. */
  readonly via: readonly { readonly contract: string; readonly name: string | null }[];
  readonly contract: string;
  readonly message_id: string | null;
  readonly destination: string | null;
  readonly origin: string | null;
  readonly event: string;
  readonly version: string;
  /** The event's own words of user, asset and amount. */
  readonly logged: {
    readonly user: string | null;
    readonly asset: string | null;
    readonly amount: string | null;
  };
  readonly messaging_only: boolean;
  /** Where it arrived; `null` where that was not asked, and of what arrived here. */
  readonly arrival: Arrival | null;
};

/**
 * `checked` is false where nothing may be denied: the receipt could not be held against the
 * registry, or it holds nothing that can be read and an event of a bridge that cannot.
 */
export type Explained = {
  readonly checked: boolean;
  readonly chain: string | null;
  /** Whether the file named the chain, or the registry's contracts told it. */
  readonly chain_from: 'file' | 'registry' | null;
  readonly bridged: readonly ExplainedEvent[];
  readonly why_not: string | null;
  readonly unknown_events: number;
};

/** What a file shows, or why it could not be read. */
export type ExplainedReceipt =
  | { readonly read: false; readonly reason: string }
  | ({ readonly read: true } & Explained);
