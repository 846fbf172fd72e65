// Asks GoPlus about a token of Ethereum. The code of an answer decides, never its HTTP status:
// throttling comes as 200. An answer without the token says that GoPlus knows nothing of it.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import { why } from '../../evidence/reasons.ts';
import type { RiskFields, TokenRisk } from '../../ports/token-risk.ts';
import { type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  type CallBudget,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
  readProvider,
} from '../http/provider.ts';

const CHAIN = 'ethereum';
const NAME = 'GoPlus';
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 2 * 2 ** 20 };
const ANSWERED = 1;
/** Still syncing, throttled, and a fault of the server: the same question may be answered soon. */
const PASSING_CODES: ReadonlySet<number> = new Set([2, 4029, 5000]);
/** The address is no contract, or nothing is known of it: an answer, without a field. */
const UNKNOWN_CODES: ReadonlySet<number> = new Set([2020, 2021]);
/** An access token is used until so long before its end. */
const TOKEN_SPARE_S = 60;

/** The options of GoPlus. `url` is its root, `key` the application's key and secret, if any. */
export type GoplusOptions = ProviderTerms & {
  readonly url: URL;
  readonly key: { readonly app: string; readonly secret: string } | null;
  readonly guard: ProviderGuard;
};

// github GoPlusSecurity/goplus-sdk-node 1.1.1: flags are '1', '0' or left out.
const flag = z.string();
const token = outsideRow({
  is_honeypot: flag.nullish(),
  cannot_sell_all: flag.nullish(),
  cannot_buy: flag.nullish(),
  is_airdrop_scam: flag.nullish(),
  is_true_token: flag.nullish(),
  is_in_dex: flag.nullish(),
  is_open_source: flag.nullish(),
  sell_tax: flag.nullish(),
  trust_list: flag.nullish(),
});
const said = outsideBody({ code: z.int(), message: z.string().nullish() });
const answer = said.extend({ result: z.record(z.string(), token) });
const unknown = outsideRow({ code: z.int().refine((code) => UNKNOWN_CODES.has(code)) });
const access = said.extend({
  result: outsideRow({ access_token: z.string().min(1), expires_in: z.number().positive() }),
});

/** GoPlus as a provider of statements about tokens. */
export function goplusTokenRisk(options: GoplusOptions): TokenRisk {
  const { url, guard, key, now, simulated, timeMs, callsMax } = options;
  const shown = originText(url);
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `${NAME} ${shown}`, fault });
  const provider = { name: NAME, url: shown, simulated, now, toReason };
  const authorise = key === null ? async () => ({}) : accessTokens(options, key);
  return {
    provider: 'goplus',
    chain: CHAIN,
    fieldsOf: (contract, signal) =>
      readProvider('token_risk', provider, { timeMs, callsMax, signal }, async (budget) => {
        const whole = under(url, `/api/v1/token_security/${CHAINS[CHAIN].chain_id}`);
        whole.searchParams.set('contract_addresses', contract);
        const headers = await authorise(budget);
        const ask = { guard, budget, url: whole, body: null, limits: LIMITS, headers };
        return askJson(ask, (told) =>
          unknown.safeParse(told).success ? {} : fieldsIn(parseAnswer(answer, told), contract),
        );
      }),
  };
}

function under(root: URL, path: string): URL {
  const whole = new URL(root);
  whole.pathname = whole.pathname.replace(/\/+$/, '') + path;
  return whole;
}

/** Judges the code first: an answer that is a fault has no result. */
function parseAnswer<T extends z.ZodType>(schema: T, told: unknown): z.output<T> {
  const { success, data } = said.safeParse(told);
  if (!success) throw new ProviderFault('answered JSON of another shape', 'passing');
  if (data.code !== ANSWERED) {
    const kind = PASSING_CODES.has(data.code) ? 'passing' : 'lasting';
    throw new ProviderFault(`answered code ${data.code}`, kind);
  }
  const whole = schema.safeParse(told);
  if (whole.success) return whole.data;
  throw new ProviderFault('answered JSON of another shape', 'passing');
}

function fieldsIn({ result }: z.output<typeof answer>, contract: string): RiskFields {
  const about = Object.entries(result);
  const own = about.find(([address]) => address.toLowerCase() === contract.toLowerCase());
  if (own === undefined) {
    if (about.length === 0) return {};
    throw new ProviderFault('answered about another token', 'passing');
  }
  return Object.fromEntries(
    Object.entries(own[1]).flatMap(([field, value]) =>
      typeof value === 'string' && value !== '' ? [[field, value]] : [],
    ),
  );
}

/** Makes access tokens, each for as long as it holds. Its signature is SHA-1 as GoPlus asks. */
function accessTokens(
  { url, guard, now }: GoplusOptions,
  { app, secret }: NonNullable<GoplusOptions['key']>,
): (budget: CallBudget) => Promise<Readonly<Record<string, string>>> {
  let held: { readonly token: string; readonly until: number } | null = null;
  return async (budget) => {
    const time = Math.floor(now());
    if (held === null || time >= held.until) {
      const sign = createHash('sha1').update(`${app}${time}${secret}`).digest('hex');
      const body = { app_key: app, time, sign };
      const ask = { guard, budget, url: under(url, '/api/v1/token'), body, limits: LIMITS };
      const { access_token, expires_in } = await askJson(
        ask,
        (told) => parseAnswer(access, told).result,
      );
      held = { token: access_token, until: time + expires_in - TOKEN_SPARE_S };
    }
    return { authorization: held.token };
  };
}
