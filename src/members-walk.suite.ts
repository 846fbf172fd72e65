// Does a person get from a purchase to a key that is used and revoked, in a real browser? With the
// payment platform's stand-in, and without JavaScript; then each page of it in light and dark, on a
// desk and on a phone.

import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, lookAt, NO_BROWSER, openPatiently } from './testing/browser.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { deliveryHeaders, membershipEvent } from './testing/payment-platform.ts';
import { type Simulated, startProgram } from './testing/program.ts';
import { trialsOf } from './testing/trials.ts';
import { SANDBOX_SCORED } from './world/account-state.ts';
import { SANDBOX_WALLETS } from './world/chain-data.ts';
import { SANDBOX_PARTY, WORLD_SEED } from './world/listed-parties.ts';
import { inventAddress } from './world/made-up-address.ts';

const SECRET = 'ws_a1b2c3d4e5f6a7b8';
/** The settings of the service under test. */
export const OF_MEMBERS = {
  EXHIBIT_PAYMENT_WEBHOOK_SECRET: SECRET,
  EXHIBIT_PLANS: 'plan_desk:desk',
};
const CODE = 'EX-5KQ2HT-9WNB7RLD-4XPM6CW';
const ID = 'mem_Qx7Lk2Vw9TzB4n';
const LISTED = String(SANDBOX_PARTY.addresses[0]?.address);

/** Nothing is known of one, one is a hub, and the pages of the others are the tallest. */
const TALLEST = [
  SANDBOX_SCORED.scored,
  SANDBOX_SCORED.flagged,
  SANDBOX_WALLETS.bridged,
  inventAddress(WORLD_SEED, 'evm', 'world wallet 126'),
];
/** EXHIBIT_TEST_EVERY_DOSSIER=1: all that the guide names too. */
const ADDRESSES = [
  ...TALLEST,
  ...(trialsOf('EXHIBIT_TEST_EVERY_DOSSIER', 0, 1) === 0
    ? [SANDBOX_WALLETS.unused, SANDBOX_WALLETS.hub]
    : namedInGuide()),
];
/** A dossier is so tall at most on a phone, in pixels. */
const TALL_MAX = 6_000;
/** The page of the state has a block for each source. */
const STATUS_TALL_MAX = 5_400;

/** The addresses that the guide of the simulated world names. */
function namedInGuide(): readonly string[] {
  const guide = readFileSync(new URL('../docs/guides/simulated-world.md', import.meta.url), 'utf8');
  const [, rows] = guide.split('## Addresses for each answer');
  const named = [...String(rows).matchAll(/`([0-9A-Za-z]{26,100})`/g)].map(([, text]) => text);
  return [...new Set(named.map(String))];
}

