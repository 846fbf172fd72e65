// A language model is asked once, with one message and no tools, within tokens, time and money.
// What is no answer of it is unread, and names neither key nor path.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { basis, Read } from '../../evidence/reading.ts';
import { languageModelAt } from '../../testing/analyst.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { memorySpending } from '../../testing/day-spending.ts';
import { ANALYST, startFaulty } from '../../testing/provider-faults.ts';
import { type ModelWay, startLanguageModel } from '../../world/language-model.ts';

let model: Awaited<ReturnType<typeof startLanguageModel>>;
beforeAll(async () => {
  model = await startLanguageModel();
});
beforeEach(() => model.behave('obeys'));
afterAll(() => model.close());

const signal = new AbortController().signal;
const evidence = { 'deployer.state': { value: 'all_died', as_of: 1 } };
const REQUEST = {
  instructions: 'Supported verdicts, with the keys to cite:\navoid: deployer.state',
  bundle: JSON.stringify({ evidence }),
};
const PROPOSAL = {
  verdict: 'avoid',
  evidence_used: ['deployer.state'],
  sentences: [{ text: 'The state of this address is all_died.', keys: ['deployer.state'] }],
};

const BROKEN_OFF = ANALYST.filter(({ of }) =>
  /length|filter|tool_calls|max_tokens|refusal|pause_turn/.test(of('')),
).map((fault) => [fault.name, fault] as const);

describe('says', () => {
  test.each(['openai', 'anthropic'] as const)('over the wire of %s', async (wire) => {
    const answer = await languageModelAt(model[wire]).propose(REQUEST, signal);
    if (!(answer instanceof Read)) throw new Error(answer.why.reason);
    // 1,000 tokens in and 200 out, at one and two dollars for a million.
    expect(answer.value).toEqual({ proposal: PROPOSAL, cost_usd: 0.0014 });
    expect(basis(answer).sources).toEqual([
      {
        name: 'Language model',
        url: new URL(model[wire]).origin,
        as_of: STILL_NOW,
        kind: 'observation',
        simulated: false,
      },
    ]);
    const content = `${REQUEST.instructions}\n\nThe bundle:\n${REQUEST.bundle}`;
    const format = wire === 'openai' ? { response_format: { type: 'json_object' } } : {};
    expect(model.asked.at(-1)).toEqual({
      wire,
      hasKey: true,
      body: {
        model: 'model-1',
        max_tokens: 2_000,
        messages: [{ role: 'user', content }],
        ...format,
      },
    });
  });

  test('a proposal in the fence of a code block, and none in prose', async () => {
    const proposed = async (way: ModelWay) => {
      model.behave(way);
      const answer = await languageModelAt(model.openai).propose(REQUEST, signal);
      if (!(answer instanceof Read)) throw new Error(answer.why.reason);
      return answer.value;
    };
    expect(await proposed('fenced')).toEqual({ proposal: PROPOSAL, cost_usd: 0.0014 });
    expect(await proposed('prose')).toEqual({ proposal: null, cost_usd: 0.0014 });
  });

  test('the most that it can have cost where it tells no tokens', async () => {
    model.behave('no-usage');
    const answer = await languageModelAt(model.openai).propose(REQUEST, signal);
    if (!(answer instanceof Read)) throw new Error(answer.why.reason);
    const bytes = REQUEST.instructions.length + REQUEST.bundle.length + '\n\nThe bundle:\n'.length;
    expect(answer.value.cost_usd).toBeCloseTo((bytes + 2 * 2_000) / 1_000_000, 9);
  });

  test('no key where none is set', async () => {
    await languageModelAt(model.openai, { key: null }).propose(REQUEST, signal);
    expect(model.asked.at(-1)?.hasKey).toBe(false);
  });
});

describe('is silent', () => {
  test.each<[ModelWay, RegExp]>([
    ['wrong-shape', /another shape/],
    ['rate-limited', /rate limit/],
    ['error500', /answered 500/],
    ['html', /JSON/],
    ['closes', /./],
  ])('%s', async (way, fault) => {
    model.behave(way);
    const url = `${model.openai}?secret=path-secret`;
    const before = model.asked.length;
    const answer = await languageModelAt(url).propose(REQUEST, signal);
    if (answer instanceof Read) throw new Error('test: it answered');
    expect(answer.why.code).toBe('provider_failed');
    expect(answer.why.reason).toMatch(fault);
    expect(answer.why.reason).toContain(new URL(url).origin);
    expect(answer.why.reason).not.toMatch(/secret|chat\/completions/);
    expect(model.asked.length).toBe(before + 1);
  });

  // Each holds a whole proposal, which an answer that ended would be taken by.
  test.each(BROKEN_OFF)('where it broke off: %s', async (_, fault) => {
    const provider = await startFaulty(fault);
    const wire = fault.of('').includes('choices') ? 'chat/completions' : 'messages';
    const answer = await languageModelAt(`${provider.url}/${wire}`).propose(REQUEST, signal);
    provider.close();
    expect(answer).toHaveProperty('why.reason', expect.stringContaining('broke its answer off'));
  });

  test('where whoever asked has gone', async () => {
    model.behave('hangs');
    const gone = new AbortController();
    const asking = languageModelAt(model.openai).propose(REQUEST, gone.signal);
    gone.abort();
    expect((await asking).checked).toBe(false);
  });
});

describe('refuses', () => {
  test('a message over its bound, before it is sent', async () => {
    const before = model.asked.length;
    const around = Buffer.byteLength(`${REQUEST.instructions}\n\nThe bundle:\n`);
    const ask = (bytes: number) => {
      const bundle = `"${'x'.repeat(bytes - around - 2)}"`;
      return languageModelAt(model.openai).propose({ ...REQUEST, bundle }, signal);
    };
    const answer = await ask(96 * 1_024 + 1);
    expect(answer).toHaveProperty('why.code', 'analyst_request_too_large');
    expect(model.asked.length).toBe(before);
    await ask(96 * 1_024);
    expect(model.asked.length).toBe(before + 1);
  });

  test('more than the money of a day, whatever came of it, and asks again the next day', async () => {
    let now = STILL_NOW;
    // A question sets at most 0.42 dollars aside and costs 0.14.
    const spending = memorySpending(() => now);
    const dear = { price: { in_usd: 100, out_usd: 200 }, usdADayMax: 1, spending };
    // Each question is another process's, which counts in the same store.
    const ask = () => languageModelAt(model.openai, dear).propose(REQUEST, signal);
    let cost = 0;
    let questions = 0;
    for (let answer = await ask(); answer instanceof Read; answer = await ask()) {
      cost += answer.value.cost_usd;
      questions += 1;
    }
    expect(questions).toBeGreaterThan(1);
    expect(cost).toBeLessThanOrEqual(1);
    expect(await ask()).toHaveProperty('why.code', 'analyst_over_budget');
    now += DAY_S;
    model.behave('error500');
    const silent = [await ask(), await ask(), await ask(), await ask()];
    const codes = silent.map((one) => (one instanceof Read ? null : one.why.code));
    expect(codes.at(0)).toBe('provider_failed');
    expect(codes.at(-1)).toBe('analyst_over_budget');
  });
});
