// One row is all there is of a setting: its parsing, what `exhibit config` prints, the reference
// page, the example file and the check of unknown names are made from this table. `readers.ts` has
// the reader of each row: it parses a text, says what it `expected`, and whether the value is shown
// as it is, by its origin (an address: scheme and host) or not at all. A duration is milliseconds;
// its reader takes the unit of a bare number, the least and the most.

import { CHAIN_NAMES, CHAINS, type ChainName, chainById, EVM_CHAINS } from '../chain/chain.ts';
import {
  ageLimit,
  assets,
  contractAddress,
  duration,
  faults,
  headerText,
  host,
  hostName,
  idsTo,
  keyAndSecret,
  linksFor,
  oneWord,
  type PrivateUrl,
  path,
  priceOfTokens,
  privateKey,
  publicUrl,
  type SettingReader,
  secret,
  someWords,
  tokensOf,
  trueOrFalse,
  url,
  urls,
  urlsFor,
  webhookSecrets,
  whole,
  witnesses,
} from './readers.ts';

/** The surfaces that a process serves: of routes, of pages, and of tools (`mcp`). */
const SURFACES = [
  'edge',
  'hosted',
  'integrations',
  'intelligence',
  'mcp',
  'signals',
  'web',
] as const;
export type SurfaceName = (typeof SURFACES)[number];

const TIERS = ['free', 'pro', 'desk'] as const;
export type TierName = (typeof TIERS)[number];

const PLANS = ['analyst', 'desk', 'enterprise'] as const;
export type SoldPlan = (typeof PLANS)[number];

