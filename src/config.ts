// Parses the environment and an optional .env into one frozen Config, or into one line for each
// problem. Only this file reads process.env.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { ChainName, EvmChainName } from './chain/chain.ts';
import { type AgeLimit, PrivateUrl, Secret, type WitnessSetting } from './config/readers.ts';
import {
  badValue,
  conflicts,
  isSetting,
  type LayoutName,
  namesASource,
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingTexts,
  type SoldPlan,
  type SurfaceName,
  type TierName,
  unknownNames,
  type Values,
} from './config/settings.ts';

/** Absent, or there with everything it needs. */
type Optional<T> = { readonly kind: 'none' } | ({ readonly kind: 'set' } & T);

/** Where a secret comes from: the environment, or a file that is made once (`secretOf`). */
export type SecretOrigin =
  | { readonly kind: 'given'; readonly current: Secret }
  | { readonly kind: 'file'; readonly path: string };

type ByChain<C extends ChainName> = { readonly [N in C]: PrivateUrl | null };
type Lifecycle = {
  readonly refreshMs: number;
  readonly floor: number;
  readonly maxAge: AgeLimit;
  /** `null`: the product's own. */
  readonly userAgent: string | null;
};

/** A setting as an operator sees it: nothing of a secret, of a URL its scheme and host only. */
type SettingView = {
  readonly name: SettingName;
  readonly value: string | null;
  readonly from: 'set' | 'default';
};

/** Everything a process is told. Durations are milliseconds; paths are absolute. */
export type Config = {
  readonly listen: { readonly host: string; readonly port: number };
  /** Base of public links without a final slash; `null`: the listening address. */
  readonly publicUrl: string | null;
  /** The folder of receipts; `null`: the one that stands where the service was started. */
  readonly receiptsDir: string | null;
  /** The links to explorers by `chain.address` and `chain.tx`; `null`: the public ones. */
  readonly explorerLinks: readonly { readonly word: string; readonly template: string }[] | null;
  readonly ops: Optional<{ readonly port: number }>;
  readonly surfaces: readonly SurfaceName[];
  readonly trustProxy: boolean;
  /** The proxy that calls to the outside go through. */
  readonly proxyUrl: PrivateUrl | null;
  readonly simulate: boolean;
  /** The folder of everything embedded: the simulated world has its own. */
  readonly dataDir: string;
  readonly store:
    | { readonly kind: 'embedded'; readonly dir: string }
    | { readonly kind: 'postgres'; readonly url: PrivateUrl };
  readonly warehouse:
    | { readonly kind: 'embedded'; readonly dir: string }
    | { readonly kind: 'clickhouse'; readonly url: PrivateUrl; readonly layout: LayoutName };
  readonly sanctions: Lifecycle &
    (
      | { readonly kind: 'simulated' }
      | { readonly kind: 'mirrors'; readonly mirrors: readonly PrivateUrl[] }
    );
  readonly rpc: ByChain<EvmChainName | 'solana' | 'bitcoin'>;
  readonly blockscout: ByChain<EvmChainName>;
  readonly explorer: Optional<{ readonly url: PrivateUrl; readonly key: Secret | null }>;
  /** Calls of a day that the explorer's plan allows. */
  readonly explorerCallsADay: number | null;
  readonly pricesUrl: PrivateUrl | null;
  readonly venueUrl: PrivateUrl | null;
  readonly hyperliquidUrl: PrivateUrl | null;
  /** The venues of derivatives: where each is asked, and where it tells of liquidations. */
  readonly binance: { readonly url: PrivateUrl | null; readonly streamUrl: PrivateUrl | null };
  readonly bybit: { readonly url: PrivateUrl | null; readonly streamUrl: PrivateUrl | null };
  readonly goplus: { readonly url: PrivateUrl | null; readonly key: Secret | null };
  readonly rugcheck: { readonly url: PrivateUrl | null; readonly key: Secret | null };
  /** The status pages of bridge protocols. */
  readonly statusUrls: {
    readonly [P in
      | 'across'
      | 'layerzero'
      | 'wormhole'
      | 'celer'
      | 'synapse'
      | 'hop']: PrivateUrl | null;
  };
  readonly acrossStatusKey: Secret | null;
  readonly log: {
    /** The host under whose name the log signs; `null`: it is not signed. */
    readonly host: string | null;
    readonly witnesses: readonly WitnessSetting[];
  };
  /** Where chat platforms are asked; `null`: at their own hosts. */
  readonly chatUrls: { readonly [P in 'slack' | 'discord' | 'telegram']: PrivateUrl | null };
  /** The language model that may word verdicts. */
  readonly analyst: Optional<{
    readonly url: PrivateUrl;
    readonly key: Secret | null;
    readonly model: string;
    /** US dollars for a million tokens. */
    readonly price: { readonly in_usd: number; readonly out_usd: number };
    readonly usdADayMax: number;
  }>;
  readonly secret: SecretOrigin;
  readonly previousSecret: Secret | null;
  readonly adminToken: Secret | null;
  /** The root of GitHub's API, whose keys sign what its secret scanning found. */
  readonly githubUrl: PrivateUrl | null;
  /** For commands that ask a running service. */
  readonly apiKey: Secret | null;
  readonly intelligence: {
    readonly tokens: readonly { readonly tier: TierName; readonly token: Secret }[];
    readonly allowAnonymous: boolean;
  };
  readonly payments: {
    /** The signing secrets of the payment platform; without any, no delivery is accepted. */
    readonly secrets: readonly Secret[];
    /** The plan of each plan or product that the platform sells. */
    readonly plans: readonly { readonly id: string; readonly word: SoldPlan }[];
    /** Where each plan is bought. */
    readonly checkouts: readonly { readonly word: SoldPlan; readonly url: string }[];
  };
  /** How long a process that stops says so before it stops to listen. */
  readonly drainMs: number;
  /** A reading that takes longer is logged; 0: none is. */
  readonly slowReadMs: number;
  /** Where traces go, and of which share of the requests they are; `null`: none is made. */
  readonly traces: { readonly url: PrivateUrl; readonly share: number } | null;
  /** The longest that a lease is taken for. */
  readonly leaseMaxMs: number;
  readonly liveBudgetMs: number;
  /** How long a live reading serves further questions. */
  readonly liveHoldMs: number;
  readonly tipMaxAgeMs: number;
  /** Calls of explorers a day that reading listed addresses ahead may make. */
  readonly ringCallsADay: number;
  readonly signalCallsADay: number;
  /** The assets that are observed and of which calls are made. */
  readonly edgeAssets: readonly string[];
  /** Pooled liquidity in US dollars below which a listed launch has died. */
  readonly exitLiquidityUsd: number;
  readonly anchoring: {
    /** The chain that roots are meant for, by its id of EIP-155. */
    readonly chainId: number;
    /** `null`: none is deployed. */
    readonly contract: string | null;
    /** A node of the chain for anchors alone; `null`: the one of the chain that Exhibit reads. */
    readonly node: PrivateUrl | null;
    /** The key of its owner; `null`: this process sends nothing. */
    readonly key: Secret | null;
    readonly everyMs: number;
  };
  readonly worldFaults: readonly { readonly provider: string; readonly fault: string }[];
  /** Every setting as it may be printed. */
  readonly shown: readonly SettingView[];
};

