// A collector of OpenTelemetry for tests: takes OTLP as JSON over HTTP and refuses any other form
// (opentelemetry-proto 1, `ExportTraceServiceRequest` in its JSON mapping). It fails on demand.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.string().regex(/^\d+$/) }),
  ]),
});
const nanoseconds = z.string().regex(/^\d{19}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);
const spanSchema = z.strictObject({
  traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
  spanId,
  parentSpanId: spanId.optional(),
  name: z.string().min(1),
  kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: z.array(attribute),
  status: z.strictObject({ code: z.union([z.literal(0), z.literal(2)]) }),
});
const exported = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(spanSchema).min(1),
        }),
      ),
    }),
  ),
});

export type CollectedSpan = z.output<typeof spanSchema>;
/** What it answers instead of 200; `hang`: nothing. */
export type CollectorFault = 'hang' | 'refuse' | 'unavailable' | 'page' | { rejected: number };

export type OtlpCollector = {
  readonly url: URL;
  readonly spans: () => readonly CollectedSpan[];
  /** All that was posted, as text. */
  readonly bodies: () => string;
  readonly authorizations: () => readonly (string | undefined)[];
  /** What was sent that is not of the form. */
  readonly problems: () => readonly string[];
  readonly fault: (fault: CollectorFault | null) => void;
  readonly close: () => Promise<void>;
};

function answer(response: ServerResponse, fault: CollectorFault | null): void {
  if (fault === 'hang') return;
  if (fault === 'refuse') response.destroy();
  else if (fault === 'unavailable') response.writeHead(503).end();
  else if (fault === 'page') response.end('<html></html>');
  else {
    const partialSuccess = fault === null ? {} : { rejectedSpans: String(fault.rejected) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ partialSuccess }));
  }
}

export async function startCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const problems: string[] = [];
  let fault: CollectorFault | null = null;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, url, headers } = request;
    bodies.push(body);
    authorizations.push(headers.authorization);
    const line = `${method} ${url} ${headers['content-type']}`;
    if (line !== 'POST /v1/traces application/json') problems.push(line);
    const parsed = exported.safeParse(JSON.parse(body));
    if (!parsed.success) problems.push(z.prettifyError(parsed.error));
    else if (fault === null) {
      for (const { scopeSpans } of parsed.data.resourceSpans) {
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
    }
    answer(response, fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    spans: () => spans,
    bodies: () => bodies.join('\n'),
    authorizations: () => authorizations,
    problems: () => problems,
    fault: (next) => {
      fault = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
