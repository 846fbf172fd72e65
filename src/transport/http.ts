// Answers one question: how does a declared route become an HTTP answer.
// It knows the web framework and no route: what a route says is in its declaration and its handler.

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Admitted, Gate } from '../access/gate.ts';
import { Reply } from '../contract/answer.ts';
import { badInput, Refusal } from '../contract/refusals.ts';
import type { Method } from '../contract/route.ts';
import { bearerGate, type Tokens } from './bearer.ts';
import { answerDirectly } from './direct.ts';
import { admit, answerHosted, ask } from './hosted.ts';
import type { Meters } from './metrics.ts';
import type { Log, Mounted } from './mounted.ts';
import {
  BAD_PATH,
  BrokenJson,
  describe,
  faultRefusal,
  headersOf,
  reasonOf,
  refusalOf,
  sendRefusal,
} from './refusing.ts';

/** The largest body of a route that names no bound of its own. */
const BODY_BYTES_MAX = 256 * 1024;
/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than any load balancer keeps an idle connection, so that it is never the one to close. */
const KEEP_ALIVE_MS = 72_000;
/** Requests of open routes that run at once; more are shed. */
const OPEN_REQUESTS_MAX = 256;

/** What a document says when it is asked for. */
export type DocumentSays = { readonly status: 200 | 401 | 503; readonly text: string };

/** A document: text with its content type, made on each request. It takes no query. */
export type Document = {
  readonly path: string;
  readonly contentType: string;
  readonly headers: { readonly [name: string]: string };
  /** Told the Authorization header, for those documents that show more to an operator. */
  readonly say: (authorization: string | undefined) => Promise<DocumentSays>;
};

export type HttpOptions = {
  readonly mounted: readonly Mounted[];
  readonly documents: readonly Document[];
  readonly gate: Gate | null;
  /** Who opens routes that take a bearer token; without it none of them can be mounted. */
  readonly tokens?: Tokens;
  readonly meters: Meters;
  readonly log: Log;
  /** Unix seconds. */
  readonly now: () => number;
  /** Time for reading history inside one request. */
  readonly budgetMs: number;
  /** Whether `X-Forwarded-*` are believed. */
  readonly trustProxy: boolean;
};

type Pass = { admitted: Admitted | null; readonly startedMs: number };

declare module 'fastify' {
  interface FastifyRequest {
    /** What is known of the caller; `null` before the first hook. */
    pass: Pass | null;
  }
}

