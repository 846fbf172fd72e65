// A call of what was said: its window, its hash and its id. Pure.

import { hashBundle } from '../../chain/call-hash.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import { writeCanonical } from '../../contract/canonical.ts';
import {
  type CallStatement,
  type HashedRule,
  type LaunchSighting,
  type NewCall,
  OWN_PROVIDER,
  type OwnStatement,
} from '../../ports/provider-calls.ts';
import {
  isLaunchCallProspective,
  isMarketCallProspective,
  launchWindowEnd,
  marketWindow,
  OUTCOME_RULES,
  ruleInForce,
} from './rules.ts';

const ID_DIGITS = 32;

/** A statement with what follows from it. */
export function makeCall(statement: CallStatement): NewCall {
  const {
    received_at: _,
    prospective: __,
    rule_version: ___,
    window_end: ____,
    ...said
  } = statement;
  const hash = hashBundle(writeCanonical(statement));
  return {
    call_id: `pc_${hash.slice('0x'.length, '0x'.length + ID_DIGITS)}`,
    hash,
    said_hash: hashBundle(writeCanonical(said)),
    statement,
  };
}

/** Every rule, with the hash that its leaf holds. */
export function hashRules(): readonly HashedRule[] {
  return OUTCOME_RULES.map(({ version, kind, text }) => {
    const hash = hashBundle(writeCanonical({ version, kind, text }));
    return { version, kind, text, hash };
  });
}

type Launch = Pick<LaunchSighting, 'chain' | 'token'> & { readonly launched_at: UnixSeconds };
type CallFacts = Pick<
  CallStatement,
  'provider' | 'says' | 'probability' | 'reference' | 'rests_on' | 'called_at' | 'received_at'
>;

/** A call on a launch. */
export function launchCall(
  { chain, token, launched_at }: Launch,
  said: CallFacts,
  sightings: readonly LaunchSighting[],
): NewCall {
  const window_end = launchWindowEnd(chain, launched_at);
  return makeCall({
    ...said,
    subject: { kind: 'token_risk', chain, token },
    rule_version: ruleInForce('token_risk').version,
    window_end,
    prospective: isLaunchCallProspective(said, window_end, sightings),
  });
}

/** A call on a market. */
export function marketCall(asset: string, horizon_h: number, said: CallFacts): NewCall {
  return makeCall({
    ...said,
    subject: { kind: 'market_call', asset, horizon_h },
    rule_version: ruleInForce('market_call').version,
    window_end: marketWindow(said.called_at, horizon_h).until,
    prospective: isMarketCallProspective(said, horizon_h),
  });
}

/**
 * A signal of this service as a call: what it avoids, it says will die. It was received when it was
 * published, as its leaf shows; one that is older than the rule is received now.
 */
export function ownCall(
  { signal_id, generated_at_unix: called_at, after_rule, ...launch }: OwnStatement,
  sightings: readonly LaunchSighting[],
  now: UnixSeconds,
): NewCall {
  return launchCall(
    launch,
    {
      provider: OWN_PROVIDER,
      says: true,
      probability: null,
      reference: signal_id,
      rests_on: { verdict: 'avoid' },
      called_at,
      received_at: after_rule ? called_at : Math.floor(now),
    },
    sightings,
  );
}
