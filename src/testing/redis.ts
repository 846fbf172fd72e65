// Answers one question: against which Redis do the tests of the bus run?
// One that is started here from the installed program, without a file, so that what it held is gone
// when it stops.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const PROGRAM = '/usr/bin/redis-server';
const START_MS_MAX = 30_000;
const LOOK_MS = 20;

/** Why there is no server to test against, or `null` where there is one. */
export const NO_REDIS: string | null = existsSync(PROGRAM)
  ? null
  : 'skipped: no Redis server (install redis-server)';

/** A server on a port of its own, which can be away for a while. */
export type TestRedis = {
  readonly url: string;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Has it answer nothing, its connections open, until it is told otherwise. */
  readonly freeze: (frozen: boolean) => void;
};

/** Starts a server. */
export async function testRedis(): Promise<TestRedis> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async () => {
    const words = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
    ];
    child = spawn(PROGRAM, words, { stdio: 'ignore', cwd: '/tmp' });
    await untilListening(port);
  };
  const stop = async () => {
    if (child === null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    child = null;
    await ended;
  };
  process.once('exit', () => child?.kill('SIGKILL'));
  await start();
  const freeze = (frozen: boolean) => void child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  return { url: `redis://127.0.0.1:${port}`, start, stop, freeze };
}

async function untilListening(port: number): Promise<void> {
  for (let waited = 0; waited < START_MS_MAX; waited += LOOK_MS) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error('test: Redis did not start');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
