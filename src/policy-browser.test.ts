// A browser decides by a policy of its reader under the policy of every page: what is typed stays
// there, and the service is asked for answers alone.

import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { evaluatePolicy, parsePolicy } from './client/policy.ts';
import { LINKS, webDocuments } from './compose/documents.ts';
import { CONTRACTS } from './compose/list.ts';
import { launchBrowser, lookAt, NO_BROWSER, SHOTS } from './testing/browser.ts';
import { createTestHttp } from './testing/http-server.ts';
import { TEST_SERVICE } from './testing/service.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ADDRESS = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const KEY = 'sc_of_a_reader';

const screen = (listed: boolean, isRead: boolean) => ({
  state: 'ok',
  subject: 'bulk',
  simulated: false,
  data: {
    results: [
      {
        address: ADDRESS,
        sanctions: { listed },
        equivalent_forms: [],
        checked: { sanctions_list: isRead },
      },
    ],
  },
});

describe.skipIf(NO_BROWSER !== null)(`a policy ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let base = '';
  let browser: Browser;
  const app = createTestHttp({
    mounted: webDocuments({
      routes: CONTRACTS,
      facts: { simulated: true, version: '0.0.0', links: LINKS, explorers: new Map() },
      given: {
        service: TEST_SERVICE,
        members: { plans: [], signIn: {}, settings: {} },
        chats: {},
      },
      sources: [],
      base: () => base,
    }),
    refusalPage: () => '',
    sessions: { authenticate: async () => ({ outcome: 'none', reason: 'Nobody.' }) },
    now: () => 1_780_000_000,
  });
  beforeAll(async () => {
    base = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  test('looks as every page does, in light and dark, on a desk and on a phone', async () => {
    await lookAt(browser, { base, path: '/policy' });
  });

  test.each([
    { what: 'allow', answer: screen(false, true) },
    { what: 'hold', answer: screen(true, true) },
    { what: 'could_not_check', answer: screen(false, false) },
  ])('is decided as the client decides: $what', async ({ what, answer }) => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    const asked: string[] = [];
    page.on('request', (request) => {
      const key = request.headers()['authorization'];
      if (request.resourceType() === 'fetch') {
        asked.push(`${request.method()} ${request.url()} ${key} ${request.postData()}`);
      }
    });
    await page.route('**/api/v1/bulk/wallet-screen', (route) => route.fulfill({ json: answer }));
    await page.goto(`${base}/policy`);
    await page.getByRole('textbox', { name: 'Address' }).fill(ADDRESS);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.locator(`#decided[data-decision="${what}"]`).waitFor();
    const policy = await page.locator('#policy').inputValue();
    const parsed = parsePolicy(new TextEncoder().encode(policy));
    if (!parsed.ok) throw new Error('the page begins with no policy');
    const own: unknown = JSON.parse(String(await page.locator('#as-json').textContent()));
    expect(own).toEqual(await evaluatePolicy(parsed.policy, { screen: answer }));
    // Nothing of the policy leaves the browser, and nothing but the answer is asked for.
    const body = JSON.stringify({ addresses: [ADDRESS] });
    expect(asked).toEqual([`POST ${base}/api/v1/bulk/wallet-screen Bearer ${KEY} ${body}`]);
    if (SHOTS !== undefined) {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [1200, 390]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          const path = `${SHOTS}/policy-${what}-${colorScheme}-${width}.png`;
          await page.screenshot({ path, fullPage: true });
        }
      }
    }
    await page.close();
  });

  test('is decided over pasted answers without a request, and says why it is none', async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    await page.goto(`${base}/policy`);
    page.on('request', (request) => void asked.push(request.url()));
    await page.locator('summary', { hasText: 'answers that you saved' }).click();
    await page.locator('#answers').fill(JSON.stringify({ screen: screen(true, false) }));
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.locator('#decided[data-decision="hold"]').waitFor();
    await page.locator('#answers').fill('{');
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText(/^Could not decide\. /).waitFor();
    expect(await page.locator('#decided').isVisible()).toBe(false);
    await page.locator('#policy').fill(policyWith('screen.sanctoned = true'));
    await page.getByText(/line 1, column 1: There is no field screen\.sanctoned/).waitFor();
    await page.locator('#policy').fill(policyWith('clause.listed = true'));
    await page.getByText(/in a loop: listed → listed/).waitFor();
    expect(asked).toEqual([]);
    expect(await page.getByText('This page needs JavaScript').isVisible()).toBe(false);
    await page.close();
  });

  function policyWith(rule: string): string {
    const file = new URL('../examples/policies/payouts.json', import.meta.url);
    return readFileSync(file, 'utf8').replace(/"rule": "[^"]*"/, `"rule": ${JSON.stringify(rule)}`);
  }

  test('a refused request decides nothing and says so', async () => {
    const page = await browser.newPage();
    await page.route('**/api/v1/bulk/wallet-screen', (route) =>
      route.fulfill({ status: 402, json: { error: 'The key is unknown.' } }),
    );
    await page.goto(`${base}/policy`);
    await page.getByRole('textbox', { name: 'Address' }).fill(ADDRESS);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('Could not decide. screen: 402, The key is unknown.').waitFor();
    expect(await page.locator('#decided').isVisible()).toBe(false);
    await page.close();
  });

  test('without a script the page says what it needs, and sends nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${base}/policy`);
    expect(await page.getByText('This page needs JavaScript').isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Decide' }).isDisabled()).toBe(true);
    await page.getByLabel('API key').fill(KEY);
    await page.getByLabel('API key').press('Enter');
    expect(page.url()).toBe(`${base}/policy`);
    await context.close();
  });
});
