// Serves declared routes over HTTP. This file knows the web framework and no route: `guard.ts`
// admits the caller, `answer.ts` parses, answers and charges, and the declaration holds everything
// specific to a route; `contract/reply.ts` tells from it its body and who may read its answers.

import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  type AccessGate,
  type Admission,
  type QuotaFigures,
  quotaHeaders,
  type TurnedAway,
} from '../access/gate.ts';
import { isFormOf } from '../access/session.ts';
import { badField, overloadRefusal, Refusal } from '../contract/refusals.ts';
import {
  FORM_TOKEN,
  HTML_TYPE,
  isPublicDocument,
  isRevalidated,
  isSentByPages,
  type Media,
  mediaOf,
} from '../contract/reply.ts';
import { type Method, opensToPages } from '../contract/route.ts';
import type { Soon } from '../evidence/waiting.ts';
import {
  type Answering,
  type Answers,
  API_HEADERS,
  type Asking,
  answersOf,
  contextOf,
  describe,
  faultRefusal,
  figuresOf,
  type Mounted,
  PAGE_HEADERS,
  reasonOf,
  refusalSaid,
  type Sent,
  type WrittenAnswer,
  type WrittenRest,
} from './answer.ts';
import { clientNetwork } from './client-network.ts';
import {
  COMPRESSED_BYTES_MIN,
  compressBytes,
  compressor,
  ENCODED,
  type Encoding,
  encodingIn,
  TEXT_TYPE,
} from './compression.ts';
import { credentialsIn, foreignForm, searchOf } from './guard.ts';
import { type AnswerSigning, type SignAnswer, signerFor } from './signed-answer.ts';
import { STOPPING, type StreamServing, serveStreams } from './stream.ts';

/** The largest body of a route that names no bound of its own. */
const BODY_BYTES_MAX = 256 * 1024;
/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than any load balancer keeps an idle connection, so that it is never the one to close. */
const KEEP_ALIVE_MS = 72_000;
/** Browsers come back by https alone for a year. Other hosts of the domain are left alone. */
const HSTS = 'max-age=31536000';
/** The prefix of the hosted surface's paths, unknown ones included. */
const HOSTED_PATHS = '/api/v1/';

/** Answers the posts to one path in a protocol of its own, past the routes. */
export type HttpDoor = {
  readonly path: string;
  /** The largest body that is read, in bytes. */
  readonly bodyBytesMax: number;
  /** Lets a caller in (`null`) or turns it away, before anything else is read. */
  readonly admit: (request: IncomingMessage) => Promise<Refusal | null>;
  /** Writes the answer to a body that is JSON, or gives the refusal and has written nothing. */
  readonly serve: (asked: PostedBody, response: ServerResponse) => Promise<Refusal | null>;
};

/** A post to a door: its id in the log, and its body as JSON. */
export type PostedBody = {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly body: unknown;
};

export type HttpOptions = Answering & {
  readonly mounted: readonly Mounted[];
  readonly doors?: readonly HttpDoor[];
  /** Unix seconds. */
  readonly now: () => number;
  /** Time for reading history inside one request. */
  readonly budgetMs: number;
  /** Whether the end of `X-Forwarded-For` is believed: a proxy stands in front. */
  readonly trustProxy: boolean;
  readonly streams?: StreamServing;
  /** Signs hosted answers for clients that ask for it; left out, none is signed. */
  readonly signing?: AnswerSigning;
  /** The only names under which it is asked; left out, any. */
  readonly hosts?: readonly string[];
};

declare module 'fastify' {
  interface FastifyRequest {
    /** When it came (`performance.now`). */
    startedMs: number;
    /** The caller, once the guard of its route has admitted it. */
    by: Admission | null;
    /** Adds the headers of a signature, if the client asked for one where answers are signed. */
    sign: SignAnswer | null;
  }
}

/**
 * Builds the server. It listens when the composition says so. Other doors of the same process give
 * it the answers that they ask too.
 */
