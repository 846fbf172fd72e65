// The public port shows the state of the inside to an operator's token only.

import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { CHAINS } from '../chain/chain.ts';
import type { Config } from '../config.ts';
import { openapiDocument } from '../contract/openapi.ts';
import { publishedDocument } from '../contract/openapi-components.ts';
import { Refusal } from '../contract/refusals.ts';
import { HTML_TYPE, html, text } from '../contract/reply.ts';
import { plainRoute } from '../contract/route.ts';
import type { AnyRoute } from '../contract/stream.ts';
import { present, textOrEmpty } from '../evidence/measure.ts';
import type { ExplorerPages } from '../pages/explorer.tsx';
import { guidePage, renderMarkdown } from '../pages/guide.tsx';
import { type AddressExample, type CheckedList, homePage } from '../pages/home.tsx';
import type { PageFacts, PageGroup } from '../pages/layout.tsx';
import { operationPage, referencePage } from '../pages/reference.tsx';
import { SCRIPT } from '../pages/script.ts';
import { STYLE } from '../pages/style.ts';
import type { AnyHandler, Mounted } from '../transport/answer.ts';
import type { Meters } from '../transport/metrics.ts';
import { SANDBOX_SCORED } from '../world/account-state.ts';
import { SANDBOX_WALLETS } from '../world/chain-data.ts';
import { SANDBOX_LAUNCHERS } from '../world/corpus.ts';
import { SANDBOX_DEPLOYERS } from '../world/deployers.ts';
import { SANDBOX_LABELLED } from '../world/labels.ts';
import { SANDBOX_PARTY } from '../world/listed-parties.ts';
import { nowS } from './clock.ts';
import type { AnyFeature, Page } from './feature.ts';
import { type DatedSource, freshnessOf } from './freshness.ts';
import { type Guide, guideLink, servedGuides } from './guides.ts';
import { FEATURES } from './list.ts';
import { VERSION } from './version.ts';

const TEXT = 'text/plain; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** How long a document that changes with a release only may be kept. */
const KEPT_S = 300;

const DESCRIPTION =
  'Evidence about blockchain addresses: what was observed, and what it rests on. It never ' +
  'scores, advises or clears. A negative is said only where its source was read to its end.';

const FOR_MODELS =
  'An absence (`insufficient_evidence`, `not_supported`, `not_deployed`) is never a clean ' +
  'result, and `ok` with an empty list is one only where the flag beside it says that it was ' +
  'checked. Quote the caveat of an answer with its claim.';

/** The result of a liveness check of a store. */
export type StoreCheck = { readonly name: string; readonly ping: () => Promise<void> };

/** The dependencies of the pages. `base` is known once the server listens. */
export type WebFacts = {
  readonly routes: readonly AnyRoute[];
  readonly facts: PageFacts;
  /** The ports, as the pages of features take them. */
  readonly given: object;
  readonly sources: readonly DatedSource[];
  readonly base: () => string;
};

const PAGES: readonly Page<never>[] = (FEATURES as readonly AnyFeature[]).flatMap(
  ({ pages }) => pages,
);

const GUIDES = servedGuides();

/** The groups of the navigation, and the order in each; a page that none names is in the last. */
const NAVIGATION: readonly (readonly [group: string, paths: readonly string[]])[] = [
  [
    'Published',
    ['/', '/leaderboard', '/signals', '/edge', '/providers', '/receipts', '/registry/sanctions'],
  ],
  [
    'What it rests on',
    ['/status', '/registry/bridges', '/entities/calibration', '/methodology/traders', '/log'],
  ],
  ['For members', ['/watchlist', '/settings', '/pricing']],
  ['For programs', ['/edge/rules', '/policy', '/docs/start', '/docs']],
];
const LAST = NAVIGATION.length - 1;

/** The pages that a person may open, with their names in the navigation. */
export const LINKS: PageFacts['links'] = inGroups([
  { path: '/', link: 'Home' },
  ...PAGES.flatMap(({ route: { path }, link }) => (link === null ? [] : [{ path, link }])),
  ...GUIDES.slice(0, 1).map(({ path }) => ({ path: `/docs/${path}`, link: 'Guides' })),
  { path: '/docs', link: 'API' },
]);

function inGroups(pages: PageGroup['pages']): readonly PageGroup[] {
  const named = new Set(NAVIGATION.flatMap(([, paths]) => paths));
  const unnamed = pages.filter(({ path }) => !named.has(path));
  return NAVIGATION.map(([group, paths], at) => {
    const own = paths.flatMap((path) => pages.filter((page) => page.path === path));
    return { group, pages: at === LAST ? [...own, ...unnamed] : own };
  });
}

