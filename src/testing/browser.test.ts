// A page of which an overloaded service refuses a part is looked at anew, and no other complaint of
// the browser is passed over.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, lookAt, NO_BROWSER, openPatiently } from './browser.ts';

const PAGE = `<!doctype html><html lang="en"><head><title>A page</title>
  <meta name="viewport" content="width=device-width"><script src="/script.js"></script></head>
  <body style="color: #000; background: #fff"><header>
  <a href="#content">Skip to the content</a><p>Everything served here is made up</p></header>
  <main id="content"><h1>A page</h1></main></body></html>`;

type Refusal = { readonly 'retry-after'?: string };

/** Serves a page whose script, or the page itself, is refused by 503 before it is served. */
async function serve(refused: '/' | '/script.js', refusals: readonly Refusal[]) {
  const left = [...refusals];
  let pages = 0;
  const server = createServer(({ url }, response) => {
    if (url === '/') pages += 1;
    const refusal = url === refused ? left.shift() : undefined;
    if (refusal !== undefined) response.writeHead(503, { ...refusal }).end('busy');
    else if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    else response.writeHead(200, { 'content-type': 'text/javascript' }).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}`, pages: () => pages };
}

describe.skipIf(NO_BROWSER !== null)(`a look ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  const OVERLOADED = { 'retry-after': '0' };

  test.each(['/', '/script.js'] as const)('is made anew where %s comes later', async (refused) => {
    const { base, pages } = await serve(refused, [OVERLOADED, OVERLOADED]);
    await lookAt(browser, { base, path: '/' });
    expect(pages()).toBe(3);
  });

  test.each(['/', '/script.js'] as const)('fails where %s is refused for good', async (refused) => {
    const forGood = await serve(refused, [{}]);
    await expect(lookAt(browser, { base: forGood.base, path: '/' })).rejects.toThrow();
    expect(forGood.pages()).toBe(1);
    const { base } = await serve(refused, Array(100).fill(OVERLOADED));
    await expect(lookAt(browser, { base, path: '/' })).rejects.toThrow('stayed overloaded');
  });

  test('of a page that comes later opens it', async () => {
    const { base, pages } = await serve('/', [OVERLOADED]);
    const page = await browser.newPage();
    await openPatiently(page, base);
    expect(await page.locator('h1').textContent()).toBe('A page');
    expect(pages()).toBe(2);
    const lost = await serve('/', Array(100).fill(OVERLOADED));
    await expect(openPatiently(page, lost.base)).rejects.toThrow('stayed overloaded');
    await page.close();
  });
});
