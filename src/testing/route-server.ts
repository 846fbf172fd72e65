// The declared routes over ports of a test, asked over HTTP: handlers without doors and guards.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONTRACTS, handlerOf } from '../compose/list.ts';
import { Answer, Reply } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import { NOBODY } from '../contract/route.ts';
import { TEST_SERVICE } from './service.ts';
import type { MakeHandler } from './silence-made.ts';

/** A running server: the start of its URLs, and its end. */
export type RouteServer = { readonly base: string; readonly close: () => Promise<void> };

/** Serves the routes over the ports that hold when a request comes. `now` is Unix seconds. */
export async function startRouteServer(
  portsNow: () => object,
  now: () => number,
): Promise<RouteServer> {
  const server = createServer((request, response) => {
    answerRequest(request, portsNow(), now).then(
      ({ status, bytes }) => response.writeHead(status).end(bytes),
      (fault: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(fault) })),
    );
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type Served = { readonly status: number; readonly bytes: Buffer | string };

/** The answer of a path's route. */
async function answerRequest(
  request: IncomingMessage,
  ports: object,
  now: () => number,
): Promise<Served> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const url = new URL(String(request.url), 'http://service');
  const [route, params] = routeAt(url.pathname);
  const input = {
    params: route.params.parse(params),
    query: route.query.parse(Object.fromEntries(url.searchParams)),
    body: route.body?.parse(JSON.parse(Buffer.concat(chunks).toString())),
  };
  const handle = handlerOf(route.name, {
    ...ports,
    service: TEST_SERVICE,
  }) as ReturnType<MakeHandler>;
  const asked = { now, signal: new AbortController().signal };
  const answer: unknown = await handle(input, asked, NOBODY);
  if (answer instanceof Refusal) return { status: 400, bytes: JSON.stringify(answer.body) };
  if (answer instanceof Answer) return { status: 200, bytes: answer.bytes(now()) };
  if (answer instanceof Reply) {
    const isBytes = answer.body instanceof Uint8Array;
    return { status: answer.status, bytes: isBytes ? answer.bytes() : JSON.stringify(answer.body) };
  }
  throw new Error('test: no answer');
}

/** The route at a path, with the values of its parameters. */
function routeAt(path: string): [(typeof CONTRACTS)[number], { [name: string]: string }] {
  for (const route of CONTRACTS) {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const found = new RegExp(`^${pattern}$`).exec(path);
    if (found === null) continue;
    const sent = Object.entries({ ...found.groups });
    return [route, Object.fromEntries(sent.map(([of, text]) => [of, decodeURIComponent(text)]))];
  }
  throw new Error(`test: no route at ${path}`);
}