/** The facts that every page of this deployment shows. */
export function pageFacts(config: Pick<Config, 'simulate' | 'explorerLinks'>): PageFacts {
  const { simulate: simulated } = config;
  return { simulated, version: VERSION, links: LINKS, explorers: explorersOf(config) };
}

// No explorer shows a made-up address.
function explorersOf({
  simulate,
  explorerLinks,
}: Pick<Config, 'simulate' | 'explorerLinks'>): ExplorerPages {
  if (explorerLinks !== null) {
    return new Map(explorerLinks.map(({ word, template }) => [word, template]));
  }
  if (simulate) return new Map();
  return new Map(
    Object.values(CHAINS).flatMap(({ name, explorer_url: url }) => [
      [`${name}.address`, `${url}/address/{}`],
      [`${name}.tx`, `${url}/tx/{}`],
    ]),
  );
}

const DOCUMENT = { surface: 'web', method: 'GET', access: 'open' } as const;

const home = plainRoute({
  ...DOCUMENT,
  name: 'home_page',
  path: '/',
  summary: 'Where an address is searched for, and what is to be had here.',
  responses: { 200: html() },
});

const operation = plainRoute({
  ...DOCUMENT,
  name: 'operation_page',
  path: '/docs/api/{operation}',
  summary: 'The reference of one route.',
  params: z.strictObject({ operation: z.string().regex(/^[a-z0-9_]{1,80}$/) }),
  responses: { 200: html() },
});

/** The pages and the machine-readable reference. */
export function webDocuments({ routes, facts, given, sources, base }: WebFacts): Mounted[] {
  const openapi = () =>
    openapiDocument(routes, {
      title: 'Exhibit',
      version: facts.version,
      description: DESCRIPTION,
      serverUrl: base(),
    });
  const reference = once(() => referencePage(facts, openapi()));
  const description = once(() => JSON.stringify(publishedDocument(openapi())));
  return [
    documentAt('openapi_document', '/openapi.json', 'application/json; charset=utf-8', description),
    documentAt('reference_page', '/docs', HTML_TYPE, reference),
    documentAt('stylesheet', '/assets/exhibit.css', 'text/css; charset=utf-8', () => STYLE),
    documentAt('page_script', '/assets/exhibit.js', 'text/javascript; charset=utf-8', () => SCRIPT),
    {
      route: operation,
      handle: async ({ params }) => {
        const shown = operationPage(facts, openapi(), String(Object(params).operation));
        if (shown !== null) return operation.reply(200, shown);
        return new Refusal('not_found', { error: 'The reference has no such route.' });
      },
    },
    { route: home, handle: async () => home.reply(200, await homeOf(facts, sources)) },
    ...PAGES.map((page) => mountedPage(page, given, facts)),
    ...guideDocuments(facts),
    documentAt('llms_txt', '/llms.txt', TEXT, () => llmsText(base())),
  ];
}

