// The twin of the calls of providers: in memory, planted and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { countBoard } from '../../features/providers/board.ts';
import { launchCall } from '../../features/providers/call.ts';
import type { CountedCall, KeptCall, ProviderCalls } from '../../ports/provider-calls.ts';
import { evm } from '../addresses.ts';
import { memorySource, PLANTED } from './dated.ts';

/** Calls of a memory, and whether they were counted into a board. */
export type MemoryCalls = { readonly calls: readonly KeptCall[]; readonly isCounted: boolean };

export type ProviderCallPorts = { readonly providerCalls: ProviderCalls };

function toCounted(call: KeptCall): CountedCall {
  const { provider, subject, says, prospective, received_at, rule_version, leaf } = call;
  const { outcome } = call;
  return {
    provider,
    says,
    prospective,
    received_at,
    rule_version,
    leaf,
    kind: subject.kind,
    subject: subject.kind === 'token_risk' ? `${subject.chain} ${subject.token}` : subject.asset,
    probability: call.probability === null ? null : Number(call.probability),
    state: outcome.state,
    happened: outcome.state === 'scored' ? outcome.happened : null,
  };
}

export function memoryProviderCalls({ calls, isCounted }: MemoryCalls): ProviderCallPorts {
  const origin = {
    port: 'provider_calls',
    source: memorySource('Calls of providers', 'table', PLANTED),
  } as const;
  const made_at = PLANTED.as_of;
  const board = countBoard({ calls: calls.map(toCounted), gaps: [], asked: new Map(), made_at });
  const isMiss = ({ outcome, says }: KeptCall) =>
    outcome.state === 'scored' && outcome.happened !== says;
  return {
    providerCalls: {
      board: async () => {
        const kept = isCounted ? { made_at, text: JSON.stringify(board) } : null;
        return read({ kept, any_call: calls.length > 0 }, origin);
      },
      find: async (id) => {
        const found = calls.find(({ call_id }) => call_id === id);
        return read(found === undefined ? null : found, origin);
      },
      misses: async ({ before, limit }) =>
        read(
          calls
            .filter((one) => isMiss(one) && (before === null || one.leaf < before))
            .slice(0, limit),
          origin,
        ),
      rules: async () => read([], origin),
    },
  };
}

export function silentProviderCalls(cause: Why): ProviderCallPorts {
  const silent = async () => unread('provider_calls' as const, cause);
  return { providerCalls: { board: silent, find: silent, misses: silent, rules: silent } };
}

/** Whether a world plants a call that was counted. */
export type PlantedCalls = { readonly called?: boolean };

const SAID_AT = PLANTED.as_of - 5 * 86_400;

/** A call that was scored; `late`: so long after it was said it was received. */
function callOf(name: string, late: number, leaf: number): KeptCall {
  const { call_id, hash, statement } = launchCall(
    { chain: 'ethereum', token: evm(name).toLowerCase(), launched_at: SAID_AT },
    {
      provider: 'goplus',
      says: true,
      probability: null,
      reference: null,
      rests_on: { is_honeypot: '1' },
      called_at: SAID_AT,
      received_at: SAID_AT + late,
    },
    [],
  );
  const outcome = { state: 'scored', happened: false, rests_on: {}, scored_at: PLANTED.as_of };
  return { ...statement, call_id, hash, leaf, outcome: { ...outcome, state: 'scored' } };
}

const CALLED = [callOf('called token', 0, 0), callOf('token called late', 3_600, 1)];

export function plantedProviderCalls({ called = false }: PlantedCalls): ProviderCallPorts {
  return memoryProviderCalls({ calls: called ? CALLED : [], isCounted: true });
}

/** What the planted call contradicts. */
export const CALL_STANDS = {
  called: true,
  contradicts: {
    providers_board: [
      ...['30d', '90d', 'all'].flatMap((window) =>
        ['rows', 'retrospective'].map((rows) => `windows.${window}.${rows}`),
      ),
      ...['total_scores', 'served.rows'],
    ],
  },
};

/** The lines of pages that deny something of calls. */
export const CALL_DENIALS: readonly (readonly [line: RegExp, restsOn: readonly string[]])[] = [
  [/^No call was received in this window\.$/, ['provider_calls']],
  [/^Calls were received here before and none within three days: /, ['provider_calls']],
  [/^No call was ever received here\. /, ['provider_calls']],
];
