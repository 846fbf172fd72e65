// A proxy stands in front of a real node and answers in its place where a test's rule says so.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const CALL = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) });
type ProxiedCall = z.infer<typeof CALL>;

/** The replacement of the node's answer: an error or a result of one call, or a whole answer. */
export type InItsPlace =
  | { readonly error: { code: number; message: string; data?: unknown } }
  | { readonly result: unknown }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
  | { readonly broken: true };

/**
 * Looks at each call of each request; `null` lets it through. A promise that does not settle holds
 * the request for as long as the proxy runs.
 */
export type Rule = (call: ProxiedCall) => InItsPlace | null | Promise<InItsPlace | null>;

export type NodeProxy = {
  readonly url: URL;
  readonly setRule: (rule: Rule) => void;
  /** The calls that came, in order. */
  readonly calls: ProxiedCall[];
  readonly stop: () => Promise<void>;
};

/** Starts one before a node. */
export async function startProxy(node: URL): Promise<NodeProxy> {
  let rule: Rule = () => null;
  const calls: ProxiedCall[] = [];
  const server = createServer((asked, answer) => {
    void (async () => {
      const body = await textOf(asked);
      const parsed: unknown = JSON.parse(body);
      const batch = Array.isArray(parsed);
      const now = z.array(CALL).parse(batch ? parsed : [parsed]);
      calls.push(...now);
      const instead = await Promise.all(now.map(async (call) => ({ call, by: await rule(call) })));
      const whole = instead.find(({ by }) => by !== null && ('status' in by || 'broken' in by))?.by;
      if (whole != null && 'broken' in whole) {
        answer.writeHead(200, { 'content-length': '1000' });
        answer.write('[{"jsonrpc"');
        setTimeout(() => answer.destroy(), 1);
        return;
      }
      if (whole != null && 'status' in whole) {
        answer.writeHead(whole.status, whole.headers).end(whole.body);
        return;
      }
      const answers = await Promise.all(
        instead.map(async ({ call, by }) =>
          by === null ? await forward(node, call) : { jsonrpc: '2.0', id: call.id, ...by },
        ),
      );
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(batch ? answers : answers[0]));
    })().catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    calls,
    setRule: (next) => {
      rule = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function forward(node: URL, call: ProxiedCall): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(node, { method: 'POST', headers }, (response) => {
      textOf(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ jsonrpc: '2.0', ...call }));
  });
  const answer: unknown = JSON.parse(text);
  return answer;
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