export function createHttp(
  options: HttpOptions,
  answers: Answers = answersOf(options.mounted, options),
): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => refuseUnparsed(error, socket, options),
    genReqId: requestIds(),
    frameworkErrors: (error, request, reply) => {
      const refusal = refusalOfFault(error);
      // No hook has seen a request whose path cannot be read.
      request.sign = signerFor(request.raw, HOSTED_PATHS, options);
      refuseAt(request, reply, refusal === null ? badField('path', BAD_PATH) : refusal, options);
    },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 256 },
  });
  acceptOnly(app, mediaOf(null));
  const together = answerTogether();
  app.decorateRequest('startedMs', 0);
  app.decorateRequest('by', null);
  app.decorateRequest('sign', null);
  const isSecure = options.ownOrigin?.startsWith('https:') === true;
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.startedMs = performance.now();
    request.sign = signerFor(request.raw, HOSTED_PATHS, options);
    if (isSecure) reply.raw.setHeader('strict-transport-security', HSTS);
    const refusal = closing ? overloadRefusal(STOPPING) : refusalOfHost(request, options);
    if (refusal === null) together(done);
    else refuseAt(request, reply, refusal, options);
  });
  // An expectation that nobody here knows is none: the request is answered as any other.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  for (const { route } of options.mounted) {
    const asking = answers.get(route.name);
    if (asking === undefined) throw new Error(`${route.name}: nothing answers it`);
    mountInScope(app, asking, options);
    if (opensToPages(route)) mountPreflight(app, asking, options);
  }
  for (const one of doorsOf(options)) openDoor(app, one, options);
  const { streams } = options;
  if (streams !== undefined) serveStreams(app, { ...options, streams, send: sendAnswer });
  refuseTheRest(app, options);
  closeUnused(app);
  return app;
}

function doorsOf({ doors }: HttpOptions): readonly HttpDoor[] {
  return doors === undefined ? [] : doors;
}

// A page of another site reaches a port of this machine by a name of its own, which browsers send.
function refusalOfHost(request: FastifyRequest, { hosts }: HttpOptions): Refusal | null {
  const { host } = request.headers;
  if (hosts === undefined || host === undefined) return withoutHost(request);
  if (hosts.includes(host.toLowerCase().replace(/:[0-9]{1,5}$/, ''))) return null;
  return new Refusal('wrong_origin', { error: `Host: expected one of ${hosts.join(', ')}.` });
}

function withoutHost({ headers, raw }: FastifyRequest): Refusal | null {
  if (headers.host !== undefined || raw.httpVersion !== '1.1') return null;
  return badField('host', 'expected the header that HTTP/1.1 requires');
}

// The requests of one event-loop tick are all read first and then answered: what each step needs is
// still in the processor's caches for the next request.
function answerTogether(): (goOn: () => void) => void {
  let waiting: (() => void)[] = [];
  const answerAll = () => {
    const those = waiting;
    waiting = [];
    for (const goOn of those) goOn();
  };
  return (goOn) => {
    waiting.push(goOn);
    if (waiting.length === 1) setImmediate(answerAll);
  };
}

