// Answers one question: which process owns the data directory, now.
// The owner is who listens on a socket in it; a socket that refuses belonged to a dead process.
// Ownership is taken by a hard link, which one process alone can make: owner.d/1, then 2, 3, …
// It refuses to remove the claim of a process that still listens.

import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { askOwner, type OwnerHandler, type OwnerRequest, serveOwner } from './owner-protocol.ts';

/** How a process stands to the data directory. */
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
const SOCKET_NAME = 'owner.sock';
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
    return await settled(place, dataDir);
  } finally {
    // A socket is bound and named, or nothing is: the short way to it has served.
    await place.leave();
  }
}

async function settled(place: Place, dataDir: string): Promise<Ownership> {
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
      await ended(claim);
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
    const done = (state: 'alive' | 'dead' | 'gone') => {
      socket.destroy();
      settle(state);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => done('alive'));
    socket.once('connect', () => done('alive'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') done('dead');
      else if (error.code === 'ENOENT') done('gone');
      // Any other answer is no proof of death, and only proof lets a claim be replaced.
      else done('alive');
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
  const lost = () => ended({ server, sockets });
  await chmod(own, SOCKET_MODE);
  const path = join(place.claims, String(number));
  try {
    await link(own, path);
  } catch (error) {
    await lost();
    // Another was first; or this process stood still so long that its socket was cleared away.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return null;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
  // A process that slept since it looked may have made a number that was cleared away meanwhile.
  if ((await highestClaim(place.dir)) > number) {
    await rm(path, { force: true });
    await lost();
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
      await ended(claim);
    },
  };
}

/** Stops listening: whoever looks next finds the claim dead. */
async function ended({ server, sockets }: Pick<Claim, 'server' | 'sockets'>): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  for (const socket of sockets) socket.destroy();
  await closed;
}

/** Removes claims below the owner's, and sockets that never became one. */
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
