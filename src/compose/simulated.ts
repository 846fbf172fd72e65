// Serves the simulated world, with ready credentials. It is reached through the same adapters and
// importers as real sources; only addresses differ.

import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hashesOf } from '../access/secret.ts';
import { EXIT, type Io } from '../command/command.ts';
import type { Config } from '../config.ts';
import { access, members } from '../features/access/feature.ts';
import { deployers } from '../features/deployers/feature.ts';
import { providers } from '../features/providers/feature.ts';
import { rugModelFeature } from '../features/rug-model/feature.ts';
import { modelPublish, modelTrain } from '../features/rug-model/model.command.ts';
import { sanctions } from '../features/sanctions/feature.ts';
import { SIMULATED_WEIGHT } from '../features/series/feature.ts';
import { tables } from '../features/tables/feature.ts';
import { flaggedAddresses } from '../features/tables/flagged-rows.ts';
import { importCommand } from '../features/tables/imports.command.ts';
import { exchangeLabels } from '../features/tables/labels.ts';
import { launchCorpus } from '../features/tables/launches.ts';
import { jsonIn } from '../sources/http/fetch.ts';
import { worldFlaggedCsv } from '../world/account-state.ts';
import { DERIVATIVES_FAULTS, startBinance } from '../world/binance-api.ts';
import { startBybit } from '../world/bybit-api.ts';
import { worldChains } from '../world/chain-data.ts';
import { CHAT_FAULTS, startChats } from '../world/chat-api.ts';
import { worldCorpusLines } from '../world/corpus.ts';
import { SANDBOX_DEPLOYERS, worldPoolsOf } from '../world/deployers.ts';
import { derivativesBook } from '../world/derivatives-book.ts';
import { evmLaunchesIn } from '../world/evm-launches.ts';
import { EXPLORER_FAULTS, startExplorer } from '../world/explorer-api.ts';
import { HYPERLIQUID_FAULTS, startHyperliquid } from '../world/hyperliquid-api.ts';
import { RPC_FAULTS } from '../world/json-rpc.ts';
import { startNodes } from '../world/json-rpc-server.ts';
import { worldLabelsCsv } from '../world/labels.ts';
import { isModelWay, MODEL_WAYS, startLanguageModel } from '../world/language-model.ts';
import { WORLD_HORIZON_H, worldLaunchHistoryCsv } from '../world/launch-history.ts';
import { WORLD_SEED } from '../world/listed-parties.ts';
import { listedCalls, MARKET_CALLERS } from '../world/market-callers.ts';
import { PRICE_FAULTS, startPriceApi, worldPriceOf } from '../world/price-api.ts';
import { PUBLISHER_FAULTS, startPublisher } from '../world/publisher.ts';
import { SOLANA_FAULTS, startSolana } from '../world/solana-api.ts';
import { LAUNCHES_SPAN_S, launchPoolsAt, worldLaunchesIn } from '../world/solana-launches.ts';
import { startTokenRisk, TOKEN_RISK_FAULTS } from '../world/token-risk-api.ts';
import { WORLD_OPINIONS } from '../world/token-risk-opinions.ts';
import { startVenue, VENUE_FAULTS } from '../world/venue-api.ts';
import { worldMarkets, worldVenueBook } from '../world/venue-book.ts';
import { FEED_FAULTS } from '../world/venue-streams.ts';
import { nowS, pause } from './clock.ts';
import type { Closings } from './closings.ts';
import type { Logger } from './logger.ts';
import { analystOf, type Outside, simulatedOutside } from './outside.ts';
import type { ProcessParts } from './parts.ts';
import { VERSION } from './version.ts';
import { faultyProvider, keepFaults } from './world-faults.ts';

/** The credentials of a first user, stored with the simulated data for the next start. */
export type DemoCredentials = {
  readonly base_url: string;
  readonly api_key: string;
  readonly stream_token: string;
  readonly membership_id: string;
  readonly plan: 'desk';
  readonly simulated: true;
};

/** A running simulated outside. */
export type SimulatedWorld = {
  /** Where its providers are. */
  readonly outside: Outside;
  /** Fills the list and the tables, and makes sure of ready credentials. */
  readonly furnish: (parts: ProcessParts, baseUrl: string) => Promise<DemoCredentials>;
  /** A link that signs a browser in for the demo membership, once. */
  readonly signInLink: (parts: ProcessParts, demo: DemoCredentials) => string;
};

