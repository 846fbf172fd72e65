// Memberships, keys, quota and tokens, and the commands that manage them.

import { type AccessGate, createGate } from '../../access/gate.ts';
import { REPORTS_OF_NETWORK_MAX, REPORTS_WINDOW_S } from '../../access/leaked-key.ts';
import { pageReading } from '../../access/page-reading.ts';
import { webhookKey } from '../../access/payment.ts';
import { PLANS } from '../../access/plan.ts';
import {
  hashesOf,
  mintKey,
  mintToken,
  type Secrets,
  tokenAuthentication,
} from '../../access/secret.ts';
import { createSessions, createSignIn } from '../../access/session.ts';
import { createUnshownKeys } from '../../access/unshown-key.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  baseOf,
  feature,
  type Members,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import type { Config } from '../../config.ts';
import { present } from '../../evidence/measure.ts';
import { Unread } from '../../evidence/reading.ts';
import type { PlanName, PlanOf, TokenStore } from '../../ports/access.ts';
import { secretScanningKeys } from '../../sources/github/secret-scanning-keys.ts';
import { keyTable, tokenTable } from '../../stores/control/keys.ts';
import { leakTable } from '../../stores/control/leak-reports.ts';
import { accessLog, membershipTable, paymentTable } from '../../stores/control/memberships.ts';
import { quotaTable } from '../../stores/control/quotas.ts';
import { sessionTable, signInTable, unshownKeyTable } from '../../stores/control/sessions.ts';
import type { Tokens } from '../../transport/guard.ts';
import { keyUsageHandler, keyUsageRoute } from './key-usage.route.tsx';
import { leakRounds } from './leaked-keys.job.ts';
import {
  type LeakPorts,
  leakedKey,
  leakedKeyHandler,
  leakedKeysFound,
  leakedKeysFoundHandler,
} from './leaked-keys.route.ts';
import {
  keyCommands,
  memberCommands,
  paymentCommands,
  signInCommands,
  tokenCommands,
} from './members.command.ts';
import { newKeyHandler, newKeyShown } from './new-key.route.tsx';
import { paymentWebhook, paymentWebhookHandler } from './payment-webhook.route.ts';
import { pricingHandler, pricingPage } from './pricing.route.tsx';
import {
  endOtherSessions,
  endOthersHandler,
  endSession,
  endSessionHandler,
  sessionsHandler,
  sessionsPage,
} from './sessions.route.tsx';
import {
  createKey,
  createKeyHandler,
  replaceKey,
  replaceKeyHandler,
  revokeKey,
  revokeKeyHandler,
  settingsHandler,
  settingsPage,
} from './settings.route.tsx';
import {
  activate,
  activateHandler,
  activatePage,
  activatePageHandler,
  signOut,
  signOutHandler,
} from './sign-in.route.tsx';

export const access = feature({
  name: 'access',
  heading: 'Access',
  open: ({ config, database, context, secrets, log }: Base) => {
    const keys = keyTable(database, context);
    const memberships = membershipTable(database, context);
    const quota = quotaTable(database, context);
    const tokens = tokenTable(database, context);
    const gate: AccessGate = createGate(
      { keys, quota, secrets, durable: memberships.durable },
      nowS,
    );
    const bounds = { ofNetworkMax: REPORTS_OF_NETWORK_MAX, windowS: REPORTS_WINDOW_S };
    const leaks = leakTable(database, context, bounds, () => {
      keys.forget();
      tokens.forget();
    });
    const rounds = leakRounds({
      settle: leaks.settle,
      onEnded: (ended) => log.warn(ended, 'A key was reported as leaked and is ended.'),
      sleep: pause,
      onFault: ({ code, reason }) => log.warn({ code, reason }, 'leak reports: not looked at'),
      onBug: (fault) => log.error({ fault: String(fault) }, 'leak reports: a bug'),
    });
    const github = config.githubUrl;
    const leakPorts: LeakPorts = {
      store: leaks,
      secrets,
      github: github === null ? null : secretScanningKeys({ url: github.reveal(), now: nowS }),
      wake: rounds.wake,
    };
    return {
      ports: {},
      services: {
        keys,
        memberships,
        tokens,
        quota,
        mintKey: (holder: Parameters<typeof mintKey>[0]) => mintKey(holder, secrets, nowS()),
        mintToken: (tier: Parameters<typeof mintToken>[0]) => mintToken(tier, secrets, nowS()),
        now: nowS,
      },
      gate,
      quota,
      leaks: leakPorts,
      jobs: [{ name: 'leaked keys', role: 'any', start: rounds.start }] as const,
      tokens: tokensOf(config, tokens, secrets),
      sessions: createSessions(
        sessionTable(database, context),
        secrets,
        config.publicUrl?.startsWith('https:') === true,
        nowS,
      ),
      // Last, because it asks the store, which may fail: nothing else is left open then.
      close: async () => void (await Promise.all([keys.close(), quota.close()])),
    };
  },
  ports: {},
  commands: [...memberCommands, ...keyCommands, ...tokenCommands],
});

