// Memberships as people meet them: purchases, signing in, settings and plans.

import { pageReading } from '../../access/page-reading.ts';
import { PLANS } from '../../access/plan.ts';
import { hashesOf } from '../../access/secret.ts';
import { createSignIn } from '../../access/sign-in.ts';
import { webhookKey } from '../../access/webhook.ts';
import type { Config } from '../../config.ts';
import { present } from '../../evidence/measure.ts';
import { Unread } from '../../evidence/reading.ts';
import { linkCommands } from '../../features/access/links.command.ts';
import { newKeyPage } from '../../features/access/new-key.page.tsx';
import { paymentWebhook } from '../../features/access/payment-webhook.contract.ts';
import { paymentWebhookHandler } from '../../features/access/payment-webhook.route.ts';
import { paymentCommands } from '../../features/access/payments.command.ts';
import { plansPage } from '../../features/access/pricing.page.tsx';
import {
  createKey,
  type DrawSettings,
  pricingPage,
  replaceKey,
  revokeKey,
  settingsPage,
} from '../../features/access/settings.contract.ts';
import { membershipUnread, notDone, settings } from '../../features/access/settings.page.tsx';
import {
  createKeyHandler,
  replaceKeyHandler,
  revokeKeyHandler,
  settingsHandler,
} from '../../features/access/settings.route.ts';
import { activate, activatePage, signOut } from '../../features/access/sign-in.contract.ts';
import { signInPage } from '../../features/access/sign-in.page.tsx';
import {
  activateHandler,
  activatePageHandler,
  signOutHandler,
} from '../../features/access/sign-in.route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import type { PlanName } from '../../ports/access/membership-store.ts';
import type { PlanOf } from '../../ports/access/payment-store.ts';
import { accessLog } from '../../stores/control/access-changes.ts';
import { paymentTable } from '../../stores/control/payments.ts';
import { signInTable } from '../../stores/control/sign-ins.ts';
import { baseOf } from '../base-url.ts';
import { nowS } from '../clock.ts';
import {
  type Base,
  feature,
  type Members,
  type OpenedRests,
  type Service,
  shownPage,
} from '../feature.ts';
import { access } from './access.ts';

type Rests = OpenedRests<{ access: typeof access }>;
type Given = { readonly members: Members; readonly service: Service };

export const members = feature({
  name: 'members',
  heading: 'Purchases and signing in',
  rests: { access },
  open: ({ config, database, context, secrets, log }: Base, opened: Rests) => {
    const { services, sessions, quota } = opened.access;
    const payments = paymentTable(database, context);
    const planOf = planOfIn(config);
    const signIn = createSignIn(signInTable(database, context), sessions, secrets, nowS);
    const given: Members = {
      payments: {
        keys: config.payments.secrets.map((secret) => webhookKey(secret.reveal())),
        planOf,
        payments,
        hashCode: (code) => hashesOf(code, secrets)[0],
        warn: log.warn,
      },
      signIn: { signIn, sessions },
      settings: {
        memberships: services.memberships,
        keys: services.keys,
        quota,
        accessLog: accessLog(database, context),
        sessions,
        mintKey: services.mintKey,
      },
      reading: pageReading({ memberships: services.memberships, quota }, config.simulate, nowS),
      plans: Object.values(PLANS).map((plan) => {
        const sold = config.payments.checkouts.find(({ word }) => word === plan.name);
        return { ...plan, checkout: sold === undefined ? null : sold.url };
      }),
    };
    return {
      ports: {},
      services: {
        payments,
        memberships: services.memberships,
        mintLink: signIn.mintLink,
        base: baseOf(config),
      },
      given,
      // Purchases of what had no plan wait for the start that names one.
      start: async () => {
        const applied = await payments.applyHeld(planOf);
        if (applied instanceof Unread) log.warn({}, applied.why.reason);
        else if (applied.value > 0) log.info({ applied: applied.value }, 'Held purchases applied.');
      },
    };
  },
  ports: {},
  pages: [
    shownPage(pricingPage, 'Plans', ({ members: { plans } }: Given, facts) => async () => {
      return pricingPage.reply(200, plansPage(facts, plans));
    }),
    shownPage(settingsPage, 'Settings', (given: Given, facts) =>
      settingsHandler(settingsDesk(given), drawSettings(facts)),
    ),
    shownPage(createKey, null, (given: Given, facts) =>
      createKeyHandler(settingsDesk(given), drawSettings(facts)),
    ),
    shownPage(replaceKey, null, (given: Given, facts) =>
      replaceKeyHandler(settingsDesk(given), drawSettings(facts)),
    ),
    shownPage(revokeKey, null, (given: Given, facts) =>
      revokeKeyHandler(settingsDesk(given), drawSettings(facts)),
    ),
    shownPage(activatePage, null, ({ members: { signIn } }: Given, facts) =>
      activatePageHandler(signIn, (told) => signInPage(facts, told)),
    ),
    shownPage(activate, null, ({ members: { signIn } }: Given, facts) =>
      activateHandler(signIn, (told) => signInPage(facts, told)),
    ),
    shownPage(signOut, null, ({ members: { signIn } }: Given, facts) =>
      signOutHandler(signIn, (told) => signInPage(facts, told)),
    ),
    // No page, and as little an answer for clients: the payment platform alone asks it.
    shownPage(paymentWebhook, null, ({ members: { payments } }: Given) =>
      paymentWebhookHandler(payments),
    ),
  ],
  commands: [...paymentCommands, ...linkCommands],
});

function settingsDesk({ members: { settings }, service: { base } }: Given) {
  return { ...settings, base };
}

function drawSettings(facts: PageFacts): DrawSettings {
  return {
    whole: (shown) => settings(facts, shown),
    unread: (reason) => membershipUnread(facts, reason),
    notDone: (title, why) => notDone(facts, title, why),
    newKey: (shown) => newKeyPage(facts, shown),
  };
}

// What is sold as a plan says more than the product that it belongs to.
function planOfIn({ payments }: Config): PlanOf {
  const plans = new Map<string | null, PlanName>(payments.plans.map(({ id, word }) => [id, word]));
  return ({ plan_id, product_id }) => {
    const [plan = null] = present([plans.get(plan_id), plans.get(product_id)]);
    return plan;
  };
}