const OWNER_ONLY = 0o600;
/** Where the credentials of the simulated world lie, under the data directory. */
export const CREDENTIALS_FILE = 'demo-credentials.json';
const SOURCE = 'simulated-world';
const ETHEREUM_ID = 1;

/**
 * Starts the stand-in providers on loopback, with the faults that were asked for. The log holds
 * each message that a stand-in of a chat took, since nobody can open that chat.
 */
export async function startSimulated(
  config: Config,
  log: Pick<Logger, 'info' | 'error'>,
  opened: Closings,
): Promise<SimulatedWorld> {
  const chains = worldChains(nowS, WORLD_SEED);
  const publisher = await startPublisher({ now: nowS });
  opened.add('simulated publisher', publisher.close);
  const explorer = await startExplorer(chains);
  opened.add('simulated explorer', explorer.close);
  const nodes = await startNodes(chains);
  opened.add('simulated nodes', nodes.close);
  const prices = await startPriceApi({
    now: nowS,
    priceOf: (id, at) => worldPriceOf(WORLD_SEED, id, at),
  });
  opened.add('simulated prices', prices.close);
  const venue = await startVenue((chain, token) =>
    chain === 'solana' ? launchPoolsAt(token, nowS()) : worldPoolsOf(chain, token, nowS()),
  );
  opened.add('simulated venue', venue.close);
  const tokenRisk = await startTokenRisk(WORLD_OPINIONS);
  opened.add('simulated token risk', tokenRisk.close);
  const solana = await startSolana(() => worldLaunchesIn(nowS() - LAUNCHES_SPAN_S, nowS()));
  opened.add('simulated Solana node', solana.close);
  const hyperliquid = await startHyperliquid(worldVenueBook(Date.now), {
    nowMs: Date.now,
    weightMax: SIMULATED_WEIGHT.max,
  });
  opened.add('simulated Hyperliquid', hyperliquid.close);
  const { binance, bybit } = await startDerivatives(opened);
  const chats = await startChats((made) => log.info(made, 'simulated chat: took a message'));
  opened.add('simulated chats', chats.close);
  const faulty = {
    chats: faultyProvider(CHAT_FAULTS, chats.fault, new URL(chats.roots.slack)),
    publisher: faultyProvider(PUBLISHER_FAULTS, publisher.fault, new URL(publisher.origin)),
    rpc: faultyProvider(RPC_FAULTS, nodes.fault, nodes.url(ETHEREUM_ID)),
    explorer: faultyProvider(EXPLORER_FAULTS, faultSetterOf(explorer), explorer.etherscan),
    prices: faultyProvider(PRICE_FAULTS, prices.fault, prices.url),
    solana: faultyProvider(SOLANA_FAULTS, faultSetterOf(solana), solana.url),
    hyperliquid: faultyProvider(HYPERLIQUID_FAULTS, hyperliquid.fault, hyperliquid.url),
    binance: faultyProvider(DERIVATIVES_FAULTS, binance.fault, binance.url),
    'binance-stream': faultyProvider(FEED_FAULTS, binance.stream.fault),
    bybit: faultyProvider(DERIVATIVES_FAULTS, bybit.fault, bybit.url),
    'bybit-stream': faultyProvider(FEED_FAULTS, bybit.stream.fault),
    venue: faultyProvider(VENUE_FAULTS, faultSetterOf(venue), venue.url),
    'token-risk': faultyProvider(TOKEN_RISK_FAULTS, tokenRisk.fault, tokenRisk.url),
    // It is started below, and only where a way of it is named.
    analyst: faultyProvider(MODEL_WAYS, () => undefined),
  };
  keepFaults(config, faulty, log, opened);
  const walking = repeatWork(WALKED_EACH_MS, walkLaunchers);
  opened.add('simulated walks', walking.stop);
  const folder = join(config.dataDir, 'spool');
  const calling = repeatWork(LISTS_EACH_MS, (parts) => importLists(folder, parts));
  opened.add('simulated lists of calls', calling.stop);
  return {
    outside: simulatedOutside({
      mirror: publisher.url('SDN_ADVANCED.ZIP').href,
      explorer: explorer.etherscan.href,
      prices: prices.url.href,
      venue: venue.url.href,
      hyperliquid: hyperliquid.url.href,
      binance: { url: binance.url.href, stream: binance.streamUrl.href },
      bybit: { url: bybit.url.href, stream: bybit.streamUrl.href },
      goplus: tokenRisk.url.href,
      rugcheck: tokenRisk.url.href,
      ethereumNode: nodes.url(ETHEREUM_ID).href,
      solanaNode: solana.url.href,
      chats: chats.roots,
      analyst: await startAnalyst(config, opened),
    }),
    furnish: async (parts, baseUrl) => {
      await parts
        .of(sanctions)
        .services.sanctions.refresh(null, AbortSignal.timeout(FURNISH_MS_MAX));
      await fillTables(config, parts);
      await publishSimulatedModel(config, parts);
      const { ports, services } = parts.of(deployers);
      const signal = AbortSignal.timeout(WALKS_MS_MAX);
      for (const name of WALKED) {
        await ports.deployerRecords.recordOf(SANDBOX_DEPLOYERS[name], 'simulated world');
        await services.deployers.walk(SANDBOX_DEPLOYERS[name], signal);
      }
      walking.begin(parts);
      if (config.surfaces.includes('signals')) calling.begin(parts);
      const file = join(config.dataDir, CREDENTIALS_FILE);
      const held = await readCredentials(file, parts);
      const made = held === null ? await mintCredentials(parts) : held;
      const all: DemoCredentials = { base_url: baseUrl, ...made, plan: 'desk', simulated: true };
      await writeFile(file, `${JSON.stringify(all, null, 2)}\n`, { mode: OWNER_ONLY });
      await chmod(file, OWNER_ONLY);
      return all;
    },
    signInLink: (parts, { base_url, membership_id }) =>
      `${base_url}/activate?link=${parts.of(members).services.mintLink(membership_id)}`,
  };
}

