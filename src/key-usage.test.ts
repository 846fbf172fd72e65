// What keys were used for, by day and route, as the answer and the settings tell it: never more
// than was charged, and never a zero where nothing was counted. Over a socket, on a real store.

import { describe, expect, test } from 'vitest';
import { embeddedControl } from './testing/control-store.ts';
import { MINE, START, serveMembers, THEIRS } from './testing/member-service.ts';

const DAY_S = 86_400;
const TODAY = '2026-09-21';
const fresh = embeddedControl();

type Day = {
  readonly day: string;
  readonly charged: number;
  readonly uses: readonly { readonly route: string; readonly requests: number }[] | null;
  readonly uncounted: number | null;
  readonly reason: string | null;
};

async function usageOf(served: Awaited<ReturnType<typeof serveMembers>>, key: string, query = '') {
  const headers = { authorization: `Bearer ${key}` };
  const { status, text } = await served.send('GET', `/api/v1/usage${query}`, headers);
  const body: unknown = JSON.parse(text);
  return { status, body, days: Object(body).days as readonly Day[] };
}

describe('says', () => {
  test('the charged requests by day, key and route, itself from the next question on', async () => {
    const served = await serveMembers(fresh, fetch);
    const browser = await served.browser();
    const first = await browser.key('Desk');
    const second = await browser.key('Script');
    const others = await (await served.browser(THEIRS)).key('Theirs');
    for (const { text } of [first, first, second, others]) await served.use(text);
    const before = await usageOf(served, first.text);
    expect(before.days).toMatchObject([{ day: TODAY, charged: 3, uncounted: 0 }]);
    const { status, body } = await usageOf(served, first.text);
    const use = (of: { readonly text: string }, name: string, route: string, requests: number) => ({
      key_id: expect.stringMatching(/^key_/),
      prefix: of.text.slice(0, 11),
      name,
      allowance: 'membership',
      route,
      requests,
    });
    expect([status, body]).toEqual([
      200,
      {
        membership_id: MINE,
        plan: 'analyst',
        daily_limit: 1_000,
        member_since: '2026-09-21T14:13:20.000Z',
        counted_since: '1970-01-01T00:00:00.000Z',
        from: TODAY,
        to: TODAY,
        days: [
          {
            day: TODAY,
            charged: 4,
            uses: expect.arrayContaining([
              use(first, 'Desk', 'probe', 2),
              use(first, 'Desk', 'usage', 1),
              use(second, 'Script', 'probe', 1),
            ]),
            uncounted: 0,
            reason: null,
          },
        ],
        caveat: expect.stringContaining('Only charged requests are counted'),
      },
    ]);
  });

  test('days apart, the newest first, and a day without a request as a zero that was counted', async () => {
    const served = await serveMembers(fresh, fetch);
    const key = await (await served.browser()).key('Desk');
    await served.use(key.text);
    served.later(2 * DAY_S);
    await served.use(key.text);
    const { days } = await usageOf(served, key.text);
    expect(days.map(({ day, charged, uncounted }) => [day, charged, uncounted])).toEqual([
      ['2026-09-23', 1, 0],
      ['2026-09-22', 0, 0],
      [TODAY, 1, 0],
    ]);
    expect(days[1]).toMatchObject({ uses: [], reason: null });
    const { days: one } = await usageOf(served, key.text, `?from=${TODAY}&to=${TODAY}`);
    expect(one.map(({ day }) => day)).toEqual([TODAY]);
  });

  test('what another version charged stands under no key, on the settings too', async () => {
    const served = await serveMembers(fresh, fetch);
    const browser = await served.browser();
    const key = await browser.key('Desk');
    const allowance = { subject: `membership:${MINE}`, period: TODAY, limit: 1_000 };
    for (let n = 0; n < 3; n += 1) await served.quota.charge(allowance);
    const unnamed = await browser.page();
    expect(unnamed).toContain('What keys were used for is unknown.');
    expect(unnamed).not.toContain('No use of a key');
    await served.use(key.text);
    const { days } = await usageOf(served, key.text);
    expect(days).toMatchObject([{ charged: 4, uncounted: 3, uses: [{ requests: 1 }] }]);
    expect(await browser.page()).toContain('3 stand under no key or route');
  });

  test('the settings tell each key, route and number, and nothing of other memberships', async () => {
    const served = await serveMembers(fresh, fetch);
    const browser = await served.browser();
    expect(await browser.page()).toContain('No use of a key is written down for these days.');
    const key = await browser.key('Desk');
    const others = await (await served.browser(THEIRS)).key('Theirs');
    for (const { text } of [key, key, others]) await served.use(text);
    const page = await browser.page();
    const section = page.slice(page.indexOf('Use by key and route'), page.indexOf('id="changes"'));
    expect(section).toContain(key.text.slice(0, 11));
    expect(section).toMatch(/<code>probe<\/code>.*>2</s);
    expect(section).not.toContain(others.text.slice(0, 11));
  });

  test('a key that leaked is told of above everything else, for thirty days', async () => {
    const served = await serveMembers(fresh, fetch);
    const browser = await served.browser();
    const key = await browser.key('Desk');
    const report = await served.send(
      'POST',
      '/api/v1/keys/leaked',
      { 'content-type': 'application/json' },
      JSON.stringify({ key: key.text }),
    );
    expect(report.status).toBe(202);
    await served.leaks.settle();
    const page = await browser.page();
    expect(page).toContain('A key of yours leaked and was ended.');
    expect(page).toContain('Key ended: it was reported as leaked');
    expect(await (await served.browser(THEIRS)).page()).not.toContain('leaked');
    served.later(31 * DAY_S);
    expect(await (await served.browser()).page()).not.toContain('A key of yours leaked');
  });
});

describe('is silent', () => {
  test('a day before the counting began has no uses, and no zero', async () => {
    const served = await serveMembers(fresh, fetch);
    const browser = await served.browser();
    const key = await browser.key('Desk');
    await served.use(key.text);
    served.later(2 * DAY_S);
    const since = START + DAY_S;
    await served.store.query('update usage_counting set since = to_timestamp($1)', [since]);
    const { body, days } = await usageOf(served, key.text);
    expect(Object(body).counted_since).toBe('2026-09-22T14:13:20.000Z');
    expect(days.at(-1)).toEqual({
      day: TODAY,
      charged: 1,
      uses: null,
      uncounted: null,
      reason: 'Requests of this day were charged before they were counted by key and route.',
    });
    // The session of two days ago is idle by now.
    const page = await (await served.browser()).page();
    expect(page).toContain('Of some days they are unknown');
  });
});

describe('refuses', () => {
  test('without a key, and days that are none, too many or the wrong way round', async () => {
    const served = await serveMembers(fresh, fetch);
    const key = await (await served.browser()).key('Desk');
    expect((await served.send('GET', '/api/v1/usage')).status).toBe(402);
    for (const query of [
      '?from=2026-02-30',
      '?from=2026-09-21&to=2026-09-20',
      '?from=2026-08-01&to=2026-09-21',
      '?days=3',
    ]) {
      expect([query, (await usageOf(served, key.text, query)).status]).toEqual([query, 400]);
    }
  });
});
