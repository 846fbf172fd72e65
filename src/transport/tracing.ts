// Traces: a span for each request, each run of a job, each reading of a port and each call to a
// provider made for them, handed over as it ends. A span names what was asked by the template of
// its route, by job, by port and method, by scheme and host: never an address, a key or a query.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { WatchRun } from '../evidence/waiting.ts';

/** The kinds of OTLP. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;

/** A finished span of a trace. Ids are lower-case hex; times are Unix nanoseconds. */
export type TraceSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** `null`: nobody told of a span above it. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly facts: { readonly [name: string]: string | number };
  readonly isError: boolean;
};

/** What the span of a request says of it, beside its status. */
export type TracedRequest = {
  readonly method: string;
  /** The template of its path. */
  readonly route: string;
  /** The header by which its caller told of a trace, as it was sent. */
  readonly traceparent: unknown;
};

export type Tracing = {
  /** Runs the work of one request under a span of its own. */
  readonly request: <T extends { readonly status: number }>(
    of: TracedRequest,
    work: () => Promise<T>,
  ) => Promise<T>;
  /** Does each run of a job under a span of its own; one that was idle leaves none. */
  readonly job: (name: string) => WatchRun;
  /** Runs one reading; outside of a request and of a job no span is made. */
  readonly reading: <T>(port: string, method: string, call: () => T) => T;
  /** Runs work of which no span is made. */
  readonly untraced: <T>(work: () => T) => T;
  /** Stops to listen to outbound calls. */
  readonly end: () => void;
};

type Above = { readonly traceId: string; readonly spanId: string };
type Begun = Above & { readonly parentId: string | null; readonly startNs: bigint };

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const FAILED = 500;
/** The share of traces is decided by their ids, so that every process decides alike. */
const SHARE_DIGITS = 8;
const SHARE_OF = 16 ** SHARE_DIGITS;
/** W3C Trace Context, version 00: trace, span above and flags. All zeros name nothing. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

/** Makes spans of a share of the requests, from 0 to 1, and hands each one over when it ends. */
export function tracing(share: number, keep: (span: TraceSpan) => void): Tracing {
  const current = new AsyncLocalStorage<Above | null>();
  const epochNs = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
  const nowNs = () => epochNs + process.hrtime.bigint();
  const below = (above: Above): Begun => ({
    traceId: above.traceId,
    spanId: randomBytes(SPAN_BYTES).toString('hex'),
    parentId: above.spanId,
    startNs: nowNs(),
  });
  const end = (begun: Begun, rest: Pick<TraceSpan, 'name' | 'kind' | 'facts' | 'isError'>) =>
    keep({ ...begun, endNs: nowNs(), ...rest });
  const isTaken = (traceId: string) =>
    Number.parseInt(traceId.slice(-SHARE_DIGITS), 16) < share * SHARE_OF;

  const began = (traceparent: unknown): Begun | null => {
    const above = current.getStore();
    if (above !== undefined) return above === null ? null : below(above);
    const told = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
    const [, traceId = randomBytes(TRACE_BYTES).toString('hex'), parentId = null, flags] =
      told === null ? [] : told;
    const isLeftOut = flags !== undefined && (Number.parseInt(flags, 16) & SAMPLED) === 0;
    if (isLeftOut || !isTaken(traceId)) return null;
    const spanId = randomBytes(SPAN_BYTES).toString('hex');
    return { traceId, spanId, parentId, startNs: nowNs() };
  };

  const outbound = watchOutbound((request) => {
    const above = current.getStore();
    if (above === undefined || above === null) return null;
    const begun = below(above);
    const facts = { 'http.request.method': request.method, ...serverOf(request) };
    return (status) => {
      const isError = status === null || status >= FAILED;
      const said = status === null ? {} : { 'http.response.status_code': status };
      const name = request.method;
      end(begun, { name, kind: SPAN_KIND.client, facts: { ...facts, ...said }, isError });
    };
  });

  return {
    request: async ({ method, route, traceparent }, work) => {
      const begun = began(traceparent);
      if (begun === null) return current.run(null, work);
      const facts = { 'http.request.method': method, 'http.route': route };
      const rest = { name: `${method} ${route}`, kind: SPAN_KIND.server };
      try {
        const said = await current.run(begun, work);
        const { status } = said;
        const told = { ...facts, 'http.response.status_code': status };
        end(begun, { ...rest, facts: told, isError: status >= FAILED });
        return said;
      } catch (fault) {
        end(begun, { ...rest, facts, isError: true });
        throw fault;
      }
    },
    job: (name) => async (run, endOf) => {
      const begun = began(undefined);
      if (begun === null) return current.run(null, run);
      const keepAs = (outcome: string, isError: boolean) => {
        const facts = { job: name, outcome };
        end(begun, { name: `job ${name}`, kind: SPAN_KIND.internal, facts, isError });
      };
      try {
        const result = await current.run(begun, run);
        const outcome = endOf(result);
        if (outcome !== 'idle') keepAs(outcome, outcome === 'failed');
        return result;
      } catch (fault) {
        keepAs('fault', true);
        throw fault;
      }
    },
    reading: (port, method, call) => {
      const above = current.getStore();
      if (above === undefined || above === null) return call();
      const begun = below(above);
      const rest = { name: `${port}.${method}`, kind: SPAN_KIND.internal, facts: { port, method } };
      const said = current.run(begun, call);
      const settle = (isError: boolean) => end(begun, { ...rest, isError });
      if (!(said instanceof Promise)) settle(false);
      else
        said.then(
          () => settle(false),
          () => settle(true),
        );
      return said;
    },
    untraced: (work) => current.run(null, work),
    end: outbound.end,
  };
}

/** Scheme and host, as `/health` shows them: a path and a query may hold a key or an address. */
function serverOf({ protocol, host, port }: ServerFacts) {
  return {
    'url.scheme': protocol.replace(':', ''),
    'server.address': host,
    ...(typeof port === 'number' ? { 'server.port': port } : {}),
  };
}

/** What a request of the runtime tells of its server. */
type ServerFacts = Pick<ClientRequest, 'protocol' | 'host' | 'method'> & {
  readonly port?: unknown;
};

type Watched = { readonly request: ClientRequest };
/** Told of the status of an answer as it begins; `null`: none came. */
type Ended = (status: number | null) => void;

// The channels are the runtime's own: a call is seen wherever it is made, and costs nothing while
// nobody listens.
function watchOutbound(begin: (request: ServerFacts) => Ended | null) {
  const open = new WeakMap<ClientRequest, Ended>();
  const settle = (request: ClientRequest, status: number | null) => {
    open.get(request)?.(status);
    open.delete(request);
  };
  const onStart = (message: unknown) => {
    const { request } = message as Watched;
    const ended = begin(request);
    if (ended === null) return;
    open.set(request, ended);
    request.once('close', () => settle(request, null));
  };
  const onAnswer = (message: unknown) => {
    const { request, response } = message as Watched & { readonly response: IncomingMessage };
    settle(request, Number(response.statusCode));
  };
  subscribe('http.client.request.start', onStart);
  subscribe('http.client.response.finish', onAnswer);
  return {
    end: () => {
      unsubscribe('http.client.request.start', onStart);
      unsubscribe('http.client.response.finish', onAnswer);
    },
  };
}