/** Gives a stand-in one fault at every call. */
function faultSetterOf<F>(one: { readonly fault: (fault: () => F | null) => void }) {
  return (fault: F | null) => one.fault(() => fault);
}

/** The venues of derivatives, with their streams, up to now. */
async function startDerivatives(opened: Closings) {
  const clock = { nowMs: Date.now };
  const binance = await startBinance(derivativesBook(worldMarkets, 'binance', Date.now), clock);
  opened.add('simulated Binance', binance.close);
  const bybit = await startBybit(derivativesBook(worldMarkets, 'bybit', Date.now), clock);
  opened.add('simulated Bybit', bybit.close);
  return { binance, bybit };
}

/** The configured language model, or a stand-in where `EXHIBIT_WORLD_FAULTS` asks for one. */
async function startAnalyst(
  config: Config,
  opened: Closings,
): Promise<ReturnType<typeof analystOf>> {
  const asked = config.worldFaults.find(({ provider }) => provider === 'analyst');
  if (asked === undefined || !isModelWay(asked.fault)) return analystOf(config);
  const model = await startLanguageModel();
  opened.add('simulated language model', model.close);
  model.behave(asked.fault);
  const price = { in_usd: 0, out_usd: 0 };
  return { url: model.openai, key: null, model: 'a simulated model', price, usdADayMax: 1 };
}

/** A busy machine takes minutes for what takes seconds on an idle one. */
const FURNISH_MS_MAX = 300_000;

/** The deployers that have a record from the first start on. */
const WALKED = ['allDied', 'mixed', 'unlisted', 'none'] as const;

/** The start waits for their walks no longer than this; what is not walked by then is queued. */
const WALKS_MS_MAX = 5_000;

/** Launchers whose newest launch is younger than this are walked again and again. */
const WALKED_FOR_S = 14_400;
const WALKED_EACH_MS = 30_000;

/** Work of the simulated world that goes on until it is stopped, with a pause between. */
function repeatWork(
  everyMs: number,
  work: (parts: ProcessParts, signal: AbortSignal) => Promise<void>,
) {
  const ended = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const repeat = async (parts: ProcessParts): Promise<void> => {
    while (!ended.signal.aborted) {
      await work(parts, ended.signal);
      await pause(everyMs, ended.signal);
    }
  };
  return {
    begin: (parts: ProcessParts) => {
      running = repeat(parts);
    },
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}

/** Walks who launches on the simulated Ethereum, as an operator would whom a launch interests. */
async function walkLaunchers(parts: ProcessParts, signal: AbortSignal): Promise<void> {
  const makers = evmLaunchesIn(nowS() - WALKED_FOR_S, nowS()).map(({ maker }) => maker);
  for (const maker of new Set(makers)) {
    await parts.of(deployers).services.deployers.walk(maker, signal);
  }
}

/** The lists of simulated services are taken in so often that no call of theirs comes late. */
const LISTS_EACH_MS = 120_000;

/** Takes in what the services show that call the simulated markets, as an operator would. */
async function importLists(folder: string, parts: ProcessParts): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const caller of MARKET_CALLERS) {
    const listed = listedCalls(caller, nowS());
    if (listed.length === 0) continue;
    const path = join(folder, `${caller}.jsonl`);
    await writeFile(path, listed.map((one) => JSON.stringify(one)).join('\n'));
    const order = { path, provider: caller };
    await parts.of(providers).services.providers.importCalls(order, () => undefined);
    await rm(path);
  }
}

