// An analysis is answered as it was kept, trimmed by what is asked for; else the answer says why.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import {
  labelledAnalysis,
  type MemoryTraders,
  memoryTraders,
  NEVER_ANALYSED,
  quietAnalysis,
  silentTraders,
  standingWith,
} from '../../testing/twins/traders.ts';
import { type TraderPorts, temporalHandler, traderPageHandler, UNABLE } from './temporal.route.tsx';

const TRADER = evm('trader').toLowerCase();
const DATED = { as_of: STILL_NOW, simulated: false };
const QUEUED = 'It is queued; 5 of the addresses that were asked for are begun in a minute.';
const FAILED = 'The last attempt, at 2026-09-24T12:00:00.000Z, failed:';
const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
type Query = Parameters<ReturnType<typeof temporalHandler>>[0]['query'];

async function said(ports: TraderPorts, query: Query = {}, address = TRADER) {
  const answer = await temporalHandler(ports)(
    { params: { address }, query, body: undefined },
    asked,
    NOBODY,
  );
  if (answer instanceof Refusal) throw new Error('test: refused');
  const { status, body } = answer;
  const fields = z.record(z.string(), z.unknown());
  return { status, body: fields.parse(JSON.parse(JSON.stringify(body, shown))) };
}

function shown(_name: string, value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'shown' in value ? value.shown : value;
}

const holding = (
  standing: ReturnType<MemoryTraders['standingOf']>,
  place: MemoryTraders['place'] = 'queued',
) => memoryTraders({ ...DATED, standingOf: () => standing, place });
const QUIET = standingWith(quietAnalysis(TRADER), STILL_NOW - 90);

const NOT_ANALYSED = {
  address: TRADER,
  analysed: false,
  error: 'not_analysed',
  methodology_url: '/methodology/traders',
};

describe('says', () => {
  test('the analysis, its windows, classification, caveats and age', async () => {
    const { status, body } = await said(holding(QUIET));
    const { modes, coverage, totals } = quietAnalysis(TRADER);
    expect(status).toBe(200);
    const { partitions, ...rest } = body;
    expect(rest).toEqual({
      address: TRADER,
      analysed: true,
      role: 'user',
      master: null,
      modes,
      classification: {
        labels: [],
        no_label: 'not_more_than_chance',
        needs: { q_value_max: 0.05, ratio_min: 1.5, trades_min: 30, record_days_min: 28 },
      },
      coverage: { ...coverage, from: expect.stringMatching(/Z$/), to: expect.stringMatching(/Z$/) },
      totals,
      seed: 1_234_567,
      generator: 'mulberry32',
      permutations: 10_000,
      tests: 58,
      block_mean: { realization: 10, exposure: 14 },
      caveats: [
        'A label says where in time profit was made beyond what chance gives. Whether it will be ' +
          'made there again is another question, and it is not advice.',
        'Profit is what the venue booked at closing, before fees and funding, which stand in ' +
          '`totals`.',
        'Trades of the account with itself, spot, and tokens whose candles were not read are left ' +
          'out and counted.',
        'Exposed hours without a candle are unread: they are left out of the mode of exposure.',
      ],
      analysed_at: '2026-09-24T11:58:30.000Z',
      age_s: 90,
      simulated: false,
      methodology_url: '/methodology/traders',
    });
    expect(Object(partitions).session).toEqual([
      { bucket: 'asia', definition: '00:00 to 08:00 UTC' },
      { bucket: 'europe', definition: '08:00 to 16:00 UTC' },
      { bucket: 'us', definition: '16:00 to 24:00 UTC' },
    ]);
    expect(Object(partitions).hour_of_day).toHaveLength(24);
  });

  test('the same p, q, labels and seed whatever is asked for', async () => {
    const ports = holding(standingWith(labelledAnalysis(TRADER), STILL_NOW));
    const { body: whole } = await said(ports);
    for (const mode of ['realization', 'exposure'] as const) {
      for (const partition of ['session', 'weekpart', 'hour_of_day'] as const) {
        const { body } = await said(ports, { mode, partition });
        expect(body['modes']).toEqual({
          [mode]: { [partition]: Object(whole['modes'])[mode][partition] },
        });
        const { modes: _, ...rest } = body;
        const { modes: __, ...of } = whole;
        expect(rest).toEqual(of);
      }
    }
    expect(whole['classification']).toMatchObject({ no_label: 'labelled' });
  });

  test('an address in any letter case', async () => {
    const { body } = await said(holding(QUIET), {}, evm('trader'));
    expect(body['address']).toBe(TRADER);
  });

  test('the analysis before, with its date, where a later attempt failed', async () => {
    const failed = { at: STILL_NOW - 60, reason: 'It did not answer.', outside: true };
    const { status, body } = await said(holding({ ...QUIET, failed }));
    expect(status).toBe(200);
    expect(body['age_s']).toBe(90);
    expect(body['caveats']).toContain(
      'A later attempt, at 2026-09-24T11:59:00.000Z, failed: It did not answer.',
    );
  });

  test('the analysis before, and why a later look made none', async () => {
    const unanalysable = { at: STILL_NOW - 60, because: 'no_fills', of: null } as const;
    const { status, body } = await said(holding({ ...QUIET, unanalysable }));
    expect([status, body['age_s']]).toEqual([200, 90]);
    expect(body['caveats']).toContain(
      `It was looked at again at 2026-09-24T11:59:00.000Z. ${UNABLE.no_fills}`,
    );
  });

  test('the same of made-up trades, and that they are made up, in each caveat', async () => {
    const real = await said(holding(QUIET));
    const simulated = standingWith({ ...quietAnalysis(TRADER), simulated: true }, STILL_NOW - 90);
    expect(await said(holding(simulated))).toEqual({
      status: 200,
      body: {
        ...real.body,
        simulated: true,
        caveats: (real.body['caveats'] as string[]).map(
          (one) => `Simulated: this answer rests on made-up data. ${one}`,
        ),
      },
    });
  });

  test.each([true, false])('the fields of the contract, simulated or not: %s', async (made_up) => {
    const analysis = { ...quietAnalysis(TRADER), simulated: made_up };
    const { body } = await said(holding(standingWith(analysis, STILL_NOW - 90)));
    expect(body).toMatchObject({
      address: TRADER,
      analysed: true,
      modes: expect.any(Object),
      partitions: expect.any(Object),
      classification: expect.any(Object),
      caveats: expect.arrayContaining([expect.any(String)]),
      age_s: 90,
    });
  });
});

