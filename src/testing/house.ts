// The tables of the house: who may import whom, and who may write what others may not.
// `src/tidy.test.ts` holds them; what a row means stands with its type.

import type { Arrows, House } from './tidy-arrows.ts';
import type { Exceptions } from './tidy-rules.ts';

const EVIDENCE = 'src/evidence/';
const CHAIN = 'src/chain/';
const CONTRACT = 'src/contract/';
const PORTS = 'src/ports/';
const ACCESS = 'src/access/';
const SOURCES = 'src/sources/';
const STORES = 'src/stores/';
const FEATURES = 'src/features/';
const COMMAND = 'src/command/';
const DOSSIER = 'src/features/dossier/';
const MCP = 'src/mcp/';
const CLIENT = 'src/client/';
const CONFIG = ['src/config.ts', 'src/config/'];
const BELOW = [EVIDENCE, CHAIN];
const CHAIN_ON = ['hash-wasm', '@noble/hashes', '@scure/base', 'ox'];

/**
 * Which features' engines a feature's files may import beside their own and those of the features
 * that its `feature.ts` imports. No circle.
 */
export const FEATURES_REST_ON: { readonly [feature: string]: readonly string[] } = {
  launches: ['tables'],
  providers: ['tables'],
  sanctions: ['history'],
  bridges: ['history'],
  collectors: ['deposits'],
  deployers: ['tables'],
  deposits: ['history', 'tables'],
  screening: ['tables'],
  entities: ['deposits'],
  exchanges: ['deposits', 'history', 'tables'],
  forensics: ['bridges', 'deployers', 'sanctions', 'tables'],
  'flag-stream': ['rugs'],
  'rug-model': ['boosting'],
  ranker: ['boosting'],
};

