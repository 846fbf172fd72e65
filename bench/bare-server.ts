import { createServer } from 'node:http';

/** An answer of the service: its headers as names and values in turn, and its body. */
export type SameBytes = { readonly headers: readonly string[]; readonly body: string };

process.once('message', ({ headers, body }: SameBytes) => {
  const bytes = Buffer.from(body);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, [...headers]);
    response.end(bytes);
  });
  server.keepAliveTimeout = 72_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' && address !== null ? address.port : null);
  });
});
