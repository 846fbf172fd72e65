// Leaves a provider alone for as long as it asks, where going on is answered with a ban.

import { MS_PER_S } from '../../chain/time.ts';
import { StatusFault } from './fetch.ts';
import { attempt, ProviderFault } from './provider.ts';

/** How long a refusal asks to be left alone, in milliseconds; `null`: it does not. */
export type RestOf = (fault: StatusFault) => number | null;

/**
 * Asks, unless the provider is being left alone after a refusal; `nowMs` is a clock that does not
 * go back. A question in that time is a lasting fault: it is not asked again by itself.
 */
export function restingAfter(
  restOf: RestOf,
  nowMs: () => number,
): <T>(question: () => Promise<T>) => Promise<T> {
  let restsUntil = Number.NEGATIVE_INFINITY;
  return async (question) => {
    const leftMs = restsUntil - nowMs();
    if (leftMs > 0) {
      const seconds = Math.ceil(leftMs / MS_PER_S);
      throw new ProviderFault(`is left alone for ${seconds} s more, as it asked`, 'lasting');
    }
    const answer = await attempt(StatusFault, question);
    if (!(answer instanceof StatusFault)) return answer;
    const restMs = restOf(answer);
    if (restMs === null) throw answer;
    restsUntil = nowMs() + restMs;
    throw new ProviderFault(`answered ${answer.status}: its rate limit is reached`, 'lasting');
  };
}