/** The hashes, proofs and forms by which saved bytes are checked. */
const CHECKED_BY = [
  ...['src/chain/call-hash.ts', 'src/chain/merkle-tree.ts', 'src/chain/signed-note.ts'],
  ...['src/chain/bytes.ts', 'src/chain/ed25519.ts', 'src/contract/canonical.ts'],
];
/** Where routes are declared: beside their handler, or in the shapes. */
const DECLARATIONS = ['src/features/*.route.ts*', 'src/features/*/shapes.ts'];
/** How answers are signed, saved and verified. */
const SIGNATURES = ['http-signature', 'saved-answer', 'saved-file'].map(
  (name) => `src/contract/${name}.ts`,
);
const OF_OTHERS = { may: [CONTRACT, ...BELOW, ...DECLARATIONS], outside: ['zod'] };
/** The allowed imports. The first row that matches a file applies; its own folder is open. */
export const ARROWS: readonly Arrows[] = [
  { of: EVIDENCE, may: [], outside: [], sealed: true },
  { of: CHAIN, may: [], outside: CHAIN_ON, sealed: true },
  { of: CONTRACT, may: BELOW, outside: ['@noble/hashes', 'ox', 'zod'], sealed: true },
  { of: PORTS, may: BELOW, outside: ['zod'] },
  // A feature opens its adapters and pairs its routes with their handlers: it sees what is wired.
  { of: 'src/features/*/feature.ts', may: ['src/'], outside: ['zod'] },
  // And so does what pairs its commands that open no store with what they need.
  {
    of: 'src/features/*/local.ts',
    may: [COMMAND, 'src/compose/', SOURCES],
    outside: [],
  },
  // A scan, a record and a dossier hold the answers of other routes.
  {
    of: 'src/features/partner/*.route.ts*',
    may: [...OF_OTHERS.may, PORTS, 'src/pages/'],
    outside: ['preact', 'zod'],
  },
  {
    of: 'src/features/records/*.route.ts*',
    may: [...OF_OTHERS.may, PORTS, 'src/pages/'],
    outside: ['preact', 'zod'],
  },
  { of: DOSSIER, may: [...OF_OTHERS.may, 'src/pages/'], outside: ['preact', 'zod'] },
  { of: 'src/features/*/shapes.ts', may: [CONTRACT, PORTS, ...BELOW], outside: ['zod'] },
  {
    of: 'src/features/*.store.ts',
    may: [PORTS, ...BELOW, 'src/stores/control/', 'src/stores/warehouse/engine/'],
    outside: ['zod'],
  },
  // Browsers and the payment platform are told from forgeries before they are answered.
  {
    of: 'src/features/access/*.route.ts*',
    may: [CONTRACT, PORTS, ACCESS, 'src/pages/', ...BELOW],
    outside: ['preact', 'zod'],
  },
  {
    // The bounds of a plan are part of the answer of routes that a plan limits.
    of: 'src/features/*.route.ts*',
    may: [CONTRACT, PORTS, 'src/pages/', 'src/access/plan.ts', ...BELOW],
    outside: ['preact', 'zod'],
  },
  { of: 'src/features/*.job.ts', may: [PORTS, ACCESS, ...BELOW], outside: [] },
  {
    // A command works on services, which it declares in the types of ports.
    of: 'src/features/*.command.ts',
    may: [
      COMMAND,
      PORTS,
      ACCESS,
      'src/contract/shell-command.ts',
      ...SIGNATURES,
      ...BELOW,
      ...CONFIG,
      'src/client/stream.ts',
      'src/client/signed.ts',
      'src/client/client.ts',
      'src/client/save-signal.ts',
      'src/client/verify.ts',
      'src/client/anchored-root.ts',
      'types:src/client/policy.ts',
    ],
    outside: ['undici', 'zod'],
  },
  {
    of: 'src/features/*.page.tsx',
    may: ['src/pages/', CHAIN, 'src/evidence/measure.ts', 'src/evidence/weight.ts'],
    outside: ['preact'],
  },
  // The canonical form is what signals are hashed in.
  { of: FEATURES, may: [PORTS, ...BELOW, 'src/contract/canonical.ts'], outside: [] },
  {
    // An explorer passes on the calls of a node.
    of: 'src/sources/explorer/',
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/evm/'],
    outside: ['zod'],
  },
  {
    // The one client of sockets, and what venues say over it.
    of: 'src/sources/socket/',
    may: [PORTS, ...BELOW, 'src/sources/http/'],
    outside: ['ws', 'zod'],
  },
  {
    of: SOURCES,
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/files/'],
    outside: ['zod'],
    apart: true,
  },
  // Processes reach each other over the server that keeps their control store.
  { of: 'src/stores/bus/', may: [PORTS, ...BELOW, 'src/stores/control/engine/'], outside: [] },
  {
    of: STORES,
    may: [PORTS, ...BELOW, 'src/sources/http/', 'src/sources/files/'],
    outside: ['zod'],
    apart: true,
  },
  { of: ACCESS, may: [PORTS, CONTRACT, ...BELOW], outside: [] },
  {
    of: 'src/transport/',
    may: [CONTRACT, ACCESS, EVIDENCE],
    outside: ['@fastify/accept-negotiator', 'fastify', 'prom-client', 'ws', 'types:zod'],
  },
  {
    // Tools over HTTP stand beside the routes; over stdio they are a command that asks a service.
    of: MCP,
    may: [CONTRACT, EVIDENCE, ACCESS, 'src/transport/', COMMAND, ...CONFIG],
    outside: ['@modelcontextprotocol/node', '@modelcontextprotocol/server', 'zod'],
  },
  {
    of: 'src/pages/',
    may: [CONTRACT, CHAIN, 'src/evidence/measure.ts', 'src/evidence/weight.ts', `types:${ACCESS}`],
    outside: ['markdown-it', 'preact', 'preact-render-to-string'],
  },
  {
    of: COMMAND,
    may: [PORTS, ...BELOW, ...CONFIG, 'src/client/policy.ts'],
    outside: ['undici', 'zod'],
  },
  {
    of: 'src/operator/',
    may: [COMMAND, PORTS, EVIDENCE, ...CONFIG, 'src/sources/http/fetch.ts'],
    outside: ['zod'],
  },
  // The simulated traders draw from the generator that tests and the null model use.
  {
    of: 'src/world/',
    may: [CHAIN, 'src/evidence/random.ts', 'src/ports/series.ts'],
    outside: ['@scure/base', 'ws'],
  },
  { of: 'src/config.ts', may: [CHAIN, 'src/config/'], outside: [] },
  { of: 'src/config/', may: [CHAIN, 'src/config.ts'], outside: [] },
  { of: 'src/compose/', may: ['src/'], outside: ['pino', 'zod'] },
  {
    // The code that ships to a browser: it takes only types from the declarations. What it checks
    // by, it shares with the service.
    of: CLIENT,
    may: [
      ...[`types:${CONTRACT}`, ...DECLARATIONS.map((of) => `types:${of}`)],
      ...[...CHECKED_BY, ...SIGNATURES],
      ...['src/contract/rules.ts', 'src/contract/policy-fields.ts'],
    ],
    outside: ['@scure/base', 'ox', 'types:zod'],
    sealed: true,
  },
  { of: 'src/main.ts', may: ['src/compose/', 'src/operator/', COMMAND, ...CONFIG], outside: [] },
  {
    of: 'src/testing/',
    may: [
      ...[PORTS, ACCESS, CONTRACT, ...BELOW, SOURCES, STORES],
      'src/world/',
      FEATURES,
      COMMAND,
      'src/operator/',
      'src/compose/',
      'src/transport/',
    ],
    outside: [
      ...['zod', 'oxc-parser', 'vitest', 'fast-check', 'ox', 'playwright-core'],
      ...['@modelcontextprotocol/client', '@modelcontextprotocol/sdk', 'typescript-5'],
    ],
  },
  // The tests of the house, which look at all of it.
  { of: 'src/*.test.ts', may: ['src/', 'examples/'], outside: ['zod'] },
  { of: 'src/*.suite.ts', may: ['src/', 'examples/'], outside: ['zod'] },
  // A program to copy stands alone, beside what it would install.
  { of: 'examples/', may: [], outside: ['exhibit'] },
  {
    of: 'bench/',
    may: ['src/'],
    outside: ['ajv', 'undici', 'zod', 'pg', 'ws', '@duckdb/node-api'],
  },
];

