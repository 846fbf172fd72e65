// Answers one question: how fast is node:http when it only writes the same bytes.

import { createServer } from 'node:http';

process.once('message', (body: string) => {
  const bytes = Buffer.from(body);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': bytes.length,
    });
    response.end(bytes);
  });
  server.keepAliveTimeout = 72_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' && address !== null ? address.port : null);
  });
});
