// One process owns the data directory: the one that listens on a socket in it. A socket that
// refuses belonged to a dead process. Ownership is taken by a hard link, which one process alone
// can make: owner.d/1, then 2, 3, … The claim of a process that still listens is never removed.

import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../sources/http/fetch.ts';

/** The relation of a process to the data directory. */
export type Ownership =
  | {
      readonly owner: true;
      /** Answers the commands of other processes; those that came before wait for it. */
      readonly serve: (handler: OwnerHandler) => void;
      /** Ends the answers under way and gives the directory up. */
      readonly close: () => Promise<void>;
    }
  | {
      readonly owner: false;
      /** Has the owner run a command. Resolves with its exit status; rejects with OwnerLost. */
      readonly call: (request: OwnerRequest, onLine: (line: string) => void) => Promise<number>;
    };

/** The socket's address in the data directory. */
export const SOCKET_NAME = 'owner.sock';
/** The claims: sockets named 1, 2, 3, … of which the highest is the owner's. */
const CLAIMS_NAME = 'owner.d';
/** The longest socket address that every system takes, in bytes. */
const ADDRESS_MAX_BYTES = 100;
/** A claim is lost at most as often as other processes come and go meanwhile. */
const ATTEMPTS_MAX = 200;
/** A socket that never became a claim was left by a process killed while it started. */
const LEFT_OVER_AFTER_MS = 60_000;
/** Connections held at once; of one more it is only known that someone listens. */
const CONNECTIONS_MAX = 256;
const CONNECT_TIMEOUT_MS = 5_000;
const OWNER_ONLY = 0o700;
const SOCKET_MODE = 0o600;

/** Becomes the owner of the directory, which is created where absent, or finds who is. */
export async function becomeOwner(dataDir: string): Promise<Ownership> {
  await mkdir(join(dataDir, CLAIMS_NAME), { recursive: true, mode: OWNER_ONLY });
  const place = await reachablePlace(dataDir);
  try {
    return await claimPlace(place, dataDir);
  } finally {
    // A socket is bound and named, or nothing is: the short way to it has served.
    await place.leave();
  }
}

async function claimPlace(place: Place, dataDir: string): Promise<Ownership> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const highest = await highestClaim(place.dir);
    const state = highest === 0 ? 'dead' : await probe(join(place.claims, String(highest)));
    if (state === 'alive') {
      return { owner: false, call: (request, onLine) => callOwner(dataDir, request, onLine) };
    }
    if (state === 'gone') continue;
    const claim = await listen(place, highest + 1);
    if (claim === null) continue;
    try {
      return await ownershipOf(place, claim);
    } catch (fault) {
      await closeClaim(claim);
      throw fault;
    }
  }
  throw new Error(`the owner of ${dataDir} could not be determined: too many processes start`);
}

/** A directory, its claims, and how to leave the short way to it. */
type Place = {
  readonly whole: string;
  readonly dir: string;
  readonly claims: string;
  readonly leave: () => Promise<void>;
};

/**
 * The directory by a path short enough for a socket's address: where its own is too long, by a
 * link in a private temporary directory. The sockets lie in the data directory either way.
 */
async function reachablePlace(dataDir: string): Promise<Place> {
  const whole = resolve(dataDir);
  const longest = join(whole, CLAIMS_NAME, randomName());
  if (Buffer.byteLength(longest) <= ADDRESS_MAX_BYTES) {
    const claims = join(whole, CLAIMS_NAME);
    return { whole, dir: whole, claims, leave: async () => undefined };
  }
  const around = await mkdtemp(join(tmpdir(), 'exhibit-'));
  const dir = join(around, 'd');
  await symlink(whole, dir);
  return {
    whole,
    dir,
    claims: join(dir, CLAIMS_NAME),
    leave: () => rm(around, { recursive: true, force: true }),
  };
}

function randomName(): string {
  return `new-${randomBytes(8).toString('hex')}`;
}

async function highestClaim(dir: string): Promise<number> {
  let highest = 0;
  for (const name of await readdir(join(dir, CLAIMS_NAME))) {
    if (/^[1-9][0-9]{0,14}$/.test(name)) highest = Math.max(highest, Number(name));
  }
  return highest;
}

/** Whether someone listens on a claim. A claim that is gone was replaced by a higher one. */
async function probe(path: string): Promise<'alive' | 'dead' | 'gone'> {
  return await new Promise((settle) => {
    const socket = connect(path);
    const finish = (state: 'alive' | 'dead' | 'gone') => {
      socket.destroy();
      settle(state);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish('alive'));
    socket.once('connect', () => finish('alive'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') finish('dead');
      else if (error.code === 'ENOENT') finish('gone');
      // Any other answer is no proof of death, and only proof lets a claim be replaced.
      else finish('alive');
    });
  });
}

