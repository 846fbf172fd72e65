// The pages hold in a real browser: nothing is refused by our own policy, nothing is asked of
// another host, nothing overflows, in light and dark, on a desk and on a phone.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, test, vi } from 'vitest';
import { LINKS, webDocuments } from './compose/documents.ts';
import type { DatedSource } from './compose/freshness.ts';
import { CONTRACTS } from './compose/list.ts';
import { bridgeRegistryOf } from './features/bridges/feature.ts';
import type { CommittedRecord } from './ports/deployers.ts';
import type { Launch, LaunchMonth } from './ports/launches.ts';
import { receiptsFolder } from './sources/files/receipts-folder.ts';
import { addressNamed, evm } from './testing/addresses.ts';
import { launchBrowser, lookAt, NO_BROWSER } from './testing/browser.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';
import { createTestHttp } from './testing/http-server.ts';
import { rugFlagOf } from './testing/rug-worlds.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { memoryAnchors } from './testing/twins/anchors.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from './testing/twins/deployers.ts';
import { plantedCandles, plantedEmittedCalls } from './testing/twins/emitted-calls.ts';
import { memoryLaunchMonths } from './testing/twins/launches.ts';
import { plantedProviderCalls } from './testing/twins/provider-calls.ts';
import {
  KEPT_VERSION,
  memoryLaunchWatch,
  memoryPublishedModels,
  memoryRugFlags,
  SCORED,
  WATCHED,
} from './testing/twins/rug-flags.ts';
import { entryOf, memoryListChanges } from './testing/twins/sanctions.ts';
import { memorySignalPorts } from './testing/twins/signals.ts';
import { memorySigning } from './testing/twins/signing.ts';
import { labelledAnalysis, memoryTraders, standingWith } from './testing/twins/traders.ts';
import { memoryTransparencyLog } from './testing/twins/transparency-log.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const MONTHS: readonly LaunchMonth[] = [
  { chain: 'ethereum', month: '2026-02', listed: 41, died: 38, unchecked: 2 },
  { chain: 'ethereum', month: '2026-04', listed: 0, died: 0, unchecked: 1 },
  { chain: 'ethereum', month: '2026-05', listed: 3, died: 1, unchecked: 0 },
  { chain: 'solana', month: '2026-05', listed: 12_480, died: 11_969, unchecked: 310 },
];

const MAKER = evm('maker');
const HELD = { simulated: true, as_of: 1_790_000_000 } as const;
const RECORD: CommittedRecord = {
  ...walkOf(MAKER, {
    launches: [launchOf('live', 'live'), launchOf('dead', 'died', { factory: evm('factory') })],
    skipped: [{ address: evm('router'), reason: 'not_an_erc20' }],
    direct_creations: 2,
  }),
  failed: null,
};

const SETTLED: Launch = {
  mint: 'mint',
  deployer: 'somebody',
  launched_at: 1_789_000_000,
  listed_after_window: true,
  last_checked_at: 1_789_900_000,
  settled: true,
};

const STALE: DatedSource = {
  facts: { tag: 'list', title: 'List', says: 'Who is listed', pages: true },
  age: async () => ({
    state: 'stale',
    as_of: 1_780_000_000,
    published: '2026-05-28',
    age_s: 9,
    max_age_s: 5,
    reason: 'Past its age the list shows listings only.',
  }),
};

const OF_MEMBERS = ['/settings', '/watchlist'];

describe.skipIf(NO_BROWSER !== null)(`pages ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let base = '';
  const app = createTestHttp({
    mounted: webDocuments({
      routes: CONTRACTS,
      facts: { simulated: true, version: '0.0.0', links: LINKS, explorers: new Map() },
      given: {
        bridgeRegistry: bridgeRegistryOf(),
        receiptFolder: receiptsFolder({
          folder: new URL('../registry/simulated-receipts', import.meta.url),
          simulated: true,
          now: () => 1_790_000_000,
        }),
        service: { ...TEST_SERVICE, base: () => base, simulated: true },
        members: { plans: [], signIn: {}, settings: {} },
        chats: {},
        rugFlags: memoryRugFlags({
          chains: [SCORED],
          flags: [rugFlagOf(evm('flagged')), rugFlagOf(evm('flagged too'), { score: 0.81 })],
          simulated: true,
          as_of: 1_790_000_000,
        }),
        deployerRecords: memoryDeployerRecords({ ...HELD, records: [RECORD] }),
        walletLaunches: memoryWalletLaunches({ ...HELD, launches: [SETTLED] }),
        launchMonths: memoryLaunchMonths(MONTHS, 1_790_000_000),
        launchWatch: memoryLaunchWatch(WATCHED),
        publishedModels: memoryPublishedModels(),
        ...plantedProviderCalls({ called: true }),
        ...plantedEmittedCalls({ emitted: true }),
        marketSeries: plantedCandles({ emitted: true }),
        ...memoryTraders({
          ...HELD,
          standingOf: (address) => standingWith(labelledAnalysis(address)),
        }),
        ...memorySignalPorts({}),
        ...memoryTransparencyLog(),
        ...memorySigning(),
        anchors: memoryAnchors({ simulated: true, as_of: 1_790_000_000 }),
        sanctionsChanges: memoryListChanges([entryOf(evm('listed'))], 1_790_000_000),
      },
      sources: [STALE],
      base: () => base,
    }),
    refusalPage: () => '',
    sessions: { authenticate: async () => ({ outcome: 'none', reason: 'Nobody.' }) },
    now: () => 1_780_000_000,
  });
  let browser: Browser;
  beforeAll(async () => {
    base = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  const paths = [
    // These are looked at where somebody is signed in: src/members-walk.suite.ts.
    ...LINKS.flatMap(({ pages }) => pages.map(({ path }) => path)).filter(
      (path) => !OF_MEMBERS.includes(path),
    ),
    '/receipts/two-steps-from-a-listed-address',
    '/docs/api/wallet_score',
    // Tables of long addresses and of names that a phone has to break.
    '/docs/guides/simulated-world',
    '/docs/reference/configuration',
    `/token/solana/${addressNamed('solana', 'mint')}`,
    `/deployer/ethereum/${MAKER}`,
    `/models/rug/${KEPT_VERSION}`,
    `/traders/${evm('trader')}`,
    `/deployer/solana/${addressNamed('solana', 'nobody')}`,
  ];
  test.each(paths)('%s, in light and dark, on a desk and on a phone', async (path) => {
    await lookAt(browser, { base, path });
  });
});
