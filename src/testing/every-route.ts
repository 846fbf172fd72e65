// Every declared route that may be read, asked of a running service: features that come later too.

import { z } from 'zod';
import { FEATURES } from '../compose/list.ts';
import { evm } from './addresses.ts';
import { joinLive, type LiveProgram } from './live-program.ts';
import { runPrinting } from './program.ts';

/** The address that is asked about. */
export const SUBJECT = evm('subject');
/** What stands in the holes of paths. */
const FILLING: { readonly [hole: string]: string } = {
  address: SUBJECT,
  chain: 'ethereum',
  id: `sig_${'0'.repeat(32)}`,
  leaf: '0',
  log: '1',
  part: 'bridges',
  slug: 'no-case',
  tile: '0/000.p/1',
  version: 'rug-2-000000000000',
};
const SOLANA = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';
const OWN_FILLING: { readonly [route: string]: typeof FILLING } = {
  solana_deployer: { address: SOLANA },
};
const QUERY: { readonly [route: string]: string } = {
  search_page: `?q=${SUBJECT}`,
  token_creator: '?chain=ethereum',
  wallet_bridges: '?chain=ethereum',
};

const ROUTES = FEATURES.flatMap(({ routes, pages }) =>
  [...routes, ...pages].map(({ route }) => route),
);
/** The routes and pages that change nothing. */
export const READ_ROUTES = ROUTES.filter(({ method }) => method === 'GET');
export type ReadRoute = (typeof READ_ROUTES)[number];
const TOKEN = 'sct-of-the-tests-which-is-long-enough';
/** The settings under which all of them are served. */
export const SERVES_EVERY_ROUTE = {
  EXHIBIT_SURFACES: 'edge,hosted,integrations,intelligence,mcp,signals,web',
  EXHIBIT_INTELLIGENCE_TOKENS: `pro:${TOKEN}`,
};

/** The path of a route with something in each of its holes, `over` in those that it names. */
export function pathOf({ name, path, tail }: ReadRoute, over: typeof FILLING = {}): string {
  const filling = { ...FILLING, ...OWN_FILLING[name], ...over };
  return path.replaceAll(/\{(\w+)\}/g, (_, hole: string) => {
    const text = filling[hole];
    if (text === undefined) throw new Error(`test: ${name} needs a row of FILLING for ${hole}`);
    return tail === true && path.endsWith(`{${hole}}`) ? text : encodeURIComponent(text);
  });
}

/** The same with the query that it needs. */
export function requestPathOf(route: ReadRoute, over: typeof FILLING = {}): string {
  return pathOf(route, over) + (QUERY[route.name] ?? '');
}

/** What opens each access rule of a service. */
export type Credentials = { readonly [access: string]: { readonly [header: string]: string } };

/** The headers of a member's key, a partner's key and the cookie of a session. */
export function credentialHeaders(held: {
  readonly key: string;
  readonly partner: string;
  readonly cookie: string;
}): Credentials {
  const { cookie } = held;
  const member = { authorization: `Bearer ${held.key}` };
  return {
    analyst: member,
    desk: member,
    enterprise: member,
    open: {},
    session: { cookie },
    visitor: { cookie },
    partner: { authorization: `Bearer ${held.partner}` },
    bearer: { authorization: `Bearer ${TOKEN}` },
  };
}

/** Mints one credential of each kind. */
export async function credentialsOf(live: LiveProgram): Promise<Credentials> {
  const { key, cookie } = await joinLive(live, 'enterprise');
  const words = ['keys', 'create', '--partner', 'acme', '--budget', '1000'];
  const partner = await runPrinting(z.object({ key: z.string() }), words, live);
  return credentialHeaders({ key, partner: partner.key, cookie });
}