// The same files go through the same importers as an operator's.
async function fillTables(config: Config, parts: ProcessParts): Promise<void> {
  const folder = join(config.dataDir, 'spool');
  await mkdir(folder, { recursive: true });
  const fills = [
    { table: exchangeLabels, name: 'labels.csv', text: worldLabelsCsv(WORLD_SEED) },
    { table: launchCorpus, name: 'launches.jsonl', text: worldCorpusLines(nowS(), WORLD_SEED) },
    { table: flaggedAddresses, name: 'flagged.csv', text: worldFlaggedCsv() },
  ];
  const said: string[] = [];
  const io: Io = {
    out: () => undefined,
    err: (line) => said.push(line),
    json: false,
    colour: false,
    cwd: folder,
    signal: AbortSignal.timeout(FURNISH_MS_MAX),
  };
  const { services } = parts.of(tables);
  for (const { table, name, text } of fills) {
    const file = join(folder, name);
    await writeFile(file, text);
    const status = await importCommand(table).run([file, '--source', SOURCE], io, services);
    await rm(file);
    if (status === EXIT.done) continue;
    throw new Error(`The simulated tables could not be filled: ${said.join(' ')}`);
  }
}

const kept = z.object({
  api_key: z.string(),
  stream_token: z.string(),
  membership_id: z.string(),
});

type Made = z.output<typeof kept>;

async function readCredentials(file: string, parts: ProcessParts): Promise<Made | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const parsed = kept.safeParse(jsonIn(text));
  if (!parsed.success) return null;
  const found = await parts
    .of(access)
    .services.keys.find(hashesOf(parsed.data.api_key, parts.secrets));
  if (!found.checked || found.value === null) return null;
  const { revoked_at, expires_at } = found.value.key;
  return revoked_at === null && expires_at > nowS() ? parsed.data : null;
}

async function mintCredentials(parts: ProcessParts): Promise<Made> {
  const { memberships, ...services } = parts.of(access).services;
  const membership_id = 'mem_simulated_demo';
  const at = nowS();
  await memberships.record({ membership_id, plan: 'desk', status: 'active', at });
  const key = services.mintKey({ kind: 'sc', membership_id });
  const added = await services.keys.add({ ...key.stored, name: 'Demo' }, KEYS_MAX);
  if (!added.checked || added.value.outcome !== 'added') {
    throw new Error('The demo key could not be stored.');
  }
  const token = services.mintToken('pro');
  const stored = await services.tokens.add(token.stored);
  if (!stored.checked) throw new Error(stored.why.reason);
  return { api_key: key.text, stream_token: token.text, membership_id };
}

/** The demo membership's keys expire one after the other; more than this never live at once. */
const KEYS_MAX = 25;

const TRAINING_MS_MAX = 60_000;

/**
 * Trains a model on the launches of the world and publishes it by the commands of an operator,
 * unless one is in force.
 */
async function publishSimulatedModel(config: Config, parts: ProcessParts): Promise<void> {
  const { services } = parts.of(rugModelFeature);
  const inForce = await services.model.published.inForce();
  if (inForce.checked) return;
  const folder = join(config.dataDir, 'spool');
  await mkdir(folder, { recursive: true });
  const [data, artefact] = [join(folder, 'launch-history.csv'), join(folder, 'rug-model.json')];
  const said: string[] = [];
  const io: Io = {
    out: () => undefined,
    err: (line) => said.push(line),
    json: true,
    colour: false,
    cwd: folder,
    signal: AbortSignal.timeout(TRAINING_MS_MAX),
  };
  await writeFile(data, worldLaunchHistoryCsv(WORLD_SEED));
  const target = ['--horizon', String(WORLD_HORIZON_H)];
  const words = ['--data', data, '--out', artefact, '--origin', 'simulated', ...target];
  const training = { files: services.model.trainingFiles, codeVersion: VERSION };
  const trained = await modelTrain.run(words, io, { training });
  const status = trained === EXIT.done ? await modelPublish.run([artefact], io, services) : trained;
  await Promise.all([data, artefact].map((file) => rm(file, { force: true })));
  if (status === EXIT.done) return;
  throw new Error(`The simulated rug model could not be published: ${said.join(' ')}`);
}
