// Answers one question: what may be told to the chats of a membership?

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';

/** What a dispatch may be about. */
export const DISPATCH_KINDS = ['flag', 'watch', 'signal'] as const;
export type DispatchKind = (typeof DISPATCH_KINDS)[number];

/** Dispatches that may be appended at once, facts that one may tell, characters of its texts. */
export const DISPATCH_LIMITS = {
  atOnce: 1_000,
  facts: 20,
  keyChars: 200,
  caveatChars: 600,
} as const;

/** What is told, in plain text without markup: each platform's own is escaped where it is sent. */
export type DispatchMessage = {
  /** One line. */
  readonly title: string;
  /** One line each. */
  readonly facts: readonly string[];
  /** What the facts do not say; it is told whole, whatever is cut. */
  readonly caveat: string;
  /** The page that shows it, as a path of this service. */
  readonly path: string;
  readonly at: UnixSeconds;
  readonly simulated: boolean;
};

/** A dispatch to the chats of one membership, which is told once under a key. */
export type NewDispatch = {
  readonly membership_id: string;
  readonly key: string;
  readonly kind: DispatchKind;
  /** What rules look at; `null`: it is about no chain, or about no address. */
  readonly chain: ChainName | null;
  readonly address: string | null;
  readonly message: DispatchMessage;
};
