import { z } from 'zod';
import { unixSeconds } from '../../contract/wire.ts';
import { PROVIDER_STATES } from '../../ports/providers.ts';

/** The calls of one hour, by how they ended. `stopped`: by the caller, before they ended. */
const calls = z.strictObject({
  answered: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  stopped: z.int().nonnegative(),
});

/**
 * A provider, as this process saw it. `unanswered`: each call since its last answer was stopped
 * before it ended. An hour in which nobody asked has no calls: it is no hour of answers.
 */
export const providerShown = z.strictObject({
  name: z.string(),
  url: z.string(),
  ports: z.array(z.string()),
  carries: z.string().nullable(),
  state: z.enum(PROVIDER_STATES),
  silent_since: unixSeconds.nullable(),
  fault: z.string().nullable(),
  last_answered: unixSeconds.nullable(),
  watched_since: unixSeconds,
  hours: z.array(
    z.strictObject({
      from: unixSeconds,
      calls: calls.nullable(),
    }),
  ),
});

export type ProviderView = z.output<typeof providerShown>;

export type CallsOfHour = z.output<typeof calls>;
