// Closed calls of many weeks, for whoever learns an order: with inputs that tell of the return, and
// without.

import type { EmittedCall } from '../ports/emitted-calls.ts';
import { lotteryOf } from './lottery.ts';
import { emittedCallOf, outcomeOf } from './twins/emitted-calls.ts';

const DAY_S = 86_400;
/** A Monday. */
export const FIRST_WEEK = Date.UTC(2025, 0, 6) / 1_000;

/** `tells`: how much of a return one input tells, from 0 (noise) to 1. */
export function inventCalls(
  {
    weeks,
    aWeek,
    tells,
  }: { readonly weeks: number; readonly aWeek: number; readonly tells: number },
  seed: number,
): readonly EmittedCall[] {
  const { share, below, oneOf } = lotteryOf(seed);
  const decimal = (value: number) => value.toFixed(6);
  return Array.from({ length: weeks * aWeek }, (_, at) => {
    const emitted_at = FIRST_WEEK + Math.floor(((at + share()) * 7 * DAY_S) / aWeek);
    const signal = 2 * share() - 1;
    const gross = 0.05 * (tells * signal + (1 - tells) * (2 * share() - 1));
    const statement = {
      kind: oneOf(['funding', 'liq', 'netflow', 'whale'] as const),
      asset: oneOf(['BTC', 'ETH', 'SOL']),
      direction: oneOf(['long', 'short'] as const),
      conviction: decimal(0.5 + share() / 2),
      emitted_at,
      horizon_h: oneOf([8, 24, 72]),
      window: at,
      features: {
        depth: decimal(signal),
        noise: decimal(share()),
        spread: below(4) === 0 ? null : decimal(share()),
      },
    };
    return emittedCallOf(statement, outcomeOf(statement, { gross_return: decimal(gross) }), at);
  });
}
