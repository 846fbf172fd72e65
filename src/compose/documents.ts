// Answers one question: which documents does a process serve beside its routes.
// The public port shows the state of the inside to an operator's token only.

import { createHash, timingSafeEqual } from 'node:crypto';
import { formatIsoDate } from '../chain/time.ts';
import type { Config } from '../config.ts';
import { openapiDocument } from '../contract/openapi.ts';
import type { AnyRoute } from '../contract/route.ts';
import { written } from '../evidence/measure.ts';
import type { PageFacts } from '../pages/layout.tsx';
import { overviewPage, type SourceLine } from '../pages/overview.tsx';

import { referencePage } from '../pages/reference.tsx';
import { STYLE } from '../pages/style.ts';
import type { Document, DocumentSays } from '../transport/http.ts';
import type { Meters } from '../transport/metrics.ts';
import { API_HEADERS, PAGE_HEADERS } from '../transport/security-headers.ts';
import type { AnyFeature, Page } from './feature.ts';
import { type DatedSource, freshnessOf } from './freshness.ts';
import { FEATURES } from './list.ts';
import { VERSION } from './version.ts';

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const SHORT_CACHE = { 'cache-control': 'public, max-age=300' };
const NO_CACHE = { 'cache-control': 'no-store' };

const DESCRIPTION =
  'Evidence about blockchain addresses: what was observed, and what it rests on. It never ' +
  'scores, advises or clears. A negative is said only where its source was read to its end.';

/** What a store says when it is asked whether it is there. */
export type StoreCheck = { readonly name: string; readonly ping: () => Promise<void> };

/** What the pages are made from. `base` is known once the server listens. */
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

/** The pages that a person may open, with their names in the navigation. */
export const LINKS: PageFacts['links'] = [
  { path: '/', link: 'Overview' },
  ...PAGES.map(({ path, link }) => ({ path, link })),
  { path: '/docs', link: 'API reference' },
];

/** What every page of this deployment says. */
export function pageFacts({ simulate: simulated }: Pick<Config, 'simulate'>): PageFacts {
  return { simulated, version: VERSION, links: LINKS };
}

/** The pages and the machine-readable reference. */
export function webDocuments({ routes, facts, given, sources, base }: WebFacts): Document[] {
  const openapi = () =>
    openapiDocument(routes, {
      title: 'Exhibit',
      version: facts.version,
      description: DESCRIPTION,
      serverUrl: base(),
    });
  const fixed = (
    path: string,
    contentType: string,
    headers: object,
    text: () => string | Promise<string>,
  ) => ({
    path,
    contentType,
    headers: { ...API_HEADERS, ...headers },
    say: async (): Promise<DocumentSays> => ({ status: 200, text: await text() }),
  });
  const reference = once(() => referencePage(facts, openapi()));
  const description = once(() => JSON.stringify(openapi()));
  return [
    fixed('/openapi.json', JSON_TYPE, SHORT_CACHE, description),
    fixed('/docs', HTML, { ...PAGE_HEADERS, ...SHORT_CACHE }, reference),
    fixed('/', HTML, { ...PAGE_HEADERS, ...NO_CACHE }, async () =>
      overviewPage(facts, await sourceLines(sources)),
    ),
    fixed('/assets/exhibit.css', 'text/css; charset=utf-8', SHORT_CACHE, () => STYLE),
    ...PAGES.map((page) => pageDocument(page, facts, given)),
  ];
}

/** A page of a feature as it is served. */
export function pageDocument(page: Page<never>, facts: PageFacts, given: object): Document {
  const make = page.make as Page<object>['make'];
  return {
    path: page.path,
    contentType: HTML,
    headers: { ...API_HEADERS, ...PAGE_HEADERS, ...NO_CACHE },
    say: async () => {
      const { status, html } = await make(given, facts);
      return { status, text: html };
    },
  };
}

async function sourceLines(sources: readonly DatedSource[]): Promise<SourceLine[]> {
  const lines = sources.map(async ({ facts, age }) => {
    const { state, as_of, reason } = await age();
    return {
      name: facts.title,
      state,
      as_of: as_of === null ? '–' : formatIsoDate(as_of),
      says: reason === null || state === 'per_answer' ? facts.says : reason,
    };
  });
  return Promise.all(lines);
}

function once(make: () => string): () => string {
  let made: string | null = null;
  return () => {
    if (made === null) made = make();
    return made;
  };
}

/** What the operator's documents show, and to whom. */
export type OperatorFacts = {
  readonly meters: Meters;
  readonly checks: readonly StoreCheck[];
  readonly sources: readonly DatedSource[];
  /** Opens the detail on the public port; `null` closes it. */
  readonly token: string | null;
  /** True on the loopback port, which needs no token. */
  readonly trusted: boolean;
};

/** `/ready` and `/metrics`. */
export function operatorDocuments(facts: OperatorFacts): Document[] {
  const opens = (authorization: string | undefined) =>
    facts.trusted || (facts.token !== null && isToken(authorization, facts.token));
  const headers = { ...API_HEADERS, ...NO_CACHE };
  const ready: Document = {
    path: '/ready',
    contentType: TEXT,
    headers,
    say: async (authorization) => {
      const stores = await Promise.all(facts.checks.map(checked));
      const status = stores.every(({ fault }) => fault === null) ? 200 : 503;
      if (!opens(authorization)) return { status, text: status === 200 ? 'ready' : 'not_ready' };
      return {
        status,
        text: JSON.stringify({ stores, sources: await freshnessOf(facts.sources) }, null, 2),
      };
    },
  };
  const metrics: Document = {
    path: '/metrics',
    contentType: facts.meters.registry.contentType,
    headers,
    say: async (authorization) => {
      if (!opens(authorization)) return { status: 401, text: 'An operator token opens this.' };
      return { status: 200, text: await facts.meters.registry.metrics() };
    },
  };
  return [ready, metrics];
}

const PING_TIMEOUT_MS = 2_000;

async function checked({ name, ping }: StoreCheck) {
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
function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(written(authorization)), digest(`Bearer ${token}`));
}