/** Builds the server. It listens when the composition says so. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const requestId = requestIds();
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    trustProxy: options.trustProxy,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    genReqId: requestId,
    frameworkErrors: (error, _request, reply) => {
      const refusal = refusalOf(error);
      void sendRefusal(reply, refusal === null ? badInput([BAD_PATH]) : refusal, null);
    },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 256 },
  });
  acceptJsonOnly(app);
  app.decorateRequest('pass', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.pass = { admitted: null, startedMs: performance.now() };
    done();
  });
  for (const one of options.mounted) mount(app, one, options);
  for (const one of options.documents) serveDocument(app, one, options);
  refuseTheRest(app, options);
  let open = true;
  app.addHook('preClose', (done) => {
    open = false;
    done();
  });
  answerDirectly(app.server, options.mounted, { ...options, requestId, open: () => open });
  return app;
}

function requestIds(): () => string {
  const process = crypto.randomUUID().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${process}-${count.toString(36)}`;
  };
}

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      const parsed: unknown = JSON.parse(String(text));
      done(null, parsed);
    } catch {
      done(new BrokenJson());
    }
  });
}

function mount(app: FastifyInstance, mounted: Mounted, options: HttpOptions): void {
  const { route } = mounted;
  const hosted = route.surface === 'hosted';
  const answer = hosted ? answerThrough : answerOpen();
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: route.bodyBytesMax === undefined ? BODY_BYTES_MAX : route.bodyBytesMax,
    ...(hosted
      ? { onRequest: (request, reply) => admitThrough(request, reply, mounted, options) }
      : tokenHook(mounted, options)),
    handler: (request, reply) => answer(request, reply, mounted, options),
  });
}

function tokenHook({ route }: Mounted, { tokens, meters }: HttpOptions) {
  if (route.access !== 'bearer') return {};
  if (tokens === undefined) throw new Error(`${route.name} needs a door`);
  return { onRequest: bearerGate(tokens, route.name, meters) };
}

async function admitThrough(
  request: FastifyRequest,
  reply: FastifyReply,
  mounted: Mounted,
  options: HttpOptions,
): Promise<unknown> {
  const { pass } = request;
  if (pass === null) throw new Error('no pass');
  const said = await admit(request.headers, searchOf(request.url), mounted, options);
  if (said.kind === 'admitted') {
    pass.admitted = said;
    return undefined;
  }
  options.meters.refused(mounted.route.name, reasonOf(said.refusal));
  return sendRefusal(reply, said.refusal, null);
}

function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

// From here on the answer is written past the framework: what it adds to each answer costs more
// than the answer. Nothing is hooked between here and the socket.
async function answerThrough(
  request: FastifyRequest,
  reply: FastifyReply,
  mounted: Mounted,
  options: HttpOptions,
): Promise<unknown> {
  const { pass } = request;
  if (pass === null || pass.admitted === null) throw new Error('no gate');
  reply.hijack();
  const exchange = { id: request.id, startedMs: pass.startedMs, response: reply.raw };
  await answerHosted(exchange, pass.admitted, request, mounted, options);
  return reply;
}

/** Open routes have no quota, so they are bounded by how many run at once. */
function answerOpen(): typeof answerThrough {
  let running = 0;
  return async (request, reply, mounted, options) => {
    const { route } = mounted;
    if (running >= OPEN_REQUESTS_MAX) {
      options.meters.refused(route.name, 'overloaded');
      const busy = { error: 'Too many requests at once; try again in a second.' };
      return sendRefusal(reply, new Refusal('overloaded', busy, { 'retry-after': '1' }), null);
    }
    running += 1;
    try {
      const said = await ask(reply.raw, request, mounted, options);
      if (said instanceof Refusal) {
        options.meters.refused(route.name, reasonOf(said));
        return sendRefusal(reply, said, null);
      }
      if (!(said instanceof Reply)) throw new Error(`${route.name}: not a reply`);
      const { pass } = request;
      const elapsedMs = pass === null ? 0 : performance.now() - pass.startedMs;
      options.meters.answered(route.name, String(said.status), elapsedMs / 1000);
      return reply.code(said.status).headers(headersOf(reply)).send(said.body);
    } finally {
      running -= 1;
    }
  };
}

function serveDocument(app: FastifyInstance, document: Document, options: HttpOptions): void {
  app.get(document.path, async (request, reply) => {
    if (searchOf(request.url) !== '') {
      return sendRefusal(reply, badInput(['query: expected none here']), null);
    }
    const { status, text } = await document.say(request.headers.authorization);
    options.meters.answered(document.path, String(status), 0);
    return reply
      .code(status)
      .headers({ ...headersOf(reply), ...document.headers })
      .header('content-type', document.contentType)
      .send(text);
  });
}

function refuseTheRest(app: FastifyInstance, options: HttpOptions): void {
  app.setNotFoundHandler(async (request, reply) => {
    const allowed = methodsAt(options, pathOf(request.url));
    if (allowed.length === 0) {
      const body = { error: 'No such route. The routes stand in /openapi.json and /docs.' };
      return sendRefusal(reply, new Refusal('not_found', body), null);
    }
    const allow = allowed.join(', ');
    const body = { error: `Method not allowed here; expected ${allow}.` };
    return sendRefusal(reply, new Refusal('wrong_method', body, { allow }), null);
  });
  app.setErrorHandler(async (error, request, reply) => {
    const { pass } = request;
    const figures = pass === null || pass.admitted === null ? null : pass.admitted.figures;
    const refusal = refusalOf(error);
    if (refusal !== null) {
      const url = request.routeOptions.url;
      options.meters.refused(url === undefined ? 'unknown' : url, refusal.code);
      return sendRefusal(reply, refusal, figures);
    }
    const route = request.routeOptions.url;
    options.log.error({ request_id: request.id, route, fault: describe(error) }, 'fault');
    return sendRefusal(reply, faultRefusal(request.id), figures);
  });
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function methodsAt({ mounted, documents }: HttpOptions, path: string): string[] {
  const methods = new Set<Method>();
  for (const { route } of mounted) if (matches(route.path, path)) methods.add(route.method);
  for (const document of documents) if (document.path === path) methods.add('GET');
  return [...methods];
}

function matches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, i) => part === given[i] || (part.startsWith('{') && given[i] !== ''))
  );
}
