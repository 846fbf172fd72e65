// How the providers of this process answer, as it saw it. What nobody asked is not known.

/**
 * How one call ended. `stopped`: its caller or the time for it ended before the provider did, so
 * that nothing is known of what it would have answered. `fault` holds no part of a URL.
 */
export type CallOutcome =
  | { readonly outcome: 'answered' | 'stopped' }
  | { readonly outcome: 'failed'; readonly fault: string };

/** Takes how a call ended. */
export type OnCallEnd = (end: CallOutcome) => void;

/** A provider as it may be shown. */
export type ProviderFacts = {
  readonly name: string;
  /** Scheme and host; one name under one of these is one provider. */
  readonly url: string;
  /** The ports that it serves, by their tags: what rests on them is not checked without it. */
  readonly ports: readonly string[];
  /** What else rests on it, in words; `null`: its ports say it. */
  readonly carries: string | null;
};

/** The calls of one hour, by how they ended. */
export type HourOfCalls = {
  readonly answered: number;
  readonly failed: number;
  readonly stopped: number;
};

/** `unanswered`: each call since the last answer was stopped before it ended. */
export const PROVIDER_STATES = ['answered', 'silent', 'unanswered', 'not_asked'] as const;

/** A provider and its last day. Times are Unix seconds. */
export type ProviderReport = ProviderFacts & {
  readonly state: (typeof PROVIDER_STATES)[number];
  /** The first call without an answer since the last answer; `null` where there is none. */
  readonly silent_since: number | null;
  /** The fault of the last call that failed since the last answer. */
  readonly fault: string | null;
  readonly last_answered: number | null;
  readonly watched_since: number;
  /** From the oldest on; `calls` is `null` in an hour in which nobody asked. */
  readonly hours: readonly { readonly from: number; readonly calls: HourOfCalls | null }[];
};

/** Watches providers. A provider that is named twice is one. */
export type ProviderWatch = {
  readonly watch: (provider: ProviderFacts) => OnCallEnd;
  readonly reports: () => readonly ProviderReport[];
};