describe('is silent', () => {
  test('of a made-up venue, and says that it is made up', async () => {
    const unanalysable = { at: STILL_NOW, because: 'no_account', of: null } as const;
    const made_up = memoryTraders({
      ...DATED,
      simulated: true,
      standingOf: () => ({ ...NEVER_ANALYSED, unanalysable }),
    });
    expect(await said(made_up)).toEqual({
      status: 404,
      body: {
        ...NOT_ANALYSED,
        detail: expect.stringMatching(/^Simulated: .* The venue was asked, and has no account/),
        engine_unreachable: false,
      },
    });
  });

  test('about an address that was never analysed, and says whether it is queued', async () => {
    expect(await said(holding(NEVER_ANALYSED))).toEqual({
      status: 404,
      body: {
        ...NOT_ANALYSED,
        detail: `This address was not analysed yet. ${QUEUED}`,
        engine_unreachable: false,
      },
    });
    const { body } = await said(holding(NEVER_ANALYSED, 'full'));
    expect(body['detail']).toContain('The queue is full');
    const unset = await said(holding(NEVER_ANALYSED, 'not_set_up'));
    expect(unset.body['detail']).toContain('EXHIBIT_HYPERLIQUID_URL');
  });

  test('where the venue did not answer, and where only a store did not', async () => {
    for (const outside of [true, false]) {
      const failed = { at: STILL_NOW, reason: 'It answered 429.', outside };
      expect(await said(holding({ ...NEVER_ANALYSED, failed }))).toEqual({
        status: 404,
        body: {
          ...NOT_ANALYSED,
          detail: `${FAILED} It answered 429. ${QUEUED}`,
          engine_unreachable: outside,
        },
      });
    }
  });

  test.each([
    ['no_account', null, UNABLE.no_account],
    ['no_fills', null, UNABLE.no_fills],
    ['agent', '0xabc', 'It is an agent wallet, which signs for 0xabc: ask about that account.'],
  ] as const)('about what was looked at and cannot be analysed: %s', async (because, of, text) => {
    const unanalysable = { at: STILL_NOW, because, of };
    const { status, body } = await said(holding({ ...NEVER_ANALYSED, unanalysable }, 'not_asked'));
    expect(status).toBe(404);
    expect(body['detail']).toBe(
      `${text} It was looked at within a day: ask after it to have it looked at again.`,
    );
    expect(body['engine_unreachable']).toBe(false);
  });

  test.each([
    ['agent', evm('account'), `href="/traders/${evm('account')}"`],
    ['no_fills', null, 'href="/methodology/traders"'],
  ] as const)('a person about %s, with a way on', async (because, of, link) => {
    const unanalysable = { at: STILL_NOW, because, of };
    const facts = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
    const ports = holding({ ...NEVER_ANALYSED, unanalysable }, 'not_asked');
    const input = { params: { address: TRADER }, query: {}, body: undefined };
    const answer = await traderPageHandler(ports, facts)(input, asked, NOBODY);
    if (answer instanceof Refusal) throw new Error('test: refused');
    expect(answer.body).toContain(`class="button" ${link}`);
  });

  test('where the analyses could not be read', async () => {
    const cause = why('store_unreadable', { what: 'The analyses of traders', fault: 'it is away' });
    expect(await said(silentTraders(cause))).toEqual({
      status: 503,
      body: { error: 'analyses_unreadable', detail: cause.reason },
    });
  });
});

describe('refuses', () => {
  test.each(['NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS', '0x12', `${TRADER}00`])(
    'an address of another form: %s',
    async (address) => {
      expect(await said(holding(QUIET), {}, address)).toEqual({
        status: 400,
        body: {
          error: 'invalid_address',
          detail:
            'Expected an account of the venue: 0x and 40 hex digits. Letter case does not matter.',
        },
      });
    },
  );
});