function guideDocuments(facts: PageFacts): Mounted[] {
  return GUIDES.flatMap((guide) => {
    const name = guide.path.replaceAll(/\W/g, '_');
    const shown = once(() => {
      const body = guide.text.replace(/^#[^\n]*\n/, '');
      const html = renderMarkdown(body, (relative) => guideLink(GUIDES, guide, relative), 2);
      return guidePage(facts, guide, html, GUIDES);
    });
    return [
      documentAt(`${name}_guide`, `/docs/${guide.path}`, HTML_TYPE, shown),
      documentAt(`${name}_markdown`, `/docs/${guide.path}.md`, MARKDOWN, () => guide.text),
    ];
  });
}

/** The index for language models, in the form that llmstxt.org proposes. */
function llmsText(base: string): string {
  const lineOf = ({ path, title, says }: Guide) => `- [${title}](${base}/docs/${path}.md): ${says}`;
  const sections = [...new Set(GUIDES.map(({ section }) => section))].map((section) => {
    const lines = GUIDES.filter((guide) => guide.section === section).map(lineOf);
    return `## ${section}\n\n${lines.join('\n')}`;
  });
  const api = `## API\n\n- [OpenAPI 3.1](${base}/openapi.json): every route, field and refusal.\n`;
  return ['# Exhibit', `> ${DESCRIPTION}`, FOR_MODELS, ...sections, api].join('\n\n');
}

/** A page of a feature as it is served: its declaration checked that the two fit. */
export function mountedPage(
  { route, make }: Page<never>,
  given: object,
  facts: PageFacts,
): Mounted {
  const made = make as Page<object>['make'];
  return { route, handle: made(given, facts) as AnyHandler };
}

function documentAt(name: string, path: string, type: string, make: () => string): Mounted {
  const route = plainRoute({
    ...DOCUMENT,
    name,
    path,
    summary: 'It changes with a release only.',
    isLight: true,
    keptS: KEPT_S,
    responses: { 200: text(type) },
  });
  return { route, handle: async () => route.reply(200, make()) };
}

async function homeOf(facts: PageFacts, sources: readonly DatedSource[]): Promise<string> {
  const lists = await Promise.all(HOME_LISTS.map((tag) => listOf(sources, tag)));
  const examples = facts.simulated ? SIMULATED_EXAMPLES : NO_EXAMPLES;
  return homePage(facts, { lists: present(lists), now: nowS() }, examples);
}

/** The lists and tables that are imported, as the first page names them. */
const HOME_LISTS = ['sanctions_list', 'other_lists', 'exchange_labels', 'flagged_addresses'];

async function listOf(sources: readonly DatedSource[], tag: string): Promise<CheckedList | null> {
  const source = sources.find(({ facts }) => facts.tag === tag);
  if (source === undefined) return null;
  const { state, as_of, published, reason } = await source.age();
  const { title, says } = source.facts;
  return { title, says, isHeld: state === 'fresh', as_of, published, reason };
}

const NO_EXAMPLES: typeof SIMULATED_EXAMPLES = [];

function once(make: () => string): () => string {
  let made: string | null = null;
  return () => {
    if (made === null) made = make();
    return made;
  };
}

/** The dependencies of the operator's documents. */
export type OperatorFacts = {
  readonly meters: Meters;
  readonly checks: readonly StoreCheck[];
  readonly sources: readonly DatedSource[];
  /** Whether the process was told to stop, and nothing new should be sent to it. */
  readonly isDraining: () => boolean;
};

const ready = plainRoute({
  ...DOCUMENT,
  name: 'ready',
  path: '/ready',
  isLight: true,
  summary: 'Whether every store answers, and to an operator which does not.',
  responses: { 200: text(TEXT), 503: text(TEXT) },
});

/** `/ready`, whose detail is for the operator, and `/metrics`, which is for nobody else. */
export function operatorDocuments({
  meters,
  checks,
  sources,
  isDraining,
}: OperatorFacts): Mounted[] {
  const { registry } = meters;
  const metrics = plainRoute({
    ...DOCUMENT,
    name: 'metrics',
    path: '/metrics',
    isLight: true,
    summary: 'What the service has been doing, as Prometheus reads it.',
    access: 'operator',
    responses: { 200: text(registry.contentType) },
  });
  return [
    {
      route: ready,
      handle: async (_input, _asked, { kind }) => {
        const stores = await Promise.all(checks.map(checkStore));
        const draining = isDraining();
        const status = !draining && stores.every(({ fault }) => fault === null) ? 200 : 503;
        if (kind !== 'operator') {
          if (draining) return ready.reply(503, 'draining');
          return ready.reply(status, status === 200 ? 'ready' : 'not_ready');
        }
        const detail = { draining, stores, sources: await freshnessOf(sources) };
        return ready.reply(status, JSON.stringify(detail, null, 2));
      },
    },
    { route: metrics, handle: async () => metrics.reply(200, await registry.metrics()) },
  ];
}

const PING_TIMEOUT_MS = 2_000;

async function checkStore({ name, ping }: StoreCheck) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer in time'), PING_TIMEOUT_MS);
  });
  const answered = ping().then(
    () => null,
    () => 'unreachable',
  );
  const fault = await Promise.race([answered, late]);
  clearTimeout(timer);
  return { name, fault };
}

// Both sides are hashed, so that the comparison takes the same time whatever was sent.
/** Whether an Authorization header carries the operator's token. */
export function isOpsToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(textOrEmpty(authorization)), digest(`Bearer ${token}`));
}

/** One address for each kind of answer; docs/guides/simulated-world.md has all of them. */
export const SIMULATED_EXAMPLES: readonly AddressExample[] = [
  ...SANDBOX_PARTY.addresses
    .slice(0, 1)
    .map(({ address }) => ({ address, says: 'On the sanctions list' })),
  { address: SANDBOX_WALLETS.twoHops, says: 'Two hops from a listed address' },
  { address: SANDBOX_SCORED.scored, says: 'Several findings' },
  { address: SANDBOX_WALLETS.customer, says: 'Tied to other addresses' },
  { address: SANDBOX_WALLETS.bridged, says: 'Sent money over bridges' },
  { address: SANDBOX_LABELLED.hot, says: 'A wallet of an exchange' },
  { address: SANDBOX_DEPLOYERS.mixed, says: 'Launched tokens on Ethereum' },
  { address: SANDBOX_LAUNCHERS.flagged, says: 'Launched tokens on Solana' },
  { address: SANDBOX_WALLETS.hub, says: 'A hub that nobody walks past' },
];
