// The clients are those of the protocol's own libraries: one of today's line, one of the older.

import {
  Client as ClientOfToday,
  StreamableHTTPClientTransport as HttpOfToday,
  InMemoryTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfToday } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as olderHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { fetchPatiently } from './patient-fetch.ts';

/** The revisions that are served, and a client that speaks each of them alone. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** Where a server is: over HTTP, or a command that speaks over stdio. */
export type ServerPlace =
  | { readonly url: string; readonly headers: { readonly [name: string]: string } }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: { readonly [name: string]: string };
    };

const toolShown = z.looseObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  outputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z.looseObject({ readOnlyHint: z.boolean() }),
});
const resultShown = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.looseObject({}).optional(),
  content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })),
});
export type ToolView = z.output<typeof toolShown>;
export type ResultView = z.output<typeof resultShown>;

/** A client that is connected. A call rejects where the protocol itself fails. */
export type McpClient = {
  readonly list: () => Promise<readonly ToolView[]>;
  readonly call: (
    name: string,
    given: { readonly [name: string]: unknown },
    signal?: AbortSignal,
  ) => Promise<ResultView>;
  readonly instructions: () => string | undefined;
  readonly close: () => Promise<void>;
};

const ME = { name: 'tests', version: '1.0.0' };

/** Connects a client that speaks one revision. */
export function connectClient(revision: Revision, to: ServerPlace): Promise<McpClient> {
  return revision === '2026-07-28' ? connectToday(revision, to) : connectOlder(to);
}

async function connectToday(pin: string, to: ServerPlace): Promise<McpClient> {
  const client = new ClientOfToday(ME, { versionNegotiation: { mode: { pin } } });
  await client.connect(
    'url' in to
      ? new HttpOfToday(new URL(to.url), {
          requestInit: { headers: { ...to.headers } },
          fetch: fetchPatiently,
        })
      : new StdioOfToday({ ...to, args: [...to.args], env: { ...to.env } }),
  );
  return {
    list: async () => z.array(toolShown).parse((await client.listTools()).tools),
    call: async (name, given, signal) => {
      const how = signal === undefined ? {} : { signal };
      return resultShown.parse(await client.callTool({ name, arguments: { ...given } }, how));
    },
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

async function connectOlder(to: ServerPlace): Promise<McpClient> {
  const client = new OlderClient(ME);
  const transport =
    'url' in to
      ? new olderHttp.StreamableHTTPClientTransport(new URL(to.url), {
          requestInit: { headers: { ...to.headers } },
          fetch: fetchPatiently,
        })
      : new OlderStdio({ ...to, args: [...to.args], env: { ...to.env } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    list: async () => z.array(toolShown).parse((await client.listTools()).tools),
    call: async (name, given, signal) => {
      const how = signal === undefined ? {} : { signal };
      const asked = { name, arguments: { ...given } };
      return resultShown.parse(await client.callTool(asked, undefined, how));
    },
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

/** Connects a client of today's line to a server of this process, which `open` connects. */
export async function connectLinked(
  open: (transport: InMemoryTransport) => Promise<void>,
): Promise<Pick<McpClient, 'call' | 'close'>> {
  const client = new ClientOfToday(ME);
  const [server, own] = InMemoryTransport.createLinkedPair();
  await Promise.all([open(server), client.connect(own)]);
  // A client checks answers against the schemas that it was listed.
  await client.listTools();
  return {
    call: async (name, given) =>
      resultShown.parse(await client.callTool({ name, arguments: { ...given } })),
    close: () => client.close(),
  };
}
