// Answers one question: which connections carry nothing, so that a stopping server need not wait?
// The runtime closes those that have answered; clients also open some that they never use.

import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

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