const LAYOUTS = ['single', 'cluster'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** One setting. `initial` is the text that holds where it is not set; `unset` says so in words. */
type Setting<T, I extends string | null> = {
  readonly initial: I;
  /** Which texts it takes, and whether they are secret. */
  readonly reader: SettingReader<T>;
  readonly meaning: string;
  readonly unset: string;
  /** The setting without which this one means nothing. */
  readonly needs: string | null;
};

type Words = { readonly unset?: string; readonly needs?: string };

function withInitial<T>(
  initial: string,
  reader: SettingReader<T>,
  meaning: string,
  words: Words = {},
): Setting<T, string> {
  return { initial, reader, meaning, unset: `\`${initial}\``, needs: null, ...words };
}

function optional<T>(
  reader: SettingReader<T>,
  meaning: string,
  words: Words = {},
): Setting<T, null> {
  return { initial: null, reader, meaning, unset: 'none', needs: null, ...words };
}

function forChains<const P extends string, const C extends ChainName>(
  prefix: P,
  chains: readonly C[],
  meaning: (chain: C) => string,
): { readonly [K in `${P}${Uppercase<C>}`]: Setting<PrivateUrl, null> } {
  const rows = chains.map((chain) => [
    prefix + chain.toUpperCase(),
    optional(WEB_URL, meaning(chain)),
  ]);
  return Object.fromEntries(rows) as ReturnType<typeof forChains<P, C>>;
}

const SECRET_CHARS_MIN = 16;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
const WEB_URL = url('https', 'http');
const PORT = whole(0, 65_535, 'a port');

/** Where the publisher keeps the list. */
export const PUBLISHER_URL =
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.ZIP';

/** The links to an explorer, by chain. */
const EXPLORER_LINKS = CHAIN_NAMES.flatMap((chain) => [`${chain}.address`, `${chain}.tx`] as const);

const SERVING = {
  EXHIBIT_HOST: withInitial('127.0.0.1', host, 'Address to listen on.'),
  EXHIBIT_PORT: withInitial('8080', PORT, 'Port to listen on; `0` takes a free one.'),
  EXHIBIT_PUBLIC_URL: optional(
    publicUrl,
    'Scheme and host of the links in answers, of the cookies and of the forms that are taken. It ' +
      'takes no user info, no path and no query.',
    { unset: 'the listening address' },
  ),
  EXHIBIT_RECEIPTS_DIR: optional(path, 'Folder of the receipts that are published.', {
    unset: '`./receipts`',
  }),
  EXHIBIT_EXPLORER_LINKS: optional(
    linksFor(EXPLORER_LINKS),
    'Where pages link an address or a transaction at an explorer of others: ' +
      '`ethereum.address:https://explorer.example/address/{},' +
      'ethereum.tx:https://explorer.example/tx/{}`. `{}` is its place. Nothing is asked there: ' +
      'it is a link, which sends no referrer. `none` links nothing.',
    { unset: 'the public explorer of each chain; of the simulated world none' },
  ),
  EXHIBIT_OPS_PORT: optional(
    PORT,
    'A loopback port for `/metrics` and the detail of `/ready`; on the public port both need ' +
      '`EXHIBIT_ADMIN_TOKEN`.',
  ),
  EXHIBIT_SURFACES: withInitial(
    SURFACES.join(','),
    someWords(SURFACES),
    `What this process serves: a comma list of ${SURFACES.join(', ')}.`,
    { unset: 'all of them' },
  ),
  EXHIBIT_TRUST_PROXY: withInitial(
    'false',
    trueOrFalse,
    'Whether the service stands behind one proxy, which writes the address of each client at the ' +
      'end of `X-Forwarded-For`: sign-in limits and the list of sessions then go by it. Scheme ' +
      'and host come from `EXHIBIT_PUBLIC_URL`, which it needs, and from no header.',
  ),
  EXHIBIT_DRAIN: withInitial(
    '0s',
    duration('s', 0, 5 * MINUTE_MS),
    'How long a process that was told to stop answers on while `/ready` says `draining` (503), ' +
      'so that a load balancer sends it nothing new. Then its streams are told to move, and it ' +
      'listens no more. A bare number is seconds.',
  ),
  EXHIBIT_SLOW_READ: withInitial(
    '2s',
    duration('s', 0, 5 * MINUTE_MS),
    'A reading of a port that takes longer is logged by the port, the method and the time, and ' +
      'never by what was asked for; `0`: none is. A bare number is seconds.',
  ),
  EXHIBIT_OTLP_URL: optional(
    WEB_URL,
    'A collector of OpenTelemetry traces: its root, under which `/v1/traces` takes OTLP as JSON. ' +
      'A trace names routes, jobs, ports and hosts of providers, and never what was asked for.',
    { unset: 'none is made' },
  ),
  EXHIBIT_TRACED_PERCENT: withInitial(
    '100',
    whole(0, 100, 'a share of the requests'),
    'Of how many requests and runs of jobs in a hundred a trace is made, where ' +
      '`EXHIBIT_OTLP_URL` is set.',
  ),
  EXHIBIT_PROXY_URL: optional(
    WEB_URL,
    'A proxy for all calls to providers and to the publisher of the list, its user info ' +
      'included. Addresses inside this network and names without a dot are asked directly.',
  ),
} as const;

const STORES = {
  EXHIBIT_DATA_DIR: withInitial('./data', path, 'Everything embedded lives here.'),
  EXHIBIT_DATABASE_URL: optional(
    url('postgresql', 'postgres'),
    'PostgreSQL of the control plane: keys, memberships, quota, lists and tables.',
    { unset: 'embedded', needs: 'EXHIBIT_SECRET' },
  ),
  EXHIBIT_WAREHOUSE_URL: optional(
    WEB_URL,
    'ClickHouse of the transfer warehouse, by its HTTP interface.',
    { unset: 'embedded' },
  ),
  EXHIBIT_WAREHOUSE_LAYOUT: withInitial(
    'single',
    oneWord(LAYOUTS),
    'How its tables lie: `single` on one server, `cluster` on shards and replicas (its servers ' +
      'need the macros `cluster`, `shard` and `replica`). It cannot be changed afterwards.',
    { needs: 'EXHIBIT_WAREHOUSE_URL' },
  ),
  EXHIBIT_LEASE_MAX: withInitial(
    '10m',
    duration('s', 1_000, 10 * MINUTE_MS),
    'The longest that a process takes the lease of a job for, before it takes it anew. Shorter: ' +
      'the jobs of a lost process go on elsewhere sooner, and those of a slow one move away ' +
      'while it works on them. A bare number is seconds.',
  ),
} as const;

const SANCTIONS = {
  EXHIBIT_SDN_URL: withInitial(
    PUBLISHER_URL,
    urls('https', 'http', 'file'),
    'The sanctions list; `file:` URLs too. The first is the publisher, whose word alone is a ' +
      'check; the others, comma-separated, are its mirrors, asked where it gave no list.',
    { unset: "the publisher's address" },
  ),
  EXHIBIT_SDN_REFRESH: withInitial(
    '1h',
    duration('h', MINUTE_MS, YEAR_MS),
    'How often `work` and `up` ask for a newer list. A bare number is hours.',
  ),
  EXHIBIT_SDN_FLOOR: withInitial(
    '500',
    whole(1, 1_000_000, 'distinct addresses'),
    'Distinct addresses below which a list is refused.',
  ),
  EXHIBIT_SDN_MAX_AGE: withInitial(
    '7d',
    ageLimit('d', 100 * YEAR_MS),
    'Age of the last check past which a miss is no answer. A bare number is days; ' +
      '`none` lifts it, and every answer says so.',
  ),
  EXHIBIT_SDN_USER_AGENT: optional(
    headerText,
    "What the list is asked for with. The publisher's firewall refuses what does not begin with " +
      '`Mozilla/` and a digit or has under 40 characters.',
    { unset: '`Mozilla/5.0 (compatible; exhibit/<version>; sanctions list refresh)`' },
  ),
} as const;

const SOURCES = {
  ...forChains('EXHIBIT_RPC_', CHAIN_NAMES, (chain) =>
    chain === 'bitcoin' ? 'Bitcoin Core JSON-RPC.' : `JSON-RPC endpoint of ${chain}.`,
  ),
  EXHIBIT_EXPLORER_URL: optional(
    WEB_URL,
    'Etherscan-V2-compatible API: the whole endpoint, `…/v2/api`.',
  ),
  EXHIBIT_EXPLORER_KEY: optional(secret(1), 'Its key.', { needs: 'EXHIBIT_EXPLORER_URL' }),
  EXHIBIT_EXPLORER_CALLS_A_DAY: optional(
    whole(1, 1_000_000_000, 'calls'),
    'Calls of a day that its plan allows: `exhibit doctor` tells how many are used, and warns.',
    { needs: 'EXHIBIT_EXPLORER_URL' },
  ),
  ...forChains('EXHIBIT_BLOCKSCOUT_', EVM_CHAINS, (chain) => `Blockscout instance of ${chain}.`),
  EXHIBIT_PRICES_URL: optional(WEB_URL, 'DefiLlama-coins-compatible API: its root.'),
  EXHIBIT_VENUE_URL: optional(WEB_URL, 'DexScreener-compatible API: its root.'),
  EXHIBIT_HYPERLIQUID_URL: optional(WEB_URL, 'Hyperliquid API, under which `/info` is: its root.'),
  EXHIBIT_BINANCE_URL: optional(
    WEB_URL,
    'Binance futures API, under which `/fapi` and `/futures/data` are: its root, such as ' +
      '`https://fapi.binance.com`. Marks, candles, funding and open interest are observed.',
  ),
  EXHIBIT_BINANCE_STREAM_URL: optional(
    url('wss', 'ws'),
    'Its stream of liquidations: the whole address, such as ' +
      '`wss://fstream.binance.com/market/ws`; an address without a route stays silent.',
  ),
  EXHIBIT_BYBIT_URL: optional(
    WEB_URL,
    'Bybit API, under which `/v5/market` is: its root, such as `https://api.bybit.com`.',
  ),
  EXHIBIT_BYBIT_STREAM_URL: optional(
    url('wss', 'ws'),
    'Its stream of liquidations: the whole address, such as ' +
      '`wss://stream.bybit.com/v5/public/linear`.',
  ),
  EXHIBIT_GOPLUS_URL: optional(
    WEB_URL,
    'GoPlus: its root. Its statements on tokens of Ethereum are collected and scored.',
  ),
  EXHIBIT_GOPLUS_KEY: optional(
    keyAndSecret,
    'Its application key and secret, as `key:secret`; without them it answers light use.',
    { needs: 'EXHIBIT_GOPLUS_URL' },
  ),
  EXHIBIT_RUGCHECK_URL: optional(
    WEB_URL,
    'RugCheck: its root. Its statements on tokens of Solana are collected and scored.',
  ),
  EXHIBIT_RUGCHECK_KEY: optional(secret(1), 'Its key.', { needs: 'EXHIBIT_RUGCHECK_URL' }),
  EXHIBIT_ACROSS_STATUS_URL: optional(WEB_URL, 'Status of deposits: Across API, `…/api`.'),
  EXHIBIT_ACROSS_STATUS_KEY: optional(secret(1), 'Its key.', {
    needs: 'EXHIBIT_ACROSS_STATUS_URL',
  }),
  EXHIBIT_LAYERZERO_STATUS_URL: optional(
    WEB_URL,
    'Status of deposits of LayerZero and Stargate: LayerZero Scan API, `…/v1`.',
  ),
  EXHIBIT_WORMHOLE_STATUS_URL: optional(WEB_URL, 'Status of deposits: Wormholescan, its root.'),
  EXHIBIT_CELER_STATUS_URL: optional(WEB_URL, 'Status of deposits: cBridge gateway, its root.'),
  EXHIBIT_SYNAPSE_STATUS_URL: optional(
    WEB_URL,
    'Status of deposits: the GraphQL endpoint of Synapse’s explorer, `…/graphql`.',
  ),
  EXHIBIT_HOP_STATUS_URL: optional(WEB_URL, 'Status of deposits: Hop API, its root.'),
} as const;

const ACCESS = {
  EXHIBIT_SECRET: optional(
    secret(SECRET_CHARS_MIN),
    'Root of the secret under which keys and tokens are hashed. Required with ' +
      `\`EXHIBIT_DATABASE_URL\`; at least ${SECRET_CHARS_MIN} characters ` +
      '(`openssl rand -hex 32` makes one). The simulated world keeps its own.',
    { unset: 'generated once into the data directory (mode 0600) when the stores are embedded' },
  ),
  EXHIBIT_SECRET_PREVIOUS: optional(
    secret(SECRET_CHARS_MIN),
    'The secret before, during a rotation.',
  ),
  EXHIBIT_API_KEY: optional(
    secret(1),
    'The API key with which `look`, `screen` and `mcp` ask a running service. `--key-file` and ' +
      '`--key` win over it.',
    { unset: 'none; beside a simulated service its own demo key' },
  ),
  EXHIBIT_ADMIN_TOKEN: optional(
    secret(SECRET_CHARS_MIN),
    'Opens `/metrics` and the detail of `/ready` on the public port, sent as a bearer token of ' +
      `at least ${SECRET_CHARS_MIN} characters.`,
  ),
  EXHIBIT_INTELLIGENCE_TOKENS: optional(
    tokensOf(TIERS, SECRET_CHARS_MIN),
    'Bearer tokens of the intelligence service: `tier:token` pairs, comma-separated, each token ' +
      `of at least ${SECRET_CHARS_MIN} characters. ` +
      'Tokens of `exhibit tokens mint` need no setting.',
  ),
  EXHIBIT_GITHUB_URL: optional(
    WEB_URL,
    "GitHub's REST API: its root, `https://api.github.com`. The keys that it names tell reports " +
      'of its secret scanning from forgeries; without it `POST /api/v1/keys/leaked/github` ' +
      'answers 404 and takes nothing.',
  ),
  EXHIBIT_ALLOW_ANONYMOUS: withInitial(
    'false',
    trueOrFalse,
    'The intelligence service without a token; also the flag `--allow-anonymous`. With neither ' +
      'this nor a token, set or minted, a process whose `EXHIBIT_SURFACES` names that surface ' +
      'does not start; where it is not set, the surface answers 401 until a token is minted.',
  ),
} as const;

const MEMBERSHIPS = {
  EXHIBIT_PAYMENT_WEBHOOK_SECRET: optional(
    webhookSecrets,
    'What the payment platform signs its events with: `whsec_…` or `ws_…`, as the platform shows ' +
      'it; several, comma-separated, while one takes the place of another. Without it ' +
      '`POST /webhooks/payments` answers 404 and takes nothing.',
  ),
  EXHIBIT_PLANS: optional(
    idsTo(PLANS),
    'Which plan a plan or product of the payment platform buys: `plan_x:desk,prod_y:analyst`. ' +
      'A purchase of what is not named is held, and the log says so.',
  ),
  EXHIBIT_CHECKOUTS: optional(
    urlsFor(PLANS),
    'Where each plan is bought, as the page of plans links it: `desk:https://…,analyst:https://…`.',
  ),
} as const;

const LOG = {
  EXHIBIT_LOG_ORIGIN: optional(
    hostName,
    'The host name under which the transparency log signs and is served: `exhibit.example`. It ' +
      'cannot be changed without ending the log (`exhibit log restart`).',
    { unset: 'none: statements become leaves, and no checkpoint is signed' },
  ),
  EXHIBIT_LOG_WITNESSES: optional(
    witnesses,
    'Witnesses that sign checkpoints of the log too (C2SP tlog-witness): ' +
      '`https://witness.example/api#witness.example+530d903a+BA…`, comma-separated, each URL with ' +
      'the verifier key of the witness behind `#`.',
    { needs: 'EXHIBIT_LOG_ORIGIN' },
  ),
} as const;

const CHATS = {
  EXHIBIT_SLACK_URL: optional(
    WEB_URL,
    'Where Slack is asked, in the place of its own hosts: a root, to which `/services/…` of ' +
      'webhooks and `/api/…` of bots are appended.',
    { unset: '`https://hooks.slack.com` and `https://slack.com`' },
  ),
  EXHIBIT_DISCORD_URL: optional(WEB_URL, 'Where Discord is asked: a root.', {
    unset: '`https://discord.com`',
  }),
  EXHIBIT_TELEGRAM_URL: optional(WEB_URL, 'Where the Bot API of Telegram is asked: a root.', {
    unset: '`https://api.telegram.org`',
  }),
} as const;

const ANALYST = {
  EXHIBIT_ANALYST_URL: optional(
    WEB_URL,
    'A language model that may word the verdicts which the rules support: the whole endpoint, ' +
      '`…/v1/chat/completions` of an OpenAI-compatible service, or of an Anthropic-compatible ' +
      'one, whose path ends in `/messages`. It is sent bundles of public evidence, and no tools.',
    { unset: 'none: the rules word them', needs: 'EXHIBIT_ANALYST_MODEL' },
  ),
  EXHIBIT_ANALYST_KEY: optional(secret(1), 'Its key.', { needs: 'EXHIBIT_ANALYST_URL' }),
  EXHIBIT_ANALYST_MODEL: optional(
    headerText,
    'The name of the model, as the service takes it and as signals show it.',
    { needs: 'EXHIBIT_ANALYST_PRICE' },
  ),
  EXHIBIT_ANALYST_PRICE: optional(
    priceOfTokens,
    'What it costs: US dollars for a million tokens in and out, `0.15:0.60`.',
    { needs: 'EXHIBIT_ANALYST_URL' },
  ),
  EXHIBIT_ANALYST_USD_A_DAY: withInitial(
    '5',
    whole(1, 100_000, 'US dollars'),
    'What all processes together may spend on it in a day (UTC); past that the rules word the ' +
      'verdicts.',
    { needs: 'EXHIBIT_ANALYST_URL' },
  ),
} as const;

const LIMITS = {
  EXHIBIT_LIVE_BUDGET_S: withInitial(
    '20',
    duration('s', 1_000, 5 * MINUTE_MS),
    'Time for a live read inside a request. A bare number is seconds.',
  ),
  EXHIBIT_LIVE_HOLD: withInitial(
    '60s',
    duration('s', 0, HOUR_MS),
    'How long a live reading serves further questions, dated as it was read; `0`: only questions ' +
      'that are asked while it is under way. A bare number is seconds.',
  ),
  EXHIBIT_TIP_MAX_AGE: withInitial(
    '1h',
    duration('h', MINUTE_MS, 30 * DAY_MS),
    "Age at which a chain's tip carries no negative. A bare number is hours.",
  ),
  EXHIBIT_RING_CALLS: withInitial(
    '50000',
    whole(0, 100_000_000, 'calls'),
    'Calls of explorers a day to read the histories of listed addresses ahead; `0`: none are read.',
  ),
  EXHIBIT_SIGNAL_CALLS: withInitial(
    '10000',
    whole(0, 100_000_000, 'calls'),
    'Calls outside a day (UTC), of all processes together, for the evidence of signals; `0`: ' +
      'signals rest on what is held.',
  ),
  EXHIBIT_EDGE_ASSETS: withInitial(
    'BTC,ETH,SOL',
    assets,
    'The assets that are observed at the venues which are set, and of which calls are made: ' +
      'letters and digits, as Hyperliquid writes them, `kPEPE` for a thousand PEPE.',
  ),
  EXHIBIT_EXIT_LIQUIDITY_USD: withInitial(
    '1000',
    whole(1, 1_000_000_000, 'US dollars'),
    'Pooled liquidity in US dollars below which a listed launch has died.',
  ),
} as const;

const ANCHORING = {
  EXHIBIT_ANCHOR_CONTRACT: optional(
    contractAddress,
    'The anchoring contract (`solidity/ExhibitAnchor.sol`) that holds roots of the log. A node ' +
      'of its chain is asked for them.',
  ),
  EXHIBIT_ANCHOR_RPC: optional(
    WEB_URL,
    'JSON-RPC endpoint of the chain of the contract, for anchors alone. Chains that Exhibit does ' +
      'not read need it, such as a test network.',
    { unset: '`EXHIBIT_RPC_<CHAIN>` of that chain', needs: 'EXHIBIT_ANCHOR_CONTRACT' },
  ),
  EXHIBIT_ANCHOR_KEY: optional(
    privateKey,
    'The private key of the owner of the contract, which pays for its transactions. Only a ' +
      'process that works (`exhibit work`, `exhibit up`) needs it; without it no root is sent.',
    { needs: 'EXHIBIT_ANCHOR_CONTRACT' },
  ),
  EXHIBIT_ANCHOR_CHAIN: withInitial(
    '8453',
    whole(1, 999_999_999_999_999, 'a chain id of EIP-155'),
    'The chain of the contract, which signals name as `anchor_chain_id` also while no contract ' +
      'is set: `8453` is Base, `84532` its test network.',
  ),
  EXHIBIT_ANCHOR_EVERY: withInitial(
    '1h',
    duration('h', MINUTE_MS, 30 * DAY_MS),
    'The time between two roots that are sent, at least. A bare number is hours.',
  ),
} as const;

const SIMULATION = {
  EXHIBIT_SIMULATE: withInitial(
    'false',
    trueOrFalse,
    'Serve the built-in simulated world, from `$EXHIBIT_DATA_DIR/simulated`, labelled as such.',
    { unset: '`false`; `npm start` sets it when no source is set and the host is loopback' },
  ),
  EXHIBIT_WORLD_FAULTS: optional(
    faults,
    'Faults of the simulated providers: `explorer:rate-limited,publisher:html`.',
  ),
} as const;

/** The headings of the reference page with their settings, in its order. */
export const GROUPS = {
  Serving: SERVING,
  Stores: STORES,
  'The sanctions list': SANCTIONS,
  Sources: SOURCES,
  'Access and secrets': ACCESS,
  Memberships: MEMBERSHIPS,
  'The transparency log': LOG,
  Chats: CHATS,
  'A language model': ANALYST,
  Limits: LIMITS,
  Anchoring: ANCHORING,
  Simulation: SIMULATION,
} as const;

/** Every setting by its name, in the same order. */
export const SETTINGS = {
  ...SERVING,
  ...STORES,
  ...SANCTIONS,
  ...SOURCES,
  ...ACCESS,
  ...MEMBERSHIPS,
  ...LOG,
  ...CHATS,
  ...ANALYST,
  ...LIMITS,
  ...ANCHORING,
  ...SIMULATION,
} as const;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends Setting<infer T, infer I> ? (I extends null ? T | null : T) : never;

/** The value of every setting; `null` where it is not set and has no initial text. */
export type Values = { readonly [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> };

/** Whether a name is a setting. */
export function isSetting(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** Whether a setting names a provider of real data, or says how it is asked. */
export function isOfProvider(name: string): boolean {
  return Object.hasOwn(SANCTIONS, name) || Object.hasOwn(SOURCES, name);
}

/** Whether a setting names a store that other processes share. */
export function isOfSharedStore(name: string): boolean {
  return Object.hasOwn(STORES, name) && name !== 'EXHIBIT_DATA_DIR';
}

// No line about a problem repeats the text of a value: it may hold a credential.

/** The texts that were given, by name; an empty text counts as not given. */
export type SettingTexts = ReadonlyMap<string, string>;

const PREFIX = 'EXHIBIT_';
/** Names that are not settings of the service: those of its tests, and those a cluster injects. */
const IGNORED = [/^EXHIBIT_TEST_/, /^EXHIBIT_SERVICE_/, /^EXHIBIT_PORT_\d+_/];
const EDITS_MAX = 3;

/** Every given text whose name has to be a setting's. */
export function readSettings(env: { readonly [name: string]: string | undefined }): SettingTexts {
  const given = new Map<string, string>();
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || IGNORED.some((pattern) => pattern.test(name))) continue;
    const told = text?.trim();
    if (told !== undefined && told !== '') given.set(name, told);
  }
  return given;
}

/** One line for each name that is no setting, with the nearest one that is. */
export function unknownNames(given: SettingTexts): string[] {
  const unknown = [...given.keys()].filter((name) => !isSetting(name));
  return unknown.map((name) => {
    const near = nearest(name, Object.keys(SETTINGS));
    return `${name}: no such setting${near === null ? '' : `; did you mean ${near}?`}`;
  });
}

/** The name of a list that is at most three edits away; the nearest, or none. */
export function nearest(name: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = EDITS_MAX + 1;
  for (const one of names) {
    const edits = editDistance(name, one);
    if (edits < least) [best, least] = [one, edits];
  }
  return best;
}

// Levenshtein's distance, row by row.
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, left] of [...a].entries()) {
    let before = i + 1;
    const next = [before];
    for (const [j, right] of [...b].entries()) {
      const kept = (row[j] ?? 0) + (left === right ? 0 : 1);
      before = Math.min(kept, (row[j + 1] ?? 0) + 1, before + 1);
      next.push(before);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Lines about settings that do not go together. */
export function conflicts(given: SettingTexts, simulate: boolean): string[] {
  const lines: string[] = [];
  for (const [name, { needs }] of Object.entries(SETTINGS)) {
    if (needs !== null && given.has(name) && !given.has(needs)) {
      lines.push(`${name}: needs ${needs} too`);
    }
  }
  if (given.has('EXHIBIT_WORLD_FAULTS') && !simulate) {
    lines.push('EXHIBIT_WORLD_FAULTS: takes effect in the simulated world only (EXHIBIT_SIMULATE)');
  }
  const trusts = ['true', '1'].includes(String(given.get('EXHIBIT_TRUST_PROXY')));
  if (trusts && !given.has('EXHIBIT_PUBLIC_URL')) {
    lines.push('EXHIBIT_TRUST_PROXY: needs EXHIBIT_PUBLIC_URL too, the host that clients ask');
  }
  if (simulate) lines.push(...realSources(given));
  lines.push(...anchoringConflicts(given, simulate));
  return lines;
}

function anchoringConflicts(given: SettingTexts, simulate: boolean): string[] {
  const contract = 'EXHIBIT_ANCHOR_CONTRACT';
  if (!given.has(contract)) return [];
  if (simulate) return [`${contract}: no statement about simulated data is anchored`];
  if (given.has('EXHIBIT_ANCHOR_RPC')) return [];
  const name = 'EXHIBIT_ANCHOR_CHAIN';
  const text = given.get(name);
  const chain = chainById(Number(text === undefined ? SETTINGS[name].initial : text));
  if (chain === null) {
    const ids = EVM_CHAINS.map((one) => `${CHAINS[one].chain_id} (${one})`).join(', ');
    return [`${name}: names none of ${ids}: set EXHIBIT_ANCHOR_RPC too, a node of it`];
  }
  const node = `EXHIBIT_RPC_${chain.name.toUpperCase()}`;
  const nodes = `${node} or EXHIBIT_ANCHOR_RPC`;
  return given.has(node) ? [] : [`${contract}: needs ${nodes} too, a node of its chain`];
}

// A real source behind the label "simulated" would be as wrong as the reverse.
function realSources(given: SettingTexts): string[] {
  const names = [...given.keys()].filter(
    (name) => isSetting(name) && SETTINGS[name].reader.showing === 'origin' && isOfProvider(name),
  );
  return names.map(
    (name) => `${name}: names a real source, and EXHIBIT_SIMULATE serves made-up data: choose one`,
  );
}

/** Whether anything is set that names a source or a store. */
export function namesASource(given: SettingTexts): boolean {
  return [...given.keys()].some((name) => isOfProvider(name) || isOfSharedStore(name));
}

/** The line about a bad text of a setting; a port that a cluster injected gets its own. */
export function badValue(name: SettingName, text: string): string {
  if (name === 'EXHIBIT_PORT' && text.startsWith('tcp://')) {
    return (
      'EXHIBIT_PORT: this tcp:// address is what Kubernetes injects for a service called ' +
      'exhibit; set enableServiceLinks: false in the pod, or name the service otherwise'
    );
  }
  return `${name}: expected ${SETTINGS[name].reader.expected}`;
}

// docs/reference/configuration.md and .env.example are exactly what these two functions return.

const INTRODUCTION = `# Configuration

<!-- Made from src/config/settings.ts by \`exhibit config --reference\`. -->

Settings are environment variables. A \`.env\` file in the working directory is read too; the
environment wins. They are read once, when a process starts. A name that begins with \`EXHIBIT_\`
and is not listed here, or a value that cannot be read, stops the start with one line for each
problem. An empty value counts as not set.

\`exhibit config\` prints what is in effect: no secret, and of each source its scheme and host only.
\`exhibit doctor\` says what each absent source answers.

Times are written \`30s\`, \`90m\`, \`2h\` or \`7d\`; a bare number is in the unit that the row
names. Addresses of sources are base URLs: the path that a provider documents is appended.
`;

const CLOSING = `## Names that are ignored

\`EXHIBIT_TEST_*\` belongs to the tests. \`EXHIBIT_SERVICE_*\` and \`EXHIBIT_PORT_<n>_*\` are what
Kubernetes injects for a service called \`exhibit\`. It also injects \`EXHIBIT_PORT\`, as a
\`tcp://\` address: set \`enableServiceLinks: false\` in the pod.
`;

/** The reference page, in Markdown. */
export function configurationPage(): string {
  const sections = Object.entries(GROUPS).map(([title, settings]) => {
    const rows = Object.entries(settings).map(
      ([name, { unset, meaning }]) => `| \`${name}\` | ${unset} | ${meaning} |`,
    );
    const table = ['| setting | without it | meaning |', '|---|---|---|', ...rows].join('\n');
    return `## ${title}\n\n${table}\n`;
  });
  return [INTRODUCTION, ...sections, CLOSING].join('\n');
}

const EXAMPLE_CHARS_MAX = 96;

/** The example file: every setting, commented out, with its meaning. */
export function exampleFile(): string {
  const head = [
    '# Copy to .env and set what you need. Nothing here is needed to try the simulated world.',
    '# The reference: docs/reference/configuration.md',
  ];
  const blocks = Object.entries(GROUPS).map(([title, settings]) => {
    const rows = Object.entries(settings).flatMap(([name, { initial, meaning }]) => [
      ...wrapText(meaning.replaceAll('`', '')),
      `#${name}=${initial === null ? '' : initial}`,
    ]);
    return [`# --- ${title} ---`, ...rows].join('\n');
  });
  return `${[head.join('\n'), ...blocks].join('\n\n')}\n`;
}

function wrapText(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > EXAMPLE_CHARS_MAX) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
