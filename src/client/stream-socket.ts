// Answers one question: how are the messages of a WebSocket read one by one, within bounds?

import { type Said, saidIn } from './stream-said.ts';

/** What is used of a WebSocket: a browser's, or one of a library with the same interface. */
type SocketLike = {
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  close(): void;
};

/** The class of WebSockets. */
export type SocketClass = new (url: string) => SocketLike;

/** Messages that may wait for who follows; it is behind then, and resumes from where it is. */
const WAITING_MAX = 10_000;

/** The messages of a WebSocket, until it closes or the signal ends it. */
export async function* messagesOf(
  url: URL,
  WebSocket: SocketClass,
  signal: AbortSignal,
): AsyncGenerator<Said, void> {
  const waiting: unknown[] = [];
  let closed = false;
  let wake: () => void = () => undefined;
  const socket = new WebSocket(url.href);
  const end = () => {
    closed = true;
    wake();
  };
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    if (closed) return;
    waiting.push(data);
    wake();
    if (waiting.length < WAITING_MAX) return;
    end();
    socket.close();
  };
  socket.onclose = end;
  // A close follows each error.
  socket.onerror = () => undefined;
  signal.addEventListener('abort', () => {
    end();
    socket.close();
  });
  while (!signal.aborted) {
    if (waiting.length > 0) {
      for (const data of waiting.splice(0)) yield saidIn(String(data));
    } else if (closed) return;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
