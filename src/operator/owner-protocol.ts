// Answers one question: in which words do a command and the owner of the data directory talk.
// Newline-delimited JSON: one request, then lines of output, then an exit status.
// It refuses messages past their bound, and more callers at once than it can serve.

import { connect, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { jsonIn } from '../sources/http/json-text.ts';

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
/** Commands served at once. */
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
    const done = () => {
      clearTimeout(stalled);
      socket.removeListener('drain', done);
      socket.removeListener('close', done);
      flushed();
    };
    socket.once('drain', done);
    socket.once('close', done);
  });
}

/** The first line that a caller sends, or `null` where it sends none in time or too much. */
async function firstLine(socket: Socket): Promise<string | null> {
  return await new Promise((settle) => {
    let text = '';
    const done = (line: string | null) => {
      clearTimeout(timer);
      socket.removeListener('data', onData);
      socket.removeListener('end', onEnd);
      socket.removeListener('close', onEnd);
      socket.resume();
      settle(line);
    };
    const onEnd = () => done(null);
    const onData = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) done(text.slice(0, end));
      else if (text.length > MESSAGE_MAX_BYTES) done('');
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

/** The lines that a socket brings, without the empty ones. */
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
