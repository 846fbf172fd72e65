// Gives a process one time, or one from which its clock goes on, and one row of random numbers, so
// that two runs answer the same.
// It is loaded before the program (`node --import`) and hands itself on to each worker and child,
// whose environment and flags the program chooses by itself. It holds no import of the product:
// the same file goes before any checkout.

import childProcess from 'node:child_process';
import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { type WorkerOptions } from 'node:worker_threads';

/** The environment variables that control a process. */
export const TIME_SETTING = 'EXHIBIT_TEST_TIME_MS';
/** The true time at which that time was; it goes on from there. Unset: it stands still. */
export const SINCE_SETTING = 'EXHIBIT_TEST_SINCE_MS';
const SEED_SETTING = 'EXHIBIT_TEST_SEED';

const timeMs = Number(process.env[TIME_SETTING]);
const seed = process.env[SEED_SETTING] ?? '';
const since = process.env[SINCE_SETTING];
const SETTINGS = {
  [TIME_SETTING]: String(timeMs),
  [SEED_SETTING]: seed,
  ...(since !== undefined && { [SINCE_SETTING]: since }),
};
const FLAGS = ['--import', import.meta.url];

// Every clock but this one still runs: timers and `performance.now` end what waits.
const RealDate = Date;
const currentTime = () => (since === undefined ? timeMs : timeMs + RealDate.now() - Number(since));
// A proxy, no class of its own: a date that comes from another thread is still one of these.
const FixedDate = new Proxy(RealDate, {
  construct: (real, args: [number]) =>
    args.length > 0 ? new real(...args) : new real(currentTime()),
  get: (real, name) => (name === 'now' ? currentTime : Reflect.get(real, name)),
});

/** So many bytes, which depend on the seed and on how often as many were asked for before. */
function draw(size: number, kind: string): Buffer {
  const name = `${kind} ${size}`;
  const count = (drawn.get(name) ?? 0) + 1;
  drawn.set(name, count);
  const blocks = Array.from({ length: Math.ceil(size / 32) }, (_, block) =>
    createHash('sha256').update(`${seed} ${name} ${count} ${block}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, size);
}
const drawn = new Map<string, number>();

type OnBytes = (fault: Error | null, bytes: Buffer) => void;

function drawBytes(size: number, done?: OnBytes): Buffer | undefined {
  const bytes = draw(size, 'bytes');
  if (done === undefined) return bytes;
  process.nextTick(done, null, bytes);
  return undefined;
}

function drawUuid(): string {
  const hex = draw(16, 'uuid').toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`];
  return [...parts, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Start = (...given: readonly unknown[]) => unknown;

/** A way to start a process, with the options of its callers added to. */
function wrapStart(start: Start): Start {
  return (file, ...given) => {
    const options = given.findLast(isOptions);
    const others = given.filter((one) => one !== options);
    const own = typeof options === 'object' && options !== null ? options : {};
    const env: unknown = Reflect.get(own, 'env') ?? process.env;
    const flags = FLAGS.join(' ');
    return start(file, ...others, {
      ...own,
      env: { ...Object(env), ...SETTINGS, NODE_OPTIONS: flags },
    });
  };
}

class FixedWorker extends workerThreads.Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    super(file, { ...options, execArgv: [...(options.execArgv ?? []), ...FLAGS] });
  }
}

if (Number.isSafeInteger(timeMs)) {
  Object.assign(globalThis, { Date: FixedDate });
  RealDate.prototype.constructor = FixedDate;
  Math.random = () => draw(4, 'number').readUInt32BE() / 2 ** 32;
  Object.assign(crypto, { randomBytes: drawBytes });
  Object.assign(crypto, { randomUUID: drawUuid });
  Object.assign(globalThis.crypto, { randomUUID: drawUuid });
  Object.assign(childProcess, {
    spawn: wrapStart(childProcess.spawn as Start),
    fork: wrapStart(childProcess.fork as Start),
  });
  Object.assign(workerThreads, { Worker: FixedWorker });
  syncBuiltinESMExports();
}
