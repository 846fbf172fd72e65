// Answers one question: which requests need nothing of the web framework.
// A GET of a hosted route whose path is spelled plainly and that has no query goes straight to its
// answer. It refuses to read anything else: escapes, queries, bodies and odd paths are left alone.

import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server } from 'node:http';
import { type Answering, type Exchange, serveHosted } from './hosted.ts';
import type { Mounted } from './mounted.ts';

/** A path field that means itself: it holds nothing to decode and is as long as an address is. */
const PLAIN_FIELD = /^[0-9A-Za-z]{1,128}$/;
const PARAM = /^\{(\w+)\}$/;

/** The routes by the parts of their paths. */
type Branch = {
  readonly fixed: Map<string, Branch>;
  param: { readonly name: string; readonly branch: Branch } | null;
  mounted: Mounted | null;
};

type Arrived = Found & { readonly exchange: Exchange; readonly headers: IncomingHttpHeaders };

type Found = { readonly mounted: Mounted; readonly params: { readonly [name: string]: string } };

/**
 * Puts the straight way before the server's own listener, which gets all that is left. `open` says
 * whether requests are still taken; one that comes after the server began to close is left too.
 */
export function answerDirectly(
  server: Server,
  routes: readonly Mounted[],
  options: Answering & { readonly open: () => boolean; readonly requestId: () => string },
): void {
  const tree = treeOf(routes);
  const rest = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  let arrived: Arrived[] = [];
  // The requests of one turn are all read first and then answered: what each step needs is still
  // in the processor's caches for the next request, which takes a third off the cost of an answer.
  const answerArrived = () => {
    const those = arrived;
    arrived = [];
    for (const { exchange, headers, params, mounted } of those) {
      const sent = { params, query: NO_QUERY, body: undefined };
      void serveHosted(exchange, headers, sent, mounted, options);
    }
  };
  server.on('request', (request, response) => {
    const found = options.open() ? findRoute(tree, request) : null;
    if (found === null) {
      for (const listener of rest) listener(request, response);
      return;
    }
    const exchange = { id: options.requestId(), startedMs: performance.now(), response };
    arrived.push({ ...found, exchange, headers: request.headers });
    if (arrived.length === 1) setImmediate(answerArrived);
  });
}

const NO_QUERY = Object.freeze({});

/** The hosted route that a request asks for as plainly as can be; `null` for all others. */
function findRoute(tree: Branch, { method, url }: IncomingMessage): Found | null {
  if (method !== 'GET' || url === undefined || !url.startsWith('/')) return null;
  const params: { [name: string]: string } = {};
  let branch = tree;
  for (let from = 1, slash = 0; slash !== -1; ) {
    slash = url.indexOf('/', from);
    const end = slash === -1 ? url.length : slash;
    const part = url.slice(from, end);
    from = end + 1;
    const fixed = branch.fixed.get(part);
    if (fixed !== undefined) {
      branch = fixed;
      continue;
    }
    const { param } = branch;
    if (param === null || !PLAIN_FIELD.test(part)) return null;
    params[param.name] = part;
    branch = param.branch;
  }
  return branch.mounted === null ? null : { mounted: branch.mounted, params };
}

function treeOf(routes: readonly Mounted[]): Branch {
  const tree = emptyBranch();
  for (const mounted of routes) {
    const { surface, method, path } = mounted.route;
    if (surface === 'hosted' && method === 'GET') leafOf(tree, path).mounted = mounted;
  }
  return tree;
}

function leafOf(tree: Branch, path: string): Branch {
  return path
    .slice(1)
    .split('/')
    .reduce((branch, part) => {
      const name = PARAM.exec(part)?.[1];
      return name === undefined ? fixedBranch(branch, part) : paramBranch(branch, name);
    }, tree);
}

function fixedBranch({ fixed }: Branch, part: string): Branch {
  const known = fixed.get(part);
  if (known !== undefined) return known;
  const branch = emptyBranch();
  fixed.set(part, branch);
  return branch;
}

// Two names for one place would need two readings of the path: the framework reads the second.
function paramBranch(branch: Branch, name: string): Branch {
  if (branch.param === null) branch.param = { name, branch: emptyBranch() };
  return branch.param.name === name ? branch.param.branch : emptyBranch();
}

function emptyBranch(): Branch {
  return { fixed: new Map(), param: null, mounted: null };
}
