// Serves the tools over a pipe, to a client of either revision of MCP.
// Each call asks the route of a running service, as every other client of that service does.

import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { askService, type Connection } from '../command/connection.ts';
import { Refusal } from '../contract/refusals.ts';
import type { AnyRoute } from '../contract/stream.ts';
import { parseInput, type Sent } from '../transport/answer.ts';
import { type AskTool, type ToolAnswer, type ToolRequest, toolServer, toolsOf } from './tools.ts';

/** The declared routes, and where a client sits. */
export type ToolServices = {
  readonly routes: readonly AnyRoute[];
  readonly version: string;
  readonly pipe: () => { readonly input: Readable; readonly output: Writable };
};

const MESSAGE_BYTES_MAX = 256 * 1024;
/** Calls under way at once; a client that makes more is told to wait. */
const CALLS_MAX = 16;
const BUSY = `At most ${CALLS_MAX} calls at once; wait for one of them.`;

/** Serves until the client's end of the pipe closes, or the signal says stop. */
export async function serveTools(
  to: Connection,
  { routes, version, pipe }: ToolServices,
  stop: AbortSignal,
): Promise<void> {
  const tools = toolsOf(routes);
  const ask = askThrough(to);
  const { input, output } = pipe();
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MESSAGE_BYTES_MAX });
  await new Promise<void>((closed) => {
    const serving = serveStdio(() => toolServer(tools, version, ask), {
      transport,
      maxSubscriptions: 0,
    });
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      closed();
    };
    stop.addEventListener('abort', () => void serving.close(), { once: true });
    if (stop.aborted) void serving.close();
  });
}

function askThrough(to: Connection): AskTool {
  let running = 0;
  return async ({ route, sent }, { signal }) => {
    // The service would say the same of these, with a path that names no address.
    const input = parseInput(route, sent);
    if (input instanceof Refusal) return answerOf(input.status, input.body);
    if (running >= CALLS_MAX) return answerOf(503, { error: BUSY });
    running += 1;
    try {
      const answer = await askService(to, requestOf(route, sent), signal);
      if (answer.kind === 'silent') return answerOf(503, { error: answer.reason });
      return answerOf(answer.status, answer.body);
    } finally {
      running -= 1;
    }
  };
}

function answerOf(status: number, body: unknown): ToolAnswer {
  return { status, text: JSON.stringify(body) };
}

const texts = z.record(z.string(), z.string());

function requestOf({ method, path }: ToolRequest['route'], { params, query, body }: Sent) {
  const named = texts.parse(params);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(named[name])),
  );
  const search = new URLSearchParams(texts.parse(query)).toString();
  const asked = { path: search === '' ? filled : `${filled}?${search}` };
  if (method === 'GET') return { method, ...asked };
  if (method !== 'POST') throw new Error(`${path}: a tool reads`);
  return { method, ...asked, body: z.looseObject({}).parse(body) };
}
