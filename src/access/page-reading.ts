// Decides whether a page may have outside sources read for whoever opens it, and who pays. What is
// held is free to look at. What asks a provider is a request of a membership's allowance, charged
// as its keys are; where the outside is made up, it costs nobody anything.

import type { UnixSeconds } from '../chain/time.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Caller } from '../contract/route.ts';
import { Unread } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import { BROWSER_USE, type MembershipStore, type QuotaStore } from '../ports/access.ts';
import { dailyAllowance, quotaSpent, STORE_RETRY_AFTER_S } from './gate.ts';
import { isActive, PLANS } from './plan.ts';

/** `pay` is for when the page is ready; it refuses where nothing of the allowance is left then. */
export type PageReading =
  | { readonly may: true; readonly pay: () => Promise<Refusal | null> }
  | { readonly may: false; readonly why: Why };

type Stores = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly quota: Pick<QuotaStore, 'charge' | 'remaining'>;
};

/** What pages are counted under: which of them was opened is not kept. */
const PAGES = 'pages';

const FREE: PageReading = { may: true, pay: async () => null };

/** Asks for a caller whether a page may read outside. `now` gives Unix seconds. */
export function pageReading(
  { memberships, quota }: Stores,
  simulated: boolean,
  now: () => UnixSeconds,
): (caller: Caller) => Promise<PageReading> {
  return async (caller) => {
    if (caller.kind !== 'session') return simulated ? FREE : refusalFor(why('page_of_nobody'));
    const membership = await memberships.find(caller.membership_id);
    if (membership instanceof Unread) return refusalFor(membership.why);
    if (membership.value === null || !isActive(membership.value)) {
      return refusalFor(why('page_membership_inactive'));
    }
    const plan = PLANS[membership.value.plan];
    const dated = dailyAllowance(caller.membership_id, plan, now());
    const left = await quota.remaining(dated.allowance);
    if (left instanceof Unread) return refusalFor(left.why);
    if (left.value.remaining === 0) {
      return refusalFor(
        why('page_allowance_spent', { limit: plan.daily_requests.toLocaleString('en') }),
      );
    }
    const pay = async () => {
      const charged = await quota.charge(dated.allowance, {
        used_by: BROWSER_USE,
        route: PAGES,
        day: dated.allowance.period,
      });
      if (charged instanceof Unread) {
        const retry = { 'retry-after': String(STORE_RETRY_AFTER_S) };
        return new Refusal('overloaded', { error: charged.why.reason }, retry);
      }
      return charged.value.granted ? null : quotaSpent(dated, now());
    };
    return { may: true, pay };
  };
}

function refusalFor(reason: Why): PageReading {
  return { may: false, why: reason };
}
