// Declares /settings/integrations: where a member connects its chats, and sees what did not arrive.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import { form, html, noBody } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import { targetFields } from './integrations.contract.ts';

const SESSION = { surface: 'web', access: 'session' } as const;
const KINDS = ['flag', 'watch'] as const;
const id = z.strictObject({ id: z.string().max(60) });
const ADDRESSES_CHARS_MAX = 12_000;

export const integrationsPage = plainRoute({
  ...SESSION,
  name: 'integrations_page',
  method: 'GET',
  path: '/settings/integrations',
  summary: 'The chats of the membership of this browser.',
  query: z.strictObject({ done: z.enum(['connected', 'removed']).optional() }),
  responses: { 200: html(), 503: html() },
});

export const connectForm = plainRoute({
  ...SESSION,
  name: 'connect_integration_form',
  method: 'POST',
  path: '/settings/integrations',
  summary: 'Connects a chat.',
  bodyBytesMax: 16_384,
  body: form(
    z.strictObject({
      platform: z.enum(['slack', 'discord', 'telegram']),
      ...targetFields,
      // One that is ticked alone comes as a text.
      kinds: z.union([z.enum(KINDS), z.array(z.enum(KINDS))]).optional(),
      chains: z.union([z.enum(CHAIN_NAMES), z.array(z.enum(CHAIN_NAMES))]).optional(),
      /** One a line. */
      addresses: z.string().max(ADDRESSES_CHARS_MAX).optional(),
    }),
  ),
  responses: { 303: noBody(), 400: html(), 409: html(), 503: html() },
  headers: { 303: { location: 'The integrations.' } },
});

export const testForm = plainRoute({
  ...SESSION,
  name: 'test_integration_form',
  method: 'POST',
  path: '/settings/integrations/{id}/test',
  summary: 'Posts a message to a connected chat.',
  params: id,
  body: form(z.strictObject({})),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const removeForm = plainRoute({
  ...SESSION,
  name: 'remove_integration_form',
  method: 'POST',
  path: '/settings/integrations/{id}/remove',
  summary: 'Removes a connected chat, with what waits for it.',
  params: id,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The integrations.' } },
});

/** An integration as it is shown. */
export type ShownIntegration = {
  readonly id: string;
  readonly platform: 'slack' | 'discord' | 'telegram';
  readonly place: string;
  readonly rules: {
    readonly kinds: readonly string[];
    readonly chains: readonly string[] | null;
    readonly addresses: readonly string[] | null;
  };
  readonly created_at: UnixSeconds;
  readonly verified_at: UnixSeconds | null;
  readonly broken_at: UnixSeconds | null;
  readonly fault: string | null;
  readonly delivered_at: UnixSeconds | null;
  readonly waiting: number;
};

/** What was given up, as it is shown. */
export type ShownLetter = {
  readonly id: number;
  readonly place: string;
  readonly platform: 'slack' | 'discord' | 'telegram';
  readonly message: {
    readonly title: string;
    readonly facts: readonly string[];
    readonly caveat: string;
    readonly path: string;
  };
  readonly dead_at: UnixSeconds;
  readonly reason: string;
};

/** All that the page shows. */
export type ShownIntegrations = {
  readonly form_token: string;
  /** What was just done, or not, in a sentence. */
  readonly notice: { readonly text: string; readonly role: 'status' | 'alert' } | null;
  readonly integrations: readonly ShownIntegration[];
  /** How many there may be. */
  readonly max: number;
  readonly letters: { readonly read: readonly ShownLetter[] | null; readonly whole: boolean };
};

/** Draws the pages. */
export type DrawIntegrations = {
  readonly whole: (shown: ShownIntegrations) => string;
  readonly unread: (reason: string) => string;
  readonly notDone: (title: string, why: string) => string;
};
