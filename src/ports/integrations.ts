import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../chain/chain.ts';
import type { UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Actor } from './access.ts';
import { storedWord } from './stored-word.ts';

/** The name of this port in readings. */
export type IntegrationsPort = 'integrations';

/** Integrations of one membership, addresses of one's rules, and dead letters that are shown. */
export const INTEGRATION_LIMITS = { each: 10, addresses: 100, dead_shown: 100 } as const;

/** The platforms that can be told. */
export const CHAT_PLATFORMS = ['slack', 'discord', 'telegram'] as const;
export type ChatPlatform = (typeof CHAT_PLATFORMS)[number];

export const DISPATCH_KINDS = ['flag', 'watch', 'signal', 'call'] as const;
export type DispatchKind = (typeof DISPATCH_KINDS)[number];

/**
 * The message, in plain text without markup: each platform's markup is escaped when it is sent. A
 * field that a newer version added is dropped.
 */
export const dispatchMessage = z.object({
  /** One line. */
  title: z.string(),
  /** One line each. */
  facts: z.array(z.string()).readonly(),
  /** The caveat beside the facts; it is sent whole, whatever is cut. */
  caveat: z.string(),
  /** The page that shows it, as a path of this service. */
  path: z.string(),
  /** A further page, with the words of its link. */
  more: z.object({ title: z.string(), path: z.string() }).optional(),
  /** Unix seconds. */
  at: z.number(),
  simulated: z.boolean(),
});
export type DispatchMessage = z.output<typeof dispatchMessage>;

/** Which dispatches an integration gets; `null`: of every chain, of every address. */
export const rules = z.strictObject({
  kinds: z.array(storedWord(DISPATCH_KINDS)).readonly(),
  chains: z.array(storedWord(CHAIN_NAMES)).readonly().nullable(),
  addresses: z.array(z.string()).readonly().nullable(),
});
export type Rules = z.output<typeof rules>;

/** The encrypted credentials: the secret of that fingerprint opens them, for that id. */
export const sealed = z.strictObject({ bytes: z.instanceof(Uint8Array), by: z.string() });
export type Sealed = z.output<typeof sealed>;

/** An integration, as its owner may see it. Times are Unix seconds. */
export const integration = z.strictObject({
  id: z.string(),
  platform: storedWord(CHAT_PLATFORMS),
  place: z.string(),
  rules,
  created_at: z.number(),
  verified_at: z.number().nullable(),
  /** Since when the platform takes nothing by it. */
  broken_at: z.number().nullable(),
  /** The fault that keeps the next dispatch from being delivered, if any. */
  fault: z.string().nullable(),
  delivered_at: z.number().nullable(),
  waiting: z.int().nonnegative(),
  dead_letters: z.int().nonnegative(),
});
export type Integration = z.output<typeof integration>;

export type NewIntegration = Pick<
  Integration,
  'id' | 'platform' | 'place' | 'rules' | 'created_at' | 'verified_at'
> & { readonly membership_id: string; readonly sealed: Sealed };

/** A dispatch that was given up. Times are Unix seconds. */
export const deadLetter = z.strictObject({
  id: z.number(),
  integration_id: z.string(),
  platform: storedWord(CHAT_PLATFORMS),
  place: z.string(),
  dispatch: z.int().positive(),
  message: dispatchMessage,
  queued_at: z.number(),
  dead_at: z.number(),
  reason: z.string(),
});
export type DeadLetter = z.output<typeof deadLetter>;

/** The result of adding one. */
export type Connected =
  | { readonly outcome: 'connected' }
  | { readonly outcome: 'no_membership' }
  | { readonly outcome: 'limit' };

/** The result of a post outside the queue. */
export type TryResult =
  | { readonly outcome: 'taken'; readonly at: UnixSeconds }
  | { readonly outcome: 'broken'; readonly at: UnixSeconds; readonly fault: string };

/** The integrations of memberships; whose is named with each question. */
export type IntegrationStore = {
  readonly connect: (
    integration: NewIntegration,
    by: Actor,
  ) => Promise<Reading<Connected, IntegrationsPort>>;
  readonly list: (
    membershipId: string,
  ) => Promise<Partly<readonly Integration[], IntegrationsPort>>;
  /** The encrypted credentials of one; `null`: the membership has none of that id. */
  readonly sealedOf: (
    membershipId: string,
    id: string,
  ) => Promise<
    Reading<{ readonly platform: ChatPlatform; readonly sealed: Sealed } | null, IntegrationsPort>
  >;
  /** Notes what a try showed: after one that was taken, what waits is delivered at once. */
  readonly tried: (id: string, tried: TryResult) => Promise<Reading<true, IntegrationsPort>>;
  /** `false`: the membership has none of that id. What waits for it goes with it. */
  readonly remove: (
    membershipId: string,
    id: string,
    at: UnixSeconds,
    by: Actor,
  ) => Promise<Reading<boolean, IntegrationsPort>>;
  /** The given-up dispatches, newest first; a part if more exist than are shown. */
  readonly deadLetters: (
    membershipId: string,
  ) => Promise<Partly<readonly DeadLetter[], IntegrationsPort>>;
  /** Those that another secret sealed, some of them. */
  readonly sealedByOthers: (
    fingerprint: string,
    max: number,
  ) => Promise<
    Reading<readonly { readonly id: string; readonly sealed: Sealed }[], IntegrationsPort>
  >;
  /** Keeps what was sealed anew, where it still is what it was before. */
  readonly reseal: (
    id: string,
    before: Sealed,
    sealed: Sealed,
  ) => Promise<Reading<true, IntegrationsPort>>;
};