/** Texts of an environment by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** A configuration, or one line for each problem. */
export type Configured =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Parses an environment. Reads nothing else: relative paths are taken from `cwd`, which must be
 * absolute.
 */
export function parseConfig(env: Environment, at: { readonly cwd: string }): Configured {
  const given = readSettings(env);
  const problems = unknownNames(given);
  const values = readValues(given, problems);
  problems.push(...conflicts(given, values.EXHIBIT_SIMULATE === true));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, config: freezeDeep(assemble(values, given, at.cwd)) };
}

const SETTING_NAMES = Object.keys(SETTINGS).filter(isSetting);

// A value that does not parse is a problem; what stands in its place is never used, because a
// problem stops the start.
function readValues(given: SettingTexts, problems: string[]): Values {
  const values = new Map<string, unknown>();
  for (const name of SETTING_NAMES) {
    const setting = SETTINGS[name];
    const text = given.get(name) ?? setting.initial;
    const value = text === null ? null : setting.reader.parse(text);
    values.set(name, value);
    if (text !== null && value === undefined) problems.push(badValue(name, text));
  }
  return Object.fromEntries(values) as Values;
}

function assemble(values: Values, given: SettingTexts, cwd: string): Config {
  const simulate = values.EXHIBIT_SIMULATE;
  const root = resolve(cwd, values.EXHIBIT_DATA_DIR);
  const dataDir = simulate ? resolve(root, 'simulated') : root;
  const opsPort = values.EXHIBIT_OPS_PORT;
  const database = values.EXHIBIT_DATABASE_URL;
  const warehouse = values.EXHIBIT_WAREHOUSE_URL;
  const otlp = values.EXHIBIT_OTLP_URL;
  return {
    listen: { host: values.EXHIBIT_HOST, port: values.EXHIBIT_PORT },
    publicUrl: values.EXHIBIT_PUBLIC_URL,
    receiptsDir: values.EXHIBIT_RECEIPTS_DIR,
    explorerLinks: values.EXHIBIT_EXPLORER_LINKS,
    ops: opsPort === null ? NONE : { kind: 'set', port: opsPort },
    surfaces: values.EXHIBIT_SURFACES,
    trustProxy: values.EXHIBIT_TRUST_PROXY,
    proxyUrl: values.EXHIBIT_PROXY_URL,
    store:
      database === null
        ? { kind: 'embedded', dir: resolve(dataDir, 'control') }
        : { kind: 'postgres', url: database },
    warehouse:
      warehouse === null
        ? { kind: 'embedded', dir: resolve(dataDir, 'warehouse') }
        : { kind: 'clickhouse', url: warehouse, layout: values.EXHIBIT_WAREHOUSE_LAYOUT },
    ...sources(values),
    secret: secretOrigin(values, dataDir),
    previousSecret: values.EXHIBIT_SECRET_PREVIOUS,
    adminToken: values.EXHIBIT_ADMIN_TOKEN,
    githubUrl: values.EXHIBIT_GITHUB_URL,
    apiKey: values.EXHIBIT_API_KEY,
    intelligence: {
      tokens: listOrNone(values.EXHIBIT_INTELLIGENCE_TOKENS),
      allowAnonymous: values.EXHIBIT_ALLOW_ANONYMOUS,
    },
    simulate,
    dataDir,
    sanctions: {
      refreshMs: values.EXHIBIT_SDN_REFRESH,
      floor: values.EXHIBIT_SDN_FLOOR,
      maxAge: values.EXHIBIT_SDN_MAX_AGE,
      userAgent: values.EXHIBIT_SDN_USER_AGENT,
      ...(simulate ? { kind: 'simulated' } : { kind: 'mirrors', mirrors: values.EXHIBIT_SDN_URL }),
    },
    payments: {
      secrets: listOrNone(values.EXHIBIT_PAYMENT_WEBHOOK_SECRET),
      plans: listOrNone(values.EXHIBIT_PLANS),
      checkouts: listOrNone(values.EXHIBIT_CHECKOUTS),
    },
    log: {
      host: simulate ? SIMULATED_HOST : values.EXHIBIT_LOG_ORIGIN,
      witnesses: simulate ? [] : listOrNone(values.EXHIBIT_LOG_WITNESSES),
    },
    chatUrls: {
      slack: values.EXHIBIT_SLACK_URL,
      discord: values.EXHIBIT_DISCORD_URL,
      telegram: values.EXHIBIT_TELEGRAM_URL,
    },
    analyst: analystIn(values),
    drainMs: values.EXHIBIT_DRAIN,
    slowReadMs: values.EXHIBIT_SLOW_READ,
    traces: otlp === null ? null : { url: otlp, share: values.EXHIBIT_TRACED_PERCENT / PER_CENT },
    leaseMaxMs: values.EXHIBIT_LEASE_MAX,
    liveBudgetMs: values.EXHIBIT_LIVE_BUDGET_S,
    liveHoldMs: values.EXHIBIT_LIVE_HOLD,
    tipMaxAgeMs: values.EXHIBIT_TIP_MAX_AGE,
    ringCallsADay: values.EXHIBIT_RING_CALLS,
    signalCallsADay: values.EXHIBIT_SIGNAL_CALLS,
    edgeAssets: values.EXHIBIT_EDGE_ASSETS,
    exitLiquidityUsd: values.EXHIBIT_EXIT_LIQUIDITY_USD,
    anchoring: {
      chainId: values.EXHIBIT_ANCHOR_CHAIN,
      contract: values.EXHIBIT_ANCHOR_CONTRACT,
      node: values.EXHIBIT_ANCHOR_RPC,
      key: values.EXHIBIT_ANCHOR_KEY,
      everyMs: values.EXHIBIT_ANCHOR_EVERY,
    },
    worldFaults: listOrNone(values.EXHIBIT_WORLD_FAULTS),
    shown: viewSettings(given),
  };
}

