// Answers one question: what is to be delivered next, and what became of it?
// One process at a time delivers to an integration, and its oldest dispatch alone.

import type { Reading } from '../../evidence/reading.ts';
import type { ChatPlatform } from './chat-platforms.ts';
import type { DispatchMessage } from './dispatches.ts';
import type { Sealed } from './integrations.ts';

/** The name of this port in readings. */
export type DeliveriesPort = 'deliveries';

/** Seconds after which what waits is given up, and after which all that was told is forgotten. */
export const DELIVERY_LIMITS = { waits_s: 86_400, kept_s: 30 * 86_400 } as const;

/** The oldest dispatch that waits for an integration which this process holds. */
export type Claimed = {
  readonly delivery: number;
  readonly integration_id: string;
  readonly platform: ChatPlatform;
  readonly sealed: Sealed;
  /** How often in a row it was tried. */
  readonly attempts: number;
  readonly dispatch: number;
  readonly message: DispatchMessage;
};

/** What became of a try. `after_s`: how long the integration is then left alone. */
export type Settled = { readonly after_s: number } & (
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'later' | 'broken'; readonly fault: string }
  | { readonly outcome: 'given_up'; readonly fault: string }
  | { readonly outcome: 'moved'; readonly sealed: Sealed }
);

/** The queues. */
export type Deliveries = {
  /** Holds some integrations for so long, each with what it is told next. */
  readonly claim: (
    max: number,
    forS: number,
  ) => Promise<Reading<readonly Claimed[], DeliveriesPort>>;
  /** Notes what became of a try, and lets the integration go. */
  readonly settle: (claimed: Claimed, end: Settled) => Promise<Reading<true, DeliveriesPort>>;
  /** Gives up what waits for too long, and forgets what is kept for too long. */
  readonly tidy: () => Promise<Reading<true, DeliveriesPort>>;
};