/** The further imports of any test, beside those of the tested file. */
export const TESTS: House['tests'] = {
  may: [PORTS, CONTRACT, ...BELOW, 'src/testing/', 'src/world/', 'src/client/policy.ts'],
  outside: [
    ...['vitest', 'fast-check', 'ajv', 'playwright-core', 'ws', 'zod', 'csv-parse'],
    ...['standardwebhooks', 'svix', 'eventsource'],
    '@redocly/openapi-core',
  ],
};

/** One driver for each technology, and the only places that hold it. */
export const DRIVERS: House['drivers'] = {
  '@electric-sql/pglite': ['src/stores/control/engine/'],
  pg: ['src/stores/control/engine/', 'src/stores/bus/', 'src/testing/postgres.ts'],
  chdb: ['src/stores/warehouse/engine/', 'src/testing/warehouse-front.ts'],
  '@clickhouse/client': ['src/stores/warehouse/engine/'],
  saxes: ['src/sources/ofac/'],
  yauzl: ['src/sources/ofac/'],
  ws: ['src/transport/', 'src/sources/socket/', 'src/world/', 'src/testing/', 'bench/'],
  undici: ['src/command/'],
  'markdown-it': ['src/pages/guide.tsx'],
  yaml: ['src/sources/files/', 'src/deploy.test.ts'],
  'csv-parse': ['src/sources/files/'],
  '@modelcontextprotocol/node': [MCP],
  '@modelcontextprotocol/server': [MCP],
};