/** A claim that was won: its number and the socket that listens on it. */
type Claim = { readonly number: number; readonly server: Server; readonly sockets: Set<Socket> };

/** Listens first, then claims: a claim that can be seen is always one that answers. */
async function listen(place: Place, number: number): Promise<Claim | null> {
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = CONNECTIONS_MAX;
  const own = join(place.claims, randomName());
  await new Promise<void>((ready, failed) => {
    server.once('error', failed);
    server.listen(own, ready);
  });
  const endClaim = () => closeClaim({ server, sockets });
  await chmod(own, SOCKET_MODE);
  const path = join(place.claims, String(number));
  try {
    await link(own, path);
  } catch (error) {
    await endClaim();
    // Another was first; or this process stood still so long that its socket was cleared away.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return null;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
  // A process that slept since it looked may have made a number that was cleared away meanwhile.
  if ((await highestClaim(place.dir)) > number) {
    await rm(path, { force: true });
    await endClaim();
    return null;
  }
  return { number, server, sockets };
}

async function ownershipOf(place: Place, claim: Claim): Promise<Ownership> {
  const published = join(place.whole, SOCKET_NAME);
  const own = join(place.claims, String(claim.number));
  const passing = join(place.claims, randomName());
  await link(own, passing);
  await rename(passing, published);
  await rm(passing, { force: true });
  await clearAway(place.claims, claim.number);
  const ending = new AbortController();
  return {
    owner: true,
    serve: (handler) => serveOwner(claim.server, claim.sockets, handler, ending.signal),
    close: async () => {
      // While it listens nobody else can have published theirs, so this removes its own.
      await rm(published, { force: true });
      ending.abort();
      await closeClaim(claim);
    },
  };
}

/** Stops listening: whoever looks next finds the claim dead. */
async function closeClaim({ server, sockets }: Pick<Claim, 'server' | 'sockets'>): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  for (const socket of sockets) socket.destroy();
  await closed;
}

