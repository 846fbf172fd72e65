// Answers one question: does a chat platform take what is posted to it?
// It is asked at its own addresses alone: of what a member gave only ids and tokens are sent.

import type { Reading } from '../../evidence/reading.ts';
import type { DispatchMessage } from './dispatches.ts';

/** The name of this port in readings. */
export type ChatPort = 'chat_platforms';

/** The platforms that can be told. */
export const CHAT_PLATFORMS = ['slack', 'discord', 'telegram'] as const;
export type ChatPlatform = (typeof CHAT_PLATFORMS)[number];

/** What posts to one place of a platform. Nothing of it is an address. */
export type ChatTarget =
  | { readonly platform: 'slack'; readonly webhook: string }
  | { readonly platform: 'slack'; readonly bot_token: string; readonly channel: string }
  | { readonly platform: 'discord'; readonly webhook_id: string; readonly webhook_token: string }
  | { readonly platform: 'telegram'; readonly bot_token: string; readonly chat_id: string };

/** A message with the page that shows it, and the number that tells a repeated one. */
export type ChatPost = DispatchMessage & { readonly link: string; readonly dispatch: number };

/**
 * What the platform said. `later`: it takes nothing now, and may say for how long; `broken`: it
 * takes nothing by this target any more; `refused`: not this message; `moved`: the chat has
 * another id by now.
 */
export type PostEnd =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'later'; readonly fault: string; readonly wait_s: number | null }
  | { readonly outcome: 'broken'; readonly fault: string }
  | { readonly outcome: 'refused'; readonly fault: string }
  | { readonly outcome: 'moved'; readonly chat_id: string };

/** What the platform says of a target. `unknown`: it can be asked by a post alone. */
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