/** Where built-ins that do IO may be imported, beside tests. */
const IO = [
  'src/features/*/feature.ts',
  ...[SOURCES, STORES, COMMAND, 'src/features/*.command.ts', 'src/transport/', 'src/operator/'],
  MCP,
  ...['src/compose/', 'src/world/', 'src/testing/', 'src/main.ts', 'bench/', 'examples/'],
  ...CONFIG,
];

/**
 * The evaluator of policies is the caller's: commands load it in the caller's process, and nothing
 * that serves imports it.
 */
const KEPT: House['kept'] = {
  'src/client/policy.ts': [CLIENT, 'src/command/policy-file.ts', 'bench/'],
};

export const HOUSE: House = {
  arrows: ARROWS,
  features: FEATURES_REST_ON,
  tests: TESTS,
  io: IO,
  drivers: DRIVERS,
  kept: KEPT,
};

export const EXCEPTIONS: Exceptions = {
  doubleCasts: [CONTRACT],
  evidenceCasts: [EVIDENCE, CONTRACT, 'src/chain/address.ts', 'src/testing/planted-leaks.ts'],
  mints: [
    EVIDENCE,
    SOURCES,
    STORES,
    'src/features/*.store.ts',
    'src/ports/accounts.ts',
    'src/testing/',
  ],
  liars: ['src/testing/'],
  answerMakers: ['src/contract/route.ts', 'src/contract/reply.ts'],
  environment: ['src/config.ts', 'src/testing/', 'examples/', 'bench/'],
  browser: ['examples/', CLIENT, 'src/testing/patient-fetch.ts'],
  noFallbacks: [FEATURES, SOURCES, STORES, COMMAND, 'src/compose/', 'src/pages/', ACCESS, MCP],
  // `faulty` makes an unread reading of a file's fault, `unreadFor` of the warehouse's failures,
  // `unreadable` a refused document of a fault;
  // `reject` tells the caller who waits, `onBug` whoever keeps the process.
  saysFailure: [
    ...['unread', 'part', 'why', 'whyOf', 'whyUnanswered', 'whyNodeSilent'],
    ...['faulty', 'unreadable', 'unreadFor', 'silent', 'reject', 'onBug'],
  ],
  readings: [FEATURES, SOURCES, STORES],
  adapters: [SOURCES],
  // Members of an outside's answer that it does not name are not read: `forms.ts` says why.
  dropping: ['src/sources/http/fetch.ts'],
  // Text that is no JSON is `undefined`, which no JSON is; every caller parses it by a schema.
  failureAsValue: ['src/sources/http/fetch.ts'],
  failureMessages: ['src/operator/owner.ts', 'src/stores/control/engine/pglite-worker.ts'],
};

/** Files that start a process of their own: nothing imports them, another file names them. */
export const CHILD_ENTRIES = [
  'src/stores/control/engine/pglite-create.ts',
  'src/stores/control/engine/pglite-worker.ts',
  'src/stores/warehouse/engine/embedded-child.ts',
  'src/sources/ofac/reading-child.ts',
  'src/compose/follow-child.ts',
  'src/compose/edge-worker.ts',
  'src/compose/trader-worker.ts',
];
/** Where the product begins, and the tests of the house. */
export const BEGINNINGS = [
  ...['src/main.ts', 'src/client/client.ts', 'src/client/stream.ts', ...CHILD_ENTRIES],
  ...['src/client/verify.ts', 'src/client/policy.ts'],
  ...['bench/', 'examples/', 'vitest.config.ts'],
  ...['src/tidy.test.ts', 'src/silence.test.ts', 'src/contract/reference.test.ts'],
  'src/testing/suite-setup.ts',
];
/** Files that only tests use: any test keeps them alive. */
export const FOR_TESTS = /^src\/testing\/|\.suite\.ts$/;
