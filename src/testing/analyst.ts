// A language model at an address, as the service asks it.

import type { VerdictAnalyst } from '../ports/verdicts.ts';
import { type AnalystOptions, languageModel } from '../sources/analyst/language-model.ts';
import { providerGuard } from '../sources/http/provider.ts';
import { STILL_NOW } from './clock.ts';
import { memorySpending } from './day-spending.ts';

const GUARD = { callsPerS: 1_000, retriesMax: 0, backoffMs: 1, failuresMax: 1_000, restMs: 1 };

/** The model under this address, at a price of one and two dollars for a million tokens. */
export function languageModelAt(url: string, change: Partial<AnalystOptions> = {}): VerdictAnalyst {
  return languageModel({
    url: new URL(url),
    key: 'a-key-that-is-secret',
    model: 'model-1',
    price: { in_usd: 1, out_usd: 2 },
    usdADayMax: 5,
    spending: memorySpending(() => STILL_NOW),
    guard: providerGuard(GUARD, () => performance.now()),
    now: () => STILL_NOW,
    simulated: false,
    ...change,
  });
}