function requestIds(): () => string {
  const process = crypto.randomUUID().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${process}-${count.toString(36)}`;
  };
}

// A form of body belongs to a scope of the framework; most routes share the one of JSON.
function mountInScope(app: FastifyInstance, asking: Asking, options: HttpOptions): void {
  const media = mediaOf(asking.route.body);
  if (media.kind === 'json') mount(app, asking, options);
  else {
    app.register((scope, _options, done) => {
      acceptOnly(scope, media);
      mount(scope, asking, options);
      done();
    });
  }
}

function mount(app: FastifyInstance, asking: Asking, options: HttpOptions): void {
  const { route, guard, ask, refuse } = asking;
  const { now, budgetMs } = options;
  const leave = isRevalidated(route) ? sendIfNew : sendAnswer;
  const byPages = isSentByPages(route);
  const isCountedByNetwork = byPages || (route.access === 'open' && route.body !== null);
  // A port that is asked under names of its own, as the operator's, opens to no other page.
  const isPublic = options.hosts === undefined && isPublicDocument(route);
  app.route({
    method: methodsOf(route.method),
    url: pathOfRoute(route),
    bodyLimit: route.bodyBytesMax === undefined ? BODY_BYTES_MAX : route.bodyBytesMax,
    onRequest: (request, reply, done) => {
      if (isPublic) reply.raw.setHeader('access-control-allow-origin', '*');
      const enter = (said: Admission | TurnedAway): void => {
        if (said.kind !== 'uncharged') allowPage(reply, said.origin);
        if (said.kind === 'refused') {
          sendAnswer(reply, refuse(said.refusal, null));
          return;
        }
        const cookie = said.kind === 'uncharged' ? said.cookie : undefined;
        // An answer that sends a cookie of its own, as signing out does, writes over it.
        if (typeof cookie === 'string') reply.raw.setHeader('set-cookie', cookie);
        const encoded = route.body === null ? null : encodingRefusal(request.headers);
        if (encoded !== null) {
          sendAnswer(reply, refuse(encoded, figuresOf(said, now())));
          return;
        }
        request.by = said;
        done();
      };
      const network = () => clientNetwork(request.raw, options.trustProxy);
      const said = guard(request.headers, searchOf(request.url), { by: 'request', network });
      if (said instanceof Promise) said.then(enter, done);
      else enter(said);
    },
    // The framework is told first that the answer is ours to write, so that it waits for nothing.
    handler: (request, reply) => {
      reply.hijack();
      answer(request, reply).catch((fault) => fail(fault, request, reply));
    },
    errorHandler: (fault, request, reply) => fail(fault, request, reply),
  });
  const fail = (fault: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalFor(fault, request, options, bodyTypeOf(route));
    sendAnswer(reply, refuse(refusal, figuresOf(request.by, now())));
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { id, startedMs, by } = request;
    if (by === null) throw new Error(`${route.name}: nobody was let in`);
    const sent = byPages ? withoutToken(request, by) : request;
    if (sent instanceof Refusal) return sendAnswer(reply, refuse(sent, null));
    const { asked: context, done } = contextOf(reply.raw, now, budgetMs);
    const asked = isCountedByNetwork
      ? { ...context, network: clientNetwork(request.raw, options.trustProxy) }
      : context;
    const isGone = () => reply.raw.destroyed || request.raw.socket.destroyed;
    const said = await ask(withTail(sent, route), by, { id, startedMs, asked, isGone });
    if (said.rest !== undefined) await sendInPieces(reply, said, said.rest);
    else leave(reply, said);
    done();
  };
}

// Browsers ask before a page of another origin sends a key. The answer names that origin alone, and
// lets no cookie come along.
const PREFLIGHT_KEPT_S = 600;
/** What a page may read beside the body. */
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ' +
  'Content-Digest, Signature-Input, Signature, Signature-Unavailable';

/** Lets a page of this origin read what is answered; `null`: no page of another origin may. */
function allowPage(reply: FastifyReply, origin: string | null | undefined): void {
  if (origin === null || origin === undefined) return;
  reply.raw.setHeader('access-control-allow-origin', origin);
  reply.raw.setHeader('access-control-expose-headers', EXPOSED);
}

function mountPreflight(
  app: FastifyInstance,
  { route, refuse }: Asking,
  options: HttpOptions,
): void {
  const { gate } = options;
  if (gate === null) return;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || method !== route.method) {
      const error = `Method not allowed here; expected ${route.method}.`;
      return sendAnswer(
        reply,
        refuse(new Refusal('wrong_method', { error }, { allow: route.method }), null),
      );
    }
    const refusal = await gate.admitPage(origin);
    if (refusal !== null) return sendAnswer(reply, refuse(refusal, null));
    allowPage(reply, origin);
    sendAnswer(reply, {
      status: 200,
      headers: {
        ...quotaHeaders(gate.noFigures()),
        vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
        'access-control-allow-methods': route.method,
        'access-control-allow-headers': 'authorization, accept-signature',
        'access-control-max-age': String(PREFLIGHT_KEPT_S),
      },
      bytes: Buffer.alloc(0),
    });
  };
  app.route({
    method: 'OPTIONS',
    url: pathOfRoute(route),
    handler: (request, reply) => {
      reply.hijack();
      answer(request, reply).catch((fault) =>
        sendAnswer(reply, refuse(refusalFor(fault, request, options), null)),
      );
    },
  });
}

// The runtime leaves out the body of an answer to `HEAD`.
function methodsOf(method: Method): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function pathOfRoute({ path, tail }: Asking['route']): string {
  const named = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return tail === true ? named.replace(/:\w+$/, '*') : named;
}

/** What was sent, with the rest of the path under the name that the route gives it. */
function withTail(sent: Sent, { path, tail }: Asking['route']): Sent {
  const [, name] = /\{(\w+)\}$/.exec(path) ?? [];
  if (tail !== true || name === undefined) return sent;
  const { '*': rest, ...params } = Object(sent.params);
  const { query, body, headers } = sent;
  return { params: { ...params, [name]: rest }, query, body, headers };
}

function bodyTypeOf({ body }: Asking['route']): string {
  const { type } = mediaOf(body);
  const [name = 'a body'] = type === null ? [] : type.split(';');
  return name;
}

// Answers leave whole or in pieces, compressed for a client that takes it.

const NOT_MODIFIED = 304;
const REFUSES_IDENTITY = /(^|,)\s*(identity|\*)\s*;\s*q=0(\.0*)?\s*(,|$)/i;

type ReplyHeaders = WrittenAnswer['headers'];

/** Sends a whole answer past the framework, whose own sending costs more than most answers. */
function sendAnswer(reply: FastifyReply, said: WrittenAnswer): void {
  reply.hijack();
  // Of an answer that has begun nothing can be taken back: its end says that it is not whole.
  if (reply.raw.headersSent) return void reply.raw.destroy();
  const sent = { ...said, headers: varyByEncoding(said) };
  const { headers, sign } = reply.request;
  const encoding = encodingOf(headers, sent, sign !== null);
  if (encoding === null) {
    writeSigned(reply, sent, sign);
    return;
  }
  compressBytes(encoding, sent.bytes).then(
    (bytes) => {
      const compressed = { ...sent, headers: encodedHeaders(sent.headers, encoding), bytes };
      writeSigned(reply, compressed, sign);
    },
    () => reply.raw.destroy(),
  );
}

/** Writes an answer, under the signature that was asked for. */
function writeSigned(reply: FastifyReply, said: WrittenAnswer, sign: SignAnswer | null): void {
  if (sign === null) {
    write(reply, said);
    return;
  }
  sign(said).then(
    (more) => write(reply, { ...said, headers: { ...said.headers, ...more } }),
    () => reply.raw.destroy(),
  );
}

/** Sends an answer, or tells a client that holds it already that it does. */
function sendIfNew(reply: FastifyReply, said: WrittenAnswer): void {
  const { 'if-none-match': held } = reply.request.headers;
  const { etag } = said.headers;
  const isHeld = said.status === 200 && typeof etag === 'string' && isNamed(held, etag);
  // Under this status the runtime sends the length and leaves out the bytes.
  sendAnswer(reply, isHeld ? { ...said, status: NOT_MODIFIED } : said);
}

function isNamed(held: string | undefined, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, '');
  if (held === undefined) return false;
  return held.split(',').some((tag) => ['*', strong(etag)].includes(strong(tag)));
}

/** Sends a page as it comes. Whoever hangs up ends it, and with it all that is still read. */
async function sendInPieces(
  reply: FastifyReply,
  said: WrittenAnswer,
  { texts, end }: WrittenRest,
): Promise<void> {
  const { raw, request } = reply;
  const headers = varyByEncoding(said);
  const encoding = encodingOf(request.headers, { ...said, headers });
  const out = encoding === null ? raw : compressPieces(encoding, raw);
  try {
    raw.writeHead(said.status, {
      ...PAGE_HEADERS,
      'x-request-id': request.id,
      ...(encoding === null ? headers : encodedHeaders(headers, encoding)),
      ...closing(reply),
      // Proxies that gather an answer before they pass it on are asked not to.
      'x-accel-buffering': 'no',
    });
    out.write(said.bytes);
    for await (const text of texts) {
      if (raw.destroyed) return;
      if (!out.write(text)) await Promise.race([once(out, 'drain'), once(raw, 'close')]);
    }
    out.end();
  } finally {
    end();
  }
}

function compressPieces(encoding: Encoding, raw: ServerResponse): Writable {
  const through = compressor(encoding);
  through.pipe(raw);
  raw.once('close', () => through.destroy());
  return through;
}

function write(reply: FastifyReply, { status, headers, bytes }: WrittenAnswer): void {
  reply.raw.writeHead(status, {
    ...(headers['content-type'] === HTML_TYPE ? PAGE_HEADERS : API_HEADERS),
    'x-request-id': reply.request.id,
    ...headers,
    ...closing(reply),
    'content-length': bytes.length,
  });
  reply.raw.end(bytes);
}

// Of what the framework would add, only the closing of a connection is kept.
function closing(reply: FastifyReply) {
  return reply.hasHeader('connection') ? { connection: 'close' } : {};
}

function varyByEncoding({ headers, bytes }: WrittenAnswer): ReplyHeaders {
  if (!isCompressible(headers, bytes)) return headers;
  const { vary } = headers;
  return { ...headers, vary: vary === undefined ? ENCODED : `${String(vary)}, ${ENCODED}` };
}

function isCompressible(headers: ReplyHeaders, bytes: Buffer): boolean {
  return bytes.length >= COMPRESSED_BYTES_MIN && TEXT_TYPE.test(String(headers['content-type']));
}

/**
 * The encoding of an answer; `null`: as it is. A page of a session holds the token of its forms.
 * Beside a text that a stranger chose, the length of a compressed page would tell it (BREACH).
 */
function encodingOf(
  { 'accept-encoding': accepted, cookie }: IncomingHttpHeaders,
  { status, headers, bytes }: WrittenAnswer,
  isSigned = false,
): Encoding | null {
  if (accepted === undefined || status === NOT_MODIFIED) return null;
  if (!isCompressible(headers, bytes)) return null;
  // Browsers hide the bytes that were sent behind those that they decode.
  if (isSigned && !REFUSES_IDENTITY.test(accepted)) return null;
  if (cookie !== undefined && String(headers['vary']).includes('Cookie')) return null;
  return encodingIn(accepted);
}

// Other bytes have another name, unless the name is a weak one (RFC 9110, 8.8.3.3).
function encodedHeaders(headers: ReplyHeaders, encoding: Encoding): ReplyHeaders {
  const { etag } = headers;
  const named = etag === undefined ? headers : { ...headers, etag: `W/${String(etag)}` };
  return { ...named, 'content-encoding': encoding };
}

function openDoor(app: FastifyInstance, door: HttpDoor, options: HttpOptions): void {
  const { path, admit, serve } = door;
  const refuse = (reply: FastifyReply, refusal: Refusal | null): boolean => {
    if (refusal === null) return false;
    options.meters.refused(path, reasonOf(refusal));
    sendAnswer(reply, refusalSaid(refusal, null));
    return true;
  };
  app.route({
    method: 'POST',
    url: path,
    bodyLimit: door.bodyBytesMax,
    onRequest: (request, reply, done) => {
      const enter = (refusal: Refusal | null) => {
        const told = refusal === null ? encodingRefusal(request.headers) : refusal;
        if (!refuse(reply, told)) done();
      };
      admit(request.raw).then(enter, done);
    },
    handler: (request, reply) => {
      reply.hijack();
      const headers = { ...API_HEADERS, 'x-request-id': request.id };
      for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
      serve({ id: request.id, request: request.raw, body: request.body }, reply.raw).then(
        (refusal) => refuse(reply, refusal),
        (fault) => refuse(reply, refusalFor(fault, request, options)),
      );
    },
  });
}

function refuseTheRest(app: FastifyInstance, options: HttpOptions): void {
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsAt(options, pathOf(request.url));
    if (allowed.length === 0) {
      const body = { error: 'No such route. The routes stand in /openapi.json and /docs.' };
      refuseAt(request, reply, new Refusal('not_found', body), options);
      return;
    }
    const allow = allowed.join(', ');
    const body = { error: `Method not allowed here; expected ${allow}.` };
    refuseAt(request, reply, new Refusal('wrong_method', body, { allow }), options);
  });
  app.setErrorHandler((error, request, reply) =>
    refuseAt(request, reply, refusalFor(error, request, options), options),
  );
}

// Where no route is known that says how it refuses, a browser is told in a page.
function refuseAt(
  request: Pick<FastifyRequest, 'headers' | 'raw'>,
  reply: FastifyReply,
  refusal: Refusal,
  { gate, meters, refusalPage }: HttpOptions,
): void {
  const page = request.headers.accept?.includes('text/html') === true ? refusalPage : undefined;
  meters.refused('unknown', refusal.code);
  const say = (figures: QuotaFigures | null) =>
    sendAnswer(reply, refusalSaid(refusal, figures, page));
  const figures = gate === null ? null : figuresAt(gate, request.raw);
  if (figures instanceof Promise) figures.then(say, () => say(null));
  else say(figures);
}

/** The allowance beside a response that no route gave; `null` off the hosted surface. */
function figuresAt(gate: AccessGate, { url, headers }: IncomingMessage): Soon<QuotaFigures | null> {
  if (url?.startsWith(HOSTED_PATHS) !== true) return null;
  // `false`: no page of another origin may read it, so a publishable key opens nothing here.
  return gate.figures(credentialsIn(headers, searchOf(url), false));
}

/** The refusal of a request that failed: what the framework refused, or a fault of ours. */
function refusalFor(
  error: unknown,
  { id, routeOptions }: FastifyRequest,
  { log }: HttpOptions,
  bodyType?: string,
): Refusal {
  const refusal = refusalOfFault(error, bodyType);
  if (refusal !== null) return refusal;
  log.error({ request_id: id, route: routeOptions.url, fault: describe(error) }, 'fault');
  return faultRefusal(id);
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function methodsAt(options: HttpOptions, path: string): string[] {
  const methods = new Set<string>();
  const { streams } = options;
  for (const one of streams === undefined ? [] : streams.mounted) {
    if (one.route.path === path || one.route.eventsPath === path) {
      for (const method of methodsOf('GET')) methods.add(method);
    }
  }
  for (const { route } of options.mounted) {
    if (matches(route, path)) for (const one of methodsOf(route.method)) methods.add(one);
  }
  for (const door of doorsOf(options)) if (door.path === path) methods.add('POST');
  return [...methods];
}

function matches({ path: template, tail }: Asking['route'], path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    (wanted.length === given.length || (tail === true && wanted.length < given.length)) &&
    wanted.every((part, i) => part === given[i] || (part.startsWith('{') && given[i] !== ''))
  );
}

/** The header in which a script of our own pages sends the token of its session. */
const TOKEN_HEADER = 'x-form-token';

/** The input of a browser, without the token of its session; a refusal if the token is wrong. */
export function withoutToken(
  { params, query, body, headers }: Sent & { readonly headers: IncomingHttpHeaders },
  { caller }: Admission,
): Sent | Refusal {
  if (caller.kind !== 'session') return { params, query, body, headers };
  const isForm = typeof body === 'object' && body !== null && FORM_TOKEN in body;
  const { [FORM_TOKEN]: token = headers[TOKEN_HEADER], ...fields } = Object(isForm ? body : {});
  if (typeof token !== 'string' || !isFormOf(caller, token)) return foreignForm();
  return { params, query, body: isForm ? fields : body, headers };
}

// A route takes one form of body; any other is refused before it is read.

/** Fields of a form, repeated ones each for itself. */
const FORM_FIELDS_MAX = 500;

/** Has everything that is mounted on `app` take this form of body. */
export function acceptOnly(app: FastifyInstance, { kind, type }: Media): void {
  app.removeAllContentTypeParsers();
  const [name = '*'] = type === null ? [] : type.split(';');
  if (kind === 'bytes') {
    app.addContentTypeParser(name, { parseAs: 'buffer' }, (_request, bytes, done) => {
      done(null, bytes);
    });
    return;
  }
  const parse = kind === 'form' ? formOf : jsonOf;
  app.addContentTypeParser(name, { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, parse(String(text)));
    } catch (fault) {
      done(fault instanceof Error ? fault : new BrokenBody('expected what can be read'));
    }
  });
}

// Clients that always name the type of a body do so where they send none.
function jsonOf(text: string): unknown {
  if (text === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    throw new BrokenBody('expected valid JSON');
  }
}

/** The fields of a form by name: a text, or a list where a name is repeated. */
function formOf(text: string): { readonly [field: string]: string | readonly string[] } {
  const sent = new URLSearchParams(text);
  if (sent.size > FORM_FIELDS_MAX) {
    throw new BrokenBody(`expected at most ${FORM_FIELDS_MAX} fields`);
  }
  return Object.fromEntries(
    [...new Set(sent.keys())].map((name) => {
      const [first, ...more] = sent.getAll(name);
      return [name, first === undefined || more.length > 0 ? sent.getAll(name) : first];
    }),
  );
}

/** The words about a path that cannot be read. */
export const BAD_PATH = 'expected a decodable path of at most 256 characters a field';

/** A body that is not what its type announces; the message says what was expected. */
export class BrokenBody extends Error {}

/** The refusal that a fault of the framework stands for; `null` for a fault of ours. */
export function refusalOfFault(error: unknown, bodyType = 'application/json'): Refusal | null {
  if (error instanceof BrokenBody) return badField('body', error.message);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large', { error: 'body: larger than this route reads' });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('wrong_content_type', {
        error: `content-type: expected ${bodyType}`,
      });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return badField('body', 'expected valid JSON');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badField('content-length', 'expected the length of the body');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return badField('path', BAD_PATH);
    default:
      return null;
  }
}

/** The refusal of a body in an encoding: none is read here, and none is taken for plain text. */
export function encodingRefusal(headers: IncomingHttpHeaders): Refusal | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || /^\s*(identity\s*)?$/i.test(encoding)) return null;
  const error = 'content-encoding: expected none; a compressed body is not read';
  return new Refusal('wrong_content_type', { error }, { 'accept-encoding': 'identity' });
}

// Node.js refuses what its parser cannot take before there is a request, a caller or an id.

/** Answers what the parser refused on a connection, and closes it. */
export function refuseUnparsed(
  error: { readonly code?: string },
  socket: Socket,
  { gate, meters }: Pick<Answering, 'gate' | 'meters'>,
): void {
  // An answer that is still due on this connection would be taken for this one's.
  const isDue = Reflect.get(socket, '_httpMessage') != null;
  if (error.code === 'ECONNRESET' || !socket.writable || isDue) {
    socket.destroy();
    return;
  }
  const refusal = refusalOfParser(error.code);
  meters.refused('unknown', refusal.code);
  // Nothing of the request is known, so that a key that it may hold is not either.
  const said = refusalSaid(refusal, gate === null ? null : gate.noFigures());
  const { status, bytes } = said;
  const closing = { connection: 'close', 'content-length': bytes.length };
  const lines = Object.entries({ ...API_HEADERS, ...said.headers, ...closing }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), bytes]));
}

function refusalOfParser(code: string | undefined): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal('head_too_large', { error: 'path and headers: at most 16 KiB together' });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal('body_too_large', { error: 'body: its chunk extensions are too large' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('too_slow', { error: 'request: expected whole within 30 seconds' });
    default:
      return badField('request', 'expected one of HTTP/1.1');
  }
}

// A stopping server need not wait for connections that carry nothing. The runtime closes those that
// have answered; clients also open some that they never use.

/** Has a stopping server close the connections on which nothing was asked yet. */
export function closeUnused(app: FastifyInstance): void {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
  });
}
