// Bundles, judgements and signals of tests, made as the service makes them.

import type { ChainName } from '../chain/chain.ts';
import { formatIsoTime } from '../chain/time.ts';
import { BUNDLE_SCHEMA, type Bundle, type Judgement } from '../features/collectors/shapes.ts';
import { makeSignal } from '../features/signals/signal.ts';
import type { Emission, NewSignal } from '../ports/signals.ts';
import { STILL_NOW } from './clock.ts';

export const RULES_VERSION = 'rules-1-0123456789ab';

type BundleParts = {
  readonly address: string;
  readonly chain?: ChainName;
  readonly listed?: boolean;
  readonly at?: number;
  /** Keys beside those of the list. */
  readonly more?: Bundle['evidence'];
};

/** The bundle of an address that stands on the list, or does not. */
export function bundleOf(parts: BundleParts): Bundle {
  const { address, chain = 'ethereum', listed = true, at = STILL_NOW, more = {} } = parts;
  return {
    schema: BUNDLE_SCHEMA,
    target: { chain, address },
    collected_at: formatIsoTime(at),
    sources: [
      { source: 'sanctions', status: 'present', code: null, reason: null, as_of: at - 60 },
      {
        source: 'labels',
        status: 'dormant',
        code: 'table_never_imported',
        reason:
          'No import of the exchange-wallet table has completed on this deployment; ' +
          'nothing was checked.',
        as_of: null,
      },
    ],
    evidence: {
      'sanctions.listed': { value: listed, as_of: at - 60 },
      'sanctions.list_published': { value: '2026-09-15', as_of: at - 60 },
      ...more,
    },
  };
}

/** What the rules say of such a bundle. */
export function judgementOf({ evidence }: Bundle): Judgement {
  const isListed = evidence['sanctions.listed']?.value === true;
  return {
    verdict: isListed ? 'avoid' : 'no_opinion',
    confidence_millionths: isListed ? 990_000 : 0,
    confidence_basis: 'assumed',
    confidence_n: null,
    reasoning: isListed
      ? 'The address stands on the SDN list of 2026-09-15.'
      : 'What was read supports neither verdict of the rules.',
    evidence_used: isListed ? ['sanctions.listed', 'sanctions.list_published'] : [],
    model: RULES_VERSION,
    prompt_version: RULES_VERSION,
    cost_usd: 0,
  };
}

type SignalParts = BundleParts & {
  readonly run_id?: string;
  readonly simulated?: boolean;
};

/** A signal about such an address. */
export function signalOf({
  run_id = 'run_1',
  simulated = false,
  ...parts
}: SignalParts): NewSignal {
  const bundle = bundleOf(parts);
  const { at: now = STILL_NOW } = parts;
  return makeSignal({
    bundle,
    judgement: judgementOf(bundle),
    rules_version: RULES_VERSION,
    run_id,
    now,
    simulated,
    cached: false,
  });
}

/** Its publication, as the first of its target and by command. */
export function emissionOf(signal: NewSignal, over: Partial<Emission> = {}): Emission {
  return { signal, newest: null, end: null, dispatches: [], round: null, ...over };
}
