// Asks a language model for the words of a judgement, by the wire of OpenAI or of Anthropic. It
// gets one message and no tools. Tokens, time and the money of a day are bounded; over a bound
// nothing is asked, and whoever asked goes on without it.

import { z } from 'zod';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { DaySpending } from '../../ports/day-spending.ts';
import {
  type AnalystAnswer,
  type AnalystProposal,
  analystProposal,
  type VerdictAnalyst,
  type VerdictAnalystPort,
} from '../../ports/verdicts.ts';
import { jsonIn, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  observation,
  ProviderFault,
  type ProviderGuard,
  tryReading,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';

const PORT: VerdictAnalystPort = 'verdict_analyst';
const NAME = 'Language model';

/** The wires of the two kinds of endpoints. */
type AnalystWire = 'openai' | 'anthropic';

/** The wire of an endpoint, by the end of its path. */
function wireOf({ pathname }: URL): AnalystWire {
  return pathname.endsWith('/messages') ? 'anthropic' : 'openai';
}

/** US dollars for a million tokens, in and out. */
export type AnalystPrice = { readonly in_usd: number; readonly out_usd: number };

export type AnalystOptions = {
  readonly url: URL;
  readonly key: string | null;
  readonly model: string;
  readonly price: AnalystPrice;
  readonly usdADayMax: number;
  readonly spending: DaySpending;
  readonly guard: ProviderGuard;
  /** Unix seconds. */
  readonly now: () => number;
  readonly simulated: boolean;
};

/** The bounds of one question. A token is at least one byte of what is sent. */
const LIMITS = { deadlineMs: 30_000, bytesMax: 256 * 1024 } as const;
const SENT_BYTES_MAX = 96 * 1024;
const TOKENS_OUT_MAX = 2_000;
const CALLS_MAX = 1;
const VERSION_OF_ANTHROPIC = '2023-06-01';
const TOKENS_PRICED = 1_000_000;
const MICROS = 1_000_000;
const MONEY = 'analyst_usd_millionths';

const count = z.int().nonnegative();
/** Why it stopped. Some compatible servers do not tell. */
const END = z.string().nullish();
/** The word of an answer that came to its end, by wire. */
const WHOLE: { readonly [W in AnalystWire]: string } = { openai: 'stop', anthropic: 'end_turn' };
const openaiAnswer = outsideRow({
  choices: z
    .array(outsideRow({ message: outsideRow({ content: z.string() }), finish_reason: END }))
    .min(1),
  usage: outsideRow({ prompt_tokens: count, completion_tokens: count }).nullish(),
});
const anthropicAnswer = outsideRow({
  content: z.array(outsideRow({ type: z.string(), text: z.string().optional() })),
  stop_reason: END,
  usage: outsideRow({ input_tokens: count, output_tokens: count }).nullish(),
});

/** The words of an answer, and the tokens that it took; `null` where it does not tell them. */
type ModelWords = {
  readonly text: string;
  readonly tokens: { readonly in: number; readonly out: number } | null;
};

/** A language model as an analyst. */
export function languageModel(options: AnalystOptions): VerdictAnalyst {
  const { url, key, model, price, guard, now, simulated, usdADayMax, spending } = options;
  const wire = wireOf(url);
  const provider = `${NAME} ${originText(url)}`;
  const toReason = (fault: string) => why('provider_failed', { provider, fault });
  const source = () => observation({ name: NAME, url: originText(url), simulated }, now);
  return {
    model,
    propose: async ({ instructions, bundle }, signal): Promise<Answer> => {
      const content = `${instructions}\n\nThe bundle:\n${bundle}`;
      const bytes = Buffer.byteLength(content);
      if (bytes > SENT_BYTES_MAX) {
        const filling = { bytes: String(bytes), limit: String(SENT_BYTES_MAX) };
        return unread(PORT, why('analyst_request_too_large', filling));
      }
      const most = microsOf(price, { in: bytes, out: TOKENS_OUT_MAX });
      const limit = usdADayMax * MICROS;
      const told = await spending.setAside(MONEY, { most, least: most, limit });
      if (!told.checked) return unread(PORT, told.why);
      const { day, amount, spent } = told.value;
      if (amount < most) {
        const filling = { spent: (spent / MICROS).toFixed(4), limit: String(usdADayMax) };
        return unread(PORT, why('analyst_over_budget', filling));
      }
      const question = { url, ...bodyOf(wire, model, content), limits: LIMITS };
      const headers = headersOf(wire, key);
      const limits = { callsMax: CALLS_MAX, timeMs: LIMITS.deadlineMs, signal };
      const said = await tryReading<ModelWords, VerdictAnalystPort>(
        PORT,
        (error) => whyUnanswered(error, toReason),
        () =>
          withBudget(limits, (budget) =>
            askJson({ guard, budget, ...question, headers }, (answer) => wordsIn(wire, answer)),
          ),
      );
      // A question without an answer may have been paid for: what was set aside stays spent.
      if (!('text' in said)) return said;
      const micros = said.tokens === null ? most : Math.min(most, microsOf(price, said.tokens));
      // Where the store does not take it, the day has less left than it could have.
      if (micros < most) await spending.giveBack(MONEY, { day, amount: most - micros });
      const answer = { proposal: proposalIn(said.text), cost_usd: micros / MICROS };
      return read<AnalystAnswer, VerdictAnalystPort>(answer, { port: PORT, source: source() });
    },
  };
}

type Answer = Reading<AnalystAnswer, VerdictAnalystPort>;

/** Millionths of a US dollar, rounded up. */
function microsOf({ in_usd, out_usd }: AnalystPrice, tokens: { in: number; out: number }): number {
  const usd = (tokens.in * in_usd + tokens.out * out_usd) / TOKENS_PRICED;
  return Math.ceil(usd * MICROS);
}

function bodyOf(wire: AnalystWire, model: string, content: string): { readonly body: object } {
  const asked = { model, max_tokens: TOKENS_OUT_MAX, messages: [{ role: 'user', content }] };
  if (wire === 'anthropic') return { body: asked };
  return { body: { ...asked, response_format: { type: 'json_object' } } };
}

function headersOf(wire: AnalystWire, key: string | null): Readonly<Record<string, string>> {
  if (wire === 'openai') return key === null ? {} : { authorization: `Bearer ${key}` };
  const version = { 'anthropic-version': VERSION_OF_ANTHROPIC };
  return key === null ? version : { ...version, 'x-api-key': key };
}

/** Throws `ProviderFault` for an answer of another shape. */
function wordsIn(wire: AnalystWire, answer: unknown): ModelWords {
  if (wire === 'openai') {
    const told = openaiAnswer.safeParse(answer);
    if (!told.success) throw new ProviderFault('answered JSON of another shape', 'lasting');
    const [choice] = told.data.choices;
    requireWhole(wire, choice?.finish_reason);
    const { usage } = told.data;
    return {
      text: String(choice?.message.content),
      tokens: usage == null ? null : { in: usage.prompt_tokens, out: usage.completion_tokens },
    };
  }
  const told = anthropicAnswer.safeParse(answer);
  if (!told.success) throw new ProviderFault('answered JSON of another shape', 'lasting');
  requireWhole(wire, told.data.stop_reason);
  const { usage } = told.data;
  const texts = told.data.content.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return {
    text: texts.join(''),
    tokens: usage == null ? null : { in: usage.input_tokens, out: usage.output_tokens },
  };
}

/** Refuses what was cut, filtered or refused: the rest of it may say otherwise. */
function requireWhole(wire: AnalystWire, end: string | null | undefined): void {
  if (end === null || end === undefined || end === WHOLE[wire]) return;
  throw new ProviderFault('broke its answer off', 'lasting');
}

const FENCED = /^```(?:json)?\n([\s\S]*)\n```$/;

/** The proposal that a text is, with or without the fence of a code block; `null`: none. */
function proposalIn(text: string): AnalystProposal | null {
  const trimmed = text.trim();
  const inside = FENCED.exec(trimmed)?.[1];
  const parsed = analystProposal.safeParse(jsonIn(inside === undefined ? trimmed : inside));
  return parsed.success ? parsed.data : null;
}
