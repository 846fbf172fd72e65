// Chats: the connected ones, the messages to them, and their delivery.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { mintId, type Secrets, seal, unseal } from '../../access/secret.ts';

import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  baseOf,
  feature,
  type Job,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import type { Outside } from '../../compose/outside.ts';
import { Unread } from '../../evidence/reading.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { ChatTarget, Sealed } from '../../ports/integrations.ts';
import type { ChatRoots } from '../../sources/chat/exchange.ts';
import { chatPlatforms } from '../../sources/chat/platforms.ts';
import { jsonIn } from '../../sources/http/fetch.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { integrationTable } from '../../stores/control/integrations.ts';
import { deliveryTable } from '../../stores/control/outbox.ts';
import { flagEventLog, flagsToldTable } from '../../stores/control/rug-flags.ts';
import { DELIVERY_PACE, deliverUntilStopped } from './deliver.job.ts';
import { tellFlagsUntilStopped } from './flags.job.ts';
import {
  connectHandler,
  connectIntegration,
  type IntegrationPorts,
  listHandler,
  listIntegrations,
  removeHandler,
  removeIntegration,
  testHandler,
  testIntegration,
} from './integrations.route.ts';

import {
  connectForm,
  connectFormHandler,
  integrationsPage,
  pageHandler,
  removeForm,
  removeFormHandler,
  testForm,
  testFormHandler,
} from './integrations-page.route.tsx';

import { sealAnew } from './seal-anew.ts';

const POLL_MS = 1_000;
const TIDY_MS = 60_000;

type IntegrationsPorts = { readonly chats: IntegrationPorts };

export const integrations = feature({
  name: 'integrations',
  open: (base: Base) => {
    const { config, outside, secrets, log } = base;
    const desk = integrationPorts(base, outside.chats, baseOf(config));
    return {
      ports: {},
      services: {},
      desk,
      jobs: jobsOf(base, desk),
      // Credentials encrypted under an earlier secret are encrypted anew, so that the earlier
      // secret may be removed.
      start: async () => {
        const [{ fingerprint }] = secrets;
        const anew = await sealAnew(desk.integrations, fingerprint, (sealed, id) => {
          const text = unseal(sealed, id, secrets);
          return text === null ? null : seal(text, id, secrets);
        });
        if (anew instanceof Unread) return log.warn({}, anew.why.reason);
        const { resealed, unopened } = anew;
        if (resealed > 0) log.info({ resealed }, 'chats: credentials sealed anew');
        if (unopened > 0) log.warn({ unopened }, 'chats: credentials that no secret opens');
      },
    };
  },
  routes: [
    serveRoute(connectIntegration, ({ chats }: IntegrationsPorts) => connectHandler(chats)),
    serveRoute(testIntegration, ({ chats }: IntegrationsPorts) => testHandler(chats)),
    serveRoute(listIntegrations, ({ chats }: IntegrationsPorts) => listHandler(chats)),
    serveRoute(removeIntegration, ({ chats }: IntegrationsPorts) => removeHandler(chats)),
  ],
  ports: {},
  pages: [
    servePage(integrationsPage, null, ({ chats }: IntegrationsPorts, facts) =>
      pageHandler(chats, facts),
    ),
    servePage(connectForm, null, ({ chats }: IntegrationsPorts, facts) =>
      connectFormHandler(chats, facts),
    ),
    servePage(testForm, null, ({ chats }: IntegrationsPorts, facts) =>
      testFormHandler(chats, facts),
    ),
    servePage(removeForm, null, ({ chats }: IntegrationsPorts, facts) =>
      removeFormHandler(chats, facts),
    ),
  ],
});

/** The ports of integrations: the platforms at these roots, and links that begin with `base`. */
export function integrationPorts(
  {
    database,
    context,
    secrets,
    providers,
  }: Pick<Base, 'database' | 'context' | 'secrets' | 'providers'>,
  chats: Outside['chats'],
  base: string,
): IntegrationPorts {
  const { simulated } = context;
  const roots = rootsOf(chats, providers);
  return {
    integrations: integrationTable(database, context),
    platforms: chatPlatforms({ roots, simulated, now: nowS }),
    ...sealing(secrets),
    mintId: () => mintId('int'),
    slackRoot: roots.slack_hooks.url,
    base,
    simulated,
  };
}

const kept = z.union([
  z.strictObject({ platform: z.literal('slack'), webhook: z.string() }),
  z.strictObject({ platform: z.literal('slack'), bot_token: z.string(), channel: z.string() }),
  z.strictObject({
    platform: z.literal('discord'),
    webhook_id: z.string(),
    webhook_token: z.string(),
  }),
  z.strictObject({ platform: z.literal('telegram'), bot_token: z.string(), chat_id: z.string() }),
]);

function sealing(secrets: Secrets): Pick<IntegrationPorts, 'sealed' | 'opened'> {
  return {
    sealed: (target: ChatTarget, id: string) => seal(JSON.stringify(target), id, secrets),
    opened: (sealed: Sealed, id: string) => {
      const text = unseal(sealed, id, secrets);
      return text === null ? null : kept.parse(jsonIn(text));
    },
  };
}

function rootsOf(
  { slack, discord, telegram }: Outside['chats'],
  { watch }: Base['providers'],
): ChatRoots {
  const root = (name: string, configured: string | null, own: string) => {
    const url = new URL(configured === null ? own : configured);
    const carries = `what is told in chats of ${name}`;
    return { url, onCallEnd: watch({ name, url: originText(url), carries, ports: [] }) };
  };
  return {
    slack_hooks: root('Slack', slack, 'https://hooks.slack.com'),
    slack_api: root('Slack', slack, 'https://slack.com'),
    discord: root('Discord', discord, 'https://discord.com'),
    telegram: root('Telegram', telegram, 'https://api.telegram.org'),
  };
}

function jobsOf({ database, context, log }: Base, desk: IntegrationPorts): Job[] {
  const onFailure = ({ code, reason }: { code: string; reason: string }) =>
    log.warn({ code, reason }, 'chats: not told');
  const onBug = (error: unknown) => log.error({ err: error }, 'chats: a bug in telling');
  const telling = { pollMs: POLL_MS, sleep: pause, onFailure, onBug };
  const flags = {
    ...telling,
    flagEvents: flagEventLog(database, context),
    flagsTold: flagsToldTable(database, context),
    simulated: context.simulated,
    now: nowS,
  };
  const delivering = {
    ...telling,
    ...desk,
    deliveries: deliveryTable(database, randomUUID(), context),
    pace: DELIVERY_PACE,
    tidyMs: TIDY_MS,
    nowMs: () => performance.now(),
  };
  return [
    { name: 'chat-flags', start: (watch: WatchRun) => tellFlagsUntilStopped({ ...flags, watch }) },
    {
      name: 'chat-deliveries',
      start: (watch: WatchRun) => deliverUntilStopped({ ...delivering, watch }),
    },
  ];
}
