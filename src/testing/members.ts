// The dependencies of the membership pages in a test: real stores, and a movable clock.

import { pageReading } from '../access/page-reading.ts';
import { webhookKey } from '../access/payment.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, hashesOf, mintKey } from '../access/secret.ts';
import { createSessions, createSignIn } from '../access/session.ts';
import { createUnshownKeys } from '../access/unshown-key.ts';
import type { Members } from '../compose/feature.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { accessIn } from './control-store.ts';

/** The secret of the payment platform in tests. */
export const WEBHOOK_SECRET = 'ws_a1b2c3d4e5f6a7b8';
const SOLD: ReadonlyMap<string | null, 'analyst' | 'desk'> = new Map([
  ['plan_desk', 'desk'],
  ['plan_analyst', 'analyst'],
]);

/** Memberships over a control store, under a clock of Unix seconds. */
export function membersIn(database: Database, now: () => number) {
  const stores = accessIn(database, () => now() * 1_000);
  const secrets = deriveSecrets('a root secret of the tests', null);
  const waited: number[] = [];
  const sessions = createSessions(stores.sessions, secrets, false, now);
  const signIn = createSignIn(stores.signIns, sessions, secrets, now, async () => {
    waited.push(now());
  });
  const warned: object[] = [];
  const members: Members = {
    payments: {
      keys: [webhookKey(WEBHOOK_SECRET)],
      planOf: ({ plan_id }) => SOLD.get(plan_id) ?? null,
      payments: stores.payments,
      hashCode: (code) => hashesOf(code, secrets)[0],
      warn: (facts) => warned.push(facts),
    },
    signIn: { signIn, sessions },
    settings: {
      ...stores,
      unshown: createUnshownKeys(stores.unshownKeys, secrets, now),
      mintKey: (holder) => mintKey(holder, secrets, now()),
    },
    leaks: {
      store: stores.leaks,
      secrets,
      github: null,
      wake: () => undefined,
    },
    reading: pageReading(stores, false, now),
    plans: Object.values(PLANS).map((plan) => ({ ...plan, checkout: null })),
  };
  return { ...stores, browsers: sessions, signIn, secrets, members, warned, waited };
}