/** A member does in a browser what a member can do. */
export function memberGetsAlong(started: () => Simulated): void {
  const who = `a member ${NO_BROWSER ?? 'in Chromium'}`;
  describe.skipIf(NO_BROWSER !== null)(who, () => {
    let base = '';
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;

    beforeAll(async () => {
      base = started().base_url;
      browser = await launchBrowser();
      // Everything is done by forms of HTML: no page needs a script.
      context = await browser.newContext({ javaScriptEnabled: false });
      page = await context.newPage();
    });
    afterAll(async () => {
      await browser.close();
    });

    /** How many requests the chart shows for today, by its table and by its picture. */
    async function chartOfToday(): Promise<{ table: string; bar: string }> {
      await openPatiently(page, `${base}/settings`);
      const today = new Date().toISOString().slice(0, 10);
      const row = page.locator('figure tr', { hasText: today });
      const bar = page.locator(`rect[data-day="${today}"] title`);
      return {
        table: String(await row.locator('td').last().textContent()),
        bar: String(await bar.textContent()).replace(`${today}: `, ''),
      };
    }

    const ask = (key: string) =>
      fetchPatiently(`${base}/api/v1/wallet/${LISTED}/ofac`, {
        headers: { authorization: `Bearer ${key}` },
      });

    test('goes from a purchase to a key, its use, its end and a 402', async () => {
      const at = Math.floor(Date.now() / 1_000);
      const body = membershipEvent({ at, id: ID, license_key: CODE });
      const signed = deliveryHeaders([SECRET], 'msg_walk', at, body);
      const headers = { 'content-type': 'application/json', ...signed };
      const sent = await fetchPatiently(`${base}/webhooks/payments`, {
        method: 'POST',
        headers,
        body,
      });
      expect([sent.status, await sent.json()]).toEqual([
        200,
        { received: true, outcome: 'applied' },
      ]);

      await openPatiently(page, `${base}/settings`);
      expect(await page.locator('h1').textContent()).toBe('Not signed in');
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('Membership id').fill(ID);
      await page.getByLabel('Code').fill(CODE);
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(new URL(page.url()).pathname).toBe('/settings');
      expect(await page.locator('main').textContent()).toContain('Desk');
      expect(await chartOfToday()).toEqual({ table: '0', bar: '0' });

      await page.getByLabel(/^Name of a new key/).fill('Walked');
      await page.getByRole('button', { name: 'Create a key' }).click();
      const key = String(await page.locator('pre.secret').textContent()).trim();
      expect(key).toMatch(/^sc_[0-9A-Za-z]{49}$/);

      for (let i = 0; i < 3; i += 1) expect((await ask(key)).status).toBe(200);
      expect(await chartOfToday()).toEqual({ table: '3', bar: '3' });
      expect(await page.content()).not.toContain(key);

      const listed = page.locator('.keys li', { hasText: 'Walked' });
      await listed.getByText('Revoke', { exact: true }).click();
      await listed.getByRole('button', { name: 'Revoke Walked' }).click();
      expect(await page.getByRole('status').textContent()).toContain('revoked');
      const refused = await ask(key);
      expect([refused.status, Object(await refused.json()).reason]).toEqual([
        402,
        'unknown_membership',
      ]);
    });

    test('is told by the start how to open the settings of the demo membership, once', async () => {
      const [link = ''] = /http\S+\/activate\?link=\S+/.exec(started().program.out()) ?? [];
      const other = await browser.newContext();
      const demo = await other.newPage();
      await openPatiently(demo, link);
      await demo.getByRole('button', { name: 'Sign in' }).click();
      expect(await demo.locator('main').textContent()).toContain('mem_simulated_demo');
      await openPatiently(demo, link);
      await demo.getByRole('button', { name: 'Sign in' }).click();
      expect(await demo.getByRole('alert').textContent()).toContain('does not open');
      await other.close();
    });

    test('sees where it is signed in, and ends a browser that it does not know', async () => {
      const mint = startProgram(['members', 'link', ID], { cwd: started().cwd, env: {} });
      await mint.ended;
      const [path = ''] = /\/activate\?link=[\w.-]+/.exec(mint.out()) ?? [];
      const other = await browser.newContext({ javaScriptEnabled: false });
      const unknown = await other.newPage();
      await openPatiently(unknown, base + path);
      await unknown.getByRole('button', { name: 'Sign in' }).click();
      expect(await unknown.locator('h1').textContent()).toBe('Settings');
      await openPatiently(page, `${base}/settings`);
      await page.getByRole('link', { name: 'Where you are signed in' }).click();
      expect(await page.locator('tbody tr').count()).toBe(2);
      await page.getByRole('button', { name: 'End all others' }).click();
      expect(await page.locator('tbody tr').allTextContents()).toEqual([
        expect.stringMatching(/^Chrome on Linux \(this one\)127\.0\.0\.\*/),
      ]);
      await unknown.reload();
      expect(await unknown.locator('h1').textContent()).toBe('Not signed in');
      await other.close();
    });

    // In the simulated world, signed-out visitors see every part read.
    test.each(ADDRESSES)(
      'the dossier of %s, in light and dark, wide and narrow',
      async (address) => {
        await lookAt(browser, { base, path: `/address/${address}`, tallMax: TALL_MAX });
      },
    );

    test('records and watches an address from its page, and the record fits a phone', async () => {
      for (const [name, at] of [
        ['Watch this', '/watchlist'],
        ['Record this', '/screens/scr_'],
      ] as const) {
        await openPatiently(page, `${base}/address/${LISTED}`);
        await page.getByRole('button', { name }).click();
        expect(new URL(page.url()).pathname).toMatch(new RegExp(`^${at}`));
        const told = String(await page.locator('main').textContent());
        expect(told.toLowerCase()).toContain(LISTED.toLowerCase());
      }
      const storageState = await context.storageState();
      await lookAt(browser, { base, path: new URL(page.url()).pathname, storageState });
    });

    test('connects a chat, is told by a test that it arrives, and removes another one', async () => {
      await openPatiently(page, `${base}/settings`);
      await page.getByRole('link', { name: 'Where you are told of what happens' }).click();
      expect(await page.locator('main').textContent()).toContain('You have connected no chat.');
      for (const platform of ['Discord', 'Telegram'] as const) {
        const way = page.locator('details', { hasText: `${platform}, by a` }).last();
        await way.locator('summary').click();
        if (platform === 'Discord') {
          await way.getByLabel(/^Webhook id/).fill('123456789012345678');
          await way.getByLabel(/^Webhook token/).fill('d'.repeat(68));
          await way.getByLabel('solana').check();
        } else {
          await way.getByLabel('Bot token').fill(`123456789:${'t'.repeat(35)}`);
          await way.getByLabel(/^Chat: its number/).fill('-123456');
        }
        await way.getByRole('button', { name: `Connect ${platform}` }).click();
        expect(await page.getByRole('status').textContent()).toContain('is connected');
      }
      await page.getByRole('button', { name: 'Test Discord' }).click();
      expect(await page.getByRole('status').textContent()).toContain('took the test');
      const telegram = page.locator('.keys li', { hasText: 'Telegram' });
      await telegram.getByText('Remove', { exact: true }).click();
      await telegram.getByRole('button', { name: /^Remove/ }).click();
      expect(await page.getByRole('status').textContent()).toContain('is removed');
      const listed = await page.locator('.keys li').allTextContents();
      expect(listed).toEqual([expect.stringContaining('on solana')]);
    });

    test('the page of the state, in light and dark, on a desk and on a phone', async () => {
      await lookAt(browser, { base, path: '/status', tallMax: STATUS_TALL_MAX });
    });

    const settings = ['/settings', '/settings/integrations', '/settings/sessions'];
    const paths = [...settings, '/watchlist', '/screens', '/activate', '/pricing'];
    test.each(paths)('%s, in light and dark, on a desk and on a phone', async (path) => {
      await openPatiently(page, `${base}/settings`);
      expect(await page.locator('h1').textContent()).toBe('Settings');
      const storageState = await context.storageState();
      await lookAt(browser, { base, path, storageState });
    });
  });
}
