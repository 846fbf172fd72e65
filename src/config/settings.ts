// Answers one question: which settings are there, what do they take, and what holds without them.
// The reference page, the example file and `exhibit config` are made from this one table.

import type { ChainName, EvmChainName } from '../chain/chain.ts';
import {
  ageLimit,
  decimal,
  duration,
  evmAddress,
  flag,
  host,
  oneOf,
  pairs,
  path,
  publicUrl,
  type Reader,
  secret,
  secretBeginning,
  someOf,
  url,
  urls,
  whole,
  word,
} from './readers.ts';
import { type PrivateUrl, Secret } from './secret.ts';

/** What one process can serve. */
export const SURFACES = [
  'hosted',
  'intelligence',
  'signals',
  'edge',
  'integrations',
  'mcp',
  'web',
] as const;
export type SurfaceName = (typeof SURFACES)[number];

/** The plans that a payment platform's ids can be mapped to. */
const PLAN_NAMES = ['analyst', 'desk', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** The tiers of intelligence tokens. */
const TIERS = ['free', 'pro', 'desk'] as const;
export type TierName = (typeof TIERS)[number];

/** How the warehouse's tables lie. */
const LAYOUTS = ['single', 'cluster'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

const EVM_CHAINS = [
  'ethereum',
  'arbitrum',
  'base',
  'bsc',
  'polygon',
  'hyperevm',
] as const satisfies readonly EvmChainName[];
const RPC_CHAINS = [...EVM_CHAINS, 'solana', 'bitcoin'] as const satisfies readonly ChainName[];

/** The headings of the reference page, in its order. */
export const GROUPS = {
  serving: 'Serving',
  stores: 'Stores',
  sanctions: 'The sanctions list',
  sources: 'Sources',
  access: 'Access and secrets',
  limits: 'Limits',
  outputs: 'Outputs and integrations',
  simulation: 'Simulation',
} as const;
export type GroupName = keyof typeof GROUPS;

/** How a value may be printed: as it is, by scheme and host only, or not at all. */
export type Showing = 'value' | 'origin' | 'nothing';

/** One setting. `initial` is the text that holds where it is not set; `unset` says so in words. */
export type Setting<T, I extends string | null> = {
  readonly group: GroupName;
  readonly reader: Reader<T>;
  readonly initial: I;
  readonly unset: string;
  readonly showing: Showing;
  readonly meaning: string;
};

type Facts<T> = {
  readonly reader: Reader<T>;
  readonly meaning: string;
  readonly showing?: Showing;
  readonly unset?: string;
};

function withInitial<T>(group: GroupName, initial: string, facts: Facts<T>): Setting<T, string> {
  return { group, initial, showing: 'value', unset: `\`${initial}\``, ...facts };
}

function optional<T>(group: GroupName, facts: Facts<T>): Setting<T, null> {
  return { group, initial: null, showing: 'value', unset: 'none', ...facts };
}

function address(group: GroupName, meaning: string, unset = 'none'): Setting<PrivateUrl, null> {
  const reader = url('https', 'http');
  return optional(group, { reader, meaning, unset, showing: 'origin' });
}

function source(meaning: string): Setting<PrivateUrl, null> {
  return address('sources', meaning);
}

function named<const N extends string, S>(name: N, setting: S): { readonly [K in N]: S } {
  return { [name]: setting } as { readonly [K in N]: S };
}

function forChains<const P extends string, const C extends ChainName>(
  prefix: P,
  chains: readonly C[],
  meaning: (chain: C) => string,
): { readonly [K in `${P}${Uppercase<C>}`]: Setting<PrivateUrl, null> } {
  const rows = chains.map((chain) => named(prefix + chain.toUpperCase(), source(meaning(chain))));
  return Object.assign({}, ...rows) as ReturnType<typeof forChains<P, C>>;
}

const SECRET_CHARS_MIN = 16;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

/** Where the publisher keeps the list. */
export const PUBLISHER_URL =
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.ZIP';

const port = whole(0, 65_535, 'a port');

const SERVING = {
  EXHIBIT_HOST: withInitial('serving', '127.0.0.1', {
    reader: host,
    meaning: 'Address to listen on.',
  }),
  EXHIBIT_PORT: withInitial('serving', '8080', {
    reader: port,
    meaning: 'Port to listen on; `0` takes a free one.',
  }),
  EXHIBIT_PUBLIC_URL: optional('serving', {
    reader: publicUrl,
    unset: 'the listening address',
    meaning: 'Base of the links in answers. It is public: it takes no user info and no query.',
  }),
  EXHIBIT_OPS_PORT: optional('serving', {
    reader: port,
    meaning:
      'A loopback port for `/metrics` and the detail of `/ready`; on the public port both need ' +
      '`EXHIBIT_ADMIN_TOKEN`.',
  }),
  EXHIBIT_SURFACES: withInitial('serving', SURFACES.join(','), {
    reader: someOf(SURFACES),
    unset: 'all of them',
    meaning: `What this process serves: a comma list of ${SURFACES.join(', ')}.`,
  }),
  EXHIBIT_TRUST_PROXY: withInitial('serving', 'false', {
    reader: flag,
    meaning: 'Whether `X-Forwarded-*` headers are believed.',
  }),
} as const;

const STORES = {
  EXHIBIT_DATA_DIR: withInitial('stores', './data', {
    reader: path,
    meaning: 'Everything embedded lives here.',
  }),
  EXHIBIT_DATABASE_URL: optional('stores', {
    reader: url('postgresql', 'postgres'),
    unset: 'embedded',
    showing: 'origin',
    meaning: 'PostgreSQL of the control plane: keys, memberships, quota, lists and tables.',
  }),
  EXHIBIT_WAREHOUSE_URL: optional('stores', {
    reader: url('https', 'http'),
    unset: 'embedded',
    showing: 'origin',
    meaning: 'ClickHouse of the transfer warehouse, by its HTTP interface.',
  }),
  EXHIBIT_WAREHOUSE_LAYOUT: withInitial('stores', 'single', {
    reader: oneOf(LAYOUTS),
    meaning:
      'How its tables lie: `single` on one server, `cluster` on shards and replicas (its servers ' +
      'need the macros `cluster`, `shard` and `replica`). It cannot be changed afterwards.',
  }),
  EXHIBIT_BUS_URL: optional('stores', {
    reader: url('rediss', 'redis'),
    unset: 'in-process',
    showing: 'origin',
    meaning: 'Redis for the flag stream and for word between processes.',
  }),
} as const;

const SANCTIONS = {
  EXHIBIT_SDN_URL: withInitial('sanctions', PUBLISHER_URL, {
    reader: urls('https', 'http', 'file'),
    unset: "the publisher's address",
    showing: 'origin',
    meaning:
      'The sanctions list; `file:` URLs too. Several, comma-separated, are mirrors of one list, ' +
      'tried in order: the first that passes the gate serves.',
  }),
  EXHIBIT_SDN_REFRESH: withInitial('sanctions', '1h', {
    reader: duration('h', MINUTE_MS, YEAR_MS),
    meaning: 'How often `work` and `up` ask for a newer list. A bare number is hours.',
  }),
  EXHIBIT_SDN_FLOOR: withInitial('sanctions', '500', {
    reader: whole(1, 1_000_000, 'distinct addresses'),
    meaning: 'Distinct addresses below which a list is refused.',
  }),
  EXHIBIT_SDN_MAX_AGE: withInitial('sanctions', '7d', {
    reader: ageLimit('d', 100 * YEAR_MS),
    meaning:
      'Age of the last successful check past which a miss is no answer. A bare number is days; ' +
      '`none` lifts it, and every answer says so.',
  }),
} as const;

const SOURCES = {
  ...forChains('EXHIBIT_RPC_', RPC_CHAINS, (chain) =>
    chain === 'bitcoin' ? 'Bitcoin Core JSON-RPC.' : `JSON-RPC endpoint of ${chain}.`,
  ),
  EXHIBIT_EXPLORER_URL: source('Etherscan-V2-compatible API: the whole endpoint, `…/v2/api`.'),
  EXHIBIT_EXPLORER_KEY: optional('sources', {
    reader: secret(1),
    showing: 'nothing',
    meaning: 'Its key.',
  }),
  ...forChains('EXHIBIT_BLOCKSCOUT_', EVM_CHAINS, (chain) => `Blockscout instance of ${chain}.`),
  EXHIBIT_VENUE_URL: source('DexScreener-compatible API: its root.'),
  EXHIBIT_PRICES_URL: source('DefiLlama-coins-compatible API: its root.'),
  EXHIBIT_HYPERLIQUID_URL: source('Hyperliquid info API: its root.'),
  EXHIBIT_BINANCE_URL: source('Public API of a derivatives venue, Binance-compatible.'),
  EXHIBIT_BYBIT_URL: source('Public API of a derivatives venue, Bybit-compatible.'),
} as const;

const ACCESS = {
  EXHIBIT_SECRET: optional('access', {
    reader: secret(SECRET_CHARS_MIN),
    showing: 'nothing',
    unset: 'generated once into the data directory (mode 0600) when the stores are embedded',
    meaning:
      'Root of the key pepper, cookie and encryption keys. Required with ' +
      `\`EXHIBIT_DATABASE_URL\`; at least ${SECRET_CHARS_MIN} characters ` +
      '(`openssl rand -hex 32` makes one). The simulated world keeps its own.',
  }),
  EXHIBIT_SECRET_PREVIOUS: optional('access', {
    reader: secret(SECRET_CHARS_MIN),
    showing: 'nothing',
    meaning: 'The secret before, during a rotation.',
  }),
  EXHIBIT_ADMIN_TOKEN: optional('access', {
    reader: secret(1),
    showing: 'nothing',
    meaning: 'Opens the operator routes (`/admin/*`), sent as a bearer token. Off when unset.',
  }),
  EXHIBIT_INTELLIGENCE_TOKENS: optional('access', {
    reader: pairs(`tier:token pairs, comma-separated (tiers ${TIERS.join(', ')})`, (tier, text) => {
      const known = TIERS.find((one) => one === tier);
      const good = /^[^\s\p{C}]+$/u.test(text);
      return known === undefined || !good ? undefined : { tier: known, token: new Secret(text) };
    }),
    showing: 'nothing',
    meaning:
      'Bearer tokens of the intelligence service: `tier:token` pairs, comma-separated. Tokens of ' +
      '`exhibit tokens mint` need no setting.',
  }),
  EXHIBIT_ALLOW_ANONYMOUS: withInitial('access', 'false', {
    reader: flag,
    meaning:
      'The intelligence service without a token; also the flag `--allow-anonymous`. With neither ' +
      'a token nor this the service refuses to start that surface.',
  }),
  EXHIBIT_PAYMENT_WEBHOOK_SECRET: optional('access', {
    reader: secretBeginning('whsec_'),
    showing: 'nothing',
    meaning: 'Signing secret of the payment platform. Without it the webhook route answers 503.',
  }),
  EXHIBIT_PLANS: optional('access', {
    reader: pairs(`id:plan pairs, comma-separated (plans ${PLAN_NAMES.join(', ')})`, (id, plan) => {
      const known = PLAN_NAMES.find((one) => one === plan);
      return known === undefined ? undefined : { id, plan: known };
    }),
    meaning:
      "Which plan a payment platform's product or plan id means: `plan_x:desk`, comma-separated.",
  }),
} as const;

const LIMITS = {
  EXHIBIT_LIVE_BUDGET_S: withInitial('limits', '20', {
    reader: duration('s', 1_000, 5 * MINUTE_MS),
    meaning: 'Time for a live read inside a request. A bare number is seconds.',
  }),
  EXHIBIT_TIP_MAX_AGE: withInitial('limits', '1h', {
    reader: duration('h', MINUTE_MS, 30 * DAY_MS),
    meaning: "Age at which a chain's tip carries no negative. A bare number is hours.",
  }),
  EXHIBIT_EXIT_LIQUIDITY_USD: withInitial('limits', '1000', {
    reader: decimal(0, 1_000_000_000, 'US dollars'),
    meaning: 'Pooled liquidity, in US dollars, below which a launch has ended.',
  }),
} as const;

function messenger(platform: string): Setting<PrivateUrl, null> {
  const meaning = `Root of ${platform}'s API. Only the operator overrides it, never a client.`;
  return address('outputs', meaning, "the platform's own host");
}

const OUTPUTS = {
  EXHIBIT_SLACK_URL: messenger('Slack'),
  EXHIBIT_DISCORD_URL: messenger('Discord'),
  EXHIBIT_TELEGRAM_URL: messenger('Telegram'),
  EXHIBIT_ANALYST_URL: address(
    'outputs',
    'Language model for the analyst, by a chat-completions API.',
  ),
  EXHIBIT_ANALYST_KEY: optional('outputs', {
    reader: secret(1),
    showing: 'nothing',
    meaning: 'Its key.',
  }),
  EXHIBIT_ANALYST_MODEL: optional('outputs', { reader: word, meaning: 'Its model.' }),
  EXHIBIT_ANCHOR_CONTRACT: optional('outputs', {
    reader: evmAddress,
    meaning: 'Contract that signals are anchored in.',
  }),
  EXHIBIT_ANCHOR_KEY: optional('outputs', {
    reader: secret(1),
    showing: 'nothing',
    meaning: 'Key that pays for anchoring.',
  }),
  EXHIBIT_ANCHOR_CHAIN: optional('outputs', {
    reader: oneOf(EVM_CHAINS),
    meaning: 'Chain of the contract.',
  }),
  EXHIBIT_RECEIPTS_DIR: withInitial('outputs', './receipts', {
    reader: path,
    meaning: 'Folder of receipts.',
  }),
  EXHIBIT_OTEL_URL: address('outputs', 'Trace collector, OTLP over HTTP.'),
} as const;

const SIMULATION = {
  EXHIBIT_SIMULATE: withInitial('simulation', 'false', {
    reader: flag,
    unset: '`false`; `npm start` sets it when no source is set and the host is loopback',
    meaning:
      'Serve the built-in simulated world, from `$EXHIBIT_DATA_DIR/simulated`, labelled as such.',
  }),
  EXHIBIT_WORLD_FAULTS: optional('simulation', {
    reader: pairs('provider:fault pairs, comma-separated', (provider, fault) =>
      /^[a-z0-9-]+$/.test(provider) && /^[a-z0-9-]+$/.test(fault) ? { provider, fault } : undefined,
    ),
    meaning: 'Faults of the simulated providers: `explorer:rate-limited,venue:timeout`.',
  }),
} as const;

/** Every setting by its name, in the order of the reference page. */
export const SETTINGS = {
  ...SERVING,
  ...STORES,
  ...SANCTIONS,
  ...SOURCES,
  ...ACCESS,
  ...LIMITS,
  ...OUTPUTS,
  ...SIMULATION,
} as const;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends Setting<infer T, infer I> ? (I extends null ? T | null : T) : never;

/** The value of every setting; `null` where it is not set and has no initial text. */
export type Values = { readonly [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> };
