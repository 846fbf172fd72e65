// Declares /integrations: which chats of a membership are told what, and what did not reach them.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { plainRoute } from '../../contract/route.ts';
import { addressText, harmless, isoTime, oneOf, prose, words } from '../../contract/wire.ts';

const PLATFORMS = ['slack', 'discord', 'telegram'] as const;
/** What chats can be told of. */
const KINDS = ['flag', 'watch'] as const;
const ADDRESSES_MAX = 100;
const INTEGRATIONS_MAX = 10;
const DEAD_SHOWN_MAX = 100;
const TEXT_CHARS_MAX = 300;

const HOSTED = { surface: 'integrations', access: 'analyst' } as const;
const BODY_BYTES_MAX = 16_384;
const problem = z.strictObject({ error: prose().min(1) });
const id = z.strictObject({ id: z.string().max(60) });
const text = z.string().trim().max(TEXT_CHARS_MAX).optional();

/** What rules name; what is left out is not limited. */
export const ruleFields = {
  kinds: z.array(z.enum(KINDS)).min(1).optional(),
  chains: z.array(z.enum(CHAIN_NAMES)).min(1).optional(),
  addresses: z
    .array(addressText.refine((one) => parseAddress(one) !== null, 'expected addresses'))
    .min(1)
    .max(ADDRESSES_MAX)
    .optional(),
};

/** What each platform is connected with. */
export const targetFields = {
  webhook_url: text,
  bot_token: text,
  channel: text,
  webhook_id: text,
  webhook_token: text,
  chat_id: text,
};

const rules = z.strictObject({
  kinds: z.array(oneOf(KINDS)).min(1),
  /** `null`: of every chain. */
  chains: z.array(oneOf(CHAIN_NAMES)).min(1).nullable(),
  /** `null`: about every address. */
  addresses: z.array(words()).min(1).nullable(),
});

const integration = z.strictObject({
  id: words(),
  platform: oneOf(PLATFORMS),
  place: words(),
  rules,
  created_at: isoTime,
  verified: harmless(z.boolean(), 'it tells of the platform alone'),
  verified_at: isoTime.nullable(),
  broken_at: isoTime.nullable(),
  /** What keeps the next dispatch from being delivered. */
  fault: words().nullable(),
  delivered_at: isoTime.nullable(),
  waiting: harmless(z.int().nonnegative(), 'it counts a queue'),
  dead_letters: harmless(z.int().nonnegative(), 'it counts a queue'),
});

const deadLetter = z.strictObject({
  integration_id: words(),
  platform: oneOf(PLATFORMS),
  dispatch: z.int().positive(),
  title: words(),
  facts: z.array(words()),
  caveat: prose(),
  url: words(),
  queued_at: isoTime,
  dead_at: isoTime,
  reason: words(),
});

export const connectIntegration = plainRoute({
  ...HOSTED,
  name: 'connect_integration',
  method: 'POST',
  path: '/integrations/{chat_platform}/connect',
  summary: 'Connects a chat that is told of what happens; it is asked nothing and reads nothing.',
  bodyBytesMax: BODY_BYTES_MAX,
  params: z.strictObject({ chat_platform: z.enum(PLATFORMS) }),
  body: z
    .strictObject({
      ...targetFields,
      chat_id: z.union([z.string().trim().max(TEXT_CHARS_MAX), z.int()]).optional(),
      rules: z.strictObject(ruleFields).optional(),
    })
    .describe(
      'Of Slack `webhook_url`, or `bot_token` and `channel`; of Discord `webhook_id` and ' +
        '`webhook_token`; of Telegram `bot_token` and `chat_id`.',
    ),
  responses: {
    201: z
      .strictObject({
        id: words(),
        platform: oneOf(PLATFORMS),
        place: words(),
        created_at: isoTime,
        verified: harmless(z.boolean(), 'it tells of the platform alone'),
        /** Why the platform did not verify it; `null` where it did. */
        reason: prose().nullable(),
      })
      .describe('Connected. What was not verified is, by the first test that is delivered.'),
    409: problem.describe('The membership is not active, or has as many as it may have.'),
    503: problem.describe('Nothing could be stored.'),
  },
});

export const testIntegration = plainRoute({
  ...HOSTED,
  name: 'test_integration',
  method: 'POST',
  path: '/integrations/{id}/test',
  summary: 'Posts a message to a connected chat.',
  params: id,
  responses: {
    200: z.strictObject({
      delivered: harmless(z.boolean(), 'it tells of the platform alone'),
      /** Why not; `null` where it was. */
      reason: prose().nullable(),
    }),
    404: problem.describe('The membership has no such integration.'),
    503: problem.describe('The integrations could not be read.'),
  },
});

export const listIntegrations = plainRoute({
  ...HOSTED,
  name: 'list_integrations',
  method: 'GET',
  path: '/integrations',
  summary: 'The connected chats of the membership, and what did not reach them.',
  responses: {
    200: z.strictObject({
      integrations: harmless(z.array(integration).max(INTEGRATIONS_MAX), 'it is what was set up'),
      dead_letters: harmless(z.array(deadLetter).max(DEAD_SHOWN_MAX), 'it tells of queues'),
      /** Whether there are more than are listed; the newest are. */
      more_dead_letters: harmless(z.boolean(), 'it tells of queues'),
    }),
    503: problem.describe('The integrations could not be read.'),
  },
});

export const removeIntegration = plainRoute({
  ...HOSTED,
  name: 'remove_integration',
  method: 'DELETE',
  path: '/integrations/{id}',
  summary: 'Removes a connected chat, with what waits for it.',
  params: id,
  responses: {
    200: z.strictObject({ id: words(), removed: z.literal(true) }),
    404: problem.describe('The membership has no such integration.'),
    503: problem.describe('Nothing could be stored.'),
  },
});
