// A service on which the list alone is set up. Whatever may be read answers, whoever asks: what was
// never set up is no outage, HEAD is the head of GET, long texts are compressed, and numbers are
// digits. Each declared route and page is asked, those of features that come later too.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isPage } from './contract/reply.ts';
import { DETECTOR_KINDS } from './ports/emitted-calls.ts';
import { evm } from './testing/addresses.ts';
import {
  type Credentials,
  credentialsOf,
  pathOf,
  READ_ROUTES,
  type ReadRoute,
  requestPathOf,
  SERVES_EVERY_ROUTE,
} from './testing/every-route.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { coercedFieldsOf } from './transport/answer.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const COMPRESSED_MIN = 1_024;
const SOLANA = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';
/** Its document has it say by 503 that nothing scored. */
const SAID_BY_503 = ['rugs_leaderboard'];
/** Accounts of one venue, of which each is an EVM address. */
const OF_EVM_ALONE = ['trader_temporal', 'trader_page'];
const CHARGED = ['analyst', 'desk', 'enterprise', 'partner'];

let live: LiveProgram;
let credentials: Credentials;
beforeAll(async () => {
  live = await startLive({
    words: ['up'],
    listed: [evm('listed')],
    explorer: null,
    settings: SERVES_EVERY_ROUTE,
  });
  credentials = await credentialsOf(live);
});
afterAll(() => live.close());

type Init = { readonly method?: string; readonly headers?: { readonly [name: string]: string } };

function ask({ access }: ReadRoute, path: string, init: Init = {}): Promise<Response> {
  const headers = { ...credentials[access], 'accept-encoding': 'identity', ...init.headers };
  return fetchPatiently(live.base() + path, { ...init, headers, redirect: 'manual' });
}

const HEAD = ['content-type', 'cache-control', 'vary', 'access-control-allow-origin'];
const headOf = ({ status, headers }: Response) => [status, ...HEAD.map((one) => headers.get(one))];

describe.each(READ_ROUTES.map((route) => [route.name, route] as const))('%s', (name, route) => {
  test('answers, and HEAD has the same head', async () => {
    const got = await ask(route, requestPathOf(route));
    const text = await got.text();
    const isFine = got.status < 500 || SAID_BY_503.includes(name);
    expect([text, isFine]).toEqual([text, true]);
    const asked = await ask(route, requestPathOf(route), { method: 'HEAD' });
    expect([...headOf(asked), await asked.text()]).toEqual([...headOf(got), '']);
    const { access } = route;
    const isOpened = access === 'open' && !isPage(route);
    expect(got.headers.get('access-control-allow-origin')).toBe(isOpened ? '*' : null);
    const reset = CHARGED.includes(access) ? expect.stringMatching(/^[1-9]\d*$/) : null;
    expect(got.headers.get('x-ratelimit-reset')).toEqual(reset);
  });

  test('is compressed where it is long and the client takes it', async () => {
    const plain = await ask(route, requestPathOf(route));
    const type = String(plain.headers.get('content-type'));
    const isLong = (await plain.arrayBuffer()).byteLength >= COMPRESSED_MIN;
    const isText = /^text\/|json|xml|svg/.test(type);
    // The page of a session holds the token of its forms.
    const isOwn = plain.headers.get('vary')?.includes('Cookie') === true;
    const packed = await ask(route, requestPathOf(route), {
      headers: { 'accept-encoding': 'gzip' },
    });
    await packed.arrayBuffer();
    const encoding = isLong && isText && !isOwn ? 'gzip' : null;
    expect([type, packed.headers.get('content-encoding')]).toEqual([type, encoding]);
  });
});

const NO_NUMBERS = ['0x1', '1e1', ' 1', '1.0', '+1', '01', '-1'];
const NUMBERED = READ_ROUTES.flatMap((route) => [
  ...[...coercedFieldsOf(route.query)].map((field) => ({ route, field, isOfPath: false })),
  ...[...coercedFieldsOf(route.params)].map((field) => ({ route, field, isOfPath: true })),
]);

test('each number of a path or a query is digits alone', async () => {
  expect(new Set(NUMBERED.map(({ isOfPath }) => isOfPath)).size).toBe(2);
  for (const { route, field, isOfPath } of NUMBERED) {
    for (const text of NO_NUMBERS) {
      const given = `?${new URLSearchParams({ [field]: text })}`;
      const path = isOfPath ? pathOf(route, { [field]: text }) : pathOf(route) + given;
      const { status } = await ask(route, path);
      expect([route.name, field, text, status]).toEqual([route.name, field, text, 400]);
    }
  }
});

