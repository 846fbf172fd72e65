// Declares /settings: the keys of a membership, its use and its changes; and /pricing.

import { z } from 'zod';
import type { UnixSeconds } from '../../chain/time.ts';
import { form, html, noBody } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';

/** How long a key may open beside the one that takes its place, in hours. */
export const OVERLAP_HOURS = ['1', '24', '168'] as const;

const FORM_BYTES_MAX = 4_096;
const SESSION = { surface: 'web', access: 'session' } as const;
const key = z.strictObject({ id: z.string().max(60) });
const NAME = /^[^\p{Cc}\p{Cf}]*$/u;

export const settingsPage = plainRoute({
  ...SESSION,
  name: 'settings_page',
  method: 'GET',
  path: '/settings',
  summary: 'Keys, use and changes of the membership of this browser.',
  query: z.strictObject({ done: z.enum(['revoked']).optional() }),
  responses: { 200: html(), 503: html() },
  headers: { 200: { 'set-cookie': 'Another token of the session, where its own is old.' } },
});

export const createKey = plainRoute({
  ...SESSION,
  name: 'create_key',
  method: 'POST',
  path: '/settings/keys',
  summary: 'Creates a key, which is shown once.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(
    z.strictObject({
      name: z.string().trim().min(1).max(60).regex(NAME, 'expected no control characters'),
    }),
  ),
  responses: { 200: html(), 409: html(), 503: html() },
});

export const replaceKey = plainRoute({
  ...SESSION,
  name: 'replace_key',
  method: 'POST',
  path: '/settings/keys/{id}/replace',
  summary: 'Creates a key in the place of another, which opens for a while beside it.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: key,
  body: form(z.strictObject({ overlap: z.enum(OVERLAP_HOURS) })),
  responses: { 200: html(), 404: html(), 409: html(), 503: html() },
});

export const revokeKey = plainRoute({
  ...SESSION,
  name: 'revoke_key',
  method: 'POST',
  path: '/settings/keys/{id}/revoke',
  summary: 'Revokes a key for good.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: key,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The settings.' } },
});

export const pricingPage = plainRoute({
  name: 'pricing_page',
  surface: 'web',
  method: 'GET',
  path: '/pricing',
  summary: 'What each plan holds.',
  access: 'open',
  responses: { 200: html() },
});

/** A day and its requests; of a day on which nothing was charged there is no counter. */
export type DayShown = { readonly day: string; readonly used: number | undefined };

/** A membership with its plan. */
type Member = {
  readonly membership_id: string;
  readonly status: 'active' | 'inactive';
  readonly plan: {
    readonly title: string;
    readonly daily_requests: number;
    readonly active_keys: number;
  };
};

/** A key as it is listed. */
export type ShownKey = {
  readonly id: string;
  readonly name: string | null;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  readonly last_used_at: UnixSeconds | null;
  readonly revoked_at: UnixSeconds | null;
  readonly replaced_at: UnixSeconds | null;
};

type ChangeWord =
  | 'key_created'
  | 'key_replaced'
  | 'key_revoked'
  | 'signed_in'
  | 'signed_out'
  | 'integration_connected'
  | 'integration_removed';

/** A change as it is listed. */
export type SettingsChange = {
  readonly id: number;
  readonly at: UnixSeconds;
  readonly by_whom: 'operator' | 'member';
  readonly change: ChangeWord;
  readonly subject: string | null;
};

/** What was read, or why it could not be. */
type Told<T> = { readonly read: T } | { readonly unread: string };

/** All that the page shows. */
export type Settings = {
  readonly member: Member;
  readonly form_token: string;
  readonly now: UnixSeconds;
  readonly base: string;
  /** Whether a key was revoked just before. */
  readonly revoked: boolean;
  readonly keys: Told<readonly ShownKey[]>;
  readonly today: Told<{ readonly used: number; readonly limit: number; readonly reset_s: number }>;
  readonly days: Told<readonly DayShown[]>;
  /** Newest first; `null`: none that could be read. */
  readonly changes: { readonly read: readonly SettingsChange[] | null; readonly whole: boolean };
};

/** A key that was created, with how it is sent. */
export type NewKeyShown = {
  readonly text: string;
  readonly name: string | null;
  readonly expires_at: UnixSeconds;
  readonly base: string;
  /** Until when the key opens whose place it takes; `null`: it takes none. */
  readonly instead_until: UnixSeconds | null;
};

/** A plan as the table of plans has it. */
export type ShownPlan = {
  readonly name: string;
  readonly title: string;
  readonly daily_requests: number;
  readonly active_keys: number;
  readonly per_minute_ceiling: number;
  readonly bulk_screen: boolean;
  readonly screening_records: number;
  readonly watched_addresses: number;
  /** Where it is bought; `null`: whoever runs the service says. */
  readonly checkout: string | null;
};

/** Draws the pages of the settings. */
export type DrawSettings = {
  readonly whole: (shown: Settings) => string;
  readonly unread: (reason: string) => string;
  readonly notDone: (title: string, why: string) => string;
  readonly newKey: (shown: NewKeyShown) => string;
};