/** Access to the intelligence service: by configured and minted tokens, or open to everybody. */
function tokensOf({ intelligence }: Config, minted: TokenStore, secrets: Secrets): Tokens {
  if (intelligence.allowAnonymous) return 'anonymous';
  const configured = intelligence.tokens.map(({ tier, token }) => {
    return { tier, token: token.reveal() };
  });
  return tokenAuthentication(configured, minted, secrets);
}

// --- members.ts: Memberships as people meet them: purchases, signing in, settings and plans.

type Rests = OpenedRests<{ access: typeof access }>;
type MembersPorts = { readonly members: Members; readonly service: Service };

export const members = feature({
  name: 'members',
  heading: 'Purchases and signing in',
  rests: { access },
  open: ({ config, database, context, secrets, log }: Base, opened: Rests) => {
    const { services, sessions, quota } = opened.access;
    const payments = paymentTable(database, context);
    const planOf = planOfIn(config);
    const signIn = createSignIn(signInTable(database, context), sessions, secrets, nowS, (ms) =>
      pause(ms, new AbortController().signal),
    );
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
        unshown: createUnshownKeys(unshownKeyTable(database, context), secrets, nowS),
        mintKey: services.mintKey,
      },
      leaks: opened.access.leaks,
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
        sessions,
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
  routes: [
    serveRoute(keyUsageRoute, ({ members: { settings } }: MembersPorts) =>
      keyUsageHandler(settings),
    ),
    serveRoute(leakedKey, ({ members: { leaks } }: MembersPorts) => leakedKeyHandler(leaks)),
  ],
  pages: [
    servePage(pricingPage, 'Plans', ({ members: { plans } }: MembersPorts, facts) =>
      pricingHandler(plans, facts),
    ),
    servePage(settingsPage, 'Settings', (given: MembersPorts, facts) =>
      settingsHandler(settingsPorts(given), facts),
    ),
    servePage(createKey, null, (given: MembersPorts, facts) =>
      createKeyHandler(settingsPorts(given), facts),
    ),
    servePage(newKeyShown, null, (given: MembersPorts, facts) =>
      newKeyHandler(settingsPorts(given), facts),
    ),
    servePage(replaceKey, null, (given: MembersPorts, facts) =>
      replaceKeyHandler(settingsPorts(given), facts),
    ),
    servePage(revokeKey, null, (given: MembersPorts, facts) =>
      revokeKeyHandler(settingsPorts(given), facts),
    ),
    servePage(sessionsPage, null, ({ members }: MembersPorts, facts) =>
      sessionsHandler(members.signIn.sessions, facts),
    ),
    servePage(endSession, null, ({ members }: MembersPorts, facts) =>
      endSessionHandler(members.signIn.sessions, facts),
    ),
    servePage(endOtherSessions, null, ({ members }: MembersPorts, facts) =>
      endOthersHandler(members.signIn.sessions, facts),
    ),
    servePage(activatePage, null, ({ members: { signIn } }: MembersPorts, facts) =>
      activatePageHandler(signIn, facts),
    ),
    servePage(activate, null, ({ members: { signIn } }: MembersPorts, facts) =>
      activateHandler(signIn, facts),
    ),
    servePage(signOut, null, ({ members: { signIn } }: MembersPorts, facts) =>
      signOutHandler(signIn, facts),
    ),
    // No pages, and as little answers for clients: a platform alone asks each of them.
    servePage(leakedKeysFound, null, ({ members: { leaks } }: MembersPorts) =>
      leakedKeysFoundHandler(leaks),
    ),
    servePage(paymentWebhook, null, ({ members: { payments } }: MembersPorts) =>
      paymentWebhookHandler(payments),
    ),
  ],
  commands: [...paymentCommands, ...signInCommands],
});

function settingsPorts({ members: { settings }, service: { base } }: MembersPorts) {
  return { ...settings, base };
}

// A plan id is more specific than the product of the plan.
function planOfIn({ payments }: Config): PlanOf {
  const plans = new Map<string | null, PlanName>(payments.plans.map(({ id, word }) => [id, word]));
  return ({ plan_id, product_id }) => {
    const [plan = null] = present([plans.get(plan_id), plans.get(product_id)]);
    return plan;
  };
}
