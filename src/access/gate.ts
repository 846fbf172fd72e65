// Answers one question: may this caller ask, and is the asking paid for.
// It decides on credentials and allowance only; it never sees what is asked about.

import type { UnixSeconds } from '../chain/time.ts';
import type { Caller } from '../contract/caller.ts';
import type { Refusal } from '../contract/refusals.ts';
import { type Reading, Unread } from '../evidence/reading.ts';
import { type Soon, whenThere } from '../evidence/soon.ts';
import type { QuotaPort, QuotaStore, Remaining } from '../ports/access/quota-store.ts';
import {
  type Authenticated,
  authenticate,
  type CredentialStores,
  credentialRefusal,
  type Denied,
  type HostedRule,
  type Presented,
  storeUnavailable,
} from './credential.ts';
import { noAllowance, type QuotaFigures, quotaSpent } from './quota.ts';

/** An admitted caller, to be charged when its answer is ready. */
export type Admitted = {
  readonly kind: 'admitted';
  readonly caller: Caller;
  readonly credential: Authenticated;
  readonly figures: QuotaFigures;
};

/** Who was let in, and whether its answers are charged. */
export type Admission = Admitted | { readonly kind: 'uncharged'; readonly caller: Caller };

/** Turned away. The refusal carries the quota headers. */
export type TurnedAway = { readonly kind: 'refused'; readonly refusal: Refusal };

/** The gate in front of every hosted route. */
export type Gate = {
  /** Credential first, then allowance; nothing is charged yet. */
  readonly admit: (presented: Presented, rule: HostedRule) => Soon<Admitted | TurnedAway>;
  /** What is left of an admitted caller's allowance, as far as this process knows now. */
  readonly left: (admitted: Admitted) => number;
  /** The figures beside a response that no route gave: a valid key's own, else none. */
  readonly figures: (presented: Presented) => Soon<QuotaFigures>;
  /** The figures where no key is known: nothing is allowed. */
  readonly noFigures: () => QuotaFigures;
  /** Stores one charge before the answer leaves; never past the limit, whichever process asks. */
  readonly charge: (
    admitted: Admitted,
  ) => Promise<{ readonly kind: 'charged'; readonly figures: QuotaFigures } | TurnedAway>;
};

/** The stores of the gate. */
type GateStores = CredentialStores & { readonly quota: QuotaStore };

/** Makes the gate. `now` gives Unix seconds. */
export function createGate(stores: GateStores, now: () => UnixSeconds): Gate {
  const { quota, durable } = stores;

  const turnAway = async (denied: Denied): Promise<TurnedAway> => {
    const known = denied.reason === 'tier_too_low' ? denied.allowance : null;
    const left = known === null ? null : await quota.remaining(known.allowance);
    const remaining = left === null || left instanceof Unread ? null : left.value.remaining;
    return { kind: 'refused', refusal: credentialRefusal(denied, durable, remaining, now()) };
  };

  const admitted = (
    credential: Authenticated,
    left: Reading<Remaining, QuotaPort>,
  ): Soon<Admitted | TurnedAway> => {
    const { allowance } = credential;
    if (left instanceof Unread) return turnAway(storeUnavailable(allowance));
    const { limit, remaining } = left.value;
    if (remaining === 0) return { kind: 'refused', refusal: quotaSpent(allowance) };
    const figures = { limit, remaining, reset_s: allowance.reset_s };
    return { kind: 'admitted', caller: callerOf(credential), credential, figures };
  };

  return {
    admit: (presented, rule) =>
      whenThere(
        authenticate(presented, rule, stores, now()),
        (credential): Soon<Admitted | TurnedAway> => {
          if (!credential.admitted) return turnAway(credential);
          const left = quota.remaining(credential.allowance.allowance);
          return whenThere(left, (said) => admitted(credential, said));
        },
      ),
    left: ({ credential: { allowance }, figures }) => {
      const used = quota.lastSeen(allowance.allowance);
      return used === null ? figures.remaining : Math.max(figures.limit - used, 0);
    },
    figures: (presented) =>
      whenThere(
        authenticate(presented, anyRuleOf(presented), stores, now()),
        (credential): Soon<QuotaFigures> => {
          if (!credential.admitted) return noAllowance(now());
          const { allowance, reset_s } = credential.allowance;
          return whenThere(quota.remaining(allowance), (left) =>
            left instanceof Unread ? noAllowance(now()) : { ...left.value, reset_s },
          );
        },
      ),
    noFigures: () => noAllowance(now()),
    charge: async ({ credential, figures }) => {
      const { allowance, reset_s } = credential.allowance;
      const charged = await quota.charge(allowance);
      if (charged instanceof Unread) return await turnAway(storeUnavailable(credential.allowance));
      const { granted, used, limit } = charged.value;
      if (!granted) return { kind: 'refused', refusal: quotaSpent(credential.allowance) };
      const remaining = Math.max(limit - used, 0);
      return { kind: 'charged', figures: { ...figures, limit, remaining, reset_s } };
    },
  };
}

/** The rule that a valid key of this kind opens, whichever that is. */
function anyRuleOf({ authorization, serviceMembership }: Presented): HostedRule {
  return /(?:^|\s)scp_/.test(`${authorization} ${serviceMembership}`) ? 'partner' : 'analyst';
}

function callerOf({ key: { id: key_id, holder }, membership }: Authenticated): Caller {
  if (holder.kind === 'scp') return { kind: 'partner', partner: holder.partner, key_id };
  if (membership === null) throw new Error('a key of a membership was admitted without it');
  const { membership_id, plan } = membership;
  return { kind: 'member', membership_id, plan, key_id };
}
