// A network is what a proxy that is believed wrote, never what a client wrote of itself.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { clientNetwork } from './client-network.ts';

function networkOf(remote: string, forwarded: string | undefined, trustProxy: boolean): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remote });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return clientNetwork(request, trustProxy);
}

test.each([
  ['192.0.2.7', undefined, false, '192.0.2'],
  ['::ffff:192.0.2.9', undefined, false, '192.0.2'],
  ['192.0.2.7', '198.51.100.1', false, '192.0.2'],
  ['127.0.0.1', '203.0.113.9, 198.51.100.1', true, '198.51.100'],
  ['127.0.0.1', undefined, true, '127.0.0'],
  ['2001:db8:7:1::1', undefined, false, '2001:db8:7'],
  ['2001:db8::1', undefined, false, '2001:db8:0'],
  ['::1', undefined, false, '0:0:0'],
])('%s with %s, a proxy believed: %s, is of %s', (remote, forwarded, trusted, network) => {
  expect(networkOf(remote, forwarded, trusted)).toBe(network);
});
