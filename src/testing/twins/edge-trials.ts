// The twin of the tried filters: a membership that tries its first one, and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { EdgeTrials } from '../../ports/edge-trials.ts';
import { memorySource, PLANTED } from './dated.ts';

export type EdgeTrialPorts = { readonly edgeTrials: EdgeTrials };

/** Every filter is the first that its membership tried. */
export function memoryEdgeTrials(): EdgeTrialPorts {
  const origin = {
    port: 'edge_trials',
    source: memorySource('Tried filters', 'table', PLANTED),
  } as const;
  return {
    edgeTrials: { countTrial: async () => read({ distinct: 1, since: PLANTED.as_of }, origin) },
  };
}

export function silentEdgeTrials(cause: Why): EdgeTrialPorts {
  return { edgeTrials: { countTrial: async () => unread('edge_trials', cause) } };
}
