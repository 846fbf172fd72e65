// Asks RugCheck for its report on a token of Solana. A summary holds no authorities, so that the
// whole report is asked for. A mint that it does not know is answered by 400 with an error, and has
// no field; every other answer than 200 with the report of this mint is a failure.

import { z } from 'zod';
import { why } from '../../evidence/reasons.ts';
import type { RiskFields, TokenRisk } from '../../ports/token-risk.ts';
import { type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
  readProvider,
} from '../http/provider.ts';

const NAME = 'RugCheck';
/** Holders and markets are in a report. */
const LIMITS: JsonLimits = { deadlineMs: 15_000, bytesMax: 16 * 2 ** 20 };
const RISKS_MAX = 1_000;
const DANGER = 'danger';

/** The options of RugCheck. `url` is its root, above `/v1`. */
export type RugcheckOptions = ProviderTerms & {
  readonly url: URL;
  readonly key: string | null;
  readonly guard: ProviderGuard;
};

/** A mint of which it knows nothing. */
const UNKNOWN_STATUS = 400;
const refusal = outsideRow({ error: z.string().min(1) });

// api.rugcheck.xyz/swagger, `/v1/tokens/{mint}/report`.
const report = outsideBody({
  mint: z.string(),
  rugged: z.boolean().nullish(),
  risks: z
    .array(outsideRow({ name: z.string(), level: z.string() }))
    .max(RISKS_MAX)
    .nullish(),
  score_normalised: z.number().nullish(),
});

/** RugCheck as a provider of statements about tokens. */
export function rugcheckTokenRisk(options: RugcheckOptions): TokenRisk {
  const { url, guard, key, now, simulated, timeMs, callsMax } = options;
  const shown = originText(url);
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `${NAME} ${shown}`, fault });
  const provider = { name: NAME, url: shown, simulated, now, toReason };
  const headers = key === null ? {} : { 'x-api-key': key };
  return {
    provider: 'rugcheck',
    chain: 'solana',
    fieldsOf: (mint, signal) =>
      readProvider('token_risk', provider, { timeMs, callsMax, signal }, (budget) => {
        let isUnknown = false;
        const whole = new URL(url);
        whole.pathname = `${whole.pathname.replace(/\/+$/, '')}/v1/tokens/${mint}/report`;
        const isAnswer = (status: number, told: unknown) => {
          isUnknown = status === UNKNOWN_STATUS && refusal.safeParse(told).success;
          return isUnknown;
        };
        const ask = { guard, budget, url: whole, body: null, limits: LIMITS, headers, isAnswer };
        return askJson(ask, (told) => {
          if (isUnknown) return {};
          const parsed = report.safeParse(told);
          if (!parsed.success) throw new ProviderFault('answered JSON of another shape', 'passing');
          if (parsed.data.mint === mint) return fieldsIn(parsed.data);
          throw new ProviderFault('answered about another token', 'passing');
        });
      }),
  };
}

function fieldsIn({ rugged, risks, score_normalised: score }: z.output<typeof report>): RiskFields {
  const dangers = risks?.filter(({ level }) => level.toLowerCase() === DANGER).length;
  const told = { rugged, danger: dangers, score_normalised: score };
  const fields = Object.entries(told).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(fields.map(([field, value]) => [field, String(value)]));
}