function analystIn(values: Values): Config['analyst'] {
  const url = values.EXHIBIT_ANALYST_URL;
  const model = values.EXHIBIT_ANALYST_MODEL;
  const price = values.EXHIBIT_ANALYST_PRICE;
  // Each of the three needs the others (`conflicts`).
  if (url === null || model === null || price === null) return NONE;
  const usdADayMax = values.EXHIBIT_ANALYST_USD_A_DAY;
  return { kind: 'set', url, key: values.EXHIBIT_ANALYST_KEY, model, price, usdADayMax };
}

function listOrNone<T>(list: readonly T[] | null): readonly T[] {
  return list === null ? [] : list;
}

const NONE = { kind: 'none' } as const;
const PER_CENT = 100;
/** The name of the simulated world's log, which no host has. */
const SIMULATED_HOST = 'simulated.invalid';

function sources(
  values: Values,
): Pick<
  Config,
  | 'rpc'
  | 'blockscout'
  | 'explorer'
  | 'explorerCallsADay'
  | 'pricesUrl'
  | 'venueUrl'
  | 'hyperliquidUrl'
  | 'binance'
  | 'bybit'
  | 'goplus'
  | 'rugcheck'
  | 'statusUrls'
  | 'acrossStatusKey'
> {
  const url = values.EXHIBIT_EXPLORER_URL;
  return {
    rpc: {
      ethereum: values.EXHIBIT_RPC_ETHEREUM,
      arbitrum: values.EXHIBIT_RPC_ARBITRUM,
      base: values.EXHIBIT_RPC_BASE,
      bsc: values.EXHIBIT_RPC_BSC,
      polygon: values.EXHIBIT_RPC_POLYGON,
      hyperevm: values.EXHIBIT_RPC_HYPEREVM,
      solana: values.EXHIBIT_RPC_SOLANA,
      bitcoin: values.EXHIBIT_RPC_BITCOIN,
    },
    blockscout: {
      ethereum: values.EXHIBIT_BLOCKSCOUT_ETHEREUM,
      arbitrum: values.EXHIBIT_BLOCKSCOUT_ARBITRUM,
      base: values.EXHIBIT_BLOCKSCOUT_BASE,
      bsc: values.EXHIBIT_BLOCKSCOUT_BSC,
      polygon: values.EXHIBIT_BLOCKSCOUT_POLYGON,
      hyperevm: values.EXHIBIT_BLOCKSCOUT_HYPEREVM,
    },
    explorer: url === null ? NONE : { kind: 'set', url, key: values.EXHIBIT_EXPLORER_KEY },
    explorerCallsADay: values.EXHIBIT_EXPLORER_CALLS_A_DAY,
    pricesUrl: values.EXHIBIT_PRICES_URL,
    venueUrl: values.EXHIBIT_VENUE_URL,
    hyperliquidUrl: values.EXHIBIT_HYPERLIQUID_URL,
    binance: {
      url: values.EXHIBIT_BINANCE_URL,
      streamUrl: values.EXHIBIT_BINANCE_STREAM_URL,
    },
    bybit: { url: values.EXHIBIT_BYBIT_URL, streamUrl: values.EXHIBIT_BYBIT_STREAM_URL },
    goplus: { url: values.EXHIBIT_GOPLUS_URL, key: values.EXHIBIT_GOPLUS_KEY },
    rugcheck: { url: values.EXHIBIT_RUGCHECK_URL, key: values.EXHIBIT_RUGCHECK_KEY },
    acrossStatusKey: values.EXHIBIT_ACROSS_STATUS_KEY,
    statusUrls: {
      across: values.EXHIBIT_ACROSS_STATUS_URL,
      layerzero: values.EXHIBIT_LAYERZERO_STATUS_URL,
      wormhole: values.EXHIBIT_WORMHOLE_STATUS_URL,
      celer: values.EXHIBIT_CELER_STATUS_URL,
      synapse: values.EXHIBIT_SYNAPSE_STATUS_URL,
      hop: values.EXHIBIT_HOP_STATUS_URL,
    },
  };
}