async function clearAway(claims: string, number: number): Promise<void> {
  for (const name of await readdir(claims)) {
    const path = join(claims, name);
    const lower = /^[0-9]+$/.test(name) && Number(name) < number;
    const leftOver = name.startsWith('new-') && (await isOld(path));
    if (lower || leftOver) await rm(path, { force: true });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function isOld(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > LEFT_OVER_AFTER_MS;
  } catch (error) {
    // Gone already: the process that made it has finished with it.
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function callOwner(
  dataDir: string,
  request: OwnerRequest,
  onLine: (line: string) => void,
): Promise<number> {
  const place = await reachablePlace(dataDir);
  try {
    // By its claim: the published name follows a moment after the claim was won.
    const claim = String(await highestClaim(place.dir));
    return await askOwner(join(place.claims, claim), request, onLine);
  } finally {
    await place.leave();
  }
}

// A command and the owner talk in newline-delimited JSON: one request, then lines of output, then
// an exit status. Messages past their bound are refused, and more callers at once than the owner
// can serve.

/** A command for the owner. `args` are its words, as the operator typed them. */
export type OwnerRequest = { readonly command: string; readonly args: readonly string[] };

/** Runs a command: yields lines of output, returns the exit status. */
export type OwnerHandler = (
  request: OwnerRequest,
  signal: AbortSignal,
) => AsyncGenerator<string, number>;

/** The owner ended, or did not answer, before it said how the command ended. */
export class OwnerLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OwnerLost';
  }
}

/** The longest request or line of output, in bytes. */
const MESSAGE_MAX_BYTES = 1024 * 1024;
const CALLERS_MAX = 64;
const ARGS_MAX = 1_000;
const REFUSAL_MAX_CHARS = 2_000;
/** A caller has so long to send its request. */
const REQUEST_TIMEOUT_MS = 10_000;
/** While a command runs without output, an empty line says that it still does. */
const HEARTBEAT_MS = 15_000;
/** A caller that takes nothing of what is sent to it for so long has stopped reading. */
const UNREAD_MAX_MS = 120_000;
/** A caller that hears nothing for so long takes the owner for lost. */
const SILENCE_MAX_MS = 120_000;
const STATUS_MAX = 255;

const requestShape = z.strictObject({
  command: z.string().min(1).max(200),
  args: z.array(z.string()).max(ARGS_MAX),
});
const replyShape = z.union([
  z.strictObject({ line: z.string() }),
  z.strictObject({ exit: z.int().min(0).max(STATUS_MAX) }),
  z.strictObject({ refused: z.string() }),
]);
type Reply = z.infer<typeof replyShape>;

/** Answers each caller of the socket, those included that are waiting already. */
export function serveOwner(
  server: Server,
  waiting: ReadonlySet<Socket>,
  handler: OwnerHandler,
  ending: AbortSignal,
): void {
  let callers = 0;
  const take = (socket: Socket) => {
    if (callers >= CALLERS_MAX) {
      socket.end(frame({ refused: 'too many commands run at once' }));
      return;
    }
    callers += 1;
    socket.once('close', () => {
      callers -= 1;
    });
    void answer(socket, handler, ending).finally(() => socket.end());
  };
  for (const socket of waiting) take(socket);
  server.on('connection', take);
}

async function answer(socket: Socket, handler: OwnerHandler, ending: AbortSignal): Promise<void> {
  const text = await firstLine(socket);
  // A probe connects and leaves: nobody asked anything.
  if (text === null) return;
  const request = parseLine(text, requestShape);
  if (request === null) {
    socket.write(frame({ refused: 'the request is not one of this protocol' }));
    return;
  }
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const output = handler(request, AbortSignal.any([gone.signal, ending]));
  const heartbeat = setInterval(() => {
    if (!socket.writableNeedDrain) socket.write('\n');
  }, HEARTBEAT_MS);
  try {
    for (;;) {
      const step = await output.next();
      if (gone.signal.aborted || ending.aborted) return;
      if (step.done === true) {
        socket.write(frame({ exit: step.value }));
        return;
      }
      await send(socket, { line: step.value });
    }
  } catch (error) {
    // The handler's own failure: the caller is told that the command was not run to its end.
    const message = error instanceof Error ? error.message : String(error);
    socket.write(frame({ refused: message.slice(0, REFUSAL_MAX_CHARS) }));
  } finally {
    clearInterval(heartbeat);
    await output.return(1);
  }
}

function frame(reply: Reply): string {
  return `${JSON.stringify(reply)}\n`;
}

async function send(socket: Socket, reply: Reply): Promise<void> {
  const text = frame(reply);
  if (Buffer.byteLength(text) > MESSAGE_MAX_BYTES) throw new Error('a line of output is too long');
  if (socket.write(text)) return;
  await new Promise<void>((flushed) => {
    const stalled = setTimeout(() => socket.destroy(), UNREAD_MAX_MS);
    const endSend = () => {
      clearTimeout(stalled);
      socket.removeListener('drain', endSend);
      socket.removeListener('close', endSend);
      flushed();
    };
    socket.once('drain', endSend);
    socket.once('close', endSend);
  });
}

/** The first line that a caller sends, or `null` where it sends none in time or too much. */
async function firstLine(socket: Socket): Promise<string | null> {
  return await new Promise((settle) => {
    let text = '';
    const endLine = (line: string | null) => {
      clearTimeout(timer);
      socket.removeListener('data', onData);
      socket.removeListener('end', onEnd);
      socket.removeListener('close', onEnd);
      socket.resume();
      settle(line);
    };
    const onEnd = () => endLine(null);
    const onData = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) endLine(text.slice(0, end));
      else if (text.length > MESSAGE_MAX_BYTES) endLine('');
    };
    const timer = setTimeout(onEnd, REQUEST_TIMEOUT_MS);
    socket.setEncoding('utf8');
    socket.on('data', onData);
    socket.once('end', onEnd);
    socket.once('close', onEnd);
    socket.resume();
  });
}

/** Sends a request to the owner's socket and passes its lines on. Resolves with the exit status. */
export async function askOwner(
  path: string,
  request: OwnerRequest,
  onLine: (line: string) => void,
): Promise<number> {
  const text = `${JSON.stringify(requestShape.parse(request))}\n`;
  if (Buffer.byteLength(text) > MESSAGE_MAX_BYTES) throw new Error('the command is too long');
  const socket = connect(path);
  socket.setTimeout(SILENCE_MAX_MS, () => {
    socket.destroy(new OwnerLost('the owner of the data directory has fallen silent'));
  });
  socket.write(text);
  try {
    for await (const line of linesOf(socket)) {
      const reply = parseLine(line, replyShape);
      if (reply === null) throw new OwnerLost('the owner answered in words that are not known');
      if ('line' in reply) onLine(reply.line);
      else if ('exit' in reply) return reply.exit;
      else throw new OwnerLost(`the owner did not run the command: ${reply.refused}`);
    }
  } catch (error) {
    if (error instanceof OwnerLost) throw error;
    throw new OwnerLost(`the owner of the data directory was lost: ${String(error)}`);
  } finally {
    socket.destroy();
  }
  throw new OwnerLost('the owner of the data directory ended before the command did');
}

async function* linesOf(socket: Socket): AsyncGenerator<string, void> {
  socket.setEncoding('utf8');
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop() ?? text;
    if (text.length > MESSAGE_MAX_BYTES) throw new OwnerLost('the owner sent a line without end');
    for (const line of lines) if (line !== '') yield line;
  }
}

function parseLine<T>(line: string, shape: z.ZodType<T>): T | null {
  const value = jsonIn(line);
  if (value === undefined) return null;
  const result = shape.safeParse(value);
  return result.success ? result.data : null;
}
