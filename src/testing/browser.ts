// Checks a page in a real browser: its policy, its hosts, its width, its contrast.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { MS_PER_S } from '../chain/time.ts';

/** The browser of this machine; `undefined` where there is none. The first takes the least time. */
export const CHROMIUM = ['chromium-headless-shell', 'chromium', 'chromium-browser']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));
/** Why nothing is looked at, or `null`. */
export const NO_BROWSER =
  CHROMIUM === undefined ? 'skipped: no browser (install chromium-headless-shell)' : null;
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'];

/** Starts it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: String(CHROMIUM), args: ARGS });
}

const PHONE_WIDTH = 390;
/** Light and dark, on a desk and on a phone. */
const VIEWS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1200, PHONE_WIDTH].map((width) => ({ colorScheme, width })),
);

/** Where screenshots are kept for whoever looks at them; unset, none is made. */
export const SHOTS = process.env['EXHIBIT_TEST_SHOTS'];
const NAME_CHARS_MAX = 60;

type StorageState = NonNullable<BrowserContextOptions['storageState']>;
type Looked = {
  readonly base: string;
  readonly path: string;
  /** What its screenshots are called; absent: as its path. */
  readonly shots?: string;
  readonly storageState?: StorageState;
  /** How tall it may be on a phone, in pixels; absent: as tall as it is. */
  readonly tallMax?: number;
};

/** How often a page is opened at most, of which an overloaded service refuses a part. */
const OPENINGS_MAX = 20;
const TOLD_WITHIN_MS = 200;

/** After how many seconds an overloaded service wants to be asked again; `null`: it is not. */
function comesAgainAfter(response: Response | null): number | null {
  const after = response?.status() === 503 ? response.headers()['retry-after'] : undefined;
  return after === undefined ? null : Number(after);
}

/** Opens again as Retry-After says, while `open` gives after how many seconds to come again. */
async function untilRoom(what: string, open: () => Promise<number | null>): Promise<void> {
  for (let opened = 1; opened <= OPENINGS_MAX; opened += 1) {
    const afterS = await open();
    if (afterS === null) return;
    await wait(afterS * MS_PER_S);
  }
  throw new Error(`${what}: the service stayed overloaded`);
}

/** Opens a page, again while the service is overloaded. */
export async function openPatiently(page: Page, url: string): Promise<void> {
  await untilRoom(url, async () => comesAgainAfter(await page.goto(url)));
}

/** Looks at a page, and anew where an overloaded service refused the page or a part of it. */
export async function lookAt(browser: Browser, looked: Looked): Promise<void> {
  await untilRoom(looked.path, () => lookOnce(browser, looked));
}

/**
 * Opens a page of the simulated world once and holds it against what every page promises, in light
 * and dark, on a desk and on a phone: colours and widths follow a change as they follow a load.
 * Where an overloaded service refused something, it is after how many seconds to look anew.
 */
async function lookOnce(browser: Browser, looked: Looked): Promise<number | null> {
  const page = await freshPage(browser, looked.storageState);
  let afterS: number | null = null;
  page.on('response', (response) => {
    afterS ??= comesAgainAfter(response);
  });
  try {
    await holdPage(page, looked, () => afterS !== null);
  } catch (fault) {
    // The console may tell of a response before the driver does.
    await wait(TOLD_WITHIN_MS);
    if (afterS === null) throw fault;
  }
  return afterS;
}

async function holdPage(
  page: Page,
  { base, path, shots = path, tallMax = Number.POSITIVE_INFINITY }: Looked,
  isRefused: () => boolean,
): Promise<void> {
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (fault) => complaints.push(String(fault)));
  page.on('request', (asked) => {
    if (asked.url().startsWith('http')) hosts.add(new URL(asked.url()).origin);
  });
  const weighed: Response[] = [];
  page.on('response', (response) => {
    // A stream has no end to wait for.
    if (WEIGHED.has(response.request().resourceType())) weighed.push(response);
  });
  await page.goto(base + path);
  if (isRefused()) return;
  const bodies = await Promise.all(weighed.map((response) => response.body()));
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  expect(bytes, `${path} weighs`).toBeLessThan(PAGE_BYTES_MAX);
  await page.evaluate(AXE);
  for (const { colorScheme, width } of VIEWS) {
    const view = `${path}, ${colorScheme}, ${width} wide`;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    expect(await page.locator('h1').isVisible(), view).toBe(true);
    const banner = page.getByText('Everything served here is made up');
    expect(await banner.isVisible(), view).toBe(true);
    if (SHOTS !== undefined) {
      const name = shots.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, NAME_CHARS_MAX);
      // The link that was focused by the last view is drawn over the page.
      await page.evaluate('document.activeElement.blur()');
      const file = join(SHOTS, `${name}-${colorScheme}-${width}.png`);
      await page.screenshot({ path: file, fullPage: true });
    }
    const seen = viewSeen.parse(await page.evaluate(SEEN));
    expect(seen.fits, `${view}: nothing overflows`).toBe(true);
    if (width === PHONE_WIDTH) expect(seen.tall, `${view}: tall`).toBeLessThanOrEqual(tallMax);
    expect(contrastOf(seen.ink, seen.paper), view).toBeGreaterThan(4.5);
    await page.evaluate(FOCUS_START);
    await page.keyboard.press('Tab');
    const focused = 'document.activeElement.textContent.trim()';
    expect(await page.evaluate(focused), view).toBe('Skip to the content');
    if (isChecked(colorScheme, width)) {
      expect(await page.evaluate(FOUND), `${view}: what axe finds`).toEqual([]);
    }
  }
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual([base]);
}

const NOBODY: StorageState = { cookies: [], origins: [] };
const looking = new WeakMap<Browser, Promise<Page>>();

/**
 * The page of this browser that looks, as if it had just been opened: a window for each look costs
 * more than the look.
 */
async function freshPage(browser: Browser, state: StorageState = NOBODY): Promise<Page> {
  const known = looking.get(browser);
  const opened = known === undefined ? openPage(browser) : known;
  looking.set(browser, opened);
  const page = await opened;
  await page.goto('about:blank');
  page.removeAllListeners('console');
  page.removeAllListeners('pageerror');
  page.removeAllListeners('request');
  page.removeAllListeners('response');
  await page.context().setStorageState(state);
  return page;
}

async function openPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  // What weighs on a first visit weighs on each.
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  return page;
}

/** Whether the page is as wide as its window at most, its height, and the colours of its text. */
const SEEN = `({
  fits: document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  tall: document.documentElement.scrollHeight,
  ink: getComputedStyle(document.body).color,
  paper: getComputedStyle(document.body).backgroundColor,
})`;
const viewSeen = z.object({
  fits: z.boolean(),
  tall: z.number(),
  ink: z.string(),
  paper: z.string(),
});

/** Has the next Tab go to the first link, as it does after a load. */
const FOCUS_START = `
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');`;

/** A page weighs less, with its sheet and its scripts: a phone loads it at once. */
const PAGE_BYTES_MAX = 100 * 1024;
const WEIGHED: ReadonlySet<string> = new Set(['document', 'stylesheet', 'script']);

/** The checker's own text: the driver runs it, past a policy that admits our own scripts alone. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FOUND = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`;

// Colours follow the scheme and places the width: each of both is checked once.
function isChecked(colorScheme: 'light' | 'dark', width: number): boolean {
  return (colorScheme === 'light') === width > PHONE_WIDTH;
}

/** The contrast of two colours as WCAG 2.2 defines it. */
function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const [r = 0, g = 0, b = 0] = [...colour.matchAll(/[\d.]+/g)].map(([part]) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