// The simulated world's embedded stores have a secret of their own, whatever the live one is.
function secretOrigin(values: Values, dataDir: string): SecretOrigin {
  const ownFile = values.EXHIBIT_SIMULATE && values.EXHIBIT_DATABASE_URL === null;
  const current = values.EXHIBIT_SECRET;
  if (current !== null && !ownFile) return { kind: 'given', current };
  return { kind: 'file', path: resolve(dataDir, 'secret') };
}

function viewSettings(given: SettingTexts): SettingView[] {
  return SETTING_NAMES.map((name) => {
    const setting = SETTINGS[name];
    const text = given.get(name);
    const value = text === undefined ? setting.initial : text;
    const from = text === undefined ? 'default' : 'set';
    return { name, value: value === null ? null : viewText(name, value), from };
  });
}

function viewText(name: SettingName, text: string): string {
  const { showing } = SETTINGS[name].reader;
  if (showing === 'nothing') return new Secret(text).toString();
  if (showing === 'value') return text;
  return text
    .split(',')
    .map((one) => new PrivateUrl(one.trim()).shown)
    .join(', ');
}

// Only plain data is walked: the classes of secrets and URLs hold nothing that could be changed.
function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value)) {
    for (const inner of Object.values(value)) freezeDeep(inner);
  }
  return Object.freeze(value);
}

