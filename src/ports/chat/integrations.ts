// Answers one question: where is a membership told in chat, and what could not be delivered there?

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { Actor } from '../access/access-log.ts';
import type { ChatPlatform } from './chat-platforms.ts';
import type { DispatchKind, DispatchMessage } from './dispatches.ts';

/** The name of this port in readings. */
export type IntegrationsPort = 'integrations';

/** Integrations of one membership, addresses of one's rules, and dead letters that are shown. */
export const INTEGRATION_LIMITS = { each: 10, addresses: 100, dead_shown: 100 } as const;

/** Which dispatches an integration gets; `null`: of every chain, of every address. */
export type Rules = {
  readonly kinds: readonly DispatchKind[];
  readonly chains: readonly ChainName[] | null;
  readonly addresses: readonly string[] | null;
};

/** What it posts with, as it is kept: opened by the secret of that fingerprint, for that id. */
export type Sealed = { readonly bytes: Uint8Array; readonly by: string };

/** An integration, as its owner may see it. */
export type Integration = {
  readonly id: string;
  readonly platform: ChatPlatform;
  readonly place: string;
  readonly rules: Rules;
  readonly created_at: UnixSeconds;
  readonly verified_at: UnixSeconds | null;
  /** Since when the platform takes nothing by it. */
  readonly broken_at: UnixSeconds | null;
  /** What kept the next dispatch from being delivered, if something did. */
  readonly fault: string | null;
  readonly delivered_at: UnixSeconds | null;
  readonly waiting: number;
  readonly dead: number;
};

/** An integration that is to be added. */
export type NewIntegration = Pick<
  Integration,
  'id' | 'platform' | 'place' | 'rules' | 'created_at' | 'verified_at'
> & { readonly membership_id: string; readonly sealed: Sealed };

/** A dispatch that was given up. */
export type DeadLetter = {
  readonly id: number;
  readonly integration_id: string;
  readonly platform: ChatPlatform;
  readonly place: string;
  readonly dispatch: number;
  readonly message: DispatchMessage;
  readonly queued_at: UnixSeconds;
  readonly dead_at: UnixSeconds;
  readonly reason: string;
};

/** What became of adding one. */
export type Connected =
  | { readonly outcome: 'connected' }
  | { readonly outcome: 'no_membership' }
  | { readonly outcome: 'limit' };

/** What a post outside the queue showed of an integration. */
export type Tried =
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
  /** What one posts with; `null`: the membership has none of that id. */
  readonly sealedOf: (
    membershipId: string,
    id: string,
  ) => Promise<
    Reading<{ readonly platform: ChatPlatform; readonly sealed: Sealed } | null, IntegrationsPort>
  >;
  /** Notes what a try showed: after one that was taken, what waits is delivered at once. */
  readonly tried: (id: string, tried: Tried) => Promise<Reading<true, IntegrationsPort>>;
  /** `false`: the membership has none of that id. What waits for it goes with it. */
  readonly remove: (
    membershipId: string,
    id: string,
    at: UnixSeconds,
    by: Actor,
  ) => Promise<Reading<boolean, IntegrationsPort>>;
  /** What was given up, newest first; a part where there is more than is shown. */
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
