// A newcomer follows docs/guides/going-live.md to the letter, in an empty folder, and has an answer
// from each source. Stand-ins are where the providers are; nothing else differs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { HOUR_S } from './chain/time.ts';
import { freePort } from './testing/free-port.ts';
import { MAIN, onlySettings } from './testing/program.ts';
import { startBinance } from './world/binance-api.ts';
import { startBybit } from './world/bybit-api.ts';
import { worldChains } from './world/chain-data.ts';
import { startChats } from './world/chat-api.ts';
import { SANDBOX_DEPLOYERS, worldPoolsOf } from './world/deployers.ts';
import { derivativesBook } from './world/derivatives-book.ts';
import { evmLaunchesIn } from './world/evm-launches.ts';
import { startExplorer } from './world/explorer-api.ts';
import { startHyperliquid } from './world/hyperliquid-api.ts';
import { startNodes } from './world/json-rpc-server.ts';
import { WORLD_SEED } from './world/listed-parties.ts';
import { startPriceApi, worldPriceOf } from './world/price-api.ts';
import { startPublisher } from './world/publisher.ts';
import { startSolana } from './world/solana-api.ts';
import { LAUNCHES_SPAN_S, launchPoolsAt, worldLaunchesIn } from './world/solana-launches.ts';
import { startTokenRisk } from './world/token-risk-api.ts';
import { WORLD_OPINIONS } from './world/token-risk-opinions.ts';
import { startVenue } from './world/venue-api.ts';
import { worldMarkets, worldVenueBook } from './world/venue-book.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });
const GUIDE = readFileSync(new URL('../docs/guides/going-live.md', import.meta.url), 'utf8');
const LISTED = '0x64144967c175997fc8526ba694021ae36965331c';
/** It paid two bridges, in the world of the stand-ins. */
const ACTIVE = '0x5c678b0ca7d7721ee34d15d19b8ab1552e945064';
/** Platforms that nobody was connected to. */
const CHATS = ['Slack', 'Telegram'];
const nowS = () => Math.floor(Date.now() / 1_000);

const home = mkdtempSync(join(tmpdir(), 'exhibit-going-live-'));
const closings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closings) await close();
  rmSync(home, { recursive: true, force: true });
});

/** The stand-ins, by the address that the guide names for each. */
async function startProviders(): Promise<{ readonly [named: string]: string }> {
  const chains = worldChains(nowS, WORLD_SEED);
  const explorer = await startExplorer(chains);
  const nodes = await startNodes(chains);
  const priceOf = (id: string, at: number) => worldPriceOf(WORLD_SEED, id, at);
  const prices = await startPriceApi({ now: nowS, priceOf });
  const venue = await startVenue((chain, token) =>
    chain === 'solana' ? launchPoolsAt(token, nowS()) : worldPoolsOf(chain, token, nowS()),
  );
  const solana = await startSolana(() => worldLaunchesIn(nowS() - LAUNCHES_SPAN_S, nowS()));
  const hyperliquid = await startHyperliquid(worldVenueBook(Date.now), { nowMs: Date.now });
  const risk = await startTokenRisk(WORLD_OPINIONS);
  const clock = { nowMs: Date.now };
  const binance = await startBinance(derivativesBook(worldMarkets, 'binance', Date.now), clock);
  const bybit = await startBybit(derivativesBook(worldMarkets, 'bybit', Date.now), clock);
  const started = [explorer, nodes, prices, venue, solana, hyperliquid, risk, binance, bybit];
  for (const one of started) closings.push(one.close);
  return {
    'https://api.etherscan.io/v2/api': explorer.etherscan.href,
    'https://coins.llama.fi': prices.url.href,
    'https://ethereum-rpc.publicnode.com': nodes.url(1).href,
    'https://api.dexscreener.com': venue.url.href,
    'https://api.mainnet-beta.solana.com': solana.url.href,
    'https://api.hyperliquid.xyz': hyperliquid.url.href,
    'https://api.gopluslabs.io': risk.url.href,
    'https://api.rugcheck.xyz': risk.url.href,
    'https://fapi.binance.com': binance.url.href,
    'wss://fstream.binance.com/market/ws': binance.streamUrl.href,
    'https://api.bybit.com': bybit.url.href,
    'wss://stream.bybit.com/v5/public/linear': bybit.streamUrl.href,
  };
}