const LOOPBACK_NAMES = ['localhost', '::1'];

function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Adds the simulated world of `npm start`: where no source is set and the host is loopback. */
export function withStartDefaults(env: Environment): Environment {
  const given = readSettings(env);
  const host = given.get('EXHIBIT_HOST') ?? SETTINGS.EXHIBIT_HOST.initial;
  if (given.has('EXHIBIT_SIMULATE') || namesASource(given) || !isLoopback(host)) return env;
  return { ...env, EXHIBIT_SIMULATE: 'true' };
}

/** Reads the preferences of the terminal, by the customs of NO_COLOR and TERM. */
export function readTerminal(): { readonly noColour: boolean; readonly dumb: boolean } {
  const noColour = process.env['NO_COLOR'];
  return {
    noColour: noColour !== undefined && noColour !== '',
    dumb: process.env['TERM'] === 'dumb',
  };
}

/**
 * The configuration of this process: its environment, and beneath it the .env of its working
 * directory. `start` adds what `npm start` does; `flags` are settings given as arguments.
 */
export function readConfig(
  how: { readonly start?: boolean; readonly flags?: Environment } = {},
): Configured {
  const cwd = process.cwd();
  const file = readDotEnv(resolve(cwd, '.env'));
  if (!file.ok) return { ok: false, problems: [file.problem] };
  const env = { ...file.env, ...process.env, ...how.flags };
  return parseConfig(how.start === true ? withStartDefaults(env) : env, { cwd });
}

const DOT_ENV_BYTES_MAX = 1 << 20;

function readDotEnv(
  file: string,
): { readonly ok: true; readonly env: Environment } | { readonly ok: false; problem: string } {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > DOT_ENV_BYTES_MAX) return { ok: false, problem: '.env: over 1 MiB' };
    return { ok: true, env: parseEnv(text) };
  } catch (fault) {
    const code = fault instanceof Error && 'code' in fault ? fault.code : 'unreadable';
    if (code === 'ENOENT') return { ok: true, env: {} };
    return { ok: false, problem: `.env: cannot be read (${String(code)})` };
  }
}

// The secret of an embedded deployment is made once, readable by its owner only, and never
// replaced: what it protects would be lost.

const SECRET_BYTES = 32;
const SECRET_FORM = /^[0-9a-f]{64}$/;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_DIR = 0o700;
const OTHERS = 0o077;

/**
 * The secret, made on first use where it lives in a file. Throws where the file holds something
 * else, or where others of the machine can read it.
 */
export async function secretOf(origin: SecretOrigin): Promise<Secret> {
  if (origin.kind === 'given') return origin.current;
  const held = await readHeld(origin.path);
  if (held !== null) return held;
  await makeOnce(origin.path);
  const made = await readHeld(origin.path);
  if (made === null) throw new Error(`The secret file could not be made: ${origin.path}`);
  return made;
}

async function readHeld(path: string): Promise<Secret | null> {
  const facts = await stat(path).catch(absent);
  if (facts === null) return null;
  if ((facts.mode & OTHERS) !== 0) {
    throw new Error(`The secret file can be read by others; chmod 600 it: ${path}`);
  }
  const text = (await readFile(path, 'utf8')).trim();
  if (!SECRET_FORM.test(text)) throw new Error(`The secret file holds no secret: ${path}`);
  return new Secret(text);
}

function absent(fault: unknown): null {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
  throw fault;
}

// Written whole beside its place and linked there: of two makers one wins, and none sees a half.
async function makeOnce(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_DIR });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(draft, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString('hex')}\n`);
    await file.sync();
    await link(draft, path).catch(alreadyThere);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

function alreadyThere(fault: unknown): void {
  if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
}
