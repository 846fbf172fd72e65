// Answers one question: how does a call leave this machine where only a proxy may?
// One way out for a process, named once at its start. https goes through a tunnel that the proxy
// opens and cannot read; plain http is handed to it whole. What lies inside is asked directly.

import { request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { isInsideAddress, literalHost } from './network.ts';
import { FetchFault, proxyCredentialOf, seconds } from './outbound-call.ts';

/** What TLS is begun with: a socket beside what a request says. */
type TunnelOptions = RequestOptions & { readonly socket: Duplex };
const CONNECT_MS_MAX = 30_000;
const HTTPS_PORT = 443;

type WayOut = { readonly url: URL; readonly tunnels: SecureAgent };
let wayOut: WayOut | null = null;

/** Has every call of this process to the outside go through a proxy; `null` asks directly. */
export function goThrough(proxy: URL | null): void {
  wayOut?.tunnels.destroy();
  wayOut = proxy === null ? null : { url: proxy, tunnels: new TunnelAgent(proxy) };
}

/** Whether a call goes through the proxy: not where its host lies inside by its name or number. */
export function isProxied(url: URL): boolean {
  return wayOut !== null && !isNamedInside(url);
}

function isNamedInside(url: URL): boolean {
  const literal = literalHost(url);
  if (literal !== null) return isInsideAddress(literal);
  return !url.hostname.includes('.') || url.hostname.endsWith('.localhost');
}

type Way = { readonly agent?: SecureAgent; readonly via?: URL };

/** The connections of a call, and the proxy that takes it whole; `null` where it goes directly. */
export function wayOf(url: URL): Way | null {
  const way = wayOut;
  if (way === null || isNamedInside(url)) return null;
  return url.protocol === 'https:' ? { agent: way.tunnels } : { via: way.url };
}

/** Connections through a proxy. Its faults name no part of its address. */
class TunnelAgent extends SecureAgent {
  readonly #proxy: URL;
  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    done: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = `${options.host}:${options.port ?? HTTPS_PORT}`;
    const send = this.#proxy.protocol === 'https:' ? secureRequest : plainRequest;
    const asked = send({
      host: this.#proxy.hostname,
      port: this.#proxy.port,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyCredentialOf(this.#proxy) },
      agent: false,
      timeout: CONNECT_MS_MAX,
    });
    // The callback takes an error alone; its types ask for a stream beside it.
    const fail = (fault: string): void => Reflect.apply(done, null, [new FetchFault(fault)]);
    asked.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) {
        const through: TunnelOptions = { ...options, socket };
        const stream = super.createConnection(through);
        if (stream) return done(null, stream);
      }
      socket.destroy();
      fail(`the proxy answered ${answer.statusCode}`);
    });
    asked.once('response', (answer) => {
      answer.destroy();
      fail(`the proxy answered ${answer.statusCode}`);
    });
    asked.once('timeout', () => asked.destroy(new Error('late')));
    asked.once('error', () =>
      fail(`the proxy gave no connection within ${seconds(CONNECT_MS_MAX)}`),
    );
    asked.end();
  }
}