// A platform is asked at its own addresses alone: of what a member gave only ids and tokens are
// sent.

/** The name of this port in readings. */
export type ChatPort = 'chat_platforms';

/** The target of a post on a platform. No part of it is a URL. */
export type ChatTarget =
  | { readonly platform: 'slack'; readonly webhook: string }
  | { readonly platform: 'slack'; readonly bot_token: string; readonly channel: string }
  | { readonly platform: 'discord'; readonly webhook_id: string; readonly webhook_token: string }
  | { readonly platform: 'telegram'; readonly bot_token: string; readonly chat_id: string };

/** A message with the page that shows it, and the number that tells a repeated one. */
export type ChatPost = Omit<DispatchMessage, 'more'> & {
  readonly link: string;
  readonly more_link: { readonly title: string; readonly url: string } | null;
  readonly dispatch: number;
};

/**
 * The platform's answer. `later`: it accepts nothing now, and may give a delay; `broken`: it
 * accepts nothing for this target any more; `refused`: it rejects this message; `moved`: the chat
 * has another id by now.
 */
export type PostEnd =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'later'; readonly fault: string; readonly wait_s: number | null }
  | { readonly outcome: 'broken'; readonly fault: string }
  | { readonly outcome: 'refused'; readonly fault: string }
  | { readonly outcome: 'moved'; readonly chat_id: string };

/** The platform's facts of a target. `unknown`: only a post can show them. */
export type TargetFacts =
  | { readonly outcome: 'verified'; readonly place: string }
  | { readonly outcome: 'unknown'; readonly place: string }
  | Extract<PostEnd, { outcome: 'later' | 'broken' }>;

/** The platforms, over their own interfaces. An upstream failure is unread. */
export type ChatPlatforms = {
  /** Asks without posting anything. */
  readonly verify: (
    target: ChatTarget,
    signal: AbortSignal,
  ) => Promise<Reading<TargetFacts, ChatPort>>;
  readonly post: (
    target: ChatTarget,
    post: ChatPost,
    signal: AbortSignal,
  ) => Promise<Reading<PostEnd, ChatPort>>;
};

// One process at a time delivers to an integration, and its oldest dispatch alone.

/** The name of this port in readings. */
export type DeliveriesPort = 'deliveries';

/** Seconds after which what waits is given up, and after which all that was told is forgotten. */
export const DELIVERY_LIMITS = { waits_s: 86_400, kept_s: 30 * 86_400 } as const;

/** The oldest dispatch that waits for an integration which this process holds. */
export const claimed = z.strictObject({
  delivery: z.number(),
  integration_id: z.string(),
  platform: storedWord(CHAT_PLATFORMS),
  sealed,
  /** How often in a row it was tried. */
  attempts: z.int(),
  dispatch: z.number(),
  message: dispatchMessage,
});
export type Claimed = z.output<typeof claimed>;

/** The result of an attempt. `after_s`: the delay before the next one. */
export type DeliveryEnd = { readonly after_s: number } & (
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'later' | 'broken'; readonly fault: string }
  | { readonly outcome: 'given_up'; readonly fault: string }
  | { readonly outcome: 'moved'; readonly sealed: Sealed }
);

export type Deliveries = {
  /** Holds some integrations for so long, each with what it is told next. */
  readonly claim: (
    max: number,
    forS: number,
  ) => Promise<Reading<readonly Claimed[], DeliveriesPort>>;
  /** Notes what became of a try, and lets the integration go. */
  readonly settle: (claimed: Claimed, end: DeliveryEnd) => Promise<Reading<true, DeliveriesPort>>;
  /** Gives up what waits for too long, and forgets what is kept for too long. */
  readonly tidy: () => Promise<Reading<true, DeliveriesPort>>;
};

/** Dispatches that may be appended at once, facts that one may tell, characters of its texts. */
export const DISPATCH_LIMITS = {
  atOnce: 1_000,
  facts: 20,
  keyChars: 200,
  caveatChars: 600,
} as const;

/** A dispatch to the chats of one membership, which is told once under a key. */
export type NewDispatch = {
  readonly membership_id: string;
  readonly key: string;
  readonly kind: DispatchKind;
  /** The fields that rules match; `null`: the dispatch is about no chain, or about no address. */
  readonly chain: ChainName | null;
  readonly address: string | null;
  readonly message: DispatchMessage;
};

// The place moves in the transaction that queues what was told.

/** The name of this port in readings. */
export type FlagPlacePort = 'flags_told';

/** A dispatch to all memberships that ask for flags. */
export type FlagDispatch = Omit<NewDispatch, 'membership_id' | 'kind'>;

/** A step from one number of the log of flags to another, with what is told of it. */
export type FlagStep = {
  readonly after: number;
  readonly up_to: number;
  readonly dispatches: readonly FlagDispatch[];
};

export type FlagPlace = {
  /** The number of the last flag that was told; `newest` where none ever was. */
  readonly place: (newest: number) => Promise<Reading<number, FlagPlacePort>>;
  /** Queues and moves on; `false`: another process has. */
  readonly tell: (step: FlagStep) => Promise<Reading<boolean, FlagPlacePort>>;
};
