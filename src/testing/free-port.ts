// A port that a test may name before a program listens there.

import { once } from 'node:events';
import { createServer } from 'node:net';

// Below 32,768, where Linux begins to give ports to whoever asks for any (`ip_local_port_range`):
// no connection and no server of a test that runs beside is given one of these.
const FIRST = 20_000;
const PORTS = 12_000;

/** A loopback port where nothing listens now, and which the system gives to nobody by itself. */
export async function freePort(): Promise<number> {
  const port = FIRST + Math.floor(Math.random() * PORTS);
  const probe = createServer();
  const isFree = await new Promise<boolean>((settle) => {
    probe.once('error', () => settle(false));
    probe.listen(port, '127.0.0.1', () => settle(true));
  });
  if (!isFree) return freePort();
  probe.close();
  await once(probe, 'close');
  return port;
}