test.each([SOLANA.slice(0, 31), SOLANA + SOLANA.slice(0, 20)])(
  'base58 that is no key is told as what it may be, on every route about an address: %s',
  async (text) => {
    const named = READ_ROUTES.filter(({ name, path }) => {
      return path.includes('{address}') && !OF_EVM_ALONE.includes(name);
    });
    const paths = named.map((route) => [route, pathOf(route, { address: text })] as const);
    const feed = READ_ROUTES.filter(({ name }) => name === 'signals_feed');
    const queried = feed.map((route) => [route, `${pathOf(route)}?target=${text}`] as const);
    expect([paths.length > 8, queried.length]).toEqual([true, 1]);
    for (const [route, path] of [...paths, ...queried]) {
      const said = await (await ask(route, path)).text();
      expect([route.name, said]).toEqual([
        route.name,
        expect.stringMatching(/letter case|letter in wrong case/),
      ]);
    }
  },
);

describe('of the edge nothing is on record, and no day was looked at', () => {
  const told = async (path: string) => {
    const answer = await fetchPatiently(live.base() + path);
    return [answer.status, await answer.json()];
  };
  const nothing = { as_of: null, data_mode: 'empty' };
  const unmeasured = {
    n: 0,
    closed: 0,
    open: 0,
    unpriced: 0,
    hit_rate: null,
    interval: null,
    mean_return_bps: null,
    median_return_bps: null,
  };

  test('a backtest measures nothing', async () => {
    expect(await told('/edge/backtest.json')).toEqual([
      200,
      expect.objectContaining({
        ...unmeasured,
        ...nothing,
        sharpe: null,
        sharpe_n: 0,
        max_drawdown: null,
        equity: [],
        biased: false,
        counted: null,
        by_kind: Object.fromEntries(
          DETECTOR_KINDS.map((kind) => [kind, expect.objectContaining(unmeasured)]),
        ),
      }),
    ]);
  });

  test('no filter is listed', async () => {
    expect(await told('/edge/backtest.json?list=filters')).toEqual([
      200,
      expect.objectContaining({ ...nothing, filters: [], count: 0 }),
    ]);
  });

  test('no date has a call', async () => {
    expect(await told('/edge/replay.json')).toEqual([
      200,
      expect.objectContaining({ ...nothing, dates: [] }),
    ]);
  });

  test.each([
    ['today', false],
    ['2026-01-05', true],
  ])('a day without a producer was not checked: %s', async (day, complete) => {
    const date = day === 'today' ? new Date().toISOString().slice(0, 10) : day;
    expect(await told(`/edge/replay.json?date=${date}`)).toEqual([
      200,
      expect.objectContaining({
        ...nothing,
        calls: [],
        count: 0,
        checked: false,
        complete,
        ran: { funding: false, liq: false, netflow: false, whale: false },
      }),
    ]);
  });

  test('each version is a hypothesis', async () => {
    const hypothesis = {
      closed: 0,
      hits: 0,
      hit_rate: null,
      interval: null,
      effective_n: 0,
      decay: 'unknown',
      deprecation: 'hypothesis',
      posterior: null,
      weight: null,
    };
    const [status, performance] = await told('/edge/performance.json');
    expect([status, performance]).toEqual([200, expect.objectContaining(nothing)]);
    for (const kind of DETECTOR_KINDS) {
      const rows = Object(performance).kinds[kind];
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toMatchObject(hypothesis);
    }
  });

  test('no pair has a rank', async () => {
    expect(await told('/api/ml-rank?pair=BTC-USD')).toEqual([
      404,
      { error: 'Nothing was emitted for this pair. That is a fact about the record of calls.' },
    ]);
  });

  test('a rule parses without a record', async () => {
    expect(await told('/edge/rules.json?rule=kind%20%3D%20liq')).toEqual([
      200,
      expect.objectContaining({ ok: true, rule: 'kind = liq' }),
    ]);
  });

  test('the page says so of no market', async () => {
    const page = await (await fetchPatiently(`${live.base()}/edge`)).text();
    expect(page).toContain('No call is on record here. That says nothing about any market.');
    expect(page).not.toContain('class="plot"');
  });
});
