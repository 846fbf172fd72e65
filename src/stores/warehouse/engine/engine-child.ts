// One life of the child process that holds chDB: how it is started, asked, stopped and mourned.
// Whatever it still owed when it died is rejected as interrupted; nothing is answered for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  CHILD_FD,
  type ChildOptions,
  type EngineJob,
  type EngineOrder,
  type Frame,
  frameReader,
  reply,
  writeFrame,
} from './engine-protocol.ts';
import { errorOfText, WarehouseRefusal, WarehouseUnavailable } from './executor.ts';

/** A running child. */
export type EngineChild = {
  readonly pid: number;
  /** Sends a statement. A told `stop` cancels it, and after `graceMs` kills the child for it. */
  send(job: EngineJob, body: Uint8Array, stop: AbortSignal, graceMs: number): Promise<Buffer>;
  /** Resolves when the process is gone, however it went. */
  readonly ended: Promise<void>;
  /** Asks it to leave, and kills it if it has not after `STOP_WAIT_MS`. */
  stop(): Promise<void>;
};

/** How long a child may take to open its directory: many parts load in seconds. */
const START_WAIT_MS = 120_000;
/** How long a child may take to leave. */
const STOP_WAIT_MS = 5_000;
/** The stored length of the engine's standard error, which explains why it did not open. */
const STDERR_CHARS_MAX = 4096;
/** Pool threads of the child: its connections, the one that cancels, and room for files. */
const CHILD_POOL_THREADS = 8;

// The same path from the sources and from the build; the child itself is always the built one.
const CHILD_URL = new URL(
  '../../../../dist/stores/warehouse/engine/embedded-child.js',
  import.meta.url,
);
const LOCKED = /Cannot lock file|Another server instance/;

type Pending = { resolve(bytes: Buffer): void; reject(error: Error): void };

/** Starts a child and waits until it answers; rejects with `WarehouseRefusal` where it cannot. */
export async function startChild(options: ChildOptions): Promise<EngineChild> {
  const child = spawn(process.execPath, [fileURLToPath(CHILD_URL), JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // Nothing of our environment: it holds secrets, and the engine needs none of it.
    env: { UV_THREADPOOL_SIZE: String(CHILD_POOL_THREADS), TZ: 'UTC' },
  });
  const words = lastWords(child);
  const channel = child.stdio[CHILD_FD];
  if (!(channel instanceof Duplex) || child.pid === undefined) {
    throw new WarehouseRefusal('broken', 'The process of the embedded warehouse did not start.');
  }
  const life = followChild(child, channel, child.pid);
  const timer = setTimeout(() => child.kill('SIGKILL'), START_WAIT_MS);
  const opened = await Promise.race([life.ready.then(() => true), life.child.ended]);
  clearTimeout(timer);
  if (opened !== true) throw notOpened(options.directory, words());
  return life.child;
}

function notOpened(directory: string, words: string): WarehouseRefusal {
  if (LOCKED.test(words)) {
    const message = `The warehouse in ${directory} is open in another process: stop that first.`;
    return new WarehouseRefusal('locked', message);
  }
  const lines = words.trim().split('\n');
  const telling = lines.find((line) => /Error|Exception/.test(line));
  const said = telling === undefined ? lines.at(-1) : telling;
  const message = `The embedded warehouse in ${directory} did not open: ${said}`;
  return new WarehouseRefusal('broken', message);
}

function lastWords(child: ChildProcess): () => string {
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-STDERR_CHARS_MAX);
  });
  child.on('error', (error) => {
    words = error.message;
  });
  return () => words;
}

async function listen(channel: Duplex, heard: (frame: Frame) => void): Promise<void> {
  const read = frameReader(heard);
  for await (const piece of channel) if (Buffer.isBuffer(piece)) read(piece);
}

function followChild(child: ChildProcess, channel: Duplex, pid: number) {
  const pending = new Map<number, Pending>();
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let last = 0;

  const ended = new Promise<void>((resolve) => {
    const onGone = () => {
      channel.destroy();
      for (const owed of pending.values()) owed.reject(new WarehouseUnavailable('interrupted'));
      pending.clear();
      resolve();
    };
    child.once('close', onGone);
    child.once('error', onGone);
  });

  function hear({ head, body }: Frame): void {
    const said = reply.parse(head);
    if (said.say === 'ready') {
      isReady();
      return;
    }
    const owed = pending.get(said.id);
    pending.delete(said.id);
    if (said.say === 'done') owed?.resolve(body);
    else owed?.reject(errorOfText(body.toString('utf8')));
  }

  function tell(message: EngineOrder, body: Uint8Array): void {
    if (channel.writable) writeFrame(channel, message, body);
  }

  const send: EngineChild['send'] = (job, body, stop, graceMs) => {
    if (!channel.writable) return Promise.reject(new WarehouseUnavailable('down'));
    last += 1;
    const id = last;
    let overdue: NodeJS.Timeout | undefined;
    const cancel = () => {
      tell({ do: 'cancel', id }, Buffer.alloc(0));
      overdue = setTimeout(() => child.kill('SIGKILL'), graceMs);
    };
    stop.addEventListener('abort', cancel, { once: true });
    const answered = new Promise<Buffer>((resolve, reject) => {
      pending.set(id, { resolve, reject });
      tell({ ...job, id }, body);
    });
    return answered.finally(() => {
      stop.removeEventListener('abort', cancel);
      clearTimeout(overdue);
    });
  };

  async function stop(): Promise<void> {
    tell({ do: 'close' }, Buffer.alloc(0));
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS);
    await ended;
    clearTimeout(timer);
  }

  // A child that says nonsense is killed; its death is told by 'close' like any other.
  listen(channel, hear).then(
    () => undefined,
    () => child.kill('SIGKILL'),
  );
  return { child: { pid, send, ended, stop }, ready };
}