/** Who launched the newest token whose block has settled. */
function newestMaker(): string {
  const newest = evmLaunchesIn(nowS() - 4 * HOUR_S, nowS() - HOUR_S / 2).at(-1);
  if (newest === undefined) throw new Error('test: nothing was launched');
  return newest.maker;
}

/** The sections of the guide with what stands in their shell blocks, in order. */
const steps = GUIDE.split(/^## /m)
  .slice(1)
  .map((text) => ({
    title: String(text.split('\n')[0]),
    lines: [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join(''),
  }));

test('every command works, and each source answers', async () => {
  const publisher = await startPublisher({ now: nowS });
  closings.push(publisher.close);
  const providers = await startProviders();
  const chats = await startChats();
  closings.push(chats.close);
  const port = await freePort();
  const bin = join(home, 'exhibit');
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(bin, 0o755);
  const replaced = Object.entries({
    ...providers,
    'http://127.0.0.1:8080': `http://127.0.0.1:${port}`,
    '0x098B716B8Aaf21512996dC57EB0615e2383E2f96': LISTED,
    '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045': ACTIVE,
    '0x5cb89a7ac49772f7b02e58bc636004a666545f5a': SANDBOX_DEPLOYERS.mixed,
    '0x1031a8a496f27c2067ced440a1542daf2bdedd15': newestMaker(),
  });
  for (const [named] of replaced) expect(GUIDE).toContain(named);
  const script = steps.map(({ title, lines }) => `echo; echo '## ${title}'\n${lines}`).join('');
  const typed = replaced.reduce((text, [named, to]) => text.replaceAll(named, to), script);
  const shell = spawn('bash', ['-c', typed], {
    cwd: home,
    env: {
      ...onlySettings({
        EXHIBIT_PORT: String(port),
        EXHIBIT_SDN_URL: publisher.url('SDN_ADVANCED.ZIP').href,
        EXHIBIT_SDN_FLOOR: '1',
        EXHIBIT_DISCORD_URL: chats.roots.discord,
      }),
      PATH: `${home}:${process.env['PATH']}`,
    },
    detached: true,
  });
  let out = '';
  shell.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  let err = '';
  shell.stderr.on('data', (bytes) => {
    err += String(bytes);
  });
  closings.push(async () => {
    // What it started ends with it: it leads a group of its own.
    if (shell.exitCode === null && shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
  });
  await once(shell, 'close');
  const said = new Map(
    out.split(/^## /m).map((part) => [String(part.split('\n')[0]), part] as const),
  );
  // Where he stopped: a step without what it promises.
  const promised: readonly (readonly [step: string, what: RegExp])[] = [
    ['1. The list', /listed/i],
    ['2. A key', /"sanctioned": ?true.*"proximity_checked": ?false/s],
    ['3. Labels of exchanges', /1 /],
    ['4. An explorer, prices and a node', /"state": ?"ok".*"state": ?"ok"/s],
    ['5. Deployers, whose tokens a venue tells of', /"launches".*"died"/s],
    [
      '6. Services that judge tokens: GoPlus and RugCheck',
      /GoPlus answered.*RugCheck answered.*"provider": ?"rugcheck"/s,
    ],
    ['7. Venues of futures: Binance and Bybit', /((Binance|Bybit)( liquidations)? answered\n){4}/],
    ['8. A chat', /"id": ?"int_.*"delivered": ?true.*"waiting"/s],
    ['9. What stands, and what does not', /"providers"/],
  ];
  expect(steps.map(({ title }) => title)).toEqual(promised.map(([step]) => step));
  const stopped = promised.flatMap(([step, what]) => {
    const text = String(said.get(step));
    return what.test(text) ? [] : [`${step}: ${text.slice(0, 2_000)}`];
  });
  expect([stopped, err]).toEqual([[], '']);
  const last = String(said.get('9. What stands, and what does not'));
  const health: unknown = JSON.parse(last.slice(last.lastIndexOf('\n{')));
  const states: [string, string][] = Object(health).providers.map((one: object) => [
    String(Reflect.get(one, 'name')),
    String(Reflect.get(one, 'state')),
  ]);
  const asked = states.filter(([name]) => !CHATS.includes(name));
  expect(asked.length).toBeGreaterThan(4);
  // A process tells what it asked itself. The last one was asked for no price, and services that
  // judge tokens were asked about each launch by the process of their step.
  const told = ['answered', 'not_asked'];
  expect(asked.filter(([, state]) => !told.includes(state))).toEqual([]);
  expect(chats.posted.length).toBeGreaterThan(0);
});
