// Who may ask: memberships, keys, quota and tokens, and the commands that keep them.

import { createGate, type Gate } from '../../access/gate.ts';
import { mintKey } from '../../access/key.ts';
import type { Secrets } from '../../access/secret.ts';
import { createSessions } from '../../access/session.ts';
import { mintToken, tokenAuthentication } from '../../access/tokens.ts';
import { webhookKey } from '../../access/webhook.ts';
import type { Config } from '../../config.ts';
import { present } from '../../evidence/measure.ts';
import { Unread } from '../../evidence/reading.ts';
import { keyCommands } from '../../features/access/keys.command.ts';
import { memberCommands } from '../../features/access/members.command.ts';
import { paymentWebhook } from '../../features/access/payment-webhook.contract.ts';
import { paymentWebhookHandler } from '../../features/access/payment-webhook.route.ts';
import { paymentCommands } from '../../features/access/payments.command.ts';
import { tokenCommands } from '../../features/access/tokens.command.ts';
import type { TokenStore } from '../../ports/access/key-store.ts';
import type { PlanName } from '../../ports/access/membership-store.ts';
import type { PlanOf } from '../../ports/access/payment-store.ts';
import { keyTable } from '../../stores/control/keys.ts';
import { membershipTable } from '../../stores/control/memberships.ts';
import { paymentTable } from '../../stores/control/payments.ts';
import { quotaTable } from '../../stores/control/quotas.ts';
import { sessionTable } from '../../stores/control/sessions.ts';
import { tokenTable } from '../../stores/control/tokens.ts';
import type { Tokens } from '../../transport/guard.ts';
import { nowS } from '../clock.ts';
import { type Base, feature, type Members, shownPage } from '../feature.ts';

export const access = feature({
  name: 'access',
  heading: 'Access',
  open: ({ config, database, context, secrets, log }: Base) => {
    const keys = keyTable(database, context);
    const memberships = membershipTable(database, context);
    const quota = quotaTable(database, context);
    const tokens = tokenTable(database, context);
    const payments = paymentTable(database, context);
    const planOf = planOfIn(config);
    const gate: Gate = createGate({ keys, quota, secrets, durable: memberships.durable }, nowS);
    return {
      ports: {},
      services: {
        keys,
        memberships,
        tokens,
        payments,
        mintKey: (holder: Parameters<typeof mintKey>[0]) => mintKey(holder, secrets, nowS()),
        mintToken: (tier: Parameters<typeof mintToken>[0]) => mintToken(tier, secrets, nowS()),
        now: nowS,
      },
      gate,
      tokens: tokensOf(config, tokens, secrets),
      sessions: createSessions(sessionTable(database, context), secrets, isHttps(config), nowS),
      members: {
        payments: {
          keys: config.payments.secrets.map((secret) => webhookKey(secret.reveal())),
          planOf,
          payments,
          warn: log.warn,
        },
      },
      // Purchases of what had no plan wait for the start that names one.
      start: async () => {
        const applied = await payments.applyHeld(planOf);
        if (applied instanceof Unread) log.warn({}, applied.why.reason);
        else if (applied.value > 0) log.info({ applied: applied.value }, 'Held purchases applied.');
      },
      // Last, because it asks the store, which may fail: nothing else is left open then.
      close: () => keys.close(),
    };
  },
  ports: {},
  pages: [
    // No page, and as little an answer for clients: the payment platform alone asks it.
    shownPage(paymentWebhook, null, ({ members }: MembersGiven) =>
      paymentWebhookHandler(members.payments),
    ),
  ],
  commands: [...memberCommands, ...keyCommands, ...tokenCommands, ...paymentCommands],
});

type MembersGiven = { readonly members: Members };

// What is sold as a plan says more than the product that it belongs to.
function planOfIn({ payments }: Config): PlanOf {
  const plans = new Map<string | null, PlanName>(payments.plans.map(({ id, word }) => [id, word]));
  return ({ plan_id, product_id }) => {
    const [plan = null] = present([plans.get(plan_id), plans.get(product_id)]);
    return plan;
  };
}

function isHttps({ publicUrl }: Config): boolean {
  return publicUrl?.startsWith('https:') === true;
}

/** Who opens the intelligence service: tokens of the setting and minted ones, or everybody. */
function tokensOf({ intelligence }: Config, minted: TokenStore, secrets: Secrets): Tokens {
  if (intelligence.allowAnonymous) return 'anonymous';
  const configured = intelligence.tokens.map(({ tier, token }) => {
    return { tier, token: token.reveal() };
  });
  return tokenAuthentication(configured, minted, secrets);
}
